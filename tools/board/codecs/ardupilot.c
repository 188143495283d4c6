#include "tools/board/codecs/ardupilot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_16 = 18458, MAGIC_32 = 29569, MOTORS = 4, HEAD_BYTES = 8 };

static void put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

size_t board_ardupilot_write(bool is_pwm32, uint16_t frame_rate, uint32_t frame_count,
                             const struct board_command *command,
                             uint8_t bytes[BOARD_SERVO32_BYTES])
{
    memset(bytes, 0, BOARD_SERVO32_BYTES);
    put16(bytes, is_pwm32 ? MAGIC_32 : MAGIC_16);
    put16(bytes + 2, frame_rate);
    put16(bytes + 4, (uint16_t)frame_count);
    put16(bytes + 6, (uint16_t)(frame_count >> 16));
    for (int i = 0; i < MOTORS; i++)
        put16(bytes + HEAD_BYTES + 2 * i,
              (uint16_t)lrint(1000.0 + 1000.0 * fmin(fmax(command->controls[i], 0.0), 1.0)));
    return is_pwm32 ? BOARD_SERVO32_BYTES : BOARD_SERVO_BYTES;
}

/* The text after `key":`, wherever the key is in the section. */
static const char *find_field(const char *text, const char *section, const char *key)
{
    const char *at = strstr(text, section);
    if (at != NULL)
        at = strstr(at + strlen(section), key);
    return at != NULL && strlen(at) >= strlen(key) + 2 ? at + strlen(key) + 2 : NULL;
}

static bool read_vector(const char *text, const char *section, const char *key, double v[3])
{
    const char *at = find_field(text, section, key);
    return at != NULL && sscanf(at, "[%lf,%lf,%lf]", &v[0], &v[1], &v[2]) == 3;
}

/* Read the attitude as a quaternion, or as roll, pitch and yaw. */
static bool read_attitude(const char *text, double q[4])
{
    const char *at = find_field(text, "", "quaternion");
    double e[3];
    if (at != NULL)
        return sscanf(at, "[%lf,%lf,%lf,%lf]", &q[0], &q[1], &q[2], &q[3]) == 4;
    if (!read_vector(text, "", "attitude", e))
        return false;
    const double cr = cos(0.5 * e[0]), sr = sin(0.5 * e[0]), cp = cos(0.5 * e[1]),
                 sp = sin(0.5 * e[1]), cy = cos(0.5 * e[2]), sy = sin(0.5 * e[2]);
    q[0] = cr * cp * cy + sr * sp * sy;
    q[1] = sr * cp * cy - cr * sp * sy;
    q[2] = cr * sp * cy + sr * cp * sy;
    q[3] = cr * cp * sy - sr * sp * cy;
    return true;
}

static bool is_sane(const double *v, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(v[i]) < 1e9))
            return false;
    }
    return true;
}

bool board_ardupilot_read(const char *text, struct board_message *message)
{
    const size_t size = strlen(text);
    const char *stamp = find_field(text, "", "timestamp");
    *message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    if (size < 2 || text[0] != '\n' || text[size - 1] != '\n' || stamp == NULL)
        return false;

    const double seconds = strtod(stamp, NULL);
    if (!(seconds >= 0.0 && seconds < 1e9) || !read_vector(text, "imu", "gyro", message->gyro) ||
        !read_vector(text, "imu", "accel_body", message->accel) ||
        !read_vector(text, "", "position", message->position) ||
        !read_vector(text, "", "velocity", message->velocity) ||
        !read_attitude(text, message->attitude))
        return false;
    message->time_us = (uint64_t)llround(seconds * 1e6);
    message->type = BOARD_MESSAGE_STATE;
    return is_sane(message->gyro, 3) && is_sane(message->accel, 3) &&
           is_sane(message->position, 3) && is_sane(message->velocity, 3) &&
           is_sane(message->attitude, 4);
}
