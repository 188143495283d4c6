/*
 * From a scenario to the things the frame touches, all cut from one arena.
 *
 * Everything that can change during a run lies in one flat block, the run state:
 *
 *      [ plant x: q | v | effectors | history of the integrator ]
 *      [ drives ][ instruments ][ faults ][ links: held controls ][ surroundings ][ schedule ]
 *      [ parameters: what the operator has tuned ]
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

/* A part of the run state that has a name, and the job that writes it. */
enum { CFG_SECTION_MAX = 256 };
struct cfg_section {
    char name[CFG_EXPECT_TEXT_MAX + 16]; /* "plant", "device gyro", "fault bias of gyro" */
    const char *job;
    size_t offset, size;
};

struct cfg_rig {
    const struct cfg_scenario *scenario;
    struct dyn_plant plant;
    struct dyn_model *model;        /* of the plant, */
    struct dyn_effector *effectors; /* and its effectors, for the parameters in them */
    struct dyn_plant_work *work;
    double *command;     /* one per effector; computed from the drives each frame */
    unsigned char *held; /* nv, what the plant's joints are held by; const over a run */
    double *held_a;
    double h; /* s per frame */

    unsigned char *state; /* the run state */
    size_t state_size;
    unsigned char *start; /* a copy of it before the first frame */
    double *x;
    struct io_drive_state *drive;
    void **instrument; /* one per sensor: the state of its kind, inside the run state */
    struct io_fault_state *fault;
    struct cfg_link_state *link;
    struct cfg_surroundings *surroundings;
    struct cfg_schedule_state *schedule;
    double *parameter; /* in force, one per parameter of the scenario */
};

/* Bytes of arena that cfg_rig_place() takes.  Context: setup. */
size_t cfg_rig_size(const struct cfg_scenario *scenario);
/* Of those, the run state.  Context: setup. */
size_t cfg_state_size(const struct cfg_scenario *scenario);
/* Bytes of run state that an instrument has.  Context: setup. */
size_t cfg_instrument_size(enum cfg_instrument kind);

/* Field, Sun and gusts as of now, from the run state into the plant.  Context: frame. */
void cfg_rig_surround(struct cfg_rig *rig);
/* The same looked at anew, seconds into the run.  Context: frame. */
void cfg_rig_look_around(struct cfg_rig *rig, double seconds);

/* The vehicle back at its start, with its devices; links, schedule, windows of faults and
 * parameters go on.  Context: frame. */
void cfg_rig_reset(struct cfg_rig *rig);

/* A parameter takes another value, which lies in its limits.  Context: frame, between two frames.
 */
void cfg_rig_tune(struct cfg_rig *rig, int index, double value);

/* The run state was put in as a whole: bring in line with it what the frame reads elsewhere.
 * Context: frame, between two frames. */
void cfg_rig_settle(struct cfg_rig *rig);

/* The run state part by part, in order; as many as cfg_section_count().  Context: setup. */
int cfg_rig_sections(const struct cfg_rig *rig, struct cfg_section sections[CFG_SECTION_MAX]);

/* Context: setup. */
int cfg_section_count(const struct cfg_scenario *scenario);

/* The rig at its initial state.  The scenario must outlive it.  Context: setup. */
struct cfg_rig *cfg_rig_place(const struct cfg_scenario *scenario, void *mem);
