/*
 * The two messages between the simulation and a board: the command coming in and the sensor sample
 * going out.
 */
#pragma once

#include <stdint.h>

enum { IO_CONTROL_MAX = 16 };

/* What a link can tell the vehicle. */
enum io_command_kind {
    IO_COMMAND_CONTROLS, /* a command of the far end */
    IO_COMMAND_LOSS,     /* nobody is at the far end any more */
    IO_COMMAND_RESET     /* the far end begins anew, and the vehicle goes back to its start */
};

/* A command, the same struct from the mailbox of its link through the delay line into the frame and
 * into the log, where it ends with `link`. */
struct io_command {
    uint64_t rx_ns;    /* last byte in: kernel stamp on CLOCK_MONOTONIC, else when it was read */
    uint64_t ready_ns; /* decoded and latchable */
    uint64_t board_us; /* the board's own time stamp */
    uint64_t flags;
    uint32_t sequence; /* counts commands of this link, from 1 */
    uint32_t mode;
    float controls[IO_CONTROL_MAX];
    uint8_t kind; /* enum io_command_kind */
    uint8_t link; /* its index; set where the frame latches it */
    uint16_t pad;
    uint32_t resets; /* times the far end began anew; in the delay line 1: just before this one */
};

/* The messages that a sample sends.  Columns: name, key of its rate in a scenario, its job in the
 * log, help of the key.  Protocols say by their rows which of them they have. */
// clang-format off
#define IO_MESSAGE_LIST(X)                                                                         \
    X(HEARTBEAT, "heartbeat",    "send heartbeat", "sign of life")                                 \
    X(SENSOR,    "sensor",       "send sensor",                                                    \
      "instrument readings; each rate divides the frame rate, 0 is never")                         \
    X(GPS,       "gps",          "send gps",       "position and velocity")                        \
    X(STATE,     "state",        "send state",     "true motion of the body")                      \
    X(TIME,      "time",         "send time",      "system time")                                  \
    X(TRACKER,   "star_tracker", "send tracker",   "attitude by the star tracker (ATT_POS_MOCAP)") \
    X(SUN,       "sun",          "send sun",       "direction of the Sun (DEBUG_VECT)")            \
    X(ANGLES,    "angles",       "send angles",    "joint angles by encoders (DEBUG_FLOAT_ARRAY)") \
    X(RC,        "rc",           "send rc",        "a pilot's sticks")
// clang-format on

enum io_message {
#define IO_MESSAGE(name, key, job, help) IO_MESSAGE_##name,
    IO_MESSAGE_LIST(IO_MESSAGE)
#undef IO_MESSAGE
        IO_MESSAGE_COUNT
};

/* The same as bits; the schedule sets those that are due. */
enum io_send {
#define IO_SEND(name, key, job, help) IO_SEND_##name = 1 << IO_MESSAGE_##name,
    IO_MESSAGE_LIST(IO_SEND)
#undef IO_SEND
};

/* fields_updated of a sample: the sensors that have a new value. */
enum io_field {
    IO_FIELD_ACCEL = 0x7,
    IO_FIELD_GYRO = 0x38,
    IO_FIELD_MAG = 0x1c0,
    IO_FIELD_AIRSPEED = 0x400,
    IO_FIELD_BARO = 0x1a00
};

/* The times of the newest command on its way through the frame; all zero unless this sample is the
 * first to show it. */
struct io_trace {
    uint64_t rx_ns, ready_ns, latch_ns, step_ns;
};

/* The output of a satellite navigation receiver. */
struct io_geodetic_fix {
    double latitude, longitude; /* rad */
    double altitude;            /* m above the sea */
    double velocity[3];         /* m/s, north, east, down */
    double eph, epv;            /* m, accuracy as the receiver estimates it */
    uint32_t type;              /* 0 none, 2 two-dimensional, 3 three-dimensional */
    uint32_t satellites;
};

enum { IO_ANGLE_MAX = 16, IO_RC_MAX = 16 };

struct io_sample {
    uint64_t frame;
    uint64_t sim_us;      /* time of the sample, t_k + h */
    uint32_t due;         /* enum io_send */
    uint32_t fields;      /* enum io_field */
    double gyro[3];       /* rad/s, body axes */
    double accel[3];      /* m/s^2, specific force */
    double mag[3];        /* tesla */
    double pressure;      /* Pa, static; 0 without a barometer */
    double temperature;   /* degC, of the barometer */
    double diff_pressure; /* Pa, of the airspeed probe */
    struct io_geodetic_fix fix;
    double tracker[4]; /* attitude of the star tracker, body in world, w x y z */
    double sun[3];     /* unit vector of the sun sensor, body axes; 0 0 0: no Sun in view */
    double angle[IO_ANGLE_MAX]; /* rad or m, of the encoders */
    uint32_t angle_count;
    uint32_t tracker_valid; /* 0: blinded, or turning too fast */
    uint16_t
        rc[IO_RC_MAX]; /* us, 1000 to 2000; aileron, elevator, throttle, rudder, then switches */
    /* from here on true values, without sensor errors */
    double attitude[4];         /* body in world, w x y z */
    double rate[3];             /* rad/s, true */
    double position[3];         /* m, world (north, east, down from home) */
    double velocity[3];         /* m/s, world (north, east, down) */
    double latitude, longitude; /* rad */
    double altitude;            /* m */
    double airspeed;            /* m/s */
    double range;            /* m to the ground along the z axis of the body; 0: no ground there */
    double voltage, current; /* V and A of the battery; 0 without one */
    double true_accel[3];    /* m/s^2, specific force, true */
    struct io_trace trace;
};
