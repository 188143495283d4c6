/*
 * Fault injection: one engine for signals and bus frames.
 *
 * A fault has one kind, one window of frames and its own seeded noise.  Outside its window it
 * leaves every bit of a signal or frame alone.  What it does is a function of spec, seed and the
 * sequence of calls.  A finite signal never becomes a NaN.  The window begins as the spec has it;
 * an operator may move it, which is why the one in force is part of the state.
 *
 *                  a signal                                  a bus frame
 *      stuck       keeps its value from before the fault     -
 *                  (or at `value`, with at_value)
 *      bias        + value                                   -
 *      drift       + value times the seconds in the fault    -
 *      noise       + normal numbers of deviation value       -
 *      dropout     no new value, with probability value      lost, with probability value
 *      delay       value samples old                         - (done by the link)
 *      bit flip    one bit of one component, prob. value     one bit, with probability value
 *      crc         -                                         last two bytes wrong, prob. value
 *      loss        no new value                              lost
 *
 * "-" has no effect; config/ refuses such a pair (io_fault_fits_*).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_FAULT_COMPONENT_MAX = 6, IO_FAULT_DELAY_MAX = 64 };

enum io_fault_kind {
    IO_FAULT_STUCK,
    IO_FAULT_BIAS,
    IO_FAULT_DRIFT,
    IO_FAULT_NOISE,
    IO_FAULT_DROPOUT,
    IO_FAULT_DELAY,
    IO_FAULT_BIT_FLIP,
    IO_FAULT_CRC,
    IO_FAULT_LOSS,
    IO_FAULT_KIND_COUNT
};

struct io_fault_spec {
    enum io_fault_kind kind;
    uint32_t components;  /* bit i: component i is affected; 0: all of them */
    uint64_t first_frame; /* of the window; UINT64_MAX: it waits for the operator */
    uint64_t last_frame;  /* the first frame after the window; UINT64_MAX: to the end */
    double value;         /* finite; see the table; delay: whole samples < IO_FAULT_DELAY_MAX */
    uint32_t at_value;    /* stuck: 1 at `value`, 0 at the last value before the fault */
};

/* Run state; every byte is part of the hash.  One per fault and signal, or per fault and bus. */
struct io_fault_state {
    struct io_noise noise;
    double stuck[IO_FAULT_COMPONENT_MAX];
    double line[IO_FAULT_DELAY_MAX][IO_FAULT_COMPONENT_MAX];
    uint64_t samples;                 /* signals seen, in the window or not */
    uint64_t holds;                   /* 1: stuck[] has the value from when the fault began */
    uint64_t hits;                    /* signals and frames that were altered or dropped */
    uint64_t first_frame, last_frame; /* the window in force, as in the spec */
};
_Static_assert(sizeof(struct io_fault_state) ==
                   sizeof(struct io_noise) +
                       (IO_FAULT_COMPONENT_MAX * (1 + IO_FAULT_DELAY_MAX) + 5) * 8,
               "no pads in the run state");

/* True when the kind applies to a signal, to a bus frame.  Context: any. */
bool io_fault_fits_signal(enum io_fault_kind kind);
bool io_fault_fits_frame(enum io_fault_kind kind);

/* True when the fault is in force in this frame.  Context: any. */
static inline bool io_fault_active(const struct io_fault_state *state, uint64_t frame)
{
    return frame >= state->first_frame &&
           (frame < state->last_frame || state->last_frame == UINT64_MAX);
}

/* Context: setup. */
void io_fault_begin(const struct io_fault_spec *spec, uint64_t seed, uint64_t stream,
                    struct io_fault_state *state);

/* Set another window; a fault that begins anew keeps nothing from before.  Context: as for the
 * calls below. */
static inline void io_fault_move(struct io_fault_state *state, uint64_t first_frame,
                                 uint64_t last_frame)
{
    if (first_frame != state->first_frame)
        state->holds = 0;
    state->first_frame = first_frame;
    state->last_frame = last_frame;
}

/*
 * Alter a signal of count components (at most IO_FAULT_COMPONENT_MAX, always the same count) in
 * place; frames come in order, dt is the time of one frame in s.  Call it for every sample, in the
 * window or not, because a delay needs earlier samples.  False: the sensor has no new value, and
 * value is unchanged.  Context: frame.
 */
bool io_fault_signal(const struct io_fault_spec *spec, struct io_fault_state *state, uint64_t frame,
                     double dt, double *value, int count);

/* Alter a bus frame in place.  Returns the number of bytes to send or accept: size, or 0 when
 * the frame is lost.  Several bus frames may share a frame of the run.  Context: frame, or the
 * thread that owns the bus, but one thread per state. */
size_t io_fault_frame(const struct io_fault_spec *spec, struct io_fault_state *state,
                      uint64_t frame, unsigned char *bytes, size_t size);
