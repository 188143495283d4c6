/*
 * The keys of a joint.  A coordinate has the same keys in every joint; their units depend on
 * whether it turns or slides.
 *
 * Tested by tests/config/resolve/test_joint.c.
 */
#include "config/keys/keys.h"

#include "dynamics/model.h"

static const char *const joints[] = {
    [DYN_JOINT_FIXED] = "fixed",         [DYN_JOINT_REVOLUTE] = "revolute",
    [DYN_JOINT_PRISMATIC] = "prismatic", [DYN_JOINT_CYLINDRICAL] = "cylindrical",
    [DYN_JOINT_UNIVERSAL] = "universal", [DYN_JOINT_SPHERICAL] = "spherical",
    [DYN_JOINT_PLANAR] = "planar",       [DYN_JOINT_FREE] = "free",
    [DYN_JOINT_GENERAL] = "general",     NULL};
static const char *const screws[] = {[CFG_SCREW_TURN] = "turn", [CFG_SCREW_SLIDE] = "slide", NULL};
static const char *const rotor_terms[] = {
    [DYN_ROTOR_NONE] = "none", [DYN_ROTOR_DIAGONAL] = "diagonal", [DYN_ROTOR_FULL] = "full", NULL};
static const char *const answers[] = {"false", "true", NULL};

// clang-format off

#define AT(member) .offset = offsetof(struct cfg_keys_friction, member)
#define FRICTION_KEYS(force, slow) \
    {"coulomb", CFG_QUANTITY, AT(coulomb), .required = true, .unit = force, \
     .limit = CFG_NOT_NEGATIVE, .example = "coulomb: 0.2 " force, .help = "dry friction"}, \
    {"speed", CFG_QUANTITY, AT(speed), .unit = slow, .limit = CFG_POSITIVE, \
     .fallback = "0.01 " slow, .example = "0.01 " slow, \
     .help = "dry friction is smooth below about this speed"}
#define FRICTION_TABLE(list) \
    {CFG_KEYS("friction", list), .size = sizeof(struct cfg_keys_friction), .shorthand = "coulomb"}
static const struct cfg_key turn_friction_keys[] = {FRICTION_KEYS("N m", "rad/s")};
static const struct cfg_key slide_friction_keys[] = {FRICTION_KEYS("N", "m/s")};
static const struct cfg_table turn_friction = FRICTION_TABLE(turn_friction_keys);
static const struct cfg_table slide_friction = FRICTION_TABLE(slide_friction_keys);
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_limits, member)
#define LIMITS_KEYS(way, spring, damper) \
    {"lower", CFG_QUANTITY, AT(lower), .unit = way, .otherwise = "none", .example = "-1.5 " way, \
     .help = "where the lower stop begins"}, \
    {"upper", CFG_QUANTITY, AT(upper), .unit = way, .otherwise = "none", .example = "1.5 " way, \
     .help = "where the upper stop begins"}, \
    {"stiffness", CFG_QUANTITY, AT(stiffness), .required = true, .unit = spring, \
     .limit = CFG_POSITIVE, .example = "stiffness: 1000 " spring, .help = "of the stops"}, \
    {"damping", CFG_QUANTITY, AT(damping), .unit = damper, .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "10 " damper, .help = "of the stops, which never pull"}
#define LIMITS_TABLE(list) {CFG_KEYS("limits", list), .size = sizeof(struct cfg_keys_limits)}
static const struct cfg_key turn_limits_keys[] = {LIMITS_KEYS("rad", "N m/rad", "N m s/rad")};
static const struct cfg_key slide_limits_keys[] = {LIMITS_KEYS("m", "N/m", "N s/m")};
static const struct cfg_table turn_limits = LIMITS_TABLE(turn_limits_keys);
static const struct cfg_table slide_limits = LIMITS_TABLE(slide_limits_keys);
#undef AT

/* AT() is defined where the keys of a motion are used. */
#define MOTION_KEYS(kind, way_name, way, speed_name, slow, spring, damper) \
    {"stiffness", CFG_QUANTITY, AT(stiffness), .unit = spring, .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "80 " spring, .help = "of a spring about rest"}, \
    {"damping", CFG_QUANTITY, AT(damping), .unit = damper, .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "0.5 " damper, .help = "of a damper beside it"}, \
    {"rest", CFG_QUANTITY, AT(rest), .unit = way, .fallback = "0", .example = "0.1 " way, \
     .help = "where the spring is slack"}, \
    {way_name, CFG_QUANTITY, AT(position), .unit = way, .fallback = "0", .example = "0.1 " way, \
     .help = "at the start"}, \
    {speed_name, CFG_QUANTITY, AT(rate), .unit = slow, .fallback = "0", .example = "0.1 " slow, \
     .help = "at the start"}, \
    {"friction", CFG_MAP, AT(friction), .table = &kind##_friction, .otherwise = "none", \
     .help = "beside the damper"}, \
    {"limits", CFG_MAP, AT(limits), .table = &kind##_limits, .otherwise = "none", \
     .help = "springy stops"}, \
    {"locked", CFG_CHOICE, AT(locked), .choices = answers, .fallback = "false", \
     .help = "it stays where it is, whatever the forces"}, \
    {"prescribed", CFG_QUANTITY, AT(prescribed), .unit = slow "^2", .otherwise = "no", \
     .example = "0.1 " slow "^2", \
     .help = "constant acceleration that it has, whatever the forces"}
#define TURN_KEYS MOTION_KEYS(turn, "angle", "rad", "rate", "rad/s", "N m/rad", "N m s/rad")
#define SLIDE_KEYS MOTION_KEYS(slide, "position", "m", "velocity", "m/s", "N/m", "N s/m")
#define LIKE(joint, own) \
    .shown = own, .like = "stiffness to prescribed, as of a " joint " joint"

#define AT(member) .offset = offsetof(struct cfg_keys_motion, member)
static const struct cfg_key turn_keys[] = {TURN_KEYS};
static const struct cfg_key slide_keys[] = {SLIDE_KEYS};
static const struct cfg_table turn_table = {
    CFG_KEYS("a turn", turn_keys), .size = sizeof(struct cfg_keys_motion), LIKE("revolute", 0)};
static const struct cfg_table slide_table = {
    CFG_KEYS("a slide", slide_keys), .size = sizeof(struct cfg_keys_motion), LIKE("prismatic", 0)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_screw, motion.member)
#define OWN(member) .offset = offsetof(struct cfg_keys_screw, member)
#define AXIS_KEY \
    {"axis", CFG_AXIS, OWN(axis), .required = true, .example = "axis: 0 1 0", \
     .help = "in joint axes"}
static const struct cfg_key turn_screw_keys[] = {
    AXIS_KEY,
    {"at", CFG_VECTOR, OWN(at), .size = 3, .unit = "m", .fallback = "0 0 0", .example = "0 0.6 0 m",
     .help = "a point of the axis, in joint axes"},
    {"pitch", CFG_QUANTITY, OWN(pitch), .unit = "m/rad", .fallback = "0", .example = "1 mm/rad",
     .help = "travel along the axis as it turns"},
    TURN_KEYS};
static const struct cfg_key slide_screw_keys[] = {AXIS_KEY, SLIDE_KEYS};
static const struct cfg_table screw_variants[] = {
    [CFG_SCREW_TURN] = {CFG_KEYS("a turn", turn_screw_keys), LIKE("revolute", 3)},
    [CFG_SCREW_SLIDE] = {CFG_KEYS("a slide", slide_screw_keys), LIKE("prismatic", 1)},
};
#undef AT
#define AT(member) OWN(member)
static const struct cfg_key screw_keys[] = {CFG_TYPE_KEY(screws, "type: turn")};
#undef AT
#undef OWN
#undef AXIS_KEY
static const struct cfg_table screw_table = {
    CFG_KEYS("a screw", screw_keys), .size = sizeof(struct cfg_keys_screw),
    .variant_count = CFG_COUNT(screw_variants), .variants = screw_variants};

#define AT(member) .offset = offsetof(struct cfg_keys_motor, member)
#define MOTOR_KEYS(per) \
    {"ratio", CFG_QUANTITY, AT(ratio), .required = true, .unit = per, .example = "ratio: 100", \
     .help = "how much faster than the joint it turns"}, \
    {"inertia", CFG_QUANTITY, AT(inertia), .required = true, .unit = "kg m^2", \
     .limit = CFG_NOT_NEGATIVE, .example = "inertia: 2e-5 kg m^2", \
     .help = "of the rotor about its axis; part of the parent's"}, \
    {"axis", CFG_AXIS, AT(axis), .otherwise = "the joint's", .example = "0 0 1", \
     .help = "in the parent's axes"}, \
    {"terms", CFG_CHOICE, AT(terms), .choices = rotor_terms, .fallback = "full", \
     .help = "full: also what couples the rotor to the parent"}
#define MOTOR_TABLE(list) {CFG_KEYS("a motor", list), .size = sizeof(struct cfg_keys_motor)}
static const struct cfg_key turn_motor_keys[] = {MOTOR_KEYS(NULL)};
static const struct cfg_key slide_motor_keys[] = {MOTOR_KEYS("rad/m")};
static const struct cfg_table turn_motor = MOTOR_TABLE(turn_motor_keys);
static const struct cfg_table slide_motor = MOTOR_TABLE(slide_motor_keys);
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_mimic, member)
#define MIMIC_KEYS(way) \
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: left_finger", \
     .help = "body of the joint that is followed"}, \
    {"ratio", CFG_QUANTITY, AT(ratio), .fallback = "1", .example = "-1", \
     .help = "of its coordinate to the leader's, both SI"}, \
    {"offset", CFG_QUANTITY, AT(offset), .unit = way, .fallback = "0", .example = "0.1 " way, \
     .help = "its coordinate where the leader's is 0"}
#define MIMIC_TABLE(list) \
    {CFG_KEYS("mimic", list), .size = sizeof(struct cfg_keys_mimic), .shorthand = "body"}
static const struct cfg_key turn_mimic_keys[] = {MIMIC_KEYS("rad")};
static const struct cfg_key slide_mimic_keys[] = {MIMIC_KEYS("m")};
static const struct cfg_table turn_mimic = MIMIC_TABLE(turn_mimic_keys);
static const struct cfg_table slide_mimic = MIMIC_TABLE(slide_mimic_keys);
#undef AT

#define OWN(member) .offset = offsetof(struct cfg_keys_urdf_joint, member)
#define AT(member) OWN(motion.member)
#define URDF_MOTOR_KEY(kind) \
    {"motor", CFG_MAP, OWN(motor), .table = &kind##_motor, .otherwise = "none", \
     .help = "geared, on the parent"}
static const struct cfg_key urdf_turn_keys[] = {URDF_MOTOR_KEY(turn), TURN_KEYS};
static const struct cfg_key urdf_slide_keys[] = {URDF_MOTOR_KEY(slide), SLIDE_KEYS};
static const struct cfg_table urdf_joint_variants[] = {
    [CFG_SCREW_TURN] = {CFG_KEYS("a joint that turns", urdf_turn_keys), LIKE("revolute", 1)},
    [CFG_SCREW_SLIDE] = {CFG_KEYS("a joint that slides", urdf_slide_keys), LIKE("prismatic", 1)},
};
static const struct cfg_key urdf_joint_keys[] = {
    {"name", CFG_TEXT, OWN(name), .required = true, .example = "name: elbow",
     .help = "of the joint, or of the link that it carries"},
    {"type", CFG_CHOICE, OWN(type), .choices = screws, .fallback = "turn",
     .help = "slide for a prismatic one; decides which further keys there are"},
};
const struct cfg_table cfg_urdf_joint_table = {
    CFG_KEYS("a joint of the URDF", urdf_joint_keys), .size = sizeof(struct cfg_keys_urdf_joint),
    .variant_count = CFG_COUNT(urdf_joint_variants), .variants = urdf_joint_variants};
#undef AT
#undef OWN

#define OWN(member) .offset = offsetof(struct cfg_keys_joint, member)
#define AT(member) OWN(motion[0].member)
#define ORIGIN_KEY \
    {"at", CFG_VECTOR, OWN(at), .size = 3, .unit = "m", .fallback = "0 0 0", \
     .example = "0 0.6 0 m", .help = "origin of the joint frame in the parent's axes"}
#define PLACE_KEYS \
    ORIGIN_KEY, \
    {"attitude", CFG_ATTITUDE, OWN(attitude), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}", \
     .help = "axes of the joint frame in the parent's"}
#define AXIS_KEY(name, member, text) \
    {name, CFG_AXIS, OWN(member), .required = true, .example = name ": 0 1 0", .help = text}
#define DRIVE_KEYS(kind) \
    {"motor", CFG_MAP, OWN(motor), .table = &kind##_motor, .otherwise = "none", \
     .help = "geared, on the parent"}, \
    {"mimic", CFG_MAP, OWN(mimic), .table = &kind##_mimic, .otherwise = "none", \
     .help = "the coordinate follows another joint's"}
#define MOTION_KEY(name, kind, at, text) \
    {name, CFG_MAP, OWN(motion[at]), .table = &kind##_table, .help = text}
#define START_KEYS(where) \
    {"attitude", CFG_ATTITUDE, OWN(attitude), .fallback = "1 0 0 0", \
     .example = "{roll: 20 deg, pitch: -15 deg}", .help = "of the body in " where ", at the start"}, \
    {"rate", CFG_VECTOR, OWN(spin), .size = 3, .unit = "rad/s", .fallback = "0 0 0", \
     .example = "2 -1 0.5 deg/s", .help = "body axes, at the start"}

static const struct cfg_key fixed_keys[] = {PLACE_KEYS};
static const struct cfg_key revolute_keys[] = {
    AXIS_KEY("axis", axis, "in joint axes"), PLACE_KEYS, TURN_KEYS, DRIVE_KEYS(turn)};
static const struct cfg_key prismatic_keys[] = {
    AXIS_KEY("axis", axis, "in joint axes"), PLACE_KEYS, SLIDE_KEYS, DRIVE_KEYS(slide)};
static const struct cfg_key cylindrical_keys[] = {
    AXIS_KEY("axis", axis, "in joint axes"), PLACE_KEYS,
    MOTION_KEY("turn", turn, 0, "about the axis"),
    MOTION_KEY("slide", slide, 1, "along the axis"),
};
static const struct cfg_key universal_keys[] = {
    AXIS_KEY("axis", axis, "on the parent, in joint axes"),
    AXIS_KEY("axis2", axis2, "on the body, at right angles to axis"), PLACE_KEYS,
    MOTION_KEY("turn", turn, 0, "about axis"),
    MOTION_KEY("turn2", turn, 1, "about axis2"),
};
static const struct cfg_key spherical_keys[] = {
    ORIGIN_KEY,
    START_KEYS("the parent's axes"),
    {"damping", CFG_VECTOR, OWN(drag), .size = 3, .unit = "N m s/rad", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "0.5 0.5 0.5 N m s/rad", .help = "about the body axes"},
    {"friction", CFG_MAP, AT(friction), .table = &turn_friction, .otherwise = "none",
     .help = "about each body axis"},
    {"locked", CFG_CHOICE, AT(locked), .choices = answers, .fallback = "false",
     .help = "it stays where it is, whatever the forces"},
};
static const struct cfg_key planar_keys[] = {
    AXIS_KEY("axis", axis, "normal of the plane, in joint axes"),
    AXIS_KEY("axis2", axis2, "in the plane"), PLACE_KEYS,
    MOTION_KEY("slide", slide, 0, "along axis2"),
    MOTION_KEY("slide2", slide, 1, "along the third axis, axis x axis2"),
    MOTION_KEY("turn", turn, 2, "about axis, after the slides"),
};
static const struct cfg_key free_keys[] = {
    {"position", CFG_VECTOR, OWN(at), .size = 3, .unit = "m", .fallback = "0 0 0",
     .example = "0 0 -10 m", .help = "of the body's origin in the parent or world, at the start"},
    START_KEYS("the parent or world"),
    {"velocity", CFG_VECTOR, OWN(velocity), .size = 3, .unit = "m/s", .fallback = "0 0 0",
     .example = "1 0 0 m/s", .help = "body axes, at the start"},
};
static const struct cfg_key general_keys[] = {
    PLACE_KEYS,
    {"screws", CFG_LIST, OWN(screws), .required = true, .size = DYN_JOINT_DOF_MAX,
     .table = &screw_table, .example = "screws: [{type: turn, axis: 0 0 1, pitch: 1 mm/rad}]",
     .help = "one coordinate each, one after another from the parent out"},
};
static const struct cfg_table joint_variants[] = {
    [DYN_JOINT_FIXED] = {CFG_KEYS("a fixed joint", fixed_keys)},
    [DYN_JOINT_REVOLUTE] = {CFG_KEYS("a revolute joint", revolute_keys)},
    [DYN_JOINT_PRISMATIC] = {CFG_KEYS("a prismatic joint", prismatic_keys)},
    [DYN_JOINT_CYLINDRICAL] = {CFG_KEYS("a cylindrical joint", cylindrical_keys)},
    [DYN_JOINT_UNIVERSAL] = {CFG_KEYS("a universal joint", universal_keys)},
    [DYN_JOINT_SPHERICAL] = {CFG_KEYS("a spherical joint", spherical_keys)},
    [DYN_JOINT_PLANAR] = {CFG_KEYS("a planar joint", planar_keys)},
    [DYN_JOINT_FREE] = {CFG_KEYS("a free joint", free_keys)},
    [DYN_JOINT_GENERAL] = {CFG_KEYS("a general joint", general_keys)},
};
#undef AT
#define AT(member) OWN(member)
static const struct cfg_key joint_keys[] = {
    CFG_TYPE_KEY(joints, "type: revolute"),
    {"node", CFG_NAME, OWN(node_name), .otherwise = "none", .example = "tip",
     .help = "where the parent bends: its node below the joint, or frame; the place is seen from it"},
};
const struct cfg_table cfg_joint_table = {
    CFG_KEYS("a joint", joint_keys), .size = sizeof(struct cfg_keys_joint), .shorthand = "type",
    .variant_count = CFG_COUNT(joint_variants), .variants = joint_variants};
#undef AT
#undef OWN
