/*
 * A scenario as its author sees it: text in, this struct out, once, before the first frame.
 *
 * Units are already SI, defaults are filled in, references are resolved to indices and every number
 * has been checked.  Whatever is wrong is refused here with `file:line:column: what is wrong`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/resolve/arm.h"
#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/plant.h"
#include "dynamics/world/world.h"
#include "io/command.h"
#include "io/device/actuator_drive.h"
#include "io/device/fault.h"
#include "io/device/gps.h"
#include "io/device/rc_script.h"
#include "io/device/scalar_sensor.h"
#include "io/device/star_tracker.h"
#include "io/device/sun_sensor.h"
#include "io/device/three_axis_sensor.h"
#include "io/device/wind_gust.h"
#include "io/link/link.h"
#include "rt/clock.h"
#include "rt/frame.h"

enum {
    SIM_NAME_MAX = 48,
    SIM_ARGUMENT_MAX = 24,
    SIM_EXPECTATION_MAX = 16,
    SIM_LABEL_MAX = 96,
    SIM_FAULT_MAX = 32,
    SIM_PARAMETER_MAX = 64,
    SIM_PARAMETER_NAME_MAX = 64,
    SIM_UNIT_MAX = 16,
    SIM_EFFECTOR_MAX = 96,
    SIM_CAMERA_MAX = 16,
};

/* Where other bodies may sit on a flexible one. */
struct sim_flex_node {
    const char *name;
    struct dyn_node node;
    int index; /* in the kernel's list, from 1; 0: nobody sits there */
};

struct sim_flex {
    struct dyn_flex modal;      /* where spec.flex leads */
    double *start, *start_rate; /* modal coordinates and their rates, one per mode */
    int node_count;
    struct sim_flex_node *nodes;
    double first_hz, last_hz; /* of its modes while its frame is held */
    double share;             /* of the body's inertia that the modes take with them */
};

/* What a body is drawn as; the run does not feel it. */
enum sim_solid_type { SIM_SOLID_BOX, SIM_SOLID_CYLINDER, SIM_SOLID_SPHERE, SIM_SOLID_TUBE };

struct sim_solid {
    enum sim_solid_type type;
    double at[3], attitude[4]; /* of its middle, body axes; a tube is where the nodes are */
    double size[3];            /* m, across along its axes; of a tube across the line */
    bool painted;              /* else in the color of its body */
    double color[3], opacity;  /* 0 to 1 */
};

/* What a joint may do, for those who drive it; the kernel knows only the stops of its law. */
struct sim_joint_range {
    double lower, upper;     /* rad or m; infinite where nothing is said */
    double velocity, effort; /* likewise */
};

struct sim_body {
    char name[SIM_NAME_MAX];
    struct dyn_body_spec spec;
    struct sim_flex *flex; /* NULL: it does not bend */
    double position[7];    /* initial q of its joint, in the order of dynamics/model.h */
    double velocity[DYN_JOINT_DOF_MAX]; /* initial v of its joint */
    bool held[DYN_JOINT_DOF_MAX];       /* locked, or with a prescribed acceleration */
    double held_a[DYN_JOINT_DOF_MAX];   /* which is constant */
    struct sim_joint_range range;       /* of its one coordinate; infinite where it has several */
    bool has_solids; /* as the solids, none included; else as the box that has its inertia */
    int solid_count;
    struct sim_solid *solids;
    struct cfg_mark mark;
};

/* Whatever acts on a body. */
struct sim_effector {
    char name[SIM_NAME_MAX];
    struct dyn_effector effector;
    double speed; /* initial, of what turns: rad/s relative to the body */
    struct io_actuator_drive_spec drive;
    int link;    /* index of the link that commands it, -1: nobody does */
    int control; /* index into io_command.controls */
    struct cfg_mark mark;
};

enum sim_sensor_kind {
    SIM_SENSOR_GYRO,
    SIM_SENSOR_ACCELEROMETER,
    SIM_SENSOR_MAGNETOMETER,
    SIM_SENSOR_BAROMETER,
    SIM_SENSOR_AIRSPEED,
    SIM_SENSOR_GPS,
    SIM_SENSOR_SUN,
    SIM_SENSOR_STAR_TRACKER,
    SIM_SENSOR_ENCODER,
    SIM_SENSOR_KIND_COUNT
};

struct sim_sensor {
    char name[SIM_NAME_MAX];
    enum sim_sensor_kind kind;
    int body;
    double point[3];    /* body axes, m */
    uint32_t every;     /* frames per sample */
    double sample_time; /* s */
    union {             /* by kind: */
        struct io_three_axis_sensor_spec triad;
        struct io_scalar_sensor_spec gauge;
        struct io_gps_spec gps;
        struct io_sun_sensor_spec sun;
        struct io_star_tracker_spec tracker;
    };
    int coordinate; /* encoder: of the body's joint */
    int angle;      /* encoder: which of the sample's angles */
    struct cfg_mark mark;
};

/* Messages of a link, by the place of their bit in enum io_send. */
enum sim_message_kind {
    SIM_MESSAGE_HEARTBEAT,
    SIM_MESSAGE_SENSOR,
    SIM_MESSAGE_GPS,
    SIM_MESSAGE_STATE,
    SIM_MESSAGE_TIME,
    SIM_MESSAGE_TRACKER,
    SIM_MESSAGE_SUN,
    SIM_MESSAGE_ANGLES,
    SIM_MESSAGE_RC,
    SIM_MESSAGE_COUNT
};

/* What a run must keep to be ok, beyond sound physics and its expectations. */
struct sim_require {
    bool time, link, log, expectations;
};

/* Beyond these the motion is not sound. */
struct sim_physics_limits {
    double max_speed;         /* m/s, of any body's origin */
    double max_energy_growth; /* against the energy at the start and the work done since */
};

struct sim_link {
    char name[SIM_NAME_MAX];
    struct io_link_spec spec;
    bool stop_on_loss;         /* on_loss: stop (exit 3) or safe (controls to zero, goes on) */
    bool on_loss_given;        /* on_loss is written, and no default */
    uint64_t wait_limit_ns;    /* lockstep: longest wait for a reply */
    uint64_t connect_limit_ns; /* longest wait for the board before the first frame */
    uint32_t delay;            /* frames between what comes in and the frame, on purpose */
    int body;                  /* the body whose motion is reported on this link */
    uint32_t every[SIM_MESSAGE_COUNT]; /* frames between two messages; 0: never */
    struct io_rc_script sticks;        /* step_count 0: no pilot */
    double sticks_from;                /* s: the radio is silent before */
    struct cfg_mark mark;
    struct cfg_mark ground_mark[IO_GROUND_STEP_MAX]; /* of the ground station's steps */
};

struct sim_controller {               /* the board as a process, where the scenario names one */
    int argument_count;               /* 0: none */
    char *argument[SIM_ARGUMENT_MAX]; /* ends with NULL, as exec wants it */
    int cpu;                          /* -1: where the run keeps house */
    int priority;                     /* SCHED_FIFO; 0: it is not real-time */
    struct cfg_mark mark;
};

/* What tells the board's clock: its answers, or that its commands come evenly. */
enum sim_lock_source { SIM_LOCK_TIMESYNC, SIM_LOCK_ARRIVAL };

struct sim_phase_lock {
    int link; /* -1: frames follow no clock but this machine's */
    enum sim_lock_source source;
    struct rt_phase_lock_spec spec;
};

struct sim_sync_pulse { /* on the frame grid */
    uint32_t every;     /* frames; 0: none */
    struct io_bus_spec bus;
    struct cfg_mark mark;
};

struct sim_predictor_spec { /* where the vehicle will be, for who commands it over a long wire */
    uint32_t every;         /* frames between two predictions; 0: none */
    uint32_t ahead;         /* frames */
};

enum sim_direction { SIM_DIRECTION_BOTH, SIM_DIRECTION_OUT, SIM_DIRECTION_IN };

/* One of sensor, effector and link says what it hits; the others are -1. */
struct sim_fault {
    struct io_fault_spec spec;
    int sensor, effector, link;
    enum sim_direction way; /* of a link's messages */
    int link_fault_index; /* which of the link's faults it is; of a delay, which the rig makes, none
                           */
    uint64_t frames; /* how long it lasts once the operator begins it; UINT64_MAX: until he ends it
                      */
    char text[SIM_LABEL_MAX]; /* its name, or else what it is */
    struct cfg_mark mark;
};

/* Where the frame reads a parameter. */
enum sim_parameter_home {
    SIM_PARAMETER_IN_SCENARIO,    /* at `at` */
    SIM_PARAMETER_IN_EFFECTOR,    /* of the plant, `count` of them from `index` on, at `offset` */
    SIM_PARAMETER_IN_ENVIRONMENT, /* of the plant, at `offset` */
    SIM_PARAMETER_IN_JOINT_FORCE, /* of the joint of body `index`, at `offset` */
};

/* A number that the operator may change while the run goes on. */
struct sim_parameter {
    char name[SIM_PARAMETER_NAME_MAX]; /* "devices.gyro.bias.x" */
    char unit[SIM_UNIT_MAX];           /* SI; "": a plain number */
    double low, high, initial;         /* both ends included */
    enum sim_parameter_home seat;
    double *at;
    int index, count;
    size_t offset;
};

/* attitude_error < 0.1 deg after 15 s: the condition holds at every frame from 15 s on.
 * attitude_error < 2 deg within 5 s: it holds at some frame at or before 5 s. */
enum sim_signal {
    SIM_SIGNAL_ATTITUDE_ERROR,
    SIM_SIGNAL_RATE,
    SIM_SIGNAL_WHEEL_SPEED,
    SIM_SIGNAL_ALTITUDE,       /* m above the start of the world: home, or the sea in orbit */
    SIM_SIGNAL_SPEED,          /* m/s, of the pointed body in the world */
    SIM_SIGNAL_POSITION_ERROR, /* m, horizontal way from pointing.position */
    SIM_SIGNAL_TILT,           /* rad, between the body's z axis and the world's */
    SIM_SIGNAL_COUNT
};
struct sim_expectation {
    enum sim_signal signal;
    bool below;   /* < or > */
    double limit; /* rad, rad/s */
    bool within;  /* within or after */
    double seconds;
    char text[SIM_LABEL_MAX]; /* as written */
    struct cfg_mark mark;
};

/* From where the vehicle is looked at; the run does not feel it. */
struct sim_camera {
    char name[SIM_NAME_MAX];
    int body; /* -1: it stands in the world */
    double at[3];
    double look[3], up[3]; /* unit, body axes; up need not be at right angles */
    double field;          /* rad, from the lower to the upper edge */
};

struct cfg_file {
    const char *name, *path; /* as the scenario has it; as it was found */
    const char *text;        /* a NUL behind it */
    size_t size;
    struct cfg_file *next;
};

/* Every so many records of a channel one is written: of an instrument, of a commanded effector, or
 * of the plant where both are -1. */
struct sim_log_channel {
    int sensor, drive;
    uint32_t every;
};

enum { SIM_LOG_CHANNEL_MAX = 64 };

struct sim_log_spec {
    int channel_count;
    struct sim_log_channel channel[SIM_LOG_CHANNEL_MAX];
    bool on_overrun, on_fault;    /* then all records, */
    uint64_t before_ns, after_ns; /* so long */
};

struct cfg_scenario {
    char *path; /* as given */
    char *text; /* the whole file, for the log */
    size_t text_size;
    char name[SIM_NAME_MAX];
    double rate_hz;
    uint64_t period_ns;
    double seconds;
    uint64_t seed;
    enum rt_pace pace;
    bool commit_given; /* else grid in real and fast pace, early in lockstep */
    enum rt_commit commit;
    enum rt_overrun overrun;
    uint32_t max_catch_up;
    bool require_realtime; /* require: realtime */
    struct sim_require require;
    struct sim_physics_limits physics;

    enum io_link_mode io_mode;
    int frame_cpu, io_cpu; /* -1: auto */
    struct cfg_mark frame_cpu_mark, io_cpu_mark;
    int frame_priority, io_priority;
    enum rt_wait wait;
    uint64_t lead_ns; /* 0: measured */
    uint64_t watchdog_ns;

    enum dyn_integrator integrator;
    int substeps;
    enum dyn_isa isa; /* of the kernel: as AIRBEARING_ISA says, else the best that runs */
    struct dyn_environment environment; /* at the start */
    struct dyn_world world;
    int reference_body; /* the free body whose place the world is looked at from; -1: the origin */
    struct io_wind_gust_spec gust;
    bool has_gust;

    int body_count;
    struct sim_body *bodies; /* sorted parent before child, file order otherwise */
    int effector_count, drive_count;
    struct sim_effector *effectors; /* those that are commanded come first */
    int sensor_count;
    struct sim_sensor *sensors;
    int link_count;
    struct sim_link *links;
    struct sim_arm arm;
    struct sim_controller controller;
    struct sim_phase_lock lock;
    struct sim_sync_pulse pulse;
    struct sim_predictor_spec predictor;
    int fault_count;
    struct sim_fault faults[SIM_FAULT_MAX];
    int parameter_count;
    struct sim_parameter parameters[SIM_PARAMETER_MAX];
    int target_body; /* pointing: body and attitude to hold; the first body where none is named */
    double target[4];
    double target_position[3]; /* world, m */
    uint32_t log_every;        /* frames per state record in the log */
    bool log_parts;            /* and a hash of every part of the run state */
    struct sim_log_spec log;
    int expect_count;
    struct sim_expectation expects[SIM_EXPECTATION_MAX];
    int camera_count;
    struct sim_camera cameras[SIM_CAMERA_MAX];
    const struct cfg_file *urdf; /* one of the files; NULL: it has none */
    struct cfg_file *files;      /* that it names and were read; for the log */
    struct cfg_load_arena
        kept; /* files, solids, and all that flexible bodies and their specs lead to */
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
/* The same from memory; name stands for the path in messages, and for its folder.
 * Context: setup. */
int cfg_scenario_load_text(const char *name, const char *text, size_t size,
                           const char *const *overrides, int override_count,
                           struct cfg_scenario **scenario, char error[CFG_ERROR_MAX]);
/* The same out of a log, which has on its shelf what the scenario names.  Context: setup. */
int cfg_scenario_load_logged(const char *name, const char *text, size_t size,
                             const char *const *overrides, int override_count,
                             const struct cfg_file_source *shelf, struct cfg_scenario **scenario,
                             char error[CFG_ERROR_MAX]);
void cfg_scenario_free(struct cfg_scenario *scenario);

/* Does the scenario bear this pace (its own or that of --pace)?  0, or -EINVAL with one line in
 * error.  Context: setup. */
int cfg_check_pace(const struct cfg_scenario *scenario, enum rt_pace pace,
                   char error[CFG_ERROR_MAX]);

/* `file:line:column: what` for things that only show later, as a port in use.  Context: setup. */
void cfg_scenario_complain(const struct cfg_scenario *scenario, struct cfg_mark mark,
                           char error[CFG_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Frames between two looks at what changes slowly around the vehicle.  Context: any. */
uint32_t sim_environment_every(const struct cfg_scenario *scenario);

/* Does velocity k of the joint turn, or does it slide?  Context: any. */
bool cfg_joint_turns(const struct dyn_body_spec *spec, int k);

/* As a scenario writes them.  Context: any. */
const char *cfg_protocol_name(enum io_protocol_kind protocol);
const char *cfg_variant_name(enum io_betaflight_variant variant);
const char *cfg_bus_name(enum io_bus_kind bus);
const char *cfg_axis_name(int axis);
const char *cfg_fault_name(enum io_fault_kind kind);
const char *cfg_message_name(int message);
/* Of what an expectation looks at: its name, and the SI unit of the limit.  Context: any. */
const char *cfg_signal_name(enum sim_signal signal);
const char *cfg_signal_unit(enum sim_signal signal);
const char *cfg_lock_source_name(enum sim_lock_source source);
const char *cfg_integrator_name(enum dyn_integrator integrator);

/* The readable part of `airbearing check`: tree, devices, links, rates.  Context: setup. */
void cfg_scenario_print(const struct cfg_scenario *scenario, FILE *out);

/* All keys of a scenario file with units, defaults and meaning.  Context: setup. */
void cfg_schema_print(FILE *out);
