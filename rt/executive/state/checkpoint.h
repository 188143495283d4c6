/*
 * A checkpoint file: the run state of one moment, and all that must be the same where it is put
 * back.  Versioned and checksummed; whatever does not fit is refused with the reason.
 *
 *      [ magic | version | marks | frame | rolled hash | size ][ run state ][ checksum of all that
 * ]
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rt/executive/state/run_state.h"

enum { SIM_CHECKPOINT_ERROR_MAX = 160, SIM_CHECKPOINT_SIZE_MAX = 1 << 28 };

/* What a state belongs to. */
struct sim_checkpoint_identity {
    char program[32];    /* version of the program */
    char isa[16];        /* instruction set */
    uint64_t scenario;   /* hash of its text and of the overrides that bear on the state */
    uint64_t model;      /* hash of the files that it names */
    uint64_t layout;     /* hash of the parts of the state, their names and sizes */
    uint64_t period_ns;  /* of a frame */
    uint64_t state_size; /* bytes */
};

struct sim_checkpoint {
    uint64_t frame; /* frames that it has behind it */
    uint64_t hash;  /* rolled up to it */
    const void *state;
};

/* What a vehicle's state belongs to.  Context: setup. */
void sim_checkpoint_identify(const struct sim_vehicle *vehicle,
                             struct sim_checkpoint_identity *mark);

/* 0, or -1 with what is wrong in error; a checkpoint of that name is replaced at once or not at
 * all, and anything else of that name is left alone.  Symbolic links are not followed, here or when
 * one is read.  What was written survives a loss of power, its bytes and its name.
 * Context: any but frame. */
int sim_checkpoint_write(const char *path, const struct sim_checkpoint_identity *mark,
                         const struct sim_checkpoint *checkpoint,
                         char error[SIM_CHECKPOINT_ERROR_MAX]);

/* The checkpoint in these bytes, whose state stays in them.  Context: any but frame. */
int sim_checkpoint_parse(const void *bytes, size_t size, const struct sim_checkpoint_identity *mark,
                         struct sim_checkpoint *checkpoint, char error[SIM_CHECKPOINT_ERROR_MAX]);

/* The same from a file, its state copied to mark->state_size bytes at state; and all numbers that
 * the frame could not survive are refused, too.  Context: any but frame. */
int sim_checkpoint_read(const char *path, const struct sim_checkpoint_identity *mark,
                        const struct sim_vehicle *vehicle, void *state,
                        struct sim_checkpoint *checkpoint, char error[SIM_CHECKPOINT_ERROR_MAX]);
