#include "dynamics/effector/torquer.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *torquer_problem(const void *law)
{
    const struct dyn_torquer *torquer = law;
    if (!dyn_is_unit(torquer->axis))
        return "the torquer axis is not a unit vector";
    if (!dyn_is_not_negative(torquer->max_dipole))
        return "the torquer's max_dipole must not be negative";
    return NULL;
}

/* The command is a dipole in A m^2. */
static void torquer_eval(const void *law, const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_torquer *torquer = law;
    (void)state;
    (void)state_rate;
    const double limit = torquer->max_dipole > 0.0 ? torquer->max_dipole : DBL_MAX;
    const double dipole = isnan(command) ? 0.0 : dyn_clamp(command, -limit, limit);
    const struct dyn_vec3 m = dyn_scale(dipole, dyn_vec3_load(torquer->axis));
    *force = (struct dyn_vec6){.ang = dyn_cross(m, input->magnetic_field)};
}

static void torquer_limits(const void *law, struct dyn_effector_limits *limits)
{
    static const double field = 1e-4; /* T, more than the Earth's */
    const struct dyn_torquer *torquer = law;
    limits->torque = field * torquer->max_dipole;
}

const struct dyn_effector_ops dyn_torquer_ops = {.needs = DYN_NEED_MAGNETIC_FIELD,
                                                 .cost = 150.0,
                                                 .problem = torquer_problem,
                                                 .eval = torquer_eval,
                                                 .limits = torquer_limits};
