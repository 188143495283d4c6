#include "rt/schedule.h"

#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"

uint64_t rt_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint32_t rt_schedule_pattern(const struct rt_job *jobs, int job_count)
{
    uint64_t pattern = 1;
    for (int j = 0; j < job_count; j++) {
        RT_CHECK(jobs[j].every >= 1 && jobs[j].phase < jobs[j].every);
        pattern *= jobs[j].every / rt_gcd(pattern, jobs[j].every);
        if (pattern > RT_PATTERN_MAX)
            return 0;
    }
    return (uint32_t)pattern;
}

/* One layout answers both size and placement, so they cannot drift apart. */
static size_t lay_out_schedule(struct rt_schedule *schedule, void *mem)
{
    size_t at = 0;
    const size_t jobs = (size_t)schedule->job_count;
    (void)rt_layout_cut(mem, &at, sizeof *schedule);
    schedule->row = rt_layout_cut(mem, &at, schedule->pattern * sizeof *schedule->row);
    schedule->time = rt_layout_cut(mem, &at, jobs * sizeof *schedule->time);
    return at;
}

size_t rt_schedule_size(const struct rt_job *jobs, int job_count)
{
    RT_CHECK(job_count >= 0 && job_count <= RT_JOB_MAX);
    struct rt_schedule counted = {.job_count = job_count};
    counted.pattern = rt_schedule_pattern(jobs, job_count);
    RT_CHECK(counted.pattern > 0); /* config/ refuses what does not repeat soon enough */
    return lay_out_schedule(&counted, NULL);
}

static void fill_due_table(struct rt_schedule *schedule)
{
    for (int j = 0; j < schedule->job_count; j++) {
        const struct rt_job *job = &schedule->job[j];
        for (uint32_t frame = job->phase; frame < schedule->pattern; frame += job->every)
            schedule->row[frame] |= UINT64_C(1) << j;
    }
}

struct rt_schedule *rt_schedule_place(const struct rt_job *jobs, int job_count, void *mem)
{
    struct rt_schedule *schedule = mem;
    memset(mem, 0, rt_schedule_size(jobs, job_count));
    schedule->job_count = job_count;
    if (job_count > 0)
        memcpy(schedule->job, jobs, (size_t)job_count * sizeof *jobs);
    schedule->now_ns = rt_now_ns;
    schedule->pattern = rt_schedule_pattern(jobs, job_count);
    (void)lay_out_schedule(schedule, mem);
    fill_due_table(schedule);
    return schedule;
}

void rt_schedule_run(struct rt_schedule *schedule, uint64_t frame)
{
    const uint64_t counted = frame + schedule->frame_offset;
    uint64_t due = schedule->row[counted % schedule->pattern];
    /* One stamp per boundary: the end of a job begins the next. */
    uint64_t begin_ns = schedule->now_ns();
    schedule->begin_ns = begin_ns;
    schedule->due = due;
    while (due != 0) {
        const int j = __builtin_ctzll(due);
        due &= due - 1;
        schedule->job[j].run(schedule->job[j].self, counted);
        const uint64_t end_ns = schedule->now_ns();
        const uint64_t spent_ns = end_ns - begin_ns;
        schedule->spent_ns[j] = spent_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)spent_ns;
        rt_histogram_add(&schedule->time[j], spent_ns, frame);
        begin_ns = end_ns;
    }
}
