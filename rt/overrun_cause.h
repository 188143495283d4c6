/*
 * Finds the cause of an overrun from counters of the frame thread and its core: its page faults
 * and involuntary switches (RUSAGE_THREAD), its CPU time, its run delay (schedstat), gaps of the
 * time-stamp counter in the spin, how long its core stood idle, the steal counter of its core.
 *
 *   asleep            runnable, kept waiting  -> run delay                      -> switch
 *   timer due, the waking kernel thread waits -> run delay of that thread       -> switch
 *   timer due, core idle all the same         -> idle time beyond what was asked -> stolen
 *   spinning          counter jumps           -> gap                            -> stolen
 *   running           wall passes, CPU time does not (the kernel takes stolen
 *                     time out of a thread's CPU time)  -> vanished             -> stolen
 *
 * Evidence counts only when it is large enough to have made the frame late.  All of it is read in
 * the slack after a frame that ended in time, so that the readings at an overrun concern that
 * frame alone; the steal counter, slow and in ticks of 10 ms, only now and then and when nothing
 * else explains an overrun.  So is the idle time of a core without counters of its idle states.
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
    RT_CAUSE_STOLEN,  /* hypervisor, SMI or a late timer took the core */
    RT_CAUSE_OWN,     /* the work was too long */
    RT_CAUSE_UNKNOWN, /* late, and nothing explains it */
    RT_CAUSE_COUNT
};

extern const char *const rt_cause_name[RT_CAUSE_COUNT];

/* Counters that only grow; two readings make a change. */
struct rt_evidence {
    uint64_t wall_ns;      /* when it was read */
    uint64_t faults;       /* minor + major */
    uint64_t switches;     /* involuntary */
    uint64_t cpu_ns;       /* thread CPU time */
    uint64_t run_delay_ns; /* runnable but waiting */
    uint64_t
        waker_delay_ns; /* the kernel's thread that wakes ordinary ones, runnable but waiting */
    uint64_t idle_ns;   /* of the core */
    uint64_t steal_ns;  /* of the core, in kernel ticks */
    uint64_t gap_ns;    /* time-stamp counter gaps while spinning */
    uint64_t asked_ns;  /* time the thread asked to sleep in its waits */
    uint64_t slept_ns;  /* time it slept in them */
    uint64_t waited_ns; /* time it waited for replies */
};

/* Sources that a machine may lack; the other counters are always there. */
enum rt_evidence_source {
    RT_EVIDENCE_CPU = 1,
    RT_EVIDENCE_RUN_DELAY = 2,
    RT_EVIDENCE_IDLE = 4,
    RT_EVIDENCE_STEAL = 8,
    RT_EVIDENCE_WAKER = 16, /* only of a thread without a real-time policy, and with PREEMPT_RT */
};

enum { RT_IDLE_STATE_MAX = 10 };

struct rt_cause_finder {
    unsigned sources;                    /* of enum rt_evidence_source */
    int schedstat_fd, waker_fd, stat_fd; /* -1: source not available */
    int idle_fd[RT_IDLE_STATE_MAX];
    int idle_count;
    int cpu;
    uint64_t tick_ns;
    const struct rt_clock_real *real; /* NULL under a fake clock */
    struct rt_evidence baseline;      /* the baseline; its steal_ns is as old as steal_read_ns */
    uint64_t read_ns_cost;            /* one baseline, measured at open */
    uint64_t steal_ns_cost, steal_read_ns;
    uint64_t tick_idle_ns, tick_asked_ns; /* idle time in ticks, and asked_ns, at steal_read_ns */
    uint64_t faults_at_seal, switches_at_seal;
    uint64_t waited_ns_total; /* the frame loop adds its waits for replies */
    uint64_t stolen_ns_total; /* gaps in the spin, CPU time that vanished, timers that came late */
};

/* Open the sources for the calling thread, which runs on cpu (-1: anywhere).  Context: frame
 * thread, before the first frame. */
void rt_cause_finder_open(struct rt_cause_finder *finder, const struct rt_clock_real *real,
                          int cpu);
/* Context: after the run. */
void rt_cause_finder_close(struct rt_cause_finder *finder);

/* The times of a frame, in nanoseconds on the frame's clock. */
struct rt_lateness {
    uint64_t period_ns;
    uint64_t start_error_ns; /* start - release */
    uint64_t busy_ns;        /* end - start */
    uint64_t waited_ns;      /* inside busy: waiting for a reply */
    uint64_t end_ns;         /* when it ended, CLOCK_MONOTONIC */
};

/* The one cause of a late frame by the precedence fault, switch, io, stolen, own, unknown, from
 * what changed between the end of the frame before and its own end, and the sources that saw it.
 * Pure. Context: any. */
enum rt_cause rt_cause_of(const struct rt_lateness *late, const struct rt_evidence *change,
                          unsigned sources);

/* The cause of a frame that has just ended late; what was read is the next baseline.
 * Context: frame. */
enum rt_cause rt_cause_finder_find(struct rt_cause_finder *finder, const struct rt_lateness *late);

/* In the slack before the next release, CLOCK_MONOTONIC: take a new baseline if there is ample
 * time. Context: frame. */
void rt_cause_finder_refresh(struct rt_cause_finder *finder, uint64_t release_ns);

/* Page faults of the calling thread since rt_cause_finder_open().  Context: frame thread. */
uint64_t rt_cause_finder_faults(const struct rt_cause_finder *finder);
/* Its involuntary switches since then.  Context: frame thread. */
uint64_t rt_cause_finder_switches(const struct rt_cause_finder *finder);
