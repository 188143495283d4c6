/*
 * Whose fault was it?  Evidence about the frame thread from sources that do not guess: its page
 * faults and involuntary switches (RUSAGE_THREAD), its CPU time, its run delay (schedstat), gaps of
 * the time-stamp counter in the spin, the steal counter of its core.
 *
 * Cheap sources are read every frame; the slow ones only as a baseline now and then, and at an
 * overrun.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/clock.h"

enum rt_cause {
    RT_CAUSE_NONE,
    RT_CAUSE_FAULT,   /* page fault */
    RT_CAUSE_SWITCH,  /* preempted, or runnable and kept waiting */
    RT_CAUSE_IO,      /* waited for a reply */
    RT_CAUSE_STOLEN,  /* hypervisor or SMI took the core */
    RT_CAUSE_OWN,     /* the work was too long */
    RT_CAUSE_UNKNOWN, /* late, and nothing explains it */
    RT_CAUSE_COUNT
};

extern const char *const rt_cause_name[RT_CAUSE_COUNT];

struct rt_evidence {
    uint64_t faults;       /* minor + major */
    uint64_t switches;     /* involuntary */
    uint64_t cpu_ns;       /* thread CPU time */
    uint64_t run_delay_ns; /* runnable but waiting */
    uint64_t steal_ns;     /* of the core, in kernel ticks */
    uint64_t gap_ns;       /* time-stamp counter gaps while spinning */
};

struct rt_witness {
    int schedstat_fd, stat_fd; /* -1: source not available */
    int cpu;
    const struct rt_clock_real *real; /* NULL under a fake clock */
    struct rt_evidence before;
    uint64_t faults_at_seal;
    uint64_t stolen_ns_total;
};

/* Open the sources for the calling thread.  Context: frame thread, before the first frame. */
void rt_witness_open(struct rt_witness *witness, const struct rt_clock_real *real, int cpu);
void rt_witness_close(struct rt_witness *witness);

/* What happened to a frame, in nanoseconds on the frame's clock. */
struct rt_lateness {
    uint64_t period_ns;
    uint64_t start_error_ns; /* start - release */
    uint64_t busy_ns;        /* end - start */
    uint64_t waited_ns;      /* inside busy: waiting for a reply */
};

/* The one cause of a late frame by the precedence fault, switch, io, stolen, own, unknown.  Pure.
 * Context: any. */
enum rt_cause rt_cause_of(const struct rt_lateness *late, const struct rt_evidence *change);

/* After every frame: returns the cause when late is not NULL, else keeps the baseline fresh.
 * Context: frame. */
enum rt_cause rt_witness_frame(struct rt_witness *witness, uint64_t frame,
                               const struct rt_lateness *late);

/* Page faults of the calling thread since rt_witness_open().  Context: frame thread. */
uint64_t rt_witness_faults(const struct rt_witness *witness);
