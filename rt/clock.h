/*
 * Time for the frame loop, behind an interface of a few functions so that tests can bring their
 * own clock.
 *
 * The real clock is CLOCK_MONOTONIC.  Its wait is `plain` (absolute clock_nanosleep) or `hybrid`
 * (sleep to a measured lead before the deadline, then spin on the time-stamp counter).  While it
 * spins it watches the counter: a jump between two readings is time in which the thread did not
 * run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rt_clock {
    uint64_t (*now_ns)(void *self);
    void (*wait_until_ns)(void *self, uint64_t deadline_ns); /* never returns early */
    uint64_t (*raw_ns)(void *self); /* undisciplined clock to measure drift by; NULL: now_ns */
    void *self;
};

enum rt_wait { RT_WAIT_PLAIN, RT_WAIT_HYBRID };

struct rt_clock_real {
    enum rt_wait wait;
    bool tsc;              /* invariant time-stamp counter present and calibrated */
    double tsc_ns;         /* nanoseconds per tick */
    uint64_t lead_ns;      /* how long before the deadline the spin begins */
    uint64_t gap_floor_ns; /* shorter gaps in the spin are not counted */
    uint64_t gap_ns;       /* longest gap above the floor in the last wait */
    uint64_t gap_ns_total; /* all gaps above the floor, since set-up */
    uint64_t gap_count;
    uint64_t sleep_overshoot_ns; /* last wait: how much later than asked the sleep returned */
    uint64_t asked_ns_total;     /* how long the sleeps should have been, since set-up */
    uint64_t slept_ns_total;     /* how long they were */
};

/* With RT_WAIT_HYBRID calibrate the counter and measure the lead, in about 40 ms, on the calling
 * thread, which should already have its final policy and core.  lead_ns 0 means measure;
 * max_lead_ns bounds it.  A plain wait needs neither.  Context: setup. */
void rt_clock_real_open(struct rt_clock_real *real, enum rt_wait wait, uint64_t lead_ns,
                        uint64_t max_lead_ns);

/* The interface of the real clock.  Context: setup. */
struct rt_clock rt_clock_real_interface(struct rt_clock_real *real);

/* CLOCK_MONOTONIC in nanoseconds.  Context: any. */
uint64_t rt_now_ns(void);

/* Three clocks at one moment, the middle of a window of that width, for the measurement of
 * drift. */
struct rt_clock_sample {
    uint64_t monotonic_ns, raw_ns, realtime_ns;
    uint32_t window_ns;
};
/* The tightest of a few tries.  Context: any. */
void rt_clock_sample_read(struct rt_clock_sample *sight);

/* CLOCK_REALTIME to CLOCK_MONOTONIC by sampled pairs, for kernel packet stamps. */
struct rt_wall_map {
    int64_t offset_ns; /* monotonic - realtime */
    uint64_t sampled_ns;
};
/* Take a pair (tightest of a few tries).  Context: any. */
void rt_wall_map_sample(struct rt_wall_map *map);
/* Context: any. */
uint64_t rt_wall_map_to_monotonic(const struct rt_wall_map *map, uint64_t realtime_ns);
