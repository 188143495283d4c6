/*
 * What a quadrotor's instruments say: gyro and accelerometer at every step, magnetometer and
 * barometer at 50 Hz, GPS at 10 Hz, all with noise; a test may break each of them.
 */
#pragma once

#include "io/device/noise.h"
#include "tests/scenario/board/quadrotor.h"
#include "tools/board/message.h"

struct instruments {
    struct io_noise noise;
    double loudness; /* of all noise, 1: as usual */
    bool no_gps, no_gyro, no_accel, stuck_pressure;
    bool late_gps;                /* each fix is sent 100 ms after it was taken */
    struct board_message old_fix; /* the one that waits */
    double pressure;              /* Pa, newest */
};

enum { INSTRUMENTS_STEP_US = 4000 };

/* Messages of step k in the order of the wire, GPS first; their count. */
int instruments_read(struct instruments *instruments, const struct quadrotor *quadrotor,
                     uint64_t step, struct board_message message[2]);
