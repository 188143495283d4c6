/*
 * What a run is made of: vehicle, devices, links, faults, clocks and what is asked of them.
 *
 * config/ fills it from a user's text, once, before the first frame; from then on it is const.  A
 * replay and a predictor share it with the run.  Units are SI, names are resolved to indices, and
 * every number has been checked.  What an operator tunes lives in the run state
 * (rt/executive/state/run_state.h), never here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamics/arm/arm_kinematics.h"
#include "dynamics/arm/joint_servo.h"
#include "dynamics/plant.h"
#include "dynamics/world/world.h"
#include "io/command.h"
#include "io/device/actuator_drive.h"
#include "io/device/arm_panel.h"
#include "io/device/fault.h"
#include "io/device/gps.h"
#include "io/device/horizon_sensor.h"
#include "io/device/rc_script.h"
#include "io/device/scalar_sensor.h"
#include "io/device/star_tracker.h"
#include "io/device/sun_sensor.h"
#include "io/device/three_axis_sensor.h"
#include "io/device/wind_gust.h"
#include "io/link/link.h"
#include "rt/clock.h"
#include "rt/frame.h"
#include "rt/phase_lock.h"

enum {
    SIM_NAME_MAX = 48,
    SIM_EXPECTATION_MAX = 16,
    SIM_LABEL_MAX = 96,
    SIM_FAULT_MAX = 32,
    SIM_PARAMETER_MAX = 64,
    SIM_PARAMETER_NAME_MAX = 64,
    SIM_UNIT_MAX = 16,
    SIM_EFFECTOR_MAX = 96,
    SIM_DEVICE_MAX = 60,
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

/* The limits of a joint, for its controllers; the kernel knows only the stops of its force. */
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
};

/* Whatever acts on a body. */
struct sim_effector {
    char name[SIM_NAME_MAX];
    struct dyn_effector effector;
    double speed; /* initial, of what turns: rad/s relative to the body */
    struct io_actuator_drive_spec drive;
    int link;    /* index of the link that commands it, -1: nobody does */
    int control; /* index into io_command.controls */
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
    SIM_SENSOR_HORIZON,
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
        struct io_horizon_sensor_spec horizon;
    };
    int coordinate; /* encoder: of the body's joint */
    int angle;      /* encoder: which of the sample's angles */
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
    uint32_t every[IO_MESSAGE_COUNT]; /* frames between two messages; 0: never */
    struct io_rc_script sticks;       /* step_count 0: no pilot */
    double sticks_from;               /* s: the radio is silent before */
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
};

struct sim_predictor_spec { /* where the vehicle will be, for an operator who commands it over a
                               late link */
    uint32_t every;         /* frames between two predictions; 0: none */
    uint32_t ahead;         /* frames */
};

enum sim_direction { SIM_DIRECTION_BOTH, SIM_DIRECTION_OUT, SIM_DIRECTION_IN };

/* One of sensor, effector and link says what it hits; the others are -1. */
struct sim_fault {
    struct io_fault_spec spec;
    int sensor, effector, link;
    enum sim_direction way; /* of a link's messages */
    int link_fault_index;   /* which of the link's faults it is; of a delay, which is a delay line
                             * here, none
                             */
    uint64_t frames; /* how long it lasts once the operator begins it; UINT64_MAX: until he ends it
                      */
    char text[SIM_LABEL_MAX]; /* its name, or else what it is */
};

/* Where the frame reads a parameter. */
enum sim_parameter_home {
    SIM_PARAMETER_IN_TUNED,       /* of struct sim_tuned itself, at `offset` */
    SIM_PARAMETER_IN_SENSOR,      /* of sensor `index`, at `offset` in struct sim_sensor */
    SIM_PARAMETER_IN_DRIVE,       /* of the drive of effector `index`, at `offset` */
    SIM_PARAMETER_IN_FAULT,       /* of fault `index`, at `offset` in struct io_fault_spec */
    SIM_PARAMETER_IN_EFFECTOR,    /* of the plant, `count` of them from `index` on, at `offset` */
    SIM_PARAMETER_IN_ENVIRONMENT, /* of the plant, at `offset` */
    SIM_PARAMETER_IN_JOINT_FORCE, /* of the joint of body `index`, at `offset` */
};

/* A number that the operator may change while the run goes on. */
struct sim_parameter {
    char name[SIM_PARAMETER_NAME_MAX]; /* "devices.gyro.bias.x" */
    char unit[SIM_UNIT_MAX];           /* SI; "": a plain number */
    double low, high, initial;         /* both ends included */
    enum sim_parameter_home home;
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

/* ---- an arm ---- */

enum { SIM_ARM_NAME_MAX = 48, SIM_ARM_POSE_MAX = IO_ARM_PANEL_SELECT_MAX, SIM_PAYLOAD_MAX = 8 };

struct sim_arm_joint {
    int body; /* whose joint it is */
    struct dyn_joint_servo_spec servo;
    double brake; /* N m; more than that, and it slips */
};

/* Three controls of a link. */
struct sim_arm_stick {
    int link;
    int control[3];
    double speed; /* at full deflection: m/s or rad/s */
};

struct sim_arm_pose {
    char name[SIM_ARM_NAME_MAX];
    double angle[DYN_ARM_JOINT_MAX];
};

struct sim_payload {
    int body;
    int bay;                        /* the body that it rides on unless the hand has it */
    struct dyn_pose fixture;        /* where the hand grips it; body axes */
    struct dyn_pose on_bay;         /* the place of its free joint there, */
    struct dyn_pose on_hand;        /* and on the hand's body */
    bool in_hand;                   /* at the start */
    bool latched;                   /* at the start: to the bay */
    double speed;                   /* share of the arm's speeds while it is carried */
    double berth_reach, berth_tilt; /* so near to its berth a release latches it; m, rad */
    double berth_speed, berth_rate; /* if it is so slow; m/s, rad/s */
    double berth[7];                /* q of its joint there, of one that began latched */
};

struct sim_arm {
    int joint_count; /* 0: there is no arm */
    struct sim_arm_joint joint[DYN_ARM_JOINT_MAX];
    int base, hand;       /* bodies */
    struct dyn_pose grip; /* of the hand on its body */
    struct dyn_resolved_rate_spec resolve;
    uint32_t every;      /* frames per servo period */
    bool carries_weight; /* servos know what the arm weighs */
    double vernier;      /* share of the speeds */
    double still;        /* rad/s: slower is standing */
    struct sim_arm_stick translation, rotation;
    int button_link;
    struct io_arm_panel_spec panel;
    double capture_reach, capture_tilt; /* m, rad */
    double capture_speed, capture_rate; /* m/s, rad/s */
    int pose_count;
    struct sim_arm_pose pose[SIM_ARM_POSE_MAX];
    int payload_count;
    struct sim_payload payload[SIM_PAYLOAD_MAX];
};

/* ---- the whole ---- */

struct sim_spec {
    uint64_t text_hash;  /* of the text it comes from, and of overrides that bear on the state */
    uint64_t files_hash; /* of the files that the text names */
    char name[SIM_NAME_MAX];
    double rate_hz;
    uint64_t period_ns;
    double seconds;
    uint64_t seed;
    enum rt_pace pace;
    enum rt_commit commit;
    enum rt_overrun overrun;
    uint32_t max_catch_up;
    struct sim_physics_limits physics;

    enum io_link_mode io_mode;
    int frame_cpu, io_cpu; /* -1: auto */
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
};
