/*
 * Everything that dynamics/batch_lanes.h wants of a number, with a count.  The headers are C: what
 * C++ calls otherwise is renamed here, and the standard's own headers come first.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#define _Alignas alignas

#include "tools/airbearing/bench/counting.h"

static struct counting_tally tally;

struct wide {
    double value;
};

static inline wide operator+(wide a, wide b)
{
    tally.add++;
    return wide{a.value + b.value};
}

static inline wide operator-(wide a, wide b)
{
    tally.add++;
    return wide{a.value - b.value};
}

static inline wide operator*(wide a, wide b)
{
    tally.mul++;
    return wide{a.value * b.value};
}

static inline wide operator-(wide a)
{
    return wide{-a.value};
}

static inline wide wide_splat(double a)
{
    return wide{a};
}

static inline wide wide_load(const double *row)
{
    return wide{*row};
}

static inline void wide_store(double *row, wide a)
{
    *row = a.value;
}

static inline wide wide_inverse(wide D)
{
    tally.div++;
    return wide{D.value > 0.0 ? 1.0 / D.value : (double)NAN};
}

static inline wide wide_where_positive(wide x, wide a)
{
    return x.value > 0.0 ? a : wide{0.0};
}

static inline wide wide_tanh(wide x)
{
    tally.tanhs++;
    return wide{tanh(x.value)};
}

static inline void wide_sine_cosine(wide x, wide *sine, wide *cosine)
{
    tally.sine_cosine++;
    *sine = wide{sin(x.value)};
    *cosine = wide{cos(x.value)};
}

#define WIDE_INLINE      static inline
#define DYN_WIDE         1
#define DYN_BATCH_KERNEL counting_kernel
#include "dynamics/batch_lanes.h"

struct counting_tally counting_take(void)
{
    const struct counting_tally taken = tally;
    tally = counting_tally{};
    return taken;
}
