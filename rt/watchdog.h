/*
 * The frame thread kicks, another thread looks.  A frame thread that has not kicked for limit_ns is
 * hung, and whoever looks sends the safe outputs.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rt_watchdog {
    _Atomic uint64_t kicked_ns; /* 0: not armed */
    uint64_t limit_ns;
    atomic_bool barked;
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

/* True once, for the first caller that finds the frame thread hung.  Context: any. */
static inline bool rt_watchdog_bark(struct rt_watchdog *dog, uint64_t now_ns)
{
    const uint64_t kicked_ns = atomic_load_explicit(&dog->kicked_ns, memory_order_relaxed);
    if (kicked_ns == 0 || now_ns < kicked_ns || now_ns - kicked_ns < dog->limit_ns)
        return false;
    return !atomic_exchange_explicit(&dog->barked, true, memory_order_relaxed);
}
