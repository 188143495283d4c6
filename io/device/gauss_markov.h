/*
 * Noise that wanders and comes back: a first-order Gauss-Markov process.
 *
 *      x(t + dt) = keep x(t) + kick n,   keep = e^(-dt/time),   kick = sigma sqrt(1 - keep^2)
 *
 * The step is exact for any dt: the samples have the deviation sigma and the correlation
 * e^(-lag/time) of the continuous process, whatever the rate.  A process begins in its stationary
 * law, so that no start-up is to be waited for.
 */
#pragma once

/* One step's two factors; only exactly rounded operations, as in io/device/noise.h. */
struct io_wander {
    double keep;
    double kick;
};

/* sigma >= 0; time 0 gives white noise.  Context: any. */
struct io_wander io_wander_make(double sigma, double time, double dt);

/* The value one step later, n a normal number.  Context: any. */
static inline double io_wander_step(struct io_wander wander, double x, double n)
{
    return wander.keep * x + wander.kick * n;
}
