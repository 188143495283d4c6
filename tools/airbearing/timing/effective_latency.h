/*
 * Effective latency: the delay by which what was asked fits what was done best,
 *
 *      argmin over d of  integral of [ a u(t - d) + b - y(t) ]^2 dt
 *
 * with gain a and offset b fitted along, because an actuator scales what it is told.  Both
 * are held from sample to sample, as the wire holds them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct delay_sample {
    double seconds;
    double value;
};

struct effective_latency {
    double seconds;
    double explained; /* share of y's motion that u, delayed, explains: 1 is all */
    double gain;
};

/* Look for delays from 0 to limit, to about a hundredth of step.  Both series in order of time.
 * False when nothing moves, or less than half of the motion is explained (*delay is what was found
 * all the same).  Context: any. */
bool delay_fit(const struct delay_sample *asked, size_t asked_count,
               const struct delay_sample *done, size_t done_count, double limit, double step,
               struct effective_latency *delay);
