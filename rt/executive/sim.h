/*
 * The frame of a compiled scenario: latch, drives, step, instruments, sample, watch, log, hash.
 *
 * Where the inputs come from is a seam with two users: the links of a live run, and the recorded
 * inputs of a replay.  Everything else is the same code, which is why a replay can be identical.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/link/link.h"
#include "io/log/telemetry.h"
#include "rt/executive/input/delay_line.h"
#include "rt/executive/output/expectations.h"
#include "rt/executive/output/plausibility.h"
#include "rt/executive/output/records.h"
#include "rt/executive/state/run_state.h"
#include "rt/flight_recorder.h"
#include "rt/frame.h"
#include "rt/mailbox.h"
#include "rt/schedule.h"

/* What a display may look at while the run goes on. */
struct sim_live {
    double signal[SIM_SIGNAL_COUNT]; /* SI, by enum sim_signal */
    uint64_t inputs;
};

/* Which faults are on, for whoever looks less often than frames come. */
struct sim_fault_flags {
    _Atomic uint32_t on;        /* bit i: fault i */
    _Atomic uint32_t triggered; /* the same, that was on since somebody looked */
};
_Static_assert(SIM_FAULT_MAX <= 32, "a bit for each fault");

struct sim;

/* Gives the inputs of a frame, by sim_apply_input() or by way of the delay lines.  Context: frame.
 */
struct sim_input {
    void *self;
    void (*read_inputs)(void *self, struct sim *sim, uint64_t frame);
};

/* A run state in other memory, and the hash rolled up to it. */
struct sim_snapshot {
    const void *state;
    uint64_t hash;
};

/* Asks the operator between two frames; true holds the frame back.  heed reads the stop alone,
 * before the same frame, while the frame thread waits for something.  Context: frame. */
struct sim_boundary {
    void *self;
    bool (*boundary)(void *self, uint64_t frame);
    void (*heed)(void *self, uint64_t frame);
};

struct sim_device_job { /* self of a job that serves one device or link */
    struct sim *sim;
    int index;
};

struct sim_message_job { /* self of a job that makes a message due */
    struct sim *sim;
    int link, message; /* enum io_message */
};

/* A job of the injector: what a user asks for to see how his bench behaves then. */
enum sim_inject_kind { SIM_INJECT_NONE, SIM_INJECT_HANG, SIM_INJECT_DELAY, SIM_INJECT_PAGE_FAULT };
struct sim_inject {
    enum sim_inject_kind kind;
    uint64_t frame;
    uint64_t late_ns;
    uint32_t pages;                /* touched for the first time in that frame */
    volatile unsigned char *fresh; /* they; placed by sim_place() */
};

/* What a predictor starts from: the run state after a frame, and the commands that are still in the
 * delay lines. */
enum { SIM_PENDING_COMMAND_MAX = 4096 }; /* that are copied; it bounds the work of a frame */
struct sim_prediction_input {
    uint64_t frame;    /* that comes next, as the run state counts */
    uint64_t log_ns;   /* of the state */
    const void *state; /* it and the commands lie behind this struct */
    const struct sim_record_input
        *commands; /* of each link in order, with the frame in which each comes out */
    uint32_t command_count;
    bool cut; /* there were more */
};

enum { SIM_READING_MAX = 6 }; /* numbers of one instrument */

/* What a simulation remembers from frame to frame besides the run state.  Nothing in it changes the
 * motion but commands that are still in the delay lines, which are inputs of later frames.  It can
 * be copied and put back as a whole. */
struct sim_scratch {
    struct io_sample sample[IO_LINK_MAX];
    struct io_trace trace[IO_LINK_MAX]; /* newest command on its way through the frame */
    bool unanswered[IO_LINK_MAX];       /* lockstep: the last reply that was owed did not come */
    bool sensor_withheld[IO_LINK_MAX];  /* the last sensor message was held back */
    struct sim_delay_line delay_out[IO_LINK_MAX]; /* of struct io_sample */
    struct sim_delay_line delay_in[IO_LINK_MAX];  /* of struct io_command */
    uint32_t withheld_messages;      /* messages whose sensor gives nothing; enum io_send */
    uint32_t silent;                 /* gyro, accelerometer within their delay; enum io_field */
    double signal[SIM_SIGNAL_COUNT]; /* what is watched, SI, by enum sim_signal */
    uint64_t hash;                   /* rolled over the run state */
    uint64_t inputs;                 /* applied so far */
    uint64_t acts;                   /* of the operator, so far */
    uint64_t idle_ns;                /* newest release of a pause; 0: none yet */
    uint64_t next_frame;             /* that the frame thread waits to begin */
    uint64_t first_not_finite;       /* frame of the first step that was refused, if any was */
    struct sim_plausibility plausibility; /* is the motion one that can be? */
    int first_out_of_range; /* the body that left the range of its model first, if any did */
    struct sim_expectation_watch expect[SIM_EXPECTATION_MAX];
    uint32_t faults_on; /* as they were published */
};

/* How a simulation is connected, which is settled before the first frame; the run state
 * (state/run_state.h), which is hashed; and the scratch. */
struct sim {
    const struct sim_spec *spec;
    struct sim_vehicle *vehicle; /* with the run state */
    struct sim_scratch scratch;

    struct sim_input source;
    struct sim_boundary boundary;   /* boundary NULL: nobody asks */
    struct io_links *links;         /* NULL: samples go nowhere */
    struct io_telemetry *telemetry; /* NULL: nothing is recorded */
    struct sim_record_layout layout;
    struct sim_inject inject;
    struct rt_watchdog *watchdog;   /* kicked while waiting for the log; may be NULL */
    const atomic_bool *stop;        /* nobody waits for the log any more; may be NULL */
    uint64_t epoch_us[IO_LINK_MAX]; /* what a board's clock showed when frame 0 began */
    bool has_gps;
    bool warming_up; /* nothing is published */
    struct sim_fault_flags *shown;
    struct rt_mailbox *live; /* of struct sim_live; may be NULL */
    uint32_t live_every;
    struct rt_mailbox *prediction_input; /* of struct sim_prediction_input; NULL: nobody predicts */

    struct sim_run_state_section *part; /* of the run state; NULL: nobody asks for their hashes */
    double (*reading)[SIM_READING_MAX]; /* what each sensor said last; NULL: nobody looks */
    struct rt_schedule *schedule;
    struct rt_flight_recorder *recorder;
    struct sim_device_job sensor[RT_JOB_MAX];
    struct sim_device_job link[IO_LINK_MAX];
    struct sim_message_job message[IO_LINK_MAX][IO_MESSAGE_COUNT];
};

/* Bytes that sim_place() takes of mem: the compiled scenario, the schedule and this struct.
 * Context: setup. */
size_t sim_size(const struct sim_spec *spec, const struct sim_inject *inject);
struct sim *sim_place(const struct sim_spec *spec, const struct sim_inject *inject, void *mem);

/* The names of its jobs, which belong to the scenario.  Context: setup. */
void sim_job_names(const struct sim_spec *spec, const struct sim_inject *inject,
                   struct sim_record_jobs *jobs);

/* A simulation in heap memory of its own, for replay and check; free(sim) gives everything back.
 * Context: setup. */
struct sim *sim_create(const struct sim_spec *spec);
/* The same with only the jobs that move the vehicle: no sensors, messages or log.
 * Context: setup. */
struct sim *sim_create_motion_only(const struct sim_spec *spec);

/* Bytes of a prediction input: as many as its job copies at most.  Context: setup. */
size_t sim_prediction_input_size(const struct sim_spec *spec);
/* Load a prediction input: its run state, and the commands still in the delay lines, from which the
 * source takes them.  Context: between two frames. */
void sim_load_prediction_input(struct sim *sim, const struct sim_prediction_input *from);

/* A simulation that is tried out before the first frame: what has to be put back afterwards. */
struct sim_trial {
    struct sim_scratch scratch;
    void *state; /* a copy of the run state */
    struct io_links *links;
    struct io_telemetry *telemetry;
    struct rt_mailbox *live;
    enum sim_inject_kind inject;
};

/* From here on frames publish, send, log and inject nothing.  Context: setup. */
void sim_trial_begin(struct sim *sim, struct sim_trial *trial);
/* Everything is as it was.  Context: setup. */
void sim_trial_end(struct sim *sim, struct sim_trial *trial);

/* Run the jobs on the initial state, take their median times as predictions, and put everything
 * back as it was.  Also brings code and data into the caches.  Context: frame thread, before the
 * first frame. */
void sim_warm_up(struct sim *sim);

/* Solve the state as it is, and sample every sensor and the truth of every link once.
 * Context: setup. */
void sim_sample_all_sensors(struct sim *sim);

/* The tasks of this simulation for the frame loop.  Context: setup. */
struct rt_frame_tasks sim_tasks(struct sim *sim);

/* Rows that the flight recorder still has go into the log.  Context: frame thread, after the run.
 */
void sim_flush_flight_recorder(struct sim *sim);

/* Has any flexible body left the range of its model so far?  Context: any. */
bool sim_left_flex_range(const struct sim *sim);

/* An input enters the run state and the log.  Context: frame, from read_inputs. */
void sim_apply_input(struct sim *sim, struct sim_record_input *input);

/* A command that came out of a delay line, as an input of this frame.  Context: frame, from
 * read_inputs. */
void sim_apply_command(struct sim *sim, const struct io_command *command, uint64_t frame);

/*
 * An act of the operator does the same, before the frame that it names.
 *
 * A restored state brings its own count of frames along: from there on jobs, faults, script and
 * expectations go by that, while the frames of the executive, the log and the boards' clocks run on
 * and never back.  A reset is a restore of the state before the first frame.
 *
 * The positions of the operator's sticks and buttons are not put back with a state.  A restore with
 * index 1 is of a run without an operator, and puts back what the state has of them.
 *
 * snapshot: of a restore.  index and value of tune and fault have been checked, and there is an arm
 * to stop.  Context: frame, between two frames.
 */
void sim_apply_act(struct sim *sim, struct sim_record_act *act,
                   const struct sim_snapshot *snapshot);

/* The faults that are on, and those that were on since the last call and may be over.
 * Context: any, but only one thread. */
uint32_t sim_take_fault_flags(struct sim_fault_flags *shown, uint32_t *triggered);

/* The hash of one part of the run state.  Context: any. */
uint64_t sim_section_hash(const struct sim *sim, const struct sim_run_state_section *part);

/* Is there room in the log for another act?  A restored state is large, and a replay needs
 * it.  Half of the room for acts is kept for stops, which do not ask.  Context: frame. */
bool sim_has_room_for_act(const struct sim *sim);

/* In a pause only heartbeats are sent.  releases: of the pause so far.
 * Context: frame, between two frames. */
void sim_send_heartbeats(struct sim *sim, uint64_t releases);
