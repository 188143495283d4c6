/*
 * The flight recorder: what each of the last RT_FLIGHT_RECORDER_FRAMES frames did and when, so
 * that the frames before an overrun can be reported after it.
 *
 *      | start |  commit  | latch | job 0 | job 1 | ... | end | record |
 *   start_ns  sent_ns        jobs_ns  + spent_ns[0] + spent_ns[1]   recorded_ns
 *
 * One row per frame in a circle of fixed size.  The end of one thing begins the next, so a row has
 * one stamp per boundary, and all but sent_ns (await_ns where nothing was sent) are stamps that
 * the loop takes anyway: filling a row is a dozen stores and one short copy.
 *
 * An overrun requests the rows before it, its own and a few after it.  They are not handed over
 * there, which would make the next frame late as well: the frame thread itself takes them out in
 * the slack of the frames that follow, RT_FLIGHT_RECORDER_DRAIN at a time, and puts them where it
 * puts all records.  So nothing here is shared between threads, and there is nothing to lock,
 * freeze or swap.  Two are taken for one that comes in, so the circle is never overtaken as long
 * as there is slack; without slack the oldest rows are overwritten, and counted as lost.  An
 * overrun that comes while rows still wait makes one window of both.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/schedule.h"

enum {
    RT_FLIGHT_RECORDER_FRAMES = 128, /* rows kept; a power of two */
    RT_FLIGHT_RECORDER_BEFORE = 32,  /* rows requested before an overrun */
    RT_FLIGHT_RECORDER_AFTER = 8,    /* and after it */
    RT_FLIGHT_RECORDER_DRAIN = 2,    /* rows taken out in one slack */
};

struct rt_flight_recorder_row {
    uint64_t frame;
    uint64_t release_ns;
    uint64_t start_ns;    /* woke up, or the reply came */
    uint64_t await_ns;    /* began to wait for the reply, until start_ns; 0: did not wait */
    uint64_t sent_ns;     /* the sample has left; after the jobs when committed early; 0: none */
    uint64_t jobs_ns;     /* latched, the first job begins */
    uint64_t end_ns;      /* all done but the record */
    uint64_t recorded_ns; /* the record is taken */
    uint64_t due;         /* one bit per job that ran */
    uint32_t missed;      /* releases dropped right before this frame */
    uint8_t cause;        /* enum rt_cause of an overrun */
    uint8_t held;         /* ran in catch-up with held inputs */
    uint8_t unanswered;   /* waited, and no reply came */
    uint8_t spare;
    uint32_t spent_ns[RT_JOB_MAX]; /* only as many as there are jobs; of a job that did not run, as
                                      it was before */
};
enum { RT_FLIGHT_RECORDER_HEAD = offsetof(struct rt_flight_recorder_row, spent_ns) };

struct rt_flight_recorder {
    unsigned char *rows;
    uint32_t stride;      /* bytes from row to row */
    uint32_t row_size;    /* of them used */
    uint64_t count;       /* rows finished so far; the one being filled has this number */
    uint64_t next;        /* the first row not drained yet */
    uint64_t request_end; /* the first row not requested */
    uint64_t lost;        /* rows requested and overwritten */
};

/* Context: setup. */
size_t rt_flight_recorder_size(int job_count);
struct rt_flight_recorder *rt_flight_recorder_place(int job_count, void *mem);

/* Row by its number.  Context: frame. */
static inline struct rt_flight_recorder_row *
rt_flight_recorder_row(const struct rt_flight_recorder *recorder, uint64_t number)
{
    return (struct rt_flight_recorder_row *)(void *)(recorder->rows +
                                                     (number % RT_FLIGHT_RECORDER_FRAMES) *
                                                         recorder->stride);
}

/* The row of the frame that runs now.  Context: frame. */
static inline struct rt_flight_recorder_row *
rt_flight_recorder_current(const struct rt_flight_recorder *recorder)
{
    return rt_flight_recorder_row(recorder, recorder->count);
}

/* Request the row of this frame and those around it.  Context: frame, before the row is
 * finished. */
void rt_flight_recorder_request(struct rt_flight_recorder *recorder);

/* The row is complete.  Context: frame. */
static inline void rt_flight_recorder_finish(struct rt_flight_recorder *recorder)
{
    recorder->count++;
}

/* Whether a requested row waits to be drained.  Context: frame. */
static inline bool rt_flight_recorder_has_requested(const struct rt_flight_recorder *recorder)
{
    return recorder->next < recorder->request_end && recorder->next < recorder->count;
}

/* The oldest requested row that is not drained, or NULL; it stays as it is until the next frame
 * begins.  Context: frame. */
const struct rt_flight_recorder_row *rt_flight_recorder_take(struct rt_flight_recorder *recorder);
