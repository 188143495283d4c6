/* Tested by tests/dynamics/effector/test_effector.c and test_satellite.c. */
#include "dynamics/effector/wheel.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *wheel_problem(const void *law)
{
    const struct dyn_wheel *wheel = law;
    if (!dyn_is_unit(wheel->axis))
        return "the wheel axis is not a unit vector";
    if (!dyn_is_positive(wheel->inertia))
        return "the wheel inertia must be positive";
    if (!dyn_is_not_negative(wheel->max_torque) || !dyn_is_not_negative(wheel->max_speed))
        return "wheel limits must not be negative";
    if (!dyn_is_not_negative(wheel->viscous) || !dyn_is_not_negative(wheel->coulomb) ||
        !dyn_is_not_negative(wheel->stiction))
        return "wheel friction must not be negative";
    if (!dyn_is_not_negative(wheel->stribeck_speed) ||
        (wheel->stiction > 0.0 && !(wheel->stribeck_speed > 0.0)))
        return "stiction needs a positive stribeck_speed";
    if (!dyn_is_not_negative(wheel->static_imbalance) ||
        !dyn_is_not_negative(wheel->dynamic_imbalance))
        return "wheel imbalance must not be negative";
    if (!dyn_is_finite_point(wheel->at))
        return "the wheel's place is not finite";
    return NULL;
}

static bool is_out_of_balance(const struct dyn_wheel *wheel)
{
    return wheel->static_imbalance > 0.0 || wheel->dynamic_imbalance > 0.0;
}

/* Momentum; and angle, where it is out of balance. */
static int wheel_state_count(const void *law)
{
    return is_out_of_balance(law) ? 2 : 1;
}

static double rotor_speed(const struct dyn_wheel *wheel, struct dyn_vec3 rate, double momentum)
{
    return momentum / wheel->inertia - dyn_dot(dyn_vec3_load(wheel->axis), rate);
}

double dyn_wheel_speed(const struct dyn_wheel *wheel, const double rate[3], double momentum)
{
    return rotor_speed(wheel, dyn_vec3_load(rate), momentum);
}

double dyn_wheel_momentum(const struct dyn_wheel *wheel, const double rate[3], double speed)
{
    const double body_rate = dyn_dot(dyn_vec3_load(wheel->axis), dyn_vec3_load(rate));
    return wheel->inertia * (speed + body_rate);
}

/* The commanded torque within the limits of the motor. */
static double motor_torque(const struct dyn_wheel *wheel, double speed, double command)
{
    const double limit = wheel->max_torque;
    double torque = command;
    if (limit > 0.0 && torque > limit)
        torque = limit;
    if (limit > 0.0 && torque < -limit)
        torque = -limit;
    if (wheel->max_speed > 0.0 && fabs(speed) >= wheel->max_speed && torque * speed > 0.0)
        torque = 0.0;
    return torque;
}

double dyn_wheel_friction_bound(const struct dyn_wheel *wheel,
                                const struct dyn_effector_input *input, double momentum)
{
    double dry = wheel->coulomb;
    if (wheel->stiction > 0.0) {
        const double s = rotor_speed(wheel, input->rate, momentum) / wheel->stribeck_speed;
        dry += wheel->stiction * exp(-s * s);
    }
    return dry;
}

/* Across the axis, e at angle zero: the projection of the coordinate axis furthest from it. */
static struct dyn_vec3 imbalance_axis(struct dyn_vec3 a)
{
    const double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    const struct dyn_vec3 from = {x <= y && x <= z, y < x && y <= z, z < x && z < y};
    const struct dyn_vec3 e = dyn_sub(from, dyn_scale(dyn_dot(from, a), a));
    return dyn_scale(1.0 / dyn_norm(e), e);
}

static void add_imbalance(const struct dyn_wheel *wheel, double speed, double angle,
                          struct dyn_vec6 *force)
{
    const struct dyn_vec3 a = dyn_vec3_load(wheel->axis), e0 = imbalance_axis(a);
    const struct dyn_vec3 side0 = dyn_cross(a, e0);
    const double c = cos(angle), s = sin(angle), square = speed * speed;
    const struct dyn_vec3 e = dyn_add(dyn_scale(c, e0), dyn_scale(s, side0));
    const struct dyn_vec3 push = dyn_scale(wheel->static_imbalance * square, e);
    const struct dyn_vec3 twist = dyn_scale(wheel->dynamic_imbalance * square, dyn_cross(a, e));
    force->lin = dyn_add(force->lin, push);
    force->ang = dyn_add(force->ang, dyn_add(twist, dyn_cross(dyn_vec3_load(wheel->at), push)));
}

/* The command is a motor torque in N m; without dry friction. */
static void wheel_eval(const void *law, const struct dyn_effector_input *input, double command,
                       const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_wheel *wheel = law;
    const struct dyn_vec3 a = dyn_vec3_load(wheel->axis);
    const double momentum = state[0], speed = rotor_speed(wheel, input->rate, momentum);
    const double tau = motor_torque(wheel, speed, command) - wheel->viscous * speed;

    /* -a tau - w x (a h) */
    const struct dyn_vec3 gyroscopic = dyn_cross(input->rate, dyn_scale(momentum, a));
    state_rate[0] = tau;
    *force = (struct dyn_vec6){.ang = dyn_sub(dyn_scale(-tau, a), gyroscopic)};
    if (is_out_of_balance(wheel)) {
        state_rate[1] = speed;
        add_imbalance(wheel, speed, state[1], force);
    }
}

/* Of stiction, and of the imbalance. */
static double wheel_extra_cost(const void *law)
{
    const struct dyn_wheel *wheel = law;
    return (wheel->stiction > 0.0 ? 150.0 : 0.0) + (is_out_of_balance(wheel) ? 400.0 : 0.0);
}

static void wheel_limits(const void *law, struct dyn_effector_limits *limits)
{
    const struct dyn_wheel *wheel = law;
    limits->torque = wheel->max_torque;
    limits->speed = wheel->max_speed;
}

static void wheel_spin(const void *law, struct dyn_quat turn, struct dyn_vec3 rate,
                       const double *state, struct dyn_spin *spin)
{
    const struct dyn_wheel *wheel = law;
    const double momentum = state[0];
    (void)rate;
    spin->momentum = dyn_scale(momentum, dyn_quat_rotate(turn, dyn_vec3_load(wheel->axis)));
    spin->energy = 0.5 * momentum * momentum / wheel->inertia;
}

static void wheel_gyrostat(const void *law, struct dyn_gyrostat *gyrostat)
{
    const struct dyn_wheel *wheel = law;
    *gyrostat = (struct dyn_gyrostat){wheel->axis, wheel->inertia};
}

static int wheel_dry_directions(const void *law)
{
    const struct dyn_wheel *wheel = law;
    return wheel->coulomb > 0.0 || wheel->stiction > 0.0;
}

static void wheel_remove_dry_friction(void *law)
{
    struct dyn_wheel *wheel = law;
    wheel->coulomb = wheel->stiction = 0.0;
}

const struct dyn_effector_ops dyn_wheel_ops = {.cost = 450.0,
                                               .extra_cost = wheel_extra_cost,
                                               .problem = wheel_problem,
                                               .eval = wheel_eval,
                                               .state_count = wheel_state_count,
                                               .limits = wheel_limits,
                                               .spin = wheel_spin,
                                               .gyrostat = wheel_gyrostat,
                                               .dry_directions = wheel_dry_directions,
                                               .remove_dry_friction = wheel_remove_dry_friction};
