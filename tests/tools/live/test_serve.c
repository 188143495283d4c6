/*
 * What a run gives to the server for its viewers: the test is the server, the telemetry, the
 * predictor and the clock.
 */
#include "config/scenario.h"
#include "tools/airbearing/live/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/executive/predictor.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/live/live_figures.h"
#include "tools/airbearing/live/scene_view.h"
#include "unity.h"

extern const char cockpit_html[], cockpit_script[], cockpit_style[], cockpit_icon[];
extern const size_t cockpit_html_size, cockpit_script_size, cockpit_style_size, cockpit_icon_size;
const char cockpit_html[] = "html", cockpit_script[] = "script", cockpit_style[] = "style",
           cockpit_icon[] = "icon";
const size_t cockpit_html_size = 4, cockpit_script_size = 6, cockpit_style_size = 5,
             cockpit_icon_size = 4;

enum { OFFER_MAX = 64, NQ = 7, NV = 6 };

/* ---- the server -------------------------------------------------------------------------- */

struct offer {
    int channel;
    uint64_t log_ns;
    size_t size;
    unsigned char *bytes;
};

static struct io_server *const the_server = (struct io_server *)&the_server;
static struct io_telemetry *const the_telemetry = (struct io_telemetry *)&the_telemetry;
static struct sim_predictor *const the_ghost = (struct sim_predictor *)&the_ghost;
static struct io_server_spec opened;
static struct rt_thread_spec started;
static const char *open_error;
static int start_failure, closed;
static struct offer offers[OFFER_MAX];
static int offer_count;
static uint64_t told_ns, now_ns;
static char status[64], status_text[512];
static int status_level, statuses;
static struct io_record_observer tap;
static struct io_channel_spec logged[IO_CHANNEL_MAX];
static struct sim_record_layout layout;
static double ghost_q[NQ];
static bool ghost_is_new;
static int hand_fd, hand_size;

struct io_server *__wrap_io_server_open(const struct io_server_spec *spec,
                                        char error[IO_SERVER_ERROR_MAX]);
int __wrap_io_server_start(struct io_server *server, const struct rt_thread_spec *spec);
int __wrap_io_server_port(const struct io_server *server);
void __wrap_io_server_close(struct io_server *server, struct io_server_counts *counts);
void __wrap_io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns,
                                const void *image, size_t size);
void __wrap_io_server_time(struct io_server *server, uint64_t time_ns);
void __wrap_io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                             const char *text);
const struct io_channel_spec *__wrap_io_telemetry_channels(const struct io_telemetry *telemetry,
                                                           int *count);
void __wrap_io_telemetry_observe(struct io_telemetry *telemetry, struct io_record_observer given);
void __wrap_io_cockpit_send(int fd, const void *bytes, size_t size);
uint64_t __wrap_rt_now_ns(void);

struct io_server *__wrap_io_server_open(const struct io_server_spec *spec,
                                        char error[IO_SERVER_ERROR_MAX])
{
    opened = *spec;
    if (open_error)
        snprintf(error, IO_SERVER_ERROR_MAX, "%s", open_error);
    return open_error ? NULL : the_server;
}

int __wrap_io_server_start(struct io_server *server, const struct rt_thread_spec *spec)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    started = *spec;
    return start_failure;
}

int __wrap_io_server_port(const struct io_server *server)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    return 4321;
}

void __wrap_io_server_close(struct io_server *server, struct io_server_counts *counts)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    if (counts)
        counts->viewers = 17;
    closed++;
}

void __wrap_io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns,
                                const void *image, size_t size)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    TEST_ASSERT_LESS_THAN_INT(OFFER_MAX, offer_count);
    struct offer *offer = &offers[offer_count++];
    *offer = (struct offer){channel, log_ns, size, malloc(size)};
    memcpy(offer->bytes, image, size);
}

void __wrap_io_server_time(struct io_server *server, uint64_t time_ns)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    told_ns = time_ns;
}

void __wrap_io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                             const char *text)
{
    TEST_ASSERT_EQUAL_PTR(the_server, server);
    snprintf(status, sizeof status, "%s", id);
    snprintf(status_text, sizeof status_text, "%s", text ? text : "(over)");
    status_level = (int)level;
    statuses++;
}

const struct io_channel_spec *__wrap_io_telemetry_channels(const struct io_telemetry *telemetry,
                                                           int *count)
{
    TEST_ASSERT_EQUAL_PTR(the_telemetry, telemetry);
    *count = layout.count;
    return logged;
}

void __wrap_io_telemetry_observe(struct io_telemetry *telemetry, struct io_record_observer given)
{
    TEST_ASSERT_EQUAL_PTR(the_telemetry, telemetry);
    tap = given;
}

void __wrap_io_cockpit_send(int fd, const void *bytes, size_t size)
{
    TEST_ASSERT_EQUAL_STRING("picture", bytes);
    hand_fd = fd;
    hand_size = (int)size;
}

uint64_t __wrap_rt_now_ns(void)
{
    return now_ns;
}

const double *sim_predictor_newest(struct sim_predictor *ghost, uint64_t *log_ns, int *carried)
{
    TEST_ASSERT_EQUAL_PTR(the_ghost, ghost);
    *log_ns = 123456789012;
    *carried = 0;
    return ghost_is_new ? ghost_q : NULL;
}

/* ---- the run ----------------------------------------------------------------------------- */

static const char text[] =
    "name: made\n"
    "rate: 1 kHz\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free}, mass: 100 kg, inertia: 8 13 6 kg m^2}\n"
    "cameras:\n"
    "  - {name: eye, body: bus, at: 0 0 1 m, look: 1 0 0, field: 60 deg}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: bus, send: {sensor: 250 Hz},\n"
    "     ground: [{at: 1 s, arm: true}, {at: 2 s, takeoff: 2.5 m}]}\n"
    "  - {name: hand, protocol: hand, bus: cockpit, body: bus, axes: [{axis: x, control: 0}]}\n";

/* Behind those of the log. */
enum { FIGURES, LOG, DESK, PLACES, SCENE, LINES, STRAIGHT_PLACES, STRAIGHT_LINES, GHOST };

static struct cfg_scenario *scenario;
static struct serve *serve;

static int live(int channel)
{
    return layout.count + channel;
}

static void forget(void)
{
    while (offer_count > 0)
        free(offers[--offer_count].bytes);
    statuses = 0;
}

void setUp(void)
{
    static const struct sim_record_jobs jobs = {.count = 2, .name = {"sense", "step"}};
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("made.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
    layout = sim_record_layout(&scenario->spec, NQ, NV, jobs.count);
    sim_record_channels(&scenario->spec, NQ, NV, &jobs, logged);
    open_error = NULL;
    start_failure = closed = 0;
    told_ns = 0;
    now_ns += 10000000000;
    ghost_is_new = false;
    tap = (struct io_record_observer){0};
    serve = NULL;
}

void tearDown(void)
{
    serve_close(serve, NULL);
    serve = NULL;
    forget();
    cfg_scenario_free(scenario);
}

static int open_with(struct serve_options options, int hand)
{
    const struct serve_spec spec = {.scenario = scenario,
                                    .layout = &layout,
                                    .telemetry = the_telemetry,
                                    .hand = hand,
                                    .cpu = 3};
    return serve_open(&options, &spec, &serve);
}

static void begin(void)
{
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){.at = "0"}, -1));
    forget();
}

static void observe(int channel, uint64_t log_ns, const void *payload)
{
    tap.observe(tap.self, channel, log_ns, payload);
}

/* Time, level and the two texts of a line of the viewers' log. */
static void expect_event(int at, uint64_t log_ns, int level, const char *line, const char *who)
{
    TEST_ASSERT_LESS_THAN_INT(offer_count, at);
    const struct offer *offer = &offers[at];
    uint32_t word[2], length;
    TEST_ASSERT_EQUAL_INT(live(LOG), offer->channel);
    TEST_ASSERT_EQUAL_UINT64(log_ns, offer->log_ns);
    memcpy(word, offer->bytes, sizeof word);
    TEST_ASSERT_EQUAL_UINT32(log_ns / 1000000000, word[0]);
    TEST_ASSERT_EQUAL_UINT32(log_ns % 1000000000, word[1]);
    TEST_ASSERT_EQUAL_UINT8(level, offer->bytes[8]);
    memcpy(&length, offer->bytes + 12, sizeof length);
    TEST_ASSERT_EQUAL_STRING(line, (const char *)offer->bytes + 16);
    TEST_ASSERT_EQUAL_UINT32(strlen(line) + 1, length);
    const size_t next = (16 + length + 3) / 4 * 4;
    TEST_ASSERT_EQUAL_STRING(who, (const char *)offer->bytes + next + 4);
    /* an empty text for the file, and line 0 */
    const size_t behind = (next + 4 + strlen(who) + 1 + 3) / 4 * 4;
    TEST_ASSERT_EQUAL_MEMORY("\1\0\0\0", offer->bytes + behind, 4);
    TEST_ASSERT_EQUAL_size_t(behind + 12, offer->size);
    TEST_ASSERT_EQUAL_MEMORY("\0\0\0\0", offer->bytes + behind + 8, 4);
}

/* ---- what is offered at the start -------------------------------------------------------- */

static void test_nothing_is_served_unasked(void)
{
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){0}, -1));
    TEST_ASSERT_NULL(serve);
    serve_run_status(NULL, true, 0, 0);
    serve_log_error(NULL, "x");
    serve_verdict(NULL, "x", true);
    TEST_ASSERT_EQUAL_INT(0, offer_count);
}

static void test_the_channels_of_the_log_come_first_and_then_those_of_the_viewers(void)
{
    static const struct {
        const char *topic, *schema;
        bool whole, latched;
    } own[] = {
        {"/live", "airbearing_msgs/msg/Live", false, true},
        {"/log", "foxglove_msgs/msg/Log", true, false},
        {"/desk", "airbearing_msgs/msg/Desk", true, true},
        {"/tf", "foxglove_msgs/msg/FrameTransforms", false, true},
        {"/scene", "foxglove_msgs/msg/SceneUpdate", true, true},
        {"/scene/bent", "foxglove_msgs/msg/SceneUpdate", false, true},
        {"/tf/straight", "airbearing_msgs/msg/FrameTransforms", false, true},
        {"/scene/straight", "foxglove_msgs/msg/SceneUpdate", true, true},
        {"/tf/ghost", "airbearing_msgs/msg/FrameTransforms", false, true},
    };
    begin();
    TEST_ASSERT_EQUAL_INT(live(GHOST), opened.channel_count);
    for (int i = 0; i < layout.count; i++) {
        const struct io_live_channel *channel = &opened.channels[i];
        TEST_ASSERT_EQUAL_PTR(logged[i].topic, channel->topic);
        TEST_ASSERT_EQUAL_PTR(logged[i].schema, channel->schema);
        TEST_ASSERT_EQUAL_PTR(logged[i].definition, channel->definition);
        TEST_ASSERT_EQUAL(i == layout.input, channel->whole);
        TEST_ASSERT_FALSE(channel->latched);
    }
    for (int i = 0; i <= GHOST; i++) {
        const struct io_live_channel *channel = &opened.channels[live(i)];
        TEST_ASSERT_EQUAL_STRING(own[i].topic, channel->topic);
        TEST_ASSERT_EQUAL_STRING(own[i].schema, channel->schema);
        TEST_ASSERT_NOT_NULL(channel->definition);
        TEST_ASSERT_EQUAL(own[i].whole, channel->whole);
        TEST_ASSERT_EQUAL(own[i].latched, channel->latched);
    }
}

static void test_with_a_predictor_there_is_a_ghost_channel(void)
{
    scenario->spec.predictor.every = 50;
    begin();
    TEST_ASSERT_EQUAL_INT(live(GHOST) + 1, opened.channel_count);
}

static void test_the_server_is_what_the_options_say(void)
{
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){.at = "127.0.0.9:8765",
                                                              .token = "in",
                                                              .operator_token = "command",
                                                              .certificate = "c.pem",
                                                              .key = "k.pem",
                                                              .origins = {"http://a", "http://b"},
                                                              .origin_count = 2},
                                       -1));
    TEST_ASSERT_EQUAL_STRING("made", opened.name);
    TEST_ASSERT_EQUAL_STRING("127.0.0.9", opened.address);
    TEST_ASSERT_EQUAL_INT(8765, opened.port);
    TEST_ASSERT_EQUAL_STRING("in", opened.token);
    TEST_ASSERT_EQUAL_STRING("command", opened.operator_token);
    TEST_ASSERT_EQUAL_STRING("c.pem", opened.certificate);
    TEST_ASSERT_EQUAL_STRING("k.pem", opened.key);
    TEST_ASSERT_EQUAL_STRING("https://app.foxglove.dev", opened.origins[0]);
    TEST_ASSERT_EQUAL_STRING("https://studio.foxglove.dev", opened.origins[1]);
    TEST_ASSERT_EQUAL_STRING("http://a", opened.origins[2]);
    TEST_ASSERT_EQUAL_STRING("http://b", opened.origins[3]);
    TEST_ASSERT_NULL(opened.origins[4]);
    TEST_ASSERT_EQUAL_INT(4, opened.page_count);
    TEST_ASSERT_NULL(opened.guarded);
    TEST_ASSERT_NULL(opened.hand.pass);
    TEST_ASSERT_EQUAL_STRING("live", started.name);
    TEST_ASSERT_EQUAL_INT(SCHED_OTHER, started.policy);
    TEST_ASSERT_EQUAL_INT(3, started.cpu);
    TEST_ASSERT_EQUAL_size_t(1024 * 1024, started.stack_size);
}

static void test_of_more_origins_than_there_is_room_for_the_first_are_taken(void)
{
    struct serve_options options = {.at = "localhost:1", .origin_count = IO_SERVER_ORIGIN_MAX};
    for (int i = 0; i < IO_SERVER_ORIGIN_MAX; i++)
        options.origins[i] = i == IO_SERVER_ORIGIN_MAX - 3 ? "http://last" : "http://x";
    TEST_ASSERT_EQUAL_INT(0, open_with(options, -1));
    TEST_ASSERT_EQUAL_STRING("http://last", opened.origins[IO_SERVER_ORIGIN_MAX - 1]);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1", opened.address);
    TEST_ASSERT_EQUAL_INT(1, opened.port);
    TEST_ASSERT_EQUAL_PTR(serve, opened.hand.self);
}

static void test_a_token_that_is_not_given_is_random_and_another_every_time(void)
{
    char first[64];
    begin();
    TEST_ASSERT_NULL(opened.token);
    TEST_ASSERT_EQUAL_size_t(32, strlen(opened.operator_token));
    TEST_ASSERT_EQUAL_size_t(32, strspn(opened.operator_token, "0123456789abcdef"));
    strcpy(first, opened.operator_token);
    serve_close(serve, NULL);
    begin();
    TEST_ASSERT_TRUE(strcmp(first, opened.operator_token) != 0);
    TEST_ASSERT_NOT_NULL(strpbrk(first + 16, "123456789abcdef"));
}

static void test_viewers_are_sent_cameras_and_links(void)
{
    begin();
    TEST_ASSERT_EQUAL_INT(3, opened.pair_count);
    TEST_ASSERT_EQUAL_STRING("cameras", opened.pairs[0].key);
    TEST_ASSERT_NOT_NULL(strstr(opened.pairs[0].value, "\"eye\""));
    TEST_ASSERT_EQUAL_STRING("link.0", opened.pairs[1].key);
    TEST_ASSERT_EQUAL_STRING("board", opened.pairs[1].value);
    TEST_ASSERT_EQUAL_STRING("link.1", opened.pairs[2].key);
    TEST_ASSERT_EQUAL_STRING("hand", opened.pairs[2].value);
}

static void test_a_robot_is_announced_and_served(void)
{
    char xml[] = "<robot/>";
    struct cfg_file urdf = {.text = xml, .size = 8};
    scenario->urdf = &urdf;
    begin();
    TEST_ASSERT_EQUAL_STRING("urdf", opened.pairs[1].key);
    TEST_ASSERT_EQUAL_STRING("yes", opened.pairs[1].value);
    TEST_ASSERT_EQUAL_STRING("/model.urdf", opened.guarded->path);
    TEST_ASSERT_EQUAL_PTR(xml, opened.guarded->bytes);
    scenario->urdf = NULL;
}

static void test_the_desk_topic_and_the_scene_are_there_from_the_start(void)
{
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){.at = "0"}, -1));
    struct scene_view *picture = scene_view_create(scenario);
    struct io_byte_writer scene = {0};
    scene_view_static(picture, 0, &scene);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
    TEST_ASSERT_EQUAL_INT(live(DESK), offers[0].channel);
    TEST_ASSERT_EQUAL_INT(live(SCENE), offers[1].channel);
    TEST_ASSERT_EQUAL_UINT64(0, offers[1].log_ns);
    TEST_ASSERT_EQUAL_size_t(scene.size, offers[1].size);
    TEST_ASSERT_EQUAL_MEMORY(scene.data, offers[1].bytes, scene.size);
    io_byte_writer_free(&scene);
    scene_view_free(picture);
}

static void test_a_server_that_cannot_start_is_reported(void)
{
    open_error = "somebody else has it";
    TEST_ASSERT_EQUAL_INT(EXIT_BAD_INPUT, open_with((struct serve_options){.at = "0"}, -1));
    serve_close(serve, NULL);
    TEST_ASSERT_EQUAL_INT(0, closed);
    open_error = NULL;
    start_failure = -EAGAIN;
    TEST_ASSERT_EQUAL_INT(EXIT_BAD_INPUT, open_with((struct serve_options){.at = "0"}, -1));
    TEST_ASSERT_NULL(tap.observe);
    serve_close(serve, NULL);
    TEST_ASSERT_EQUAL_INT(1, closed);
    serve = NULL;
}

static void test_the_end_of_the_server_reports_its_sessions_and_releases_the_hand(void)
{
    struct io_server_counts counts = {0};
    int ends[2];
    TEST_ASSERT_EQUAL_INT(0, pipe2(ends, O_CLOEXEC));
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){.at = "0"}, ends[1]));
    TEST_ASSERT_NOT_NULL(opened.hand.pass);
    opened.hand.pass(opened.hand.self, "picture", 8);
    TEST_ASSERT_EQUAL_INT(ends[1], hand_fd);
    TEST_ASSERT_EQUAL_INT(8, hand_size);
    serve_close(serve, &counts);
    serve = NULL;
    TEST_ASSERT_EQUAL_UINT64(17, counts.viewers);
    TEST_ASSERT_EQUAL_INT(1, closed);
    TEST_ASSERT_EQUAL_INT(-1, fcntl(ends[1], F_GETFD));
    close(ends[0]);
}

/* Where descriptor 0 was free it is as good as any. */
static void test_a_hand_that_is_descriptor_0_is_one(void)
{
    const int before = dup(STDIN_FILENO);
    int ends[2];
    TEST_ASSERT_EQUAL_INT(0, pipe2(ends, O_CLOEXEC));
    TEST_ASSERT_EQUAL_INT(0, dup2(ends[1], 0));
    TEST_ASSERT_EQUAL_INT(0, open_with((struct serve_options){.at = "0"}, 0));
    TEST_ASSERT_NOT_NULL(opened.hand.pass);
    serve_close(serve, NULL);
    serve = NULL;
    TEST_ASSERT_EQUAL_INT(-1, fcntl(0, F_GETFD));
    close(ends[0]);
    close(ends[1]);
    if (before >= 0) {
        dup2(before, 0);
        close(before);
    }
}

/* ---- records that pass by ---------------------------------------------------------------- */

static void test_every_record_is_offered_as_it_is(void)
{
    unsigned char payload[4096];
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (unsigned char)(i * 7);
    begin();
    for (int i = layout.job; i < layout.ground; i++) {
        forget();
        observe(i, 1000 + (uint64_t)i, payload);
        TEST_ASSERT_EQUAL_INT(1, offer_count);
        TEST_ASSERT_EQUAL_INT(i, offers[0].channel);
        TEST_ASSERT_EQUAL_UINT64(1000 + i, offers[0].log_ns);
        TEST_ASSERT_EQUAL_size_t(logged[i].payload_size, offers[0].size);
        TEST_ASSERT_EQUAL_MEMORY(payload, offers[0].bytes, offers[0].size);
    }
    TEST_ASSERT_EQUAL_UINT64(0, told_ns);
}

static void test_a_frame_sends_the_time(void)
{
    const struct sim_record_frame frame = {.frame = 7};
    begin();
    observe(layout.frame, 7000000, &frame);
    TEST_ASSERT_EQUAL_UINT64(7000000, told_ns);
    TEST_ASSERT_EQUAL_INT(layout.frame, offers[0].channel);
    forget();
    serve_log_note(serve, "paused");
    expect_event(0, 7000000, LIVE_INFO, "paused", "operator");
    serve_run_status(serve, true, 0, 0);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
    TEST_ASSERT_EQUAL_INT(live(DESK), offers[1].channel);
    TEST_ASSERT_EQUAL_UINT64(7000000, offers[1].log_ns);
    serve_run_status(serve, true, 0, 0);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
}

/* The figures of a tenth of a second, by the wall clock. */
static void test_figures_follow_the_frames(void)
{
    struct sim_record_frame frame = {
        .frame = 1, .release_ns = 1000, .start_ns = 3000, .end_ns = 9000};
    begin();
    for (int i = 0; i < 3; i++) {
        observe(layout.frame, 5000000, &frame);
        now_ns += 100000000;
        frame.frame++;
    }
    int figures = 0;
    for (int i = 0; i < offer_count; i++) {
        if (offers[i].channel != live(FIGURES))
            continue;
        struct live_image image = {0};
        TEST_ASSERT_EQUAL_size_t(LIVE_IMAGE_SIZE, offers[i].size);
        memcpy(&image, offers[i].bytes, LIVE_IMAGE_SIZE);
        TEST_ASSERT_EQUAL_DOUBLE(0.005, image.seconds);
        TEST_ASSERT_EQUAL_UINT64(5000000, offers[i].log_ns);
        figures++;
    }
    TEST_ASSERT_GREATER_THAN_INT(0, figures);
}

static void test_a_lost_link_is_reported_and_stays_so_until_it_returns(void)
{
    const struct sim_record_input heard = {.command.kind = IO_COMMAND_CONTROLS, .command.link = 1};
    const struct sim_record_input loss = {.command.kind = IO_COMMAND_LOSS, .command.link = 1};
    begin();
    observe(layout.input, 1000000000, &heard);
    expect_event(1, 1000000000, LIVE_INFO, "link hand is heard", "airbearing");
    TEST_ASSERT_EQUAL_INT(0, statuses);
    observe(layout.input, 2500000001, &loss);
    TEST_ASSERT_EQUAL_INT(layout.input, offers[2].channel);
    expect_event(3, 2500000001, LIVE_ERROR, "link hand is lost", "airbearing");
    TEST_ASSERT_EQUAL_INT(1, statuses);
    TEST_ASSERT_EQUAL_STRING("link.hand", status);
    TEST_ASSERT_EQUAL_STRING("link hand is lost since 2.500 s", status_text);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_WARNING, status_level);
    observe(layout.input, 3000000000, &heard);
    expect_event(5, 3000000000, LIVE_INFO, "link hand is heard again", "airbearing");
    TEST_ASSERT_EQUAL_STRING("link.hand", status);
    TEST_ASSERT_EQUAL_STRING("(over)", status_text);
    TEST_ASSERT_EQUAL_INT(2, statuses);
    TEST_ASSERT_EQUAL_INT(6, offer_count);
}

static void test_what_the_ground_station_receives_is_reported(void)
{
    const struct sim_record_ground heard = {
        .frame = 1, .link = 0, .step = 1, .event = IO_GROUND_ACCEPTED, .answer = 0};
    begin();
    observe(layout.ground, 1500000000, &heard);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
    expect_event(1, 1500000000, LIVE_INFO, "board: ground takeoff 2.5 m: accepted", "airbearing");
    TEST_ASSERT_EQUAL_INT(0, statuses);
}

static void expect_places(int at, int channel, const double *q, uint64_t log_ns)
{
    struct scene_view *picture = scene_view_create(scenario);
    struct io_byte_writer places = {0};
    scene_view_transforms(picture, q, log_ns, &places);
    TEST_ASSERT_LESS_THAN_INT(offer_count, at);
    TEST_ASSERT_EQUAL_INT(live(channel), offers[at].channel);
    TEST_ASSERT_EQUAL_UINT64(log_ns, offers[at].log_ns);
    TEST_ASSERT_EQUAL_size_t(places.size, offers[at].size);
    TEST_ASSERT_EQUAL_MEMORY(places.data, offers[at].bytes, places.size);
    io_byte_writer_free(&places);
    scene_view_free(picture);
}

static void test_the_vehicle_is_drawn_thirty_times_a_second(void)
{
    double plant[64] = {1.0, 2.0, 3.0, 1.0};
    begin();
    observe(layout.plant, 1000, plant);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
    TEST_ASSERT_EQUAL_INT(layout.plant, offers[0].channel);
    expect_places(1, PLACES, plant, 1000);
    now_ns += 1000000000 / 30 - 1;
    observe(layout.plant, 2000, plant);
    TEST_ASSERT_EQUAL_INT(3, offer_count);
    now_ns += 1;
    plant[0] = 7.0;
    observe(layout.plant, 3000, plant);
    TEST_ASSERT_EQUAL_INT(5, offer_count);
    expect_places(4, PLACES, plant, 3000);
}

static void test_the_prediction_has_the_time_from_which_it_was_made(void)
{
    double plant[64] = {1.0, 2.0, 3.0, 1.0};
    const double ahead[NQ] = {4.0, 5.0, 6.0, 0.6, 0.8};
    scenario->spec.predictor.every = 50;
    begin();
    serve_show_prediction(serve, the_ghost);
    observe(layout.plant, 1000, plant);
    TEST_ASSERT_EQUAL_INT(2, offer_count);
    now_ns += 1000000000;
    ghost_is_new = true;
    memcpy(ghost_q, ahead, sizeof ahead);
    observe(layout.plant, 2000, plant);
    TEST_ASSERT_EQUAL_INT(5, offer_count);
    expect_places(3, GHOST, ahead, 123456789012);
    expect_places(4, PLACES, plant, 2000);
}

/* ---- texts ------------------------------------------------------------------------------- */

static void test_an_alarm_and_the_verdict_are_sent(void)
{
    begin();
    serve_log_error(serve, "the disk is full");
    expect_event(0, 0, LIVE_ERROR, "the disk is full", "airbearing");
    serve_verdict(serve, "all is well", true);
    expect_event(1, 0, LIVE_INFO, "verdict: all is well", "airbearing");
    TEST_ASSERT_EQUAL_STRING("verdict", status);
    TEST_ASSERT_EQUAL_STRING("verdict: all is well", status_text);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_INFO, status_level);
    serve_verdict(serve, "nothing is", false);
    expect_event(2, 0, LIVE_ERROR, "verdict: nothing is", "airbearing");
    TEST_ASSERT_EQUAL_STRING("verdict: nothing is", status_text);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_ERROR, status_level);
    TEST_ASSERT_EQUAL_INT(2, statuses);
    TEST_ASSERT_EQUAL_INT(3, offer_count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_nothing_is_served_unasked);
    RUN_TEST(test_the_channels_of_the_log_come_first_and_then_those_of_the_viewers);
    RUN_TEST(test_with_a_predictor_there_is_a_ghost_channel);
    RUN_TEST(test_the_server_is_what_the_options_say);
    RUN_TEST(test_of_more_origins_than_there_is_room_for_the_first_are_taken);
    RUN_TEST(test_a_token_that_is_not_given_is_random_and_another_every_time);
    RUN_TEST(test_viewers_are_sent_cameras_and_links);
    RUN_TEST(test_a_robot_is_announced_and_served);
    RUN_TEST(test_the_desk_topic_and_the_scene_are_there_from_the_start);
    RUN_TEST(test_a_server_that_cannot_start_is_reported);
    RUN_TEST(test_the_end_of_the_server_reports_its_sessions_and_releases_the_hand);
    RUN_TEST(test_a_hand_that_is_descriptor_0_is_one);
    RUN_TEST(test_every_record_is_offered_as_it_is);
    RUN_TEST(test_a_frame_sends_the_time);
    RUN_TEST(test_figures_follow_the_frames);
    RUN_TEST(test_a_lost_link_is_reported_and_stays_so_until_it_returns);
    RUN_TEST(test_what_the_ground_station_receives_is_reported);
    RUN_TEST(test_the_vehicle_is_drawn_thirty_times_a_second);
    RUN_TEST(test_the_prediction_has_the_time_from_which_it_was_made);
    RUN_TEST(test_an_alarm_and_the_verdict_are_sent);
    return UNITY_END();
}
