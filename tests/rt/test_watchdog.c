#include "rt/watchdog.h"

#include <pthread.h>

#include "unity.h"

static struct rt_watchdog dog;

void setUp(void)
{
    dog = (struct rt_watchdog){.limit_ns = 1000};
}

void tearDown(void)
{
}

static void test_a_watchdog_that_was_never_kicked_does_not_bark(void)
{
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, UINT64_MAX));
}

static void test_a_kick_in_time_keeps_it_quiet(void)
{
    for (uint64_t now = 1; now < 100000; now += 999) {
        rt_watchdog_kick(&dog, now);
        TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, now));
        TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, now + 999));
    }
}

static void test_it_barks_at_the_limit_and_once(void)
{
    rt_watchdog_kick(&dog, 500);
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 1499));
    TEST_ASSERT_TRUE(rt_watchdog_expired(&dog, 1500));
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 1501));
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 9999));
}

static void test_a_disarmed_watchdog_is_quiet(void)
{
    rt_watchdog_kick(&dog, 500);
    rt_watchdog_disarm(&dog);
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, UINT64_MAX));
    rt_watchdog_kick(&dog, 600);
    TEST_ASSERT_TRUE(rt_watchdog_expired(&dog, 1600));
}

static void test_a_kick_from_after_the_look_is_no_hang(void)
{
    rt_watchdog_kick(&dog, 5000); /* the looker's clock was read before this kick */
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 4999));
}

static const uint64_t MS = 1000000;

/* Looks every 20 ms; true: one of them was a bark. */
static bool look_on(uint64_t from_ms, uint64_t to_ms)
{
    bool barks = false;
    for (uint64_t now_ms = from_ms; now_ms <= to_ms; now_ms += 20)
        barks |= rt_watchdog_expired(&dog, now_ms * MS);
    return barks;
}

static void test_a_checker_that_was_suspended_does_not_judge(void)
{
    dog.limit_ns = 500 * MS;
    rt_watchdog_kick(&dog, 1000 * MS);
    TEST_ASSERT_FALSE(look_on(1000, 1060));
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 1660 * MS)); /* all stood still for 600 ms */
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 1661 * MS)); /* another looker, which wakes next */
    rt_watchdog_kick(&dog, 1662 * MS);
    TEST_ASSERT_FALSE(look_on(1680, 2160));
    TEST_ASSERT_TRUE(look_on(2180, 2180));
}

static void test_what_hangs_after_a_standstill_is_found(void)
{
    dog.limit_ns = 500 * MS;
    rt_watchdog_kick(&dog, 1000 * MS);
    TEST_ASSERT_FALSE(look_on(1000, 1060));
    TEST_ASSERT_FALSE(look_on(1660, 2140));
    TEST_ASSERT_TRUE(look_on(2160, 2160));
}

static void test_a_looker_that_is_a_little_late_was_there(void)
{
    dog.limit_ns = 500 * MS;
    rt_watchdog_kick(&dog, 1000 * MS);
    bool barks = false;
    for (uint64_t now_ms = 1000; now_ms <= 1500; now_ms += 125)
        barks |= rt_watchdog_expired(&dog, now_ms * MS);
    TEST_ASSERT_TRUE(barks);
}

/* A limit that is shorter than the lookers' own beat still means something. */
static void test_a_short_limit_is_no_reason_never_to_bark(void)
{
    dog.limit_ns = 5 * MS;
    rt_watchdog_kick(&dog, 1000 * MS);
    TEST_ASSERT_FALSE(rt_watchdog_expired(&dog, 1000 * MS));
    TEST_ASSERT_TRUE(rt_watchdog_expired(&dog, 1020 * MS));
}

static void *look(void *self)
{
    return rt_watchdog_expired(&dog, 1u << 20) ? self : NULL;
}

static void test_of_many_checkers_one_gets_the_alarm(void)
{
    enum { LOOKERS = 4 };
    rt_watchdog_kick(&dog, 1);
    pthread_t looker[LOOKERS];
    int heard = 0;
    for (int i = 0; i < LOOKERS; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&looker[i], NULL, look, &dog));
    for (int i = 0; i < LOOKERS; i++) {
        void *barked;
        pthread_join(looker[i], &barked);
        heard += barked != NULL;
    }
    TEST_ASSERT_EQUAL_INT(1, heard);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_watchdog_that_was_never_kicked_does_not_bark);
    RUN_TEST(test_a_kick_in_time_keeps_it_quiet);
    RUN_TEST(test_it_barks_at_the_limit_and_once);
    RUN_TEST(test_a_disarmed_watchdog_is_quiet);
    RUN_TEST(test_a_kick_from_after_the_look_is_no_hang);
    RUN_TEST(test_a_checker_that_was_suspended_does_not_judge);
    RUN_TEST(test_what_hangs_after_a_standstill_is_found);
    RUN_TEST(test_a_looker_that_is_a_little_late_was_there);
    RUN_TEST(test_a_short_limit_is_no_reason_never_to_bark);
    RUN_TEST(test_of_many_checkers_one_gets_the_alarm);
    return UNITY_END();
}
