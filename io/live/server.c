#include "io/live/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libwebsockets.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "io/live/admission.h"
#include "io/live/hub.h"
#include "rt/check.h"
#include "rt/clock.h"

enum {
    TICK_US = 10 * 1000,     /* between two looks at what the telemetry thread handed over */
    IDLE_US = 100 * 1000,    /* the same while nobody looks on */
    CLOSING_US = 500 * 1000, /* for the last messages */
    INBOX_MAX = 8 * 1024 * 1024,
    REQUEST_MAX = 64 * 1024,
    FRAMES_PER_TURN = 64, /* frames to one viewer before the next has its turn */
    CHUNK = 16 * 1024,
    SERVED_US_MAX = 2 * IDLE_US, /* of one tick: a machine that stood still has heard nobody */
    DISMISSED_EVERY_NS = 1000000000,
    ORIGIN_MAX = 256,
    TOKEN_MAX = 256,
};

/* A viewer is shown a channel this often unless it asks for another rate. */
static const double usual_rate_hz = 60.0;

/* Who has vanished without a word, cable and all, leaves TCP hoping for a quarter of an hour while
 * there is something to send.  A silent one is asked, and let go if nothing comes. */
static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = 5,
                                           .secs_since_valid_hangup = 15};

/* On its way from the telemetry thread to the server's; all under the lock. */
struct inbox {
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
    struct inbox inbox;
    atomic_uint_fast64_t time_ns;

    /* The server thread's. */
    lws_sorted_usec_list_t tick;
    struct io_hub hub;
    struct lws *socket[IO_SERVER_SESSION_MAX]; /* by seat */
    int viewer_count;
    struct io_admission admission;
    uint64_t tick_ns;      /* when it was */
    uint64_t dismissed;    /* connections, as /log tells */
    uint64_t dismissed_ns; /* when it did */
    bool closing;          /* viewers get what waits for them, then the end */
    struct io_byte_writer frame;
    struct io_server_counts counts;
};

static struct io_server *server_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* ---- from the telemetry thread --------------------------------------------------------- */

bool io_server_is_subscribed(const struct io_server *server, int channel)
{
    return io_hub_is_subscribed(&server->hub, channel);
}

void io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns, const void *image,
                         size_t size)
{
    struct inbox *inbox = &server->inbox;
    if (!io_server_is_subscribed(server, channel) && !server->spec.channels[channel].latched)
        return;
    struct io_live_message *message = io_live_message_make(channel, log_ns, image, size);
    if (!message)
        return;
    pthread_mutex_lock(&inbox->lock);
    const bool fits = inbox->bytes + message->size <= INBOX_MAX;
    if (fits) {
        *inbox->last = message;
        inbox->last = &message->next;
        inbox->bytes += message->size;
    } else {
        inbox->lost++;
    }
    pthread_mutex_unlock(&inbox->lock);
    if (!fits)
        io_live_message_drop(message);
}

void io_server_time(struct io_server *server, uint64_t time_ns)
{
    atomic_store_explicit(&server->time_ns, time_ns, memory_order_relaxed);
}

/* The place of this id, or a new one; the last where there are too many. */
static struct io_hub_status *status_slot(struct inbox *inbox, const char *id)
{
    for (int i = 0; i < inbox->status_count; i++) {
        if (strcmp(inbox->status[i].id, id) == 0)
            return &inbox->status[i];
    }
    if (inbox->status_count < IO_HUB_STATUS_MAX)
        inbox->status_count++;
    return &inbox->status[inbox->status_count - 1];
}

void io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                      const char *text)
{
    struct io_hub_status status = {.on = text != NULL, .level = level};
    snprintf(status.id, sizeof status.id, "%s", id);
    snprintf(status.text, sizeof status.text, "%s", text ? text : "");
    pthread_mutex_lock(&server->inbox.lock);
    *status_slot(&server->inbox, status.id) = status;
    pthread_mutex_unlock(&server->inbox.lock);
}

/* ---- the tick -------------------------------------------------------------------------- */

static struct io_live_message *take_inbox(struct inbox *inbox, uint64_t *lost,
                                          struct io_hub_status status[IO_HUB_STATUS_MAX],
                                          int *status_count)
{
    pthread_mutex_lock(&inbox->lock);
    struct io_live_message *first = inbox->first;
    inbox->first = NULL;
    inbox->last = &inbox->first;
    inbox->bytes = 0;
    *lost = inbox->lost;
    inbox->lost = 0;
    *status_count = inbox->status_count;
    memcpy(status, inbox->status, (size_t)inbox->status_count * sizeof *status);
    inbox->status_count = 0;
    pthread_mutex_unlock(&inbox->lock);
    return first;
}

static void forward_inbox(struct io_server *server, uint64_t now_ns)
{
    struct io_hub_status status[IO_HUB_STATUS_MAX];
    uint64_t lost;
    int status_count;
    struct io_live_message *message = take_inbox(&server->inbox, &lost, status, &status_count);
    io_hub_count_lost(&server->hub, lost);
    for (int i = 0; i < status_count; i++)
        io_hub_status(&server->hub, &status[i]);
    while (message) {
        struct io_live_message *next = message->next;
        message->next = NULL;
        io_hub_broadcast(&server->hub, message, now_ns);
        message = next;
    }
}

static void wake_writers(struct io_server *server)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        const struct io_session *client = &server->hub.client[i];
        if (client->viewer &&
            (client->gone || server->closing || io_session_queue_has_more(client->viewer)))
            lws_callback_on_writable(server->socket[i]);
    }
}

/* lws closes it the next time round. */
static void close_soon(struct lws *wsi)
{
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

static void check_admission(struct io_server *server, uint64_t now_ns)
{
    void *overdue[IO_ADMISSION_MAX];
    const uint64_t most_ns = SERVED_US_MAX * 1000ull, passed_ns = now_ns - server->tick_ns;
    const uint64_t dismissed = server->admission.dismissed - server->dismissed;
    const int count =
        io_admission_tick(&server->admission, passed_ns < most_ns ? passed_ns : most_ns, overdue);
    server->tick_ns = now_ns;
    for (int i = 0; i < count; i++)
        close_soon(overdue[i]);
    if (dismissed == 0 || now_ns - server->dismissed_ns < DISMISSED_EVERY_NS)
        return;
    io_hub_log_event(&server->hub, "%llu connections that asked for nothing were let go",
                     (unsigned long long)dismissed);
    server->dismissed += dismissed;
    server->dismissed_ns = now_ns;
}

static void on_tick(lws_sorted_usec_list_t *sul)
{
    struct io_server *server = lws_container_of(sul, struct io_server, tick);
    const uint64_t now_ns = rt_now_ns();
    check_admission(server, now_ns);
    forward_inbox(server, now_ns);
    io_hub_time(&server->hub, atomic_load_explicit(&server->time_ns, memory_order_relaxed));
    io_hub_tick(&server->hub, now_ns);
    wake_writers(server);
    lws_sul_schedule(server->context, 0, &server->tick, on_tick,
                     server->viewer_count > 0 ? TICK_US : IDLE_US);
}

/* ---- who may come in ------------------------------------------------------------------- */

/* Takes as long for a wrong first character as for a wrong last one. */
static bool same_secret(const char *given, const char *secret)
{
    const size_t length = strlen(secret);
    unsigned char differs = strlen(given) != length;
    for (size_t i = 0; given[i]; i++)
        differs |= (unsigned char)(given[i] ^ secret[i % length]);
    return differs == 0;
}

/* The operator token that this client gives, in the address or as a header; NULL: none. */
static const char *given_operator_token(struct lws *wsi, char text[TOKEN_MAX + 16])
{
    static const char scheme[] = "Operator ";
    const size_t length = sizeof scheme - 1;
    const char *given = lws_get_urlarg_by_name(wsi, "operator=", text, TOKEN_MAX + 16);
    if (given)
        return given;
    if (lws_hdr_copy(wsi, text, TOKEN_MAX + 16, WSI_TOKEN_HTTP_AUTHORIZATION) <= (int)length)
        return NULL;
    return strncasecmp(text, scheme, length) == 0 ? text + length : NULL;
}

static bool is_operator(const struct io_server *server, struct lws *wsi)
{
    char text[TOKEN_MAX + 16];
    if (!server->spec.operator_token)
        return true;
    const char *given = given_operator_token(wsi, text);
    return given && same_secret(given, server->spec.operator_token);
}

/* Who gives a wrong one shall not believe that it was taken. */
static bool has_wrong_operator_token(const struct io_server *server, struct lws *wsi)
{
    char text[TOKEN_MAX + 16];
    return server->spec.operator_token && given_operator_token(wsi, text) &&
           !is_operator(server, wsi);
}

static bool has_token(struct lws *wsi, const char *token)
{
    char text[TOKEN_MAX + 16];
    const char *given = lws_get_urlarg_by_name(wsi, "token=", text, sizeof text);
    if (given && same_secret(given, token))
        return true;
    const int length = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_AUTHORIZATION);
    return length > 7 && strncasecmp(text, "Bearer ", 7) == 0 && same_secret(text + 7, token);
}

/* A name that no stranger's name server can point at this machine. */
static bool is_loopback_name(const char *host)
{
    const size_t length = strcspn(host, ":");
    struct in_addr address;
    char name[ORIGIN_MAX];
    snprintf(name, sizeof name, "%.*s", (int)length, host);
    return strcmp(name, "localhost") == 0 ||
           (inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static bool is_own_page(const struct io_server *server, const char *origin, const char *host)
{
    const char *scheme = server->spec.certificate ? "https://" : "http://";
    return strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcmp(origin + strlen(scheme), host) == 0 && is_loopback_name(host);
}

/* A browser says whose page asks; a program says nothing, and could say anything. */
static bool has_allowed_origin(const struct io_server *server, struct lws *wsi)
{
    char origin[ORIGIN_MAX], host[ORIGIN_MAX];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) == 0)
        return true;
    if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0 ||
        lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0)
        return false;
    for (int i = 0; i < IO_SERVER_ORIGIN_MAX && server->spec.origins[i]; i++) {
        if (strcmp(origin, server->spec.origins[i]) == 0)
            return true;
    }
    return is_own_page(server, origin, host);
}

static int refuse_request(struct io_server *server, struct lws *wsi, unsigned code, const char *why)
{
    server->counts.refused++;
    (void)lws_return_http_status(wsi, code, why);
    return -1;
}

/* Those who look on shall not keep an operator out who comes back. */
static bool has_free_session(const struct io_server *server, struct lws *wsi)
{
    const int left = IO_SERVER_SESSION_MAX - server->viewer_count;
    const bool known = is_operator(server, wsi);
    return (left > IO_SERVER_OPERATOR_MIN || (left > 0 && known)) &&
           io_admission_allows_session(&server->admission, wsi,
                                       known && server->spec.operator_token);
}

/* ---- at the door ------------------------------------------------------------------------ */

/* A whole request, or what TLS begins with, waits to be read. */
static bool has_request(void *connection)
{
    unsigned char bytes[4096];
    const ssize_t size =
        recv(lws_get_socket_fd(connection), bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (lws_is_ssl(connection))
        return size >= 5 && size >= 5 + (bytes[3] << 8 | bytes[4]);
    return size == (ssize_t)sizeof bytes ||
           (size > 0 && memmem(bytes, (size_t)size, "\r\n\r\n", 4));
}

static int accept_connection(struct io_server *server, struct lws *wsi)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    (void)getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&address, &size);
    struct lws *victim =
        io_admission_add(&server->admission, wsi, ntohl(address.sin_addr.s_addr), has_request);
    if (victim == wsi)
        return -1;
    if (victim)
        close_soon(victim);
    return 0;
}

/* It has made a whole request.  False: too late. */
static bool note_request(struct io_server *server, struct lws *wsi)
{
    const bool known = (server->spec.operator_token && is_operator(server, wsi)) ||
                       (server->spec.token && has_token(wsi, server->spec.token));
    if (known)
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    return io_admission_note_request(&server->admission, wsi, known);
}

static int admit_session(struct io_server *server, struct lws *wsi)
{
    if (!note_request(server, wsi))
        return -1;
    if (server->closing || !has_free_session(server, wsi))
        return refuse_request(server, wsi, HTTP_STATUS_SERVICE_UNAVAILABLE, "too many clients");
    if (server->spec.token && !has_token(wsi, server->spec.token))
        return refuse_request(server, wsi, HTTP_STATUS_UNAUTHORIZED, "give the token: ?token=");
    if (has_wrong_operator_token(server, wsi))
        return refuse_request(
            server, wsi, HTTP_STATUS_FORBIDDEN,
            "another operator token; take the address that this run printed, or look on "
            "without");
    if (!server->spec.token && !has_allowed_origin(server, wsi))
        return refuse_request(
            server, wsi, HTTP_STATUS_FORBIDDEN,
            "this page may not look on; start the run with --origin and its address");
    return 0;
}

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

/* ---- the socket ------------------------------------------------------------------------ */

/* What lws keeps per connection. */
struct session_data {
    struct io_session *client;
    struct io_byte_writer request; /* so far */
};

static int open_session(struct io_server *server, struct lws *wsi,
                        struct session_data *session_data)
{
    session_data->request = (struct io_byte_writer){0};
    session_data->client =
        io_hub_open_session(&server->hub, rate_of(wsi), is_operator(server, wsi));
    if (!session_data->client)
        return -1;
    server->socket[session_data->client - server->hub.client] = wsi;
    io_admission_note_session(&server->admission, wsi,
                              server->spec.operator_token && is_operator(server, wsi));
    server->viewer_count++;
    server->counts.viewers++;
    lws_callback_on_writable(wsi);
    /* The tick may be slow while nobody looks on. */
    lws_sul_schedule(server->context, 0, &server->tick, on_tick, TICK_US);
    return 0;
}

static void close_session(struct io_server *server, struct session_data *session_data)
{
    if (!session_data->client)
        return;
    server->socket[session_data->client - server->hub.client] = NULL;
    server->viewer_count--;
    io_hub_close_session(&server->hub, session_data->client);
    io_byte_writer_free(&session_data->request);
    session_data->client = NULL;
}

/* Told, and cut off: after a close frame lws would read on until it was answered. */
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
                            struct session_data *session_data, const void *bytes, size_t size)
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

/* One frame; lws wants room before it. */
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

/* Stops where the socket takes no more: what then waits may become too much, and give way. */
static int write_queued(struct io_server *server, struct lws *wsi,
                        struct session_data *session_data)
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

static int on_live(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    struct io_server *server = server_of(wsi);
    struct session_data *session_data = user;
    switch ((int)reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return admit_session(server, wsi);
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

/* ---- the page -------------------------------------------------------------------------- */

struct page_transfer {
    const struct io_page *page;
    size_t at;
};

static const struct io_page *page_of(const struct io_server *server, const char *path)
{
    if (strcmp(path, "/") == 0)
        path = "/index.html";
    for (int i = 0; i < server->spec.page_count; i++) {
        if (strcmp(server->spec.pages[i].path, path) == 0)
            return &server->spec.pages[i];
    }
    const struct io_page *guarded = server->spec.guarded;
    return guarded && strcmp(guarded->path, path) == 0 ? guarded : NULL;
}

static bool is_gzip(const struct io_page *page)
{
    return page->size > 2 && memcmp(page->bytes, "\x1f\x8b", 2) == 0;
}

static int add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                      unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at, end);
}

static int begin_page(struct lws *wsi, struct page_transfer *page_transfer)
{
    static const char policy[] =
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self' ws: wss:; frame-ancestors 'none'";
    unsigned char headers[LWS_PRE + 2048];
    unsigned char *at = headers + LWS_PRE, *end = headers + sizeof headers;
    const struct io_page *page = page_transfer->page;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, page->media_type, page->size, &at, end) ||
        (is_gzip(page) && add_header(wsi, "content-encoding:", "gzip", &at, end)) ||
        add_header(wsi, "content-security-policy:", policy, &at, end) ||
        add_header(wsi, "x-content-type-options:", "nosniff", &at, end) ||
        add_header(wsi, "referrer-policy:", "no-referrer", &at, end) ||
        add_header(wsi, "cache-control:", "no-cache", &at, end) ||
        lws_finalize_write_http_header(wsi, headers + LWS_PRE, &at, end))
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

/* What is handed out to some only.  A stranger's page can reach this machine by a name of its own,
 * and read what it gets. */
static int check_guarded(struct io_server *server, struct lws *wsi)
{
    char host[ORIGIN_MAX];
    if (server->spec.token)
        return has_token(wsi, server->spec.token)
                   ? 0
                   : refuse_request(server, wsi, HTTP_STATUS_UNAUTHORIZED,
                                    "give the token: ?token=");
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) > 0 && is_loopback_name(host))
        return 0;
    return refuse_request(server, wsi, HTTP_STATUS_FORBIDDEN,
                          "ask for it at 127.0.0.1 or localhost");
}

static int open_page(struct lws *wsi, struct page_transfer *page_transfer, const char *path)
{
    struct io_server *server = server_of(wsi);
    const struct io_page *page = page_of(server, path);
    *page_transfer = (struct page_transfer){0};
    if (!note_request(server, wsi))
        return -1;
    if (page && page == server->spec.guarded && check_guarded(server, wsi) < 0)
        return -1;
    page_transfer->page = page;
    if (page_transfer->page && lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0)
        return begin_page(wsi, page_transfer);
    if (lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, NULL))
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int write_page(struct lws *wsi, struct page_transfer *page_transfer)
{
    unsigned char buffer[LWS_PRE + CHUNK];
    const struct io_page *page = page_transfer->page;
    if (!page)
        return 0;
    const size_t left = page->size - page_transfer->at;
    const size_t size = left < CHUNK ? left : CHUNK;
    const bool last = size == left;
    memcpy(buffer + LWS_PRE, (const unsigned char *)page->bytes + page_transfer->at, size);
    if (lws_write(wsi, buffer + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    page_transfer->at += size;
    if (!last) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    page_transfer->page = NULL;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int on_page(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    switch ((int)reason) {
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        return accept_connection(server_of(wsi), wsi);
    case LWS_CALLBACK_WSI_DESTROY:
        io_admission_remove(&server_of(wsi)->admission, wsi);
        return 0;
    case LWS_CALLBACK_HTTP:
        return open_page(wsi, user, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_page(wsi, user);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* a socket that names no protocol of ours */
        return refuse_request(server_of(wsi), wsi, HTTP_STATUS_BAD_REQUEST,
                              "offer the subprotocol foxglove.sdk.v1");
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

/* ---- open and close -------------------------------------------------------------------- */

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_page, .per_session_data_size = sizeof(struct page_transfer)},
    {.name = "foxglove.sdk.v1",
     .callback = on_live,
     .per_session_data_size = sizeof(struct session_data),
     .rx_buffer_size = 4096},
    {.name = "foxglove.websocket.v1",
     .callback = on_live,
     .per_session_data_size = sizeof(struct session_data),
     .rx_buffer_size = 4096},
    {0},
};

/* lws says only that it failed. */
static int try_bind(const struct io_server_spec *spec)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)spec->port)};
    const int one = 1;
    int failure = 0;
    if (inet_pton(AF_INET, spec->address, &address.sin_addr) != 1)
        return -EINVAL;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) || listen(fd, 1))
        failure = -errno;
    close(fd);
    return failure;
}

static const char *unreadable_file(const struct io_server_spec *spec)
{
    if (spec->certificate && access(spec->certificate, R_OK))
        return spec->certificate;
    return spec->key && access(spec->key, R_OK) ? spec->key : NULL;
}

/* Of TLS 1.2, what has a key of its own for every connection and authenticates as it encrypts: no
 * RSA key exchange and no SHA-1.  TLS 1.3 has nothing else. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!SHA1:@SECLEVEL=2";

static bool open_context(struct io_server *server)
{
    const struct io_server_spec *spec = &server->spec;
    struct lws_context_creation_info info = {
        .port = spec->port,
        .iface = spec->address,
        .protocols = protocols,
        .vhost_name = "live",
        .server_string = "airbearing",
        .user = server,
        .fd_limit_per_thread = IO_ADMISSION_MAX,
        .ka_time = 30,
        .ka_probes = 3,
        .ka_interval = 5,
        .timeout_secs = 10,
        .retry_and_idle_policy = &idle_policy,
        .ssl_cert_filepath = spec->certificate,
        .ssl_private_key_filepath = spec->key,
        .alpn = "http/1.1",
        .ssl_cipher_list = ciphers,
        .ssl_options_set = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_RENEGOTIATION,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_DISABLE_IPV6 |
                   (spec->certificate ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0),
    };
    lws_set_log_level(0, NULL);
    server->context = lws_create_context(&info);
    if (!server->context)
        return false;
    server->vhost = lws_create_vhost(server->context, &info);
    return server->vhost != NULL;
}

static void init_server(struct io_server *server, const struct io_server_spec *spec)
{
    char session[24];
    snprintf(session, sizeof session, "%llu", (unsigned long long)rt_now_ns());
    RT_CHECK(!spec->token || spec->token[0]);
    RT_CHECK(!spec->operator_token || spec->operator_token[0]);
    server->spec = *spec;
    pthread_mutex_init(&server->inbox.lock, NULL);
    server->inbox.last = &server->inbox.first;
    io_hub_open(&server->hub, spec, session);
}

static void free_server(struct io_server *server)
{
    if (server->context)
        lws_context_destroy(server->context);
    io_hub_close(&server->hub);
    while (server->inbox.first) {
        struct io_live_message *message = server->inbox.first;
        server->inbox.first = message->next;
        io_live_message_drop(message);
    }
    pthread_mutex_destroy(&server->inbox.lock);
    io_byte_writer_free(&server->frame);
    free(server);
}

struct io_server *io_server_open(const struct io_server_spec *spec, char error[IO_SERVER_ERROR_MAX])
{
    const int failure = try_bind(spec);
    const char *file = unreadable_file(spec);
    if (failure || file) {
        snprintf(error, IO_SERVER_ERROR_MAX, "%s: %s%s", file ? file : spec->address,
                 strerror(file ? errno : -failure),
                 !file && failure == -EADDRINUSE
                     ? "; choose another port, or 0 for any that is free"
                     : "");
        return NULL;
    }
    struct io_server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(error, IO_SERVER_ERROR_MAX, "%s", strerror(ENOMEM));
        return NULL;
    }
    init_server(server, spec);
    if (open_context(server))
        return server;
    snprintf(error, IO_SERVER_ERROR_MAX, "%s: %s",
             spec->certificate ? spec->certificate : spec->address,
             spec->certificate ? "no certificate that fits this key" : "it cannot be listened on");
    free_server(server);
    return NULL;
}

int io_server_port(const struct io_server *server)
{
    return lws_get_vhost_listen_port(server->vhost);
}

static void server_main(void *self)
{
    struct io_server *server = self;
    server->tick_ns = rt_now_ns();
    lws_sul_schedule(server->context, 0, &server->tick, on_tick, 1);
    while (!atomic_load_explicit(&server->stop, memory_order_acquire))
        (void)lws_service(server->context, 0);
    forward_inbox(server, rt_now_ns());
    io_hub_fail_pending(&server->hub);
    server->closing = true;
    const uint64_t end_ns = rt_now_ns() + CLOSING_US * 1000ull;
    wake_writers(server);
    lws_sul_schedule(server->context, 0, &server->tick, on_tick, TICK_US);
    while (server->viewer_count > 0 && rt_now_ns() < end_ns)
        (void)lws_service(server->context, 0);
}

int io_server_start(struct io_server *server, const struct rt_thread_spec *spec)
{
    const int failure = rt_thread_start(&server->thread, spec, server_main, server);
    server->started = failure == 0;
    return failure;
}

void io_server_close(struct io_server *server, struct io_server_counts *counts)
{
    if (server->started) {
        atomic_store_explicit(&server->stop, true, memory_order_release);
        lws_cancel_service(server->context);
        rt_thread_join(&server->thread);
    }
    lws_context_destroy(server->context);
    server->context = NULL;
    if (counts) {
        *counts = server->counts;
        counts->dismissed = server->admission.dismissed;
        counts->sent += server->hub.sent;
        counts->lost += server->hub.lost;
    }
    free_server(server);
}
