#include "tools/board/vehicles/law.h"

#include <stdbool.h>

#include "tools/board/vehicles/quaternion.h"

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The most that all three wheels together can accelerate the body about the axis e. */
static double braking(const struct board_law *law, const double e[3])
{
    double least = HUGE_VAL;
    for (int i = 0; i < 3; i++)
        least = fmin(least, law->torque_max / (law->inertia[i] * fmax(fabs(e[i]), 1e-3)));
    return law->authority * least;
}

/* speed(p) and its derivative; true in the linear part. */
static bool profile(const struct board_law *law, double a, double p, double *speed, double *slope)
{
    const double k = law->attitude_gain;
    const bool linear = p <= a / (k * k);

    *speed = linear ? k * p : sqrt(2.0 * a * p - a * a / (k * k));
    *slope = linear ? k : a / *speed;
    if (*speed > law->rate_limit) {
        *speed = law->rate_limit;
        *slope = 0.0;
    }
    return linear;
}

/* The torque that is wanted, without regard to limits; true near the target. */
static bool wanted_torque(const struct board_law *law, const double attitude[4],
                          const double rate[3], double torque[3], double rate_error[3])
{
    double r[3], e[3] = {0.0, 0.0, 0.0}, speed, slope;
    board_quaternion_difference(law->target, attitude, r);
    const double p = length(r);
    for (int i = 0; i < 3 && p > 0.0; i++)
        e[i] = r[i] / p;

    const bool near = profile(law, braking(law, e), p, &speed, &slope);
    const double ratio = p > 0.0 ? speed / p : law->attitude_gain; /* derivative across the axis */
    const double along = rate[0] * e[0] + rate[1] * e[1] + rate[2] * e[2];

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double forward = -slope * along * e[i] - ratio * (rate[i] - along * e[i]);
        const double gyroscopic = (law->inertia[k] - law->inertia[j]) * rate[j] * rate[k];
        rate_error[i] = -speed * e[i] - rate[i];
        torque[i] = law->inertia[i] * (law->rate_gain * rate_error[i] + forward) + gyroscopic;
    }
    return near;
}

/* Limit the torque to that of the wheels and keep its direction; true when it was limited. */
static bool limit(double torque[3], double torque_max)
{
    const double most = fmax(fabs(torque[0]), fmax(fabs(torque[1]), fabs(torque[2])));
    for (int i = 0; i < 3 && most > torque_max; i++)
        torque[i] *= torque_max / most;
    return most > torque_max;
}

static void integrate_trim(struct board_law *law, const double rate_error[3], double dt)
{
    const double bound = 0.25 * law->torque_max;
    for (int i = 0; i < 3; i++) {
        law->trim[i] += law->trim_gain * law->inertia[i] * rate_error[i] * dt;
        law->trim[i] = fmin(fmax(law->trim[i], -bound), bound);
    }
}

void board_law_update(struct board_law *law, const double attitude[4], const double rate[3],
                      double dt)
{
    const double pass = 1.0 - exp(-2.0 * M_PI * law->roll_off * dt);
    double torque[3], rate_error[3];

    const bool near = wanted_torque(law, attitude, rate, torque, rate_error);
    for (int i = 0; i < 3; i++)
        law->torque[i] += pass * (torque[i] + law->trim[i] - law->torque[i]);
    const bool limited = limit(law->torque, law->torque_max);
    if (near && !limited)
        integrate_trim(law, rate_error, dt);
}

double board_law_error(const struct board_law *law, const double attitude[4])
{
    double r[3];
    board_quaternion_difference(law->target, attitude, r);
    return length(r);
}
