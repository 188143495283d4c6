#include "dynamics/effector/effector.h"

#include <stddef.h>

const char *dyn_effector_problem(const struct dyn_effector *effector, int body_count)
{
    if (effector->body < 0 || effector->body >= body_count)
        return "no such body";
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        return dyn_wheel_problem(&effector->wheel);
    case DYN_EFFECTOR_ROTOR:
        return dyn_rotor_problem(&effector->rotor);
    case DYN_EFFECTOR_TORQUER:
        return dyn_torquer_problem(&effector->torquer);
    case DYN_EFFECTOR_THRUSTER:
        return dyn_thruster_problem(&effector->thruster);
    case DYN_EFFECTOR_DRAG:
        return dyn_drag_problem(&effector->drag);
    case DYN_EFFECTOR_CONTACT:
        return dyn_contact_problem(&effector->contact);
    case DYN_EFFECTOR_BATTERY:
        return dyn_battery_problem(&effector->battery);
    }
    return "unknown effector type";
}

int dyn_effector_state_count(const struct dyn_effector *effector)
{
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        return dyn_wheel_state_count(&effector->wheel);
    case DYN_EFFECTOR_THRUSTER:
        return dyn_thruster_state_count(&effector->thruster);
    case DYN_EFFECTOR_ROTOR:
    case DYN_EFFECTOR_BATTERY:
        return 1;
    case DYN_EFFECTOR_TORQUER:
    case DYN_EFFECTOR_DRAG:
    case DYN_EFFECTOR_CONTACT:
        break;
    }
    return 0;
}

bool dyn_effector_lags(const struct dyn_effector *effector, struct dyn_lags *lags)
{
    switch (effector->type) {
    case DYN_EFFECTOR_ROTOR:
        *lags = (struct dyn_lags){effector->rotor.lag_up, effector->rotor.lag_down};
        return true;
    case DYN_EFFECTOR_THRUSTER:
        *lags = (struct dyn_lags){effector->thruster.rise, effector->thruster.fall};
        return dyn_thruster_state_count(&effector->thruster) > 0;
    case DYN_EFFECTOR_WHEEL:
    case DYN_EFFECTOR_TORQUER:
    case DYN_EFFECTOR_DRAG:
    case DYN_EFFECTOR_CONTACT:
    case DYN_EFFECTOR_BATTERY:
        break;
    }
    return false;
}

unsigned dyn_effector_needs(const struct dyn_effector *effector)
{
    static const unsigned needs[] = {
        [DYN_EFFECTOR_WHEEL] = 0,
        [DYN_EFFECTOR_ROTOR] = DYN_NEED_AIR,
        [DYN_EFFECTOR_TORQUER] = DYN_NEED_MAGNETIC_FIELD,
        [DYN_EFFECTOR_THRUSTER] = 0,
        [DYN_EFFECTOR_DRAG] = DYN_NEED_AIR,
        [DYN_EFFECTOR_CONTACT] = DYN_NEED_GROUND,
        [DYN_EFFECTOR_BATTERY] = 0,
    };
    return needs[effector->type];
}

void dyn_effector_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force)
{
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        dyn_wheel_eval(&effector->wheel, input, command, state, state_rate, force);
        break;
    case DYN_EFFECTOR_ROTOR:
        dyn_rotor_eval(&effector->rotor, input, command, state, state_rate, force);
        break;
    case DYN_EFFECTOR_TORQUER:
        dyn_torquer_eval(&effector->torquer, input, command, force);
        break;
    case DYN_EFFECTOR_THRUSTER:
        dyn_thruster_eval(&effector->thruster, input, command, state, state_rate, force);
        break;
    case DYN_EFFECTOR_DRAG:
        dyn_drag_eval(&effector->drag, input, force);
        break;
    case DYN_EFFECTOR_CONTACT:
        dyn_contact_eval(&effector->contact, input, force);
        break;
    case DYN_EFFECTOR_BATTERY:
        state_rate[0] = dyn_battery_current(&effector->battery, state[0], input->power);
        *force = (struct dyn_vec6){.ang = {0.0, 0.0, 0.0}};
        break;
    }
}
