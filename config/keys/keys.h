/*
 * The keys of a scenario file, as they are before references are resolved.
 *
 * Each struct is filled by its table (config/yaml/schema.h): units are SI, defaults are filled in,
 * names are not resolved yet.  keys.c is the reference of the file format.
 *
 * Tested by tests/config/test_scenario.c.
 */
#pragma once

#include "config/import/beam.h"
#include "config/scenario.h"
#include "config/yaml/schema.h"

enum {
    CFG_BODY_MAX = CFG_ITEMS_MAX,
    CFG_STATION_MAX = 2048,  /* of one body */
    CFG_FLEX_NODE_MAX = 256, /* nodes of one body */
    CFG_SOLID_MAX = 64,      /* of one body */
};

/* Types of devices: the kinds of sensors, then the types of effectors. */
enum { CFG_DEVICE_EFFECTOR = SIM_SENSOR_KIND_COUNT };

struct cfg_keys_overrun {
    const struct cfg_node *node;
    int policy;
    int64_t max_catch_up;
};

/* The requirements on a run besides physics and expectations. */
struct cfg_keys_require {
    const struct cfg_node *node;
    int machine, time, link, log, expectations;
};

struct cfg_keys_physics {
    const struct cfg_node *node;
    double max_speed, max_energy_growth;
};

struct cfg_keys_io {
    const struct cfg_node *node;
    int mode;
    int64_t cpu, priority;
};

struct cfg_keys_frame {
    const struct cfg_node *node;
    int64_t cpu, priority;
    int wait;
    double lead, watchdog;
};

struct cfg_keys_integrator {
    const struct cfg_node *node;
    int method;
    int64_t substeps;
};

struct cfg_keys_home {
    const struct cfg_node *node;
    double latitude, longitude, altitude;
};

struct cfg_keys_gust {
    const struct cfg_node *node;
    double sigma[3], time[3];
};

struct cfg_keys_orbit {
    const struct cfg_node *node;
    const char *body;
    double altitude, eccentricity, inclination, ascending_node, perigee, anomaly;
    int bulge;
};

struct cfg_keys_environment {
    const struct cfg_node *node;
    int world;
    double gravity[3], magnetic_field[3];
    struct cfg_keys_home home;
    const char *date;
    double wind[3], ground; /* NAN: none */
    int air;
    struct cfg_keys_gust gust;
    struct cfg_keys_orbit orbit;
};

struct cfg_keys_friction {
    const struct cfg_node *node;
    double coulomb, speed;
};

struct cfg_keys_limits {
    const struct cfg_node *node;
    double lower, upper; /* NAN: none */
    double stiffness, damping;
};

/* One coordinate of a joint: its start, the forces along it, and whether it is held. */
struct cfg_keys_motion {
    const struct cfg_node *node; /* NULL also where its keys are in the joint itself */
    double position, rate;       /* angle or displacement, and its rate */
    double stiffness, damping, rest;
    struct cfg_keys_friction friction;
    struct cfg_keys_limits limits;
    int locked;
    double prescribed; /* acceleration; NAN: it is not prescribed */
};

struct cfg_keys_motor {
    const struct cfg_node *node;
    double ratio, inertia;
    double axis[3]; /* parent axes; zero: the joint's */
    int terms;
};

struct cfg_keys_mimic {
    const struct cfg_node *node;
    const char *body;
    double ratio, offset;
};

enum cfg_urdf_base { CFG_URDF_FIXED, CFG_URDF_FREE };

enum cfg_screw_type { CFG_SCREW_TURN, CFG_SCREW_SLIDE };

struct cfg_keys_screw {
    const struct cfg_node *node;
    int type;
    double axis[3], at[3], pitch;
    struct cfg_keys_motion motion;
};

struct cfg_keys_joint {
    const struct cfg_node *node;
    int type;
    const char *node_name; /* node of the parent, "frame", or NULL: not given */
    double axis[3], axis2[3];
    double at[3], attitude[4]; /* the joint frame in the parent's; for a free body its start */
    struct cfg_keys_motion motion[3]; /* in the order of the coordinates */
    struct cfg_list screws;
    struct cfg_keys_motor motor;
    struct cfg_keys_mimic mimic;
    double spin[3], velocity[3]; /* spherical and free: body axes */
    double drag[3];              /* spherical: damping by body axis */
};

/* Shapes of all modes at one point; psi2 and theta2 by pairs of modes, 11 12 .. 22 .. */
struct cfg_keys_shape {
    const struct cfg_node *node;
    double at[3];
    struct cfg_rows psi, theta, psi2, theta2;
};

struct cfg_keys_station {
    const struct cfg_node *node;
    struct cfg_keys_shape shape;
    double mass, inertia[6];
};

struct cfg_keys_mode {
    const struct cfg_node *node;
    double frequency, damping; /* Hz, ratio */
};

struct cfg_keys_oscillator {
    const struct cfg_node *node;
    const char *name; /* NULL: the mass is not a node */
    double axis[3], at[3];
    double frequency, damping;
    double mass, inertia; /* NAN: the other is given */
};

/* Modes of a beam of one family, and the stiffness against them. */
struct cfg_keys_family {
    const struct cfg_node *node;
    int64_t modes;
    double stiffness, frequency; /* NAN: the other is given */
};

struct cfg_keys_tip {
    const struct cfg_node *node;
    double mass, inertia[3]; /* beam axes */
};

/* A node: of a beam at x, of an FE model at a grid point, else with its own shapes. */
struct cfg_keys_node {
    const struct cfg_node *node;
    const char *name;
    double x;
    int64_t grid;
    struct cfg_keys_shape shape;
};

enum cfg_flex_type { CFG_FLEX_BEAM, CFG_FLEX_OSCILLATORS, CFG_FLEX_TABLE, CFG_FLEX_NASTRAN };

struct cfg_keys_flex {
    const struct cfg_node *node;
    int type, fidelity;
    struct cfg_numbers start, start_rate;
    struct cfg_list nodes; /* of struct cfg_keys_node */
    struct cfg_numbers damping;
    /* beam */
    double length, mass, roll_inertia;
    double attitude[4];
    int root;
    struct cfg_keys_family family[CFG_BEAM_FAMILIES];
    struct cfg_keys_tip tip;
    /* oscillators */
    struct cfg_list oscillators;
    /* table */
    struct cfg_list modes, stations;
    struct cfg_rows mass_matrix, stiffness_matrix, damping_matrix;
    struct cfg_keys_shape joint; /* the shapes at the body's joint */
    /* nastran */
    const char *bulk, *punch;
    struct cfg_numbers pick;
    int64_t count, grid; /* -1: not given; of the joint, 0: not given */
    double slowest, length_unit, mass_unit, tolerance;
};

struct cfg_keys_solid {
    const struct cfg_node *node;
    int type;
    double at[3], attitude[4];
    double size[3], radius, length;
    double color[3], opacity;
};

/* A robot whose links are bodies. */
struct cfg_keys_urdf {
    const struct cfg_node *node;
    const char *file, *parent;
    int base; /* as enum cfg_urdf_base */
    double at[3], attitude[4];
};

/* What the scenario adds to a joint of the URDF. */
struct cfg_keys_urdf_joint {
    const struct cfg_node *node;
    const char *name; /* of the joint, or of the link that it carries */
    int type;         /* as enum cfg_screw_type */
    struct cfg_keys_motion motion;
    struct cfg_keys_motor motor;
};

struct cfg_keys_body {
    const struct cfg_node *node;
    const char *name, *parent;
    struct cfg_keys_joint joint;
    double mass, center[3], inertia[6]; /* mass NAN: not given */
    struct cfg_keys_flex flex;
    struct cfg_list solids;              /* of struct cfg_keys_solid; items NULL: not given */
    const struct sim_joint_range *range; /* of a URDF's joint; NULL: the body is not from a URDF */
};

struct cfg_keys_command {
    const struct cfg_node *node;
    const char *link;
    int64_t control;
};

/* Numbers that the run uses as they are written go directly into the device's part of the spec;
 * keys from which numbers are computed are beside it. */
struct cfg_keys_device {
    const struct cfg_node *node;
    const char *name, *body;
    int type; /* enum sim_sensor_kind, or CFG_DEVICE_EFFECTOR + enum dyn_effector_type */
    union {
        struct sim_sensor sensor;
        struct sim_effector effector;
    };
    double delay, rate;
    double attitude[4], misalignment[3]; /* of three axes */
    int64_t coordinate;                  /* encoder */
    int64_t satellites;                  /* gps */
    int turns;                           /* rotor */
    double max_thrust, torque_ratio, pitch;
    struct cfg_keys_command command;
    struct cfg_rows points; /* contact */
    double not_read;        /* by anybody any more */
};

struct cfg_keys_send {
    const struct cfg_node *node;
    double rate[IO_MESSAGE_COUNT]; /* Hz; NAN: not given */
};

/* Positions of a pilot's sticks from a time on; the channels are in the order of an AETR receiver.
 */
struct cfg_keys_stick {
    const struct cfg_node *node;
    double at;
    double roll, pitch, throttle, yaw;
    double height;               /* NAN: the pilot does not hold a height */
    struct cfg_numbers switches; /* channels 5 and up, 0 to 1 */
};

/* A step of the ground station. */
struct cfg_keys_ground {
    const struct cfg_node *node;
    double at, within, takeoff, to; /* takeoff, to: NAN where not given */
    int arm, land;
    const char *mode, *set;
};

/* An axis of a hand controller and the control that it moves. */
struct cfg_keys_hand_axis {
    const struct cfg_node *node;
    int axis, invert;
    int64_t control;
    double dead_band, expo, scale;
};

enum { CFG_LINK_DELAY_MAX = 10 }; /* s */

struct cfg_keys_link {
    const struct cfg_node *node;
    const char *name, *listen, *peer, *device, *body;
    int protocol, bus, on_loss, variant;
    int64_t baud, can_id, can_reply_id;
    int rs485, can_fd;
    int64_t system_id, component_id;
    double lost_after, connect_within, wait_limit, delay, sticks_from;
    struct cfg_keys_send send;
    struct cfg_list forward; /* of const char * */
    struct cfg_list sticks;  /* of struct cfg_keys_stick */
    struct cfg_list ground;  /* of struct cfg_keys_ground */
    const char *ground_line;
    struct cfg_list axes; /* of struct cfg_keys_hand_axis */
    struct cfg_numbers modes;
};

struct cfg_keys_controller {
    const struct cfg_node *node;
    struct cfg_list command;
    int64_t cpu, priority;
    int policy;
};

/* A fault and its time. */
struct cfg_keys_fault {
    const struct cfg_node *node;
    const char *name;          /* NULL: named after its type */
    const char *device, *link; /* one of them */
    int type, way, when;
    double at, duration; /* s; duration NAN: to the end */
    int64_t frame;       /* -1: by time */
    struct cfg_numbers axes;
    const char *value; /* as text, because its unit is that of the signal */
};

/* A number that the operator may change; its limits are texts, because their unit is that of the
 * number. */
struct cfg_keys_tunable {
    const struct cfg_node *node;
    const char *of, *low, *high;
};

struct cfg_keys_pointing {
    const struct cfg_node *node;
    const char *body;
    double target[4], position[3];
};

struct cfg_keys_lock {
    const struct cfg_node *node;
    const char *link;
    int source;
    double limit_ppm, time_constant, period;
};

struct cfg_keys_pulse {
    const struct cfg_node *node;
    const char *to, *device;
    int64_t baud, every;
};

/* ---- arms ---- */

struct cfg_keys_arm_joint {
    const struct cfg_node *node;
    const char *body;
    double stiffness, damping, max_torque, max_rate;
    double acceleration, brake, lower, upper; /* NAN: not given */
};

struct cfg_keys_hand {
    const struct cfg_node *node;
    const char *body;
    double at[3], attitude[4];
};

struct cfg_keys_three_axis_stick {
    const struct cfg_node *node;
    const char *link;
    struct cfg_numbers controls;
    double speed;
};

struct cfg_keys_buttons {
    const struct cfg_node *node;
    const char *link;
    int64_t button[IO_ARM_PANEL_BUTTON_COUNT]; /* -1: none */
    struct cfg_numbers select;
};

struct cfg_keys_capture {
    const struct cfg_node *node;
    double reach, tilt, speed, rate;
};

struct cfg_keys_pose {
    const struct cfg_node *node;
    const char *name;
    struct cfg_numbers angles;
};

struct cfg_keys_damping {
    const struct cfg_node *node;
    double length, weak, damping, center;
};

struct cfg_keys_arm {
    const struct cfg_node *node;
    struct cfg_list joints; /* of struct cfg_keys_arm_joint */
    struct cfg_keys_hand hand;
    const char *base;
    int weight;
    double servo, vernier, still, settle;
    struct cfg_keys_three_axis_stick translation, rotation;
    struct cfg_keys_buttons buttons;
    struct cfg_keys_damping resolve;
    struct cfg_keys_capture capture;
    struct cfg_list poses; /* of struct cfg_keys_pose */
};

struct cfg_keys_payload {
    const struct cfg_node *node;
    const char *body, *bay;
    struct cfg_keys_hand fixture;
    int latched;
    struct cfg_keys_capture berth;
    double speed;
};

struct cfg_keys_predictor {
    const struct cfg_node *node;
    double rate, ahead; /* ahead NAN: the delay of the links */
};

struct cfg_keys_log_channel {
    const struct cfg_node *node;
    const char *topic;
    int64_t every; /* 0: not given */
    double rate;   /* NAN: not given */
};

struct cfg_keys_trigger {
    const struct cfg_node *node;
    struct cfg_list when; /* of const char * */
    double before, after;
};

struct cfg_keys_log {
    const struct cfg_node *node;
    int64_t every;
    int parts;
    struct cfg_list channels; /* of struct cfg_keys_log_channel */
    struct cfg_keys_trigger trigger;
};

struct cfg_keys_camera {
    const struct cfg_node *node;
    const char *name, *body;
    double at[3], look[3], up[3], field;
};

struct cfg_keys_scenario {
    const struct cfg_node *node;
    const char *name;
    double rate, seconds;
    int64_t seed;
    int pace, commit;
    struct cfg_keys_overrun overrun;
    struct cfg_keys_require require;
    struct cfg_keys_physics physics;
    struct cfg_keys_io io;
    struct cfg_keys_frame frame;
    struct cfg_keys_integrator integrator;
    struct cfg_keys_environment environment;
    struct cfg_keys_urdf urdf;
    struct cfg_list joints; /* of struct cfg_keys_urdf_joint */
    struct cfg_list bodies, devices, links;
    struct cfg_keys_arm arm;
    struct cfg_list payloads; /* of struct cfg_keys_payload */
    struct cfg_keys_controller controller;
    struct cfg_keys_lock lock;
    struct cfg_keys_pulse pulse;
    struct cfg_keys_predictor predictor;
    struct cfg_keys_pointing pointing;
    struct cfg_list faults;
    struct cfg_list tunable;
    struct cfg_list expect; /* of const char * */
    struct cfg_keys_log log;
    struct cfg_list cameras; /* of struct cfg_keys_camera */
};

extern const struct cfg_table cfg_scenario_table, cfg_joint_table, cfg_flex_table, cfg_device_table;
extern const struct cfg_table cfg_link_table, cfg_controller_table, cfg_fault_table;
extern const struct cfg_table cfg_lock_table, cfg_pulse_table, cfg_predictor_table;
extern const struct cfg_table cfg_arm_table, cfg_payload_table;
extern const struct cfg_table cfg_solid_table, cfg_camera_table, cfg_urdf_joint_table;
