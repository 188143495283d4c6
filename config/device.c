/*
 * Devices: instruments and wheels, on their bodies and on the frame grid.
 */
#include "config/resolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/suggest.h"
#include "rt/check.h"

static const struct cfg_keys_device *device_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_device *)resolve->keys->devices.items + i;
}

/* Rows of the rotation that takes body axes to instrument axes, from the instrument's attitude. */
static void mounting(const double q[4], double M[9])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y + w * z),     2 * (x * z - w * y),
        2 * (x * y - w * z),     1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
        2 * (x * z + w * y),     2 * (y * z - w * x),     1 - 2 * (x * x + y * y),
    };
    memcpy(M, rows, sizeof rows);
}

static bool resolve_sampling(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                             struct cfg_sensor *sensor)
{
    sensor->every = 1;
    if (!isnan(keys->rate) &&
        !cfg_frames_per(resolve, keys->node, "rate", keys->rate, &sensor->every))
        return false;
    const double period = (double)resolve->scenario->period_ns * 1e-9;
    sensor->triad.sample_time = (double)sensor->every * period;
    return cfg_whole_steps(resolve, keys->node, "delay", keys->delay, sensor->every,
                           IO_TRIAD_DELAY_MAX, &sensor->triad.delay);
}

static bool check_only_one(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    for (int i = 0; i < resolve->scenario->sensor_count; i++) {
        const struct cfg_sensor *other = &resolve->scenario->sensors[i];
        if ((int)other->kind == keys->type)
            return cfg_fail_at(
                resolve->report, keys->node, "type",
                "\"%s\" is already the instrument of this type, and a vehicle has one "
                "of each; remove one",
                other->name);
    }
    return true;
}

static bool resolve_sensor(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    _Static_assert((int)CFG_GYRO == (int)CFG_DEVICE_GYRO &&
                       (int)CFG_ACCELEROMETER == (int)CFG_DEVICE_ACCELEROMETER &&
                       (int)CFG_MAGNETOMETER == (int)CFG_DEVICE_MAGNETOMETER,
                   "instruments come first among the devices");
    struct cfg_sensor *sensor = &resolve->scenario->sensors[resolve->scenario->sensor_count];
    if (!check_only_one(resolve, keys))
        return false;
    strcpy(sensor->name, keys->name);
    sensor->mark = keys->node->mark;
    sensor->kind = (enum cfg_instrument)keys->type;
    memcpy(sensor->point, keys->at, sizeof sensor->point);
    sensor->triad.noise_density = keys->noise;
    sensor->triad.walk_density = keys->bias_walk;
    sensor->triad.range = keys->range;
    sensor->triad.quantum = keys->quantum;
    memcpy(sensor->triad.bias, keys->bias, sizeof keys->bias);
    memcpy(sensor->triad.scale, keys->scale, sizeof keys->scale);
    mounting(keys->attitude, sensor->triad.mounting);
    resolve->scenario->sensor_count++;
    return cfg_find_body(resolve, keys->node, "body", keys->body, &sensor->body) &&
           resolve_sampling(resolve, keys, sensor);
}

/* ---- wheels ---- */

static bool find_link(const struct cfg_resolve *resolve, const struct cfg_keys_command *command,
                      int *index)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    struct cfg_suggestion suggestion = cfg_suggest_begin(command->link);
    for (int i = 0; i < scenario->link_count; i++) {
        if (strcmp(scenario->links[i].name, command->link) == 0) {
            *index = i;
            return true;
        }
        cfg_suggest_offer(&suggestion, scenario->links[i].name);
    }
    struct cfg_phrase advice = {0};
    if (suggestion.best != NULL)
        cfg_phrase_add(&advice, "did you mean \"%s\"?", suggestion.best);
    else
        cfg_phrase_add(&advice, "add it under links");
    return cfg_fail_at(resolve->report, command->node, "link", "there is no link %s; %s",
                       cfg_quote(command->link).text, advice.text);
}

static bool resolve_command(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct cfg_wheel *wheel)
{
    if (!find_link(resolve, &keys->command, &wheel->link))
        return false;
    wheel->control = (int)keys->command.control;
    for (const struct cfg_wheel *other = resolve->scenario->wheels; other < wheel; other++)
        if (other->link == wheel->link && other->control == wheel->control)
            return cfg_fail_at(resolve->report, keys->command.node, "control",
                               "control %d already drives \"%s\"; take another", wheel->control,
                               other->name);
    return true;
}

static bool check_wheel_speed(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    if (fabs(keys->speed) <= keys->max_speed)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "speed",
                       "speed of %.10g rad/s is above max_speed, %.10g rad/s; lower it",
                       fabs(keys->speed), keys->max_speed);
}

static bool resolve_wheel(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    struct cfg_wheel *wheel = &resolve->scenario->wheels[resolve->scenario->wheel_count];
    strcpy(wheel->name, keys->name);
    wheel->mark = keys->node->mark;
    wheel->speed = keys->speed;
    wheel->drive.gain = isnan(keys->gain) ? keys->max_torque : keys->gain;
    wheel->drive.quantum = keys->quantum;
    wheel->wheel = (struct dyn_wheel){
        .axis = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .inertia = keys->inertia,
        .max_torque = keys->max_torque,
        .max_speed = keys->max_speed,
        .viscous = keys->viscous,
        .coulomb = keys->coulomb,
        .coulomb_speed = keys->coulomb_speed,
    };
    resolve->scenario->wheel_count++;
    return cfg_find_body(resolve, keys->node, "body", keys->body, &wheel->body) &&
           check_wheel_speed(resolve, keys) && resolve_command(resolve, keys, wheel) &&
           cfg_whole_steps(resolve, keys->node, "delay", keys->delay, 1, IO_DRIVE_DELAY_MAX,
                           &wheel->drive.delay);
}

/* ---- all ---- */

static bool check_name(const struct cfg_resolve *resolve, int i)
{
    const struct cfg_keys_device *device = device_keys(resolve, i);
    for (int k = 0; k < i; k++)
        if (strcmp(device_keys(resolve, k)->name, device->name) == 0)
            return cfg_fail_at(resolve->report, device->node, "name",
                               "there is already a device \"%s\"; choose another name",
                               device->name);
    return true;
}

bool cfg_resolve_devices(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    const size_t count = (size_t)resolve->keys->devices.count;
    scenario->sensors = calloc(count + 1, sizeof *scenario->sensors);
    scenario->wheels = calloc(count + 1, sizeof *scenario->wheels);
    RT_CHECK(scenario->sensors != NULL && scenario->wheels != NULL);
    for (int i = 0; i < resolve->keys->devices.count; i++) {
        const struct cfg_keys_device *keys = device_keys(resolve, i);
        if (!check_name(resolve, i))
            return false;
        if (keys->type == CFG_DEVICE_WHEEL ? !resolve_wheel(resolve, keys)
                                           : !resolve_sensor(resolve, keys))
            return false;
    }
    return true;
}
