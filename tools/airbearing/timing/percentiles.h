/*
 * How a quantity is spread over a run: every value is kept, so every percentile is one of them.
 *
 * The percentile of a fraction f is the value of rank ceil(f count), the nearest rank.  A run that
 * has no value beyond it is too short to know it: then it is not given at all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SPREAD_FRACTION_COUNT = 5 };
extern const double spread_fraction[SPREAD_FRACTION_COUNT];    /* 0.5 ... 0.9999 */
extern const char *const spread_name[SPREAD_FRACTION_COUNT];   /* "p50" ... "p9999" */
extern const char *const spread_header[SPREAD_FRACTION_COUNT]; /* "50 %" ... */

struct spread {
    uint64_t *value; /* as they came; in ascending order once sorted */
    size_t count, room;
    uint64_t max, max_frame;
    double sum;
    bool sorted;
};

/* False when memory ran out. */
bool spread_add(struct spread *spread, uint64_t value, uint64_t frame);
void spread_sort(struct spread *spread);
/* False when the spread has no value beyond that fraction.  Sorted spreads only. */
bool spread_at(const struct spread *spread, double fraction, uint64_t *value);
/* How many values are larger.  Sorted spreads only. */
size_t spread_above(const struct spread *spread, uint64_t value);
/* The percentile text of HdrHistogram, in microseconds.  Sorted spreads only. */
void spread_print_hgrm(const struct spread *spread, FILE *out);
void spread_free(struct spread *spread);
