/*
 * Instruments: where they sit, when they sample, how they err.
 */
#include "config/resolve/device.h"

#include <math.h>
#include <string.h>

#include "rt/executive/output/sensor_types.h"

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

static void fill_triad(const struct cfg_keys_device *keys, double sample_time,
                       struct io_three_axis_sensor_spec *triad)
{
    const double *turn = keys->misalignment;
    /* What an axis turned by a small angle feels of the others: 1 - [turn x]. */
    const double E[6] = {turn[2], -turn[1], -turn[2], turn[0], turn[1], -turn[0]};
    *triad = (struct io_three_axis_sensor_spec){
        .noise_density = keys->noise,
        .walk_density = keys->bias_walk,
        .instability = keys->instability,
        .instability_time = keys->instability_time,
        .range = keys->range,
        .quantum = keys->quantum,
        .sample_time = sample_time,
    };
    memcpy(triad->misalignment, E, sizeof E);
    memcpy(triad->bias, keys->bias, sizeof triad->bias);
    memcpy(triad->scale, keys->scale, sizeof triad->scale);
    mounting(keys->attitude, triad->mounting);
}

static void fill_gauge(const struct cfg_keys_device *keys, double sample_time,
                       struct io_scalar_sensor_spec *gauge)
{
    gauge->error = (struct io_sensor_error_spec){
        .scale = keys->scale[0],
        .bias = keys->bias[0],
        .noise_density = keys->noise,
        .walk_density = keys->bias_walk,
        .instability = keys->instability,
        .instability_time = keys->instability_time,
        .range = keys->range,
        .quantum = keys->quantum,
        .sample_time = sample_time,
    };
}

static void fill_gps(const struct cfg_keys_device *keys, double sample_time,
                     struct io_gps_spec *gps)
{
    *gps = (struct io_gps_spec){
        .noise_horizontal = keys->noise_horizontal,
        .noise_vertical = keys->noise_vertical,
        .wander_horizontal = keys->wander,
        .wander_vertical = keys->wander,
        .wander_time = keys->wander_time,
        .velocity_noise_horizontal = keys->noise_velocity,
        .velocity_noise_vertical = keys->noise_velocity,
        .eph = keys->eph,
        .epv = keys->epv,
        .sample_time = sample_time,
        .satellites = (uint32_t)keys->satellites,
        .fix_type = keys->satellites >= 4 ? 3 : 0,
    };
}

static void fill_sun(const struct cfg_keys_device *keys, struct io_sun_sensor_spec *sun)
{
    *sun = (struct io_sun_sensor_spec){
        .boresight = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .half_angle = keys->view,
        .noise = keys->noise,
        .quantum = keys->quantum,
    };
}

static void fill_tracker(const struct cfg_keys_device *keys, struct io_star_tracker_spec *tracker)
{
    *tracker = (struct io_star_tracker_spec){
        .boresight = {keys->axis[0], keys->axis[1], keys->axis[2]},
        .noise_across = keys->noise_horizontal,
        .noise_about = keys->noise_vertical,
        .sun_exclusion = keys->sun_exclusion,
        .earth_exclusion = keys->earth_exclusion,
        .max_rate = keys->max_rate,
    };
    memcpy(tracker->misalignment, keys->misalignment, sizeof tracker->misalignment);
}

/* Where the delay of its kind is kept. */
static uint32_t *fill(const struct cfg_keys_device *keys, struct sim_sensor *sensor)
{
    switch (sensor->kind) {
    case SIM_SENSOR_GYRO:
    case SIM_SENSOR_ACCELEROMETER:
    case SIM_SENSOR_MAGNETOMETER:
        fill_triad(keys, sensor->sample_time, &sensor->triad);
        return &sensor->triad.delay;
    case SIM_SENSOR_GPS:
        fill_gps(keys, sensor->sample_time, &sensor->gps);
        return &sensor->gps.delay;
    case SIM_SENSOR_SUN:
        fill_sun(keys, &sensor->sun);
        return &sensor->sun.delay;
    case SIM_SENSOR_STAR_TRACKER:
        fill_tracker(keys, &sensor->tracker);
        return &sensor->tracker.delay;
    default:
        fill_gauge(keys, sensor->sample_time, &sensor->gauge);
        return &sensor->gauge.delay;
    }
}

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

/* What an instrument needs of the world. */
static bool check_world(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    const struct sim_sensor_type *type = &sim_sensor_types[keys->type];
    const char *lack = type->lacks != NULL ? type->lacks(&resolve->scenario->spec) : NULL;
    return lack == NULL || cfg_fail_at(resolve->report, keys->node, "type", "%s", lack);
}

static bool resolve_encoder(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                            struct sim_sensor *sensor)
{
    if (keys->type != CFG_DEVICE_ENCODER)
        return true;
    const struct cfg_scenario *scenario = resolve->scenario;
    const struct dyn_body_spec *spec = &scenario->spec.bodies[sensor->body].spec;
    const int count = spec->mimic.on ? 0 : dyn_joint_nq(spec);
    sensor->coordinate = (int)keys->coordinate;
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        sensor->angle += scenario->spec.sensors[i].kind == SIM_SENSOR_ENCODER;
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

bool cfg_resolve_sensor(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys)
{
    _Static_assert((int)SIM_SENSOR_GYRO == (int)CFG_DEVICE_GYRO &&
                       (int)SIM_SENSOR_ENCODER == (int)CFG_DEVICE_ENCODER &&
                       (int)SIM_SENSOR_KIND_COUNT == (int)CFG_DEVICE_WHEEL,
                   "instruments come first among the devices");
    struct sim_sensor *sensor =
        &resolve->scenario->spec.sensors[resolve->scenario->spec.sensor_count];
    if (!check_only_one(resolve, keys) || !check_world(resolve, keys))
        return false;
    *sensor = (struct sim_sensor){.kind = (enum sim_sensor_kind)keys->type, .every = 1};
    strcpy(sensor->name, keys->name);
    memcpy(sensor->point, keys->at, sizeof sensor->point);
    if (!isnan(keys->rate) &&
        !cfg_frames_per(resolve, keys->node, "rate", keys->rate, &sensor->every))
        return false;
    sensor->sample_time = (double)sensor->every * (double)resolve->scenario->spec.period_ns * 1e-9;
    uint32_t *delay = fill(keys, sensor);
    if (!cfg_find_body(resolve, keys->node, "body", keys->body, &sensor->body) ||
        !cfg_whole_steps(resolve, keys->node, "delay", keys->delay, sensor->every,
                         IO_THREE_AXIS_SENSOR_DELAY_MAX, delay) ||
        !resolve_encoder(resolve, keys, sensor))
        return false;
    resolve->scenario->spec.sensor_count++;
    return true;
}
