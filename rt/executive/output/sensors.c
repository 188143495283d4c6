#include "rt/executive/output/sensors.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "dynamics/world/atmosphere.h"
#include "dynamics/world/earth.h"
#include "rt/executive/sim.h"

enum { WIDTH_MAX = RIG_READING_MAX };
static const double kelvin = 273.15;

int instrument_width(enum cfg_instrument kind)
{
    static const int width[CFG_INSTRUMENT_COUNT] = {
        [CFG_GYRO] = 3,       [CFG_ACCELEROMETER] = 3, [CFG_MAGNETOMETER] = 3,
        [CFG_BAROMETER] = 1,  [CFG_AIRSPEED] = 1,      [CFG_GPS] = 6,
        [CFG_SUN_SENSOR] = 3, [CFG_STAR_TRACKER] = 5,  [CFG_ENCODER] = 1,
    };
    return width[kind];
}

/* ---- what the world does to it ---- */

static struct dyn_air air_at(const struct cfg_rig *cfg, const struct dyn_motion *motion)
{
    return dyn_air_at(cfg->plant.environment.height - motion->position[2]);
}

static void to_body(const struct dyn_motion *motion, const double world[3], double body[3])
{
    const struct dyn_quat turn = dyn_quat_load(motion->attitude);
    dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(turn), dyn_vec3_load(world)), body);
}

static void view_sky(const struct cfg_rig *cfg, const struct dyn_motion *motion,
                     struct io_star_tracker_view *view)
{
    const struct dyn_environment *environment = &cfg->plant.environment;
    *view = (struct io_star_tracker_view){0};
    memcpy(view->attitude, motion->attitude, sizeof view->attitude);
    memcpy(view->rate, motion->rate, sizeof view->rate);
    if (environment->sun_visible_fraction > 0.0)
        to_body(motion, environment->sun, view->sun);
    if (environment->kind != DYN_WORLD_ORBIT)
        return;
    const double *r = motion->position;
    const double distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const double nadir[3] = {-r[0] / distance, -r[1] / distance, -r[2] / distance};
    to_body(motion, nadir, view->nadir);
    view->earth_angle = asin(fmin(1.0, DYN_EARTH_RADIUS / distance));
}

/* ---- what it says ---- */

static bool read_triad(const struct cfg_sensor *sensor, const double truth[3],
                       struct io_three_axis_sensor_state *state, double *value)
{
    const bool answers = io_three_axis_sensor_sample(&sensor->triad, truth, state);
    memcpy(value, state->out, sizeof state->out);
    return answers;
}

static bool read_gauge(const struct cfg_sensor *sensor, double truth,
                       struct io_scalar_sensor_state *state, double *value)
{
    const bool answers = io_scalar_sensor_sample(&sensor->gauge, truth, state);
    value[0] = state->out;
    return answers;
}

static bool read_gps(const struct cfg_sensor *sensor, const struct dyn_motion *motion,
                     struct io_gps_state *state, double *value)
{
    const bool answers = io_gps_sample(&sensor->gps, motion->position, motion->velocity, state);
    memcpy(value, state->out.position, sizeof state->out.position);
    memcpy(value + 3, state->out.velocity, sizeof state->out.velocity);
    return answers;
}

static bool read_sun(const struct cfg_rig *cfg, const struct cfg_sensor *sensor,
                     const struct dyn_motion *motion, struct io_sun_sensor_state *state,
                     double *value)
{
    double sun[3];
    to_body(motion, cfg->plant.environment.sun, sun);
    const bool answers =
        io_sun_sensor_sample(&sensor->sun, sun, cfg->plant.environment.sun_visible_fraction, state);
    memcpy(value, state->out, sizeof state->out);
    return answers;
}

static bool read_tracker(const struct cfg_rig *cfg, const struct cfg_sensor *sensor,
                         const struct dyn_motion *motion, struct io_star_tracker_state *state,
                         double *value)
{
    struct io_star_tracker_view view;
    view_sky(cfg, motion, &view);
    const bool answers = io_star_tracker_sample(&sensor->tracker, &view, state);
    memcpy(value, state->attitude, sizeof state->attitude);
    value[4] = (double)state->valid;
    return answers;
}

/* False while it has nothing to say because its delay has not passed. */
static bool read(const struct cfg_rig *cfg, const struct cfg_sensor *sensor,
                 const struct dyn_motion *motion, void *state, double value[WIDTH_MAX])
{
    const double along = motion->air_velocity[0];
    switch (sensor->kind) {
    case CFG_GYRO:
        return read_triad(sensor, motion->rate, state, value);
    case CFG_ACCELEROMETER:
        return read_triad(sensor, motion->specific_force, state, value);
    case CFG_MAGNETOMETER:
        return read_triad(sensor, motion->magnetic_field, state, value);
    case CFG_BAROMETER:
        return read_gauge(sensor, air_at(cfg, motion).pressure, state, value);
    case CFG_AIRSPEED: /* what a probe along x is pressed by */
        return read_gauge(sensor, 0.5 * air_at(cfg, motion).density * along * fabs(along), state,
                          value);
    case CFG_GPS:
        return read_gps(sensor, motion, state, value);
    case CFG_SUN_SENSOR:
        return read_sun(cfg, sensor, motion, state, value);
    case CFG_STAR_TRACKER:
        return read_tracker(cfg, sensor, motion, state, value);
    default:
        return read_gauge(
            sensor, cfg->x[dyn_model_q_index(cfg->plant.model, sensor->body) + sensor->coordinate],
            state, value);
    }
}

/* ---- what goes wrong with it ---- */

/* An attitude goes wrong by a small turn; a stuck or late one is another attitude. */
static bool spoil_attitude(const struct io_fault_spec *spec, struct io_fault_state *state,
                           uint64_t frame, double dt, double q[4])
{
    const bool turns =
        spec->kind == IO_FAULT_BIAS || spec->kind == IO_FAULT_DRIFT || spec->kind == IO_FAULT_NOISE;
    double turn[3] = {0};
    if (!turns)
        return io_fault_signal(spec, state, frame, dt, q, 4);
    const bool fresh = io_fault_signal(spec, state, frame, dt, turn, 3);
    const struct dyn_quat by = {1.0, 0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]};
    dyn_quat_store(dyn_quat_unit(dyn_quat_mul(dyn_quat_load(q), by)), q);
    return fresh;
}

/* A receiver that is stuck or late is so with its velocity too; metres of a bias leave that alone.
 */
static int struck_count(enum cfg_instrument kind, const struct io_fault_spec *spec)
{
    const bool whole = spec->kind == IO_FAULT_DELAY || spec->kind == IO_FAULT_BIT_FLIP ||
                       (spec->kind == IO_FAULT_STUCK && !spec->at_value);
    return kind == CFG_GPS && !whole ? 3 : instrument_width(kind);
}

/* Every fault of this sensor in turn; false: it gives nothing new. */
static bool spoil(struct rig *rig, int index, uint64_t frame, double value[WIDTH_MAX])
{
    const struct cfg_scenario *scenario = rig->scenario;
    const enum cfg_instrument kind = scenario->sensors[index].kind;
    bool fresh = true;
    for (int i = 0; i < scenario->fault_count; i++) {
        const struct cfg_fault *fault = &scenario->faults[i];
        struct io_fault_state *state = &rig->cfg->fault[i];
        if (fault->sensor != index)
            continue;
        fresh &= kind == CFG_STAR_TRACKER
                     ? spoil_attitude(&fault->spec, state, frame, rig->cfg->h, value)
                     : io_fault_signal(&fault->spec, state, frame, rig->cfg->h, value,
                                       struck_count(kind, &fault->spec));
    }
    return fresh;
}

/* ---- where it goes ---- */

static void fill_fix(const struct rig *rig, const struct cfg_sensor *sensor, uint64_t frame,
                     const double value[WIDTH_MAX], struct io_geodetic_fix *fix)
{
    const double seconds =
        (double)(frame + 1) * rig->cfg->h - sensor->gps.delay * sensor->sample_time;
    struct dyn_geodetic at;
    dyn_world_geodetic(&rig->scenario->world, seconds, value, value + 3, &at, fix->velocity);
    fix->latitude = at.latitude;
    fix->longitude = at.longitude;
    fix->altitude = at.height;
    fix->eph = sensor->gps.eph;
    fix->epv = sensor->gps.epv;
    fix->type = sensor->gps.fix_type;
    fix->satellites = sensor->gps.satellites;
}

static void fill_sample(const struct rig *rig, const struct cfg_sensor *sensor, uint64_t frame,
                        double temperature, const double value[WIDTH_MAX], struct io_sample *sample)
{
    switch (sensor->kind) {
    case CFG_GYRO:
        memcpy(sample->gyro, value, sizeof sample->gyro);
        sample->fields |= IO_FIELD_GYRO;
        break;
    case CFG_ACCELEROMETER:
        memcpy(sample->accel, value, sizeof sample->accel);
        sample->fields |= IO_FIELD_ACCEL;
        break;
    case CFG_MAGNETOMETER:
        memcpy(sample->mag, value, sizeof sample->mag);
        sample->fields |= IO_FIELD_MAG;
        break;
    case CFG_BAROMETER:
        sample->pressure = value[0];
        sample->temperature = temperature;
        sample->fields |= IO_FIELD_BARO;
        break;
    case CFG_AIRSPEED:
        sample->diff_pressure = value[0];
        sample->fields |= IO_FIELD_AIRSPEED;
        break;
    case CFG_GPS:
        fill_fix(rig, sensor, frame, value, &sample->fix);
        break;
    case CFG_SUN_SENSOR:
        memcpy(sample->sun, value, sizeof sample->sun);
        break;
    case CFG_STAR_TRACKER:
        memcpy(sample->tracker, value, sizeof sample->tracker);
        sample->tracker_valid = value[4] != 0.0;
        break;
    default:
        sample->angle[sensor->angle] = value[0];
        if (sample->angle_count <= (uint32_t)sensor->angle)
            sample->angle_count = (uint32_t)sensor->angle + 1;
    }
}

static void log_reading(struct rig *rig, int index, uint64_t frame, const double *value)
{
    const size_t size =
        (size_t)instrument_width(rig->scenario->sensors[index].kind) * sizeof *value;
    if (rig->reading)
        memcpy(rig->reading[index], value, size);
    if (!rig->telemetry)
        return;
    const int channel = rig->layout.sensor + index;
    const uint64_t log_time_ns =
        (frame + 1 - rig->schedule->frame_offset) * rig->scenario->period_ns;
    void *record = io_telemetry_claim(rig->telemetry, channel, log_time_ns);
    if (!record)
        return;
    memcpy(record, value, size);
    io_telemetry_push(rig->telemetry, channel);
}

/* The message that only this instrument feeds; nothing of it leaves while it is dropped. */
static uint32_t message_of(enum cfg_instrument kind)
{
    switch (kind) {
    case CFG_GPS:
        return IO_SEND_GPS;
    case CFG_SUN_SENSOR:
        return IO_SEND_SUN;
    case CFG_STAR_TRACKER:
        return IO_SEND_TRACKER;
    default:
        return 0;
    }
}

/* What only this instrument puts into a sensor message that must have it. */
static uint32_t field_of(enum cfg_instrument kind)
{
    return kind == CFG_GYRO ? IO_FIELD_GYRO : kind == CFG_ACCELEROMETER ? IO_FIELD_ACCEL : 0;
}

void instrument_begin(struct rig *rig)
{
    for (int i = 0; i < rig->scenario->sensor_count; i++) {
        const enum cfg_instrument kind = rig->scenario->sensors[i].kind;
        rig->mute |= kind == CFG_ENCODER ? (uint32_t)IO_SEND_ANGLES : message_of(kind);
        rig->silent |= field_of(kind);
    }
}

/* Encoders share a message, so it waits for the last of them. */
static bool all_encoders_answer(const struct rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->sensor_count; i++) {
        const struct cfg_sensor *sensor = &scenario->sensors[i];
        const struct io_scalar_sensor_state *state = rig->cfg->instrument[i];
        if (sensor->kind == CFG_ENCODER && state->samples <= sensor->gauge.delay)
            return false;
    }
    return true;
}

/* What a board must not hear before this instrument has something to say. */
static void note_answer(struct rig *rig, const struct cfg_sensor *sensor, bool answers)
{
    const uint32_t field = field_of(sensor->kind);
    rig->silent = answers ? rig->silent & ~field : rig->silent | field;
    if (sensor->kind != CFG_ENCODER)
        return;
    if (!answers)
        rig->mute |= IO_SEND_ANGLES;
    else if (rig->mute & IO_SEND_ANGLES && all_encoders_answer(rig))
        rig->mute &= ~(uint32_t)IO_SEND_ANGLES;
}

void instrument_sample(struct rig *rig, int index, uint64_t frame)
{
    struct cfg_rig *cfg = rig->cfg;
    const struct cfg_sensor *sensor = &rig->scenario->sensors[index];
    double value[WIDTH_MAX] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&cfg->plant, cfg->work, cfg->x, sensor->body, sensor->point, &motion);
    const bool answers = read(cfg, sensor, &motion, cfg->instrument[index], value);
    const bool fresh = answers && spoil(rig, index, frame, value);

    note_answer(rig, sensor, answers);
    rig->mute =
        fresh ? rig->mute & ~message_of(sensor->kind) : rig->mute | message_of(sensor->kind);
    if (!fresh)
        return;
    const double temperature =
        sensor->kind == CFG_BAROMETER ? air_at(cfg, &motion).temperature - kelvin : 0.0;
    for (int i = 0; i < rig->scenario->link_count; i++)
        fill_sample(rig, sensor, frame, temperature, value, &rig->sample[i]);
    log_reading(rig, index, frame, value);
}
