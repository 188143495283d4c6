/*
 * The distribution of a quantity over a run: every value is kept, so every percentile is one of
 * them.
 *
 * The percentile of a fraction f is the value of rank ceil(f count), the nearest rank.  Without a
 * value beyond it the run is too short, and the percentile is not given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PERCENTILE_COUNT = 5 };
extern const double percentile_fraction[PERCENTILE_COUNT];    /* 0.5 ... 0.9999 */
extern const char *const percentile_name[PERCENTILE_COUNT];   /* "p50" ... "p9999" */
extern const char *const percentile_header[PERCENTILE_COUNT]; /* "50 %" ... */

struct percentiles {
    uint64_t *value; /* as they came; in ascending order once sorted */
    size_t count, room;
    uint64_t max, max_frame;
    double sum;
    bool sorted;
};

/* False when memory ran out. */
bool percentiles_add(struct percentiles *percentiles, uint64_t value, uint64_t frame);
void percentiles_sort(struct percentiles *percentiles);
/* False when the spread has no value beyond that fraction.  Sorted spreads only. */
bool percentiles_at(const struct percentiles *percentiles, double fraction, uint64_t *value);
/* How many values are larger.  Sorted spreads only. */
size_t percentiles_above(const struct percentiles *percentiles, uint64_t value);
/* The percentile text of HdrHistogram, in microseconds.  Sorted spreads only. */
void percentiles_print_hgrm(const struct percentiles *percentiles, FILE *out);
void percentiles_free(struct percentiles *percentiles);
