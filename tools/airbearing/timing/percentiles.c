#include "tools/airbearing/timing/percentiles.h"

#include <math.h>
#include <stdlib.h>

const double percentile_fraction[PERCENTILE_COUNT] = {0.5, 0.9, 0.99, 0.999, 0.9999};
const char *const percentile_name[PERCENTILE_COUNT] = {"p50", "p90", "p99", "p999", "p9999"};
const char *const percentile_header[PERCENTILE_COUNT] = {"50 %", "90 %", "99 %", "99.9 %",
                                                         "99.99 %"};

bool percentiles_add(struct percentiles *percentiles, uint64_t value, uint64_t frame)
{
    if (percentiles->count == percentiles->room) {
        const size_t room = percentiles->room ? 2 * percentiles->room : 1024;
        uint64_t *grown = realloc(percentiles->value, room * sizeof *grown);
        if (!grown)
            return false;
        percentiles->value = grown;
        percentiles->room = room;
    }
    if (percentiles->count == 0 || value > percentiles->max) {
        percentiles->max = value;
        percentiles->max_frame = frame;
    }
    percentiles->value[percentiles->count++] = value;
    percentiles->sum += (double)value;
    percentiles->sorted = false;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void percentiles_sort(struct percentiles *percentiles)
{
    if (!percentiles->sorted && percentiles->count > 0)
        qsort(percentiles->value, percentiles->count, sizeof *percentiles->value, by_size);
    percentiles->sorted = true;
}

/* The nearest rank, from 1, with a small tolerance, so that 0.999 of 1000 is 999 although 0.999
 * is not exact in binary. */
static size_t rank_of(double fraction, size_t count)
{
    const double wanted = ceil(fraction * (double)count - 1e-6);
    return wanted < 1.0 ? 1 : (size_t)wanted;
}

bool percentiles_at(const struct percentiles *percentiles, double fraction, uint64_t *value)
{
    const size_t rank = rank_of(fraction, percentiles->count);
    if (rank >= percentiles->count)
        return false;
    *value = percentiles->value[rank - 1];
    return true;
}

size_t percentiles_above(const struct percentiles *percentiles, uint64_t value)
{
    size_t low = 0, high = percentiles->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (percentiles->value[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return percentiles->count - low;
}

static void print_hgrm_line(const struct percentiles *percentiles, size_t rank, double fraction,
                            FILE *out)
{
    const double us = (double)percentiles->value[rank - 1] * 1e-3;
    fprintf(out, "%12.3f %2.12f %10zu", us, fraction, rank);
    if (fraction < 1.0)
        fprintf(out, " %14.2f\n", 1.0 / (1.0 - fraction));
    else
        fprintf(out, "\n");
}

static double deviation(const struct percentiles *percentiles, double mean)
{
    double square = 0.0;
    for (size_t i = 0; i < percentiles->count; i++)
        square += ((double)percentiles->value[i] - mean) * ((double)percentiles->value[i] - mean);
    return sqrt(square / (double)percentiles->count);
}

/* Five steps to each halving of the rest, as in HdrHistogram. */
void percentiles_print_hgrm(const struct percentiles *percentiles, FILE *out)
{
    enum { STEPS = 5 };
    size_t last = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    for (int half = 0; half < 52 && last < percentiles->count; half++) {
        for (int step = 0; step < STEPS && last < percentiles->count; step++) {
            const double left = ldexp(1.0, -half);
            const double fraction = 1.0 - left + left / 2.0 * step / STEPS;
            const size_t rank = rank_of(fraction, percentiles->count);
            if (rank >= percentiles->count)
                last = percentiles->count;
            else
                print_hgrm_line(percentiles, last = rank, fraction, out);
        }
    }
    if (percentiles->count == 0)
        return;
    print_hgrm_line(percentiles, percentiles->count, 1.0, out);
    const double mean = percentiles->sum / (double)percentiles->count;
    fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean * 1e-3,
            deviation(percentiles, mean) * 1e-3);
    fprintf(out, "#[Max     = %12.3f, Total count    = %12zu]\n", (double)percentiles->max * 1e-3,
            percentiles->count);
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", 1, 1);
}

void percentiles_free(struct percentiles *percentiles)
{
    free(percentiles->value);
    *percentiles = (struct percentiles){0};
}
