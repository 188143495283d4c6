/*
 * Tested by tests/io/protocol/test_mavlink_sample.c.
 */
#include "io/protocol/mavlink_sample.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

enum { COURSE_UNKNOWN = UINT16_MAX, CHANNEL_UNUSED = UINT16_MAX, RSSI_UNKNOWN = UINT8_MAX };

_Static_assert((int)IO_ANGLE_MAX <= (int)IO_MAVLINK_ARRAY_MAX, "one message holds all angles");
_Static_assert((int)IO_RC_MAX <= (int)IO_MAVLINK_RC_MAX, "one message holds all channels");

/* The standard atmosphere's troposphere: h = T0 / L (1 - (p / p0)^(R L / g)). */
static const double sea_temperature = 288.15, lapse_rate = 0.0065, sea_pressure = 101325.0,
                    pressure_exponent = 0.190263;

/* The nearest integer from lowest to highest; NaN becomes 0. */
static int64_t to_wire(double value, int64_t lowest, int64_t highest)
{
    if (isnan(value))
        return 0;
    if (value <= (double)lowest)
        return lowest;
    return value >= (double)highest ? highest : llround(value);
}

static int16_t to_i16(double value)
{
    return (int16_t)to_wire(value, INT16_MIN, INT16_MAX);
}

static uint8_t to_u8(uint32_t value)
{
    return value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
}

static uint16_t to_u16(double value)
{
    return (uint16_t)to_wire(value, 0, UINT16_MAX);
}

static int32_t to_i32(double value)
{
    return (int32_t)to_wire(value, INT32_MIN, INT32_MAX);
}

static int32_t degrees_e7(double radians)
{
    return to_i32(radians * (180.0 / M_PI) * 1e7);
}

/* Direction of the motion over ground, 0 to 359.99 degrees. */
static uint16_t course_cdeg(double north, double east)
{
    enum { FULL_CIRCLE = 36000 };
    if (!(hypot(north, east) > 0.1)) /* m/s; the direction of a slower motion is noise */
        return COURSE_UNKNOWN;
    const double cdeg = atan2(east, north) * (180.0 / M_PI) * 100.0;
    return (uint16_t)((to_wire(cdeg, -FULL_CIRCLE / 2, FULL_CIRCLE / 2) + FULL_CIRCLE) %
                      FULL_CIRCLE);
}

/* The altitude that a barometer reports; 0 without a barometer. */
static double pressure_altitude(double pressure)
{
    if (!(pressure > 0.0))
        return 0.0;
    return sea_temperature / lapse_rate * (1.0 - pow(pressure / sea_pressure, pressure_exponent));
}

static void sample_sensor(const struct io_sample *sample, struct io_mavlink_sensor *out)
{
    *out = (struct io_mavlink_sensor){
        .time_us = sample->sim_us,
        .pressure_hpa = (float)(sample->pressure / 100.0),
        .diff_pressure_hpa = (float)(sample->diff_pressure / 100.0),
        .pressure_altitude_m = (float)pressure_altitude(sample->pressure),
        .temperature_c = (float)sample->temperature,
        .fields = sample->fields,
    };
    for (int i = 0; i < 3; i++) {
        out->accel[i] = (float)sample->accel[i];
        out->gyro[i] = (float)sample->gyro[i];
        out->mag[i] = (float)(sample->mag[i] * 1e4); /* 1 T = 10^4 gauss */
    }
}

static void sample_gps(const struct io_sample *sample, struct io_mavlink_gps *out)
{
    const struct io_geodetic_fix *fix = &sample->fix;
    const double *v = fix->velocity;
    *out = (struct io_mavlink_gps){
        .time_us = sample->sim_us,
        .latitude_e7 = degrees_e7(fix->latitude),
        .longitude_e7 = degrees_e7(fix->longitude),
        .altitude_mm = to_i32(fix->altitude * 1e3),
        .eph = to_u16(fix->eph * 100.0), /* as PX4 reads it */
        .epv = to_u16(fix->epv * 100.0),
        .speed_cms = to_u16(hypot(v[0], v[1]) * 100.0),
        .velocity_cms = {to_i16(v[0] * 100.0), to_i16(v[1] * 100.0), to_i16(v[2] * 100.0)},
        .course_cdeg = course_cdeg(v[0], v[1]),
        .fix = to_u8(fix->type),
        .satellites = to_u8(fix->satellites),
    };
}

static void sample_state(const struct io_sample *sample, struct io_mavlink_state *out)
{
    *out = (struct io_mavlink_state){
        .time_us = sample->sim_us,
        .latitude_e7 = degrees_e7(sample->latitude),
        .longitude_e7 = degrees_e7(sample->longitude),
        .altitude_mm = to_i32(sample->altitude * 1e3),
        .true_cms = to_u16(sample->airspeed * 100.0),
    };
    for (int i = 0; i < 4; i++)
        out->attitude[i] = (float)sample->attitude[i];
    for (int i = 0; i < 3; i++) {
        out->rate[i] = (float)sample->rate[i];
        out->velocity_cms[i] = to_i16(sample->velocity[i] * 100.0);
        out->accel_mg[i] = to_i16(sample->true_accel[i] / 9.80665 * 1e3);
    }
}

/* A star tracker does not measure the position. */
static void sample_tracker(const struct io_sample *sample, struct io_mavlink_tracker *out)
{
    *out = (struct io_mavlink_tracker){
        .time_us = sample->sim_us,
        .position = {NAN, NAN, NAN},
        .covariance = {NAN},
    };
    for (int i = 0; i < 4; i++)
        out->attitude[i] = (float)sample->tracker[i];
}

static void sample_sun(const struct io_sample *sample, struct io_mavlink_vector *out)
{
    *out = (struct io_mavlink_vector){.time_us = sample->sim_us, .name = "sun"};
    for (int i = 0; i < 3; i++)
        out->value[i] = (float)sample->sun[i];
}

static void sample_angles(const struct io_sample *sample, struct io_mavlink_array *out)
{
    *out = (struct io_mavlink_array){.time_us = sample->sim_us, .name = "angles"};
    for (uint32_t i = 0; i < sample->angle_count && i < IO_ANGLE_MAX; i++)
        out->value[i] = (float)sample->angle[i];
}

static void sample_rc(const struct io_sample *sample, struct io_mavlink_rc *out)
{
    *out = (struct io_mavlink_rc){
        .boot_ms = (uint32_t)(sample->sim_us / 1000u),
        .count = IO_RC_MAX,
        .rssi = RSSI_UNKNOWN,
    };
    for (int i = 0; i < IO_MAVLINK_RC_MAX; i++)
        out->channel_us[i] = i < IO_RC_MAX ? sample->rc[i] : CHANNEL_UNUSED;
}

void io_mavlink_from_sample(const struct io_sample *sample, enum io_mavlink_kind kind,
                            struct io_mavlink_message *message)
{
    message->kind = kind;
    if (kind == IO_MAVLINK_SENSOR)
        sample_sensor(sample, &message->sensor);
    else if (kind == IO_MAVLINK_GPS)
        sample_gps(sample, &message->gps);
    else if (kind == IO_MAVLINK_STATE)
        sample_state(sample, &message->state);
    else if (kind == IO_MAVLINK_TRACKER)
        sample_tracker(sample, &message->tracker);
    else if (kind == IO_MAVLINK_VECTOR)
        sample_sun(sample, &message->vector);
    else if (kind == IO_MAVLINK_ARRAY)
        sample_angles(sample, &message->array);
    else if (kind == IO_MAVLINK_RC)
        sample_rc(sample, &message->rc);
    else
        RT_CHECK(false);
}

void io_mavlink_from_status(enum io_mavlink_status status, struct io_mavlink_message *message)
{
    message->kind = IO_MAVLINK_HEARTBEAT;
    message->heartbeat = (struct io_mavlink_heartbeat){
        .type = IO_MAVLINK_TYPE_GENERIC,
        .autopilot = IO_MAVLINK_NO_AUTOPILOT,
        .status = (uint8_t)status,
    };
}

void io_mavlink_timesync_reply(const struct io_mavlink_message *request, uint64_t now_ns,
                               struct io_mavlink_message *answer)
{
    answer->kind = IO_MAVLINK_TIMESYNC;
    answer->timesync = (struct io_mavlink_timesync){
        .tc1 = (int64_t)now_ns,
        .ts1 = request->timesync.ts1,
        .target_system = request->system_id,
        .target_component = request->component_id,
    };
}
