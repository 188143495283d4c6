/*
 * The operator: pause, step, resume, reset, checkpoint, restore, faults, parameters, stop of the
 * arm.
 *
 *      client (server)  ──requests──>  frame thread, between two frames  ──file jobs──>  file
 * thread <──answers──                                     <───state──── <──────────────────────────
 * answers ────────────────────────── any thread       ══ the stop ═>  frame thread, before anything
 * else
 *
 * Requests are carried out in the order in which they were asked, a bounded number between two
 * frames.  What changes the run state is recorded as an input, so a replay does it again before the
 * same frame.  Files are read and written by a thread of their own: a checkpoint costs the frame
 * a copy of the run state, a restore another one.  While there is no request, the frame pays one
 * relaxed load.
 *
 * A stop is not a request (rt/estop.h): it waits behind none, cannot be refused, and is read at
 * the next boundary, also in a pause, while an act waits for its file, while lockstep waits for a
 * reply and while the log has no room; at most RT_ESTOP_LATENCY_FRAMES_MAX frames after it was
 * raised.
 *
 * Every request is answered once: it is carried out only when there is room for its answer, and
 * what the end of the run leaves is answered with that reason.  A state that is read for a restore
 * belongs to that request and to no other.
 *
 * Acts of the command line (--act) take the same way at given boundaries: between two frames, or
 * two releases of a pause, counted from 0.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_act {
    SIM_ACT_PAUSE,
    SIM_ACT_RESUME,
    SIM_ACT_STEP,       /* value: frames; pauses after them */
    SIM_ACT_RESET,      /* the run state as it was before the first frame */
    SIM_ACT_CHECKPOINT, /* path */
    SIM_ACT_RESTORE,    /* path; index 1: with the hands as they were then */
    SIM_ACT_FAULT,      /* index of the scenario's fault; value: 1 begins now, 0 ends now */
    SIM_ACT_TUNE,       /* index of the parameter; value: SI */
    SIM_ACT_STOP_ARM,   /* the arm stops and brakes, until a mode is chosen.  As a request it is the
                        command line's alone; others call sim_operator_stop_arm() */
    SIM_ACT_COUNT
};

enum { SIM_OPERATOR_PATH_MAX = 256, SIM_OPERATOR_SCRIPT_MAX = 64 };

struct sim_operator_request {
    uint64_t ticket; /* the client's own number, given back with the answer */
    enum sim_act act;
    uint32_t index;
    double value;
    char path[SIM_OPERATOR_PATH_MAX];
};

struct sim_operator_answer {
    uint64_t ticket;
    uint64_t frame; /* at whose boundary it was carried out */
    bool done;
    char text[192]; /* why not, or what was done */
};

struct sim_operator_parameter { /* what the scenario marks tunable */
    char name[64];              /* "devices.gyro.bias.x" */
    char unit[16];
    double low, high;
};

/* An act of the command line. */
struct sim_scripted_act {
    uint64_t boundary;
    struct sim_operator_request request;
    const char *text; /* as given */
};

struct sim_operator;
struct sim;
struct rt_estop;
struct io_links;

/* The operator of this simulation, which asks it at every boundary; boundary_wanted is the frame
 * loop's.  NULL: no memory.  Context: setup. */
struct sim_operator *sim_operator_open(struct sim *sim, atomic_bool *boundary_wanted);
/* Acts at given boundaries, in order.  Context: setup. */
void sim_operator_set_script(struct sim_operator *op, const struct sim_scripted_act *acts,
                             int count);
/* Begin with this checkpoint instead of the start; 0, or -1 with what is wrong in error.
 * Context: setup. */
int sim_operator_start_from_file(struct sim_operator *op, const char *path, char error[256]);
/* The same with a state in memory, which is copied.  Context: setup. */
void sim_operator_start_from_state(struct sim_operator *op, const void *state, uint64_t hash);
/* The latch, for whoever else may raise it.  Context: any. */
struct rt_estop *sim_operator_estop(struct sim_operator *op);
/* The safe button of the panel raises it as well, when it is heard, and so does the loss of a hand.
 * A link that is late on purpose keeps its distance: there both take their way through the wire.
 * Context: setup. */
void sim_operator_watch_links(struct sim_operator *op, struct io_links *links);
/* Buttons that were pressed before the first frame have no effect.  Context: frame thread, before
 * it. */
void sim_operator_ignore_earlier_stops(struct sim_operator *op);
/* Read and write the files that are asked for.  Context: the file thread. */
void sim_operator_run_file_jobs(struct sim_operator *op);
/* The frame thread has ended: requests that still wait are answered with that.
 * Context: after the run. */
void sim_operator_end(struct sim_operator *op);
void sim_operator_close(struct sim_operator *op);

/* What came of it.  Context: after the run. */
struct sim_operator_result {
    uint64_t acts;        /* carried out */
    uint64_t checkpoints; /* taken */
    uint64_t copy_ns_max; /* what taking one cost the frame */
    uint64_t state_size;
    int unreached;     /* acts of the command line whose boundary never came */
    int failed;        /* those that could not be carried out, or not before the end, */
    char failure[512]; /* and the first of them, in one line */
};
void sim_operator_result(const struct sim_operator *op, struct sim_operator_result *result);

/* Stop the arm.  It is latched when this returns; false: it will not be answered, because too many
 * earlier stops still wait for their answers.  Context: the client's thread. */
bool sim_operator_stop_arm(struct sim_operator *op, uint64_t ticket);
/* The person at the hand controllers has left: the arm comes to rest, until a mode is chosen.
 * Context: any. */
void sim_operator_client_lost(struct sim_operator *op);
/* Context: one thread, the client's (the server's).  False: too many requests wait. */
bool sim_operator_request_act(struct sim_operator *op, const struct sim_operator_request *request);
/* The next answer, if any.  Context: the client's thread. */
bool sim_operator_next_answer(struct sim_operator *op, struct sim_operator_answer *answer);
/* Context: any. */
int sim_operator_parameter_count(const struct sim_operator *op);
const struct sim_operator_parameter *sim_operator_parameter(const struct sim_operator *op,
                                                            int index);
double sim_operator_parameter_value(const struct sim_operator *op, int index); /* in force now */
int sim_operator_fault_count(const struct sim_operator *op);
const char *sim_operator_fault_name(const struct sim_operator *op, int index); /* "bias of gyro" */
bool sim_operator_is_paused(const struct sim_operator *op);
