#include "tools/airbearing/timing/effective_latency.h"

#include <math.h>

struct series {
    const struct delay_sample *asked, *done;
    size_t asked_count, done_count;
};

/* Sums of a straight-line fit. */
struct sums {
    double n, u, y, uu, uy, yy;
};

/* Both series are held from sample to sample, so the integral is a sum over the intervals in
 * which neither changes; one pass goes through both. */
static struct sums sums_at(const struct series *series, double delay, double from)
{
    const struct delay_sample *asked = series->asked, *done = series->done;
    const double end = done[series->done_count - 1].seconds;
    struct sums sums = {0};
    size_t u = 0, y = 0;
    for (double at = from, next; at < end; at = next) {
        while (u + 1 < series->asked_count && asked[u + 1].seconds + delay <= at)
            u++;
        while (y + 1 < series->done_count && done[y + 1].seconds <= at)
            y++;
        const double change = u + 1 < series->asked_count ? asked[u + 1].seconds + delay : end;
        const double sample = y + 1 < series->done_count ? done[y + 1].seconds : end;
        next = fmin(end, fmin(change, sample));
        const double w = next - at;
        sums.n += w;
        sums.u += w * asked[u].value;
        sums.y += w * done[y].value;
        sums.uu += w * asked[u].value * asked[u].value;
        sums.uy += w * asked[u].value * done[y].value;
        sums.yy += w * done[y].value * done[y].value;
    }
    return sums;
}

static struct effective_latency fit_at(const struct series *series, double delay, double from)
{
    const struct sums s = sums_at(series, delay, from);
    const double uu = s.uu - s.u * s.u / s.n, uy = s.uy - s.u * s.y / s.n;
    const double yy = s.yy - s.y * s.y / s.n;
    const bool moves = s.n > 0.0 && uu > 1e-12 * s.uu && yy > 1e-12 * s.yy;
    return (struct effective_latency){
        .seconds = delay,
        .explained = moves ? uy * uy / (uu * yy) : 0.0,
        .gain = moves ? uy / uu : 0.0,
    };
}

/* The best of the delays from low to high. */
static struct effective_latency best_of(const struct series *series, double low, double high,
                                        double step, double from)
{
    struct effective_latency best = {0};
    const long count = lround((high - low) / step);
    for (long i = 0; i <= count; i++) {
        const struct effective_latency fit = fit_at(series, low + (double)i * step, from);
        if (i == 0 || fit.explained > best.explained)
            best = fit;
    }
    return best;
}

bool delay_fit(const struct delay_sample *asked, size_t asked_count,
               const struct delay_sample *done, size_t done_count, double limit, double step,
               struct effective_latency *delay)
{
    const struct series series = {asked, done, asked_count, done_count};
    *delay = (struct effective_latency){0};
    if (asked_count < 2 || done_count < 8 || !(step > 0.0) || !(limit > step))
        return false;
    /* The same interval for every delay, and only where u is known. */
    const double from = fmax(asked[0].seconds + limit, done[0].seconds);
    const struct effective_latency rough = best_of(&series, 0.0, limit, step, from);
    const double low = fmax(0.0, rough.seconds - step), fine = step / 100.0;
    const double high = fmin(limit, rough.seconds + step);
    *delay = best_of(&series, low, high, fine, from);
    return delay->explained >= 0.5;
}
