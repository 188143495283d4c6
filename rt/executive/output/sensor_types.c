#include "rt/executive/output/sensor_types.h"

#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "dynamics/world/atmosphere.h"
#include "dynamics/world/earth.h"
#include "rt/executive/world_needs.h"

/* The member of struct sim_sensor that its kind has, and the state of its signal. */
#define SIGNAL(member, state)                                                                      \
    .delay = offsetof(struct sim_sensor, member.delay), .samples = offsetof(state, samples),       \
    .state_size = sizeof(state)

static void to_body(const struct dyn_motion *motion, const double world[3], double body[3])
{
    const struct dyn_quat turn = dyn_quat_load(motion->attitude);
    dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(turn), dyn_vec3_load(world)), body);
}

static bool is_additive(const struct io_fault_spec *spec)
{
    return spec->kind == IO_FAULT_BIAS || spec->kind == IO_FAULT_DRIFT ||
           spec->kind == IO_FAULT_NOISE;
}

/* ---- three axes: gyro, accelerometer, magnetometer ---- */

static void begin_triad(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream,
                        void *state)
{
    io_three_axis_sensor_begin(&sensor->triad, seed, stream, state);
}

static bool sample_triad(const struct sim_sensor *sensor, const double truth[3],
                         struct io_three_axis_sensor_state *state, double *value)
{
    const bool answers = io_three_axis_sensor_sample(&sensor->triad, truth, state);
    memcpy(value, state->out, sizeof state->out);
    return answers;
}

static bool sample_gyro(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                        void *state, double *value)
{
    return sample_triad(sensor, view->motion->rate, state, value);
}

static void put_gyro(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                     const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    memcpy(sample->gyro, value, sizeof sample->gyro);
    sample->fields |= IO_FIELD_GYRO;
}

static bool sample_accelerometer(const struct sim_sensor *sensor,
                                 const struct sim_sensor_view *view, void *state, double *value)
{
    return sample_triad(sensor, view->motion->specific_force, state, value);
}

static void put_accelerometer(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                              const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    memcpy(sample->accel, value, sizeof sample->accel);
    sample->fields |= IO_FIELD_ACCEL;
}

static bool sample_magnetometer(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                                void *state, double *value)
{
    return sample_triad(sensor, view->motion->magnetic_field, state, value);
}

static void put_magnetometer(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                             const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    memcpy(sample->mag, value, sizeof sample->mag);
    sample->fields |= IO_FIELD_MAG;
}

/* ---- one number: barometer, airspeed probe, encoder ---- */

static void begin_gauge(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream,
                        void *state)
{
    io_scalar_sensor_begin(&sensor->gauge, seed, stream, state);
}

static bool sample_gauge(const struct sim_sensor *sensor, double truth,
                         struct io_scalar_sensor_state *state, double *value)
{
    const bool answers = io_scalar_sensor_sample(&sensor->gauge, truth, state);
    value[0] = state->out;
    return answers;
}

static struct dyn_air air_at(const struct sim_sensor_view *view)
{
    return dyn_air_at(view->plant->environment.height - view->motion->position[2]);
}

static bool sample_barometer(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                             void *state, double *value)
{
    return sample_gauge(sensor, air_at(view).pressure, state, value);
}

static void put_barometer(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                          const double *value, struct io_sample *sample)
{
    static const double kelvin = 273.15;
    (void)sensor;
    sample->pressure = value[0];
    sample->temperature = air_at(view).temperature - kelvin;
    sample->fields |= IO_FIELD_BARO;
}

/* The dynamic pressure on a probe along x. */
static bool sample_airspeed(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                            void *state, double *value)
{
    const double along = view->motion->air_velocity[0];
    return sample_gauge(sensor, 0.5 * air_at(view).density * along * fabs(along), state, value);
}

static void put_airspeed(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                         const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    sample->diff_pressure = value[0];
    sample->fields |= IO_FIELD_AIRSPEED;
}

static bool sample_encoder(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                           void *state, double *value)
{
    const int joint = dyn_model_q_index(view->plant->model, sensor->body);
    return sample_gauge(sensor, view->x[joint + sensor->coordinate], state, value);
}

static void put_encoder(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                        const double *value, struct io_sample *sample)
{
    (void)view;
    sample->angle[sensor->angle] = value[0];
    if (sample->angle_count <= (uint32_t)sensor->angle)
        sample->angle_count = (uint32_t)sensor->angle + 1;
}

/* ---- satellite navigation ---- */

static void begin_gps(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream, void *state)
{
    io_gps_begin(&sensor->gps, seed, stream, state);
}

static bool sample_gps(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                       void *state, double *value)
{
    const struct io_gps_state *now = state;
    const bool answers =
        io_gps_sample(&sensor->gps, view->motion->position, view->motion->velocity, state);
    memcpy(value, now->out.position, sizeof now->out.position);
    memcpy(value + 3, now->out.velocity, sizeof now->out.velocity);
    return answers;
}

static void put_gps(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                    const double *value, struct io_sample *sample)
{
    const double seconds = view->seconds - sensor->gps.delay * sensor->sample_time;
    struct io_geodetic_fix *fix = &sample->fix;
    struct dyn_geodetic at;
    dyn_world_geodetic(&view->spec->world, seconds, value, value + 3, &at, fix->velocity);
    fix->latitude = at.latitude;
    fix->longitude = at.longitude;
    fix->altitude = at.height;
    fix->eph = sensor->gps.eph;
    fix->epv = sensor->gps.epv;
    fix->type = sensor->gps.fix_type;
    fix->satellites = sensor->gps.satellites;
}

/* ---- what looks at the sky ---- */

static void begin_sun_sensor(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream,
                             void *state)
{
    io_sun_sensor_begin(&sensor->sun, seed, stream, state);
}

static bool sample_sun_sensor(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                              void *state, double *value)
{
    const struct dyn_environment *environment = &view->plant->environment;
    const struct io_sun_sensor_state *now = state;
    double sun[3];
    to_body(view->motion, environment->sun, sun);
    const bool answers =
        io_sun_sensor_sample(&sensor->sun, sun, environment->sun_visible_fraction, state);
    memcpy(value, now->out, sizeof now->out);
    return answers;
}

static void put_sun_sensor(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                           const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    memcpy(sample->sun, value, sizeof sample->sun);
}

static void begin_star_tracker(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream,
                               void *state)
{
    io_star_tracker_begin(&sensor->tracker, seed, stream, state);
}

static void compute_sky_view(const struct sim_sensor_view *from, struct io_star_tracker_view *view)
{
    const struct dyn_environment *environment = &from->plant->environment;
    const struct dyn_motion *motion = from->motion;
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

static bool sample_star_tracker(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                                void *state, double *value)
{
    const struct io_star_tracker_state *now = state;
    struct io_star_tracker_view sky;
    compute_sky_view(view, &sky);
    const bool answers = io_star_tracker_sample(&sensor->tracker, &sky, state);
    memcpy(value, now->attitude, sizeof now->attitude);
    value[4] = (double)now->valid;
    return answers;
}

/* An attitude goes wrong by a small turn; a stuck or late one is another attitude. */
static bool fault_attitude(const struct io_fault_spec *spec, struct io_fault_state *state,
                           uint64_t frame, double dt, double *q)
{
    double turn[3] = {0};
    if (!is_additive(spec))
        return io_fault_signal(spec, state, frame, dt, q, 4);
    const bool fresh = io_fault_signal(spec, state, frame, dt, turn, 3);
    const struct dyn_quat by = {1.0, 0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]};
    dyn_quat_store(dyn_quat_unit(dyn_quat_mul(dyn_quat_load(q), by)), q);
    return fresh;
}

static void put_star_tracker(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                             const double *value, struct io_sample *sample)
{
    (void)sensor, (void)view;
    memcpy(sample->tracker, value, sizeof sample->tracker);
    sample->tracker_valid = value[4] != 0.0;
}

static const char *lacks_earth(const struct sim_spec *spec)
{
    return spec->environment.kind == DYN_WORLD_ORBIT
               ? NULL
               : "the horizon of the Earth is seen from orbit alone; give environment.world: orbit";
}

static void begin_horizon_sensor(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream,
                                 void *state)
{
    io_horizon_sensor_begin(&sensor->horizon, seed, stream, state);
}

static bool sample_horizon_sensor(const struct sim_sensor *sensor,
                                  const struct sim_sensor_view *view, void *state, double *value)
{
    const struct io_horizon_sensor_state *now = state;
    struct io_star_tracker_view sky;
    struct io_horizon_sensor_view limb;
    compute_sky_view(view, &sky);
    memcpy(limb.earth, sky.nadir, sizeof limb.earth);
    memcpy(limb.sun, sky.sun, sizeof limb.sun);
    limb.earth_angle = sky.earth_angle;
    const bool answers = io_horizon_sensor_sample(&sensor->horizon, &limb, state);
    memcpy(value, now->out, sizeof now->out);
    return answers;
}

/* A direction goes wrong by a small turn about body axes.  A stuck or late one is so with the mark
 * that the Earth is seen. */
static bool fault_direction(const struct io_fault_spec *spec, struct io_fault_state *state,
                            uint64_t frame, double dt, double *value)
{
    double turn[3] = {0};
    if (!is_additive(spec))
        return io_fault_signal(spec, state, frame, dt, value,
                               spec->kind == IO_FAULT_BIT_FLIP ? 3 : 4);
    const bool fresh = io_fault_signal(spec, state, frame, dt, turn, 3);
    const struct dyn_vec3 s = dyn_vec3_load(value);
    const struct dyn_vec3 y = dyn_add(s, dyn_cross(dyn_vec3_load(turn), s));
    if (dyn_dot(s, s) > 0.0)
        dyn_vec3_store(dyn_scale(1.0 / dyn_norm(y), y), value);
    return fresh;
}

/* ---- the rows ---- */

const struct sim_sensor_type sim_sensor_types[SIM_SENSOR_KIND_COUNT] = {
    [SIM_SENSOR_GYRO] = {.name = "gyro",
                         .schema = "airbearing_msgs/msg/Gyro",
                         .text = "float64[3] rate # rad/s, as the instrument says\n",
                         .width = 3,
                         .fault_width = 3,
                         .fault_unit = "rad/s",
                         SIGNAL(triad, struct io_three_axis_sensor_state),
                         .field = IO_FIELD_GYRO,
                         .begin = begin_triad,
                         .sample = sample_gyro,
                         .put = put_gyro},
    [SIM_SENSOR_ACCELEROMETER] = {.name = "accelerometer",
                                  .schema = "airbearing_msgs/msg/Accelerometer",
                                  .text = "float64[3] specific_force # m/s^2, as the instrument "
                                          "says\n",
                                  .width = 3,
                                  .fault_width = 3,
                                  .fault_unit = "m/s^2",
                                  SIGNAL(triad, struct io_three_axis_sensor_state),
                                  .field = IO_FIELD_ACCEL,
                                  .begin = begin_triad,
                                  .sample = sample_accelerometer,
                                  .put = put_accelerometer},
    [SIM_SENSOR_MAGNETOMETER] = {.name = "magnetometer",
                                 .schema = "airbearing_msgs/msg/Magnetometer",
                                 .text = "float64[3] magnetic_field # T, as the instrument says\n",
                                 .width = 3,
                                 .fault_width = 3,
                                 .fault_unit = "T",
                                 SIGNAL(triad, struct io_three_axis_sensor_state),
                                 .lacks = sim_lacks_field,
                                 .begin = begin_triad,
                                 .sample = sample_magnetometer,
                                 .put = put_magnetometer},
    [SIM_SENSOR_BAROMETER] = {.name = "barometer",
                              .schema = "airbearing_msgs/msg/Barometer",
                              .text = "float64 pressure # Pa, as the instrument says\n",
                              .width = 1,
                              .fault_width = 1,
                              .fault_unit = "Pa",
                              SIGNAL(gauge, struct io_scalar_sensor_state),
                              .lacks = sim_lacks_air,
                              .begin = begin_gauge,
                              .sample = sample_barometer,
                              .put = put_barometer},
    [SIM_SENSOR_AIRSPEED] = {.name = "airspeed",
                             .schema = "airbearing_msgs/msg/Airspeed",
                             .text = "float64 pressure # Pa, dynamic, as the instrument says\n",
                             .width = 1,
                             .fault_width = 1,
                             .fault_unit = "Pa",
                             SIGNAL(gauge, struct io_scalar_sensor_state),
                             .lacks = sim_lacks_air,
                             .begin = begin_gauge,
                             .sample = sample_airspeed,
                             .put = put_airspeed},
    /* A receiver that is stuck or late is so with its velocity, too; the metres of a bias leave
     * that alone. */
    [SIM_SENSOR_GPS] = {.name = "gps",
                        .schema = "airbearing_msgs/msg/Gps",
                        .text = "float64[3] position # m, world axes, as the receiver says\n"
                                "float64[3] velocity # m/s, world axes, as the receiver says\n",
                        .width = 6,
                        .fault_width = 3,
                        .fault_unit = "m",
                        SIGNAL(gps, struct io_gps_state),
                        .message = IO_SEND_GPS,
                        .begin = begin_gps,
                        .sample = sample_gps,
                        .put = put_gps},
    [SIM_SENSOR_SUN] = {.name = "sun_sensor",
                        .schema = "airbearing_msgs/msg/SunSensor",
                        .text = "float64[3] direction # body axes, as the instrument says; 0 0 0: "
                                "none\n",
                        .width = 3,
                        .fault_width = 3,
                        SIGNAL(sun, struct io_sun_sensor_state),
                        .message = IO_SEND_SUN,
                        .lacks = sim_lacks_sun,
                        .begin = begin_sun_sensor,
                        .sample = sample_sun_sensor,
                        .put = put_sun_sensor},
    [SIM_SENSOR_STAR_TRACKER] = {.name = "star_tracker",
                                 .schema = "airbearing_msgs/msg/StarTracker",
                                 .text = "float64[4] attitude # w x y z, as the instrument says\n"
                                         "float64 valid # 1 or 0\n",
                                 .width = 5,
                                 .fault_width = 3,
                                 .fault_unit = "rad",
                                 .whole = "attitude",
                                 SIGNAL(tracker, struct io_star_tracker_state),
                                 .message = IO_SEND_TRACKER,
                                 .begin = begin_star_tracker,
                                 .sample = sample_star_tracker,
                                 .fault = fault_attitude,
                                 .put = put_star_tracker},
    /* No message has it: it is in the log and in the live view. */
    [SIM_SENSOR_HORIZON] = {.name = "horizon_sensor",
                            .schema = "airbearing_msgs/msg/HorizonSensor",
                            .text = "float64[3] direction # of the Earth's centre, body axes, as "
                                    "the instrument says; 0 0 0: none\n"
                                    "float64 seen # 1 or 0\n",
                            .width = 4,
                            .fault_width = 3,
                            .fault_unit = "rad",
                            .whole = "direction",
                            SIGNAL(horizon, struct io_horizon_sensor_state),
                            .lacks = lacks_earth,
                            .begin = begin_horizon_sensor,
                            .sample = sample_horizon_sensor,
                            .fault = fault_direction},
    [SIM_SENSOR_ENCODER] = {.name = "encoder",
                            .schema = "airbearing_msgs/msg/Encoder",
                            .text = "float64 position # rad or m, as the instrument says\n",
                            .width = 1,
                            .fault_width = 1,
                            .fault_unit = "rad",
                            .slide_unit = "m",
                            SIGNAL(gauge, struct io_scalar_sensor_state),
                            .many = true,
                            .message = IO_SEND_ANGLES,
                            .begin = begin_gauge,
                            .sample = sample_encoder,
                            .put = put_encoder},
};
