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

enum sim_plausibility_problem {
    SIM_PLAUSIBILITY_OK,
    SIM_PLAUSIBILITY_TOO_FAST,
    SIM_PLAUSIBILITY_TOO_ENERGETIC
};

struct sim_plausibility {
    struct dyn_monitor_work *work; /* NULL: nobody looks */
    uint32_t every;                /* frames between two looks */
    double force, torque, spin;    /* the most of all actuators: N, N m, and rad/s of a rotor */
    double floor;                  /* J */

    bool begun;
    double start;              /* J, of what the growth is counted from */
    double reference;          /* J, what the motion may have */
    double power;              /* W, the most that was done at the last look */
    double fastest;            /* coordinate at any look so far, rad/s or m/s */
    uint64_t last_check_frame; /* frame of the last look */

    /* the first thing that was wrong */
    enum sim_plausibility_problem flaw;
    uint64_t frame;
    int body;
    double value; /* m/s, or how many times the reference */
};

/* Bytes of the scratch memory that sim_plausibility_place() takes.  Context: setup. */
size_t sim_plausibility_size(const struct sim_spec *spec);
void sim_plausibility_place(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            void *mem);

/* Before a step: what is there is what growth is counted from, unless it already is.  After the
 * state was put back, or a parameter changed, begun is to be made false.  Context: frame. */
void sim_plausibility_start(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            uint64_t frame);
static inline void sim_plausibility_begin(struct sim_plausibility *motion,
                                          const struct sim_vehicle *vehicle, uint64_t frame)
{
    if (!motion->begun)
        sim_plausibility_start(motion, vehicle, frame);
}
/* After the step of this frame.  Context: frame. */
void sim_plausibility_check(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            uint64_t frame);
