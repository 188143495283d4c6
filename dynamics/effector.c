#include "dynamics/effector.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dynamics/check.h"
#include "dynamics/spatial.h"

static bool not_negative(double value)
{
    return value >= 0.0 && value <= DBL_MAX;
}

static const char *wheel_flaw(const struct dyn_wheel *wheel)
{
    const struct dyn_vec3 a = dyn_vec3_load(wheel->axis);
    if (!(fabs(dyn_dot(a, a) - 1.0) <= 1e-9))
        return "the wheel axis is not a unit vector";
    if (!(wheel->inertia > 0.0 && wheel->inertia <= DBL_MAX))
        return "the wheel inertia must be positive";
    if (!not_negative(wheel->max_torque) || !not_negative(wheel->max_speed))
        return "wheel limits must not be negative";
    if (!not_negative(wheel->viscous) || !not_negative(wheel->coulomb))
        return "wheel friction must not be negative";
    if (!not_negative(wheel->coulomb_speed) ||
        (wheel->coulomb > 0.0 && wheel->coulomb_speed == 0.0))
        return "coulomb friction needs a positive coulomb_speed";
    return NULL;
}

const char *dyn_effector_flaw(const struct dyn_effector *effector, int body_count)
{
    if (effector->body < 0 || effector->body >= body_count)
        return "no such body";
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        return wheel_flaw(&effector->wheel);
    }
    return "unknown effector type";
}

int dyn_effector_state_count(const struct dyn_effector *effector)
{
    DYN_CHECK(effector->type == DYN_EFFECTOR_WHEEL);
    return 1;
}

double dyn_wheel_speed(const struct dyn_wheel *wheel, const double rate[3], double momentum)
{
    return momentum / wheel->inertia - dyn_dot(dyn_vec3_load(wheel->axis), dyn_vec3_load(rate));
}

double dyn_wheel_momentum(const struct dyn_wheel *wheel, const double rate[3], double speed)
{
    const double body_rate = dyn_dot(dyn_vec3_load(wheel->axis), dyn_vec3_load(rate));
    return wheel->inertia * (speed + body_rate);
}

/* What the motor gives of what it was asked for. */
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

static double friction_torque(const struct dyn_wheel *wheel, double speed)
{
    const double coulomb =
        wheel->coulomb > 0.0 ? wheel->coulomb * tanh(speed / wheel->coulomb_speed) : 0.0;
    return wheel->viscous * speed + coulomb;
}

static void wheel_eval(const struct dyn_wheel *wheel, const double rate[3], double command,
                       double momentum, double *momentum_rate, double force[6])
{
    const struct dyn_vec3 a = dyn_vec3_load(wheel->axis), w = dyn_vec3_load(rate);
    const double speed = dyn_wheel_speed(wheel, rate, momentum);
    const double tau = motor_torque(wheel, speed, command) - friction_torque(wheel, speed);

    /* -a tau - w x (a h) */
    const struct dyn_vec3 gyroscopic = dyn_cross(w, dyn_scale(momentum, a));
    *momentum_rate = tau;
    dyn_vec3_store(dyn_sub(dyn_scale(-tau, a), gyroscopic), force);
    dyn_vec3_store((struct dyn_vec3){0.0, 0.0, 0.0}, force + 3);
}

void dyn_effector_eval(const struct dyn_effector *effector, const double rate[3], double command,
                       const double *state, double *state_rate, double force[6])
{
    DYN_CHECK(effector->type == DYN_EFFECTOR_WHEEL);
    wheel_eval(&effector->wheel, rate, command, state[0], state_rate, force);
}
