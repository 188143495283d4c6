/*
 * A run state that came from outside: can it be?
 *
 * A checksum finds accidents.  This finds what would make the frame read outside of its tables, or
 * step from numbers that are none.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "rt/executive/state/run_state.h"

#include "rt/executive/arm/arm_configuration.h"

/* Where this part of the vehicle's own state is in the other one. */
static const void *same_place(const struct sim_vehicle *vehicle, const void *part,
                              const void *state)
{
    return (const unsigned char *)state + ((const unsigned char *)part - vehicle->state);
}

static bool are_finite(const void *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        double number;
        memcpy(&number, (const unsigned char *)numbers + (size_t)i * sizeof number, sizeof number);
        if (!isfinite(number))
            return false;
    }
    return true;
}

static bool are_in_limits(const struct sim_vehicle *vehicle, const void *parameters)
{
    for (int i = 0; i < vehicle->spec->parameter_count; i++) {
        const struct sim_parameter *parameter = &vehicle->spec->parameters[i];
        double value;
        memcpy(&value, (const unsigned char *)parameters + (size_t)i * sizeof value, sizeof value);
        if (!(value >= parameter->low && value <= parameter->high))
            return false;
    }
    return true;
}

static const char *panel_problem(const struct sim_arm *arm, const struct io_arm_panel_state *panel)
{
    if (panel->mode >= IO_ARM_PANEL_MODE_COUNT)
        return "the arm's mode does not exist";
    if (panel->joint >= (uint64_t)arm->joint_count)
        return "the joint that the arm drives does not exist";
    if (panel->pose > (uint64_t)arm->pose_count)
        return "the pose that the arm goes to does not exist";
    return NULL;
}

/* Numbers that are only displayed must be finite as well, because a run that goes on from here logs
 * them.  Numbers that a board or a hand sent may be NaN; their readers expect that. */
static bool is_display_finite(const struct sim_arm_state *state)
{
    return are_finite(state->asked, 6) && are_finite(&state->reach, 1) &&
           are_finite(&state->tilt, 1) && are_finite(&state->closing, 1) &&
           are_finite(&state->blow, 1) && are_finite(state->impulse, 6);
}

static const char *brake_problem(const struct sim_arm_state *state)
{
    for (int n = 0; n < DYN_ARM_JOINT_MAX; n++) {
        const double rub = state->rub[n];
        if (state->brake[n] > SIM_ARM_BRAKE_HOLDS || !(rub == -1.0 || rub == 0.0 || rub == 1.0))
            return "the state of the arm's brakes is not a valid one";
    }
    return NULL;
}

/* What the hand has is not latched to a bay as well. */
static const char *arm_problem(const struct sim_spec *spec, const struct sim_arm_state *state)
{
    const struct sim_arm *arm = &spec->arm;
    const uint64_t has = state->configuration, payloads = (uint64_t)arm->payload_count;
    if (has >= (uint64_t)sim_arm_configuration_count(spec))
        return "the payload in the arm's hand does not exist";
    if (state->latched >> payloads != 0 || (has > 0 && (state->latched >> (has - 1) & 1)))
        return "a payload is latched that does not exist or is in the hand";
    if (state->near > payloads)
        return "the payload nearest to the arm does not exist";
    if (brake_problem(state) != NULL)
        return brake_problem(state);
    if (!are_finite(state->reference, DYN_ARM_JOINT_MAX) ||
        !are_finite(state->command, DYN_ARM_JOINT_MAX) ||
        !are_finite(state->torque, DYN_ARM_JOINT_MAX))
        return "the arm's servos have a NaN or an infinity";
    if (!is_display_finite(state))
        return "the arm's displayed state has a NaN or an infinity";
    return panel_problem(arm, &state->panel);
}

const char *sim_run_state_problem(const struct sim_vehicle *vehicle, const void *state)
{
    struct sim_arm_state arm;
    if (!are_finite(same_place(vehicle, vehicle->x, state), dyn_plant_state_count(&vehicle->plant)))
        return "the vehicle's state has a NaN or an infinity";
    if (!are_in_limits(vehicle, same_place(vehicle, vehicle->parameter, state)))
        return "a parameter is out of its limits";
    if (vehicle->arm == NULL)
        return NULL;
    memcpy(&arm, same_place(vehicle, vehicle->arm, state), sizeof arm);
    return arm_problem(vehicle->spec, &arm);
}
