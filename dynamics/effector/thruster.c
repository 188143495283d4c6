#include "dynamics/effector/thruster.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *thruster_problem(const void *law)
{
    const struct dyn_thruster *thruster = law;
    if (!dyn_is_finite_point(thruster->at))
        return "the thruster's place is not finite";
    if (!dyn_is_unit(thruster->axis))
        return "the thruster axis is not a unit vector";
    if (!dyn_is_not_negative(thruster->thrust))
        return "the thrust must not be negative";
    if (!dyn_is_not_negative(thruster->rise) || !dyn_is_not_negative(thruster->fall) ||
        (thruster->rise > 0.0) != (thruster->fall > 0.0))
        return "a thruster has both rise and fall, positive, or neither";
    return NULL;
}

/* 1, the level, when the thruster has rise and fall. */
static int thruster_state_count(const void *law)
{
    const struct dyn_thruster *thruster = law;
    return thruster->rise > 0.0 ? 1 : 0;
}

static void thruster_eval(const void *law, const struct dyn_effector_input *input, double command,
                          const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_thruster *thruster = law;
    const double wanted = dyn_clamp(command, 0.0, 1.0);
    double level = wanted;
    if (thruster_state_count(thruster) > 0) {
        const double rise = input->lags != NULL ? input->lags->up : thruster->rise;
        const double fall = input->lags != NULL ? input->lags->down : thruster->fall;
        level = state[0];
        state_rate[0] = (wanted - level) / (wanted > level ? rise : fall);
    }
    force->lin = dyn_scale(level * thruster->thrust, dyn_vec3_load(thruster->axis));
    force->ang = dyn_cross(dyn_vec3_load(thruster->at), force->lin);
}

static bool thruster_lags(const void *law, struct dyn_lags *lags)
{
    const struct dyn_thruster *thruster = law;
    *lags = (struct dyn_lags){thruster->rise, thruster->fall};
    return thruster_state_count(thruster) > 0;
}

static void thruster_limits(const void *law, struct dyn_effector_limits *limits)
{
    const struct dyn_thruster *thruster = law;
    limits->force = thruster->thrust;
}

const struct dyn_effector_ops dyn_thruster_ops = {.cost = 200.0,
                                                  .problem = thruster_problem,
                                                  .eval = thruster_eval,
                                                  .state_count = thruster_state_count,
                                                  .lags = thruster_lags,
                                                  .limits = thruster_limits};
