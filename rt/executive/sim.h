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
struct rig_live {
    double signal[CFG_SIGNAL_COUNT]; /* SI, by enum cfg_expect_signal */
    uint64_t inputs;
};

/* Which faults are on, for whoever looks less often than frames come. */
struct rig_shown {
    _Atomic uint32_t on;     /* bit i: fault i */
    _Atomic uint32_t struck; /* the same, that was on since somebody looked */
};
_Static_assert(CFG_FAULT_MAX <= 32, "a bit for each fault");

struct rig;

/* Gives the inputs of a frame, by rig_apply() or by way of the wires.  Context: frame. */
struct rig_source {
    void *self;
    void (*gather)(void *self, struct rig *rig, uint64_t frame);
};

/* A run state in other memory, and the hash rolled up to it. */
struct rig_snapshot {
    const void *state;
    uint64_t hash;
};

/* Hears the operator between two frames; true holds the frame back.  heed reads the stop alone,
 * before the same frame, for as long as something is waited for.  Context: frame. */
struct rig_desk {
    void *self;
    bool (*boundary)(void *self, uint64_t frame);
    void (*heed)(void *self, uint64_t frame);
};

struct rig_device { /* self of a job that serves one device or link */
    struct rig *rig;
    int index;
};

struct rig_message { /* self of a job that makes a message due */
    struct rig *rig;
    int link, message; /* enum cfg_message */
};

/* A job of the injector: what a user asks for to see how his bench behaves then. */
enum rig_inject_kind { RIG_INJECT_NONE, RIG_INJECT_HANG, RIG_INJECT_LATE, RIG_INJECT_TOUCH };
struct rig_inject {
    enum rig_inject_kind kind;
    uint64_t frame;
    uint64_t late_ns;
    uint32_t pages;                /* touched for the first time in that frame */
    volatile unsigned char *fresh; /* they; placed by rig_place() */
};

/* What the wire of a link carries: a command, or the loss of who gave them. */
struct rig_letter {
    struct record_input input; /* its frame is not known yet */
    bool anew;                 /* a command of a board that has begun anew */
};

/* All that is known of what comes: the run state after a frame, and what is under way to it. */
enum { RIG_UNDER_WAY_MAX = 4096 }; /* letters that are copied; it bounds the work of a frame */
struct rig_outlook {
    uint64_t frame;                   /* that comes next, as the run state counts */
    uint64_t log_ns;                  /* of the state */
    const void *state;                /* it and the letters lie behind this */
    const struct rig_letter *letters; /* of each link in order, with the frame they come out in */
    uint32_t letter_count;
    bool cut; /* there were more */
};

enum { RIG_READING_MAX = 6 }; /* numbers of one instrument */

struct rig {
    struct cfg_rig *cfg;
    const struct cfg_scenario *scenario;
    struct rig_source source;
    struct rig_desk desk;           /* boundary NULL: nobody asks */
    struct io_links *links;         /* NULL: samples go nowhere */
    struct io_telemetry *telemetry; /* NULL: nothing is recorded */
    struct record_layout layout;
    struct rig_inject inject;
    struct rt_watchdog *watchdog; /* kicked while waiting for the log; may be NULL */
    const atomic_bool *stop;      /* nobody waits for the log any more; may be NULL */

    struct io_sample sample[IO_LINK_MAX];
    struct io_trace trace[IO_LINK_MAX]; /* newest command on its way through the frame */
    uint64_t epoch_us[IO_LINK_MAX];     /* what a board's clock showed when frame 0 began */
    bool unanswered[IO_LINK_MAX];       /* lockstep: the last reply that was owed did not come */
    bool unasked[IO_LINK_MAX];          /* the last sensor message was held back */
    struct late late_out[IO_LINK_MAX], late_in[IO_LINK_MAX]; /* by a fault */
    struct late wire[IO_LINK_MAX]; /* by the link's delay: of struct rig_letter, counted in the
                                      executive's frames */
    uint32_t mute;                 /* messages whose instrument gives nothing; enum io_send */
    uint32_t silent;               /* gyro, accelerometer within their delay; enum io_field */
    bool has_gps;
    double signal[CFG_SIGNAL_COUNT];  /* what is watched, SI, by enum cfg_expect_signal */
    uint64_t hash;                    /* rolled over the run state */
    uint64_t inputs;                  /* applied so far */
    uint64_t acts;                    /* of the operator, so far */
    uint64_t idle_ns;                 /* newest release of a pause; 0: none yet */
    uint64_t next_frame;              /* that the frame thread waits to begin */
    uint64_t first_not_finite;        /* frame of the first step that was refused, if any was */
    struct plausibility plausibility; /* is the motion one that can be? */
    int first_out_of_range; /* the body that left the range of its model first, if any did */
    struct expect_watch expect[CFG_EXPECT_MAX];
    struct rig_shown *shown;
    uint32_t faults_on;      /* as shown */
    struct rt_mailbox *live; /* of struct rig_live; may be NULL */
    uint32_t live_every;
    struct rt_mailbox *outlook; /* of struct rig_outlook; NULL: nobody predicts */
    bool rehearses;

    struct cfg_section *part;           /* of the run state; NULL: nobody asks for their hashes */
    double (*reading)[RIG_READING_MAX]; /* what each instrument said last; NULL: nobody looks */
    struct rt_schedule *schedule;
    struct rt_flight_recorder *recorder;
    struct rig_device sensor[RT_JOB_MAX];
    struct rig_device link[IO_LINK_MAX];
    struct rig_message message[IO_LINK_MAX][CFG_MESSAGE_COUNT];
};

/* Bytes that rig_place() takes of mem: the compiled scenario, the schedule and this struct.
 * Context: setup. */
size_t rig_size(const struct cfg_scenario *scenario, const struct rig_inject *inject);
struct rig *rig_place(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      void *mem);

/* The names of its jobs, which belong to the scenario.  Context: setup. */
void rig_jobs(const struct cfg_scenario *scenario, const struct rig_inject *inject,
              struct record_jobs *jobs);

/* A rig in heap memory of its own, for replay and check; free(rig) gives everything back.
 * Context: setup. */
struct rig *rig_on_heap(const struct cfg_scenario *scenario);
/* The same with the jobs alone that move the vehicle: what instruments, messages and the log would
 * make of it nobody asks for.  Context: setup. */
struct rig *rig_that_moves(const struct cfg_scenario *scenario);

/* Bytes of an outlook, which is as many as the job of that name copies at most.  Context: setup. */
size_t rig_outlook_size(const struct cfg_scenario *scenario);
/* Put the state of an outlook in, and what is under way into the wires.  The source is to take it
 * out of them.  Context: between two frames. */
void rig_look_out(struct rig *rig, const struct rig_outlook *from);

/* Run the jobs on the initial state, take their median times as predictions, and put everything
 * back as it was.  Also brings code and data into the caches.  Context: frame thread, before the
 * first frame. */
void rig_rehearse(struct rig *rig);

/* Solve, and let every instrument and link look once at the state as it is.  Context: setup. */
void rig_sense(struct rig *rig);

/* The tasks of the frame loop for this rig.  Context: setup. */
struct rt_frame_tasks rig_tasks(struct rig *rig);

/* What the recorder still has to tell goes into the log.  Context: frame thread, after the run. */
void rig_tell_rest(struct rig *rig);

/* Has any flexible body left the range of its model so far?  Context: any. */
bool rig_left_range(const struct rig *rig);

/* An input enters the run state and the log.  Context: frame, from gather. */
void rig_apply(struct rig *rig, struct record_input *input);

/* What came out of a wire, as an input of this frame.  Context: frame, from gather. */
void rig_apply_letter(struct rig *rig, const struct rig_letter *letter, uint64_t frame);

/*
 * An act of the operator does the same, before the frame that it names.
 *
 * A restored state brings its own count of frames along: from there on jobs, faults, script and
 * expectations go by that, while the frames of the executive, the log and the boards' clocks run on
 * and never back.  A reset is a restore of the state before the first frame.
 *
 * The operator's hands are not put back with a state: they are where they are.  A restore with
 * index 1 is of a run that nobody flies any more, and holds what the state says of them.
 *
 * snapshot: of a restore.  index and value of tune and fault have been checked, and there is an arm
 * to safe.  Context: frame, between two frames.
 */
void rig_act(struct rig *rig, struct record_act *act, const struct rig_snapshot *snapshot);

/* The faults that are on, and those that were since the last such look, which may be over.
 * Context: any, but one thread looks. */
uint32_t rig_faults(struct rig_shown *shown, uint32_t *struck);

/* The hash of one part of the run state.  Context: any. */
uint64_t rig_part_hash(const struct rig *rig, const struct cfg_section *part);

/* Is there room in the log for another act?  A restored state is large, and a replay cannot do
 * without.  Half of the room for acts is kept for stops, which do not ask.  Context: frame. */
bool rig_has_room_for_act(const struct rig *rig);

/* In a pause nothing new is sent, but that we are still there.  releases: of the pause so far.
 * Context: frame, between two frames. */
void rig_idle(struct rig *rig, uint64_t releases);
