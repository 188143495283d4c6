/*
 * Wheel drive electronics: a control between -1 and 1 from the wire becomes a motor torque.
 *
 *      torque = clamp(quantise(control), -1, 1) * gain, after `delay` frames
 *
 * A control that is not finite keeps the last good one and is counted.  Until the first control has
 * travelled through the delay the motor is off.
 */
#pragma once

#include <stdint.h>

enum { IO_DRIVE_DELAY_MAX = 64 };

struct io_drive_spec {
    double gain;    /* N m at control 1 */
    double quantum; /* of the control, 0: continuous */
    uint32_t delay; /* frames, < IO_DRIVE_DELAY_MAX */
};

/* Run state; every byte is part of the hash. */
struct io_drive_state {
    double out;  /* N m, now */
    double good; /* last finite control, clamped and quantised */
    double line[IO_DRIVE_DELAY_MAX];
    uint64_t frames;
    uint64_t rejected; /* controls that were not finite */
};
_Static_assert(sizeof(struct io_drive_state) == (2 + IO_DRIVE_DELAY_MAX + 2) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_drive_begin(const struct io_drive_spec *spec, struct io_drive_state *state);

/* One frame with the control in force; the torque is in state->out.  Context: frame. */
void io_drive_update(const struct io_drive_spec *spec, double control,
                     struct io_drive_state *state);
