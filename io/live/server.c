/*
 * Tested by tests/scenario/live/test_serve.py and test_access.py.
 */
#include "io/live/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/live/server_private.h"
#include "rt/check.h"
#include "rt/clock.h"

enum {
    TICK_US = 10 * 1000,     /* between two ticks */
    IDLE_US = 100 * 1000,    /* the same while there is no viewer */
    CLOSING_US = 500 * 1000, /* the time for sending the last messages */
    INBOX_MAX = 8 * 1024 * 1024,
    SERVED_US_MAX = 2 * IDLE_US, /* per tick: on a stalled machine no request could arrive */
    DISMISSED_EVERY_NS = 1000000000,
};

/* Without keep-alive, TCP retries for 15 minutes towards a client whose cable was pulled.  A
 * silent client is pinged, and closed if it does not reply. */
static const lws_retry_bo_t idle_policy = {.secs_since_valid_ping = 5,
                                           .secs_since_valid_hangup = 15};

/* ---- from the telemetry thread --------------------------------------------------------- */

bool io_server_is_subscribed(const struct io_server *server, int channel)
{
    return io_hub_is_subscribed(&server->hub, channel);
}

void io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns, const void *image,
                         size_t size)
{
    struct io_server_inbox *inbox = &server->inbox;
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

/* The slot of this id, or a new one; the last one if there are too many. */
static struct io_hub_status *status_slot(struct io_server_inbox *inbox, const char *id)
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

static struct io_live_message *take_inbox(struct io_server_inbox *inbox, uint64_t *lost,
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

static void check_admission(struct io_server *server, uint64_t now_ns)
{
    void *overdue[IO_ADMISSION_MAX];
    const uint64_t most_ns = SERVED_US_MAX * 1000ull, passed_ns = now_ns - server->tick_ns;
    const uint64_t dismissed = server->admission.dismissed - server->dismissed;
    const int count =
        io_admission_tick(&server->admission, passed_ns < most_ns ? passed_ns : most_ns, overdue);
    server->tick_ns = now_ns;
    for (int i = 0; i < count; i++)
        io_server_close_soon(overdue[i]);
    if (dismissed == 0 || now_ns - server->dismissed_ns < DISMISSED_EVERY_NS)
        return;
    io_hub_log_event(&server->hub, "%llu connections that sent no request were closed",
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

/* The tick is slow while there is no viewer. */
void io_server_hasten_tick(struct io_server *server)
{
    lws_sul_schedule(server->context, 0, &server->tick, on_tick, TICK_US);
}

/* ---- open and close -------------------------------------------------------------------- */

static const struct lws_protocols protocols[] = {
    {.name = "http",
     .callback = io_server_on_page,
     .per_session_data_size = sizeof(struct io_server_page_transfer)},
    {.name = "foxglove.sdk.v1",
     .callback = io_server_on_live,
     .per_session_data_size = sizeof(struct io_server_session),
     .rx_buffer_size = 4096},
    {.name = "foxglove.websocket.v1",
     .callback = io_server_on_live,
     .per_session_data_size = sizeof(struct io_server_session),
     .rx_buffer_size = 4096},
    {0},
};

/* lws reports only that it failed, not why; so bind once before it does. */
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

/* Of TLS 1.2, only the ciphers with forward secrecy and authenticated encryption: no RSA key
 * exchange and no SHA-1.  TLS 1.3 has no others. */
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
             spec->certificate ? "the certificate and the key do not belong together"
                               : "cannot listen on this address");
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
    io_server_hasten_tick(server);
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
