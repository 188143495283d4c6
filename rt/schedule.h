/*
 * Jobs with a rate and a phase, laid out at load into a table with one row per frame of the
 * repeating pattern, so that the frame makes no decision.
 *
 *      frame     0    1    2    3    4 ...
 *      step      x    x    x    x    x      every 1
 *      imu       x              x           every 3, phase 0
 *      gps            x                     every 100, phase 1
 *
 * Jobs of one frame run in the order in which they were given.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rt/histogram.h"

enum { RT_JOB_MAX = 64, RT_PATTERN_MAX = 1 << 20 };

struct rt_job {
    const char *name;
    void (*run)(void *self, uint64_t frame);
    void *self;
    uint32_t every;        /* frames between two runs, >= 1 */
    uint32_t phase;        /* first frame, < every */
    uint64_t predicted_ns; /* 0: not predicted */
};

struct rt_schedule {
    int job_count;
    struct rt_job job[RT_JOB_MAX];
    uint32_t pattern;          /* frames after which the table repeats */
    uint64_t *row;             /* one bit per job */
    struct rt_histogram *time; /* measured, one per job */
    uint64_t (*now_ns)(void);  /* rt_now_ns(), or the clock of a test */
    uint64_t frame_offset; /* jobs get frame + frame_offset, modulo 2^64; 0 unless a restored state
                              sets it */

    /* of the frame that ran last, for its record */
    uint64_t begin_ns;             /* when its first job began */
    uint64_t due;                  /* one bit per job that ran */
    uint32_t spent_ns[RT_JOB_MAX]; /* of a job that was not due, as it was before; at most 4.29 s */
};

/* Greatest common divisor; of 0 and n it is n.  Context: setup. */
uint64_t rt_gcd(uint64_t a, uint64_t b);

/* Frames after which the jobs repeat: the least common multiple; 0 when above RT_PATTERN_MAX.
 * Context: setup. */
uint32_t rt_schedule_pattern(const struct rt_job *jobs, int job_count);
size_t rt_schedule_size(const struct rt_job *jobs, int job_count);
struct rt_schedule *rt_schedule_place(const struct rt_job *jobs, int job_count, void *mem);

/* Run the jobs of this frame in order and measure each.  They get frame + frame_offset, so that a
 * restored state goes on at the phase it had.  Context: frame. */
void rt_schedule_run(struct rt_schedule *schedule, uint64_t frame);
