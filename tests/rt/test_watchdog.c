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
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, UINT64_MAX));
}

static void test_a_kick_in_time_keeps_it_quiet(void)
{
    for (uint64_t now = 1; now < 100000; now += 999) {
        rt_watchdog_kick(&dog, now);
        TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, now));
        TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, now + 999));
    }
}

static void test_it_barks_at_the_limit_and_once(void)
{
    rt_watchdog_kick(&dog, 500);
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, 1499));
    TEST_ASSERT_TRUE(rt_watchdog_bark(&dog, 1500));
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, 1501));
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, 9999));
}

static void test_a_disarmed_watchdog_is_quiet(void)
{
    rt_watchdog_kick(&dog, 500);
    rt_watchdog_disarm(&dog);
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, UINT64_MAX));
    rt_watchdog_kick(&dog, 600);
    TEST_ASSERT_TRUE(rt_watchdog_bark(&dog, 1600));
}

static void test_a_kick_from_after_the_look_is_no_hang(void)
{
    rt_watchdog_kick(&dog, 5000); /* the looker's clock was read before this kick */
    TEST_ASSERT_FALSE(rt_watchdog_bark(&dog, 4999));
}

static void *look(void *self)
{
    return rt_watchdog_bark(&dog, 1u << 20) ? self : NULL;
}

static void test_of_many_lookers_one_hears_it(void)
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
    RUN_TEST(test_of_many_lookers_one_hears_it);
    return UNITY_END();
}
