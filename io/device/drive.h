/*
 * Wheel drive electronics: a control between -1 and 1 from the wire becomes a motor torque.
 *
 *      torque = quantise(clamp(control, -1, 1)) * gain, after `delay` frames
 *
 * A control that is not finite keeps the last good one and is counted.
 */
#pragma once

#include <stdint.h>

enum { IO_DRIVE_DELAY_MAX = 64 };

struct io_drive_spec {
    double gain;    /* N m at control 1 */
    double quantum; /* of the control, 0: continuous */
    uint32_t delay; /* frames, < IO_DRIVE_DELAY_MAX */
};

struct io_drive_state {
    double out;     /* N m, now */
    double line[IO_DRIVE_DELAY_MAX];
    uint64_t line_at;
    uint64_t rejected; /* controls that were not finite */
};

/* Context: setup. */
void io_drive_begin(const struct io_drive_spec *spec, struct io_drive_state *state);
/* One frame with the control in force.  Context: frame. */
void io_drive_update(const struct io_drive_spec *spec, double control, struct io_drive_state *state);
