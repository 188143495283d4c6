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
    IO_SERVER_OPERATOR_MIN = 16, /* of those, reserved for operators */
    IO_SERVER_ORIGIN_MAX = 16,
    IO_SERVER_ERROR_MAX = 256,
};

struct io_page {
    const char *path; /* "/index.html"; "/" is the same */
    const char *media_type;
    const void *bytes; /* sent with Content-Encoding: gzip if they are gzip */
    size_t size;
};

struct io_live_channel {
    const char *topic, *schema, *definition; /* CDR and ros2msg; kept, not copied */
    bool whole;                              /* every message counts: the rate is never reduced */
    bool latched;                            /* a new subscriber gets the newest message at once */
};

/* The destination of hand controller reports (io/protocol/hand.h); size 0: the next reports are
 * from another hand.  Context: server thread. */
struct io_server_hand_sink {
    void *self;
    void (*pass)(void *self, const void *bytes, size_t size); /* NULL: reports are not accepted */
};

struct io_server_spec {
    const char *name;                          /* shown to clients */
    const char *address;                       /* IPv4, numeric */
    int port;                                  /* 0: any */
    const char *token;                         /* NULL: none */
    const char *operator_token;                /* NULL: every client may command */
    const char *certificate, *key;             /* files; NULL: no TLS */
    const char *origins[IO_SERVER_ORIGIN_MAX]; /* besides that of the page; NULL ends the list */
    const struct io_page *pages;
    int page_count;
    const struct io_page *guarded; /* a page with restricted access; NULL: none */
    const struct io_live_channel *channels;
    int channel_count;
    const struct io_service_table *service_table; /* NULL: no parameters and services */
    const struct io_foxglove_metadata *pairs;     /* facts about the run in the server info */
    int pair_count;
    struct io_server_hand_sink hand; /* gets the reports of the viewer with authority */
};

struct io_server_counts {
    uint64_t viewers;    /* sessions since the start */
    uint64_t refused;    /* refused requests: token, origin, too many */
    uint64_t floods;     /* sessions closed because they exceeded the rate limit */
    uint64_t dismissed;  /* connections closed because they sent no request */
    uint64_t sent, lost; /* messages, of all viewers together */
};
