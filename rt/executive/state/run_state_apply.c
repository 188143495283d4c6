/*
 * What the frame reads elsewhere follows the run state: the model in force, tuned numbers, field,
 * Sun and wind.
 *
 * Tested by tests/rt/executive/state/test_run_state.c and operator/test_operator.c.
 */
#include <math.h>
#include <string.h>

#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/state/run_state_private.h"

static void hold_joint(const struct sim_vehicle *vehicle, int body, bool held)
{
    const int at = dyn_model_v_index(vehicle->plant.model, body);
    for (int k = 0; k < dyn_joint_nv(&vehicle->spec->bodies[body].spec); k++) {
        vehicle->held[at + k] = held;
        vehicle->blow[at + k] = held ? DYN_IMPACT_STOPPED : DYN_IMPACT_FREE;
    }
}

void sim_vehicle_apply_arm_configuration(struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    const struct sim_arm_state *state = vehicle->arm;
    vehicle->plant.model = vehicle->models[state->configuration];
    vehicle->work = vehicle->works[state->configuration];
    for (int i = 0; i < dyn_model_nv(vehicle->plant.model); i++)
        vehicle->blow[i] = vehicle->held[i] ? DYN_IMPACT_PRESCRIBED : DYN_IMPACT_FREE;
    for (int n = 0; n < arm->joint_count; n++)
        hold_joint(vehicle, arm->joint[n].body, state->brake[n] == SIM_ARM_BRAKE_HOLDS);
    for (int i = 0; i < arm->payload_count; i++)
        hold_joint(vehicle, arm->payload[i].body,
                   state->configuration == 1 + (uint64_t)i || (state->latched >> i & 1));
}

static void store_double(void *base, size_t offset, double value)
{
    memcpy((unsigned char *)base + offset, &value, sizeof value);
}

/* From the run state to where the frame reads it. */
void sim_vehicle_apply_parameter(struct sim_vehicle *vehicle, int index)
{
    const struct sim_parameter *parameter = &vehicle->spec->parameters[index];
    const double value = vehicle->parameter[index];
    switch (parameter->home) {
    case SIM_PARAMETER_IN_TUNED:
        store_double(&vehicle->tuned, parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_SENSOR:
        store_double(&vehicle->tuned.sensors[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_DRIVE:
        store_double(&vehicle->tuned.drives[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_FAULT:
        store_double(&vehicle->tuned.faults[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_EFFECTOR:
        for (int i = 0; i < parameter->count; i++)
            store_double(&vehicle->effectors[parameter->index + i], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_ENVIRONMENT:
        store_double(&vehicle->plant.environment, parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_JOINT_FORCE:
        for (int i = 0; i < sim_arm_configuration_count(vehicle->spec); i++)
            store_double(dyn_model_force_spec(vehicle->models[i], parameter->index, 0),
                         parameter->offset, value);
        break;
    }
}

void sim_vehicle_tune(struct sim_vehicle *vehicle, int index, double value)
{
    vehicle->parameter[index] = value;
    sim_vehicle_apply_parameter(vehicle, index);
    sim_vehicle_apply_environment(vehicle);
}

void sim_vehicle_apply_state(struct sim_vehicle *vehicle)
{
    for (int i = 0; i < vehicle->spec->parameter_count; i++)
        sim_vehicle_apply_parameter(vehicle, i);
    if (vehicle->arm != NULL)
        sim_vehicle_apply_arm_configuration(vehicle);
    sim_vehicle_apply_environment(vehicle);
}

/* Field and Sun change slowly: ten looks a second at home, a hundred on the way around the Earth,
 * or a few more, so that they come in step with the frames of a second and lengthen no pattern. */
uint32_t sim_environment_every(const struct sim_spec *spec)
{
    if (spec->world.kind == DYN_WORLD_UNIFORM)
        return 1; /* a divisor of all; there is no such job */
    const double looks_hz = spec->world.kind == DYN_WORLD_ORBIT ? 100.0 : 10.0;
    const uint32_t second = (uint32_t)llround(spec->rate_hz);
    uint32_t frames = (uint32_t)(spec->rate_hz / looks_hz);
    while (frames > 1 && second % frames != 0)
        frames--;
    return frames > 1 ? frames : 1;
}

void sim_vehicle_apply_environment(struct sim_vehicle *vehicle)
{
    struct dyn_environment *environment = &vehicle->plant.environment;
    const struct sim_environment_state *now = vehicle->surroundings;
    memcpy(environment->magnetic_field, now->magnetic_field, sizeof now->magnetic_field);
    memcpy(environment->sun, now->sun, sizeof now->sun);
    environment->sun_visible_fraction = now->sun_visible_fraction;
    for (int k = 0; k < 3; k++)
        environment->wind[k] = vehicle->tuned.wind[k] + now->gust.out[k];
}

void sim_vehicle_update_environment(struct sim_vehicle *vehicle, double seconds)
{
    struct dyn_environment environment = vehicle->spec->environment;
    struct sim_environment_state *now = vehicle->surroundings;
    static const double origin[3];
    const int flier = vehicle->spec->reference_body;
    const double *position =
        flier < 0 ? origin : vehicle->x + dyn_model_q_index(vehicle->plant.model, flier);
    dyn_world_update(&vehicle->spec->world, seconds, position, &environment);
    memcpy(now->magnetic_field, environment.magnetic_field, sizeof now->magnetic_field);
    memcpy(now->sun, environment.sun, sizeof now->sun);
    now->sun_visible_fraction = environment.sun_visible_fraction;
}
