/*
 * From a scenario to the things the frame touches, all cut from one arena.
 *
 * Everything that can change during a run lies in one flat block, the run state:
 *
 *      [ plant x: q | v | effectors | history of the integrator ]
 *      [ drives ][ instruments ][ faults ][ links: held controls ][ surroundings ][ schedule ]
 *      [ parameters: what the operator has tuned ][ arm: panel, servos, brakes, what it carries ]
 *
 * Snapshot, hash, checkpoint and replay are operations on that block.  Pads are zero.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dynamics/arm/grapple.h"
#include "dynamics/flex/validity.h"
#include "rt/arena.h"
#include "rt/executive/spec.h"

/* What a link holds between two commands. */
struct sim_link_state {
    double control[IO_CONTROL_MAX];
    uint64_t flags, board_us, sequence, mode; /* of the newest command, as the board sent them */
    uint64_t commands;                        /* latched so far */
    uint64_t lost; /* 1 while the link is lost and the controls are safe */
};

/* What the environment has of its own, held between two looks at it. */
struct sim_environment_state {
    double magnetic_field[3], sun[3], sun_visible_fraction;
    struct io_wind_gust_state gust;
};

enum sim_arm_brake { SIM_ARM_BRAKE_OFF, SIM_ARM_BRAKE_SLIPS, SIM_ARM_BRAKE_HOLDS };

/* Flags of an arm besides those of dynamics/arm/resolved_rate.h. */
enum {
    SIM_ARM_LINK_LOST = 8,        /* a link of the operator's is lost */
    SIM_ARM_STOPPED = 16,         /* it waits for a mode to be chosen */
    SIM_ARM_VERNIER = 32,         /* fine */
    SIM_ARM_CAPTURE_READY = 64,   /* a fixture is inside the capture envelope */
    SIM_ARM_AUTO = 128,           /* on its way to a pose */
    SIM_ARM_TORQUE_LIMITED = 256, /* a motor gives all it can */
    SIM_ARM_BERTH_READY = 512, /* what the hand has is in its berth, where a release latches it */
};

/* What an arm remembers from one servo period to the next. */
struct sim_arm_state {
    struct io_arm_panel_state panel;
    double reference[DYN_ARM_JOINT_MAX]; /* rad, where the servos want the joints */
    double command[DYN_ARM_JOINT_MAX];   /* rad/s */
    double torque[DYN_ARM_JOINT_MAX];    /* N m, of the motors, behind their gears */
    double asked[6];                     /* of the hand, base axes, angular first */
    uint64_t brake[DYN_ARM_JOINT_MAX];   /* enum sim_arm_brake */
    double rub[DYN_ARM_JOINT_MAX];       /* sense in which a slipping brake pushes: -1, 1 */
    uint64_t flags;
    uint64_t configuration;      /* what the hand has */
    uint64_t latched;            /* bit i: payload i to its bay */
    uint64_t near;               /* 1 + the payload whose fixture is nearest; 0: none is free */
    double reach, tilt, closing; /* of that one: m, rad, m/s */
    uint64_t grapples, releases, refused;
    uint64_t poses_settled;   /* looks in which it stood where a pose led it */
    uint64_t newest_stick_us; /* the sender's time of the sticks that the servos saw last */
    double blow;              /* J lost in the last grapple, or release into a berth, */
    double impulse[6];        /* and what the payload got: at the hand, in its axes; N m s, N s */
};
_Static_assert(sizeof(struct sim_arm_state) ==
                   sizeof(struct io_arm_panel_state) + (5 * DYN_ARM_JOINT_MAX + 6 + 19) * 8,
               "no pads in the run state");

struct sim_schedule_state {
    uint64_t frame;      /* frames completed */
    uint64_t not_finite; /* steps refused because their result was not a number */
    uint64_t out_of_range[DYN_VALIDITY_COUNT]; /* frames in which a flexible body left its model */
};

/* A part of the run state that has a name, and the job that writes it. */
enum { SIM_RUN_STATE_SECTION_MAX = 256 };
struct sim_run_state_section {
    char name[SIM_LABEL_MAX + 16]; /* "plant", "device gyro", "fault bias of gyro" */
    const char *job;
    size_t offset, size;
};

/* What of the spec an operator may tune, as it is in force: a copy that follows the parameters of
 * the run state, as the plant's effectors and environment do. */
struct sim_tuned {
    struct sim_sensor *sensors;
    struct io_actuator_drive_spec *drives; /* one per effector */
    struct io_fault_spec *faults;
    double wind[3]; /* m/s, without gusts */
    struct io_wind_gust_spec gust;
    double target[4], target_position[3]; /* attitude and place that are to be held */
};

struct sim_vehicle {
    const struct sim_spec *spec;
    struct sim_tuned tuned;
    struct dyn_plant plant;
    struct dyn_effector *effectors; /* of the plant, for the parameters in them */
    struct dyn_plant_work *work;
    double *command;     /* one per effector; computed from the drives each frame */
    unsigned char *held; /* nv, what the plant's joints are held by */
    double *held_a;
    double *joint_tau;   /* nv, by the arm's motors and brakes; NULL: there is no arm */
    unsigned char *blow; /* nv, enum dyn_impact: what a grapple stops; NULL: there is no arm */
    double h;            /* s per frame */

    /* An arm has a model for everything that can be in its hand; the plant has the one in force. */
    struct dyn_model **models; /* by configuration */
    struct dyn_plant_work **works;
    struct dyn_grapple_work **take; /* from configuration 0 to each, */
    struct dyn_grapple_work **give; /* and back */
    struct dyn_arm kinematics;
    struct dyn_arm_work *arm_work;

    unsigned char *state; /* the run state */
    size_t state_size;
    unsigned char *start; /* a copy of it before the first frame */
    double *x;
    struct io_actuator_drive_state *drive;
    void **instrument; /* one per sensor: the state of its kind, inside the run state */
    struct io_fault_state *fault;
    struct sim_link_state *link;
    struct sim_environment_state *surroundings;
    struct sim_schedule_state *schedule;
    double *parameter;         /* in force, one per parameter of the scenario */
    struct sim_arm_state *arm; /* NULL: there is none */
};

/* Bytes of arena that sim_vehicle_place() takes.  Context: setup. */
size_t sim_vehicle_size(const struct sim_spec *spec);
/* Of those, the run state.  Context: setup. */
size_t sim_run_state_size(const struct sim_spec *spec);
/* Bytes of run state that an instrument has.  Context: setup. */
size_t sim_sensor_state_size(enum sim_sensor_kind kind);

/* Frames between two updates of what changes slowly around the vehicle.  Context: any. */
uint32_t sim_environment_every(const struct sim_spec *spec);

/* Field, Sun and gusts as of now, from the run state into the plant.  Context: frame. */
void sim_vehicle_apply_environment(struct sim_vehicle *vehicle);
/* The same looked at anew, seconds into the run.  Context: frame. */
void sim_vehicle_update_environment(struct sim_vehicle *vehicle, double seconds);

/* The vehicle back at its start, with its devices; links, schedule, windows of faults and
 * parameters go on.  Context: frame. */
void sim_vehicle_reset(struct sim_vehicle *vehicle);

/* A parameter takes another value, which lies in its limits.  Context: frame, between two frames.
 */
void sim_vehicle_tune(struct sim_vehicle *vehicle, int index, double value);

/* The arm has something else in its hand, or other brakes and latches hold: bring in line with its
 * state what the kernel reads.  Context: frame. */
void sim_vehicle_apply_arm_configuration(struct sim_vehicle *vehicle);

/* The run state was put in as a whole: bring in line with it what the frame reads elsewhere.
 * Context: frame, between two frames. */
void sim_vehicle_apply_state(struct sim_vehicle *vehicle);

/* What of a run state of the right size cannot be, and would lead the frame astray; NULL: it is
 * sound.  The state may come from a file of anybody's.  Context: any. */
const char *sim_run_state_problem(const struct sim_vehicle *vehicle, const void *state);

/* The run state part by part, in order; as many as sim_run_state_section_count().  Context: setup.
 */
int sim_run_state_sections(const struct sim_vehicle *vehicle,
                           struct sim_run_state_section sections[SIM_RUN_STATE_SECTION_MAX]);

/* It goes up with every change of the run state that neither names nor sizes of sections show. */
enum { SIM_RUN_STATE_LAYOUT = 0 };

/* The number of the layout: of the sections, their names and places, and of the parameters.  A
 * state of another number means something else.  Context: setup. */
uint64_t sim_run_state_layout(const struct sim_vehicle *vehicle);

/* Context: setup. */
int sim_run_state_section_count(const struct sim_spec *spec);

/* The vehicle at its initial state.  The spec must outlive it.  Context: setup. */
struct sim_vehicle *sim_vehicle_place(const struct sim_spec *spec, void *mem);
