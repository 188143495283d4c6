/*
 * Sessions of the live server without its sockets: subscriptions, requests, replies, authority.
 *
 * One thread calls all functions but io_hub_is_subscribed().
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
    IO_HUB_MESSAGES_PER_S = 1000, /* the limit of one viewer over more than a second */
    IO_HUB_BYTES_PER_S = 1000000,
};

struct io_session {
    struct io_session_queue *viewer; /* NULL: free */
    uint64_t serial;                 /* the number of the viewer, from 1 */
    bool is_operator;                /* it may command */
    bool gone;              /* to be closed: too many replies wait, or its request was invalid */
    uint64_t reported_lost; /* lost messages that were reported to it */
    uint64_t reported_ns;
    uint32_t hand[IO_HUB_HAND_MAX]; /* its channels that carry hand controller reports */
    int hand_count;
    bool was_denied; /* it published reports while it had no authority, so a report alone no longer
                        takes authority */
    bool has_delay_floor;     /* delay_floor_us is known */
    uint64_t delay_floor_us;  /* the smallest delay of its reports, from its clock to ours */
    uint64_t newest_timed_ns; /* newest report with a time */
    uint64_t late_since_ns;   /* since when its reports are late; 0: they are not */
    struct io_rate_limit messages, bytes; /* limits of what it sends */
    uint64_t heard_ns;                    /* newest message */
    uint64_t next_warning_ns; /* the next warning about its reports is not sent before */
};

struct io_hub_status {
    char id[IO_HUB_ID_MAX];
    bool on;
    enum io_foxglove_level level;
    char text[IO_FOXGLOVE_TEXT_MAX];
};

/* A request that waits for replies of the run: tickets first to first + total - 1, `open` of
 * them. */
struct io_pending_request {
    int open, total; /* open 0: free */
    uint64_t first;
    uint64_t serial;     /* of the viewer that asked */
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
    struct io_foxglove_service services[IO_HUB_SERVICE_MAX]; /* of the run, then of authority */
    int service_count;
    const struct io_service_table *service_table; /* may be NULL */
    const struct io_foxglove_metadata *pairs;
    int pair_count;
    const char *name;
    char session[24];
    struct io_session client[IO_SERVER_SESSION_MAX];
    uint64_t last_serial;
    atomic_uint wanted[IO_LIVE_CHANNEL_MAX];
    struct io_live_message *newest[IO_LIVE_CHANNEL_MAX]; /* of latched channels */
    struct io_hub_status status[IO_HUB_STATUS_MAX];
    struct io_pending_request pending[IO_HUB_PENDING_MAX];
    uint64_t tickets;
    struct io_authority authority;
    unsigned char published[IO_AUTHORITY_IMAGE_SIZE]; /* as last sent to the viewers */
    uint64_t time_ns;                                 /* simulated */
    uint64_t now_ns;                                  /* of the newest tick or message */
    struct io_server_hand_sink hand;
    uint64_t flood_ns;                       /* the next event about a flood is not logged before */
    uint64_t hand_owner;                     /* the viewer whose reports go to the link; 0: none */
    double last_sent[IO_LIVE_PARAMETER_MAX]; /* values as last sent to the watchers */
    uint64_t sent, lost;                     /* by viewers that have disconnected */
    struct io_byte_writer out;
    struct io_foxglove_request request;
};

/* The hub must be zero. */
void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session);
void io_hub_close(struct io_hub *hub);

/* Open a session and queue the server info, channels, services, statuses and latched messages.
 * NULL: no session is free. */
struct io_session *io_hub_open_session(struct io_hub *hub, double rate_hz, bool is_operator);
void io_hub_close_session(struct io_hub *hub, struct io_session *client);
/* Count a message or a fragment, which counts as a message because even empty fragments can be
 * too many.  False: this viewer exceeds the rate limit; close its connection with
 * io_hub_flood_text as the reason. */
bool io_hub_within_limits(struct io_hub *hub, struct io_session *client, size_t size,
                          uint64_t now_ns);
extern const char io_hub_flood_text[];
/* True when the message is an operator's call of the stop, in one fragment.  The stop is then
 * latched when this returns, before anything is counted, queued, allocated or refused, and even
 * if its sender is to be closed.  Call it before io_hub_within_limits(). */
bool io_hub_stop(struct io_hub *hub, struct io_session *client, struct io_slice message,
                 bool binary);
/* A complete message of a viewer.  Messages of a viewer that is to be closed are ignored, except
 * for a stop. */
void io_hub_receive(struct io_hub *hub, struct io_session *client, struct io_slice message,
                    bool binary);

/* Queue the message for every viewer that subscribes to its channel; takes ownership of it. */
void io_hub_broadcast(struct io_hub *hub, struct io_live_message *message, uint64_t now_ns);
/* Count messages that were lost before they reached the hub. */
void io_hub_count_lost(struct io_hub *hub, uint64_t count);
void io_hub_time(struct io_hub *hub, uint64_t time_ns);
void io_hub_status(struct io_hub *hub, const struct io_hub_status *status);
/* Send the replies of the run, changed parameters and reports of losses. */
void io_hub_tick(struct io_hub *hub, uint64_t now_ns);
/* Context: any. */
bool io_hub_is_subscribed(const struct io_hub *hub, int channel);

/* Of hub_requests.c: requests of a viewer to the run. */
void io_hub_get_parameters(struct io_hub *hub, struct io_session *client);
void io_hub_set_parameters(struct io_hub *hub, struct io_session *client);
void io_hub_watch_parameters(struct io_hub *hub, struct io_session *client, bool on);
void io_hub_call_service(struct io_hub *hub, struct io_session *client);
void io_hub_deliver_replies(struct io_hub *hub);
/* The run has ended: fail all pending requests. */
void io_hub_fail_pending(struct io_hub *hub);
void io_hub_send_changed_parameters(struct io_hub *hub);

/* Of hub_authority.c: add a line to the run's events. */
__attribute__((format(printf, 2, 3))) void io_hub_log_event(const struct io_hub *hub,
                                                            const char *format, ...);
/* NULL: the viewer has disconnected. */
struct io_session *io_hub_find_session(struct io_hub *hub, uint64_t serial);
/* True when this viewer may command.  It takes authority if nobody has it. */
bool io_hub_may_command(struct io_hub *hub, struct io_session *client,
                        char why[IO_FOXGLOVE_TEXT_MAX]);
extern const char io_hub_not_operator_text[]; /* the reason for a viewer that is not an operator */
void io_hub_call_authority(struct io_hub *hub, struct io_session *client,
                           enum io_authority_act act);
void io_hub_release_authority(struct io_hub *hub, const struct io_session *client);
/* A holder that has been silent for 15 s loses authority to the next viewer that asks. */
void io_hub_expire_holder(struct io_hub *hub);
void io_hub_publish_authority(struct io_hub *hub, uint64_t now_ns);

/* Of hub_hand.c: channels of a viewer and the reports that it publishes. */
void io_hub_advertise(struct io_hub *hub, struct io_session *client);
void io_hub_unadvertise(struct io_hub *hub, struct io_session *client);
void io_hub_publish(struct io_hub *hub, struct io_session *client);
/* This viewer no longer controls the arm: send a neutral report in its place. */
void io_hub_release_hand(struct io_hub *hub, uint64_t serial);

/* Of hub.c, for the others: send the message in hub->out, or an error about a request of the
 * viewer. */
void io_hub_send(struct io_hub *hub, struct io_session *client, bool binary);
void io_hub_send_error(struct io_hub *hub, struct io_session *client, const char *what);
