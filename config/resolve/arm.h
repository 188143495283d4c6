/*
 * An arm that a person flies: its joints, its hand, his controls, and what it can carry.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/yaml/complaint.h"
#include "dynamics/arm/arm_kinematics.h"
#include "dynamics/arm/joint_servo.h"
#include "io/device/arm_panel.h"

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
    struct cfg_mark mark;
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

/* What the hand has: configuration 0 is nothing, configuration 1 + i payload i. */
struct cfg_scenario;
struct dyn_body_spec;

/* Context: any. */
int sim_arm_configuration_count(const struct cfg_scenario *scenario);
int sim_arm_first_configuration(const struct cfg_scenario *scenario);

/* The bodies, as many as the scenario has, as the kernel sees them then.  Context: setup. */
void sim_arm_configuration_specs(const struct cfg_scenario *scenario, int configuration,
                                 struct dyn_body_spec *specs);
