#include "tools/airbearing/timing/delay.h"

#include <math.h>

struct series {
    const struct delay_sample *asked, *done;
    size_t asked_count, done_count;
};

/* Sums of a straight-line fit. */
struct sums {
    double n, u, y, uu, uy, yy;
};

/* Both series are walked once; before the first command nothing is known of u. */
static struct sums sums_at(const struct series *series, double delay, double from)
{
    struct sums sums = {0};
    size_t at = 0;
    for (size_t i = 0; i < series->done_count; i++) {
        const double when = series->done[i].seconds - delay, y = series->done[i].value;
        if (series->done[i].seconds < from)
            continue;
        while (at + 1 < series->asked_count && series->asked[at + 1].seconds <= when)
            at++;
        const double u = series->asked[at].value;
        sums.n += 1.0;
        sums.u += u;
        sums.y += y;
        sums.uu += u * u;
        sums.uy += u * y;
        sums.yy += y * y;
    }
    return sums;
}

static struct delay fit_at(const struct series *series, double delay, double from)
{
    const struct sums s = sums_at(series, delay, from);
    const double uu = s.uu - s.u * s.u / s.n, uy = s.uy - s.u * s.y / s.n;
    const double yy = s.yy - s.y * s.y / s.n;
    const bool moves = s.n >= 8.0 && uu > 1e-12 * s.uu && yy > 1e-12 * s.yy;
    return (struct delay){
        .seconds = delay,
        .explained = moves ? uy * uy / (uu * yy) : 0.0,
        .gain = moves ? uy / uu : 0.0,
        .used = (size_t)s.n,
    };
}

/* The best of the delays from low to high. */
static struct delay best_of(const struct series *series, double low, double high, double step,
                            double from)
{
    struct delay best = {0};
    const long count = lround((high - low) / step);
    for (long i = 0; i <= count; i++) {
        const struct delay fit = fit_at(series, low + (double)i * step, from);
        if (i == 0 || fit.explained > best.explained)
            best = fit;
    }
    return best;
}

/* Held commands make a staircase of the fit: the answer is the middle of the best stair. */
static double far_edge(const struct series *series, double delay, double step, double limit,
                       double from)
{
    const double best = fit_at(series, delay, from).explained;
    double edge = delay;
    while (edge + step <= limit && fit_at(series, edge + step, from).explained >= best - 1e-12)
        edge += step;
    return edge;
}

bool delay_fit(const struct delay_sample *asked, size_t asked_count,
               const struct delay_sample *done, size_t done_count, double limit, double step,
               struct delay *delay)
{
    const struct series series = {asked, done, asked_count, done_count};
    *delay = (struct delay){0};
    if (asked_count < 2 || done_count < 8 || !(step > 0.0) || !(limit > step))
        return false;
    const double from = asked[0].seconds + limit; /* the same samples for every delay */
    const struct delay rough = best_of(&series, 0.0, limit, step, from);
    const double low = fmax(0.0, rough.seconds - step), fine = step / 100.0;
    const double high = fmin(limit, rough.seconds + step);
    *delay = best_of(&series, low, high, fine, from);
    delay->seconds = (delay->seconds + far_edge(&series, delay->seconds, fine, limit, from)) / 2.0;
    return delay->explained >= 0.5;
}
