#include "rt/histogram.h"

#include <math.h>

enum { SUB_BITS = 5 };

/* Below 32 every value has its own bucket; above, 32 buckets per power of two. */
static unsigned bucket_of(uint64_t value)
{
    if (value < RT_HISTOGRAM_SUB_BUCKETS)
        return (unsigned)value;
    if (value > INT64_MAX)
        return RT_HISTOGRAM_BUCKETS - 1;
    const unsigned shift = 63u - (unsigned)__builtin_clzll(value) - SUB_BITS;
    return (shift << SUB_BITS) + (unsigned)(value >> shift);
}

/* The largest value that falls into this bucket. */
static uint64_t bucket_bound(unsigned bucket)
{
    if (bucket < 2 * RT_HISTOGRAM_SUB_BUCKETS)
        return bucket;
    const unsigned shift = (bucket >> SUB_BITS) - 1;
    const uint64_t lowest = (uint64_t)(bucket - (shift << SUB_BITS)) << shift;
    return lowest + ((uint64_t)1 << shift) - 1;
}

void rt_histogram_add(struct rt_histogram *histogram, uint64_t value_ns, uint64_t frame)
{
    if (histogram->count == 0 || value_ns > histogram->max) {
        histogram->max = value_ns;
        histogram->max_frame = frame;
    }
    if (histogram->count == 0 || value_ns < histogram->min)
        histogram->min = value_ns;
    histogram->count++;
    histogram->sum += value_ns;
    histogram->bucket[bucket_of(value_ns)]++;
}

/* The rank-th of count values in a bucket, as if they were spread over it evenly. */
static uint64_t value_in_bucket(unsigned bucket, uint64_t rank, uint64_t count)
{
    const uint64_t bound = bucket_bound(bucket);
    const uint64_t width = bucket == 0 ? 1 : bound - bucket_bound(bucket - 1);
    return bound - (uint64_t)((double)(width - 1) * (double)(count - rank) / (double)count);
}

uint64_t rt_histogram_quantile(const struct rt_histogram *histogram, double fraction)
{
    const double wanted = ceil(fraction * (double)histogram->count);
    const uint64_t rank = wanted < 1.0 ? 1 : (uint64_t)wanted;
    uint64_t seen = 0;
    for (unsigned b = bucket_of(histogram->min); b < RT_HISTOGRAM_BUCKETS; b++) {
        seen += histogram->bucket[b];
        if (seen >= rank) {
            const uint64_t value =
                value_in_bucket(b, rank + histogram->bucket[b] - seen, histogram->bucket[b]);
            return value < histogram->max ? value : histogram->max;
        }
    }
    return histogram->max;
}
