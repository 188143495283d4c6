/*
 * What goes into the log: one C struct per message, laid out as CDR lays it out, and its ros2msg
 * text.  The payload ends with the last field, so sizes are given by offsetof, not sizeof.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "io/command.h"
#include "io/link/link.h"
#include "io/log/telemetry.h"
#include "rt/executive/spec.h"
#include "rt/flight_recorder.h"
#include "rt/schedule.h"

struct sim_record_frame {
    uint64_t frame;
    uint64_t release_ns, start_ns, end_ns;
    uint64_t state_hash;
    uint32_t missed;
    uint8_t cause;
    uint8_t held;
    uint32_t paused;
};
enum { SIM_RECORD_FRAME_SIZE = offsetof(struct sim_record_frame, paused) + 4 };

/* An input as the frame latched it: all that replay needs. */
struct sim_record_input {
    uint64_t frame;
    uint64_t ordinal; /* 0, 1, 2 ...: a gap means that the log lost one */
    struct io_command command;
};
enum { SIM_RECORD_INPUT_SIZE = offsetof(struct sim_record_input, command.link) + 1 };

/* What the operator did between two frames; of those that change the run state all that replay
 * needs, but for the bytes of a restore. */
struct sim_record_act {
    uint64_t frame;   /* before which */
    uint64_t ordinal; /* as of an input, but counted by itself */
    uint64_t counted; /* frames that the run state has behind it, after the act */
    double value;
    uint32_t index;
    uint8_t act; /* enum sim_act */
};
enum { SIM_RECORD_ACT_SIZE = offsetof(struct sim_record_act, act) + 1 };

/* A run state that was put in; its bytes follow. */
struct sim_record_state {
    uint64_t frame;
    uint64_t ordinal; /* of the act */
    uint64_t hash;    /* rolled up to it */
};

/* What each job of a frame took.  The schema's text has the names, one line `# job I NAME` each. */
struct sim_record_job {
    uint64_t frame;
    uint64_t begin_ns; /* of the first job */
    uint64_t due;      /* bit i: job i ran */
    uint32_t spent_ns[RT_JOB_MAX];
};
enum { SIM_RECORD_JOB_HEAD = offsetof(struct sim_record_job, spent_ns) };

/* What a frame near an overrun did and when is a row of the flight recorder as it stands. */
enum { SIM_RECORD_EVENT_HEAD = RT_FLIGHT_RECORDER_HEAD };

/* One way through the loop, written by the thread that sends. */
struct sim_record_latency {
    uint64_t frame; /* whose sample showed the command first */
    uint64_t rx_ns; /* names the command: its last byte in */
    uint64_t part_ns[IO_LATENCY_SUM];
    uint8_t link;
};
enum { SIM_RECORD_LATENCY_SIZE = offsetof(struct sim_record_latency, link) + 1 };

/* What happened to a step of a ground station's script, written by the thread that sends. */
struct sim_record_ground {
    uint64_t frame;
    uint8_t link, step;
    uint8_t event;  /* enum io_ground_event */
    uint8_t answer; /* MAV_RESULT; SIM_RECORD_NO_ANSWER: none came */
};
enum {
    SIM_RECORD_GROUND_SIZE = offsetof(struct sim_record_ground, answer) + 1,
    SIM_RECORD_NO_ANSWER = 255
};

/* The clocks side by side, written by the housekeeping thread. */
struct sim_record_clock {
    uint64_t monotonic_ns, raw_ns, realtime_ns;
    uint32_t window_ns;
};
enum { SIM_RECORD_CLOCK_SIZE = offsetof(struct sim_record_clock, window_ns) + 4 };

/* The jobs of a frame, by name, in the order in which they run. */
struct sim_record_jobs {
    int count;
    const char *name[RT_JOB_MAX];
};

/* Channel numbers of a scenario's log, in the order of sim_record_channels(). */
struct sim_record_layout {
    int frame, input, plant;
    int sensor;  /* first of the sensors */
    int drive;   /* first of the commanded effectors */
    int arm;     /* meaningless where there is none */
    int part;    /* hashes of the parts of the run state; meaningless where not asked for */
    int job;     /* the last that the frame thread fills in every frame */
    int act;     /* of the operator, and */
    int state;   /* what he restored; the frame thread's, too */
    int event;   /* of the frame thread, after an overrun */
    int latency; /* of the sending thread */
    int ground;  /* of the sending thread; meaningless where there is no script */
    int clock;   /* of the housekeeping thread */
    int count;
    uint32_t x_count; /* doubles of the plant's state in /plant; what follows is told besides */
    uint32_t plant_size, arm_size, job_size, state_size, part_size, event_size;
};

struct sim_record_layout sim_record_layout(const struct sim_spec *spec, int nq, int nv,
                                           int job_count);

/* Fill the specs; the definitions are allocated once and live as long as the program.  seconds of
 * the run size the rings so that a telemetry thread delayed by that long loses nothing.  Context:
 * setup. */
void sim_record_channels(const struct sim_spec *spec, int nq, int nv,
                         const struct sim_record_jobs *jobs,
                         struct io_channel_spec channels[IO_CHANNEL_MAX]);
