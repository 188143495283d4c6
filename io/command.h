/*
 * The two letters that cross the wall: what the board wants, and what the instruments say.
 */
#pragma once

#include <stdint.h>

enum { IO_CONTROL_MAX = 16 };

/* The newest command from the far end, as the frame latches it and as the log keeps it. */
struct io_command {
    uint64_t rx_ns;    /* last byte in: kernel stamp on CLOCK_MONOTONIC, else when it was read */
    uint64_t ready_ns; /* decoded and latchable */
    uint64_t board_us; /* the board's own time stamp */
    uint64_t flags;
    uint32_t sequence; /* counts commands of this link, from 1 */
    uint32_t mode;
    float controls[IO_CONTROL_MAX];
};

/* Messages that a sample is to send; the schedule sets the bits that are due. */
enum io_send {
    IO_SEND_HEARTBEAT = 1 << 0,
    IO_SEND_SENSOR = 1 << 1,
    IO_SEND_GPS = 1 << 2,
    IO_SEND_STATE = 1 << 3,
    IO_SEND_TIME = 1 << 4,
};

/* fields_updated of a sample: which instruments have something new. */
enum io_field {
    IO_FIELD_ACCEL = 0x7,
    IO_FIELD_GYRO = 0x38,
    IO_FIELD_MAG = 0x1c0,
    IO_FIELD_BARO = 0x1a00
};

/* When the newest command travelled through the frame; all zero when this sample shows none for the
 * first time. */
struct io_trace {
    uint64_t rx_ns, ready_ns, latch_ns, step_ns;
};

struct io_sample {
    uint64_t frame;
    uint64_t sim_us;            /* time of the sample, t_k + h */
    uint32_t due;               /* enum io_send */
    uint32_t fields;            /* enum io_field */
    double gyro[3];             /* rad/s, body axes */
    double accel[3];            /* m/s^2, specific force */
    double mag[3];              /* tesla */
    double pressure;            /* Pa, static; 0 without a barometer */
    double temperature;         /* degC, of the barometer */
    double attitude[4];         /* body in world, w x y z */
    double rate[3];             /* rad/s, true */
    double velocity[3];         /* m/s, world (north, east, down) */
    double latitude, longitude; /* rad */
    double altitude;            /* m */
    double true_accel[3];       /* m/s^2, specific force, true */
    struct io_trace trace;
};
