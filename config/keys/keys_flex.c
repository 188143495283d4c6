/*
 * The keys of a flexible body.  `type` is the source of its modes; all types become the same
 * stations and nodes (config/resolve/flex.h).
 *
 * Tested by tests/config/resolve/test_flex.c.
 */
#include "config/keys/keys.h"

#include "dynamics/flex/flex.h"

static const char *const fidelities[] = {[DYN_FLEX_RIGID] = "rigid",
                                         [DYN_FLEX_RUTHLESS] = "ruthless",
                                         [DYN_FLEX_CONSISTENT] = "consistent",
                                         [DYN_FLEX_INCONSISTENT] = "inconsistent",
                                         NULL};
static const char *const types[] = {[CFG_FLEX_BEAM] = "beam",
                                    [CFG_FLEX_OSCILLATORS] = "oscillators",
                                    [CFG_FLEX_TABLE] = "table",
                                    [CFG_FLEX_NASTRAN] = "nastran",
                                    NULL};
static const char *const roots[] = {
    [CFG_ROOT_CLAMPED] = "clamped", [CFG_ROOT_FREE] = "free", [CFG_ROOT_PINNED] = "pinned", NULL};

// clang-format off

#define FREQUENCY_KEY(text) \
    {"frequency", CFG_QUANTITY, AT(frequency), .required = true, .unit = "Hz", \
     .limit = CFG_POSITIVE, .example = "frequency: 0.5 Hz", .help = text}
#define RATIO_KEY(text) \
    {"damping", CFG_QUANTITY, AT(damping), .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "0.5 %", .help = text}
#define NAME_KEY \
    {"name", CFG_NAME, .offset = offsetof(struct cfg_keys_node, name), .required = true, .example = "name: tip", \
     .help = "by which a joint's node refers to it; not frame"}
#define RATIOS_KEY \
    {"damping", CFG_NUMBERS, AT(damping), .size = DYN_MODES_MAX, .limit = CFG_NOT_NEGATIVE, \
     .otherwise = "0", .example = "0.5 %", .help = "ratio, one for all modes or one for each"}

/* ---- beam ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_family, member)
#define FAMILY_KEYS(si, text) \
    {"modes", CFG_INTEGER, AT(modes), .required = true, .limit = CFG_BETWEEN, .min = 1, .max = 16, \
     .example = "modes: 2", .help = "how many, from the lowest on"}, \
    {"stiffness", CFG_QUANTITY, AT(stiffness), .unit = si, .limit = CFG_POSITIVE, \
     .otherwise = "of frequency", .example = "200 " si, .help = text}, \
    {"frequency", CFG_QUANTITY, AT(frequency), .unit = "Hz", .limit = CFG_POSITIVE, \
     .otherwise = "of stiffness", .example = "0.5 Hz", .help = "of the lowest, instead of stiffness"}
#define FAMILY_TABLE(name, list) CFG_KEYS(name, list), .size = sizeof(struct cfg_keys_family)
static const struct cfg_key bend_keys[] = {FAMILY_KEYS("N m^2", "E I")};
static const struct cfg_key twist_keys[] = {FAMILY_KEYS("N m^2", "G J")};
static const struct cfg_key stretch_keys[] = {FAMILY_KEYS("N", "E A")};
static const struct cfg_table bend_y_table = {FAMILY_TABLE("bend_y", bend_keys)};
static const struct cfg_table bend_z_table = {
    FAMILY_TABLE("bend_z", bend_keys), .like = "modes to frequency, as of bend_y"};
static const struct cfg_table twist_table = {FAMILY_TABLE("twist", twist_keys)};
static const struct cfg_table stretch_table = {FAMILY_TABLE("stretch", stretch_keys)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_tip, member)
static const struct cfg_key tip_keys[] = {
    {"mass", CFG_QUANTITY, AT(mass), .required = true, .unit = "kg", .limit = CFG_NOT_NEGATIVE,
     .example = "mass: 1 kg", .help = "at the far end, beside the beam's"},
    {"inertia", CFG_VECTOR, AT(inertia), .size = 3, .unit = "kg m^2", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "0.1 0.1 0.1 kg m^2", .help = "about the beam's x, y and z"},
};
static const struct cfg_table tip_table = {
    CFG_KEYS("a tip", tip_keys), .size = sizeof(struct cfg_keys_tip), .shorthand = "mass"};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_node, member)
static const struct cfg_key beam_node_keys[] = {
    NAME_KEY,
    {"x", CFG_QUANTITY, AT(x), .required = true, .unit = "m", .limit = CFG_NOT_NEGATIVE,
     .example = "x: 4 m", .help = "from the joint along the beam"},
};
static const struct cfg_table beam_node_table = {
    CFG_KEYS("a node", beam_node_keys), .size = sizeof(struct cfg_keys_node)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_flex, member)
#define FAMILY_KEY(name, at, text) \
    {#name, CFG_MAP, AT(family[at]), .table = &name##_table, .otherwise = "none", .help = text}
static const struct cfg_key beam_keys[] = {
    {"length", CFG_QUANTITY, AT(length), .required = true, .unit = "m", .limit = CFG_POSITIVE,
     .example = "length: 4 m", .help = "of the beam"},
    {"mass", CFG_QUANTITY, AT(mass), .required = true, .unit = "kg", .limit = CFG_POSITIVE,
     .example = "mass: 3 kg", .help = "spread evenly; the body's own follows from it"},
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}",
     .help = "the beam's axes in the body's; it lies along its x, from the joint on"},
    {"roll_inertia", CFG_QUANTITY, AT(roll_inertia), .unit = "kg m^2", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.02 kg m^2", .help = "of the whole beam about its x; twist needs it"},
    {"root", CFG_CHOICE, AT(root), .choices = roots, .fallback = "clamped",
     .help = "how the modes hold it at the joint"},
    FAMILY_KEY(bend_y, CFG_BEAM_BEND_Y, "modes that move the beam along its y"),
    FAMILY_KEY(bend_z, CFG_BEAM_BEND_Z, "modes that move the beam along its z"),
    FAMILY_KEY(twist, CFG_BEAM_TWIST, "modes that turn it about its x"),
    FAMILY_KEY(stretch, CFG_BEAM_STRETCH, "modes that move it along its x"),
    {"tip", CFG_MAP, AT(tip), .table = &tip_table, .otherwise = "none", .help = "what the far end carries"},
    RATIOS_KEY,
    {"nodes", CFG_LIST, AT(nodes), .size = CFG_FLEX_NODE_MAX, .table = &beam_node_table, .example = "[{name: tip, x: 4 m}]",
     .help = "where other bodies may sit"},
};
#undef AT

/* ---- oscillators ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_oscillator, member)
static const struct cfg_key oscillator_keys[] = {
    {"name", CFG_NAME, AT(name), .otherwise = "none", .example = "fuel",
     .help = "makes it a node for other bodies to sit on; not frame"},
    {"axis", CFG_AXIS, AT(axis), .required = true, .example = "axis: 0 0 1",
     .help = "along which a mass, about which an inertia swings; body axes"},
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", .example = "0 0.5 0 m",
     .help = "where it rests, body axes"},
    FREQUENCY_KEY("with the body held"),
    RATIO_KEY("ratio"),
    {"mass", CFG_QUANTITY, AT(mass), .unit = "kg", .limit = CFG_POSITIVE, .otherwise = "or inertia",
     .example = "2 kg", .help = "on a spring; part of the body's"},
    {"inertia", CFG_QUANTITY, AT(inertia), .unit = "kg m^2", .limit = CFG_POSITIVE,
     .otherwise = "or mass", .example = "0.1 kg m^2", .help = "on a spring; part of the body's"},
};
static const struct cfg_table oscillator_table = {
    CFG_KEYS("an oscillator", oscillator_keys), .size = sizeof(struct cfg_keys_oscillator)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_flex, member)
static const struct cfg_key oscillators_keys[] = {
    {"oscillators", CFG_LIST, AT(oscillators), .required = true, .size = DYN_MODES_MAX,
     .table = &oscillator_table,
     .example = "oscillators: [{axis: 0 0 1, frequency: 0.5 Hz, mass: 2 kg}]",
     .help = "one mode each"},
};
#undef AT

/* ---- table ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_mode, member)
static const struct cfg_key mode_keys[] = {
    FREQUENCY_KEY("stiffness is (2 pi frequency)^2 times the modal mass"), RATIO_KEY("ratio")};
static const struct cfg_table mode_table = {
    CFG_KEYS("a mode", mode_keys), .size = sizeof(struct cfg_keys_mode)};
#undef AT

/* AT() is the offset of the shape. */
#define AT_KEY \
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", .example = "0 4 0 m", \
     .help = "undeformed, body axes"}
#define SHAPE_KEYS \
    {"psi", CFG_ROWS, AT(psi), .size = 3, .otherwise = "0", .example = "[0 0 1, 0 1 0]", \
     .help = "how each mode moves it, body axes; one row per mode"}, \
    {"theta", CFG_ROWS, AT(theta), .size = 3, .otherwise = "0", .example = "[0 -1 0, 0 0 1]", \
     .help = "how each mode turns it"}, \
    {"psi2", CFG_ROWS, AT(psi2), .size = 3, .otherwise = "0", .example = "[-1 0 0, 0 0 0, -1 0 0]", \
     .help = "second order of psi; one row per pair of modes, 11 12 .. 22 23 .."}
#define SHAPE2_KEY \
    {"theta2", CFG_ROWS, AT(theta2), .size = 3, .otherwise = "0", \
     .example = "[0 0 0, 0 0 0, 0 0 0]", .help = "second order of theta, as psi2"}

#define AT(member) .offset = offsetof(struct cfg_keys_shape, member)
static const struct cfg_key joint_shape_keys[] = {SHAPE_KEYS, SHAPE2_KEY};
static const struct cfg_table joint_shape_table = {
    CFG_KEYS("the shapes at the joint", joint_shape_keys), .size = sizeof(struct cfg_keys_shape),
    .like = "psi to theta2, as of a node"};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_station, shape.member)
#define OWN(member) .offset = offsetof(struct cfg_keys_station, member)
static const struct cfg_key station_keys[] = {
    AT_KEY,
    {"mass", CFG_QUANTITY, OWN(mass), .unit = "kg", .limit = CFG_NOT_NEGATIVE, .fallback = "0",
     .example = "2 kg", .help = "of this part of the body"},
    {"inertia", CFG_VECTOR, OWN(inertia), .size = 6, .unit = "kg m^2", .fallback = "0 0 0 0 0 0",
     .example = "0.1 0.1 0.1 kg m^2", .help = "about the station, body axes"},
    SHAPE_KEYS,
};
static const struct cfg_table station_table = {
    CFG_KEYS("a station", station_keys), .size = sizeof(struct cfg_keys_station)};
#undef AT
#undef OWN

#define AT(member) .offset = offsetof(struct cfg_keys_node, member)
static const struct cfg_key grid_node_keys[] = {
    NAME_KEY,
    {"grid", CFG_INTEGER, AT(grid), .required = true, .limit = CFG_BETWEEN, .min = 1,
     .max = 100000000, .example = "grid: 17", .help = "identifier of a grid point"},
};
static const struct cfg_table grid_node_table = {
    CFG_KEYS("a node", grid_node_keys), .size = sizeof(struct cfg_keys_node)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_node, shape.member)
static const struct cfg_key table_node_keys[] = {NAME_KEY, AT_KEY, SHAPE_KEYS, SHAPE2_KEY};
static const struct cfg_table table_node_table = {
    CFG_KEYS("a node", table_node_keys), .size = sizeof(struct cfg_keys_node)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_flex, member)
#define MATRIX_KEY(name, member, default, text) \
    {name, CFG_ROWS, AT(member), .otherwise = default, .example = "[4 0, 0 9]", .help = text}
static const struct cfg_key table_keys[] = {
    {"modes", CFG_LIST, AT(modes), .size = DYN_MODES_MAX, .table = &mode_table,
     .otherwise = "or stiffness", .example = "[{frequency: 0.5 Hz, damping: 0.5 %}]",
     .help = "each by its frequency"},
    MATRIX_KEY("stiffness", stiffness_matrix, "or modes", "square and symmetric, SI"),
    MATRIX_KEY("damping", damping_matrix, "0", "goes with stiffness"),
    MATRIX_KEY("mass", mass_matrix, "of the stations, else 1", "square and symmetric, SI"),
    {"stations", CFG_LIST, AT(stations), .size = CFG_STATION_MAX, .table = &station_table,
     .example = "[{at: 0 4 0 m, mass: 2 kg, psi: [0 0 1]}]",
     .help = "the body's mass in pieces; body keys left out are their sum"},
    {"joint", CFG_MAP, AT(joint), .table = &joint_shape_table, .otherwise = "0",
     .help = "shapes at the body's joint; taken off all others, so that it stands still there"},
    {"nodes", CFG_LIST, AT(nodes), .size = CFG_FLEX_NODE_MAX, .table = &table_node_table,
     .example = "[{name: tip, at: 0 4 0 m, psi: [0 0 1]}]", .help = "where other bodies may sit"},
};

/* ---- nastran ---- */

static const struct cfg_key nastran_keys[] = {
    {"bulk", CFG_TEXT, AT(bulk), .required = true, .example = "bulk: panel.bdf",
     .help = "file with the model's bulk data, as seen from the scenario's folder"},
    {"punch", CFG_TEXT, AT(punch), .required = true, .example = "punch: panel.pch",
     .help = "file with its eigenvectors"},
    {"modes", CFG_NUMBERS, AT(pick), .size = DYN_MODES_MAX, .otherwise = "or count",
     .example = "7 8 10", .help = "which ones, by their number in the file"},
    {"count", CFG_INTEGER, AT(count), .limit = CFG_BETWEEN, .min = 1, .max = DYN_MODES_MAX,
     .otherwise = "or modes", .example = "4", .help = "so many, from the first that bends on"},
    {"slowest", CFG_QUANTITY, AT(slowest), .unit = "Hz", .limit = CFG_POSITIVE,
     .fallback = "0.01 Hz", .example = "0.1 Hz", .help = "below this a mode moves the body without bending it"},
    {"joint", CFG_INTEGER, AT(grid), .limit = CFG_BETWEEN, .min = 1, .max = 100000000,
     .otherwise = "the files' origin", .example = "1",
     .help = "grid point of the body's joint: it becomes the origin, and the shapes stand still there"},
    {"length_unit", CFG_QUANTITY, AT(length_unit), .unit = "m", .limit = CFG_POSITIVE,
     .fallback = "1 m", .example = "1 mm", .help = "of the files"},
    {"mass_unit", CFG_QUANTITY, AT(mass_unit), .unit = "kg", .limit = CFG_POSITIVE,
     .fallback = "1 kg", .example = "1000 kg", .help = "of the files, after PARAM,WTMASS"},
    {"tolerance", CFG_QUANTITY, AT(tolerance), .limit = CFG_BETWEEN, .min = 1e-6, .max = 1,
     .fallback = "5 %", .example = "2 %", .help = "how well the lumped mass must suit the modes"},
    RATIOS_KEY,
    {"nodes", CFG_LIST, AT(nodes), .size = CFG_FLEX_NODE_MAX, .table = &grid_node_table,
     .example = "[{name: tip, grid: 17}]", .help = "where other bodies may sit"},
};

/* ---- the whole ---- */

static const struct cfg_table flex_variants[] = {
    [CFG_FLEX_BEAM] = {CFG_KEYS("a beam", beam_keys)},
    [CFG_FLEX_OSCILLATORS] = {CFG_KEYS("a body with oscillators", oscillators_keys)},
    [CFG_FLEX_TABLE] = {CFG_KEYS("a table of modes", table_keys)},
    [CFG_FLEX_NASTRAN] = {CFG_KEYS("a NASTRAN model", nastran_keys)},
};
static const struct cfg_key flex_keys[] = {
    CFG_TYPE_KEY(types, "type: beam"),
    {"fidelity", CFG_CHOICE, AT(fidelity), .choices = fidelities, .fallback = "consistent",
     .help = "ruthless: no terms of bending times rate; inconsistent: wrong at high rates, for tests only"},
    {"start", CFG_NUMBERS, AT(start), .size = DYN_MODES_MAX, .otherwise = "0",
     .example = "0.01 0", .help = "modal coordinates at the start, one per mode"},
    {"start_rate", CFG_NUMBERS, AT(start_rate), .size = DYN_MODES_MAX, .otherwise = "0",
     .example = "0.01 0", .help = "their rates"},
};
const struct cfg_table cfg_flex_table = {
    CFG_KEYS("flex", flex_keys), .size = sizeof(struct cfg_keys_flex),
    .variant_count = CFG_COUNT(flex_variants), .variants = flex_variants};
#undef AT
