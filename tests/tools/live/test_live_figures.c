/*
 * What records mean: figures of a window, events in words, and what stands until it is over.
 */
#include "config/scenario.h"
#include "tools/airbearing/live/live_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { PERIOD_NS = 1000000, NOTE_MAX = 32 };

static struct cfg_scenario scenario;
static struct sim_link links[2];
static struct live_figures *live;
static struct live_image image;
static int images, events, statuses;
static char event[NOTE_MAX][192], status[NOTE_MAX][256];
static enum live_level level;

static void on_figures(void *self, uint64_t log_ns, const struct live_image *given)
{
    (void)self;
    (void)log_ns;
    image = *given;
    images++;
}

static void on_event(void *self, uint64_t log_ns, enum live_level given, const char *text)
{
    (void)self;
    (void)log_ns;
    level = given;
    snprintf(event[events++ % NOTE_MAX], sizeof event[0], "%s", text);
}

static void on_status(void *self, const char *id, enum io_foxglove_level given, const char *text)
{
    (void)self;
    (void)given;
    snprintf(status[statuses++ % NOTE_MAX], sizeof status[0], "%s: %s", id, text ? text : "over");
}

void setUp(void)
{
    memset(&scenario, 0, sizeof scenario);
    strcpy(links[0].name, "board");
    strcpy(links[1].name, "arm");
    scenario.spec.period_ns = PERIOD_NS;
    scenario.spec.links = links;
    scenario.spec.link_count = 2;
    images = events = statuses = 0;
    live = malloc(sizeof *live);
    live_figures_open(live, &scenario, (struct live_sink){NULL, on_figures, on_event, on_status});
}

void tearDown(void)
{
    free(live);
}

/* Frame k at wall time k ms, late by start_ns and busy for busy_ns. */
static void frame(uint64_t k, uint64_t start_ns, uint64_t busy_ns, int cause)
{
    const uint64_t release_ns = 1000000000 + k * PERIOD_NS;
    const struct sim_record_frame record = {.frame = k,
                                            .release_ns = release_ns,
                                            .start_ns = release_ns + start_ns,
                                            .end_ns = release_ns + start_ns + busy_ns,
                                            .cause = (uint8_t)cause};
    live_figures_frame(live, &record, k * PERIOD_NS, release_ns + PERIOD_NS);
}

static void input(int link, int kind)
{
    const struct sim_record_input record = {.command.kind = (uint8_t)kind,
                                            .command.link = (uint8_t)link};
    live_figures_input(live, &record, 2500000000);
}

static void ground(int step, enum io_ground_event happened, uint8_t answer)
{
    const struct sim_record_ground record = {
        .step = (uint8_t)step, .event = (uint8_t)happened, .answer = answer};
    live_figures_ground(live, &record, 2500000000);
}

/* A step of the ground station that is sent again and again is reported when it is answered. */
static void test_what_the_firmware_answers_the_ground_station_is_reported(void)
{
    struct io_ground_script *script = &links[0].spec.script;
    script->step_count = 1;
    script->step[0] = (struct io_ground_step){.act = IO_GROUND_TAKEOFF, .value = 2.5f};
    ground(0, IO_GROUND_SENT, SIM_RECORD_NO_ANSWER);
    ground(1, IO_GROUND_ACCEPTED, 0); /* there is none */
    TEST_ASSERT_EQUAL_INT(0, events);
    ground(0, IO_GROUND_ANSWERED, 1);
    TEST_ASSERT_EQUAL_STRING("board: ground takeoff 2.5 m: temporarily rejected", event[0]);
    TEST_ASSERT_EQUAL_INT(LIVE_WARNING, level);
    ground(0, IO_GROUND_GAVE_UP, SIM_RECORD_NO_ANSWER);
    TEST_ASSERT_EQUAL_STRING("board: ground takeoff 2.5 m: given up, no answer", event[1]);
    TEST_ASSERT_EQUAL_INT(LIVE_ERROR, level);
    ground(0, IO_GROUND_ACCEPTED, 0);
    TEST_ASSERT_EQUAL_STRING("board: ground takeoff 2.5 m: accepted", event[2]);
    TEST_ASSERT_EQUAL_INT(LIVE_INFO, level);
}

static void test_figures_are_of_the_window(void)
{
    frame(0, 0, 0, 0); /* the first one closes a window that began before all time */
    images = 0;
    for (uint64_t k = 1; k <= 100; k++)
        frame(k, 100 * k, 1000 * k, 0);
    TEST_ASSERT_EQUAL_INT(1, images);
    TEST_ASSERT_EQUAL_UINT64(100, image.frame);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.1, image.seconds);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1000.0, image.rate_hz);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 5.1, image.start_error_us);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 10.0, image.start_error_us_max);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 51.0, image.busy_us);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 100.0, image.busy_us_max);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1000.0 - 110.0, image.margin_us_min);
    TEST_ASSERT_EQUAL_INT(0, events);
    for (uint64_t k = 101; k <= 200; k++)
        frame(k, 0, 7000, 0);
    TEST_ASSERT_EQUAL_INT(2, images);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 7.0, image.busy_us_max);
}

static void test_a_run_faster_than_the_clock_still_fits(void)
{
    const struct sim_record_frame record = {.release_ns = 1, .start_ns = 1, .end_ns = 1};
    for (int k = 0; k < 3 * LIVE_WINDOW_MAX; k++)
        live_figures_frame(live, &record, 0, 1); /* wall time stands still */
    TEST_ASSERT_EQUAL_INT(3, images);
}

static void test_overruns_are_counted_by_cause_and_reported(void)
{
    frame(0, 0, 0, 0);
    frame(1, 0, 1500000, RT_CAUSE_OWN);
    TEST_ASSERT_EQUAL_INT(1, events);
    TEST_ASSERT_EQUAL_STRING("frame 1 overran by 500.0 us: own", event[0]);
    TEST_ASSERT_EQUAL_INT(LIVE_WARNING, level);
    for (uint64_t k = 2; k <= 20; k++)
        frame(k, 0, 1500000, RT_CAUSE_STOLEN);
    TEST_ASSERT_EQUAL_INT(5, events);
    for (uint64_t k = 21; k <= 100; k++)
        frame(k, 0, 1000, 0);
    TEST_ASSERT_EQUAL_STRING("and 15 more frames overran", event[5]);
    TEST_ASSERT_EQUAL_UINT64(20, image.overruns);
    TEST_ASSERT_EQUAL_UINT64(1, image.cause[RT_CAUSE_OWN]);
    TEST_ASSERT_EQUAL_UINT64(19, image.cause[RT_CAUSE_STOLEN]);
    TEST_ASSERT_EQUAL_INT(1, statuses);
    TEST_ASSERT_EQUAL_STRING("overruns: 20 frames overran and 0 releases were missed so far",
                             status[0]);
    frame(101, 0, 1500000, RT_CAUSE_OWN);
    for (uint64_t k = 102; k <= 1000; k++)
        frame(k, 0, 1000, 0);
    TEST_ASSERT_EQUAL_INT(1, statuses); /* not more than once a second */
    for (uint64_t k = 1001; k <= 1200; k++)
        frame(k, 0, 1000, 0);
    TEST_ASSERT_EQUAL_INT(2, statuses);
}

static void test_a_link_is_connected_lost_and_connected_again(void)
{
    input(1, IO_COMMAND_CONTROLS);
    input(1, IO_COMMAND_CONTROLS);
    TEST_ASSERT_EQUAL_INT(1, events);
    TEST_ASSERT_EQUAL_STRING("link arm is heard", event[0]);
    TEST_ASSERT_EQUAL_INT(0, statuses);
    input(1, IO_COMMAND_LOSS);
    TEST_ASSERT_EQUAL_STRING("link arm is lost", event[1]);
    TEST_ASSERT_EQUAL_INT(LIVE_ERROR, level);
    TEST_ASSERT_EQUAL_STRING("link.arm: link arm is lost since 2.500 s", status[0]);
    input(1, IO_COMMAND_CONTROLS);
    TEST_ASSERT_EQUAL_STRING("link arm is heard again", event[2]);
    TEST_ASSERT_EQUAL_STRING("link.arm: over", status[1]);
    input(0, IO_COMMAND_RESET);
    TEST_ASSERT_EQUAL_STRING("the board on link board began anew", event[3]);
    input(3, IO_COMMAND_CONTROLS); /* there is no such link */
    TEST_ASSERT_EQUAL_INT(4, events);
    frame(0, 0, 0, 0);
    TEST_ASSERT_EQUAL_UINT64(6, image.inputs);
    TEST_ASSERT_EQUAL_UINT8(LIVE_LINK_SILENT, image.link[0]);
    TEST_ASSERT_EQUAL_UINT8(LIVE_LINK_HEARD, image.link[1]);
}

/* ---- the arm ---- */

static struct sim_arm_summary arm;

struct sim_arm_summary __wrap_sim_arm_record_read(int joints, const unsigned char *record);

struct sim_arm_summary __wrap_sim_arm_record_read(int joints, const unsigned char *record)
{
    TEST_ASSERT_EQUAL_INT(7, joints);
    TEST_ASSERT_EQUAL_STRING("record", (const char *)record);
    return arm;
}

/* The one event that this makes, or "" for none. */
static const char *told(void)
{
    events = 0;
    live_figures_arm(live, "record", 1000);
    TEST_ASSERT_LESS_OR_EQUAL_INT(1, events);
    return events ? event[0] : "";
}

static void equip(void)
{
    static struct sim_body bodies[3];
    strcpy(bodies[0].name, "base");
    strcpy(bodies[1].name, "pallet");
    strcpy(bodies[2].name, "mirror");
    scenario.spec.bodies = bodies;
    scenario.spec.body_count = 3;
    scenario.spec.arm.joint_count = 7;
    scenario.spec.arm.payload_count = 2;
    scenario.spec.arm.payload[0].body = 2;
    scenario.spec.arm.payload[1].body = 1;
    arm = (struct sim_arm_summary){.reach = -1.0, .braked = true}; /* as it begins */
}

static void test_modes_and_brakes_of_an_arm_are_reported_when_they_change(void)
{
    char mode[64];
    equip();
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.flags = SIM_ARM_STOPPED;
    TEST_ASSERT_EQUAL_STRING("the arm is safed; choose a mode to go on", told());
    TEST_ASSERT_EQUAL_INT(LIVE_ERROR, level);
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.flags = 0;
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.mode = IO_ARM_PANEL_MODE_COUNT - 1;
    snprintf(mode, sizeof mode, "mode %s", io_arm_panel_mode_name[arm.mode]);
    TEST_ASSERT_EQUAL_STRING(mode, told());
    TEST_ASSERT_EQUAL_INT(LIVE_INFO, level);
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.mode = IO_ARM_PANEL_MODE_COUNT; /* there is none */
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.braked = false;
    TEST_ASSERT_EQUAL_STRING("brakes off", told());
    arm.braked = true;
    TEST_ASSERT_EQUAL_STRING("brakes on", told());
    TEST_ASSERT_EQUAL_STRING("", told());
}

static void test_what_an_arm_grapples_and_releases_is_reported_by_name(void)
{
    equip();
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.grapples = 1;
    arm.payload = 1;
    arm.blow = 0.012345;
    TEST_ASSERT_EQUAL_STRING("grappled mirror; the blow took 0.0123 J", told());
    TEST_ASSERT_EQUAL_INT(LIVE_INFO, level);
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.releases = 1;
    arm.payload = 0;
    TEST_ASSERT_EQUAL_STRING("released mirror", told());
    arm.grapples = 2;
    arm.payload = 2;
    TEST_ASSERT_EQUAL_STRING("grappled pallet; the blow took 0.0123 J", told());
    arm.releases = 2;
    arm.payload = 0;
    arm.latched = 2;
    TEST_ASSERT_EQUAL_STRING("released pallet into its berth, which latched", told());
    arm.grapples = 3;
    arm.payload = 3; /* there are two */
    TEST_ASSERT_EQUAL_STRING("grappled nothing; the blow took 0.0123 J", told());
    arm.releases = 3;
    arm.payload = 0;
    arm.latched = 0; /* no berth has latched now */
    TEST_ASSERT_EQUAL_STRING("released nothing", told());
}

/* Counts go round at 256; what went back by a reset is no event. */
static void test_counts_of_an_arm_that_went_back_are_no_event(void)
{
    equip();
    arm.grapples = 255;
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.grapples = 0;
    TEST_ASSERT_EQUAL_STRING("grappled nothing; the blow took 0 J", told());
    arm.grapples = 127;
    TEST_ASSERT_EQUAL_STRING("grappled nothing; the blow took 0 J", told());
    arm.grapples = 255; /* 128 on is 128 back */
    TEST_ASSERT_EQUAL_STRING("", told());
}

static void test_why_there_was_no_grapple_is_reported(void)
{
    equip();
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.refused++;
    TEST_ASSERT_EQUAL_STRING("no grapple: no fixture is in reach", told());
    TEST_ASSERT_EQUAL_INT(LIVE_WARNING, level);
    arm.refused++;
    arm.reach = 0.0;
    TEST_ASSERT_EQUAL_STRING("no grapple: no fixture is inside the capture envelope", told());
    arm.payload = 1;
    TEST_ASSERT_EQUAL_STRING("", told());
    arm.refused++;
    arm.reach = -1.0;
    TEST_ASSERT_EQUAL_STRING("no grapple: the hand has something already", told());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_figures_are_of_the_window);
    RUN_TEST(test_what_the_firmware_answers_the_ground_station_is_reported);
    RUN_TEST(test_a_run_faster_than_the_clock_still_fits);
    RUN_TEST(test_overruns_are_counted_by_cause_and_reported);
    RUN_TEST(test_a_link_is_connected_lost_and_connected_again);
    RUN_TEST(test_modes_and_brakes_of_an_arm_are_reported_when_they_change);
    RUN_TEST(test_what_an_arm_grapples_and_releases_is_reported_by_name);
    RUN_TEST(test_counts_of_an_arm_that_went_back_are_no_event);
    RUN_TEST(test_why_there_was_no_grapple_is_reported);
    return UNITY_END();
}
