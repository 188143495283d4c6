#include "io/device/gauss_markov.h"

#include <math.h>

#include "rt/check.h"

/*
 * 1 - e^-r for |r| <= ln(2)/2, by Taylor: r (1 - r/2 (1 - r/3 (...))).  The first term left out is
 * below 1e-19 of the sum.
 */
static double lost_small(double r)
{
    double sum = 1.0;
    for (int k = 15; k >= 2; k--)
        sum = 1.0 - sum * r * (1.0 / k);
    return sum * r;
}

/* e^-x = 2^-k e^-r with x = k ln 2 + r.  The difference from 1 keeps its digits where x is
 * small. */
struct io_gauss_markov io_gauss_markov_make(double sigma, double time, double dt)
{
    RT_CHECK(sigma >= 0.0 && time >= 0.0 && dt > 0.0);
    const double x = dt / time;
    if (!(x < 700.0))
        return (struct io_gauss_markov){.decay = 0.0, .noise_gain = sigma};

    const double k = rint(x * 0x1.71547652b82fep+0);
    const double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
    const double small = lost_small(r), decay = ldexp(1.0 - small, -(int)k);
    const double lost = k > 0.0 ? 1.0 - decay : small;
    return (struct io_gauss_markov){.decay = decay,
                                    .noise_gain = sigma * sqrt(lost * (1.0 + decay))};
}
