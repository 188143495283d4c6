/*
 * Actuators, and what acts on a body by itself.
 */
#include "config/resolve/device.h"
#include "config/resolve/effector_types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "rt/executive/world_needs.h"

static const double FULL_TURN = 6.283185307179586;

/* ---- the link that commands it ---- */

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
    return resolve_command(resolve, keys, out) &&
           cfg_whole_steps(resolve, keys->node, "delay", keys->delay, 1,
                           IO_ACTUATOR_DRIVE_DELAY_MAX, &out->drive.delay);
}

/* ---- each kind ---- */

static bool check_speed(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                        const struct sim_effector *out, double max_speed)
{
    if (fabs(out->speed) <= max_speed)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "speed",
                       "speed of %.10g rad/s is above max_speed, %.10g rad/s; lower it",
                       fabs(out->speed), max_speed);
}

static bool resolve_wheel(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                          struct sim_effector *out)
{
    const struct dyn_wheel *wheel = &out->effector.wheel;
    if (isnan(out->drive.gain))
        out->drive.gain = wheel->max_torque;
    return check_speed(resolve, keys, out, wheel->max_speed) && resolve_drive(resolve, keys, out);
}

static void print_wheel(const struct dyn_effector *effector, FILE *out)
{
    const struct dyn_wheel *wheel = &effector->wheel;
    fprintf(out, ", %.4g N m, %.4g N m s", wheel->max_torque, wheel->inertia * wheel->max_speed);
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
    struct dyn_rotor *rotor = &out->effector.rotor;
    const double square = rotor->max_speed * rotor->max_speed;
    out->drive.gain = 1.0;
    out->drive.one_sided = 1;
    rotor->spin = keys->turns == 0 ? 1.0 : -1.0;
    rotor->thrust = keys->max_thrust / square;
    rotor->torque = keys->torque_ratio * keys->max_thrust / square;
    rotor->inflow = isnan(keys->pitch) ? 0.0 : FULL_TURN / keys->pitch;
    if (isnan(rotor->lag_down))
        rotor->lag_down = rotor->lag_up;
    return check_air(resolve, keys) && check_speed(resolve, keys, out, rotor->max_speed) &&
           check_lag(resolve, keys, "lag", rotor->lag_up) &&
           check_lag(resolve, keys, "lag_down", rotor->lag_down) &&
           resolve_drive(resolve, keys, out);
}

static void print_rotor(const struct dyn_effector *effector, FILE *out)
{
    const struct dyn_rotor *rotor = &effector->rotor;
    fprintf(out, ", %.4g N, lag %.4g ms", rotor->thrust * rotor->max_speed * rotor->max_speed,
            rotor->lag_up * 1e3);
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
                       "a torquer needs a magnetic field; give "
                       "environment.magnetic_field, or world: local or orbit");
}

static bool resolve_torquer(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    if (!check_field(resolve, keys))
        return false;
    if (isnan(out->drive.gain))
        out->drive.gain = out->effector.torquer.max_dipole;
    return resolve_drive(resolve, keys, out);
}

static void print_torquer(const struct dyn_effector *effector, FILE *out)
{
    fprintf(out, ", %.4g A m^2", effector->torquer.max_dipole);
}

static bool resolve_thruster(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                             struct sim_effector *out)
{
    struct dyn_thruster *thruster = &out->effector.thruster;
    out->drive.gain = 1.0;
    out->drive.one_sided = 1;
    if (isnan(thruster->fall))
        thruster->fall = thruster->rise;
    return check_lag(resolve, keys, "rise", thruster->rise) &&
           check_lag(resolve, keys, "fall", thruster->fall) && resolve_drive(resolve, keys, out);
}

static void print_thruster(const struct dyn_effector *effector, FILE *out)
{
    fprintf(out, ", %.4g N", effector->thruster.thrust);
}

static bool resolve_drag(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                         struct sim_effector *out)
{
    (void)out;
    return check_air(resolve, keys);
}

static bool resolve_contact(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    (void)out;
    return resolve->scenario->spec.environment.has_ground ||
           cfg_fail_at(resolve->report, keys->node, "type",
                       "there is no ground to touch; give environment.ground, e.g. 0 m");
}

static void print_contact(const struct dyn_effector *effector, FILE *out)
{
    fprintf(out, ", %.4g N/m", effector->contact.stiffness);
}

static bool resolve_battery(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_effector *out)
{
    const struct dyn_battery *battery = &out->effector.battery;
    if (battery->voltage_empty >= battery->voltage_full)
        return cfg_fail_at(
            resolve->report, keys->node, "voltage_empty",
            "an empty battery's %.10g V is not below a full one's %.10g V; check both",
            battery->voltage_empty, battery->voltage_full);
    for (const struct sim_effector *other = resolve->scenario->spec.effectors; other < out; other++)
        if (other->effector.type == out->effector.type)
            return cfg_fail_at(resolve->report, keys->node, "type",
                               "\"%s\" is already the battery, and a vehicle has one; remove one",
                               other->name);
    return true;
}

static void print_battery(const struct dyn_effector *effector, FILE *out)
{
    fprintf(out, ", %.4g V, %.4g A h", effector->battery.voltage_full,
            effector->battery.capacity / 3600.0);
}

const struct cfg_effector_type cfg_effector_types[] = {
    [DYN_EFFECTOR_WHEEL] = {"wheel", resolve_wheel, print_wheel},
    [DYN_EFFECTOR_ROTOR] = {"rotor", resolve_rotor, print_rotor},
    [DYN_EFFECTOR_TORQUER] = {"torquer", resolve_torquer, print_torquer},
    [DYN_EFFECTOR_THRUSTER] = {"thruster", resolve_thruster, print_thruster},
    [DYN_EFFECTOR_DRAG] = {"drag", resolve_drag, NULL},
    [DYN_EFFECTOR_CONTACT] = {"contact", resolve_contact, print_contact},
    [DYN_EFFECTOR_BATTERY] = {"battery", resolve_battery, print_battery},
};

/* Name, type and body, before the rest. */
static struct sim_effector *next_effector(const struct cfg_resolve *resolve,
                                          const struct cfg_keys_device *keys)
{
    struct sim_effector *out =
        &resolve->scenario->spec.effectors[resolve->scenario->spec.effector_count];
    *out = keys->effector;
    out->link = -1;
    cfg_scenario_note(resolve->scenario, "devices", keys->name, keys->node->mark);
    snprintf(out->name, sizeof out->name, "%s", keys->name);
    out->effector.type = (enum dyn_effector_type)(keys->type - CFG_DEVICE_EFFECTOR);
    return cfg_find_body(resolve, keys->node, "body", keys->body, &out->effector.body) ? out : NULL;
}

/* What the kernel would not bear although each number is in its range. */
static bool check_effector(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                           const struct sim_effector *out)
{
    const char *problem = dyn_effector_problem(&out->effector, resolve->scenario->spec.body_count);
    return problem == NULL ||
           cfg_fail_at(resolve->report, keys->node, NULL, "device \"%s\": %s", keys->name, problem);
}

bool cfg_resolve_effector(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    const struct cfg_effector_type *type = &cfg_effector_types[keys->type - CFG_DEVICE_EFFECTOR];
    int *count = &resolve->scenario->spec.effector_count;
    const struct cfg_rows *points = &keys->points;
    /* A device with points is an effector at each of them. */
    for (int i = 0; i < (points->node != NULL ? points->count : 1); i++) {
        if (*count == SIM_EFFECTOR_MAX)
            return cfg_fail_at(
                resolve->report, points->node != NULL ? points->node : keys->node,
                points->node != NULL ? NULL : "type",
                "a vehicle can have %d actuators, drags and contact points; remove some",
                SIM_EFFECTOR_MAX);
        struct sim_effector *out = next_effector(resolve, keys);
        if (out == NULL)
            return false;
        if (points->node != NULL)
            memcpy(out->effector.contact.at, points->items + (ptrdiff_t)3 * i,
                   sizeof out->effector.contact.at);
        if (!type->resolve(resolve, keys, out) || !check_effector(resolve, keys, out))
            return false;
        (*count)++;
    }
    return true;
}
