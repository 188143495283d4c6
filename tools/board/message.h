/*
 * The messages from the wires to the vehicles, and the vehicles' answers.  All units
 * are SI; body axes are forward, right, down; world axes are north, east, down.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BOARD_CONTROL_COUNT = 16, BOARD_STICK_COUNT = 16 };

enum board_message_type {
    BOARD_MESSAGE_OTHER,
    BOARD_MESSAGE_SENSOR,  /* answered with a command */
    BOARD_MESSAGE_TRUTH,   /* true attitude of the simulated vehicle, used without a star tracker */
    BOARD_MESSAGE_TRACKER, /* attitude by the star tracker */
    BOARD_MESSAGE_GPS,
    BOARD_MESSAGE_STATE,  /* all of the motion in one message; answered with a command */
    BOARD_MESSAGE_STICKS, /* the sticks of a radio */
    BOARD_MESSAGE_STATUS,
};

struct board_message {
    enum board_message_type type;
    uint64_t time_us; /* sensor, truth, tracker, state: the simulator's clock */
    bool has_gyro, has_accel, has_field, has_pressure; /* sensor: every axis of it is new */
    double gyro[3];                                    /* sensor, state: rad/s */
    double accel[3];                                   /* sensor, state: specific force, m/s^2 */
    double field[3];                                   /* sensor: T */
    double pressure;                                   /* sensor: Pa */
    double attitude[4];                /* truth, tracker, state: w, x, y, z, body to world */
    double velocity[3];                /* GPS, state: m/s, world */
    double position[3];                /* state: m, world */
    double latitude;                   /* GPS: rad */
    double longitude;                  /* GPS: rad */
    double altitude;                   /* GPS: m above the sea */
    int fix;                           /* GPS: 3 and more is a position in three dimensions */
    uint16_t stick[BOARD_STICK_COUNT]; /* us */
    int status;                        /* MAV_STATE of the simulator */
};

enum { BOARD_STATUS_EMERGENCY = 6, BOARD_STATUS_POWEROFF = 7 };

struct board_command {
    bool armed;                           /* false: every control is zero */
    double controls[BOARD_CONTROL_COUNT]; /* motors 0..1, wheels and torquers -1..1 */
    bool has_attitude;
    double attitude[4];
    double rate[3]; /* rad/s, body axes */
};
