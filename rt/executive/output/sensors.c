#include "rt/executive/output/sensors.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "dynamics/world/atmosphere.h"
#include "dynamics/world/earth.h"
#include "rt/executive/sim.h"

enum { WIDTH_MAX = SIM_READING_MAX };
static const double kelvin = 273.15;

int sim_sensor_width(enum sim_sensor_kind kind)
{
    static const int width[SIM_SENSOR_KIND_COUNT] = {
        [SIM_SENSOR_GYRO] = 3,      [SIM_SENSOR_ACCELEROMETER] = 3, [SIM_SENSOR_MAGNETOMETER] = 3,
        [SIM_SENSOR_BAROMETER] = 1, [SIM_SENSOR_AIRSPEED] = 1,      [SIM_SENSOR_GPS] = 6,
        [SIM_SENSOR_SUN] = 3,       [SIM_SENSOR_STAR_TRACKER] = 5,  [SIM_SENSOR_ENCODER] = 1,
    };
    return width[kind];
}

/* ---- what the world does to it ---- */

static struct dyn_air air_at(const struct sim_vehicle *vehicle, const struct dyn_motion *motion)
{
    return dyn_air_at(vehicle->plant.environment.height - motion->position[2]);
}

static void to_body(const struct dyn_motion *motion, const double world[3], double body[3])
{
    const struct dyn_quat turn = dyn_quat_load(motion->attitude);
    dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(turn), dyn_vec3_load(world)), body);
}

static void compute_sky_view(const struct sim_vehicle *vehicle, const struct dyn_motion *motion,
                             struct io_star_tracker_view *view)
{
    const struct dyn_environment *environment = &vehicle->plant.environment;
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

static bool read_triad(const struct sim_sensor *sensor, const double truth[3],
                       struct io_three_axis_sensor_state *state, double *value)
{
    const bool answers = io_three_axis_sensor_sample(&sensor->triad, truth, state);
    memcpy(value, state->out, sizeof state->out);
    return answers;
}

static bool read_gauge(const struct sim_sensor *sensor, double truth,
                       struct io_scalar_sensor_state *state, double *value)
{
    const bool answers = io_scalar_sensor_sample(&sensor->gauge, truth, state);
    value[0] = state->out;
    return answers;
}

static bool read_gps(const struct sim_sensor *sensor, const struct dyn_motion *motion,
                     struct io_gps_state *state, double *value)
{
    const bool answers = io_gps_sample(&sensor->gps, motion->position, motion->velocity, state);
    memcpy(value, state->out.position, sizeof state->out.position);
    memcpy(value + 3, state->out.velocity, sizeof state->out.velocity);
    return answers;
}

static bool read_sun(const struct sim_vehicle *vehicle, const struct sim_sensor *sensor,
                     const struct dyn_motion *motion, struct io_sun_sensor_state *state,
                     double *value)
{
    double sun[3];
    to_body(motion, vehicle->plant.environment.sun, sun);
    const bool answers = io_sun_sensor_sample(
        &sensor->sun, sun, vehicle->plant.environment.sun_visible_fraction, state);
    memcpy(value, state->out, sizeof state->out);
    return answers;
}

static bool read_tracker(const struct sim_vehicle *vehicle, const struct sim_sensor *sensor,
                         const struct dyn_motion *motion, struct io_star_tracker_state *state,
                         double *value)
{
    struct io_star_tracker_view view;
    compute_sky_view(vehicle, motion, &view);
    const bool answers = io_star_tracker_sample(&sensor->tracker, &view, state);
    memcpy(value, state->attitude, sizeof state->attitude);
    value[4] = (double)state->valid;
    return answers;
}

/* False while it has nothing to say because its delay has not passed. */
static bool read_sensor(const struct sim_vehicle *vehicle, const struct sim_sensor *sensor,
                        const struct dyn_motion *motion, void *state, double value[WIDTH_MAX])
{
    const double along = motion->air_velocity[0];
    switch (sensor->kind) {
    case SIM_SENSOR_GYRO:
        return read_triad(sensor, motion->rate, state, value);
    case SIM_SENSOR_ACCELEROMETER:
        return read_triad(sensor, motion->specific_force, state, value);
    case SIM_SENSOR_MAGNETOMETER:
        return read_triad(sensor, motion->magnetic_field, state, value);
    case SIM_SENSOR_BAROMETER:
        return read_gauge(sensor, air_at(vehicle, motion).pressure, state, value);
    case SIM_SENSOR_AIRSPEED: /* what a probe along x is pressed by */
        return read_gauge(sensor, 0.5 * air_at(vehicle, motion).density * along * fabs(along),
                          state, value);
    case SIM_SENSOR_GPS:
        return read_gps(sensor, motion, state, value);
    case SIM_SENSOR_SUN:
        return read_sun(vehicle, sensor, motion, state, value);
    case SIM_SENSOR_STAR_TRACKER:
        return read_tracker(vehicle, sensor, motion, state, value);
    default:
        return read_gauge(
            sensor,
            vehicle->x[dyn_model_q_index(vehicle->plant.model, sensor->body) + sensor->coordinate],
            state, value);
    }
}

/* ---- what goes wrong with it ---- */

/* An attitude goes wrong by a small turn; a stuck or late one is another attitude. */
static bool apply_attitude_fault(const struct io_fault_spec *spec, struct io_fault_state *state,
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
static int faulted_width(enum sim_sensor_kind kind, const struct io_fault_spec *spec)
{
    const bool whole = spec->kind == IO_FAULT_DELAY || spec->kind == IO_FAULT_BIT_FLIP ||
                       (spec->kind == IO_FAULT_STUCK && !spec->at_value);
    return kind == SIM_SENSOR_GPS && !whole ? 3 : sim_sensor_width(kind);
}

/* Every fault of this sensor in turn; false: it gives nothing new. */
static bool apply_faults(struct sim *sim, int index, uint64_t frame, double value[WIDTH_MAX])
{
    const struct sim_spec *spec = sim->spec;
    const enum sim_sensor_kind kind = spec->sensors[index].kind;
    bool fresh = true;
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        const struct io_fault_spec *tuned = &sim->vehicle->tuned.faults[i];
        struct io_fault_state *state = &sim->vehicle->fault[i];
        if (fault->sensor != index)
            continue;
        fresh &= kind == SIM_SENSOR_STAR_TRACKER
                     ? apply_attitude_fault(tuned, state, frame, sim->vehicle->h, value)
                     : io_fault_signal(tuned, state, frame, sim->vehicle->h, value,
                                       faulted_width(kind, &fault->spec));
    }
    return fresh;
}

/* ---- where it goes ---- */

static void fill_fix(const struct sim *sim, const struct sim_sensor *sensor, uint64_t frame,
                     const double value[WIDTH_MAX], struct io_geodetic_fix *fix)
{
    const double seconds =
        (double)(frame + 1) * sim->vehicle->h - sensor->gps.delay * sensor->sample_time;
    struct dyn_geodetic at;
    dyn_world_geodetic(&sim->spec->world, seconds, value, value + 3, &at, fix->velocity);
    fix->latitude = at.latitude;
    fix->longitude = at.longitude;
    fix->altitude = at.height;
    fix->eph = sensor->gps.eph;
    fix->epv = sensor->gps.epv;
    fix->type = sensor->gps.fix_type;
    fix->satellites = sensor->gps.satellites;
}

static void fill_sample(const struct sim *sim, const struct sim_sensor *sensor, uint64_t frame,
                        double temperature, const double value[WIDTH_MAX], struct io_sample *sample)
{
    switch (sensor->kind) {
    case SIM_SENSOR_GYRO:
        memcpy(sample->gyro, value, sizeof sample->gyro);
        sample->fields |= IO_FIELD_GYRO;
        break;
    case SIM_SENSOR_ACCELEROMETER:
        memcpy(sample->accel, value, sizeof sample->accel);
        sample->fields |= IO_FIELD_ACCEL;
        break;
    case SIM_SENSOR_MAGNETOMETER:
        memcpy(sample->mag, value, sizeof sample->mag);
        sample->fields |= IO_FIELD_MAG;
        break;
    case SIM_SENSOR_BAROMETER:
        sample->pressure = value[0];
        sample->temperature = temperature;
        sample->fields |= IO_FIELD_BARO;
        break;
    case SIM_SENSOR_AIRSPEED:
        sample->diff_pressure = value[0];
        sample->fields |= IO_FIELD_AIRSPEED;
        break;
    case SIM_SENSOR_GPS:
        fill_fix(sim, sensor, frame, value, &sample->fix);
        break;
    case SIM_SENSOR_SUN:
        memcpy(sample->sun, value, sizeof sample->sun);
        break;
    case SIM_SENSOR_STAR_TRACKER:
        memcpy(sample->tracker, value, sizeof sample->tracker);
        sample->tracker_valid = value[4] != 0.0;
        break;
    default:
        sample->angle[sensor->angle] = value[0];
        if (sample->angle_count <= (uint32_t)sensor->angle)
            sample->angle_count = (uint32_t)sensor->angle + 1;
    }
}

static void log_reading(struct sim *sim, int index, uint64_t frame, const double *value)
{
    const size_t size = (size_t)sim_sensor_width(sim->spec->sensors[index].kind) * sizeof *value;
    if (sim->reading)
        memcpy(sim->reading[index], value, size);
    if (!sim->telemetry)
        return;
    const int channel = sim->layout.sensor + index;
    const uint64_t log_time_ns = (frame + 1 - sim->schedule->frame_offset) * sim->spec->period_ns;
    void *record = io_telemetry_claim(sim->telemetry, channel, log_time_ns);
    if (!record)
        return;
    memcpy(record, value, size);
    io_telemetry_push(sim->telemetry, channel);
}

/* The message that only this instrument feeds; nothing of it leaves while it is dropped. */
static uint32_t message_of(enum sim_sensor_kind kind)
{
    switch (kind) {
    case SIM_SENSOR_GPS:
        return IO_SEND_GPS;
    case SIM_SENSOR_SUN:
        return IO_SEND_SUN;
    case SIM_SENSOR_STAR_TRACKER:
        return IO_SEND_TRACKER;
    default:
        return 0;
    }
}

/* What only this instrument puts into a sensor message that must have it. */
static uint32_t field_of(enum sim_sensor_kind kind)
{
    return kind == SIM_SENSOR_GYRO            ? IO_FIELD_GYRO
           : kind == SIM_SENSOR_ACCELEROMETER ? IO_FIELD_ACCEL
                                              : 0;
}

void sim_sensors_begin(struct sim *sim)
{
    for (int i = 0; i < sim->spec->sensor_count; i++) {
        const enum sim_sensor_kind kind = sim->spec->sensors[i].kind;
        sim->scratch.withheld_messages |=
            kind == SIM_SENSOR_ENCODER ? (uint32_t)IO_SEND_ANGLES : message_of(kind);
        sim->scratch.silent |= field_of(kind);
    }
}

/* Encoders share a message, so it waits for the last of them. */
static bool all_encoders_ready(const struct sim *sim)
{
    const struct sim_spec *spec = sim->spec;
    for (int i = 0; i < spec->sensor_count; i++) {
        const struct sim_sensor *sensor = &spec->sensors[i];
        const struct io_scalar_sensor_state *state = sim->vehicle->instrument[i];
        if (sensor->kind == SIM_SENSOR_ENCODER && state->samples <= sensor->gauge.delay)
            return false;
    }
    return true;
}

/* What a board must not hear before this instrument has something to say. */
static void update_withheld(struct sim *sim, const struct sim_sensor *sensor, bool answers)
{
    const uint32_t field = field_of(sensor->kind);
    sim->scratch.silent = answers ? sim->scratch.silent & ~field : sim->scratch.silent | field;
    if (sensor->kind != SIM_SENSOR_ENCODER)
        return;
    if (!answers)
        sim->scratch.withheld_messages |= IO_SEND_ANGLES;
    else if (sim->scratch.withheld_messages & IO_SEND_ANGLES && all_encoders_ready(sim))
        sim->scratch.withheld_messages &= ~(uint32_t)IO_SEND_ANGLES;
}

void sim_sensor_sample(struct sim *sim, int index, uint64_t frame)
{
    struct sim_vehicle *vehicle = sim->vehicle;
    const struct sim_sensor *sensor = &sim->vehicle->tuned.sensors[index];
    double value[WIDTH_MAX] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, sensor->body, sensor->point,
                     &motion);
    const bool answers = read_sensor(vehicle, sensor, &motion, vehicle->instrument[index], value);
    const bool fresh = answers && apply_faults(sim, index, frame, value);

    update_withheld(sim, sensor, answers);
    sim->scratch.withheld_messages =
        fresh ? sim->scratch.withheld_messages & ~message_of(sensor->kind)
              : sim->scratch.withheld_messages | message_of(sensor->kind);
    if (!fresh)
        return;
    const double temperature =
        sensor->kind == SIM_SENSOR_BAROMETER ? air_at(vehicle, &motion).temperature - kelvin : 0.0;
    for (int i = 0; i < sim->spec->link_count; i++)
        fill_sample(sim, sensor, frame, temperature, value, &sim->scratch.sample[i]);
    log_reading(sim, index, frame, value);
}
