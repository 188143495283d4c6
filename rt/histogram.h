/*
 * Log-linear histogram of nanoseconds: every value from 0 to 2^63 in a bucket at most 1/32 of
 * it wide, so any percentile is right to 3 %; the largest and smallest value are kept exactly.
 */
#pragma once

#include <stdint.h>

enum { RT_HISTOGRAM_SUB_BUCKETS = 32, RT_HISTOGRAM_BUCKETS = (64 - 5) * RT_HISTOGRAM_SUB_BUCKETS };

struct rt_histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t max;
    uint64_t max_frame; /* frame at which max was seen */
    uint64_t min;       /* 0 while count is 0 */
    uint64_t bucket[RT_HISTOGRAM_BUCKETS];
};

/* Context: frame. */
void rt_histogram_add(struct rt_histogram *histogram, uint64_t value_ns, uint64_t frame);

/* The value that fraction (0..1) of the values do not exceed, to one bucket, taking the values of a
 * bucket as spread over it evenly; never above max; 0 when empty.  Context: any. */
uint64_t rt_histogram_quantile(const struct rt_histogram *histogram, double fraction);
