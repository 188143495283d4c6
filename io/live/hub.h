/*
 * Who looks on, what they are told and what they ask: the live server without its sockets.
 *
 * One thread calls all of this, but io_hub_is_subscribed().
 */
#pragma once

#include <stdatomic.h>

#include "io/live/authority.h"
#include "io/live/rate_limit.h"
#include "io/live/server_spec.h"
#include "io/live/session_queue.h"

enum {
    IO_HUB_STATUS_MAX = 16,
    IO_HUB_PENDING_MAX = 64,
    IO_HUB_ID_MAX = 64,
    IO_HUB_SERVICE_MAX = 32,
    IO_HUB_HAND_MAX = 4,
    IO_HUB_MESSAGES_PER_S = 1000, /* of one viewer, for longer than a second */
    IO_HUB_BYTES_PER_S = 1000000,
};

struct io_session {
    struct io_session_queue *viewer; /* NULL: free */
    uint64_t serial;                 /* of who sits there: the viewer's number, from 1 */
    bool is_operator;                /* it may command */
    bool gone;              /* to be let go: too many answers wait, or it asked for nonsense */
    uint64_t reported_lost; /* messages, as it was told */
    uint64_t reported_ns;
    uint32_t hand[IO_HUB_HAND_MAX]; /* its channels that carry pictures of a hand */
    int hand_count;
    bool was_denied; /* its hand was on the stick without authority, so that alone takes none */
    bool has_delay_floor;                 /* the quickest of its pictures is known */
    uint64_t delay_floor_us;              /* from its clock to ours */
    uint64_t newest_timed_ns;             /* newest picture with a time */
    uint64_t late_since_ns;               /* since when they are late; 0: they are not */
    struct io_rate_limit messages, bytes; /* that it sent */
    uint64_t heard_ns;                    /* newest message */
    uint64_t next_warning_ns; /* from when on it is told again what is wrong with them */
};

struct io_hub_status {
    char id[IO_HUB_ID_MAX];
    bool on;
    enum io_foxglove_level level;
    char text[IO_FOXGLOVE_TEXT_MAX];
};

/* A request that waits for the desk: tickets first to first + total - 1, `open` of them. */
struct io_pending_request {
    int open, total; /* open 0: free */
    uint64_t first;
    uint64_t serial;     /* of who asked */
    uint64_t started_ns; /* when */
    bool is_call;
    char id[IO_FOXGLOVE_NAME_MAX];
    uint32_t service, call;
    char encoding[8];
    uint16_t parameter[IO_FOXGLOVE_LIST_MAX];
};

struct io_hub {
    struct io_live_channel channels[IO_LIVE_CHANNEL_MAX]; /* the last is /authority */
    int channel_count;
    struct io_foxglove_service services[IO_HUB_SERVICE_MAX]; /* the desk's, then authority's */
    int service_count;
    const struct io_service_table *service_table; /* may be NULL */
    const struct io_foxglove_metadata *pairs;
    int pair_count;
    const char *name;
    char session[24];
    struct io_session client[IO_SERVER_SESSION_MAX];
    uint64_t last_serial;
    atomic_uint wanted[IO_LIVE_CHANNEL_MAX];
    struct io_live_message *newest[IO_LIVE_CHANNEL_MAX]; /* of channels that last */
    struct io_hub_status status[IO_HUB_STATUS_MAX];
    struct io_pending_request pending[IO_HUB_PENDING_MAX];
    uint64_t tickets;
    struct io_authority authority;
    unsigned char published[IO_AUTHORITY_IMAGE_SIZE]; /* as the viewers know it */
    uint64_t time_ns;                                 /* simulated */
    uint64_t now_ns;                                  /* of the newest tick or message */
    struct io_server_hand_sink hand;
    uint64_t flood_ns;   /* from when on it is noted again that somebody sent too much */
    uint64_t hand_owner; /* viewer whose hand the link has; 0: nobody's */
    double last_sent[IO_LIVE_PARAMETER_MAX]; /* values as the watchers know them */
    uint64_t sent, lost;                     /* by viewers that have left */
    struct io_byte_writer out;
    struct io_foxglove_request request;
};

/* The hub is zeroed before. */
void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session);
void io_hub_close(struct io_hub *hub);

/* Somebody comes: server info, channels, services and what stands.  NULL: no seat is free. */
struct io_session *io_hub_open_session(struct io_hub *hub, double rate_hz, bool is_operator);
void io_hub_close_session(struct io_hub *hub, struct io_session *client);
/* A message came, or a piece of one, which counts as much: also of pieces without a byte there can
 * be too many.  False: this viewer sends more than anybody has to say; let it go, with this for a
 * reason. */
bool io_hub_within_limits(struct io_hub *hub, struct io_session *client, size_t size,
                          uint64_t now_ns);
extern const char io_hub_flood_text[];
/* An operator's call of the stop, in one piece?  Then it is latched when this returns, before
 * anything is counted, queued, allocated or refused, and whatever became of its sender.  To be
 * asked before io_hub_within_limits(). */
bool io_hub_stop(struct io_hub *hub, struct io_session *client, struct io_slice message,
                 bool binary);
/* A message of a viewer's, whole.  Of one that is to be let go nothing is heard any more, but a
 * stop. */
void io_hub_receive(struct io_hub *hub, struct io_session *client, struct io_slice message,
                    bool binary);

/* To whoever looks at its channel; takes the message. */
void io_hub_broadcast(struct io_hub *hub, struct io_live_message *message, uint64_t now_ns);
/* So many did not even come this far. */
void io_hub_count_lost(struct io_hub *hub, uint64_t count);
void io_hub_time(struct io_hub *hub, uint64_t time_ns);
void io_hub_status(struct io_hub *hub, const struct io_hub_status *status);
/* Answers of the desk, parameters that changed, who lost how much. */
void io_hub_tick(struct io_hub *hub, uint64_t now_ns);
/* Context: any. */
bool io_hub_is_subscribed(const struct io_hub *hub, int channel);

/* Of errands.c: what a viewer asks of the desk. */
void io_hub_get_parameters(struct io_hub *hub, struct io_session *client);
void io_hub_set_parameters(struct io_hub *hub, struct io_session *client);
void io_hub_watch_parameters(struct io_hub *hub, struct io_session *client, bool on);
void io_hub_call_service(struct io_hub *hub, struct io_session *client);
void io_hub_deliver_replies(struct io_hub *hub);
/* The run is over: whoever still waits for an answer is told. */
void io_hub_fail_pending(struct io_hub *hub);
void io_hub_send_changed_parameters(struct io_hub *hub);

/* Of command.c: a line among the run's events. */
__attribute__((format(printf, 2, 3))) void io_hub_log_event(const struct io_hub *hub,
                                                            const char *format, ...);
struct io_session *io_hub_find_session(struct io_hub *hub, uint64_t serial); /* NULL: has left */
/* May this viewer command?  It takes the authority that nobody has. */
bool io_hub_may_command(struct io_hub *hub, struct io_session *client,
                        char why[IO_FOXGLOVE_TEXT_MAX]);
extern const char io_hub_not_operator_text[]; /* why somebody who looks on may not */
void io_hub_call_authority(struct io_hub *hub, struct io_session *client,
                           enum io_authority_act act);
void io_hub_release_authority(struct io_hub *hub, const struct io_session *client);
/* Who has authority and has not said a word for long loses it to who asks. */
void io_hub_expire_holder(struct io_hub *hub);
void io_hub_publish_authority(struct io_hub *hub, uint64_t now_ns);

/* Of hands.c: what a viewer publishes. */
void io_hub_advertise(struct io_hub *hub, struct io_session *client);
void io_hub_unadvertise(struct io_hub *hub, struct io_session *client);
void io_hub_publish(struct io_hub *hub, struct io_session *client);
/* This viewer flies no more: what it did last must not go on. */
void io_hub_release_hand(struct io_hub *hub, uint64_t serial);

/* Of hub.c, for the others: what is in hub->out, or a line about what the viewer did. */
void io_hub_send(struct io_hub *hub, struct io_session *client, bool binary);
void io_hub_send_error(struct io_hub *hub, struct io_session *client, const char *what);
