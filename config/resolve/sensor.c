/*
 * Resolves sensors: their node, their rate and their errors.
 *
 * Tested by tests/config/resolve/test_devices.c.
 */
#include "config/resolve/device.h"

#include <math.h>
#include <string.h>

#include "rt/executive/output/sensor_types.h"

/* Rows of the rotation from body axes to sensor axes, from the sensor's attitude. */
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

/* ---- numbers that are computed from keys; the rest has been copied ---- */

static bool finish_triad(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                         struct sim_sensor *sensor)
{
    const double *turn = keys->misalignment;
    /* The cross-axis matrix of axes that are turned by small angles: 1 - [turn x]. */
    const double E[6] = {turn[2], -turn[1], -turn[2], turn[0], turn[1], -turn[0]};
    (void)resolve;
    memcpy(sensor->triad.misalignment, E, sizeof E);
    mounting(keys->attitude, sensor->triad.mounting);
    sensor->triad.sample_time = sensor->sample_time;
    return true;
}

static bool finish_gauge(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                         struct sim_sensor *sensor)
{
    (void)resolve, (void)keys;
    sensor->gauge.error.sample_time = sensor->sample_time;
    return true;
}

static bool finish_gps(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                       struct sim_sensor *sensor)
{
    struct io_gps_spec *gps = &sensor->gps;
    (void)resolve;
    gps->wander_vertical = gps->wander_horizontal;
    gps->velocity_noise_vertical = gps->velocity_noise_horizontal;
    gps->sample_time = sensor->sample_time;
    gps->satellites = (uint32_t)keys->satellites;
    gps->fix_type = keys->satellites >= 4 ? 3 : 0;
    return true;
}

static bool finish_encoder(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                           struct sim_sensor *sensor)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const struct dyn_body_spec *spec = &scenario->spec.bodies[sensor->body].spec;
    const int count = spec->mimic.on ? 0 : dyn_joint_nq(spec);
    sensor->gauge.error.sample_time = sensor->sample_time;
    sensor->coordinate = (int)keys->coordinate;
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        sensor->angle += scenario->spec.sensors[i].kind == sensor->kind;
    if (spec->joint == DYN_JOINT_FREE || spec->joint == DYN_JOINT_SPHERICAL || count == 0)
        return cfg_fail_at(resolve->report, keys->node, "body",
                           "the joint of \"%s\" has no angle or travel that an encoder could read; "
                           "name a body on a hinge or slide",
                           scenario->spec.bodies[sensor->body].name);
    if (sensor->coordinate >= count)
        return cfg_fail_at(resolve->report, keys->node, "coordinate",
                           "the joint of \"%s\" has %d coordinate%s, counted from 0",
                           scenario->spec.bodies[sensor->body].name, count, count == 1 ? "" : "s");
    if (sensor->angle >= IO_ANGLE_MAX)
        return cfg_fail_at(resolve->report, keys->node, "type",
                           "a vehicle can have %d encoders; remove some", IO_ANGLE_MAX);
    return true;
}

/* NULL: nothing is left to compute. */
static bool (*const finish[SIM_SENSOR_KIND_COUNT])(const struct cfg_resolve *,
                                                   const struct cfg_keys_device *,
                                                   struct sim_sensor *) = {
    [SIM_SENSOR_GYRO] = finish_triad,         [SIM_SENSOR_ACCELEROMETER] = finish_triad,
    [SIM_SENSOR_MAGNETOMETER] = finish_triad, [SIM_SENSOR_BAROMETER] = finish_gauge,
    [SIM_SENSOR_AIRSPEED] = finish_gauge,     [SIM_SENSOR_GPS] = finish_gps,
    [SIM_SENSOR_ENCODER] = finish_encoder,
};

/* ---- all ---- */

static bool check_only_one(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    if (sim_sensor_types[keys->type].many)
        return true;
    for (int i = 0; i < resolve->scenario->spec.sensor_count; i++) {
        const struct sim_sensor *other = &resolve->scenario->spec.sensors[i];
        if ((int)other->kind == keys->type)
            return cfg_fail_at(
                resolve->report, keys->node, "type",
                "\"%s\" is already the instrument of this type, and a vehicle has one "
                "of each; remove one",
                other->name);
    }
    return true;
}

/* Check that the world has what a sensor needs. */
static bool check_world(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    const struct sim_sensor_type *type = &sim_sensor_types[keys->type];
    const char *lack = type->lacks != NULL ? type->lacks(&resolve->scenario->spec) : NULL;
    return lack == NULL || cfg_fail_at(resolve->report, keys->node, "type", "%s", lack);
}

static bool resolve_delay(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                          struct sim_sensor *sensor)
{
    uint32_t samples;
    if (!cfg_whole_steps(resolve, keys->node, "delay", keys->delay, sensor->every,
                         IO_THREE_AXIS_SENSOR_DELAY_MAX, &samples))
        return false;
    memcpy((unsigned char *)sensor + sim_sensor_types[sensor->kind].delay, &samples,
           sizeof samples);
    return true;
}

bool cfg_resolve_sensor(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    struct sim_sensor *sensor =
        &resolve->scenario->spec.sensors[resolve->scenario->spec.sensor_count];
    if (!check_only_one(resolve, keys) || !check_world(resolve, keys))
        return false;
    *sensor = keys->sensor;
    sensor->kind = (enum sim_sensor_kind)keys->type;
    sensor->every = 1;
    strcpy(sensor->name, keys->name);
    if (!isnan(keys->rate) &&
        !cfg_frames_per(resolve, keys->node, "rate", keys->rate, &sensor->every))
        return false;
    sensor->sample_time = (double)sensor->every * (double)resolve->scenario->spec.period_ns * 1e-9;
    if (!cfg_find_body(resolve, keys->node, "body", keys->body, &sensor->body) ||
        !resolve_delay(resolve, keys, sensor) ||
        (finish[keys->type] != NULL && !finish[keys->type](resolve, keys, sensor)))
        return false;
    resolve->scenario->spec.sensor_count++;
    return true;
}
