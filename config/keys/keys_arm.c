/*
 * The keys of an arm that a person operates, and of its payloads.
 *
 * Tested by tests/config/resolve/test_arm.c.
 */
#include "config/keys/keys.h"

#include "config/scenario.h"

static const char *const answers[] = {"false", "true", NULL};

// clang-format off

#define AT(member) .offset = offsetof(struct cfg_keys_arm_joint, member)
static const struct cfg_key joint_keys[] = {
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: elbow",
     .help = "on a revolute joint, which is meant"},
    {"stiffness", CFG_QUANTITY, AT(stiffness), .unit = "N m/rad", .limit = CFG_NOT_NEGATIVE,
     .required = true, .example = "stiffness: 50 kN m/rad", .help = "of its servo, about where it should be; 0: it follows rates alone, and there are no poses"},
    {"damping", CFG_QUANTITY, AT(damping), .unit = "N m s/rad", .limit = CFG_POSITIVE,
     .required = true, .example = "damping: 100 kN m s/rad", .help = "of its servo, about how fast it should be"},
    {"max_torque", CFG_QUANTITY, AT(max_torque), .unit = "N m", .limit = CFG_POSITIVE,
     .required = true, .example = "max_torque: 1 kN m", .help = "of its motor, behind the gear"},
    {"max_rate", CFG_QUANTITY, AT(max_rate), .unit = "rad/s", .limit = CFG_POSITIVE,
     .required = true, .example = "max_rate: 2 deg/s", .help = "that is ever commanded"},
    {"acceleration", CFG_QUANTITY, AT(acceleration), .unit = "rad/s^2", .limit = CFG_POSITIVE,
     .otherwise = "max_rate in 1 s", .example = "1 deg/s^2", .help = "with which the commanded rate changes, and ends before a limit"},
    {"brake", CFG_QUANTITY, AT(brake), .unit = "N m", .limit = CFG_POSITIVE,
     .otherwise = "max_torque", .example = "1.5 kN m", .help = "torque at which its brake slips"},
    {"lower", CFG_QUANTITY, AT(lower), .unit = "rad", .otherwise = "the joint's stop",
     .example = "-170 deg", .help = "least angle that is ever commanded, not beyond that stop"},
    {"upper", CFG_QUANTITY, AT(upper), .unit = "rad", .otherwise = "the joint's stop",
     .example = "170 deg", .help = "largest angle that is ever commanded, not beyond that stop"},
};
static const struct cfg_table joint_table = {
    CFG_KEYS("a joint of the arm", joint_keys), .size = sizeof(struct cfg_keys_arm_joint)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_hand, member)
static const struct cfg_key hand_keys[] = {
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: end_effector",
     .help = "the last of the arm"},
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", .example = "0 0 0.6 m",
     .help = "where it grips, body axes"},
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}",
     .help = "its axes in the body's: of commands, and of what it grips"},
};
static const struct cfg_table hand_table = {
    CFG_KEYS("the hand", hand_keys), .size = sizeof(struct cfg_keys_hand), .shorthand = "body"};

static const struct cfg_key fixture_keys[] = {
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", .example = "0 0 -1 m",
     .help = "where the hand grips, body axes"},
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{pitch: 180 deg}",
     .help = "the hand's axes in the body's when it is aligned"},
};
static const struct cfg_table fixture_table = {
    CFG_KEYS("a fixture", fixture_keys), .size = sizeof(struct cfg_keys_hand)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_three_axis_stick, member)
#define STICK_KEYS(slow, some, first) \
    {"link", CFG_NAME, AT(link), .required = true, .example = "link: hand", .help = "of a hand controller"}, \
    {"controls", CFG_NUMBERS, AT(controls), .size = 3, .limit = CFG_BETWEEN, .min = 0, \
     .max = IO_CONTROL_MAX - 1, .otherwise = first, .example = "[0, 1, 2]", .help = "along or about x, y and z"}, \
    {"speed", CFG_QUANTITY, AT(speed), .unit = slow, .limit = CFG_POSITIVE, .required = true, \
     .example = "speed: " some, .help = "at full deflection"}
static const struct cfg_key translation_keys[] = {STICK_KEYS("m/s", "0.6 m/s", "0 1 2")};
static const struct cfg_key rotation_keys[] = {STICK_KEYS("rad/s", "5 deg/s", "3 4 5")};
static const struct cfg_table translation_table = {
    CFG_KEYS("translation", translation_keys), .size = sizeof(struct cfg_keys_three_axis_stick)};
static const struct cfg_table rotation_table = {
    CFG_KEYS("rotation", rotation_keys), .size = sizeof(struct cfg_keys_three_axis_stick)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_buttons, member)
#define BUTTON(name, place, what) \
    {name, CFG_INTEGER, AT(button[place]), .limit = CFG_BETWEEN, .min = 0, .max = 31, .word = "none", \
     .fallback = "none", .example = "6", .help = what}
static const struct cfg_key button_keys[] = {
    {"link", CFG_NAME, AT(link), .otherwise = "translation's", .example = "hand",
     .help = "whose buttons; its modes are hold, joint, end-effector, base, payload, auto"},
    BUTTON("vernier", IO_ARM_PANEL_VERNIER, "fine or coarse, in turns"),
    BUTTON("brakes", IO_ARM_PANEL_BRAKES, "on or off, in turns"),
    BUTTON("grapple", IO_ARM_PANEL_GRAPPLE, "takes hold of what is inside the capture envelope"),
    BUTTON("release", IO_ARM_PANEL_RELEASE, "lets go; at its berth the payload is latched"),
    BUTTON("safe", IO_ARM_PANEL_SAFE, "stop and brake, until a mode is chosen"),
    BUTTON("next", IO_ARM_PANEL_NEXT, "the next joint of mode joint"),
    {"select", CFG_NUMBERS, AT(select), .size = IO_ARM_PANEL_SELECT_MAX, .limit = CFG_BETWEEN, .min = 0,
     .max = 31, .otherwise = "none", .example = "[16, 17, 18]",
     .help = "joint 0, 1, ... of mode joint; pose 0, 1, ... of mode auto"},
};
static const struct cfg_table button_table = {
    CFG_KEYS("buttons", button_keys), .size = sizeof(struct cfg_keys_buttons)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_capture, member)
static const struct cfg_key capture_keys[] = {
    {"reach", CFG_QUANTITY, AT(reach), .unit = "m", .limit = CFG_POSITIVE, .fallback = "0.1 m",
     .example = "0.1 m", .help = "farthest from the fixture"},
    {"tilt", CFG_QUANTITY, AT(tilt), .unit = "rad", .limit = CFG_POSITIVE, .fallback = "15 deg",
     .example = "15 deg", .help = "largest misalignment"},
    {"speed", CFG_QUANTITY, AT(speed), .unit = "m/s", .limit = CFG_POSITIVE, .fallback = "0.1 m/s",
     .example = "0.1 m/s", .help = "largest speed against it"},
    {"rate", CFG_QUANTITY, AT(rate), .unit = "rad/s", .limit = CFG_POSITIVE, .fallback = "5 deg/s",
     .example = "5 deg/s", .help = "largest turning against it"},
};
static const struct cfg_table capture_table = {
    CFG_KEYS("capture", capture_keys), .size = sizeof(struct cfg_keys_capture)};

static const struct cfg_key berth_keys[] = {
    {"reach", CFG_QUANTITY, AT(reach), .unit = "m", .limit = CFG_POSITIVE, .fallback = "0.05 m",
     .example = "0.05 m", .help = "farthest from where it started"},
    {"tilt", CFG_QUANTITY, AT(tilt), .unit = "rad", .limit = CFG_POSITIVE, .fallback = "3 deg",
     .example = "3 deg", .help = "largest misalignment"},
    {"speed", CFG_QUANTITY, AT(speed), .unit = "m/s", .limit = CFG_POSITIVE, .fallback = "0.05 m/s",
     .example = "0.05 m/s", .help = "largest speed of its origin against the bay"},
    {"rate", CFG_QUANTITY, AT(rate), .unit = "rad/s", .limit = CFG_POSITIVE, .fallback = "1 deg/s",
     .example = "1 deg/s", .help = "largest turning against it"},
};
static const struct cfg_table berth_table = {
    CFG_KEYS("berth", berth_keys), .size = sizeof(struct cfg_keys_capture)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_pose, member)
static const struct cfg_key pose_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: cradle", .help = "for people"},
    {"angles", CFG_NUMBERS, AT(angles), .size = DYN_ARM_JOINT_MAX, .unit = "rad", .required = true,
     .example = "angles: 0 25 -30 5 0 0 deg", .help = "of the arm's joints, in their order"},
};
static const struct cfg_table pose_table = {
    CFG_KEYS("a pose", pose_keys), .size = sizeof(struct cfg_keys_pose)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_damping, member)
static const struct cfg_key resolve_keys[] = {
    {"length", CFG_QUANTITY, AT(length), .unit = "m", .limit = CFG_BETWEEN, .min = 1e-4, .max = 1e4,
     .fallback = "1 m", .example = "5 m", .help = "a turn counts as the motion of a point so far away"},
    {"weak", CFG_QUANTITY, AT(weak), .unit = "m", .limit = CFG_BETWEEN, .min = 1e-4, .max = 1e4,
     .fallback = "0.05 m", .example = "0.3 m", .help = "below this singular value a direction is damped"},
    {"damping", CFG_QUANTITY, AT(damping), .unit = "m", .limit = CFG_BETWEEN, .min = 1e-4, .max = 1e4,
     .fallback = "0.05 m", .example = "0.3 m", .help = "how much; no joint is faster than 1.3 times the hand's speed over twice this, or over weak"},
    {"center", CFG_QUANTITY, AT(center), .unit = "s", .limit = CFG_POSITIVE, .word = "never",
     .fallback = "never", .example = "5 s",
     .help = "time in which spare motion leads joints to the middle of their range, while a stick is pushed"},
};
static const struct cfg_table resolve_table = {
    CFG_KEYS("resolve", resolve_keys), .size = sizeof(struct cfg_keys_damping)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_arm, member)
static const struct cfg_key arm_keys[] = {
    {"joints", CFG_LIST, AT(joints), .size = DYN_ARM_JOINT_MAX, .table = &joint_table, .required = true,
     .example = "joints: [{body: elbow, stiffness: 50 kN m/rad, damping: 100 kN m s/rad, max_torque: 1 kN m, max_rate: 2 deg/s}]",
     .help = "from the base out"},
    {"hand", CFG_MAP, AT(hand), .table = &hand_table, .required = true, .example = "hand: end_effector",
     .help = "what it is all for"},
    {"base", CFG_NAME, AT(base), .otherwise = "the parent of the first joint", .example = "orbiter",
     .help = "body whose axes are used in mode base"},
    {"servo", CFG_QUANTITY, AT(servo), .unit = "Hz", .limit = CFG_POSITIVE, .fallback = "100 Hz",
     .example = "100 Hz", .help = "how often servos and panel look; must divide the frame rate"},
    {"translation", CFG_MAP, AT(translation), .table = &translation_table, .required = true,
     .example = "translation: {link: hand, speed: 0.6 m/s}", .help = "the hand controller for ways"},
    {"rotation", CFG_MAP, AT(rotation), .table = &rotation_table, .required = true,
     .example = "rotation: {link: hand, speed: 5 deg/s}", .help = "the one for turns"},
    {"buttons", CFG_MAP, AT(buttons), .table = &button_table, .help = "by their numbers, from 0"},
    {"weight", CFG_CHOICE, AT(weight), .choices = answers, .fallback = "false",
     .help = "servos carry the arm's own weight, worked out from its angles; not what it carries"},
    {"vernier", CFG_QUANTITY, AT(vernier), .limit = CFG_BETWEEN, .min = 0.001, .max = 1,
     .fallback = "10 %", .example = "10 %", .help = "share of the speeds when fine"},
    {"still", CFG_QUANTITY, AT(still), .unit = "rad/s", .limit = CFG_POSITIVE,
     .fallback = "0.02 deg/s", .example = "0.02 deg/s", .help = "joints slower than this stand; then hold brakes"},
    {"settle", CFG_QUANTITY, AT(settle), .unit = "s", .limit = CFG_BETWEEN, .min = 0, .max = 600,
     .fallback = "2 s", .example = "2 s", .help = "so long after a stop hold brakes in any case"},
    {"resolve", CFG_MAP, AT(resolve), .table = &resolve_table, .help = "near singular poses"},
    {"capture", CFG_MAP, AT(capture), .table = &capture_table, .help = "envelope of a grapple"},
    {"poses", CFG_LIST, AT(poses), .size = SIM_ARM_POSE_MAX, .table = &pose_table,
     .example = "[{name: cradle, angles: 0 25 -30 5 0 0 deg}]", .help = "where mode auto can go"},
};
const struct cfg_table cfg_arm_table = {
    CFG_KEYS("arm", arm_keys), .size = sizeof(struct cfg_keys_arm)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_payload, member)
static const struct cfg_key payload_keys[] = {
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: satellite",
     .help = "on a free joint of its bay, or of the hand's body if that has it at the start"},
    {"bay", CFG_NAME, AT(bay), .otherwise = "its parent", .example = "orbiter",
     .help = "the body that it rides on unless the hand has it"},
    {"fixture", CFG_MAP, AT(fixture), .table = &fixture_table, .help = "for the hand"},
    {"latched", CFG_CHOICE, AT(latched), .choices = answers, .fallback = "true",
     .help = "to its bay, at the start; else it floats"},
    {"berth", CFG_MAP, AT(berth), .table = &berth_table,
     .help = "so near to where it started, and so slow, a release latches it; only of one that starts latched"},
    {"speed", CFG_QUANTITY, AT(speed), .limit = CFG_BETWEEN, .min = 0.001, .max = 1,
     .fallback = "100 %", .example = "10 %", .help = "share of the arm's speeds while it is carried"},
};
const struct cfg_table cfg_payload_table = {
    CFG_KEYS("a payload", payload_keys), .size = sizeof(struct cfg_keys_payload)};
#undef AT
// clang-format on
