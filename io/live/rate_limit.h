/*
 * A leaky-bucket rate limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct io_rate_limit {
    double level;
    uint64_t at_ns; /* the time of this level; 0: empty, never used */
};

/* Add an amount.  False: the bucket is full.  Context: any. */
static inline bool io_rate_limit_admit(struct io_rate_limit *limit, double amount, double rate_hz,
                                       double room, uint64_t now_ns)
{
    const double since_s = now_ns > limit->at_ns ? (double)(now_ns - limit->at_ns) * 1e-9 : 0.0;
    const double left = limit->level - since_s * rate_hz;
    limit->level = (left > 0.0 ? left : 0.0) + amount;
    limit->at_ns = now_ns;
    return limit->level <= room;
}
