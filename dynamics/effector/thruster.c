#include "dynamics/effector/thruster.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

const char *dyn_thruster_problem(const struct dyn_thruster *thruster)
{
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

int dyn_thruster_state_count(const struct dyn_thruster *thruster)
{
    return thruster->rise > 0.0 ? 1 : 0;
}

void dyn_thruster_eval(const struct dyn_thruster *thruster, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force)
{
    const double wanted = dyn_clamp(command, 0.0, 1.0);
    double level = wanted;
    if (dyn_thruster_state_count(thruster) > 0) {
        const double rise = input->lags != NULL ? input->lags->up : thruster->rise;
        const double fall = input->lags != NULL ? input->lags->down : thruster->fall;
        level = state[0];
        state_rate[0] = (wanted - level) / (wanted > level ? rise : fall);
    }
    force->lin = dyn_scale(level * thruster->thrust, dyn_vec3_load(thruster->axis));
    force->ang = dyn_cross(dyn_vec3_load(thruster->at), force->lin);
}
