/*
 * The parts of an operator; for rt/executive/operator only.
 *
 * Three threads meet here, and each field says which thread owns it: the client's (the server's
 * thread), the frame thread, and the file thread.
 */
#pragma once

#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "rt/executive/state/checkpoint.h"
#include "rt/ring.h"

enum {
    SIM_OPERATOR_REQUEST_MAX = 64,      /* requests that may wait */
    SIM_OPERATOR_PENDING_STOP_MAX = 64, /* stops whose askers wait for the answer */
    SIM_OPERATOR_STOP_HISTORY = 256,    /* frames of the newest stops, for the answers */
};
static const uint64_t SIM_OPERATOR_SCRIPT_TICKET =
    UINT64_MAX; /* ticket of an act of the command line */

/* What came of a request, in a word; whoever asks makes a sentence of it. */
enum sim_operator_outcome {
    SIM_OUTCOME_DONE,
    SIM_OUTCOME_NO_SUCH_INDEX,
    SIM_OUTCOME_NO_ARM,
    SIM_OUTCOME_OUT_OF_LIMITS,
    SIM_OUTCOME_FILE_FAILED,
    SIM_OUTCOME_RUN_OVER,
};

/* Requests come from two sides.  Each has its own order, and its own place for a state. */
enum sim_request_origin { SIM_ORIGIN_SCRIPT, SIM_ORIGIN_CLIENT, SIM_ORIGIN_COUNT };

struct sim_operator_result_message {
    struct sim_operator_request request;
    enum sim_request_origin side;
    uint64_t serial; /* of the request, on its side */
    uint64_t frame;
    enum sim_operator_outcome outcome;
    uint64_t copy_ns;
    char why[SIM_CHECKPOINT_ERROR_MAX];
};

/* Where a state that is to be restored stands on its way to the frame.  It belongs to one request:
 * serial says to which, and no other takes it.  The frame owns all of it but while it is read. */
enum sim_restore_stage {
    SIM_RESTORE_EMPTY,
    SIM_RESTORE_READING,
    SIM_RESTORE_READY,
    SIM_RESTORE_FAILED
};
struct sim_restore_buffer {
    _Atomic int stage; /* enum sim_restore_stage */
    uint64_t serial;
    unsigned char *state;
    struct sim_checkpoint found;
    char why[SIM_CHECKPOINT_ERROR_MAX];
};

/* A stop that was asked for in words, until it is answered. */
struct sim_pending_stop {
    uint64_t ticket;
    uint32_t number; /* of the raise; 0: free */
};

/* A request, where it comes from, and how many of that side came before it. */
struct sim_pending_act {
    const struct sim_operator_request *request;
    enum sim_request_origin side;
    uint64_t serial;
};

struct sim_operator {
    struct sim *sim;
    atomic_bool *boundary_wanted;
    struct rt_estop estop;
    struct sim_checkpoint_identity mark;
    struct sim_operator_parameter *parameters;
    _Atomic uint64_t value[SIM_PARAMETER_MAX]; /* bits of a double, in force */
    atomic_bool published_paused;
    atomic_bool over; /* the frame thread has ended, and the client has the rest of `asked` */

    struct rt_ring *asked;      /* client to frame, of struct sim_operator_request */
    struct rt_ring *file_jobs;  /* frame to files, of struct sim_operator_result_message */
    struct rt_ring *from_frame; /* to client, of struct sim_operator_result_message */
    struct rt_ring *from_files; /* to client, of the same */

    /* frame thread */
    bool paused;
    uint64_t steps;          /* left to run before the pause goes on */
    uint64_t held;           /* releases of pauses so far; how long a file took does not count */
    uint64_t pause_releases; /* releases of the pause that lasts */
    const struct sim_scripted_act *script;
    int script_count;
    int script_next;        /* of all but stops, */
    int stop_next;          /* and of the stops, which wait for nothing */
    uint64_t requests_done; /* requests of the client, so far */
    bool script_waits;      /* the next of the script was due and had to wait */
    struct rt_estop_reader reader;
    uint64_t last_stop_frame;      /* 1 + the frame before which the newest stop was carried out, */
    uint64_t last_stop_act;        /* its number among all acts, */
    uint32_t last_stop_cause;      /* and its cause */
    uint64_t scripted_checkpoints; /* given to the file thread */
    struct sim_operator_result result;
    int frame_failed;                                 /* acts of the command line, here; */
    struct sim_operator_result_message frame_failure; /* and the first of them */

    /* frame to client: the frames of the newest stops, by their numbers; written before `stopped`
     */
    _Atomic uint64_t stopped_before[SIM_OPERATOR_STOP_HISTORY];
    _Atomic uint32_t stopped; /* stops of the operator's that were read so far */

    /* frame to files: the frame writes while not busy, the file thread reads while busy */
    atomic_bool snapshot_busy;
    unsigned char *snapshot;
    struct sim_checkpoint taken;

    struct sim_restore_buffer staging[SIM_ORIGIN_COUNT];

    /* client */
    struct sim_pending_stop waiting[SIM_OPERATOR_PENDING_STOP_MAX];

    /* file thread */
    atomic_int failed;        /* acts of the command line, */
    char failure[512];        /* and the first of them */
    _Atomic uint64_t written; /* checkpoints of the command line that are, or could not be */
    void *memory;
};

/* Of acts.c: an act is applied, logged and counted.  Context: frame. */
void sim_operator_apply(struct sim_operator *op, const struct sim_operator_request *request,
                        uint64_t frame, const struct sim_snapshot *snapshot);

/* Of operator_frame.c: the boundary, and the latch alone.  Context: frame. */
bool sim_operator_boundary(void *self, uint64_t frame);
void sim_operator_check_stop(void *self, uint64_t frame);

/* Of operator.c.  Context: any. */
void sim_operator_want_boundary(struct sim_operator *op);
void sim_operator_publish_parameter(struct sim_operator *op, int index);
void sim_operator_publish_parameters(struct sim_operator *op);

/* Of operator_text.c: what was done, or why not.  Context: any but frame. */
void sim_operator_describe(const struct sim_operator *op,
                           const struct sim_operator_result_message *result, char *text,
                           size_t size);
