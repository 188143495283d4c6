#include "tools/airbearing/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/telemetry/cdr.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/live.h"
#include "tools/airbearing/page.h"
#include "tools/airbearing/picture.h"
#include "tools/airbearing/shown.h"

enum { PICTURE_EVERY_NS = 1000000000 / 30, ADDRESS_MAX = 64, TOKEN_MAX = 256 };

/* Pages that are known to be viewers, and whose makers serve them over TLS. */
static const char *const known_origins[] = {"https://app.foxglove.dev",
                                            "https://studio.foxglove.dev"};

/* Channels behind those of the log. */
enum { LIVE_FIGURES, LIVE_LOG, LIVE_PLACES, LIVE_SCENE, LIVE_LINES, LIVE_COUNT };

struct serve {
    const struct cfg_scenario *scenario;
    struct record_layout layout;
    char address[ADDRESS_MAX], token[TOKEN_MAX];
    struct io_page pages[PAGE_MAX];
    int page_count;
    const struct io_channel_spec *logged;
    int logged_count;
    struct io_live_channel channels[IO_CHANNEL_MAX + LIVE_COUNT];
    struct io_server *server;
    struct picture *picture;
    struct live live;
    struct io_bytes image;
    uint64_t drawn_ns;   /* wall time of the newest picture */
    _Atomic uint64_t at; /* simulated time, for notes */
};

/* ---- options --------------------------------------------------------------------------- */

static int refuse(const char *at, const char *why)
{
    fprintf(stderr, "airbearing run: --serve %s: %s\n", at, why);
    return EXIT_BAD_INPUT;
}

/* [ADDRESS:]PORT; localhost is 127.0.0.1. */
static bool split(const char *at, char address[ADDRESS_MAX], int *port)
{
    const char *colon = strrchr(at, ':');
    const char *digits = colon ? colon + 1 : at;
    const size_t length = colon ? (size_t)(colon - at) : 0;
    struct in_addr parsed;
    char *end;
    const unsigned long number = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end != '\0' || number > 65535 || length >= ADDRESS_MAX)
        return false;
    *port = (int)number;
    snprintf(address, ADDRESS_MAX, "%.*s", (int)length, at);
    if (length == 0 || strcmp(address, "localhost") == 0)
        strcpy(address, "127.0.0.1");
    return inet_pton(AF_INET, address, &parsed) == 1;
}

static bool is_loopback(const char *address)
{
    struct in_addr parsed;
    return inet_pton(AF_INET, address, &parsed) == 1 && ntohl(parsed.s_addr) >> 24 == 127;
}

int serve_check(const struct serve_options *options)
{
    char address[ADDRESS_MAX];
    int port;
    const bool has_token = options->token || options->token_file;
    const bool has_tls = options->certificate && options->key;
    if (!options->at) {
        if (!has_token && !options->certificate && !options->key && options->origin_count == 0)
            return 0;
        fputs("airbearing run: --token, --token-file, --cert, --key and --origin go with --serve\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!split(options->at, address, &port)) {
        fprintf(stderr,
                "airbearing run: --serve wants PORT or ADDRESS:PORT with a numeric IPv4 address, "
                "not \"%s\"\n",
                options->at);
        return EXIT_USAGE;
    }
    if (!options->certificate != !options->key)
        return refuse(options->at, "--cert and --key go together");
    if (!is_loopback(address) && !(has_token && has_tls))
        return refuse(options->at,
                      "other machines reach this address; give --token-file FILE and --cert FILE "
                      "--key FILE, or serve on 127.0.0.1 and come in over ssh -L");
    if (options->token && options->token[0] == '\0')
        return refuse(options->at, "the token is empty");
    return 0;
}

/* The first line of the file. */
static int read_token(const struct serve_options *options, char token[TOKEN_MAX])
{
    token[0] = '\0';
    if (options->token)
        snprintf(token, TOKEN_MAX, "%s", options->token);
    if (!options->token_file)
        return 0;
    FILE *file = fopen(options->token_file, "re");
    if (!file || !fgets(token, TOKEN_MAX, file)) {
        fprintf(stderr, "airbearing run: --token-file %s: %s\n", options->token_file,
                file ? "it is empty" : strerror(errno));
        if (file)
            fclose(file);
        return EXIT_BAD_INPUT;
    }
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    return token[0] ? 0 : refuse(options->token_file, "the token is empty");
}

/* ---- what viewers see ------------------------------------------------------------------ */

static int channel_of(const struct serve *serve, int live)
{
    return serve->logged_count + live;
}

static void offer(struct serve *serve, int live, uint64_t log_ns)
{
    if (!serve->image.failed)
        io_server_offer(serve->server, channel_of(serve, live), log_ns, serve->image.data,
                        serve->image.size);
    io_bytes_clear(&serve->image);
}

static void show_figures(void *self, uint64_t log_ns, const struct live_image *image)
{
    struct serve *serve = self;
    io_server_offer(serve->server, channel_of(serve, LIVE_FIGURES), log_ns, image, LIVE_IMAGE_SIZE);
}

static void put_event(struct io_bytes *out, uint64_t log_ns, enum live_level level,
                      const char *text, const char *who)
{
    io_cdr_time(out, log_ns);
    io_put_u8(out, (uint8_t)level);
    io_cdr_text(out, text);
    io_cdr_text(out, who);
    io_cdr_text(out, ""); /* file */
    io_cdr_u32(out, 0);   /* line */
}

static void show_event(void *self, uint64_t log_ns, enum live_level level, const char *text)
{
    struct serve *serve = self;
    put_event(&serve->image, log_ns, level, text, "airbearing");
    offer(serve, LIVE_LOG, log_ns);
}

static void show_status(void *self, const char *id, enum io_fox_level level, const char *text)
{
    struct serve *serve = self;
    io_server_status(serve->server, id, level, text);
}

/* Bytes of its own: this is another thread. */
void serve_note(struct serve *serve, const char *text)
{
    struct io_bytes image = {0};
    const uint64_t log_ns = atomic_load_explicit(&serve->at, memory_order_relaxed);
    put_event(&image, log_ns, LIVE_INFO, text, "operator");
    if (!image.failed)
        io_server_offer(serve->server, channel_of(serve, LIVE_LOG), log_ns, image.data, image.size);
    io_bytes_free(&image);
}

static void show_vehicle(struct serve *serve, const double *q, uint64_t log_ns, uint64_t now_ns)
{
    if (now_ns - serve->drawn_ns < PICTURE_EVERY_NS)
        return;
    serve->drawn_ns = now_ns;
    picture_places(serve->picture, q, log_ns, &serve->image);
    offer(serve, LIVE_PLACES, log_ns);
    if (!picture_bends(serve->picture))
        return;
    picture_lines(serve->picture, q, log_ns, &serve->image);
    offer(serve, LIVE_LINES, log_ns);
}

static void see(void *self, int channel, uint64_t log_ns, const void *payload)
{
    struct serve *serve = self;
    io_server_offer(serve->server, channel, log_ns, payload, serve->logged[channel].payload_size);
    if (channel == serve->layout.frame) {
        struct record_frame frame = {0};
        memcpy(&frame, payload, RECORD_FRAME_SIZE);
        atomic_store_explicit(&serve->at, log_ns, memory_order_relaxed);
        io_server_time(serve->server, log_ns);
        live_frame(&serve->live, &frame, log_ns, rt_now_ns());
    } else if (channel == serve->layout.input) {
        struct record_input input = {0};
        memcpy(&input, payload, RECORD_INPUT_SIZE);
        live_input(&serve->live, &input, log_ns);
    } else if (channel == serve->layout.plant) {
        show_vehicle(serve, payload, log_ns, rt_now_ns());
    }
}

/* ---- open and close -------------------------------------------------------------------- */

static void list_channels(struct serve *serve, const struct io_telemetry *telemetry)
{
    static const struct io_live_channel own[LIVE_COUNT] = {
        [LIVE_FIGURES] = {"/live", "airbearing_msgs/msg/Live", live_text, .lasts = true},
        [LIVE_LOG] = {"/log", "foxglove_msgs/msg/Log", shown_log_text, .whole = true},
        [LIVE_PLACES] = {"/tf", "foxglove_msgs/msg/FrameTransforms", shown_transforms_text,
                         .lasts = true},
        [LIVE_SCENE] = {"/scene", "foxglove_msgs/msg/SceneUpdate", shown_scene_text, .whole = true,
                        .lasts = true},
        [LIVE_LINES] = {"/scene/bent", "foxglove_msgs/msg/SceneUpdate", shown_scene_text,
                        .lasts = true},
    };
    serve->logged = io_telemetry_channels(telemetry, &serve->logged_count);
    for (int i = 0; i < serve->logged_count; i++)
        serve->channels[i] = (struct io_live_channel){.topic = serve->logged[i].topic,
                                                      .schema = serve->logged[i].schema,
                                                      .definition = serve->logged[i].definition,
                                                      .whole = i == serve->layout.input};
    memcpy(serve->channels + serve->logged_count, own, sizeof own);
}

static struct io_server_spec spec_of(const struct serve *serve, const struct serve_options *options,
                                     int port, const struct io_desk *desk)
{
    struct io_server_spec spec = {
        .name = serve->scenario->name,
        .address = serve->address,
        .port = port,
        .token = serve->token[0] ? serve->token : NULL,
        .certificate = options->certificate,
        .key = options->key,
        .pages = serve->pages,
        .page_count = serve->page_count,
        .channels = serve->channels,
        .channel_count = serve->logged_count + LIVE_COUNT,
        .desk = desk,
    };
    int count = 0;
    for (size_t i = 0; i < sizeof known_origins / sizeof *known_origins; i++)
        spec.origins[count++] = known_origins[i];
    for (int i = 0; i < options->origin_count && count < IO_SERVER_ORIGIN_MAX; i++)
        spec.origins[count++] = options->origins[i];
    return spec;
}

static int start(struct serve *serve, const struct serve_options *options,
                 const struct io_desk *desk, int cpu)
{
    char error[IO_SERVER_ERROR_MAX];
    int port = 0;
    (void)split(options->at, serve->address, &port); /* checked before */
    serve->page_count = page_cockpit(serve->pages);
    const struct io_server_spec spec = spec_of(serve, options, port, desk);
    const struct rt_thread_spec thread = {
        .name = "live", .policy = SCHED_OTHER, .cpu = cpu, .stack_size = 1024 * 1024};
    serve->server = io_server_open(&spec, error);
    if (!serve->server)
        return refuse(options->at, error);
    const int failure = io_server_start(serve->server, &thread);
    if (failure)
        return refuse(options->at, strerror(-failure));
    fprintf(stderr, "live on %s://%s:%d/\n", options->certificate ? "https" : "http",
            serve->address, io_server_port(serve->server));
    return 0;
}

int serve_open(const struct serve_options *options, const struct cfg_scenario *scenario,
               const struct record_layout *layout, struct io_telemetry *telemetry,
               const struct io_desk *desk, int cpu, struct serve **serve)
{
    if (!options->at)
        return 0;
    struct serve *made = *serve = calloc(1, sizeof *made);
    RT_CHECK(made != NULL);
    made->scenario = scenario;
    made->layout = *layout;
    list_channels(made, telemetry);
    int code = read_token(options, made->token);
    if (code == 0)
        code = start(made, options, desk, cpu);
    if (code)
        return code;
    made->picture = picture_make(scenario);
    live_open(&made->live, scenario,
              (struct live_sink){made, show_figures, show_event, show_status});
    picture_scene(made->picture, 0, &made->image);
    offer(made, LIVE_SCENE, 0);
    io_telemetry_tap(telemetry, (struct io_tap){made, see});
    return 0;
}

void serve_close(struct serve *serve, struct io_server_counts *counts)
{
    if (!serve)
        return;
    if (serve->server)
        io_server_close(serve->server, counts);
    picture_free(serve->picture);
    io_bytes_free(&serve->image);
    free(serve);
}
