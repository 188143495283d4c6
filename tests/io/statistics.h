/*
 * Estimates of a random process from a record of its noise.  The error of each estimate is one
 * standard error, relative to the expected value.
 */
#pragma once

#include <math.h>

static const double test_pi = 3.14159265358979323846;

/* The mean of y[k] y[k + lag], for a process of zero mean. */
static inline double test_covariance(const double *y, int count, int lag)
{
    double sum = 0.0;
    for (int k = 0; k + lag < count; k++)
        sum += y[k] * y[k + lag];
    return sum / (count - lag);
}

static inline double test_correlation(const double *x, const double *y, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += x[k] * y[k];
    return sum / count / sqrt(test_covariance(x, count, 0) * test_covariance(y, count, 0));
}

/* The error of the variance of a process whose neighbouring samples have the correlation `keep` (0:
 * white).  It also bounds the covariances, relative to the variance. */
static inline double test_variance_error(int count, double keep)
{
    return sqrt(2.0 / count * (1.0 + keep * keep) / (1.0 - keep * keep));
}

/* The square root of half the mean squared difference of neighbouring means over m samples. */
static inline double test_allan_deviation(const double *y, int count, int m)
{
    double last = 0.0, sum = 0.0;
    const int clusters = count / m;
    for (int c = 0; c < clusters; c++) {
        double mean = 0.0;
        for (int k = 0; k < m; k++)
            mean += y[c * m + k] / m;
        if (c > 0)
            sum += (mean - last) * (mean - last);
        last = mean;
    }
    return sqrt(0.5 * sum / (clusters - 1));
}

/* Neighbouring differences are correlated, so the relative error is below 1 / sqrt(clusters). */
static inline double test_allan_error(int count, int m)
{
    return 1.0 / sqrt((double)count / m);
}

/* The two-sided power density, unit^2/Hz, at `cycle` periods per segment: the mean over all
 * segments of dt/segment |sum y e^(-i w k)|^2.  Each term has an exponential law, so the relative
 * error is 1 / sqrt(count / segment). */
static inline double test_density(const double *y, int count, int segment, int cycle, double dt)
{
    const double c = cos(2.0 * test_pi * cycle / segment);
    const double s = sin(2.0 * test_pi * cycle / segment);
    double sum = 0.0;
    for (int at = 0; at + segment <= count; at += segment) {
        double re = 0.0, im = 0.0; /* Horner: each sample rotates the sum by one step. */
        for (int k = 0; k < segment; k++) {
            const double turned = c * re - s * im + y[at + k];
            im = s * re + c * im;
            re = turned;
        }
        sum += re * re + im * im;
    }
    return sum * dt / segment / (count / segment);
}
