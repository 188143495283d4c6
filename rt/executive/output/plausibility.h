/*
 * Is the motion still one that can be?  Numbers may be finite and absurd: a body at 10^21 m/s, or
 * an energy that came from nowhere.
 *
 * Energy is kinetic and potential, by dynamics/analysis/monitor.h, which is coded without the
 * kernel.  It is measured against
 *
 *      the energy at the start (both kinds, without their sign)
 *    + the most that the actuators, the motors of an arm and what holds joints can have done since
 *    + what 0.1 m/s, or the wind, would give to the vehicle's mass
 *
 * A whole look costs some microseconds, so there are twenty a second, and one more whenever the
 * fastest coordinate has doubled: a motion that blows up is seen in the frame in which it does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamics/analysis/monitor.h"
#include "rt/executive/state/run_state.h"

enum plausibility_flaw { PLAUSIBILITY_NONE, PLAUSIBILITY_TOO_FAST, PLAUSIBILITY_TOO_ENERGETIC };

struct plausibility {
    struct dyn_monitor_work *work; /* NULL: nobody looks */
    uint32_t every;                /* frames between two looks */
    double force, torque, spin;    /* the most of all actuators: N, N m, and rad/s of a rotor */
    double floor;                  /* J */

    bool begun;
    double start;     /* J, of what the growth is counted from */
    double reference; /* J, what the motion may have */
    double power;     /* W, the most that was done at the last look */
    double fastest;   /* coordinate at any look so far, rad/s or m/s */
    uint64_t looked;  /* frame of the last look */

    /* the first thing that was wrong */
    enum plausibility_flaw flaw;
    uint64_t frame;
    int body;
    double value; /* m/s, or how many times the reference */
};

/* Bytes of the scratch memory that plausibility_place() takes.  Context: setup. */
size_t plausibility_size(const struct cfg_scenario *scenario);
void plausibility_place(struct plausibility *motion, const struct cfg_rig *rig, void *mem);

/* Before a step: what is there is what growth is counted from, unless it already is.  After the
 * state was put back, or a parameter changed, begun is to be made false.  Context: frame. */
void plausibility_start(struct plausibility *motion, const struct cfg_rig *rig, uint64_t frame);
static inline void plausibility_begin(struct plausibility *motion, const struct cfg_rig *rig,
                                      uint64_t frame)
{
    if (!motion->begun)
        plausibility_start(motion, rig, frame);
}
/* After the step of this frame.  Context: frame. */
void plausibility_look(struct plausibility *motion, const struct cfg_rig *rig, uint64_t frame);
