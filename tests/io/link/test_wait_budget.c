/*
 * The time limit of a wait, on a simulated machine that stalls when the test wants it.
 */
#include "io/link/wait_budget.h"

#include "unity.h"

enum { MS = 1000000 };
static const uint64_t SECOND_NS = 1000000000;

static struct io_wait_budget patience;
static uint64_t now_ns;

void setUp(void)
{
    now_ns = 123456789;
}

void tearDown(void)
{
}

/* Sleep until the next check, and longer by the time for which the machine stalls. */
static void doze(uint64_t still_ns)
{
    now_ns = io_wait_budget_wake_ns(&patience) + still_ns;
    (void)io_wait_budget_spend(&patience, now_ns);
}

static void test_silence_is_waited_for_as_long_as_was_asked(void)
{
    const uint64_t begin_ns = now_ns;
    io_wait_budget_begin(&patience, SECOND_NS, now_ns);
    while (patience.left_ns > 0) {
        const uint64_t before_ns = now_ns;
        doze(0);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(20 * MS,
                                         now_ns - before_ns); /* a stop request waits no longer */
    }
    TEST_ASSERT_EQUAL_UINT64(SECOND_NS, now_ns - begin_ns);
}

static void test_a_machine_that_stood_still_costs_one_slice(void)
{
    io_wait_budget_begin(&patience, SECOND_NS, now_ns);
    doze(2 * SECOND_NS);
    TEST_ASSERT_EQUAL_UINT64(SECOND_NS - 20 * MS, patience.left_ns);
    doze(0);
    TEST_ASSERT_EQUAL_UINT64(SECOND_NS - 40 * MS, patience.left_ns);
}

static void test_a_short_limit_survives_that_too(void)
{
    io_wait_budget_begin(&patience, 40 * MS, now_ns);
    doze(SECOND_NS);
    doze(SECOND_NS);
    TEST_ASSERT_EQUAL_UINT64(35 * MS, patience.left_ns);
}

static void test_whoever_is_woken_early_pays_for_what_passed(void)
{
    io_wait_budget_begin(&patience, SECOND_NS, now_ns);
    TEST_ASSERT_EQUAL_UINT64(3 * MS, io_wait_budget_spend(&patience, now_ns + 3 * MS));
    TEST_ASSERT_EQUAL_UINT64(0, io_wait_budget_spend(&patience, now_ns + 3 * MS));
    TEST_ASSERT_EQUAL_UINT64(
        0, io_wait_budget_spend(&patience, now_ns)); /* a clock that goes back counts nothing */
    TEST_ASSERT_EQUAL_UINT64(SECOND_NS - 3 * MS, patience.left_ns);
}

static void test_without_a_limit_nothing_is_waited_for(void)
{
    io_wait_budget_begin(&patience, 0, now_ns);
    TEST_ASSERT_EQUAL_UINT64(now_ns, io_wait_budget_wake_ns(&patience));
    TEST_ASSERT_EQUAL_UINT64(0, io_wait_budget_spend(&patience, now_ns + SECOND_NS));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_silence_is_waited_for_as_long_as_was_asked);
    RUN_TEST(test_a_machine_that_stood_still_costs_one_slice);
    RUN_TEST(test_a_short_limit_survives_that_too);
    RUN_TEST(test_whoever_is_woken_early_pays_for_what_passed);
    RUN_TEST(test_without_a_limit_nothing_is_waited_for);
    return UNITY_END();
}
