/*
 * From a scenario to the things the frame touches, all cut from one arena.
 *
 * Everything that can change during a run lies in one flat block, the run state:
 *
 *      [ plant x: q | v | effectors | history of the integrator ]
 *      [ drives ][ instruments ][ links: held controls ][ schedule ]
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

struct cfg_schedule_state {
    uint64_t frame;      /* frames completed */
    uint64_t not_finite; /* steps refused because their result was not a number */
    uint64_t out_of_range[DYN_LIMIT_COUNT]; /* frames in which a flexible body left its model */
};

struct cfg_rig {
    const struct cfg_scenario *scenario;
    struct dyn_plant plant;
    struct dyn_plant_work *work;
    double *command;     /* one per effector, N m; computed from the drives each frame */
    unsigned char *held; /* nv, what the plant's joints are held by; const over a run */
    double *held_a;
    double h; /* s per frame */

    unsigned char *state; /* the run state */
    size_t state_size;
    double *x;
    struct io_drive_state *drive;
    struct io_triad_state *triad;
    struct cfg_link_state *link;
    struct cfg_schedule_state *schedule;
};

/* Bytes of arena that cfg_rig_place() takes.  Context: setup. */
size_t cfg_rig_size(const struct cfg_scenario *scenario);
/* The rig at its initial state.  The scenario must outlive it.  Context: setup. */
struct cfg_rig *cfg_rig_place(const struct cfg_scenario *scenario, void *mem);
