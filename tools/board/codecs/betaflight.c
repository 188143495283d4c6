#include "tools/board/codecs/betaflight.h"

#include <math.h>
#include <string.h>

enum { MOTORS = 4 };

struct fdm {
    double timestamp; /* s */
    double gyro[3];   /* rad/s, body axes */
    double accel[3];  /* m/s^2, level: 0, 0, -9.80665 */
    double quaternion[4];
    double velocity[3], position[3];
    double pressure; /* Pa */
};

struct rc {
    double timestamp;
    uint16_t channel[BOARD_STICK_COUNT];
};

struct motors_raw {
    uint16_t count;
    float pwm[16]; /* us */
};

_Static_assert(sizeof(struct fdm) == BOARD_FDM_BYTES, "fdm_packet");
_Static_assert(sizeof(struct rc) == BOARD_RC_BYTES, "rc_packet");
_Static_assert(sizeof(struct motors_raw) == BOARD_MOTOR_RAW_BYTES, "servo_packet_raw");

bool board_betaflight_read_fdm(const uint8_t *bytes, size_t size, struct board_message *message)
{
    double number[BOARD_FDM_BYTES / sizeof(double)];
    struct fdm fdm;
    *message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    if (size != sizeof fdm)
        return false;
    memcpy(number, bytes, sizeof number);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        if (!(fabs(number[i]) < 1e9))
            return false;
    }

    memcpy(&fdm, bytes, sizeof fdm);
    if (fdm.timestamp < 0.0)
        return false;
    message->type = BOARD_MESSAGE_STATE;
    message->time_us = (uint64_t)llround(fdm.timestamp * 1e6);
    memcpy(message->gyro, fdm.gyro, sizeof fdm.gyro);
    memcpy(message->accel, fdm.accel, sizeof fdm.accel);
    memcpy(message->attitude, fdm.quaternion, sizeof fdm.quaternion);
    memcpy(message->velocity, fdm.velocity, sizeof fdm.velocity);
    memcpy(message->position, fdm.position, sizeof fdm.position);
    message->pressure = fdm.pressure;
    return true;
}

bool board_betaflight_read_rc(const uint8_t *bytes, size_t size, struct board_message *message)
{
    struct rc rc;
    *message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    if (size != sizeof rc)
        return false;
    memcpy(&rc, bytes, sizeof rc);
    message->type = BOARD_MESSAGE_STICKS;
    memcpy(message->stick, rc.channel, sizeof rc.channel);
    return true;
}

void board_betaflight_write_motors(const struct board_command *command,
                                   uint8_t bytes[BOARD_MOTOR_BYTES])
{
    float speed[MOTORS];
    for (int i = 0; i < MOTORS; i++)
        speed[i] = (float)command->controls[i];
    memcpy(bytes, speed, sizeof speed);
}

void board_betaflight_write_raw(const struct board_command *command,
                                uint8_t bytes[BOARD_MOTOR_RAW_BYTES])
{
    static const int from[MOTORS] = {3, 0, 1, 2};
    struct motors_raw raw;
    memset(&raw, 0, sizeof raw);
    raw.count = MOTORS;
    for (int i = 0; i < MOTORS; i++)
        raw.pwm[i] = (float)(1000.0 + 1000.0 * command->controls[from[i]]);
    memcpy(bytes, &raw, sizeof raw);
}
