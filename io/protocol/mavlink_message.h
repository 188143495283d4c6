/*
 * MAVLink messages, as far as the simulator uses them.  A message has the numbers as they are on
 * the wire, and its field names have the wire's units.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"

enum { IO_MAVLINK_FRAME_MAX = 280, IO_MAVLINK_SOURCE_MAX = 16 };
enum {
    IO_MAVLINK_NAME_MAX = 10, /* a name of this length has no terminating zero */
    IO_MAVLINK_COVARIANCE = 21,
    IO_MAVLINK_ARRAY_MAX = 58,
    IO_MAVLINK_RC_MAX = 18,
};

enum io_mavlink_kind {
    IO_MAVLINK_NONE,    /* no whole message yet */
    IO_MAVLINK_UNKNOWN, /* the id is not in the dialect: skipped, because its CRC cannot be checked
                         */
    IO_MAVLINK_OTHER,   /* valid, but not used here */
    IO_MAVLINK_HEARTBEAT, /* from here on the body is filled */
    IO_MAVLINK_TIME,      /* SYSTEM_TIME */
    IO_MAVLINK_TIMESYNC,
    IO_MAVLINK_SENSOR,   /* HIL_SENSOR */
    IO_MAVLINK_GPS,      /* HIL_GPS */
    IO_MAVLINK_STATE,    /* HIL_STATE_QUATERNION */
    IO_MAVLINK_CONTROLS, /* HIL_ACTUATOR_CONTROLS */
    IO_MAVLINK_TRACKER,  /* ATT_POS_MOCAP */
    IO_MAVLINK_VECTOR,   /* DEBUG_VECT */
    IO_MAVLINK_ARRAY,    /* DEBUG_FLOAT_ARRAY */
    IO_MAVLINK_RC,       /* RC_CHANNELS */
};

/* MAV_STATE, as far as a simulator has one. */
enum io_mavlink_status { IO_MAVLINK_ACTIVE = 4, IO_MAVLINK_EMERGENCY = 6, IO_MAVLINK_POWEROFF = 7 };
/* MAV_TYPE_GENERIC, and MAV_AUTOPILOT_INVALID: the sender is not a flight controller. */
enum { IO_MAVLINK_TYPE_GENERIC = 0, IO_MAVLINK_NO_AUTOPILOT = 8 };

struct io_mavlink_heartbeat {
    uint32_t custom_mode;
    uint8_t type, autopilot, base_mode, status, version;
};

struct io_mavlink_time {
    uint64_t unix_us;
    uint32_t boot_ms;
};

struct io_mavlink_timesync {
    int64_t tc1; /* 0: a request; else the clock of the side that replies, ns */
    int64_t ts1; /* the clock of the side that asks, ns */
    uint8_t target_system, target_component; /* 0 when the far end sends the 16-byte form */
};

struct io_mavlink_sensor {
    uint64_t time_us;
    float accel[3]; /* m/s^2 */
    float gyro[3];  /* rad/s */
    float mag[3];   /* gauss */
    float pressure_hpa, diff_pressure_hpa, pressure_altitude_m, temperature_c;
    uint32_t fields; /* enum io_field */
    uint8_t id;
};

struct io_mavlink_gps {
    uint64_t time_us;
    int32_t latitude_e7, longitude_e7, altitude_mm;
    uint16_t eph, epv; /* dilution x 100; PX4 reads them as cm */
    uint16_t speed_cms;
    int16_t velocity_cms[3]; /* north, east, down */
    uint16_t course_cdeg;    /* 65535: unknown */
    uint16_t yaw_cdeg;       /* 0: not available */
    uint8_t fix, satellites, id;
};

struct io_mavlink_state {
    uint64_t time_us;
    float attitude[4]; /* w x y z */
    float rate[3];     /* rad/s */
    int32_t latitude_e7, longitude_e7, altitude_mm;
    int16_t velocity_cms[3];
    uint16_t indicated_cms, true_cms; /* airspeeds */
    int16_t accel_mg[3];
};

struct io_mavlink_controls {
    uint64_t time_us, flags;
    float controls[IO_CONTROL_MAX];
    uint8_t mode;
};

struct io_mavlink_tracker {
    uint64_t time_us;
    float attitude[4];                       /* w x y z */
    float position[3];                       /* m; NaN: not known */
    float covariance[IO_MAVLINK_COVARIANCE]; /* the first is NaN: not known */
};

struct io_mavlink_vector {
    uint64_t time_us;
    float value[3];
    char name[IO_MAVLINK_NAME_MAX];
};

struct io_mavlink_array {
    uint64_t time_us;
    float value[IO_MAVLINK_ARRAY_MAX];
    uint16_t id;
    char name[IO_MAVLINK_NAME_MAX];
};

struct io_mavlink_rc {
    uint32_t boot_ms;
    uint16_t channel_us[IO_MAVLINK_RC_MAX]; /* 65535: not used */
    uint8_t count, rssi;                    /* rssi 255: not known */
};

struct io_mavlink_message {
    enum io_mavlink_kind kind;
    uint32_t id;
    uint8_t system_id, component_id, sequence;
    uint8_t version; /* of the frame: 1 or 2 */
    union {
        struct io_mavlink_heartbeat heartbeat;
        struct io_mavlink_time time;
        struct io_mavlink_timesync timesync;
        struct io_mavlink_sensor sensor;
        struct io_mavlink_gps gps;
        struct io_mavlink_state state;
        struct io_mavlink_controls controls;
        struct io_mavlink_tracker tracker;
        struct io_mavlink_vector vector;
        struct io_mavlink_array array;
        struct io_mavlink_rc rc;
    };
};

struct io_mavlink_sender {
    uint8_t system_id, component_id;
    uint8_t sequence; /* of the next message */
};
