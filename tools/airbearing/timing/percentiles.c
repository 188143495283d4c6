#include "tools/airbearing/timing/percentiles.h"

#include <math.h>
#include <stdlib.h>

const double percentile_fraction[PERCENTILE_COUNT] = {0.5, 0.9, 0.99, 0.999, 0.9999};
const char *const percentile_name[PERCENTILE_COUNT] = {"p50", "p90", "p99", "p999", "p9999"};
const char *const percentile_header[PERCENTILE_COUNT] = {"50 %", "90 %", "99 %", "99.9 %",
                                                         "99.99 %"};

bool percentiles_add(struct percentiles *spread, uint64_t value, uint64_t frame)
{
    if (spread->count == spread->room) {
        const size_t room = spread->room ? 2 * spread->room : 1024;
        uint64_t *grown = realloc(spread->value, room * sizeof *grown);
        if (!grown)
            return false;
        spread->value = grown;
        spread->room = room;
    }
    if (spread->count == 0 || value > spread->max) {
        spread->max = value;
        spread->max_frame = frame;
    }
    spread->value[spread->count++] = value;
    spread->sum += (double)value;
    spread->sorted = false;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void percentiles_sort(struct percentiles *spread)
{
    if (!spread->sorted && spread->count > 0)
        qsort(spread->value, spread->count, sizeof *spread->value, by_size);
    spread->sorted = true;
}

/* The nearest rank, from 1, with a small tolerance, so that 0.999 of 1000 is 999 although 0.999
 * is not exact in binary. */
static size_t rank_of(double fraction, size_t count)
{
    const double wanted = ceil(fraction * (double)count - 1e-6);
    return wanted < 1.0 ? 1 : (size_t)wanted;
}

bool percentiles_at(const struct percentiles *spread, double fraction, uint64_t *value)
{
    const size_t rank = rank_of(fraction, spread->count);
    if (rank >= spread->count)
        return false;
    *value = spread->value[rank - 1];
    return true;
}

size_t percentiles_above(const struct percentiles *spread, uint64_t value)
{
    size_t low = 0, high = spread->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spread->value[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return spread->count - low;
}

static void print_hgrm_line(const struct percentiles *spread, size_t rank, double fraction,
                            FILE *out)
{
    const double us = (double)spread->value[rank - 1] * 1e-3;
    fprintf(out, "%12.3f %2.12f %10zu", us, fraction, rank);
    if (fraction < 1.0)
        fprintf(out, " %14.2f\n", 1.0 / (1.0 - fraction));
    else
        fprintf(out, "\n");
}

static double deviation(const struct percentiles *spread, double mean)
{
    double square = 0.0;
    for (size_t i = 0; i < spread->count; i++)
        square += ((double)spread->value[i] - mean) * ((double)spread->value[i] - mean);
    return sqrt(square / (double)spread->count);
}

/* Five steps to each halving of the rest, as in HdrHistogram. */
void percentiles_print_hgrm(const struct percentiles *spread, FILE *out)
{
    enum { STEPS = 5 };
    size_t last = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    for (int half = 0; half < 52 && last < spread->count; half++) {
        for (int step = 0; step < STEPS && last < spread->count; step++) {
            const double left = ldexp(1.0, -half);
            const double fraction = 1.0 - left + left / 2.0 * step / STEPS;
            const size_t rank = rank_of(fraction, spread->count);
            if (rank >= spread->count)
                last = spread->count;
            else
                print_hgrm_line(spread, last = rank, fraction, out);
        }
    }
    if (spread->count == 0)
        return;
    print_hgrm_line(spread, spread->count, 1.0, out);
    const double mean = spread->sum / (double)spread->count;
    fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean * 1e-3,
            deviation(spread, mean) * 1e-3);
    fprintf(out, "#[Max     = %12.3f, Total count    = %12zu]\n", (double)spread->max * 1e-3,
            spread->count);
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", 1, 1);
}

void percentiles_free(struct percentiles *spread)
{
    free(spread->value);
    *spread = (struct percentiles){0};
}
