/*
 * Drive electronics: converts a control from the wire to the command of the actuator.
 *
 *      out = clamp(quantise(control), -1 or 0, 1) * gain, after `delay` frames
 *
 * A wheel or torquer has both senses, a rotor or thruster only one.  The control of a pulsed
 * thruster is the share of a command period that its valve is open; a control below the shortest
 * pulse does not open it.
 *
 * A control that is not finite is counted, and the last good one stays in force.  The actuator is
 * off until the first control has passed the delay.
 */
#pragma once

#include <stdint.h>

enum { IO_ACTUATOR_DRIVE_DELAY_MAX = 64 };

struct io_actuator_drive_spec {
    double gain;        /* out at control 1: N m, N, A m^2, rad/s */
    double quantum;     /* of the control, 0: continuous */
    uint32_t delay;     /* frames, < IO_ACTUATOR_DRIVE_DELAY_MAX */
    uint32_t one_sided; /* 0: control -1 to 1; 1: control 0 to 1 */
    double min_duty;    /* shortest pulse over the command period; less gives 0; 0: not pulsed */
};

/* Run state; every byte is part of the hash. */
struct io_actuator_drive_state {
    double out;  /* now, in the unit of the gain */
    double good; /* last finite control, clamped and quantised */
    double line[IO_ACTUATOR_DRIVE_DELAY_MAX];
    uint64_t frames;
    uint64_t rejected; /* controls that were not finite */
};
_Static_assert(sizeof(struct io_actuator_drive_state) == (2 + IO_ACTUATOR_DRIVE_DELAY_MAX + 2) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_actuator_drive_begin(const struct io_actuator_drive_spec *spec,
                             struct io_actuator_drive_state *state);

/* Advance one frame with the control in force; the result is in state->out.  Context: frame. */
void io_actuator_drive_update(const struct io_actuator_drive_spec *spec, double control,
                              struct io_actuator_drive_state *state);
