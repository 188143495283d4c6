/*
 * One run from set-up to verdict: what exists while it lasts, and what is known when it is over.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/link/link.h"
#include "io/link/sync_pulse.h"
#include "io/log/telemetry.h"
#include "rt/arena.h"
#include "rt/executive/input/live_input.h"
#include "rt/executive/output/log_decimation.h"
#include "rt/executive/predictor.h"
#include "rt/executive/sim.h"
#include "rt/frame.h"
#include "rt/machine/machine.h"
#include "rt/phase_lock.h"
#include "rt/thread.h"
#include "tools/airbearing/live/serve.h"
#include "tools/airbearing/live/services.h"
#include "tools/airbearing/run/board_process.h"
#include "tools/airbearing/run/housekeeping.h"
#include "tools/airbearing/run/options.h"
#include "tools/airbearing/run/provenance.h"

enum run_end {
    RUN_COMPLETE,
    RUN_SIGNAL,
    RUN_OVERRUN,
    RUN_LINK_LOST,
    RUN_HUNG,
    RUN_CONTROLLER_ENDED
};

/* What is known of a link when the run is over. */
struct run_link {
    struct io_link_counts counters;
    struct io_cadence pulse;
    enum io_board_state board;
    uint64_t board_wake_up; /* messages that woke the board before frame 0 */
};

struct run {
    struct run_options options;
    struct cfg_scenario *scenario;
    struct rt_machine machine;
    struct rt_core_plan plan;
    struct rt_arena arena;
    bool memory_locked;
    char lock_refused[RT_REASON_MAX];

    struct sim *sim;
    const struct sim_snapshot *from; /* the state to begin with, and no board; NULL: neither */
    struct io_links *links;          /* NULL: the scenario has none, or its boards are left out */
    struct io_telemetry *telemetry;
    struct sim_live_input source;
    struct sim_operator *desk;
    struct service_desk services; /* the same for those who look on */
    struct sim_scripted_act script[SIM_OPERATOR_SCRIPT_MAX];
    int script_count;
    struct controller controller;
    int controller_gone_polls;       /* since it was found gone */
    bool stopped_by_controller;      /* that is why the frames were told to stop */
    struct serve *serve;             /* NULL: nobody asked for it */
    struct sim_predictor *predictor; /* NULL: nobody predicts */
    struct rt_frame *frame;
    struct rt_mailbox *frame_live;
    /* Of the rig, for other threads: it is put aside while it rehearses. */
    struct rt_mailbox *sim_live;
    struct sim_fault_flags *sim_fault_flags;
    struct sim_record_layout layout;
    struct rt_clock_real clock;
    struct rt_cause_finder cause_finder;
    struct rt_watchdog watchdog;
    struct rt_thread frame_thread, io_thread;
    atomic_bool finished;             /* by the frame thread, last */
    struct housekeeping housekeeping; /* what may wait for a disk or a terminal */
    struct sim_inject inject;
    struct rt_phase_lock phase_lock; /* of the frame grid, where it follows the board's clock */
    struct io_sync_pulse pulser;     /* closed: no pulses */

    bool log_made, report_made; /* those files were not there before */
    bool log_started;
    struct sim_log_decimation decimation;
    struct provenance provenance; /* of the log; empty where there is none */

    /* known when it is over */
    enum run_end end;
    bool stuck; /* hung for good: the frame thread's own figures are not known */
    int signal;
    uint64_t allocations, page_faults;
    uint64_t switches;            /* of the frame thread, involuntary */
    int end_policy, end_priority; /* of the frame thread after its last frame */
    struct io_log_result log;
    struct io_server_counts served;
    struct sim_predictor_result predicted; /* seconds_ahead 0: there was no ghost */
    struct io_link_counts io;              /* all links together */
    struct sim_operator_result acts;
    struct run_link link[IO_LINK_MAX];
};

/* Wake a board that speaks only when spoken to: the vehicle stands at its start and one more sample
 * leaves.  True once the board has answered it; frame 0 then begins at the time that the board's
 * clock shows.  Context: setup, links are started. */
bool board_wake_up(struct run *run, int link);

/* A run of this scenario, which it takes over, from a state on and without its boards: what the
 * options ask for, but for the scenario.  The exit code.  Context: setup. */
int run_from_snapshot(struct cfg_scenario *scenario, const struct run_options *options,
                      const struct sim_snapshot *from);

/* What came out, as the JSON object of the contract; the caller owns it (json_t). */
struct json_t;
struct json_t *report_json(const struct run *run);
/* The same as a table and a verdict for people. */
void report_print(const struct run *run);
/* True when the run was what `require: realtime` asks for; else *why says what was missing. */
bool report_realtime(const struct run *run, const char **why);

/* Redraw the live table; on a terminal only. */
void terminal_draw(const struct run *run);
/* Leave the screen below the table. */
void terminal_end(void);
