/*
 * The frame thread kicks, another thread looks.  A frame thread that has not kicked for limit_ns is
 * hung, and whoever looks sends the safe outputs.
 *
 * That is judged by who was looking on: where the whole machine stood still, whoever wakes first
 * finds the other silent.  Time in which nobody looked for longer than usual does not count.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt/estop.h"

enum { RT_WATCHDOG_AWAY_NS = 50000000 }; /* lookers come by every 20 ms, or a little later */

struct rt_watchdog {
    _Atomic uint64_t kicked_ns; /* 0: not armed */
    _Atomic uint64_t looked_ns; /* by whomever; 0: not yet */
    _Atomic uint64_t since_ns;  /* from when on somebody looks without a break */
    uint64_t limit_ns;
    atomic_bool barked;
    struct rt_estop
        *estop; /* raised by the bark, for a frame thread that comes back; may be NULL */
};

/* Context: frame. */
static inline void rt_watchdog_kick(struct rt_watchdog *dog, uint64_t now_ns)
{
    /* Relaxed: the number itself is the whole message. */
    atomic_store_explicit(&dog->kicked_ns, now_ns, memory_order_relaxed);
}

/* Armed from the first kick to this call.  Context: frame. */
static inline void rt_watchdog_disarm(struct rt_watchdog *dog)
{
    atomic_store_explicit(&dog->kicked_ns, 0, memory_order_relaxed);
}

/* Look, after a while in which perhaps nobody did; from when on the silence counts.
 * Context: as below. */
static inline uint64_t rt_watchdog_look(struct rt_watchdog *dog, uint64_t now_ns)
{
    const uint64_t away_ns =
        dog->limit_ns / 4 > RT_WATCHDOG_AWAY_NS ? dog->limit_ns / 4 : RT_WATCHDOG_AWAY_NS;
    /* Acquire and release: who sees that another has looked sees from when on that counts. */
    const uint64_t looked_ns = atomic_load_explicit(&dog->looked_ns, memory_order_acquire);
    if (looked_ns != 0 && now_ns > looked_ns && now_ns - looked_ns > away_ns)
        atomic_store_explicit(&dog->since_ns, now_ns, memory_order_relaxed);
    if (now_ns > looked_ns)
        atomic_store_explicit(&dog->looked_ns, now_ns, memory_order_release);
    return atomic_load_explicit(&dog->since_ns, memory_order_relaxed);
}

/* True once, for the first caller that finds the frame thread hung.  To be called every 20 ms or
 * so.  Context: any. */
static inline bool rt_watchdog_bark(struct rt_watchdog *dog, uint64_t now_ns)
{
    const uint64_t kicked_ns = atomic_load_explicit(&dog->kicked_ns, memory_order_relaxed);
    if (kicked_ns == 0)
        return false;
    const uint64_t since_ns = rt_watchdog_look(dog, now_ns);
    const uint64_t from_ns = kicked_ns > since_ns ? kicked_ns : since_ns;
    if (now_ns < from_ns || now_ns - from_ns < dog->limit_ns)
        return false;
    if (atomic_exchange_explicit(&dog->barked, true, memory_order_relaxed))
        return false;
    if (dog->estop)
        (void)rt_estop_raise(dog->estop, RT_ESTOP_WATCHDOG, now_ns);
    return true;
}
