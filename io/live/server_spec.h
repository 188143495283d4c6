/*
 * What the live server is given at open, and what it counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/live/service.h"

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
