/*
 * Resolved rate: the joint rates that give a hand the commanded motion.
 *
 *      dq = J' F(J J') V + (1 - J' F(J J') J) z
 *
 * F is the inverse where the hand can move freely, and fades to zero along a direction that the
 * arm is about to lose:
 *
 *      f(s^2) = 1 / (s^2 + damping^2 (1 - s^2/weak^2)^2)   for s < weak,   1 / s^2 above
 *
 * so the rates are a continuous function of the pose, through a singularity and at full reach, and
 * are never above 1.3 |V| / min(weak, 2 damping).
 *
 * Where a joint would be too fast all rates are scaled together, so that the hand keeps its
 * direction; and again where one would approach its limit faster than it can brake.  z, a
 * preferred motion of the joints, acts only in the motions that do not move the hand (there F
 * fades a hundred times later), and only as far as rates and limits leave room: the hand comes
 * first.
 *
 * D. E. Whitney 1969; A. A. Maciejewski and C. A. Klein 1988.
 */
#pragma once

enum { DYN_ARM_JOINT_MAX = 16 }; /* joints */

struct dyn_resolved_rate_spec {
    int joints;
    double length;       /* m: a turn counts as the motion of a point so far away */
    double damped_below; /* m: below this singular value of J a direction is damped */
    double damping;      /* m */
    double rate_max[DYN_ARM_JOINT_MAX];                        /* rad/s; 0: none */
    double lower[DYN_ARM_JOINT_MAX], upper[DYN_ARM_JOINT_MAX]; /* rad; equal: none */
    double braking[DYN_ARM_JOINT_MAX]; /* rad/s^2, with which a joint can stop */
    double center_gain; /* 1/s: how fast spare motion leads joints to the middle of their range */
};

enum {
    DYN_RESOLVED_RATE_SINGULAR =
        1, /* a direction is damped: the hand does not quite do what is commanded */
    DYN_RESOLVED_RATE_LIMIT = 2,  /* a joint is held back before its limit */
    DYN_RESOLVED_RATE_SLOWED = 4, /* all rates were scaled down to the fastest joint's */
};

/* J: 6 x joints by rows, angular first; twist: the commanded motion of the hand, in the same axes;
 * q: the joints.  rates: the answer.  Returns the flags.  Context: frame. */
unsigned dyn_resolved_rate(const struct dyn_resolved_rate_spec *arm, const double *J,
                           const double twist[6], const double *q, double *rates);

/* Commanded joint rates, scaled together until each joint is slow enough for its limits.  Returns
 * the flags.  Context: frame. */
unsigned dyn_resolved_rate_limit(const struct dyn_resolved_rate_spec *arm, const double *q,
                                 double *rates);
