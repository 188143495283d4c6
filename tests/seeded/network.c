/*
 * libwebsockets without sockets: connections of simulated clients, served by the thread that calls
 * lws_service(), one thing at a time.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "tests/seeded/network.h"
#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"

enum { SOCKET_FIRST = 1 << 22, CONNECTION_MAX = 1024, TIMER_MAX = 16, LIVE_PROTOCOL = 1 };

enum kind { ARRIVES, SPEAKS, LEAVES };

struct parcel {
    struct parcel *next;
    enum kind kind;
    struct connection *connection;
    bool binary;
    size_t size;
    unsigned char bytes[];
};

struct lws {
    struct client *client; /* NULL: it has left */
    const struct lws_protocols *protocol;
    void *user;
    bool is_known, is_open, wants_to_write, is_binary, is_doomed;
    int number;
    uint64_t order_ns; /* nothing arrives before what was sent before it */
};

/* The connection of a client is an lws. */
struct connection {
    struct lws wsi;
};

static struct {
    const struct lws_protocols *protocols;
    void *user;
    struct connection *connections[CONNECTION_MAX];
    int count;
    struct parcel *first, **last;
    lws_sorted_usec_list_t *timers[TIMER_MAX];
    bool cancelled, is_open;
} net;

static const char token[] = "sesame";

/* ---- clients: their side --------------------------------------------------------------------- */

static void arrive(void *self)
{
    struct parcel *parcel = self;
    *net.last = parcel;
    net.last = &parcel->next;
    seeded_wake(&net);
}

static void post(struct connection *connection, enum kind kind, const void *bytes, size_t size,
                 bool binary)
{
    struct parcel *parcel = seeded_allocate(sizeof *parcel + size);
    parcel->kind = kind;
    parcel->connection = connection;
    parcel->binary = binary;
    parcel->size = size;
    if (size > 0)
        memcpy(parcel->bytes, bytes, size);
    uint64_t at_ns = seeded_now_ns + seeded_between(20 * SEEDED_US, 2 * SEEDED_MS);
    if (at_ns <= connection->wsi.order_ns)
        at_ns = connection->wsi.order_ns + 1;
    connection->wsi.order_ns = at_ns;
    seeded_at(at_ns, arrive, parcel);
}

void network_connect(struct client *client)
{
    if (!net.is_open || net.count == CONNECTION_MAX)
        return;
    struct connection *connection = seeded_allocate(sizeof *connection);
    connection->wsi.number = net.count;
    net.connections[net.count++] = connection;
    connection->wsi.client = client;
    connection->wsi.protocol = &net.protocols[LIVE_PROTOCOL];
    connection->wsi.user = seeded_allocate(connection->wsi.protocol->per_session_data_size);
    client->connection = connection;
    client->gone = false;
    client->came_ns = seeded_now_ns;
    post(connection, ARRIVES, NULL, 0, false);
}

void network_send(struct client *client, const void *bytes, size_t size, bool binary)
{
    if (client->connection)
        post(client->connection, SPEAKS, bytes, size, binary);
}

void network_leave(struct client *client)
{
    if (!client->connection)
        return;
    post(client->connection, LEAVES, NULL, 0, false);
    client->connection->wsi.client = NULL;
    client->connection = NULL;
    clients_left(client);
}

void network_read_on(struct client *client)
{
    client->stalls = false;
    seeded_wake(&net);
}

/* ---- the server's side ----------------------------------------------------------------------- */

static int call_back(struct lws *wsi, enum lws_callback_reasons reason, void *bytes, size_t size)
{
    return wsi->protocol->callback(wsi, reason, wsi->user, bytes, size);
}

/* Coming and going are reported to the first protocol, whichever is used. */
static int tell_first(struct lws *wsi, enum lws_callback_reasons reason)
{
    return net.protocols[0].callback(wsi, reason, NULL, NULL, 0);
}

static void close_connection(struct lws *wsi)
{
    struct client *client = wsi->client;
    if (wsi->is_open) {
        wsi->is_open = false;
        (void)call_back(wsi, LWS_CALLBACK_CLOSED, NULL, 0);
    }
    if (wsi->is_known) {
        wsi->is_known = false;
        (void)tell_first(wsi, LWS_CALLBACK_WSI_DESTROY);
    }
    wsi->client = NULL;
    if (!client)
        return;
    seeded_trace("client %d is let go", client->number);
    client->connection = NULL;
    clients_left(client);
}

static void let_in(struct lws *wsi)
{
    if (seeded_breaks(seeded_weather.accept_errors)) {
        seeded_trace("accept fails: EMFILE");
        seeded_shared->faults++;
        close_connection(wsi);
        return;
    }
    wsi->is_known = true;
    if (tell_first(wsi, LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED) != 0) {
        close_connection(wsi);
        return;
    }
    if (!wsi->client || call_back(wsi, LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION, NULL, 0) != 0) {
        close_connection(wsi);
        return;
    }
    wsi->is_open = true;
    seeded_trace("client %d comes in%s", wsi->client->number,
                 wsi->client->is_operator ? ", an operator" : "");
    wsi->client->connected = true;
    seeded_shared->clients++;
    if (call_back(wsi, LWS_CALLBACK_ESTABLISHED, NULL, 0) != 0)
        close_connection(wsi);
}

static void deliver(struct parcel *parcel)
{
    struct lws *wsi = &parcel->connection->wsi;
    if (parcel->kind == ARRIVES) {
        let_in(wsi);
    } else if (parcel->kind == LEAVES) {
        close_connection(wsi);
    } else if (wsi->is_open) {
        wsi->is_binary = parcel->binary;
        clients_read_by_server(wsi->client, parcel->bytes, parcel->size);
        if (call_back(wsi, LWS_CALLBACK_RECEIVE, parcel->bytes, parcel->size) != 0)
            close_connection(wsi);
    }
}

static bool serve_parcel(void)
{
    struct parcel *parcel = net.first;
    if (!parcel)
        return false;
    net.first = parcel->next;
    if (!net.first)
        net.last = &net.first;
    deliver(parcel);
    return true;
}

static bool serve_doomed(void)
{
    for (int i = 0; i < net.count; i++) {
        struct lws *wsi = &net.connections[i]->wsi;
        if (!wsi->is_doomed)
            continue;
        wsi->is_doomed = false;
        close_connection(wsi);
        return true;
    }
    return false;
}

static bool can_write(const struct lws *wsi)
{
    return wsi->is_open && wsi->wants_to_write && (!wsi->client || !wsi->client->stalls);
}

static bool serve_writer(void)
{
    const int from = net.count > 0 ? (int)seeded_below((uint64_t)net.count) : 0;
    for (int i = 0; i < net.count; i++) {
        struct lws *wsi = &net.connections[(from + i) % net.count]->wsi;
        if (!can_write(wsi))
            continue;
        wsi->wants_to_write = false;
        if (call_back(wsi, LWS_CALLBACK_SERVER_WRITEABLE, NULL, 0) != 0)
            close_connection(wsi);
        return true;
    }
    return false;
}

static lws_sorted_usec_list_t **next_timer(void)
{
    lws_sorted_usec_list_t **next = NULL;
    for (int i = 0; i < TIMER_MAX; i++) {
        if (net.timers[i] && (!next || net.timers[i]->us < (*next)->us))
            next = &net.timers[i];
    }
    return next;
}

static uint64_t due_ns(const lws_sorted_usec_list_t *timer)
{
    return (uint64_t)timer->us * SEEDED_US;
}

static bool serve_timer(void)
{
    lws_sorted_usec_list_t **next = next_timer();
    if (!next || due_ns(*next) > seeded_now_ns)
        return false;
    lws_sorted_usec_list_t *timer = *next;
    *next = NULL;
    timer->cb(timer);
    return true;
}

int __wrap_lws_service(struct lws_context *context, int timeout_ms)
{
    (void)context, (void)timeout_ms;
    seeded_sleep(seeded_between(2 * SEEDED_US, 20 * SEEDED_US));
    if (serve_timer() || serve_doomed() || serve_parcel() || serve_writer() || net.cancelled) {
        net.cancelled = false;
        return 0;
    }
    lws_sorted_usec_list_t **next = next_timer();
    const uint64_t latest_ns = seeded_now_ns + SEEDED_S;
    seeded_wait(&net, next && due_ns(*next) < latest_ns ? due_ns(*next) : latest_ns);
    return 0;
}

void __wrap_lws_cancel_service(struct lws_context *context)
{
    (void)context;
    net.cancelled = true;
    seeded_wake(&net);
}

void __wrap_lws_sul_schedule(struct lws_context *context, int thread, lws_sorted_usec_list_t *timer,
                             sul_cb_t call, lws_usec_t us)
{
    (void)context, (void)thread;
    int free_place = -1;
    for (int i = 0; i < TIMER_MAX; i++) {
        if (net.timers[i] == timer)
            net.timers[i] = NULL;
        if (!net.timers[i])
            free_place = i;
    }
    if (us == LWS_SET_TIMER_USEC_CANCEL)
        return;
    if (free_place < 0)
        seeded_fail("more than %d timers of the server", TIMER_MAX);
    timer->cb = call;
    timer->us = (lws_usec_t)(seeded_now_ns / SEEDED_US) + us;
    net.timers[free_place] = timer;
}

int __wrap_lws_write(struct lws *wsi, unsigned char *bytes, size_t size,
                     enum lws_write_protocol protocol)
{
    if (!wsi->client)
        return -1;
    if (seeded_breaks(seeded_weather.send_errors)) {
        seeded_trace("send to client %d fails", wsi->client->number);
        seeded_shared->faults++;
        return -1;
    }
    clients_hear(wsi->client, bytes, size, protocol == LWS_WRITE_BINARY);
    return (int)size;
}

int __wrap_lws_send_pipe_choked(struct lws *wsi)
{
    return !wsi->client || wsi->client->stalls || seeded_breaks(50);
}

int __wrap_lws_callback_on_writable(struct lws *wsi)
{
    wsi->wants_to_write = true;
    return 1;
}

/* ---- who it is ------------------------------------------------------------------------------- */

const char *__wrap_lws_get_urlarg_by_name(struct lws *wsi, const char *name, char *text, int size)
{
    if (strcmp(name, "operator=") != 0 || !wsi->client || !wsi->client->is_operator)
        return NULL;
    snprintf(text, (size_t)size, "%s", token);
    return text;
}

int __wrap_lws_hdr_copy(struct lws *wsi, char *text, int size, enum lws_token_indexes header)
{
    (void)wsi, (void)header;
    if (size > 0)
        text[0] = '\0';
    return 0;
}

int __wrap_lws_hdr_total_length(struct lws *wsi, enum lws_token_indexes header)
{
    (void)wsi, (void)header;
    return 0;
}

int __wrap_lws_return_http_status(struct lws *wsi, unsigned code, const char *text)
{
    seeded_trace("client %d is refused: %u %s", wsi->client ? wsi->client->number : -1, code,
                 text ? text : "");
    return 0;
}

int __wrap_lws_is_first_fragment(struct lws *wsi)
{
    (void)wsi;
    return 1;
}

int __wrap_lws_is_final_fragment(struct lws *wsi)
{
    (void)wsi;
    return 1;
}

int __wrap_lws_frame_is_binary(struct lws *wsi)
{
    return wsi->is_binary;
}

void __wrap_lws_validity_confirmed(struct lws *wsi)
{
    (void)wsi;
}

void __wrap_lws_close_reason(struct lws *wsi, enum lws_close_status status, unsigned char *text,
                             size_t size)
{
    (void)wsi, (void)status, (void)text, (void)size;
}

lws_sockfd_type __wrap_lws_get_socket_fd(struct lws *wsi)
{
    return SOCKET_FIRST + wsi->number;
}

void __wrap_lws_set_timeout(struct lws *wsi, enum pending_timeout reason, int seconds)
{
    (void)reason;
    wsi->is_doomed = seconds == LWS_TO_KILL_ASYNC || seconds == LWS_TO_KILL_SYNC;
}

int __wrap_lws_is_ssl(struct lws *wsi)
{
    (void)wsi;
    return 0;
}

/* What waits to be read is a whole request: nobody here is slow to ask. */
ssize_t __wrap_recv(int fd, void *bytes, size_t size, int flags)
{
    static const char request[] = "GET / HTTP/1.1\r\n\r\n";
    if (fd < SOCKET_FIRST)
        return __real_recv(fd, bytes, size, flags);
    const size_t count = size < sizeof request - 1 ? size : sizeof request - 1;
    memcpy(bytes, request, count);
    return (ssize_t)count;
}

/* Each comes from an address of its own. */
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    const struct sockaddr_in name = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(0x0a000001u + (unsigned)fd % 65536)};
    memcpy(address, &name, *size < sizeof name ? *size : sizeof name);
    *size = sizeof name;
    return 0;
}

/* ---- the context ----------------------------------------------------------------------------- */

struct lws_context *__wrap_lws_create_context(const struct lws_context_creation_info *info)
{
    net.protocols = info->protocols;
    net.user = info->user;
    net.last = &net.first;
    net.is_open = true;
    return (struct lws_context *)&net;
}

struct lws_vhost *__wrap_lws_create_vhost(struct lws_context *context,
                                          const struct lws_context_creation_info *info)
{
    (void)info;
    return (struct lws_vhost *)context;
}

int __wrap_lws_get_vhost_listen_port(struct lws_vhost *vhost)
{
    (void)vhost;
    return 8080;
}

void *__wrap_lws_context_user(struct lws_context *context)
{
    (void)context;
    return net.user;
}

struct lws_context *__wrap_lws_get_context(const struct lws *wsi)
{
    (void)wsi;
    return (struct lws_context *)&net;
}

void __wrap_lws_context_destroy(struct lws_context *context)
{
    (void)context;
    net.is_open = false;
    for (int i = 0; i < net.count; i++)
        close_connection(&net.connections[i]->wsi);
}

void __wrap_lws_set_log_level(int level, void (*emit)(int level, const char *line))
{
    (void)level, (void)emit;
}
