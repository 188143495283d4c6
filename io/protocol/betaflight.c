#include "io/protocol/betaflight.h"

#include <math.h>
#include <string.h>

enum { SPEED_COUNT = 4, PWM_COUNT = 16, PWM_OFFSET = 4 };
enum { SERVO_SIZE = 4 * SPEED_COUNT, RAW_SIZE = PWM_OFFSET + 4 * PWM_COUNT };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the order of the peers we know");
_Static_assert((int)PWM_COUNT == (int)IO_CONTROL_MAX, "one control per motor");
_Static_assert((int)IO_RC_MAX == 16, "channels of an RC packet");

/* The doubles of an FDM packet, in their order. */
struct fdm {
    double time_s;
    double rate[3], force[3];
    double attitude[4];
    double velocity[3], position[3];
    double pressure;
};
_Static_assert(sizeof(struct fdm) == IO_BETAFLIGHT_FDM_SIZE, "18 doubles, no pads");

/* The pressure where there is no barometer: that at sea level, because a pressure of zero would
 * be an infinite altitude. */
static const double sea_pressure = 101325.0;

static bool all_finite(const float *value, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return false;
    return true;
}

static bool decode_raw(const unsigned char *bytes, float controls[IO_CONTROL_MAX])
{
    uint16_t count;
    float pwm_us[PWM_COUNT];
    memcpy(&count, bytes, sizeof count);
    memcpy(pwm_us, bytes + PWM_OFFSET, sizeof pwm_us);
    if (count > PWM_COUNT || !all_finite(pwm_us, count))
        return false;
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        controls[i] = i < count ? (pwm_us[i] - 1000.0f) / 1000.0f : 0.0f;
    return true;
}

bool io_betaflight_decode(const void *bytes, size_t size, float controls[IO_CONTROL_MAX])
{
    if (size == RAW_SIZE)
        return decode_raw(bytes, controls);
    if (size != SERVO_SIZE)
        return false;
    float speed[IO_CONTROL_MAX] = {0};
    memcpy(speed, bytes, SERVO_SIZE);
    if (!all_finite(speed, SPEED_COUNT))
        return false;
    memcpy(controls, speed, sizeof speed);
    return true;
}

static void to_geodetic(const struct io_geodetic_fix *fix, struct fdm *out)
{
    out->position[0] = fix->longitude * (180.0 / M_PI);
    out->position[1] = fix->latitude * (180.0 / M_PI);
    out->position[2] = fix->altitude;
    out->velocity[0] = fix->velocity[1];
    out->velocity[1] = fix->velocity[0];
    out->velocity[2] = -fix->velocity[2];
}

void io_betaflight_fdm(const struct io_sample *sample, bool virtual_gps,
                       unsigned char bytes[IO_BETAFLIGHT_FDM_SIZE])
{
    struct fdm out = {
        .time_s = (double)sample->sim_us / 1e6,
        .pressure = sample->pressure > 0.0 ? sample->pressure : sea_pressure,
    };
    memcpy(out.rate, sample->gyro, sizeof out.rate);
    memcpy(out.force, sample->accel, sizeof out.force);
    memcpy(out.attitude, sample->attitude, sizeof out.attitude);
    memcpy(out.velocity, sample->velocity, sizeof out.velocity);
    memcpy(out.position, sample->position, sizeof out.position);
    if (virtual_gps)
        to_geodetic(&sample->fix, &out);
    memcpy(bytes, &out, sizeof out);
}

/* Rz(90 degrees) q. */
static void turn_world(double q[4])
{
    const double k = M_SQRT1_2;
    const double from[4] = {q[0], q[1], q[2], q[3]};
    q[0] = k * (from[0] - from[3]);
    q[1] = k * (from[1] - from[2]);
    q[2] = k * (from[2] + from[1]);
    q[3] = k * (from[3] + from[0]);
}

void io_betaflight_fdm_2026(const struct io_sample *sample, const double mirror[2],
                            unsigned char bytes[IO_BETAFLIGHT_FDM_SIZE])
{
    struct fdm out;
    io_betaflight_fdm(sample, true, bytes);
    memcpy(&out, bytes, sizeof out);
    turn_world(out.attitude);
    out.rate[2] = -out.rate[2];
    out.force[0] = -out.force[0];
    for (int i = 0; i < 2; i++)
        out.position[i] = 2.0 * mirror[i] - out.position[i];
    memcpy(bytes, &out, sizeof out);
}

void io_betaflight_reorder(float controls[IO_CONTROL_MAX])
{
    const float rear_right = controls[0];
    memmove(controls, controls + 1, (SPEED_COUNT - 1) * sizeof controls[0]);
    controls[SPEED_COUNT - 1] = rear_right;
}

void io_betaflight_rc(const struct io_sample *sample, unsigned char bytes[IO_BETAFLIGHT_RC_SIZE])
{
    const double time_s = (double)sample->sim_us / 1e6;
    memcpy(bytes, &time_s, sizeof time_s);
    memcpy(bytes + sizeof time_s, sample->rc, sizeof sample->rc);
}
