/*
 * Who looks on, what they are told and what they ask: the live server without its sockets.
 *
 * One thread calls all of this, but io_hub_wanted().
 */
#pragma once

#include <stdatomic.h>

#include "io/telemetry/server.h"
#include "io/telemetry/viewer.h"

enum { IO_HUB_STATUS_MAX = 16, IO_HUB_ERRAND_MAX = 64, IO_HUB_ID_MAX = 64 };

struct io_hub_seat {
    struct io_viewer *viewer; /* NULL: free */
    uint64_t serial;          /* of who sits there */
    bool gone;                /* to be let go: too many answers wait, or it asked for nonsense */
    uint64_t told_lost;       /* messages, as it was told */
    uint64_t told_ns;
};

struct io_hub_status {
    char id[IO_HUB_ID_MAX];
    bool on;
    enum io_fox_level level;
    char text[IO_FOX_TEXT_MAX];
};

/* A request that waits for the desk: tickets first to first + total - 1, `open` of them. */
struct io_hub_errand {
    int open, total; /* open 0: free */
    uint64_t first;
    uint64_t serial; /* of who asked */
    bool is_call;
    char id[IO_FOX_NAME_MAX];
    uint32_t service, call;
    char encoding[8];
    uint16_t parameter[IO_FOX_LIST_MAX];
};

struct io_hub {
    const struct io_live_channel *channels;
    int channel_count;
    const struct io_desk *desk; /* may be NULL */
    const char *name;
    char session[24];
    struct io_hub_seat seat[IO_SERVER_VIEWER_MAX];
    uint64_t serials;
    atomic_uint wanted[IO_LIVE_CHANNEL_MAX];
    struct io_live_message *newest[IO_LIVE_CHANNEL_MAX]; /* of channels that last */
    struct io_hub_status status[IO_HUB_STATUS_MAX];
    struct io_hub_errand errand[IO_HUB_ERRAND_MAX];
    uint64_t tickets;
    double known[IO_LIVE_PARAMETER_MAX]; /* values as the watchers know them */
    uint64_t sent, lost;                 /* by viewers that have left */
    struct io_bytes out;
    struct io_fox_ask ask;
};

/* The hub is zeroed before. */
void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session);
void io_hub_close(struct io_hub *hub);

/* Somebody comes: server info, channels, services and what stands.  NULL: no seat is free. */
struct io_hub_seat *io_hub_enter(struct io_hub *hub, double rate_hz);
void io_hub_leave(struct io_hub *hub, struct io_hub_seat *seat);
/* A message of a viewer's, whole. */
void io_hub_hear(struct io_hub *hub, struct io_hub_seat *seat, struct io_slice message,
                 bool binary);

/* To whoever looks at its channel; takes the message. */
void io_hub_offer(struct io_hub *hub, struct io_live_message *message, uint64_t now_ns);
/* So many did not even come this far. */
void io_hub_lose(struct io_hub *hub, uint64_t count);
void io_hub_time(struct io_hub *hub, uint64_t time_ns);
void io_hub_status(struct io_hub *hub, const struct io_hub_status *status);
/* Answers of the desk, parameters that changed, who lost how much. */
void io_hub_tick(struct io_hub *hub, uint64_t now_ns);
/* Context: any. */
bool io_hub_wanted(const struct io_hub *hub, int channel);

/* Of errands.c: what a viewer asks of the desk. */
void io_hub_get(struct io_hub *hub, struct io_hub_seat *seat);
void io_hub_set(struct io_hub *hub, struct io_hub_seat *seat);
void io_hub_watch(struct io_hub *hub, struct io_hub_seat *seat, bool on);
void io_hub_call(struct io_hub *hub, struct io_hub_seat *seat);
void io_hub_answers(struct io_hub *hub);
void io_hub_changes(struct io_hub *hub);

/* Of hub.c, for errands.c: what is in hub->out, or a line about what the viewer did. */
void io_hub_say(struct io_hub *hub, struct io_hub_seat *seat, bool binary);
void io_hub_complain(struct io_hub *hub, struct io_hub_seat *seat, const char *what);
