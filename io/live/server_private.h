/*
 * The state of the live server, and what its parts share.  Only server*.c include this header.
 *
 *      server.c          open and close, the thread, the tick, records of the telemetry thread
 *      server_access.c   which connections may stay, and which of them may command
 *      server_session.c  a WebSocket: messages of a client in, queued messages out
 *      server_page.c     the files of the page, by HTTP
 */
#pragma once

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>

#include "io/live/admission.h"
#include "io/live/hub.h"
#include "rt/thread.h"

enum { IO_SERVER_NAME_MAX = 256 /* of an origin, a host, a token */ };

/* Messages from the telemetry thread to the server thread; all under the lock. */
struct io_server_inbox {
    pthread_mutex_t lock;
    struct io_live_message *first, **last;
    size_t bytes;
    uint64_t lost;
    int status_count;
    struct io_hub_status status[IO_HUB_STATUS_MAX]; /* the newest of each id */
};

struct io_server {
    struct io_server_spec spec;
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct rt_thread thread;
    bool started;
    atomic_bool stop;
    struct io_server_inbox inbox;
    atomic_uint_fast64_t time_ns;

    /* Used by the server thread only. */
    lws_sorted_usec_list_t tick;
    struct io_hub hub;
    struct lws *socket[IO_SERVER_SESSION_MAX]; /* by the index of the session */
    int viewer_count;
    struct io_admission admission;
    uint64_t tick_ns;      /* the time of the last tick */
    uint64_t dismissed;    /* closed idle connections that /log has reported */
    uint64_t dismissed_ns; /* the time of that report */
    bool closing;          /* viewers get their queued messages, then the close */
    struct io_byte_writer frame;
    struct io_server_counts counts;
};

static inline struct io_server *io_server_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* What lws keeps for a WebSocket, and for a file that is being sent. */
struct io_server_session {
    struct io_session *client;
    struct io_byte_writer request; /* the fragments so far */
};
struct io_server_page_transfer {
    const struct io_page *page;
    size_t at;
};

/* Of server.c: run the next tick soon. */
void io_server_hasten_tick(struct io_server *server);

/* Of server_access.c.  lws closes the connection in its next round. */
void io_server_close_soon(struct lws *wsi);
/* A connection was accepted; another may be closed for it.  0, or -1: close this one. */
int io_server_accept(struct io_server *server, struct lws *wsi);
/* The connection has made a whole request.  False: too late. */
bool io_server_note_request(struct io_server *server, struct lws *wsi);
/* A client asks for a WebSocket.  0, or -1 with an HTTP status sent. */
int io_server_admit(struct io_server *server, struct lws *wsi);
int io_server_refuse(struct io_server *server, struct lws *wsi, unsigned code, const char *why);
bool io_server_is_operator(const struct io_server *server, struct lws *wsi);
bool io_server_has_token(struct lws *wsi, const char *token);
/* True for localhost and 127.x.x.x: names that a foreign DNS server cannot point at this machine.
 */
bool io_server_is_loopback_name(const char *host);

/* Of server_session.c and server_page.c: the callbacks of lws. */
int io_server_on_live(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t size);
int io_server_on_page(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t size);
