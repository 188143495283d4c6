#include "io/device/noise.h"

#include <math.h>

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

/* A bijection of 64 bits in which every input bit reaches every output bit (the SplitMix64
 * finaliser). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t draw(struct io_noise *noise)
{
    uint64_t *s = noise->s;
    const uint64_t out = rotate(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return out;
}

/*
 * Every step can be undone: b comes back from s[0], then a from s[2], then stream and seed.  So
 * distinct pairs have distinct states, and s[0], s[1] are never both zero; the generator could not
 * leave the all-zero state.
 */
void io_noise_seed(struct io_noise *noise, uint64_t seed, uint64_t stream)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio, odd */
    const uint64_t a = mix(seed + golden);
    const uint64_t b = mix(stream + a);

    noise->s[0] = mix(b + golden);
    noise->s[1] = mix(b + 2 * golden);
    noise->s[2] = mix(a + rotate(b, 32));
    noise->s[3] = mix(a + rotate(b, 16) + golden);
}

double io_noise_uniform(struct io_noise *noise)
{
    return (double)(draw(noise) >> 11) * 0x1p-53;
}

/*
 * ln x = e ln 2 + 2 atanh z with x = m 2^e, m in [sqrt 1/2, sqrt 2) and z = (m - 1) / (m + 1).
 * |z| < 0.172, so eleven terms of atanh z = z + z^3/3 + z^5/5 + ... reach the last bit.
 */
static double natural_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2.0;
        e--;
    }
    const double z = (m - 1.0) / (m + 1.0), zz = z * z;
    double sum = 0.0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * zz + 1.0 / k;
    return 2.0 * z * sum + e * 0x1.62e42fefa39efp-1;
}

/* cos and sin of a with |a| <= pi/4: Taylor, whose first term left out is below 1e-18. */
static void cos_sin_small(double a, double *c, double *s)
{
    const double aa = -a * a;
    double cosine = 1.0, sine = 1.0;
    for (int k = 16; k >= 2; k -= 2) {
        cosine = 1.0 + cosine * aa * (1.0 / (k * (k - 1)));
        sine = 1.0 + sine * aa * (1.0 / (k * (k + 1)));
    }
    *c = cosine;
    *s = sine * a;
}

/* cos and sin of u turns, 0 <= u < 1: the nearest quarter turn exactly, the rest by series. */
static void cos_sin_turns(double u, double *c, double *s)
{
    const int quarter = (int)(4.0 * u + 0.5);
    double x, y;
    cos_sin_small((u - 0.25 * quarter) * 0x1.921fb54442d18p+2, &x, &y);

    switch (quarter & 3) {
    case 0:
        *c = x, *s = y;
        break;
    case 1:
        *c = -y, *s = x;
        break;
    case 2:
        *c = -x, *s = -y;
        break;
    default:
        *c = y, *s = -x;
        break;
    }
}

/* Box and Muller: r = sqrt(-2 ln u1), angle = 2 pi u2.  1 - u is in (0, 1], where ln is finite. */
void io_noise_normal_pair(struct io_noise *noise, double pair[2])
{
    const double r = sqrt(-2.0 * natural_log(1.0 - io_noise_uniform(noise)));
    double c, s;
    cos_sin_turns(io_noise_uniform(noise), &c, &s);
    pair[0] = r * c;
    pair[1] = r * s;
}

double io_noise_normal(struct io_noise *noise)
{
    double pair[2];
    io_noise_normal_pair(noise, pair);
    return pair[0];
}
