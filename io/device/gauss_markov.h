/*
 * A first-order Gauss-Markov process: noise with a correlation time.
 *
 *      x(t + dt) = keep x(t) + kick n,   keep = e^(-dt/time),   kick = sigma sqrt(1 - keep^2)
 *
 * The step is exact for any dt: the samples have the deviation sigma and the correlation
 * e^(-lag/time) of the continuous process, whatever the rate.  A process starts in its stationary
 * distribution, so there is no transient.
 */
#pragma once

/* The two factors of a step; computed with exactly rounded operations only, as in
 * io/device/noise.h. */
struct io_gauss_markov {
    double decay;
    double noise_gain;
};

/* sigma >= 0; time 0 gives white noise.  Context: any. */
struct io_gauss_markov io_gauss_markov_make(double sigma, double time, double dt);

/* The value one step later, n a normal number.  Context: any. */
static inline double io_gauss_markov_step(struct io_gauss_markov wander, double x, double n)
{
    return wander.decay * x + wander.noise_gain * n;
}
