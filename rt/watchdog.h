/*
 * The frame thread kicks the watchdog, other threads poll it.  A frame thread that has not kicked
 * for limit_ns is hung, and the thread that finds it so invalidates the outputs.
 *
 * Only time during which some thread polled without a break counts: when the whole machine stood
 * still, neither side is hung.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt/estop.h"

enum { RT_WATCHDOG_POLL_GAP_NS = 50000000 }; /* threads poll every 20 ms, or a little later */

struct rt_watchdog {
    _Atomic uint64_t kicked_ns;        /* 0: not armed */
    _Atomic uint64_t polled_ns;        /* time of the last poll by any thread; 0: none yet */
    _Atomic uint64_t watched_since_ns; /* since when some thread has polled without a break */
    uint64_t limit_ns;
    atomic_bool expired;
    struct rt_estop *estop; /* raised when the watchdog expires, for a frame thread that comes back;
                               may be NULL */
};

/* Context: frame. */
static inline void rt_watchdog_kick(struct rt_watchdog *watchdog, uint64_t now_ns)
{
    /* Relaxed: the number itself is the whole message. */
    atomic_store_explicit(&watchdog->kicked_ns, now_ns, memory_order_relaxed);
}

/* Armed from the first kick to this call.  Context: frame. */
static inline void rt_watchdog_disarm(struct rt_watchdog *watchdog)
{
    atomic_store_explicit(&watchdog->kicked_ns, 0, memory_order_relaxed);
}

/* Poll; returns the time from which the silence counts, after any gap in the polling.  Context: as
 * below. */
static inline uint64_t rt_watchdog_poll(struct rt_watchdog *watchdog, uint64_t now_ns)
{
    const uint64_t away_ns = watchdog->limit_ns / 4 > RT_WATCHDOG_POLL_GAP_NS
                                 ? watchdog->limit_ns / 4
                                 : RT_WATCHDOG_POLL_GAP_NS;
    /* Acquire and release: a thread that sees the poll of another also sees watched_since_ns. */
    const uint64_t polled_ns = atomic_load_explicit(&watchdog->polled_ns, memory_order_acquire);
    if (polled_ns != 0 && now_ns > polled_ns && now_ns - polled_ns > away_ns)
        atomic_store_explicit(&watchdog->watched_since_ns, now_ns, memory_order_relaxed);
    if (now_ns > polled_ns)
        atomic_store_explicit(&watchdog->polled_ns, now_ns, memory_order_release);
    return atomic_load_explicit(&watchdog->watched_since_ns, memory_order_relaxed);
}

/* True once, for the first caller that finds the frame thread hung.  To be called every 20 ms or
 * so.  Context: any. */
static inline bool rt_watchdog_expired(struct rt_watchdog *watchdog, uint64_t now_ns)
{
    const uint64_t kicked_ns = atomic_load_explicit(&watchdog->kicked_ns, memory_order_relaxed);
    if (kicked_ns == 0)
        return false;
    const uint64_t watched_since_ns = rt_watchdog_poll(watchdog, now_ns);
    const uint64_t from_ns = kicked_ns > watched_since_ns ? kicked_ns : watched_since_ns;
    if (now_ns < from_ns || now_ns - from_ns < watchdog->limit_ns)
        return false;
    if (atomic_exchange_explicit(&watchdog->expired, true, memory_order_relaxed))
        return false;
    if (watchdog->estop)
        (void)rt_estop_raise(watchdog->estop, RT_ESTOP_WATCHDOG, now_ns);
    return true;
}
