/*
 * Which channels of a log are decimated, how much is held back, and which frames make them whole.
 */
#include "rt/executive/output/log_decimation.h"

#include <string.h>

#include "unity.h"

enum { SLACK = 16 };

static struct sim_spec spec;
static struct io_channel_spec channels[12];
static struct sim_log_decimation decimation;
static const struct sim_record_layout layout = {.frame = 1, .plant = 2, .sensor = 4, .drive = 7};

void setUp(void)
{
    static struct sim_sensor sensors[3];
    sensors[0].every = 1;
    sensors[1].every = 4;
    sensors[2].every = 10;
    memset(channels, 0, sizeof channels);
    spec = (struct sim_spec){.rate_hz = 1000.0, .log_every = 2};
    spec.sensors = sensors;
    spec.sensor_count = 3;
    spec.log.before_ns = 100000000;
    spec.log.after_ns = 250000000;
}

void tearDown(void)
{
}

static void thin(int sensor, int drive, uint32_t every)
{
    spec.log.channel[spec.log.channel_count++] =
        (struct sim_log_channel){.sensor = sensor, .drive = drive, .every = every};
}

static void test_each_channel_by_its_own_number_and_rate(void)
{
    thin(-1, -1, 50);
    thin(1, -1, 5);
    thin(-1, 2, 7);
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    for (int i = 0; i < 12; i++) {
        const uint32_t every = i == 2 ? 50 : i == 5 ? 5 : i == 9 ? 7 : 0;
        const uint32_t hold = i == 2 || i == 9 ? SLACK + 50 : i == 5 ? SLACK + 25 : 0;
        TEST_ASSERT_EQUAL_UINT32(every, channels[i].every);
        TEST_ASSERT_EQUAL_UINT32(hold, channels[i].hold);
    }
    TEST_ASSERT_EQUAL_UINT64(100000000, decimation.trigger.before_ns);
    TEST_ASSERT_EQUAL_UINT64(250000000, decimation.trigger.after_ns);
}

static void test_what_is_held_is_rounded_up(void)
{
    thin(2, -1, 3);
    spec.log.before_ns = 1; /* a part of one record */
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    TEST_ASSERT_EQUAL_UINT32(SLACK + 1, channels[6].hold);
    spec.log.before_ns = 0;
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    TEST_ASSERT_EQUAL_UINT32(SLACK, channels[6].hold);
}

static bool triggers(int channel, struct sim_record_frame frame)
{
    return decimation.trigger.seen(decimation.trigger.self, channel, &frame);
}

static void test_without_a_trigger_nothing_is_watched(void)
{
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    TEST_ASSERT_NULL(decimation.trigger.seen);
}

static void test_an_overrun_is_a_late_frame_or_a_lost_release(void)
{
    spec.log.on_overrun = true;
    spec.fault_count = 1;
    spec.faults[0].spec.first_frame = 30;
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    TEST_ASSERT_FALSE(triggers(layout.frame, (struct sim_record_frame){.frame = 30}));
    TEST_ASSERT_TRUE(triggers(layout.frame, (struct sim_record_frame){.cause = RT_CAUSE_OWN}));
    TEST_ASSERT_TRUE(triggers(layout.frame, (struct sim_record_frame){.missed = 1}));
    TEST_ASSERT_FALSE(triggers(layout.plant, (struct sim_record_frame){.missed = 1}));
}

static void test_a_fault_triggers_when_it_begins(void)
{
    spec.log.on_fault = true;
    spec.fault_count = 2;
    spec.faults[0].spec.first_frame = 30;
    spec.faults[1].spec.first_frame = 40;
    spec.faults[2].spec.first_frame = 50; /* not of this spec */
    sim_log_decimation_apply(&decimation, &spec, &layout, channels);
    for (uint64_t frame = 29; frame < 52; frame++)
        TEST_ASSERT_EQUAL(frame == 30 || frame == 40,
                          triggers(layout.frame, (struct sim_record_frame){.frame = frame}));
    TEST_ASSERT_FALSE(triggers(layout.frame, (struct sim_record_frame){.missed = 1, .cause = 1}));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_each_channel_by_its_own_number_and_rate);
    RUN_TEST(test_what_is_held_is_rounded_up);
    RUN_TEST(test_without_a_trigger_nothing_is_watched);
    RUN_TEST(test_an_overrun_is_a_late_frame_or_a_lost_release);
    RUN_TEST(test_a_fault_triggers_when_it_begins);
    return UNITY_END();
}
