/* The job table against the rule it was made from: a job runs when frame % every == phase. */
#include "rt/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "rt/clock.h"
#include "unity.h"

enum { CALLS_MAX = RT_JOB_MAX + 1 };

static char calls[CALLS_MAX]; /* names of the jobs of one frame, in the order in which they ran */
static int call_count;
static uint64_t call_frame;

static void note(void *self, uint64_t frame)
{
    calls[call_count++] = *(const char *)self;
    call_frame = frame;
}

static char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
_Static_assert(sizeof names == RT_JOB_MAX + 1, "every job has a name");

static struct rt_job job(int j, uint32_t every, uint32_t phase)
{
    return (struct rt_job){
        .name = "job", .run = note, .self = &names[j], .every = every, .phase = phase};
}

static struct rt_schedule *place(const struct rt_job *jobs, int count)
{
    const size_t size = rt_schedule_size(jobs, count);
    void *mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0xff, size);
    return rt_schedule_place(jobs, count, mem);
}

static void check_against_the_rule(const struct rt_job *jobs, int count, uint64_t frame_max)
{
    struct rt_schedule *schedule = place(jobs, count);
    uint64_t runs[RT_JOB_MAX] = {0};
    for (uint64_t frame = 0; frame < frame_max; frame++) {
        char expected[CALLS_MAX] = "";
        int expected_count = 0;
        for (int j = 0; j < count; j++)
            if (frame % jobs[j].every == jobs[j].phase) {
                expected[expected_count++] = names[j];
                runs[j]++;
            }
        memset(calls, 0, sizeof calls);
        call_count = 0;
        rt_schedule_run(schedule, frame);
        TEST_ASSERT_EQUAL_STRING(expected, calls);
        TEST_ASSERT_TRUE(expected_count == 0 || call_frame == frame);
    }
    for (int j = 0; j < count; j++)
        TEST_ASSERT_EQUAL_UINT64(runs[j], schedule->time[j].count);
    free(schedule);
}

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_jobs_run_when_the_rule_says_and_in_the_given_order(void)
{
    const struct rt_job jobs[] = {job(0, 1, 0), job(1, 3, 0), job(2, 100, 1), job(3, 4, 3),
                                  job(4, 1, 0)};
    TEST_ASSERT_EQUAL_UINT32(300, rt_schedule_pattern(jobs, 5));
    check_against_the_rule(jobs, 5, 1000);
}

static void test_random_tables_follow_the_rule(void)
{
    srand(5);
    for (int round = 0; round < 40; round++) {
        struct rt_job jobs[RT_JOB_MAX];
        const int count = 1 + rand() % RT_JOB_MAX;
        static const uint32_t rates[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 25, 50};
        for (int j = 0; j < count; j++) {
            const uint32_t every = rates[rand() % 12];
            jobs[j] = job(j, every, (uint32_t)rand() % every);
        }
        check_against_the_rule(jobs, count, 1300);
    }
}

static void test_what_the_last_frame_took_is_kept_by_job(void)
{
    const struct rt_job jobs[] = {job(0, 1, 0), job(1, 2, 1), job(2, 1, 0)};
    struct rt_schedule *schedule = place(jobs, 3);
    for (uint64_t frame = 0; frame < 10; frame++) {
        const struct rt_histogram before[3] = {schedule->time[0], schedule->time[1],
                                               schedule->time[2]};
        const uint64_t begin_ns = rt_now_ns();
        call_count = 0;
        rt_schedule_run(schedule, frame);
        TEST_ASSERT_EQUAL_HEX64(frame % 2 ? 7 : 5, schedule->due);
        TEST_ASSERT_TRUE(schedule->begin_ns >= begin_ns && schedule->begin_ns <= rt_now_ns());
        for (int j = 0; j < 3; j++) {
            if (schedule->due >> j & 1)
                TEST_ASSERT_EQUAL_UINT64(schedule->time[j].sum - before[j].sum,
                                         schedule->spent_ns[j]);
        }
    }
    free(schedule);
}

static void test_a_schedule_without_jobs_runs_nothing(void)
{
    check_against_the_rule(NULL, 0, 10);
    TEST_ASSERT_EQUAL_UINT32(1, rt_schedule_pattern(NULL, 0));
}

static void test_a_pattern_that_is_too_long_is_refused(void)
{
    const struct rt_job fits[] = {job(0, 1 << 20, 0), job(1, 1 << 10, 5)};
    const struct rt_job primes[] = {job(0, 1021, 0), job(1, 1031, 0)};
    const struct rt_job huge[] = {job(0, 4294967291u, 0), job(1, 4294967279u, 0)};
    TEST_ASSERT_EQUAL_UINT32(1 << 20, rt_schedule_pattern(fits, 2));
    TEST_ASSERT_EQUAL_UINT32(0, rt_schedule_pattern(primes, 2)); /* 1052651 > 1048576 */
    TEST_ASSERT_EQUAL_UINT32(0, rt_schedule_pattern(huge, 2));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_jobs_run_when_the_rule_says_and_in_the_given_order);
    RUN_TEST(test_random_tables_follow_the_rule);
    RUN_TEST(test_what_the_last_frame_took_is_kept_by_job);
    RUN_TEST(test_a_schedule_without_jobs_runs_nothing);
    RUN_TEST(test_a_pattern_that_is_too_long_is_refused);
    return UNITY_END();
}
