/*
 * airbearing top: shows a run that is served live as a table in a terminal.
 *
 * Tested by tests/scenario/live/test_terminal_tables.py.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <libwebsockets.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/log/byte_reader.h"
#include "rt/clock.h"
#include "rt/overrun_cause.h"
#include "rt/panic.h"
#include "tools/airbearing/cdr_decode.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/live/live_figures.h"

enum {
    CHANNEL_MAX = 160,
    SHOWN_MAX = 24,                /* rows of devices */
    MESSAGE_MAX = 8 * 1024 * 1024, /* the advertisement is the largest message */
    DRAW_EVERY_NS = 200 * 1000000,
    PATIENCE_NS = 2000000000, /* for the first figures, and for a silent server */
    ROW_MAX = 160,
};

static const char usage[] =
    "usage: airbearing top [ADDRESS:PORT] [options]\n"
    "\n"
    "Show a run that was started with --serve: its rate and margins, overruns and their causes,\n"
    "links and devices.  Without an address: 127.0.0.1:8080.\n"
    "\n"
    "  --once               print one table and exit; also where the output is not a terminal\n"
    "  --token TOKEN        the token of the run, if it has one; also --token-file FILE\n"
    "  --tls                the run was given a certificate; --ca FILE: trust this one\n"
    "\n"
    "Exit: 0 the run ended or the table was shown; 2 no airbearing server answers at that address; "
    "64 usage.\n";

struct options {
    char address[128];
    int port;
    bool once, tls;
    const char *token, *token_file, *ca;
};

struct channel {
    bool on;
    char topic[64];
    struct cdr_layout decode;
    unsigned char *newest; /* CDR with its header; NULL: none yet */
    size_t size;
};

struct top {
    struct options options;
    struct lws *wsi;
    struct channel channel[CHANNEL_MAX]; /* by id, which is also that of the subscription */
    int figures, status_channel;         /* the channels of /live, /desk; -1: not known yet */
    char name[64], problem[256];         /* the run's name; why there is no connection */
    char status[256];                    /* the newest line */
    struct io_byte_writer incoming;
    struct io_byte_writer request; /* LWS_PRE bytes, then the text to send */
    bool ended, failed;
    uint64_t drawn_ns, begin_ns;
    int lines;
};

/* ---- what the server says -------------------------------------------------------------- */

/* Replace characters that a terminal would not print by a question mark. */
static void copy_text(char *to, size_t room, const char *from)
{
    size_t length = 0;
    for (; from && from[length] && length < room - 1; length++)
        to[length] = from[length] >= ' ' && from[length] != 0x7f ? from[length] : '?';
    to[length] = '\0';
}

static bool is_interesting(const char *topic)
{
    return strcmp(topic, "/live") == 0 || strcmp(topic, "/desk") == 0 ||
           strncmp(topic, "/device/", 8) == 0;
}

static void take_channel(struct top *top, const json_t *item, json_t *subscriptions)
{
    const json_int_t id = json_integer_value(json_object_get(item, "id"));
    const char *topic = json_string_value(json_object_get(item, "topic"));
    const char *schema = json_string_value(json_object_get(item, "schema"));
    if (!topic || !schema || id < 0 || id >= CHANNEL_MAX || !is_interesting(topic))
        return;
    struct channel *channel = &top->channel[id];
    copy_text(channel->topic, sizeof channel->topic, topic);
    cdr_layout_parse(&channel->decode, schema);
    channel->on = true;
    if (strcmp(topic, "/live") == 0)
        top->figures = (int)id;
    if (strcmp(topic, "/desk") == 0)
        top->status_channel = (int)id;
    json_array_append_new(subscriptions, json_pack("{s:I, s:I}", "id", id, "channelId", id));
}

static void subscribe(struct top *top, const json_t *channels)
{
    json_t *subscriptions = json_array();
    for (size_t i = 0; i < json_array_size(channels); i++)
        take_channel(top, json_array_get(channels, i), subscriptions);
    json_t *request = json_pack("{s:s, s:o}", "op", "subscribe", "subscriptions", subscriptions);
    char *text = json_dumps(request, JSON_COMPACT);
    io_byte_writer_clear(&top->request);
    if (text && io_byte_writer_reserve(&top->request, LWS_PRE)) {
        top->request.size = LWS_PRE;
        io_put_raw(&top->request, text, strlen(text));
        lws_callback_on_writable(top->wsi);
    }
    free(text);
    json_decref(request);
}

static void handle_json(struct top *top)
{
    json_t *root = json_loadb((const char *)top->incoming.data, top->incoming.size, 0, NULL);
    const char *op = json_string_value(json_object_get(root, "op"));
    if (op && strcmp(op, "advertise") == 0)
        subscribe(top, json_object_get(root, "channels"));
    else if (op && strcmp(op, "serverInfo") == 0)
        copy_text(top->name, sizeof top->name, json_string_value(json_object_get(root, "name")));
    else if (op && strcmp(op, "status") == 0)
        copy_text(top->status, sizeof top->status,
                  json_string_value(json_object_get(root, "message")));
    json_decref(root);
}

static void handle_binary(struct top *top)
{
    struct io_byte_reader fields = io_byte_reader_of(
        (struct io_slice){.data = top->incoming.data, .size = top->incoming.size});
    const uint8_t opcode = io_get_u8(&fields);
    const uint32_t id = io_get_u32(&fields);
    (void)io_get_u64(&fields);
    if (opcode != 1 || fields.bad || id >= CHANNEL_MAX || !top->channel[id].on)
        return;
    struct channel *channel = &top->channel[id];
    unsigned char *copy = malloc(fields.left + 1);
    if (!copy)
        return;
    memcpy(copy, fields.at, fields.left);
    free(channel->newest);
    channel->newest = copy;
    channel->size = fields.left;
}

/* ---- the table ------------------------------------------------------------------------- */

/* NAN before the first message. */
static double number_of(const struct channel *channel, const char *name, int index)
{
    const struct cdr_field *field = cdr_layout_find(&channel->decode, name);
    return field && channel->newest ? cdr_field_number(field, index, channel->newest, channel->size)
                                    : (double)NAN;
}

static double figure(const struct top *top, const char *name, int index)
{
    return number_of(&top->channel[top->figures], name, index);
}

static bool is_paused(const struct top *top)
{
    return top->status_channel >= 0 &&
           number_of(&top->channel[top->status_channel], "paused", 0) > 0.0;
}

__attribute__((format(printf, 2, 3))) static void row(struct top *top, const char *format, ...)
{
    char text[ROW_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("%s%s\n", top->options.once ? "" : "\033[K", text);
    top->lines++;
}

static void draw_causes(struct top *top)
{
    char text[ROW_MAX] = "";
    size_t at = 0;
    for (int i = 1; i < RT_CAUSE_COUNT; i++) {
        const double count = figure(top, "cause", i);
        if (count > 0.0 && at < sizeof text)
            at +=
                (size_t)snprintf(text + at, sizeof text - at, " %s %.0f", rt_cause_name[i], count);
    }
    row(top, "  overruns        %.0f   releases missed %.0f%s%s", figure(top, "overruns", 0),
        figure(top, "missed", 0), at > 0 ? "   by" : "", text);
}

static void draw_links(struct top *top)
{
    static const char *const state[] = {"silent", "heard", "LOST"};
    char text[ROW_MAX] = "";
    size_t at = 0;
    for (int i = 0; i < IO_LINK_MAX; i++) {
        const double link = figure(top, "link", i);
        if ((link > 0.0 && link < 3.0) || (i == 0 && link < 3.0))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d %s", i ? "   " : "", i,
                                   state[(int)link]);
    }
    row(top, "  links           %s   inputs %.0f", text, figure(top, "inputs", 0));
}

static void draw_device(struct top *top, const struct channel *channel)
{
    char text[ROW_MAX] = "";
    size_t at = 0;
    for (int f = 0; f < channel->decode.field_count && at < sizeof text; f++) {
        const struct cdr_field *field = &channel->decode.field[f];
        if (strcmp(field->name, "unused") == 0)
            continue;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", f ? "   " : "", field->name);
        for (int i = 0; i < field->count && i < 4 && at < sizeof text; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, " %.4g",
                                   cdr_field_number(field, i, channel->newest, channel->size));
        if (at < sizeof text)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s", field->unit);
    }
    row(top, "  %-15s %s", channel->topic + strlen("/device/"), text);
}

static void draw_devices(struct top *top)
{
    int shown = 0, more = 0;
    for (int i = 0; i < CHANNEL_MAX; i++) {
        const struct channel *channel = &top->channel[i];
        if (!channel->on || i == top->figures || i == top->status_channel || !channel->newest)
            continue;
        if (shown++ < SHOWN_MAX)
            draw_device(top, channel);
        else
            more++;
    }
    if (more > 0)
        row(top, "  and %d more", more);
}

static void draw(struct top *top)
{
    if (top->lines > 0)
        printf("\033[%dA", top->lines);
    top->lines = 0;
    row(top, "%s  %.2f s  frame %.0f%s", top->name, figure(top, "seconds", 0),
        figure(top, "frame", 0), is_paused(top) ? "  paused" : "");
    row(top, "  rate            %.1f Hz", figure(top, "rate_hz", 0));
    row(top, "  start error     %.2f us (median)   %.2f us (worst)",
        figure(top, "start_error_us", 0), figure(top, "start_error_us_max", 0));
    row(top, "  busy            %.2f us (median)   %.2f us (worst)", figure(top, "busy_us", 0),
        figure(top, "busy_us_max", 0));
    row(top, "  margin          %.2f us (median)   %.2f us (least)", figure(top, "margin_us", 0),
        figure(top, "margin_us_min", 0));
    draw_causes(top);
    draw_links(top);
    draw_devices(top);
    row(top, "  %s", top->status);
    printf("%s", top->options.once ? "" : "\033[J");
    fflush(stdout);
    top->drawn_ns = rt_now_ns();
}

static bool has_figures(const struct top *top)
{
    return top->figures >= 0 && top->channel[top->figures].newest != NULL;
}

/* ---- the connection -------------------------------------------------------------------- */

static int receive_fragment(struct top *top, struct lws *wsi, const void *bytes, size_t size)
{
    if (lws_is_first_fragment(wsi))
        io_byte_writer_clear(&top->incoming);
    if (top->incoming.size + size > MESSAGE_MAX)
        return -1;
    io_put_raw(&top->incoming, bytes, size);
    if (!lws_is_final_fragment(wsi) || top->incoming.failed)
        return 0;
    if (lws_frame_is_binary(wsi))
        handle_binary(top);
    else
        handle_json(top);
    return 0;
}

static int send_request(struct top *top, struct lws *wsi)
{
    const size_t size = top->request.size;
    if (size <= LWS_PRE || top->request.failed)
        return 0;
    top->request.size = 0;
    return lws_write(wsi, top->request.data + LWS_PRE, size - LWS_PRE, LWS_WRITE_TEXT) < 0 ? -1 : 0;
}

static int add_token(const struct top *top, struct lws *wsi, void *in, size_t room)
{
    char text[288];
    unsigned char **at = in;
    if (!top->options.token)
        return 0;
    const int length = snprintf(text, sizeof text, "Bearer %s", top->options.token);
    return lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_AUTHORIZATION,
                                        (const unsigned char *)text, length, at, *at + room);
}

static int on_websocket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t size)
{
    struct top *top = lws_context_user(lws_get_context(wsi));
    (void)user;
    switch ((int)reason) {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        return add_token(top, wsi, in, size);
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return receive_fragment(top, wsi, in, size);
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return send_request(top, wsi);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        copy_text(top->problem, sizeof top->problem,
                  in ? in : "no airbearing server answers at that address");
        top->failed = top->ended = true;
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
        top->ended = true;
        return 0;
    default:
        return 0;
    }
}

static struct lws_context *connect_to(struct top *top)
{
    static const struct lws_protocols protocols[] = {
        {.name = "foxglove.sdk.v1", .callback = on_websocket, .rx_buffer_size = 65536}, {0}};
    const struct options *options = &top->options;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .user = top,
        .client_ssl_ca_filepath = options->ca,
        .timeout_secs = 5,
        .connect_timeout_secs = 5,
        .fd_limit_per_thread = 16,
        .options = options->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0,
    };
    lws_set_log_level(0, NULL);
    struct lws_context *context = lws_create_context(&info);
    if (!context)
        return NULL;
    const struct lws_client_connect_info where = {
        .context = context,
        .address = options->address,
        .port = options->port,
        .path = "/?rate=10",
        .host = options->address,
        .protocol = protocols[0].name,
        .ssl_connection = options->tls ? LCCSCF_USE_SSL : 0,
        .pwsi = &top->wsi,
    };
    if (!lws_client_connect_via_info(&where) && !top->failed) {
        snprintf(top->problem, sizeof top->problem, "no airbearing server answers at that address");
        top->failed = top->ended = true;
    }
    return context;
}

/* ---- the command ----------------------------------------------------------------------- */

static bool take_address(struct options *options, const char *text)
{
    const char *colon = strrchr(text, ':');
    const char *digits = colon ? colon + 1 : text;
    const size_t length = colon ? (size_t)(colon - text) : 0;
    char *end;
    const unsigned long port = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || port < 1 || port > 65535 ||
        length >= sizeof options->address)
        return false;
    options->port = (int)port;
    if (length > 0)
        snprintf(options->address, sizeof options->address, "%.*s", (int)length, text);
    return true;
}

static int read_options(int argc, char **argv, struct options *options, bool *done)
{
    static const struct option table[] = {
        {"once", no_argument, NULL, 'o'},
        {"token", required_argument, NULL, 't'},
        {"token-file", required_argument, NULL, 'f'},
        {"tls", no_argument, NULL, 's'},
        {"ca", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *options = (struct options){.address = "127.0.0.1", .port = 8080};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        switch (option) {
        case 'o':
            options->once = true;
            break;
        case 't':
            options->token = optarg;
            break;
        case 'f':
            options->token_file = optarg;
            break;
        case 's':
            options->tls = true;
            break;
        case 'c':
            options->ca = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            *done = true;
            return 0;
        default:
            return EXIT_USAGE;
        }
    }
    if (optind < argc - 1 || (optind < argc && !take_address(options, argv[optind]))) {
        fputs("airbearing top: give one ADDRESS:PORT; see airbearing top --help\n", stderr);
        return EXIT_USAGE;
    }
    options->once |= !isatty(STDOUT_FILENO);
    return 0;
}

static int read_token(struct options *options, char token[256])
{
    if (!options->token_file)
        return 0;
    FILE *file = fopen(options->token_file, "re");
    if (!file || !fgets(token, 256, file)) {
        fprintf(stderr, "airbearing top: --token-file %s: %s\n", options->token_file,
                file ? "it is empty" : strerror(errno));
        if (file)
            fclose(file);
        return EXIT_BAD_INPUT;
    }
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    options->token = token;
    return 0;
}

/* True when a table is due.  The first one waits until the devices can have sent their messages. */
static bool is_due(const struct top *top)
{
    const uint64_t now_ns = rt_now_ns();
    return has_figures(top) && now_ns - top->begin_ns > 3 * DRAW_EVERY_NS &&
           now_ns - top->drawn_ns > DRAW_EVERY_NS;
}

static void wake_service(lws_sorted_usec_list_t *sul)
{
    (void)sul; /* so that the service returns regularly */
}

static void run_service_loop(struct top *top, struct lws_context *context)
{
    lws_sorted_usec_list_t timer = {0};
    top->begin_ns = rt_now_ns();
    while (!top->ended && !rt_stop_signal()) {
        lws_sul_schedule(context, 0, &timer, wake_service, 50 * 1000);
        (void)lws_service(context, 0);
        if (is_due(top)) {
            draw(top);
            if (top->options.once)
                break;
        }
        if (!has_figures(top) && rt_now_ns() - top->begin_ns > 5ull * PATIENCE_NS) {
            snprintf(top->problem, sizeof top->problem, "no figures come from there");
            top->failed = true;
            break;
        }
    }
    lws_sul_schedule(context, 0, &timer, wake_service, LWS_SET_TIMER_USEC_CANCEL);
}

static void clean_up(struct top *top, struct lws_context *context)
{
    if (context)
        lws_context_destroy(context);
    for (int i = 0; i < CHANNEL_MAX; i++)
        free(top->channel[i].newest);
    io_byte_writer_free(&top->incoming);
    io_byte_writer_free(&top->request);
}

int command_top(int argc, char **argv)
{
    static struct top top;
    char token[256];
    bool done = false;
    int code = read_options(argc, argv, &top.options, &done);
    if (code == 0 && !done)
        code = read_token(&top.options, token);
    if (code || done)
        return code;
    top.figures = top.status_channel = -1;
    rt_stop_on_signals();
    struct lws_context *context = connect_to(&top);
    if (context && !top.failed)
        run_service_loop(&top, context);
    if (!top.failed && !has_figures(&top) && !rt_stop_signal()) {
        snprintf(top.problem, sizeof top.problem, "the run ended before its first message");
        top.failed = true;
    }
    clean_up(&top, context);
    if (!top.failed)
        return EXIT_OK;
    fprintf(stderr, "airbearing top: %s:%d: %s; start a run with --serve %d\n", top.options.address,
            top.options.port, top.problem, top.options.port);
    return EXIT_BAD_INPUT;
}
