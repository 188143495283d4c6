/*
 * A ground station that a script drives: MAVLink commands at given frames, each repeated until the
 * firmware has accepted it.
 *
 * Pure: takes bytes of the firmware, sends through a port, and counts time in frames.  Steps run
 * one after the other: a step begins at its frame, or when the one before it has ended.  A command
 * that is refused for now (an estimator that is not ready) is repeated every simulated second,
 * until the time limit of the step.
 *
 *      waiting --its frame--> pending --accepted--> done
 *                               |---- time limit, or a command that is not supported ----> failed
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_GROUND_STEP_MAX = 16, IO_GROUND_NAME_MAX = 16, IO_GROUND_TEXT_MAX = 64 };

enum io_ground_action {
    IO_GROUND_ARM,
    IO_GROUND_DISARM,
    IO_GROUND_MODE,
    IO_GROUND_TAKEOFF,
    IO_GROUND_LAND,
    IO_GROUND_SET,
    IO_GROUND_ACTION_COUNT
};

struct io_ground_step {
    enum io_ground_action act;
    uint64_t frame;                    /* the frame at which it begins, at the earliest */
    uint64_t limit_frames;             /* time limit, in frames from its beginning */
    float value;                       /* takeoff: m above home; set: the value */
    float above_sea;                   /* takeoff: the same as m above the sea, for PX4 */
    uint32_t mode[2];                  /* PX4: main and sub mode; ArduPilot: its number, and 0 */
    char name[IO_GROUND_NAME_MAX + 1]; /* set: name of the parameter; mode: name for the report */
};

struct io_ground_script {
    int step_count;       /* 0: there is no ground station */
    uint64_t second;      /* frames per second of simulated time */
    uint8_t system_id;    /* MAVLink id of the station itself, usually 255 */
    uint8_t component_id; /* 190: a mission planner */
    struct io_ground_step step[IO_GROUND_STEP_MAX];
};

enum io_ground_state { IO_GROUND_WAITING, IO_GROUND_PENDING, IO_GROUND_DONE, IO_GROUND_FAILED };

struct io_ground_result {
    enum io_ground_state state;
    uint32_t tries;
    int answer;            /* MAV_RESULT of the last acknowledgement; -1: none came */
    uint64_t asked, ended; /* frames */
};

/* The events of a step, in this order. */
enum io_ground_event {
    IO_GROUND_SENT,     /* the command, repeated every second */
    IO_GROUND_ANSWERED, /* but not accepted */
    IO_GROUND_ACCEPTED,
    IO_GROUND_GAVE_UP,
};

/* Observer of every event; answer as in struct io_ground_result.  Context: the thread that calls
 * the station, under the rules of the frame. */
struct io_ground_observer {
    void *self;
    int link; /* the link of the station, passed through */
    void (*observe)(void *self, int link, int step, uint64_t frame, enum io_ground_event event,
                    int answer);
};

/* Where the station sends: one whole MAVLink frame per call. */
struct io_ground_station_port {
    void *self;
    void (*send)(void *self, const void *bytes, size_t size);
};

struct io_ground_station;

/* The script is copied.  Context: setup. */
size_t io_ground_station_size(void);
struct io_ground_station *io_ground_station_place(const struct io_ground_script *script, void *mem);
/* observe NULL: no observer.  Context: setup. */
void io_ground_station_observe(struct io_ground_station *ground,
                               struct io_ground_observer observer);
/* Bytes of the firmware, in pieces of any size.  Context: frame. */
void io_ground_station_receive(struct io_ground_station *ground, const void *bytes, size_t size,
                               uint64_t frame);
/* Call before the sample of this frame leaves.  Context: frame. */
void io_ground_station_update(struct io_ground_station *ground, uint64_t frame,
                              const struct io_ground_station_port *port);
/* Context: the same thread, or after the run. */
const struct io_ground_result *io_ground_result(const struct io_ground_station *ground, int step);
/* "takeoff 2.5 m", "mode guided", "set MIS_TAKEOFF_ALT 2.5" */
const char *io_ground_step_text(const struct io_ground_step *step, char text[IO_GROUND_TEXT_MAX]);
/* MAV_RESULT in words; "no answer" for -1. */
const char *io_ground_answer_name(int answer);
