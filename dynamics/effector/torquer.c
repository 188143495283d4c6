#include "dynamics/effector/torquer.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

const char *dyn_torquer_problem(const struct dyn_torquer *torquer)
{
    if (!dyn_is_unit(torquer->axis))
        return "the torquer axis is not a unit vector";
    if (!dyn_is_not_negative(torquer->max_dipole))
        return "the torquer's max_dipole must not be negative";
    return NULL;
}

void dyn_torquer_eval(const struct dyn_torquer *torquer, const struct dyn_effector_input *input,
                      double command, struct dyn_vec6 *force)
{
    const double limit = torquer->max_dipole > 0.0 ? torquer->max_dipole : DBL_MAX;
    const double dipole = isnan(command) ? 0.0 : dyn_clamp(command, -limit, limit);
    const struct dyn_vec3 m = dyn_scale(dipole, dyn_vec3_load(torquer->axis));
    *force = (struct dyn_vec6){.ang = dyn_cross(m, input->magnetic_field)};
}
