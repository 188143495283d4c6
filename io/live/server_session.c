/*
 * A WebSocket of the live server.
 *
 * Tested by tests/scenario/live/test_serve.py; the hub behind it by tests/io/live/test_hub*.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/server_private.h"
#include "rt/clock.h"

enum {
    REQUEST_MAX = 64 * 1024,
    FRAMES_PER_TURN = 64, /* frames to one viewer before the next has its turn */
};

/* The rate of a channel unless the viewer asks for another. */
static const double usual_rate_hz = 60.0;

/* ?rate=30 or ?rate=all */
static double rate_of(struct lws *wsi)
{
    char text[64];
    char *end;
    const char *given = lws_get_urlarg_by_name(wsi, "rate=", text, sizeof text);
    if (!given)
        return usual_rate_hz;
    if (strcmp(given, "all") == 0)
        return 0.0;
    const double rate_hz = strtod(given, &end);
    return *end == '\0' && rate_hz >= 0.1 && rate_hz <= 1e6 ? rate_hz : usual_rate_hz;
}

static int open_session(struct io_server *server, struct lws *wsi,
                        struct io_server_session *session_data)
{
    session_data->request = (struct io_byte_writer){0};
    session_data->client =
        io_hub_open_session(&server->hub, rate_of(wsi), io_server_is_operator(server, wsi));
    if (!session_data->client)
        return -1;
    server->socket[session_data->client - server->hub.client] = wsi;
    io_admission_note_session(&server->admission, wsi,
                              server->spec.operator_token && io_server_is_operator(server, wsi));
    server->viewer_count++;
    server->counts.viewers++;
    lws_callback_on_writable(wsi);
    io_server_hasten_tick(server);
    return 0;
}

static void close_session(struct io_server *server, struct io_server_session *session_data)
{
    if (!session_data->client)
        return;
    server->socket[session_data->client - server->hub.client] = NULL;
    server->viewer_count--;
    io_hub_close_session(&server->hub, session_data->client);
    io_byte_writer_free(&session_data->request);
    session_data->client = NULL;
}

/* Sends the reason and shuts the socket down: after a close frame lws would go on reading until
 * the client replies. */
static int close_flooder(struct io_server *server, struct lws *wsi)
{
    struct io_byte_writer *frame = &server->frame;
    server->counts.floods++;
    io_byte_writer_clear(frame);
    if (io_byte_writer_reserve(frame, LWS_PRE)) {
        frame->size = LWS_PRE;
        io_foxglove_status(frame, IO_FOXGLOVE_ERROR, io_hub_flood_text, "");
    }
    if (!frame->failed && frame->size > LWS_PRE)
        (void)lws_write(wsi, frame->data + LWS_PRE, frame->size - LWS_PRE, LWS_WRITE_TEXT);
    (void)shutdown(lws_get_socket_fd(wsi), SHUT_RDWR);
    return -1;
}

static int receive_fragment(struct io_server *server, struct lws *wsi,
                            struct io_server_session *session_data, const void *bytes, size_t size)
{
    const struct io_slice piece = {.data = bytes, .size = size};
    const bool whole = lws_is_first_fragment(wsi) && lws_is_final_fragment(wsi);
    const bool stopped =
        whole && io_hub_stop(&server->hub, session_data->client, piece, lws_frame_is_binary(wsi));
    lws_validity_confirmed(wsi);
    if (session_data->client->gone)
        return -1;
    if (!io_hub_within_limits(&server->hub, session_data->client, size, rt_now_ns()))
        return close_flooder(server, wsi);
    if (stopped) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    if (lws_is_first_fragment(wsi))
        io_byte_writer_clear(&session_data->request);
    if (session_data->request.size + size > REQUEST_MAX) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
        return -1;
    }
    io_put_raw(&session_data->request, bytes, size);
    if (!lws_is_final_fragment(wsi) || session_data->request.failed)
        return session_data->request.failed ? -1 : 0;
    io_hub_receive(
        &server->hub, session_data->client,
        (struct io_slice){.data = session_data->request.data, .size = session_data->request.size},
        lws_frame_is_binary(wsi));
    lws_callback_on_writable(wsi);
    return 0;
}

static int send_close(struct lws *wsi)
{
    static unsigned char why[] = "the run is over";
    lws_close_reason(wsi, LWS_CLOSE_STATUS_GOINGAWAY, why, sizeof why - 1);
    return -1;
}

/* Writes one frame; lws needs LWS_PRE bytes before it. */
static int write_next(struct io_server *server, struct lws *wsi, struct io_session_queue *viewer)
{
    struct io_byte_writer *frame = &server->frame;
    bool binary;
    io_byte_writer_clear(frame);
    if (!io_byte_writer_reserve(frame, LWS_PRE))
        return -1;
    frame->size = LWS_PRE;
    if (!io_session_queue_next(viewer, frame, &binary))
        return 0;
    if (frame->failed)
        return -1;
    return lws_write(wsi, frame->data + LWS_PRE, frame->size - LWS_PRE,
                     binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
}

/* Stops when the socket is full: messages then wait in the queue, which drops the oldest. */
static int write_queued(struct io_server *server, struct lws *wsi,
                        struct io_server_session *session_data)
{
    struct io_session_queue *viewer = session_data->client->viewer;
    if (session_data->client->gone)
        return -1;
    for (int i = 0; i < FRAMES_PER_TURN && io_session_queue_has_more(viewer); i++) {
        if (write_next(server, wsi, viewer) < 0)
            return -1;
        if (lws_send_pipe_choked(wsi))
            break;
    }
    if (io_session_queue_has_more(viewer))
        lws_callback_on_writable(wsi);
    else if (server->closing)
        return send_close(wsi);
    return 0;
}

int io_server_on_live(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t size)
{
    struct io_server *server = io_server_of(wsi);
    struct io_server_session *session_data = user;
    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return io_server_admit(server, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return open_session(server, wsi, session_data);
    case LWS_CALLBACK_CLOSED:
        close_session(server, session_data);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return receive_fragment(server, wsi, session_data, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_queued(server, wsi, session_data);
    default:
        return 0;
    }
}
