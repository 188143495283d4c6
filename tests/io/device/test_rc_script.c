/*
 * The script of a pilot: the channels at any time.
 */
#include "io/device/rc_script.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static struct io_rc_script script;
static struct io_rc_script_view view;
static double channel[IO_RC_SCRIPT_CHANNEL_COUNT];

/* Channel i is at base + i in each step. */
static void add_step(double time, double base, uint32_t ramp)
{
    struct io_rc_script_step *step = &script.step[script.step_count++];
    step->time = time;
    step->ramp = ramp;
    for (int i = 0; i < IO_RC_SCRIPT_CHANNEL_COUNT; i++)
        step->channel[i] = base + i;
}

void setUp(void)
{
    memset(&script, 0, sizeof script);
    memset(channel, 0xff, sizeof channel);
}

void tearDown(void)
{
}

static void assert_at(double time, double base)
{
    io_rc_script_channels(&script, time, &view, channel);
    for (int i = 0; i < IO_RC_SCRIPT_CHANNEL_COUNT; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, base + i, channel[i]);
}

static void test_channels_stay_until_the_next_step_begins(void)
{
    add_step(1.0, 1000.0, 0);
    add_step(2.0, 1500.0, 0);
    add_step(4.0, 2000.0, 0);
    assert_at(1.0, 1000.0);
    assert_at(nextafter(2.0, 0.0), 1000.0);
    assert_at(2.0, 1500.0);
    assert_at(3.999, 1500.0);
    assert_at(4.0, 2000.0);
}

static void test_before_the_first_and_after_the_last_step_channels_stay(void)
{
    add_step(1.0, 1000.0, 1);
    add_step(2.0, 1500.0, 1);
    assert_at(-1e9, 1000.0);
    assert_at(0.0, 1000.0);
    assert_at(2.0, 1500.0);
    assert_at(1e9, 1500.0);
}

static void test_a_ramp_is_a_straight_line_from_the_step_before(void)
{
    add_step(1.0, 1000.0, 0);
    add_step(3.0, 1800.0, 1);
    add_step(4.0, 1200.0, 0);
    assert_at(1.0, 1000.0);
    assert_at(1.5, 1200.0);
    assert_at(2.0, 1400.0);
    assert_at(2.75, 1700.0);
    assert_at(3.0, 1800.0);
    assert_at(3.5, 1800.0);
    assert_at(4.0, 1200.0);
}

static void test_of_steps_at_the_same_time_the_last_one_counts(void)
{
    add_step(1.0, 1000.0, 0);
    add_step(1.0, 1100.0, 1);
    add_step(1.0, 1200.0, 1);
    add_step(2.0, 1300.0, 1);
    assert_at(0.5, 1000.0);
    assert_at(1.0, 1200.0);
    assert_at(1.5, 1250.0);
}

static void test_a_full_script_is_read_to_its_end(void)
{
    for (int k = 0; k < IO_RC_SCRIPT_STEP_MAX; k++)
        add_step(k, 1000.0 + 10.0 * k, 0);
    for (int k = 0; k < IO_RC_SCRIPT_STEP_MAX; k++)
        assert_at(k + 0.5, 1000.0 + 10.0 * k);
}

/* Too low: more throttle; climbing: less; never beyond the stick. */
static void test_a_pilot_holds_a_height_with_the_throttle(void)
{
    script = (struct io_rc_script){.step_count = 1};
    script.step[0] = (struct io_rc_script_step){
        .channel = {1500, 1500, 1700, 1500}, .holds_height = 1, .height = 2.0};
    view = (struct io_rc_script_view){.height = 2.0};
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1700.0, channel[2]);
    view.height = 1.5;
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1750.0, channel[2]);
    view.climb = 1.0;
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1630.0, channel[2]);
    view = (struct io_rc_script_view){.height = -100.0};
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1900.0, channel[2]);
    script.step[0].channel[2] = 1950.0;
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2000.0, channel[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1500.0, channel[0]);
    view = (struct io_rc_script_view){0};
}

/* Too high: less throttle, as much less as it would be more, and never below the stick's end. */
static void test_a_pilot_that_is_too_high_takes_the_throttle_back(void)
{
    script = (struct io_rc_script){.step_count = 1};
    script.step[0] = (struct io_rc_script_step){
        .channel = {1500, 1500, 1700, 1500}, .holds_height = 1, .height = 2.0};
    view = (struct io_rc_script_view){.height = 3.0};
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1600.0, channel[2]);
    view.climb = -0.5; /* and sinking already */
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1660.0, channel[2]);
    view = (struct io_rc_script_view){.height = 100.0};
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1500.0, channel[2]);
    script.step[0].channel[2] = 1050.0;
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1000.0, channel[2]);
    script.step[0].holds_height = 0; /* the height is not held */
    io_rc_script_channels(&script, 0.0, &view, channel);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1050.0, channel[2]);
    view = (struct io_rc_script_view){0};
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_pilot_holds_a_height_with_the_throttle);
    RUN_TEST(test_channels_stay_until_the_next_step_begins);
    RUN_TEST(test_before_the_first_and_after_the_last_step_channels_stay);
    RUN_TEST(test_a_ramp_is_a_straight_line_from_the_step_before);
    RUN_TEST(test_of_steps_at_the_same_time_the_last_one_counts);
    RUN_TEST(test_a_full_script_is_read_to_its_end);
    RUN_TEST(test_a_pilot_that_is_too_high_takes_the_throttle_back);
    return UNITY_END();
}
