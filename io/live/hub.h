/*
 * Who looks on, what they are told and what they ask: the live server without its sockets.
 *
 * One thread calls all of this, but io_hub_wanted().
 */
#pragma once

#include <stdatomic.h>

#include "io/live/authority.h"
#include "io/live/rate_limit.h"
#include "io/live/server.h"
#include "io/live/session_queue.h"

enum {
    IO_HUB_STATUS_MAX = 16,
    IO_HUB_ERRAND_MAX = 64,
    IO_HUB_ID_MAX = 64,
    IO_HUB_SERVICE_MAX = 32,
    IO_HUB_HAND_MAX = 4,
    IO_HUB_MESSAGES_PER_S = 1000, /* of one viewer, for longer than a second */
    IO_HUB_BYTES_PER_S = 1000000,
};

struct io_hub_seat {
    struct io_viewer *viewer; /* NULL: free */
    uint64_t serial;          /* of who sits there: the viewer's number, from 1 */
    bool is_operator;         /* it may command */
    bool gone;                /* to be let go: too many answers wait, or it asked for nonsense */
    uint64_t told_lost;       /* messages, as it was told */
    uint64_t told_ns;
    uint32_t hand[IO_HUB_HAND_MAX]; /* its channels that carry pictures of a hand */
    int hand_count;
    bool beside; /* its hand was on the stick without authority, so that alone takes none */
    bool timed;  /* the quickest of its pictures is known */
    uint64_t quickest_us;             /* from its clock to ours */
    uint64_t timed_ns;                /* newest picture with a time */
    uint64_t late_ns;                 /* since when they are late; 0: they are not */
    struct io_bucket messages, bytes; /* that it sent */
    uint64_t heard_ns;                /* newest message */
    uint64_t warn_ns;                 /* from when on it is told again what is wrong with them */
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
    uint64_t serial;   /* of who asked */
    uint64_t begun_ns; /* when */
    bool is_call;
    char id[IO_FOX_NAME_MAX];
    uint32_t service, call;
    char encoding[8];
    uint16_t parameter[IO_FOX_LIST_MAX];
};

struct io_hub {
    struct io_live_channel channels[IO_LIVE_CHANNEL_MAX]; /* the last is /authority */
    int channel_count;
    struct io_fox_service services[IO_HUB_SERVICE_MAX]; /* the desk's, then authority's */
    int service_count;
    const struct io_desk *desk; /* may be NULL */
    const struct io_fox_pair *pairs;
    int pair_count;
    const char *name;
    char session[24];
    struct io_hub_seat seat[IO_SERVER_VIEWER_MAX];
    uint64_t serials;
    atomic_uint wanted[IO_LIVE_CHANNEL_MAX];
    struct io_live_message *newest[IO_LIVE_CHANNEL_MAX]; /* of channels that last */
    struct io_hub_status status[IO_HUB_STATUS_MAX];
    struct io_hub_errand errand[IO_HUB_ERRAND_MAX];
    uint64_t tickets;
    struct io_authority authority;
    unsigned char shown[IO_AUTHORITY_IMAGE_SIZE]; /* as the viewers know it */
    uint64_t time_ns;                             /* simulated */
    uint64_t now_ns;                              /* of the newest tick or message */
    struct io_server_hand hand;
    uint64_t flood_ns; /* from when on it is noted again that somebody sent too much */
    uint64_t flown_by; /* viewer whose hand the link has; 0: nobody's */
    double known[IO_LIVE_PARAMETER_MAX]; /* values as the watchers know them */
    uint64_t sent, lost;                 /* by viewers that have left */
    struct io_bytes out;
    struct io_fox_ask ask;
};

/* The hub is zeroed before. */
void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session);
void io_hub_close(struct io_hub *hub);

/* Somebody comes: server info, channels, services and what stands.  NULL: no seat is free. */
struct io_hub_seat *io_hub_enter(struct io_hub *hub, double rate_hz, bool is_operator);
void io_hub_leave(struct io_hub *hub, struct io_hub_seat *seat);
/* A message came, or a piece of one, which counts as much: also of pieces without a byte there can
 * be too many.  False: this viewer sends more than anybody has to say; let it go, with this for a
 * reason. */
bool io_hub_bears(struct io_hub *hub, struct io_hub_seat *seat, size_t size, uint64_t now_ns);
extern const char io_hub_flood_text[];
/* An operator's call of the stop, in one piece?  Then it is latched when this returns, before
 * anything is counted, queued, allocated or refused, and whatever became of its sender.  To be
 * asked before io_hub_bears(). */
bool io_hub_stop(struct io_hub *hub, struct io_hub_seat *seat, struct io_slice message,
                 bool binary);
/* A message of a viewer's, whole.  Of one that is to be let go nothing is heard any more, but a
 * stop. */
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
/* The run is over: whoever still waits for an answer is told. */
void io_hub_farewell(struct io_hub *hub);
void io_hub_changes(struct io_hub *hub);

/* Of command.c: a line among the run's events. */
__attribute__((format(printf, 2, 3))) void io_hub_note(const struct io_hub *hub, const char *format,
                                                       ...);
struct io_hub_seat *io_hub_seat_of(struct io_hub *hub, uint64_t serial); /* NULL: has left */
/* May this viewer command?  It takes the authority that nobody has. */
bool io_hub_may_command(struct io_hub *hub, struct io_hub_seat *seat, char why[IO_FOX_TEXT_MAX]);
extern const char io_hub_watching[]; /* why somebody who looks on may not */
void io_hub_authority(struct io_hub *hub, struct io_hub_seat *seat, enum io_authority_act act);
void io_hub_lay_down(struct io_hub *hub, const struct io_hub_seat *seat);
/* Who has authority and has not said a word for long loses it to who asks. */
void io_hub_wake(struct io_hub *hub);
void io_hub_show_authority(struct io_hub *hub, uint64_t now_ns);

/* Of hands.c: what a viewer publishes. */
void io_hub_advertise(struct io_hub *hub, struct io_hub_seat *seat);
void io_hub_unadvertise(struct io_hub *hub, struct io_hub_seat *seat);
void io_hub_publish(struct io_hub *hub, struct io_hub_seat *seat);
/* This viewer flies no more: what it did last must not go on. */
void io_hub_hands_off(struct io_hub *hub, uint64_t serial);

/* Of hub.c, for the others: what is in hub->out, or a line about what the viewer did. */
void io_hub_say(struct io_hub *hub, struct io_hub_seat *seat, bool binary);
void io_hub_complain(struct io_hub *hub, struct io_hub_seat *seat, const char *what);
