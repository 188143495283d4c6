/*
 * Expectations: what a window sees, and what a run that ended early proves.
 */
#include "rt/executive/output/expectations.h"

#include "unity.h"

static struct sim_expectation expect;
static struct sim_expectation_watch watch;

void setUp(void)
{
    expect = (struct sim_expectation){.below = true, .limit = 2.0, .within = false, .seconds = 1.0};
}

void tearDown(void)
{
}

/* Frames of 0.1 s from 0.1 s to end, the signal falling by one a second from first. */
static enum sim_expectation_verdict judge(double first, double end)
{
    sim_expectation_begin(&watch, &expect);
    for (int i = 1; 0.1 * i < end + 0.05; i++)
        sim_expectation_update(&watch, 0.1 * i, first - 0.1 * i);
    return sim_expectation_judge(&watch);
}

static void test_after_holds_from_its_time_on(void)
{
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_MET, judge(2.9, 3.0));
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_FAILED, judge(3.1, 3.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.1, watch.worst);
}

static void test_after_is_not_reached_by_a_short_run(void)
{
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_NOT_REACHED, judge(9.0, 0.5));
}

static void test_within_needs_one_frame_in_its_time(void)
{
    expect.within = true;
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_MET, judge(2.9, 3.0));
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_FAILED, judge(3.1, 3.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.1, watch.worst);
}

static void test_within_is_open_while_the_run_is_inside_the_window(void)
{
    expect.within = true;
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_NOT_REACHED, judge(9.0, 0.5));
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_FAILED, judge(9.0, 1.0));
}

static void test_above_turns_it_round(void)
{
    expect.below = false;
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_FAILED, judge(2.9, 3.0));
    TEST_ASSERT_EQUAL(SIM_EXPECTATION_MET, judge(9.0, 3.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 6.0, watch.worst);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_after_holds_from_its_time_on);
    RUN_TEST(test_after_is_not_reached_by_a_short_run);
    RUN_TEST(test_within_needs_one_frame_in_its_time);
    RUN_TEST(test_within_is_open_while_the_run_is_inside_the_window);
    RUN_TEST(test_above_turns_it_round);
    return UNITY_END();
}
