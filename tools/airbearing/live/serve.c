#include "tools/airbearing/live/serve.h"
#include "config/scenario.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "io/bus/cockpit.h"
#include "io/log/cdr.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/executive/predictor.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/live/arm_description.h"
#include "tools/airbearing/live/camera.h"
#include "tools/airbearing/live/embedded_page.h"
#include "tools/airbearing/live/foxglove_messages.h"
#include "tools/airbearing/live/live_figures.h"
#include "tools/airbearing/live/run_status.h"
#include "tools/airbearing/live/scene_view.h"

enum {
    PICTURE_EVERY_NS = 1000000000 / 30,
    ADDRESS_MAX = 64,
    TOKEN_MAX = 256,
    RANDOM_BYTES = 16, /* of a random operator token */
};

/* Public viewer pages, which are served over TLS. */
static const char *const known_origins[] = {"https://app.foxglove.dev",
                                            "https://studio.foxglove.dev"};

/* Channels after those of the log; the predictor's is the last, and missing without a predictor. */
enum {
    LIVE_FIGURES,
    LIVE_LOG,
    LIVE_DESK,
    LIVE_PLACES,
    LIVE_SCENE,
    LIVE_LINES,
    LIVE_STRAIGHT_PLACES,
    LIVE_STRAIGHT_LINES,
    LIVE_GHOST,
    LIVE_COUNT
};

/* Parameters of the run for the page. */
enum { PAIR_MAX = 4 + IO_LINK_MAX };

struct serve {
    const struct cfg_scenario *scenario;
    struct sim_record_layout layout;
    char address[ADDRESS_MAX], token[TOKEN_MAX], operator_token[TOKEN_MAX];
    struct io_page pages[PAGE_MAX], model;
    int page_count;
    const struct io_channel_spec *logged;
    int logged_count;
    struct io_live_channel channels[IO_CHANNEL_MAX + LIVE_COUNT];
    struct io_foxglove_metadata pairs[PAIR_MAX];
    char *told[PAIR_MAX]; /* their values */
    char link_key[IO_LINK_MAX][24];
    int pair_count;
    struct io_server *server;
    struct scene_view *scene;
    struct sim_predictor *predictor; /* NULL: there is none */
    struct live_figures live;
    struct run_status run_status; /* used by the housekeeping thread */
    struct io_byte_writer image;
    int hand;            /* receives hand messages; -1: none */
    uint64_t drawn_ns;   /* wall time of the newest scene message */
    _Atomic uint64_t at; /* simulated time, for notes */
};

/* ---- options --------------------------------------------------------------------------- */

static int print_error(const char *at, const char *why)
{
    fprintf(stderr, "airbearing run: --serve %s: %s\n", at, why);
    return EXIT_BAD_INPUT;
}

/* [ADDRESS:]PORT; localhost is 127.0.0.1. */
static bool split_address(const char *at, char address[ADDRESS_MAX], int *port)
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
        if (!has_token && !options->operator_token && !options->operator_token_file &&
            !options->certificate && !options->key && options->origin_count == 0)
            return 0;
        fputs("airbearing run: --token, --token-file, --operator-token, --operator-token-file, "
              "--cert, --key and --origin go with --serve\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!split_address(options->at, address, &port)) {
        fprintf(stderr,
                "airbearing run: --serve needs PORT, from 0 (any that is free) to 65535, or "
                "ADDRESS:PORT with a numeric IPv4 address, not \"%s\"\n",
                options->at);
        return EXIT_USAGE;
    }
    if (!options->certificate != !options->key)
        return print_error(options->at, "--cert and --key go together");
    if (!is_loopback(address) && !(has_token && has_tls))
        return print_error(
            options->at,
            "other machines reach this address; give --token-file FILE and --cert FILE "
            "--key FILE, or serve on 127.0.0.1 and come in over ssh -L");
    if (options->token && options->token[0] == '\0')
        return print_error(options->at, "the token is empty");
    if (options->operator_token && options->operator_token[0] == '\0')
        return print_error(options->at, "the operator token is empty");
    return 0;
}

/* A token that is cut off would not match, or would be easier to guess. */
static int refuse_long(const char *option)
{
    fprintf(stderr, "airbearing run: %s: a token has at most %d characters\n", option,
            TOKEN_MAX - 1);
    return EXIT_BAD_INPUT;
}

/* The first line of the file. */
static int read_token_file(const char *path, const char *option, char token[TOKEN_MAX])
{
    char line[TOKEN_MAX + 2]; /* one more than fits, and the end of the line */
    FILE *file = fopen(path, "re");
    const bool good = file && fgets(line, sizeof line, file);
    const int failure = errno;
    if (file)
        fclose(file);
    const size_t length = good ? strcspn(line, "\r\n") : 0;
    if (length >= TOKEN_MAX)
        return refuse_long(option);
    if (length > 0) {
        snprintf(token, TOKEN_MAX, "%.*s", (int)length, line);
        return 0;
    }
    fprintf(stderr, "airbearing run: %s %s: %s\n", option, path,
            file ? "it is empty" : strerror(failure));
    return EXIT_BAD_INPUT;
}

/* The token as given, or from its file; "" where there is neither. */
static int read_token(const char *given, const char *path, const char *option,
                      char token[TOKEN_MAX])
{
    if (given && strlen(given) >= TOKEN_MAX)
        return refuse_long(option);
    snprintf(token, TOKEN_MAX, "%s", given ? given : "");
    return path ? read_token_file(path, option, token) : 0;
}

/* A random token. */
static int make_token(char token[TOKEN_MAX])
{
    unsigned char bytes[RANDOM_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        fprintf(stderr,
                "airbearing run: --serve: no random operator token: %s; give one with "
                "--operator-token-file FILE\n",
                strerror(errno));
        return EXIT_BAD_INPUT;
    }
    for (int i = 0; i < RANDOM_BYTES; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int read_tokens(struct serve *serve, const struct serve_options *options)
{
    int code = read_token(options->token, options->token_file,
                          options->token_file ? "--token-file" : "--token", serve->token);
    if (code == 0)
        code =
            read_token(options->operator_token, options->operator_token_file,
                       options->operator_token_file ? "--operator-token-file" : "--operator-token",
                       serve->operator_token);
    return code || serve->operator_token[0] ? code : make_token(serve->operator_token);
}

/* ---- what viewers see ------------------------------------------------------------------ */

static int channel_of(const struct serve *serve, int live)
{
    return serve->logged_count + live;
}

static void broadcast_image(struct serve *serve, int live, uint64_t log_ns)
{
    if (!serve->image.failed)
        io_server_broadcast(serve->server, channel_of(serve, live), log_ns, serve->image.data,
                            serve->image.size);
    io_byte_writer_clear(&serve->image);
}

static void publish_figures(void *self, uint64_t log_ns, const struct live_image *image)
{
    struct serve *serve = self;
    io_server_broadcast(serve->server, channel_of(serve, LIVE_FIGURES), log_ns, image,
                        LIVE_IMAGE_SIZE);
}

static void encode_event(struct io_byte_writer *out, uint64_t log_ns, enum live_level level,
                         const char *text, const char *who)
{
    io_cdr_time(out, log_ns);
    io_put_u8(out, (uint8_t)level);
    io_cdr_text(out, text);
    io_cdr_text(out, who);
    io_cdr_text(out, ""); /* file */
    io_cdr_u32(out, 0);   /* line */
}

static void log_event(void *self, uint64_t log_ns, enum live_level level, const char *text)
{
    struct serve *serve = self;
    encode_event(&serve->image, log_ns, level, text, "airbearing");
    broadcast_image(serve, LIVE_LOG, log_ns);
}

static void publish_status(void *self, const char *id, enum io_foxglove_level level,
                           const char *text)
{
    struct serve *serve = self;
    io_server_status(serve->server, id, level, text);
}

/* A buffer of its own, because this is another thread. */
static void broadcast_log(struct serve *serve, enum live_level level, const char *text,
                          const char *who)
{
    struct io_byte_writer image = {0};
    const uint64_t log_ns = atomic_load_explicit(&serve->at, memory_order_relaxed);
    encode_event(&image, log_ns, level, text, who);
    if (!image.failed)
        io_server_broadcast(serve->server, channel_of(serve, LIVE_LOG), log_ns, image.data,
                            image.size);
    io_byte_writer_free(&image);
}

void serve_log_note(struct serve *serve, const char *text)
{
    broadcast_log(serve, LIVE_INFO, text, "operator");
}

void serve_log_error(struct serve *serve, const char *text)
{
    if (serve)
        broadcast_log(serve, LIVE_ERROR, text, "airbearing");
}

void serve_verdict(struct serve *serve, const char *text, bool ok)
{
    char line[512];
    if (!serve)
        return;
    snprintf(line, sizeof line, "verdict: %s", text);
    broadcast_log(serve, ok ? LIVE_INFO : LIVE_ERROR, line, "airbearing");
    io_server_status(serve->server, "verdict", ok ? IO_FOXGLOVE_INFO : IO_FOXGLOVE_ERROR, line);
}

static void publish_run_status(void *self, const struct io_byte_writer *image)
{
    struct serve *serve = self;
    io_server_broadcast(serve->server, channel_of(serve, LIVE_DESK),
                        atomic_load_explicit(&serve->at, memory_order_relaxed), image->data,
                        image->size);
}

static void log_fault(void *self, const char *text)
{
    broadcast_log(self, LIVE_WARNING, text, "airbearing");
}

void serve_run_status(struct serve *serve, bool paused, uint32_t on, uint32_t struck)
{
    if (serve)
        run_status_update(&serve->run_status, paused, on, struck);
}

void serve_show_prediction(struct serve *serve, struct sim_predictor *predictor)
{
    serve->predictor = predictor;
}

/* The predicted state is published at the time from which it was predicted. */
static void publish_prediction(struct serve *serve)
{
    uint64_t log_ns;
    int carried;
    const double *q =
        serve->predictor ? sim_predictor_newest(serve->predictor, &log_ns, &carried) : NULL;
    if (!q)
        return;
    scene_view_set_payload(serve->scene, carried);
    scene_view_transforms(serve->scene, q, log_ns, &serve->image);
    broadcast_image(serve, LIVE_GHOST, log_ns);
}

/* The value follows the state in /plant. */
static int carried_by(const struct serve *serve, const double *record)
{
    const uint32_t behind = serve->layout.x_count + 1;
    return serve->scenario->spec.arm.payload_count > 0 ? (int)record[behind] : 0;
}

static void publish_vehicle(struct serve *serve, const double *q, uint64_t log_ns, uint64_t now_ns)
{
    if (now_ns - serve->drawn_ns < PICTURE_EVERY_NS)
        return;
    serve->drawn_ns = now_ns;
    publish_prediction(serve);
    scene_view_set_payload(serve->scene, carried_by(serve, q));
    scene_view_transforms(serve->scene, q, log_ns, &serve->image);
    broadcast_image(serve, LIVE_PLACES, log_ns);
    if (!scene_view_has_flex(serve->scene))
        return;
    scene_view_flex_lines(serve->scene, q, log_ns, &serve->image);
    broadcast_image(serve, LIVE_LINES, log_ns);
    scene_view_rigid_transforms(serve->scene, q, log_ns, &serve->image);
    broadcast_image(serve, LIVE_STRAIGHT_PLACES, log_ns);
}

static void on_record(void *self, int channel, uint64_t log_ns, const void *payload)
{
    struct serve *serve = self;
    io_server_broadcast(serve->server, channel, log_ns, payload,
                        serve->logged[channel].payload_size);
    if (channel == serve->layout.frame) {
        struct sim_record_frame frame = {0};
        memcpy(&frame, payload, SIM_RECORD_FRAME_SIZE);
        atomic_store_explicit(&serve->at, log_ns, memory_order_relaxed);
        io_server_time(serve->server, log_ns);
        live_figures_frame(&serve->live, &frame, log_ns, rt_now_ns());
    } else if (channel == serve->layout.input) {
        struct sim_record_input input = {0};
        memcpy(&input, payload, SIM_RECORD_INPUT_SIZE);
        live_figures_input(&serve->live, &input, log_ns);
    } else if (channel == serve->layout.plant) {
        publish_vehicle(serve, payload, log_ns, rt_now_ns());
    } else if (serve->scenario->spec.arm.joint_count > 0 && channel == serve->layout.arm) {
        live_figures_arm(&serve->live, payload, log_ns);
    } else if (channel == serve->layout.ground && channel != serve->layout.clock) {
        struct sim_record_ground ground = {0};
        memcpy(&ground, payload, SIM_RECORD_GROUND_SIZE);
        live_figures_ground(&serve->live, &ground, log_ns);
    }
}

/* ---- open and close -------------------------------------------------------------------- */

static void list_channels(struct serve *serve, const struct io_telemetry *telemetry)
{
    static const struct io_live_channel own[LIVE_COUNT] = {
        [LIVE_FIGURES] = {"/live", "airbearing_msgs/msg/Live", live_text, .latched = true},
        [LIVE_LOG] = {"/log", "foxglove_msgs/msg/Log", foxglove_log_text, .whole = true},
        [LIVE_DESK] = {"/desk", "airbearing_msgs/msg/Desk", run_status_schema, .whole = true,
                       .latched = true},
        [LIVE_PLACES] = {"/tf", "foxglove_msgs/msg/FrameTransforms", foxglove_transforms_text,
                         .latched = true},
        [LIVE_SCENE] = {"/scene", "foxglove_msgs/msg/SceneUpdate", foxglove_scene_text,
                        .whole = true, .latched = true},
        [LIVE_LINES] = {"/scene/bent", "foxglove_msgs/msg/SceneUpdate", foxglove_scene_text,
                        .latched = true},
        /* 3-D panels apply every FrameTransforms, so this schema has another name */
        [LIVE_STRAIGHT_PLACES] = {"/tf/straight", "airbearing_msgs/msg/FrameTransforms",
                                  foxglove_transforms_text, .latched = true},
        [LIVE_STRAIGHT_LINES] = {"/scene/straight", "foxglove_msgs/msg/SceneUpdate",
                                 foxglove_scene_text, .whole = true, .latched = true},
        [LIVE_GHOST] = {"/tf/ghost", "airbearing_msgs/msg/FrameTransforms",
                        foxglove_transforms_text, .latched = true},
    };
    serve->logged = io_telemetry_channels(telemetry, &serve->logged_count);
    for (int i = 0; i < serve->logged_count; i++)
        serve->channels[i] = (struct io_live_channel){.topic = serve->logged[i].topic,
                                                      .schema = serve->logged[i].schema,
                                                      .definition = serve->logged[i].definition,
                                                      .whole = i == serve->layout.input};
    memcpy(serve->channels + serve->logged_count, own, sizeof own);
}

static void forward_hand(void *self, const void *bytes, size_t size)
{
    const struct serve *serve = self;
    io_cockpit_send(serve->hand, bytes, size);
}

/* Takes ownership of value; NULL: no parameter. */
static void add_server_info(struct serve *serve, const char *key, char *value)
{
    if (value == NULL)
        return;
    RT_CHECK(serve->pair_count < PAIR_MAX);
    serve->told[serve->pair_count] = value;
    serve->pairs[serve->pair_count++] = (struct io_foxglove_metadata){key, value};
}

/* /live refers to links by number. */
static void publish_link_status(struct serve *serve)
{
    for (int i = 0; i < serve->scenario->spec.link_count; i++) {
        snprintf(serve->link_key[i], sizeof serve->link_key[i], "link.%d", i);
        add_server_info(serve, serve->link_key[i], strdup(serve->scenario->spec.links[i].name));
    }
}

static struct io_server_spec server_of(struct serve *serve, const struct serve_options *options,
                                       const struct serve_spec *what, int port)
{
    struct io_server_spec spec = {
        .name = serve->scenario->spec.name,
        .address = serve->address,
        .port = port,
        .token = serve->token[0] ? serve->token : NULL,
        .operator_token = serve->operator_token,
        .certificate = options->certificate,
        .key = options->key,
        .pages = serve->pages,
        .page_count = serve->page_count,
        .guarded = serve->scenario->urdf ? &serve->model : NULL,
        .channels = serve->channels,
        .channel_count =
            channel_of(serve, LIVE_COUNT) - (serve->scenario->spec.predictor.every == 0),
        .service_table = what->services,
        .pairs = serve->pairs,
        .pair_count = serve->pair_count,
        .hand = {.self = serve, .pass = serve->hand >= 0 ? forward_hand : NULL},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof known_origins / sizeof *known_origins; i++)
        spec.origins[count++] = known_origins[i];
    for (int i = 0; i < options->origin_count && count < IO_SERVER_ORIGIN_MAX; i++)
        spec.origins[count++] = options->origins[i];
    return spec;
}

/* A token, escaped for an address. */
static void print_token(const char *key, const char *token)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    fprintf(stderr, "%s=", key);
    for (const char *at = token; *at; at++)
        fprintf(stderr, strchr(plain, *at) ? "%c" : "%%%02X", (unsigned char)*at);
}

/* Print the address with the operator token, which a viewer that only watches does not need.  A
 * token from a file is not printed, because output is often kept in logs that more people read. */
static void print_address(const struct serve *serve, const struct serve_options *options)
{
    const bool shows_token = serve->token[0] && !options->token_file;
    const bool shows_operator = !options->operator_token_file;
    fprintf(stderr, "live on %s://%s:%d/%s", options->certificate ? "https" : "http",
            serve->address, io_server_port(serve->server),
            shows_token || shows_operator ? "?" : "");
    if (shows_token)
        print_token("token", serve->token);
    if (shows_token && shows_operator)
        fputc('&', stderr);
    if (shows_operator)
        print_token("operator", serve->operator_token);
    if (options->token_file)
        fprintf(stderr, " (token= is in %s)", options->token_file);
    if (options->operator_token_file)
        fprintf(stderr, " (operator= is in %s)", options->operator_token_file);
    fputc('\n', stderr);
}

static int start(struct serve *serve, const struct serve_options *options,
                 const struct serve_spec *what)
{
    char error[IO_SERVER_ERROR_MAX];
    int port = 0;
    (void)split_address(options->at, serve->address, &port); /* checked before */
    serve->page_count = embedded_page_cockpit(serve->pages);
    if (serve->scenario->urdf)
        serve->model = embedded_page_urdf(serve->scenario->urdf);
    const struct io_server_spec spec = server_of(serve, options, what, port);
    const struct rt_thread_spec thread = {
        .name = "live", .policy = SCHED_OTHER, .cpu = what->cpu, .stack_size = 1024 * 1024};
    serve->server = io_server_open(&spec, error);
    if (!serve->server)
        return print_error(options->at, error);
    const int failure = io_server_start(serve->server, &thread);
    if (failure)
        return print_error(options->at, strerror(-failure));
    print_address(serve, options);
    return 0;
}

int serve_open(const struct serve_options *options, const struct serve_spec *spec,
               struct serve **serve)
{
    if (!options->at)
        return 0;
    struct serve *made = *serve = calloc(1, sizeof *made);
    RT_CHECK(made != NULL);
    made->hand = spec->hand;
    made->scenario = spec->scenario;
    made->layout = *spec->layout;
    list_channels(made, spec->telemetry);
    add_server_info(made, "arm", arm_description(spec->scenario));
    add_server_info(made, "cameras", camera_json(spec->scenario));
    add_server_info(made, "urdf", spec->scenario->urdf ? strdup("yes") : NULL);
    publish_link_status(made);
    int code = read_tokens(made, options);
    if (code == 0)
        code = start(made, options, spec);
    if (code)
        return code;
    made->scene = scene_view_create(spec->scenario);
    live_figures_open(&made->live, spec->scenario,
                      (struct live_sink){made, publish_figures, log_event, publish_status});
    run_status_open(&made->run_status, spec->scenario,
                    (struct run_status_sink){made, publish_run_status, log_fault});
    serve_run_status(made, false, 0, 0);
    scene_view_static(made->scene, 0, &made->image);
    broadcast_image(made, LIVE_SCENE, 0);
    if (scene_view_has_flex(made->scene)) {
        scene_view_rigid_lines(made->scene, 0, &made->image);
        broadcast_image(made, LIVE_STRAIGHT_LINES, 0);
    }
    io_telemetry_observe(spec->telemetry, (struct io_record_observer){made, on_record});
    return 0;
}

void serve_close(struct serve *serve, struct io_server_counts *counts)
{
    if (!serve)
        return;
    if (serve->server)
        io_server_close(serve->server, counts);
    if (serve->hand >= 0)
        close(serve->hand);
    scene_view_free(serve->scene);
    io_byte_writer_free(&serve->image);
    run_status_close(&serve->run_status);
    for (int i = 0; i < serve->pair_count; i++)
        free(serve->told[i]);
    free(serve);
}
