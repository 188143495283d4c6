/*
 * A scenario file, read and checked once, before the first frame.
 *
 * Units are already SI, defaults are filled in, references are resolved to indices and every number
 * has been checked.  Whatever is wrong is refused here with `file:line:column: what is wrong`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "rt/executive/spec.h"

enum { CFG_ARGUMENT_MAX = 24, CFG_CAMERA_MAX = 16 };

/* The requirements on a run besides physics and expectations. */
struct cfg_require {
    bool time, link, log, expectations;
};

struct cfg_controller {               /* the board as a process, where the scenario names one */
    int argument_count;               /* 0: none */
    char *argument[CFG_ARGUMENT_MAX]; /* ends with NULL, as for exec() */
    int cpu;                          /* -1: the housekeeping core */
    int priority;                     /* SCHED_FIFO; 0: it is not real-time */
};

/* A camera; it has no effect on the run. */
struct cfg_camera {
    char name[SIM_NAME_MAX];
    int body; /* -1: fixed to the world */
    double at[3];
    double look[3], up[3]; /* unit, body axes; up need not be at right angles */
    double field;          /* rad, from the lower to the upper edge */
};

struct cfg_file {
    const char *name, *path; /* name in the scenario; path */
    const char *text;        /* ends with NUL */
    size_t size;
    struct cfg_file *next;
};

/* The mark of an entry, by section and name; of two with the same name, the later. */
struct cfg_marked {
    const char *section; /* "links" */
    const char *name;
    struct cfg_mark mark;
    struct cfg_marked *next;
};

struct cfg_scenario {
    char *path; /* as given */
    char *text; /* the whole file, for the log */
    size_t text_size;
    struct sim_spec spec;  /* what the run is made of */
    bool commit_given;     /* else grid in real and fast pace, early in lockstep */
    bool require_realtime; /* require: realtime */
    struct cfg_require require;
    struct cfg_controller controller;
    int camera_count;
    struct cfg_camera cameras[CFG_CAMERA_MAX];
    const struct cfg_file *urdf; /* one of the files; NULL: it has none */
    struct cfg_file *files;      /* that the scenario names and that were read; for the log */
    struct cfg_marked *marked;
    struct cfg_load_arena kept; /* memory of files, solids, marks and flexible bodies */
};

/* Where the files that a scenario names come from, if not from disk. */
struct cfg_file_source {
    const void *(*find)(void *context, const char *name, size_t *size); /* NULL: not there */
    void *context;
};

/* Read, validate and resolve.  overrides are "key=value" (key a dotted path, bodies.bus.mass or
 * rate); they are applied to the document before validation, and errors in them are reported as
 * `--set key=value: what`. 0, or -EINVAL (-errno for an unreadable file) with exactly one line in
 * error.  Context: setup. */
int cfg_scenario_load(const char *path, const char *const *overrides, int override_count,
                      struct cfg_scenario **scenario, char error[CFG_ERROR_MAX]);
/* The same from memory; `name` is the path in messages, and its folder is that of the files.
 * Context: setup. */
int cfg_scenario_load_text(const char *name, const char *text, size_t size,
                           const char *const *overrides, int override_count,
                           struct cfg_scenario **scenario, char error[CFG_ERROR_MAX]);
/* The same from a log, which contains the files that the scenario names.  Context: setup. */
int cfg_scenario_load_logged(const char *name, const char *text, size_t size,
                             const char *const *overrides, int override_count,
                             const struct cfg_file_source *source, struct cfg_scenario **scenario,
                             char error[CFG_ERROR_MAX]);
void cfg_scenario_free(struct cfg_scenario *scenario);

/* Check that the scenario can run at this pace (its own or that of --pace).  0, or -EINVAL with one
 * line in error.  Context: setup. */
int cfg_check_pace(const struct cfg_scenario *scenario, enum rt_pace pace,
                   char error[CFG_ERROR_MAX]);

/* The mark of the entry of that section and name; {0, 0}: there is none.  Context: any. */
struct cfg_mark cfg_scenario_mark(const struct cfg_scenario *scenario, const char *section,
                                  const char *name);
/* The name by which a step of a link's ground station is marked, in section "ground". */
struct cfg_step_name {
    char text[SIM_NAME_MAX + 16];
};
struct cfg_step_name cfg_ground_step_name(const struct sim_link *link, int step);
/* Add a mark.  Context: setup. */
void cfg_scenario_note(struct cfg_scenario *scenario, const char *section, const char *name,
                       struct cfg_mark mark);

/* `file:line:column: what` for errors that are found later, such as a port in use.  Context: setup.
 */
void cfg_scenario_complain(const struct cfg_scenario *scenario, struct cfg_mark mark,
                           char error[CFG_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True when velocity k of the joint is a rotation, false when it slides.  Context: any. */
bool cfg_joint_turns(const struct dyn_body_spec *spec, int k);

/* The names in a scenario.  Context: any. */
const char *cfg_protocol_name(enum io_protocol_kind protocol);
const char *cfg_variant_name(enum io_betaflight_variant variant);
const char *cfg_bus_name(enum io_bus_kind bus);
const char *cfg_axis_name(int axis);
const char *cfg_fault_name(enum io_fault_kind kind);
const char *cfg_message_name(int message);
/* The name of a signal, and the SI unit of its limit.  Context: any. */
const char *cfg_signal_name(enum sim_signal signal);
const char *cfg_signal_unit(enum sim_signal signal);
const char *cfg_lock_source_name(enum sim_lock_source source);
const char *cfg_integrator_name(enum dyn_integrator integrator);

/* The name of a kind of sensor in messages: "sun sensor".  Context: any. */
struct cfg_sensor_label {
    char text[SIM_NAME_MAX];
};
struct cfg_sensor_label cfg_sensor_label(enum sim_sensor_kind kind);

/* The readable part of `airbearing check`: tree, devices, links, rates.  Context: setup. */
void cfg_scenario_print(const struct cfg_scenario *scenario, FILE *out);

/* All keys of a scenario file with units, defaults and meaning.  Context: setup. */
void cfg_schema_print(FILE *out);
