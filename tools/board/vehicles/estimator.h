/*
 * Attitude and gyro bias from a rate gyro and a star tracker.
 *
 * A multiplicative Kalman filter: the attitude itself is a quaternion moved by the gyro, and the
 * filter keeps only the small error of it, as an angle a per axis, beside the error b of the bias:
 *
 *      a' = -b + gyro noise        b' = bias walk        star - attitude = a + star noise
 *
 * All three axes have the same noise and nearly the same equations (the turning of the error frame
 * during one sample is left out), so one 2 x 2 covariance serves them all.  Unlike fixed gains it
 * settles the bias within a second of the first star and suits any rate of star messages.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct board_estimator {
    bool has_time;     /* a gyro sample has come */
    bool has_attitude; /* a star has come after it */
    uint64_t time_us;  /* of the newest gyro sample */
    double gyro[3];    /* that sample, rad/s */
    double attitude[4];
    double rate[3]; /* gyro less bias, rad/s, body axes */
    double bias[3];
    double angle_variance, covariance, bias_variance;
    bool star_waits; /* a star attitude for the next gyro sample */
    uint64_t star_us;
    double star[4];
};

/* A gyro sample: move the attitude to its time, then use the star that waits.  A sample that is not
 * finite is refused; one from the past or after a gap of a second starts the estimate anew. */
bool board_estimator_gyro(struct board_estimator *estimator, uint64_t time_us,
                          const double gyro[3]);

/* An attitude of the star tracker; simulators send it just before or just after the gyro sample
 * of the same time. */
void board_estimator_star(struct board_estimator *estimator, uint64_t time_us,
                          const double attitude[4]);
