/*
 * The live server: the log's channels over the Foxglove WebSocket protocol, and a page, on one
 * port.
 *
 * It has a thread of its own, never real-time, so that neither the frame nor the log waits for a
 * socket.  The telemetry thread hands records over through a bounded list; what does not fit is
 * lost to the viewers and counted.
 *
 * Who may come in: with a token, who gives it (`?token=` in the address, or `Authorization:
 * Bearer`). Without one the server listens on loopback only, and a browser must come from this
 * server's own page or from an origin on the list; programs send no Origin and may come in.
 *
 * Who may command: with an operator token, who gives it (`?operator=` in the address, or
 * `Authorization: Operator`), one at a time (io/live/authority.h).  Others look on.  A token
 * that is wrong is refused at the door.
 *
 * Who may stay while too many come: io/live/admission.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/live/service.h"
#include "io/log/telemetry.h"
#include "rt/thread.h"

enum {
    IO_SERVER_SESSION_MAX = 76,
    IO_SERVER_OPERATOR_MIN = 16, /* of those, kept free for who may command */
    IO_SERVER_ORIGIN_MAX = 16,
    IO_SERVER_ERROR_MAX = 256,
};

struct io_page {
    const char *path; /* "/index.html"; "/" shows that one */
    const char *media_type;
    const void *bytes; /* sent with Content-Encoding: gzip where they are such */
    size_t size;
};

struct io_live_channel {
    const char *topic, *schema, *definition; /* CDR and ros2msg; kept, not copied */
    bool whole;                              /* every message counts: never thinned */
    bool latched; /* the newest one holds until the next: who subscribes gets it at once */
};

/* Where pictures of a hand go (io/protocol/hand.h); size 0: those behind it are another hand's.
 * Context: server thread. */
struct io_server_hand_sink {
    void *self;
    void (*pass)(void *self, const void *bytes, size_t size); /* NULL: nothing is flown from here */
};

struct io_server_spec {
    const char *name;                          /* shown to clients */
    const char *address;                       /* IPv4, numeric */
    int port;                                  /* 0: any */
    const char *token;                         /* NULL: none */
    const char *operator_token;                /* NULL: whoever may come in may command */
    const char *certificate, *key;             /* files; NULL: no TLS */
    const char *origins[IO_SERVER_ORIGIN_MAX]; /* besides the page's own; NULL ends the list */
    const struct io_page *pages;
    int page_count;
    const struct io_page *guarded; /* a page that is not for everybody; NULL: none */
    const struct io_live_channel *channels;
    int channel_count;
    const struct io_service_table *service_table; /* NULL: nothing to ask for */
    const struct io_foxglove_metadata *pairs; /* what viewers are told of the run when they come */
    int pair_count;
    struct io_server_hand_sink hand; /* of who has authority */
};

struct io_server_counts {
    uint64_t viewers;    /* that came in since the start */
    uint64_t refused;    /* that did not: token, origin, too many */
    uint64_t floods;     /* that were let go because they sent too much */
    uint64_t dismissed;  /* connections that asked for nothing and were let go */
    uint64_t sent, lost; /* messages, of all viewers together */
};

struct io_server;

/* Bind; the spec and what it points at are kept.  The guarded page is for those who give the token,
 * or without one for those who call this machine by a name that only it has.  NULL with one line in
 * error.  Context: setup. */
struct io_server *io_server_open(const struct io_server_spec *spec,
                                 char error[IO_SERVER_ERROR_MAX]);
int io_server_port(const struct io_server *server);
/* 0 or -errno.  Context: setup. */
int io_server_start(struct io_server *server, const struct rt_thread_spec *spec);
/* Let the viewers go, join, free.  counts may be NULL.  Context: after the run. */
void io_server_close(struct io_server *server, struct io_server_counts *counts);

/* Does anybody look at this channel?  Context: any. */
bool io_server_is_subscribed(const struct io_server *server, int channel);
/* A record of a channel, without its CDR header; copied where somebody looks.
 * Context: telemetry thread. */
void io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns, const void *image,
                         size_t size);
/* Simulated time is this.  Context: telemetry thread. */
void io_server_time(struct io_server *server, uint64_t time_ns);
/* A line about the run; it replaces the one before of the same id, and new viewers see it too.
 * Level and text NULL: it is over.  Context: telemetry thread. */
void io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                      const char *text);
