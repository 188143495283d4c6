/*
 * A worker does its work until it is stopped, once more after that, and is left behind where it
 * hangs.
 */
#include "tools/airbearing/run/periodic_thread.h"

#include <sched.h>
#include <semaphore.h>

#include "unity.h"

static const uint64_t PATIENCE_NS = 60000000000;

static atomic_int rounds;
static sem_t disk, waits;
static atomic_bool stands;

void setUp(void)
{
    atomic_store(&rounds, 0);
    atomic_store(&stands, false);
    sem_init(&disk, 0, 0);
    sem_init(&waits, 0, 0);
}

void tearDown(void)
{
    sem_destroy(&disk);
    sem_destroy(&waits);
}

static void work(void *self)
{
    (void)self;
    if (atomic_load(&stands)) {
        sem_post(&waits);
        sem_wait(&disk);
    }
    atomic_fetch_add(&rounds, 1);
}

static void test_it_works_again_and_again_and_once_more_at_the_end(void)
{
    struct periodic_thread worker = {0};
    TEST_ASSERT_EQUAL_INT(0, periodic_thread_start(&worker, "worker", -1, work, NULL));
    while (atomic_load(&rounds) < 3)
        sched_yield();
    const int before = atomic_load(&rounds);
    TEST_ASSERT_TRUE(periodic_thread_stop(&worker, PATIENCE_NS));
    TEST_ASSERT_GREATER_THAN_INT(before, atomic_load(&rounds));
    TEST_ASSERT_TRUE(periodic_thread_stop(&worker, 0)); /* again is nothing */
}

static void test_one_that_was_never_started_has_ended(void)
{
    struct periodic_thread worker = {0};
    TEST_ASSERT_TRUE(periodic_thread_stop(&worker, 0));
}

static void test_one_that_hangs_is_left_and_begins_nothing_more(void)
{
    static struct periodic_thread worker;
    atomic_store(&stands, true);
    TEST_ASSERT_EQUAL_INT(0, periodic_thread_start(&worker, "worker", -1, work, NULL));
    sem_wait(&waits);
    TEST_ASSERT_FALSE(periodic_thread_stop(&worker, 1000000));
    atomic_store(&stands, false);
    sem_post(&disk);
    TEST_ASSERT_TRUE(periodic_thread_stop(&worker, PATIENCE_NS)); /* it came back after all, */
    TEST_ASSERT_EQUAL_INT(1, atomic_load(&rounds)); /* and finished what it had begun */
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_it_works_again_and_again_and_once_more_at_the_end);
    RUN_TEST(test_one_that_was_never_started_has_ended);
    RUN_TEST(test_one_that_hangs_is_left_and_begins_nothing_more);
    return UNITY_END();
}
