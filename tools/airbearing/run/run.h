/*
 * The state of one run, from set-up to verdict.
 *
 * This header has the structs alone.  Each part of a run declares its functions in a header of its
 * own (run_load.h, run_place.h, board_wait.h, run_frames.h, run_finish.h, ...), which includes this
 * one.
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
#include "tools/airbearing/run/options.h"
#include "tools/airbearing/run/periodic_thread.h"
#include "tools/airbearing/run/provenance.h"

enum run_end {
    RUN_COMPLETE,
    RUN_SIGNAL,
    RUN_OVERRUN,
    RUN_LINK_LOST,
    RUN_HUNG,
    RUN_CONTROLLER_ENDED
};

/* The figures of a link, known when the run is over. */
struct run_link {
    struct io_link_counts counters;
    struct io_cadence cadence;
    enum io_board_state board;
    uint64_t wake_up_messages; /* messages that woke the board before frame 0 */
};

/* The threads of housekeeping.h. */
struct run_housekeeping {
    struct periodic_thread files, display;
    atomic_bool begun;             /* the first frame is about to start */
    uint64_t begin_ns;             /* when that was */
    bool files_hung, display_hung; /* known at the end: the thread hung in a call and was left */
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
    const struct sim_snapshot *start_state; /* to start from, without the boards; NULL: none */
    struct io_links *links; /* NULL: the scenario has none, or its boards are left out */
    struct io_telemetry *telemetry;
    struct sim_live_input source;
    struct sim_operator *sim_operator;
    struct operator_services services; /* the operator interface for viewers */
    struct sim_scripted_act script[SIM_OPERATOR_SCRIPT_MAX];
    int script_count;
    struct controller controller;
    int controller_gone_polls;       /* polls since its end was found */
    bool stopped_by_controller;      /* its end is the reason for the stop */
    struct serve *serve;             /* NULL: --serve is not given */
    struct sim_predictor *predictor; /* NULL: no prediction */
    struct rt_frame *frame;
    struct rt_mailbox *frame_live;
    /* Copies of the simulation's pointers for other threads: the warm-up clears them in *sim. */
    struct rt_mailbox *sim_live;
    struct sim_fault_flags *sim_fault_flags;
    struct sim_record_layout layout;
    struct rt_clock_real clock;
    struct rt_cause_finder cause_finder;
    struct rt_watchdog watchdog;
    struct rt_thread frame_thread, io_thread;
    atomic_bool finished; /* set by the frame thread, last */
    struct run_housekeeping housekeeping;
    struct sim_inject inject;
    struct rt_phase_lock phase_lock; /* of the frame grid to the board's clock */
    struct io_sync_pulse sync_pulse; /* closed: no pulses */

    bool log_made, report_made; /* these files did not exist before */
    bool log_started;
    struct sim_log_decimation decimation;
    struct provenance provenance; /* empty without a log */

    /* known when the run is over */
    enum run_end end;
    bool stuck; /* the frame thread never returned: its own figures are not known */
    int signal;
    uint64_t allocations, page_faults;
    uint64_t switches;            /* of the frame thread, involuntary */
    int end_policy, end_priority; /* of the frame thread after its last frame */
    struct io_log_result log;
    struct io_server_counts served;
    struct sim_predictor_result predicted; /* seconds_ahead 0: there was no predictor */
    struct io_link_counts io;              /* all links together */
    struct sim_operator_result acts;
    struct run_link link[IO_LINK_MAX];
};
