#include "config/resolve/step_growth.h"

#include <complex.h>
#include <math.h>

typedef double complex number;

static number number_of(struct cfg_growth_rate z)
{
    return z.re + z.im * (number)_Complex_I;
}

/* The largest root of r^degree + c[degree-1] r^(degree-1) + ... + c[0], by Weierstrass' method. */
static double greatest_root(int degree, const number *c)
{
    enum { ROUNDS = 500 };
    number root[4];
    double greatest = 0.0, size = 1.0, moved = 1.0;
    for (int k = 0; k < degree; k++)
        size = fmax(size, 1.0 + cabs(c[k]));
    for (int k = 0; k < degree; k++)
        root[k] = size * cexp((0.4 + 2.0 * k) * (number)_Complex_I);
    for (int round = 0; round < ROUNDS && moved > 1e-15 * size; round++) {
        moved = 0.0;
        for (int k = 0; k < degree; k++) {
            number value = 1.0, others = 1.0;
            for (int j = degree - 1; j >= 0; j--)
                value = value * root[k] + c[j];
            for (int j = 0; j < degree; j++)
                others *= j != k ? root[k] - root[j] : 1.0;
            root[k] -= value / others;
            moved = fmax(moved, cabs(value / others));
        }
    }
    for (int k = 0; k < degree; k++)
        greatest = fmax(greatest, cabs(root[k]));
    return greatest;
}

/* x'' + c x' + k x = 0 with h c = -2 Re z and h^2 k = |z|^2. */
static double semi_implicit(struct cfg_growth_rate z)
{
    if (z.im == 0.0)
        return fmax(1.0, fabs(1.0 + z.re));
    const number c[2] = {1.0 + 2.0 * z.re, -(2.0 + 2.0 * z.re - (z.re * z.re + z.im * z.im))};
    return greatest_root(2, c);
}

double cfg_step_growth(enum dyn_integrator integrator, struct cfg_growth_rate rate)
{
    const number z = number_of(rate);
    switch (integrator) {
    case DYN_SEMI_IMPLICIT_EULER:
        return semi_implicit(rate);
    case DYN_RK2:
    case DYN_ROS2:
        return cabs(1.0 + z * (1.0 + z / 2.0));
    case DYN_RK4:
        return cabs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))));
    case DYN_AB2:
        return greatest_root(2, (number[]){z / 2.0, -1.0 - 1.5 * z});
    case DYN_AB3:
        return greatest_root(3,
                             (number[]){-5.0 / 12.0 * z, 16.0 / 12.0 * z, -1.0 - 23.0 / 12.0 * z});
    case DYN_AB4:
        return greatest_root(4, (number[]){9.0 / 24.0 * z, -37.0 / 24.0 * z, 59.0 / 24.0 * z,
                                           -1.0 - 55.0 / 24.0 * z});
    }
    return 1.0;
}

bool cfg_growth_is_faint(struct cfg_growth_rate z, double growth)
{
    static const double FAINT = 1e-5, PI = 3.141592653589793;
    const double in_two_periods = z.im != 0.0 ? log(growth) * 4.0 * PI / fabs(z.im) : HUGE_VAL;
    return fabs(z.re) <= FAINT * fabs(z.im) && in_two_periods <= log(2.0);
}

bool cfg_step_is_sound(enum dyn_integrator integrator, struct cfg_growth_rate z)
{
    static const double ROUNDING = 1e-9, SEEN = 1.0;
    const double size = hypot(z.re, z.im), growth = cfg_step_growth(integrator, z);
    if (growth <= 1.0 + ROUNDING)
        return true;
    return (z.re > 0.0 && size < SEEN) || cfg_growth_is_faint(z, growth);
}

double cfg_step_limit(enum dyn_integrator integrator, struct cfg_growth_rate mu)
{
    enum { HALVES = 60 };
    const double size = hypot(mu.re, mu.im);
    double good = 0.0, bad = 8.0 / size;
    if (size == 0.0 ||
        cfg_step_is_sound(integrator, (struct cfg_growth_rate){bad * mu.re, bad * mu.im}))
        return HUGE_VAL;
    for (int k = 0; k < HALVES; k++) {
        const double h = 0.5 * (good + bad);
        *(cfg_step_is_sound(integrator, (struct cfg_growth_rate){h * mu.re, h * mu.im}) ? &good
                                                                                        : &bad) = h;
    }
    return good;
}
