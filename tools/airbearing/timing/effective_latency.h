/*
 * Effective latency: the delay that fits the commands best to the actuator's motion,
 *
 *      argmin over d of  integral of [ a u(t - d) + b - y(t) ]^2 dt
 *
 * with gain a and offset b fitted, too, because an actuator scales its command.  Both are held
 * from sample to sample, as on the link.
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

/* Search the delays from 0 to limit, to about a hundredth of step.  Both series are in order of
 * time. False when nothing moves, or less than half of the motion is explained (*delay is set all
 * the same).  Context: any. */
bool delay_fit(const struct delay_sample *asked, size_t asked_count,
               const struct delay_sample *done, size_t done_count, double limit, double step,
               struct effective_latency *delay);
