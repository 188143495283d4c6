/*
 * A short measurement of a core: how late a timer wakes a FIFO thread, and how much time that
 * thread loses while it spins.  The measured maximum is not a bound: a longer run may see worse.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/histogram.h"
#include "rt/thread.h"

struct rt_baseline {
    struct rt_thread thread;          /* what the machine granted: policy, priority, core */
    struct rt_histogram wake_latency; /* ns from the time asked for to the time awake, at 1 kHz */
    uint64_t spun_ns;                 /* time spent watching for gaps */
    uint64_t gap_count;               /* readings of the counter more than 10 us apart */
    uint64_t gap_ns_max, gap_ns_total;
    uint64_t switches; /* involuntary, while spinning: such a gap is another task's */
    bool tsc;          /* the counter was good enough to spin on; else the clock was */
};

/*
 * Measure for seconds of wake-ups at 1 kHz on cpu (-1: anywhere), and between them two thirds as
 * long of spinning, in bursts so short that neither throttling nor the fair server is the cause of
 * what is seen.  0, or -errno when there is no thread.  Context: setup.
 */
int rt_baseline_measure(int cpu, int priority, double seconds, struct rt_baseline *baseline);
