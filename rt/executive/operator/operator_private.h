/*
 * What the operator's desk is made of; for operator*.c only.
 *
 * Three threads meet here, and each field says whose it is: the asker's (the server's thread), the
 * frame's, and the house's (files).
 */
#pragma once

#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "rt/executive/state/checkpoint.h"
#include "rt/ring.h"

enum {
    OPERATOR_ASK_MAX = 64,   /* requests that may wait */
    OPERATOR_STOPS_MAX = 64, /* stops whose askers wait for the answer */
    OPERATOR_READ_MAX = 256, /* frames of the newest stops, for the answers */
};
static const uint64_t OPERATOR_SCRIPTED = UINT64_MAX; /* ticket of an act of the command line */

/* What came of a request, in a word; whoever asks makes a sentence of it. */
enum operator_outcome {
    OPERATOR_DONE,
    OPERATOR_NO_SUCH_INDEX,
    OPERATOR_NO_ARM,
    OPERATOR_OUT_OF_LIMITS,
    OPERATOR_FILE_FAILED,
    OPERATOR_RUN_OVER,
};

/* Requests come from two sides.  Each has its own order, and its own place for a state. */
enum operator_side { OPERATOR_SIDE_SCRIPT, OPERATOR_SIDE_ASKER, OPERATOR_SIDE_COUNT };

struct operator_letter {
    struct operator_request request;
    enum operator_side side;
    uint64_t serial; /* of the request, on its side */
    uint64_t frame;
    enum operator_outcome outcome;
    uint64_t copy_ns;
    char why[CHECKPOINT_ERROR_MAX];
};

/* Where a state that is to be restored stands on its way to the frame.  It belongs to one request:
 * serial says to which, and no other takes it.  The frame owns all of it but while it is read. */
enum operator_stage { OPERATOR_EMPTY, OPERATOR_READING, OPERATOR_READY, OPERATOR_FAILED };
struct operator_staging {
    _Atomic int stage; /* enum operator_stage */
    uint64_t serial;
    unsigned char *state;
    struct checkpoint found;
    char why[CHECKPOINT_ERROR_MAX];
};

/* A stop that was asked for in words, until it is answered. */
struct operator_waiting_stop {
    uint64_t ticket;
    uint32_t number; /* of the raise; 0: free */
};

struct operator_desk {
    struct rig *rig;
    atomic_bool *boundary_wanted;
    struct rt_estop estop;
    struct checkpoint_mark mark;
    struct operator_parameter *parameters;
    _Atomic uint64_t value[CFG_PARAMETER_MAX]; /* bits of a double, in force */
    atomic_bool shows_paused;
    atomic_bool over; /* the frame thread looks no more, and the asker has the rest of asked */

    struct rt_ring *asked;      /* asker to frame, of struct operator_request */
    struct rt_ring *chores;     /* frame to house, of struct operator_letter */
    struct rt_ring *from_frame; /* to asker, of struct operator_letter */
    struct rt_ring *from_house; /* to asker, of the same */

    /* frame thread */
    bool paused;
    uint64_t steps;    /* left to run before the pause goes on */
    uint64_t held;     /* releases of pauses so far; how long a file took does not count */
    uint64_t held_now; /* releases of the pause that lasts */
    const struct operator_scripted *script;
    int script_count;
    int script_next;  /* of all but stops, */
    int stop_next;    /* and of the stops, which wait for nothing */
    uint64_t popped;  /* requests of the asker's, so far */
    bool script_late; /* the next of the script was due and had to wait */
    struct rt_estop_reader reader;
    uint64_t stopped_at;           /* 1 + the frame before which the newest stop was carried out, */
    uint64_t stopped_as;           /* its number among all acts, */
    uint32_t stopped_by;           /* and its cause */
    uint64_t scripted_checkpoints; /* given to the house */
    struct operator_result result;
    int frame_failed;                     /* acts of the command line, here; */
    struct operator_letter frame_failure; /* and the first of them */

    /* frame to asker: the frames of the newest stops, by their numbers; written before `stopped` */
    _Atomic uint64_t stopped_before[OPERATOR_READ_MAX];
    _Atomic uint32_t stopped; /* stops of the operator's that were read so far */

    /* frame to house: written by the frame while not busy, read by the house while busy */
    atomic_bool snapshot_busy;
    unsigned char *snapshot;
    struct checkpoint taken;

    struct operator_staging staging[OPERATOR_SIDE_COUNT];

    /* asker */
    struct operator_waiting_stop waiting[OPERATOR_STOPS_MAX];

    /* house */
    atomic_int failed;        /* acts of the command line, */
    char failure[512];        /* and the first of them */
    _Atomic uint64_t written; /* checkpoints of the command line that are, or could not be */
    void *memory;
};

/* Of operator_frame.c: the boundary, and the latch alone.  Context: frame. */
bool operator_boundary(void *self, uint64_t frame);
void operator_heed(void *self, uint64_t frame);

/* Of operator.c.  Context: any. */
void operator_knock(struct operator_desk *desk);
void operator_show_value(struct operator_desk *desk, int index);
void operator_show_values(struct operator_desk *desk);

/* Of operator_words.c: what was done, or why not.  Context: any but frame. */
void operator_say(const struct operator_desk *desk, const struct operator_letter *letter,
                  char *text, size_t size);
