#include "tools/board/vehicles/estimator.h"

#include <string.h>

#include "tools/board/vehicles/quaternion.h"

/* The assumed noise of the sensors: a good MEMS gyro and a modest star tracker. */
static const double gyro_density = 1e-4;   /* rad/s / sqrt(Hz) */
static const double walk_density = 1e-5;   /* rad/s sqrt(Hz) */
static const double star_deviation = 1e-4; /* rad */
static const double bias_deviation = 5e-3; /* rad/s at switch-on */

static const double gap_max_s = 1.0;
static const double star_age_max_s = 0.5;

static void predict(struct board_estimator *e, const double gyro[3], double dt)
{
    double turn[3];
    for (int i = 0; i < 3; i++)
        turn[i] = (0.5 * (e->gyro[i] + gyro[i]) - e->bias[i]) * dt;
    board_quaternion_turn(e->attitude, turn);

    e->angle_variance +=
        dt * (gyro_density * gyro_density - 2.0 * e->covariance + dt * e->bias_variance);
    e->covariance -= dt * e->bias_variance;
    e->bias_variance += dt * walk_density * walk_density;
}

static void restart_estimate(struct board_estimator *e, const double star[4])
{
    e->has_attitude = true;
    memcpy(e->attitude, star, sizeof e->attitude);
    memset(e->bias, 0, sizeof e->bias);
    e->angle_variance = star_deviation * star_deviation;
    e->covariance = 0.0;
    e->bias_variance = bias_deviation * bias_deviation;
}

static void correct(struct board_estimator *e, const double star[4])
{
    const double innovation = e->angle_variance + star_deviation * star_deviation;
    const double angle_gain = e->angle_variance / innovation;
    const double bias_gain = e->covariance / innovation;
    double residual[3];

    board_quaternion_difference(e->attitude, star, residual);
    for (int i = 0; i < 3; i++) {
        e->bias[i] += bias_gain * residual[i];
        residual[i] *= angle_gain;
    }
    board_quaternion_turn(e->attitude, residual);

    e->bias_variance -= bias_gain * e->covariance;
    e->covariance *= 1.0 - angle_gain;
    e->angle_variance *= 1.0 - angle_gain;
}

/* The star tracker's attitude, propagated to the time of the gyro sample. */
static void use_star(struct board_estimator *e)
{
    const double age = ((double)e->time_us - (double)e->star_us) * 1e-6;
    if (!e->star_waits || fabs(age) > star_age_max_s)
        return;
    e->star_waits = false;

    double turn[3];
    for (int i = 0; i < 3; i++)
        turn[i] = (e->gyro[i] - e->bias[i]) * age;
    board_quaternion_turn(e->star, turn);
    if (e->has_attitude)
        correct(e, e->star);
    else
        restart_estimate(e, e->star);
}

bool board_estimator_gyro(struct board_estimator *e, uint64_t time_us, const double gyro[3])
{
    if (!isfinite(gyro[0]) || !isfinite(gyro[1]) || !isfinite(gyro[2]))
        return false;

    const double dt = ((double)time_us - (double)e->time_us) * 1e-6;
    if (e->has_time && (dt < 0.0 || dt > gap_max_s))
        e->has_attitude = false;
    if (e->has_attitude)
        predict(e, gyro, dt);

    e->has_time = true;
    e->time_us = time_us;
    memcpy(e->gyro, gyro, sizeof e->gyro);
    use_star(e);
    for (int i = 0; i < 3; i++)
        e->rate[i] = gyro[i] - e->bias[i];
    return true;
}

void board_estimator_star(struct board_estimator *e, uint64_t time_us, const double attitude[4])
{
    double star[4] = {attitude[0], attitude[1], attitude[2], attitude[3]};
    if (!board_quaternion_normalise(star))
        return;
    memcpy(e->star, star, sizeof star);
    e->star_us = time_us;
    e->star_waits = true;
}
