/*
 * A clock that moves only on request: waits reach their deadline plus what the script says,
 * and work is spent by hand.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rt/clock.h"

struct fake_clock {
    uint64_t now_ns;
    const int64_t *wake_late_ns; /* one per wait; negative: the clock stands before the deadline */
    size_t wake_count;           /* waits beyond the script are punctual */
    size_t waits;
};

static inline uint64_t fake_clock_now(void *self)
{
    const struct fake_clock *clock = self;
    return clock->now_ns;
}

static inline void fake_clock_wait(void *self, uint64_t deadline_ns)
{
    struct fake_clock *clock = self;
    const int64_t late_ns =
        clock->waits < clock->wake_count ? clock->wake_late_ns[clock->waits] : 0;
    clock->waits++;
    if (clock->now_ns < deadline_ns)
        clock->now_ns = deadline_ns;
    clock->now_ns += (uint64_t)late_ns;
}

static inline void fake_clock_spend(struct fake_clock *clock, int64_t ns)
{
    clock->now_ns += (uint64_t)ns;
}

static inline struct rt_clock fake_clock_seam(struct fake_clock *clock)
{
    return (struct rt_clock){
        .now_ns = fake_clock_now, .wait_until_ns = fake_clock_wait, .self = clock};
}
