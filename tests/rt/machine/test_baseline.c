/*
 * A measurement is one of what was asked for; how good it is depends on the machine, so no time is
 * judged here.
 */
#include "rt/machine/baseline.h"

#include "rt/machine/machine.h"
#include "unity.h"

static struct rt_baseline baseline;

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_it_wakes_as_often_as_asked_and_spins_between(void)
{
    struct rt_machine machine;
    rt_machine_read(&machine);
    TEST_ASSERT_EQUAL_INT(0, rt_baseline_measure(machine.cpus[0], 90, 0.13, &baseline));
    TEST_ASSERT_EQUAL_UINT64(130, baseline.wake_latency.count);
    /* Three bursts of 40 ms: after 60, 120 and 130 wake-ups. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(120000000, baseline.spun_ns);
    TEST_ASSERT_EQUAL_INT(machine.cpus[0], baseline.thread.cpu);
}

static void test_its_figures_agree_with_each_other(void)
{
    TEST_ASSERT_EQUAL_INT(0, rt_baseline_measure(-1, 90, 0.06, &baseline));
    const uint64_t p50 = rt_histogram_quantile(&baseline.wake_latency, 0.5);
    const uint64_t p99 = rt_histogram_quantile(&baseline.wake_latency, 0.99);
    TEST_ASSERT_TRUE(baseline.wake_latency.min <= p50 && p50 <= p99 &&
                     p99 <= baseline.wake_latency.max);
    TEST_ASSERT_TRUE(baseline.gap_ns_max <= baseline.gap_ns_total);
    TEST_ASSERT_TRUE(baseline.gap_ns_total <= baseline.spun_ns + baseline.spun_ns / 100);
    TEST_ASSERT_EQUAL(baseline.gap_count > 0, baseline.gap_ns_max > 0);
    TEST_ASSERT_EQUAL_INT(-1, baseline.thread.cpu);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_it_wakes_as_often_as_asked_and_spins_between);
    RUN_TEST(test_its_figures_agree_with_each_other);
    return UNITY_END();
}
