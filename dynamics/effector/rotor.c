#include "dynamics/effector/rotor.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *rotor_problem(const void *law)
{
    const struct dyn_rotor *rotor = law;
    if (!dyn_is_finite_point(rotor->at))
        return "the rotor's place is not finite";
    if (!dyn_is_unit(rotor->axis))
        return "the rotor axis is not a unit vector";
    if (!(rotor->spin == 1.0 || rotor->spin == -1.0))
        return "the rotor's spin must be +1 or -1";
    if (!dyn_is_positive(rotor->max_speed))
        return "the rotor's max_speed must be positive";
    if (!dyn_is_not_negative(rotor->idle_speed) || rotor->idle_speed > rotor->max_speed)
        return "the rotor's idle_speed must lie between zero and max_speed";
    if (!dyn_is_positive(rotor->lag_up) || !dyn_is_positive(rotor->lag_down))
        return "rotor lags must be positive";
    if (!dyn_is_not_negative(rotor->thrust) || !dyn_is_not_negative(rotor->torque) ||
        !dyn_is_not_negative(rotor->inertia) || !dyn_is_not_negative(rotor->lateral_drag) ||
        !dyn_is_not_negative(rotor->inflow))
        return "thrust, torque, inertia, lateral_drag and inflow of a rotor must not be negative";
    return NULL;
}

double dyn_rotor_speed(const struct dyn_rotor *rotor, double omega)
{
    return rotor->spin * omega;
}

double dyn_rotor_power(const struct dyn_rotor *rotor, double density, double omega)
{
    return density / DYN_SEA_DENSITY * rotor->torque * omega * omega * omega;
}

static double target_speed(const struct dyn_rotor *rotor, double command, double supply)
{
    const double share = dyn_clamp(command, 0.0, 1.0);
    const double wanted = share * rotor->max_speed;
    if (!(share > 0.0))
        return 0.0;
    return supply * (wanted > rotor->idle_speed ? wanted : rotor->idle_speed);
}

static double rotor_acceleration(const struct dyn_rotor *rotor,
                                 const struct dyn_effector_input *input, double command,
                                 double omega)
{
    const double target = target_speed(rotor, command, input->supply);
    if (input->lags != NULL)
        return (target - omega) / (target > omega ? input->lags->up : input->lags->down);
    return (target - omega) / (target > omega ? rotor->lag_up : rotor->lag_down);
}

/* The force of the air on the hub, at the hub. */
static struct dyn_vec3 air_force(const struct dyn_rotor *rotor,
                                 const struct dyn_effector_input *input, double omega)
{
    const struct dyn_vec3 a = dyn_vec3_load(rotor->axis);
    const struct dyn_vec3 v = dyn_effector_point_air_velocity(input, dyn_vec3_load(rotor->at));
    const double share = input->density / DYN_SEA_DENSITY, along = dyn_dot(v, a);
    const struct dyn_vec3 aside = dyn_sub(v, dyn_scale(along, a));
    const double turn = omega - rotor->inflow * along;
    const double thrust = turn > 0.0 ? share * rotor->thrust * omega * turn : 0.0;
    return dyn_sub(dyn_scale(thrust, a), dyn_scale(share * rotor->lateral_drag * omega, aside));
}

/* The command is from 0 to 1. */
static void rotor_eval(const void *law, const struct dyn_effector_input *input, double command,
                       const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_rotor *rotor = law;
    const struct dyn_vec3 a = dyn_vec3_load(rotor->axis);
    const double omega = state[0], share = input->density / DYN_SEA_DENSITY;
    const double gain = rotor_acceleration(rotor, input, command, omega);
    const double against = share * rotor->torque * omega * omega + rotor->inertia * gain;
    const struct dyn_vec3 momentum = dyn_scale(rotor->spin * rotor->inertia * omega, a);

    state_rate[0] = gain;
    force->lin = air_force(rotor, input, omega);
    force->ang =
        dyn_sub(dyn_cross(dyn_vec3_load(rotor->at), force->lin),
                dyn_add(dyn_scale(rotor->spin * against, a), dyn_cross(input->rate, momentum)));
}

static int rotor_state_count(const void *law)
{
    (void)law;
    return 1;
}

static bool rotor_lags(const void *law, struct dyn_lags *lags)
{
    const struct dyn_rotor *rotor = law;
    *lags = (struct dyn_lags){rotor->lag_up, rotor->lag_down};
    return true;
}

static void rotor_limits(const void *law, struct dyn_effector_limits *limits)
{
    const struct dyn_rotor *rotor = law;
    const double square = rotor->max_speed * rotor->max_speed;
    limits->force = fabs(rotor->thrust) * square;
    limits->torque = fabs(rotor->torque) * square;
    limits->speed = rotor->max_speed;
}

/* The inertia of the body has the rotor locked. */
static void rotor_spin(const void *law, struct dyn_quat turn, struct dyn_vec3 rate,
                       const double *state, struct dyn_spin *spin)
{
    const struct dyn_rotor *rotor = law;
    const struct dyn_vec3 axis = dyn_quat_rotate(turn, dyn_vec3_load(rotor->axis));
    const double omega = state[0], momentum = rotor->inertia * rotor->spin * omega;
    spin->momentum = dyn_scale(momentum, axis);
    spin->energy = momentum * (0.5 * rotor->spin * omega + dyn_dot(rate, axis));
}

const struct dyn_effector_ops dyn_rotor_ops = {.needs = DYN_NEED_AIR,
                                               .cost = 350.0,
                                               .problem = rotor_problem,
                                               .eval = rotor_eval,
                                               .state_count = rotor_state_count,
                                               .lags = rotor_lags,
                                               .limits = rotor_limits,
                                               .spin = rotor_spin};
