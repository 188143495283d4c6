/*
 * Actuators, and what acts on a body by itself.
 */
#include "config/resolve/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "rt/executive/world_needs.h"

static const double FULL_TURN = 6.283185307179586;

/* ---- who commands it ---- */

static bool resolve_command(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    if (!cfg_find_link(resolve, keys->command.node, keys->command.link, &out->link))
        return false;
    out->control = (int)keys->command.control;
    for (const struct sim_effector *other = resolve->scenario->spec.effectors; other < out; other++)
        if (other->link == out->link && other->control == out->control)
            return cfg_fail_at(resolve->report, keys->command.node, "control",
                               "control %d already drives \"%s\"; take another", out->control,
                               other->name);
    return true;
}

static bool resolve_drive(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                          struct sim_effector *out)
{
    out->drive.quantum = keys->quantum;
    return resolve_command(resolve, keys, out) &&
           cfg_whole_steps(resolve, keys->node, "delay", keys->delay, 1,
                           IO_ACTUATOR_DRIVE_DELAY_MAX, &out->drive.delay);
}

/* ---- each kind ---- */

static bool check_speed(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    if (fabs(keys->speed) <= keys->max_speed)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "speed",
                       "speed of %.10g rad/s is above max_speed, %.10g rad/s; lower it",
                       fabs(keys->speed), keys->max_speed);
}

static bool resolve_wheel(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                          struct sim_effector *out)
{
    out->speed = keys->speed;
    out->drive.gain = isnan(keys->gain) ? keys->max_torque : keys->gain;
    out->effector.wheel = (struct dyn_wheel){
        .axis = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .at = {keys->at[0], keys->at[1], keys->at[2]},
        .inertia = keys->inertia,
        .max_torque = keys->max_torque,
        .max_speed = keys->max_speed,
        .viscous = keys->viscous,
        .coulomb = keys->coulomb,
        .stiction = keys->stiction,
        .stribeck_speed = keys->stiction_speed,
        .static_imbalance = keys->static_imbalance,
        .dynamic_imbalance = keys->dynamic_imbalance,
    };
    return check_speed(resolve, keys) && resolve_drive(resolve, keys, out);
}

static bool check_air(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    const char *lack = sim_lacks_air(&resolve->scenario->spec);
    return lack == NULL || cfg_fail_at(resolve->report, keys->node, "type", "%s", lack);
}

static bool check_lag(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                      const char *key, double lag)
{
    const double step = 1.0 / (resolve->scenario->spec.rate_hz * resolve->scenario->spec.substeps);
    if (lag == 0.0 || lag >= step)
        return true;
    return cfg_fail_at(resolve->report, keys->node, key,
                       "%s of %.10g s is shorter than a step of %.10g s; lengthen it, or take more "
                       "substeps",
                       key, lag, step);
}

static bool resolve_rotor(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                          struct sim_effector *out)
{
    const double square = keys->max_speed * keys->max_speed;
    const double down = isnan(keys->lag_down) ? keys->lag : keys->lag_down;
    out->speed = keys->speed;
    out->drive.gain = 1.0;
    out->drive.one_sided = 1;
    out->effector.rotor = (struct dyn_rotor){
        .at = {keys->at[0], keys->at[1], keys->at[2]},
        .axis = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .spin = keys->turns == 0 ? 1.0 : -1.0,
        .max_speed = keys->max_speed,
        .idle_speed = keys->idle_speed,
        .thrust = keys->max_thrust / square,
        .torque = keys->torque_ratio * keys->max_thrust / square,
        .lag_up = keys->lag,
        .lag_down = down,
        .inertia = keys->inertia,
        .lateral_drag = keys->lateral_drag,
        .inflow = isnan(keys->pitch) ? 0.0 : FULL_TURN / keys->pitch,
    };
    return check_air(resolve, keys) && check_speed(resolve, keys) &&
           check_lag(resolve, keys, "lag", keys->lag) &&
           check_lag(resolve, keys, "lag_down", down) && resolve_drive(resolve, keys, out);
}

/* A magnetometer may read zero; a coil has nothing to push against then. */
static bool check_field(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const double *field = scenario->spec.environment.magnetic_field;
    const char *lack = sim_lacks_field(&scenario->spec);
    if (lack != NULL)
        return cfg_fail_at(resolve->report, keys->node, "type", "%s", lack);
    if (!scenario->spec.world.fixed_field || field[0] != 0 || field[1] != 0 || field[2] != 0)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "type",
                       "there is no magnetic field to push against; give "
                       "environment.magnetic_field, or world: local or orbit");
}

static bool resolve_torquer(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    if (!check_field(resolve, keys))
        return false;
    out->drive.gain = isnan(keys->gain) ? keys->max_dipole : keys->gain;
    out->effector.torquer = (struct dyn_torquer){
        .axis = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .max_dipole = keys->max_dipole,
    };
    return resolve_drive(resolve, keys, out);
}

static bool resolve_thruster(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                             struct sim_effector *out)
{
    const double fall = isnan(keys->lag_down) ? keys->lag : keys->lag_down;
    out->drive.gain = 1.0;
    out->drive.one_sided = 1;
    out->drive.min_duty = keys->min_control;
    out->effector.thruster = (struct dyn_thruster){
        .at = {keys->at[0], keys->at[1], keys->at[2]},
        .axis = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .thrust = keys->max_thrust,
        .rise = keys->lag,
        .fall = fall,
    };
    return check_lag(resolve, keys, "rise", keys->lag) && check_lag(resolve, keys, "fall", fall) &&
           resolve_drive(resolve, keys, out);
}

static bool resolve_drag(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                         struct sim_effector *out)
{
    struct dyn_drag *drag = &out->effector.drag;
    memcpy(drag->at, keys->at, sizeof drag->at);
    memcpy(drag->area, keys->area, sizeof drag->area);
    memcpy(drag->linear, keys->linear, sizeof drag->linear);
    memcpy(drag->angular, keys->angular, sizeof drag->angular);
    return check_air(resolve, keys);
}

static bool resolve_battery(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    out->effector.battery = (struct dyn_battery){
        .voltage_full = keys->voltage,
        .voltage_empty = keys->voltage_empty,
        .capacity = keys->capacity,
        .resistance = keys->resistance,
        .idle_current = keys->idle_current,
        .efficiency = keys->efficiency,
    };
    if (keys->voltage_empty >= keys->voltage)
        return cfg_fail_at(
            resolve->report, keys->node, "voltage_empty",
            "an empty battery's %.10g V is not below a full one's %.10g V; check both",
            keys->voltage_empty, keys->voltage);
    for (const struct sim_effector *other = resolve->scenario->spec.effectors; other < out; other++)
        if (other->effector.type == DYN_EFFECTOR_BATTERY)
            return cfg_fail_at(resolve->report, keys->node, "type",
                               "\"%s\" is already the battery, and a vehicle has one; remove one",
                               other->name);
    return true;
}

static const struct {
    enum dyn_effector_type type;
    bool (*resolve)(const struct cfg_resolve *, const struct cfg_keys_device *,
                    struct sim_effector *);
} kinds[] = {
    [CFG_DEVICE_WHEEL] = {DYN_EFFECTOR_WHEEL, resolve_wheel},
    [CFG_DEVICE_ROTOR] = {DYN_EFFECTOR_ROTOR, resolve_rotor},
    [CFG_DEVICE_TORQUER] = {DYN_EFFECTOR_TORQUER, resolve_torquer},
    [CFG_DEVICE_THRUSTER] = {DYN_EFFECTOR_THRUSTER, resolve_thruster},
    [CFG_DEVICE_DRAG] = {DYN_EFFECTOR_DRAG, resolve_drag},
    [CFG_DEVICE_CONTACT] = {DYN_EFFECTOR_CONTACT, NULL},
    [CFG_DEVICE_BATTERY] = {DYN_EFFECTOR_BATTERY, resolve_battery},
};

/* Name, type and body, before the rest. */
static struct sim_effector *next_effector(const struct cfg_resolve *resolve,
                                          const struct cfg_keys_device *keys)
{
    struct sim_effector *out =
        &resolve->scenario->spec.effectors[resolve->scenario->spec.effector_count];
    *out = (struct sim_effector){.link = -1};
    cfg_scenario_note(resolve->scenario, "devices", keys->name, keys->node->mark);
    snprintf(out->name, sizeof out->name, "%s", keys->name);
    out->effector.type = kinds[keys->type].type;
    return cfg_find_body(resolve, keys->node, "body", keys->body, &out->effector.body) ? out : NULL;
}

/* What the kernel would not bear although each number is in its range. */
static bool check_flaw(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                       const struct sim_effector *out)
{
    const char *flaw = dyn_effector_problem(&out->effector, resolve->scenario->spec.body_count);
    return flaw == NULL ||
           cfg_fail_at(resolve->report, keys->node, NULL, "device \"%s\": %s", keys->name, flaw);
}

/* Each point is an effector of its own. */
static bool resolve_contact(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    struct cfg_scenario *scenario = resolve->scenario;
    if (!scenario->spec.environment.has_ground)
        return cfg_fail_at(resolve->report, keys->node, "type",
                           "there is no ground to touch; give environment.ground, e.g. 0 m");
    for (int i = 0; i < keys->points.count; i++) {
        if (scenario->spec.effector_count == SIM_EFFECTOR_MAX)
            return cfg_fail_at(resolve->report, keys->points.node, NULL,
                               "a vehicle can have %d actuators, drags and contact points; remove "
                               "some",
                               SIM_EFFECTOR_MAX);
        struct sim_effector *out = next_effector(resolve, keys);
        if (out == NULL)
            return false;
        struct dyn_contact *contact = &out->effector.contact;
        memcpy(contact->at, keys->points.items + 3 * i, sizeof contact->at);
        contact->stiffness = keys->stiffness;
        contact->damping = keys->damping;
        contact->friction = keys->friction;
        if (!check_flaw(resolve, keys, out))
            return false;
        scenario->spec.effector_count++;
    }
    return true;
}

bool cfg_resolve_effector(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    if (keys->type == CFG_DEVICE_CONTACT)
        return resolve_contact(resolve, keys);
    if (resolve->scenario->spec.effector_count == SIM_EFFECTOR_MAX)
        return cfg_fail_at(resolve->report, keys->node, "type",
                           "a vehicle can have %d actuators, drags and contact points; remove some",
                           SIM_EFFECTOR_MAX);
    struct sim_effector *out = next_effector(resolve, keys);
    if (out == NULL || !kinds[keys->type].resolve(resolve, keys, out) ||
        !check_flaw(resolve, keys, out))
        return false;
    resolve->scenario->spec.effector_count++;
    return true;
}
