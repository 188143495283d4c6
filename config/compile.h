/*
 * From a scenario to the things the frame touches, all cut from one arena.
 *
 * Everything that can change during a run lies in one flat block, the run state:
 *
 *      [ plant x: q | v | effectors | history of the integrator ]
 *      [ drives ][ instruments ][ faults ][ links: held controls ][ surroundings ][ schedule ]
 *
 * Snapshot, hash, checkpoint and replay are operations on that block.  Pads are zero.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"
#include "dynamics/range.h"
#include "rt/arena.h"

/* What a link holds between two commands. */
struct cfg_link_state {
    double control[IO_CONTROL_MAX];
    uint64_t flags, board_us, sequence, mode; /* of the newest command, as the board sent them */
    uint64_t commands;                        /* latched so far */
    uint64_t lost; /* 1 while the link is lost and the controls are safe */
};

/* What the environment has of its own, held between two looks at it. */
struct cfg_surroundings {
    double magnetic_field[3], sun[3], sun_share;
    struct io_gust_state gust;
};

struct cfg_schedule_state {
    uint64_t frame;      /* frames completed */
    uint64_t not_finite; /* steps refused because their result was not a number */
    uint64_t out_of_range[DYN_LIMIT_COUNT]; /* frames in which a flexible body left its model */
};

struct cfg_rig {
    const struct cfg_scenario *scenario;
    struct dyn_plant plant;
    struct dyn_plant_work *work;
    double *command;     /* one per effector; computed from the drives each frame */
    unsigned char *held; /* nv, what the plant's joints are held by; const over a run */
    double *held_a;
    double h; /* s per frame */

    unsigned char *state; /* the run state */
    size_t state_size;
    double *x;
    struct io_drive_state *drive;
    void **instrument; /* one per sensor: the state of its kind, inside the run state */
    struct io_fault_state *fault;
    struct cfg_link_state *link;
    struct cfg_surroundings *surroundings;
    struct cfg_schedule_state *schedule;
};

/* Bytes of arena that cfg_rig_place() takes.  Context: setup. */
size_t cfg_rig_size(const struct cfg_scenario *scenario);
/* Bytes of run state that an instrument has.  Context: setup. */
size_t cfg_instrument_size(enum cfg_instrument kind);

/* Field, Sun and gusts as of now, from the run state into the plant.  Context: frame. */
void cfg_rig_surround(struct cfg_rig *rig);
/* The same looked at anew, seconds into the run.  Context: frame. */
void cfg_rig_look_around(struct cfg_rig *rig, double seconds);

/* The vehicle back at its start, with its devices; links and schedule go on.  Context: frame. */
void cfg_rig_reset(struct cfg_rig *rig);

/* The rig at its initial state.  The scenario must outlive it.  Context: setup. */
struct cfg_rig *cfg_rig_place(const struct cfg_scenario *scenario, void *mem);
