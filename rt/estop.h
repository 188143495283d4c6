/*
 * The emergency stop is a latch and not a request.
 *
 * Any thread raises it to stop the machine: one counter is incremented and the frame loop's
 * boundary_wanted is set.  That takes no lock, no queue, no memory and no file, cannot be refused
 * and cannot wait, and is async-signal-safe.  The frame thread reads the latch at its next
 * boundary.
 *
 * Bound: of the frames that begin after a raise at most one runs before the stop is in force, and
 * that only in a catch-up, where the frames that were lost run without a boundary between them.
 * With the frame that may be under way, that is two frames from the raise to the boundary.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rt_estop_cause {
    RT_ESTOP_OPERATOR,      /* a request of the operator */
    RT_ESTOP_BUTTON,        /* the pilot's safe button */
    RT_ESTOP_OPERATOR_LOST, /* the operator is gone */
    RT_ESTOP_WATCHDOG,      /* the frame thread was away for too long */
    RT_ESTOP_CAUSE_COUNT
};
enum { RT_ESTOP_LATENCY_FRAMES_MAX = 2 }; /* from the raise to the boundary, as above */

struct rt_estop {
    _Atomic uint32_t raised[RT_ESTOP_CAUSE_COUNT];
    _Atomic uint64_t
        first_raise_ns;           /* of the first raise that was not read yet; 0: there is none */
    atomic_bool *boundary_wanted; /* the frame loop's */
};

/* The number of this raise among those of its cause, from 1.  Context: any. */
static inline uint32_t rt_estop_raise(struct rt_estop *estop, enum rt_estop_cause cause,
                                      uint64_t now_ns)
{
    uint64_t none = 0;
    /* Relaxed: the time is for the log only. */
    (void)atomic_compare_exchange_strong_explicit(&estop->first_raise_ns, &none, now_ns,
                                                  memory_order_relaxed, memory_order_relaxed);
    /* Release, both: a thread that reads the flag or the count also sees all earlier writes. */
    const uint32_t before =
        atomic_fetch_add_explicit(&estop->raised[cause], 1, memory_order_release);
    atomic_store_explicit(estop->boundary_wanted, true, memory_order_release);
    return before + 1;
}

static inline uint32_t rt_estop_count(const struct rt_estop *estop, enum rt_estop_cause cause)
{
    return atomic_load_explicit(&estop->raised[cause], memory_order_acquire);
}

/* The counts of the latch that the frame thread has read. */
struct rt_estop_reader {
    uint32_t read[RT_ESTOP_CAUSE_COUNT];
};
