/*
 * What the operator may change: every number by its path, where the frame reads it, and its limits;
 * and each mistake in naming one, with its place.
 */
#include <errno.h>
#include <float.h>

#include "config/scenario.h"
#include "rt/executive/state/run_state.h"
#include "tests/config/loaded.h"

#define FAR 1e30

/* One of everything that can be tuned, and no two numbers the same. */
#define WORLD                                                                                      \
    "name: x\nenvironment: {world: local, gravity: 0.25 0.5 9.75, ground: 1.5, wind: 2 3 4, "      \
    "magnetic_field: 1 2 3 uT, gust: {sigma: 5 6 7}}\n"
#define BODIES                                                                                     \
    "bodies:\n- {name: a, joint: free, mass: 9, inertia: 3 3 3}\n"                                 \
    "- {name: arm, parent: a, joint: {type: revolute, axis: 0 0 1, stiffness: 11, damping: 12, "   \
    "friction: {coulomb: 13, speed: 0.5}}, mass: 1, inertia: 1 1 1}\n"                             \
    "- {name: rod, parent: a, joint: {type: prismatic, axis: 0 0 1, stiffness: 14, damping: 15, "  \
    "friction: {coulomb: 16, speed: 0.5}}, mass: 1, inertia: 1 1 1}\n"                             \
    "- {name: stop, parent: a, joint: {type: revolute, axis: 0 0 1, limits: {upper: 1, "           \
    "stiffness: 17}}, mass: 1, inertia: 1 1 1}\n"                                                  \
    "- {name: loose, parent: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 1}\n"  \
    "- {name: ball, parent: a, joint: spherical, mass: 1, inertia: 1 1 1}\n"
#define ERRORS "noise: 0.11, bias_walk: 0.12, instability: 0.13, range: 0.14, quantum: 0.15, "
#define DEVICES                                                                                    \
    "devices:\n"                                                                                   \
    "- {name: gyro, type: gyro, body: a, " ERRORS "bias: 1 2 3, scale: 0.1 0.2 0.3}\n"             \
    "- {name: accel, type: accelerometer, body: a, " ERRORS "bias: 4 5 6, scale: 0.1 0.2 0.4}\n"   \
    "- {name: mag, type: magnetometer, body: a, " ERRORS "bias: 7 8 9, scale: 0.1 0.2 0.5}\n"      \
    "- {name: baro, type: barometer, body: a, " ERRORS "bias: 1.5, scale: 0.25}\n"                 \
    "- {name: pitot, type: airspeed, body: a, " ERRORS "bias: 2.5, scale: 0.35}\n"                 \
    "- {name: angle, type: encoder, body: arm, " ERRORS "bias: 3.5, scale: 0.45}\n"                \
    "- {name: gps, type: gps, body: a, noise_horizontal: 1, noise_vertical: 2, eph: 3, epv: 4}\n"  \
    "- {name: sun, type: sun_sensor, body: a, boresight: 0 0 1, noise: 0.01, view: 0.5}\n"         \
    "- {name: star, type: star_tracker, body: a, boresight: 0 0 1, noise_across: 0.01, "           \
    "noise_about: 0.02, misalignment: 0.03 0.04 0.05, sun_exclusion: 0.06, earth_exclusion: "      \
    "0.07, "                                                                                       \
    "max_rate: 0.08}\n"                                                                            \
    "- {name: wheel, type: wheel, body: a, axis: 1 0 0, inertia: 0.1, max_torque: 1, "             \
    "max_speed: 2, viscous: 3, coulomb: 4, stiction: 5, gain: -6, quantum: 0.7, "                  \
    "command: {link: l, control: 0}}\n"                                                            \
    "- {name: prop, type: rotor, body: a, turns: cw, max_speed: 100, max_thrust: 1, "              \
    "idle_speed: 20, lateral_drag: 0.3, quantum: 0.4, command: {link: l, control: 1}}\n"           \
    "- {name: coil, type: torquer, body: a, axis: 1 0 0, max_dipole: 2, gain: -3, quantum: 0.5, "  \
    "command: {link: l, control: 2}}\n"                                                            \
    "- {name: jet, type: thruster, body: a, axis: 1 0 0, thrust: 7, min_control: 0.2, "            \
    "quantum: 0.3, command: {link: l, control: 3}}\n"                                              \
    "- {name: air, type: drag, body: a, area: 1 2 3, linear: 4 5 6, angular: 7 8 9}\n"             \
    "- {name: feet, type: contact, body: a, points: [0 0 0, 1 0 0, 0 1 0], stiffness: 70, "        \
    "damping: 8, friction: 0.9}\n"                                                                 \
    "- {name: cell, type: battery, body: a, voltage: 12, voltage_empty: 10, capacity: 1, "         \
    "resistance: 0.125, idle_current: 0.5, efficiency: 0.75}\n"                                    \
    "links: [{name: l, body: a}]\n"
#define FAULTS                                                                                     \
    "faults: [{name: shift, device: gyro, type: bias, at: 0, value: 0.5},\n"                       \
    "  {name: creep, device: gyro, type: drift, at: 0, value: 0.25},\n"                            \
    "  {name: hiss, device: gyro, type: noise, at: 0, value: 0.125},\n"                            \
    "  {name: gap, device: gyro, type: dropout, at: 0, value: 0.75},\n"                            \
    "  {name: flip, device: gyro, type: bit_flip, at: 0, value: 0.0625},\n"                        \
    "  {name: stiff, device: gyro, type: stuck, at: 0},\n"                                         \
    "  {name: slow, device: gyro, type: delay, at: 0, value: 2 ms},\n"                             \
    "  {name: wire, link: l, type: dropout, at: 0, value: 0.5}]\n"
#define POINTING "pointing: {target: 0.5 -0.5 0.5 -0.5, position: 21 22 23}\n"
#define ALL      WORLD BODIES DEVICES FAULTS POINTING

static void load_tunable(const char *head, const char *list)
{
    static char text[1 << 14];
    snprintf(text, sizeof text, "%stunable: [%s]\n", head, list);
    load(text);
}

/* The vehicle as it is read from the file, before anything was ever tuned. */
static struct sim_vehicle *untouched;

/* Where the frame reads a number of what can be tuned: in a copy that the vehicle has of it, in an
 * effector of its plant, or in the force of a joint. */
static double number_behind(const struct sim_parameter *parameter, int more)
{
    double number = NAN;
    const void *base = NULL;
    switch (parameter->home) {
    case SIM_PARAMETER_IN_TUNED:
        base = &untouched->tuned;
        break;
    case SIM_PARAMETER_IN_SENSOR:
        base = &untouched->tuned.sensors[parameter->index];
        break;
    case SIM_PARAMETER_IN_DRIVE:
        base = &untouched->tuned.drives[parameter->index];
        break;
    case SIM_PARAMETER_IN_FAULT:
        base = &untouched->tuned.faults[parameter->index];
        break;
    case SIM_PARAMETER_IN_ENVIRONMENT:
        base = &scenario->spec.environment;
        break;
    case SIM_PARAMETER_IN_EFFECTOR:
        base = &scenario->spec.effectors[parameter->index + more].effector;
        break;
    case SIM_PARAMETER_IN_JOINT_FORCE:
        base = &scenario->spec.bodies[parameter->index].spec.force_spec[0];
        break;
    default:
        TEST_FAIL_MESSAGE("no such home");
    }
    memcpy(&number, (const char *)base + parameter->offset, sizeof number);
    return number;
}

// clang-format off
static const struct {
    const char *path;
    enum sim_parameter_home home;
    const char *unit;
    double low, high;
    int count;
    double number[4];
} all[] = {
#define ERROR_ROWS(name, unit, density, walk)                                                      \
    {name ".noise", SIM_PARAMETER_IN_SENSOR, density, 0, FAR, 1, {0.11}},                                  \
    {name ".bias_walk", SIM_PARAMETER_IN_SENSOR, walk, 0, FAR, 1, {0.12}},                                 \
    {name ".instability", SIM_PARAMETER_IN_SENSOR, unit, 0, FAR, 1, {0.13}},                               \
    {name ".range", SIM_PARAMETER_IN_SENSOR, unit, 0, FAR, 1, {0.14}},                                     \
    {name ".quantum", SIM_PARAMETER_IN_SENSOR, unit, 0, FAR, 1, {0.15}}
    ERROR_ROWS("devices.gyro", "rad/s", "rad/s/sqrt(Hz)", "rad/s/sqrt(s)"),
    {"devices.gyro.bias", SIM_PARAMETER_IN_SENSOR, "rad/s", -FAR, FAR, 3, {1, 2, 3}},
    {"devices.gyro.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 3, {0.1, 0.2, 0.3}},
    ERROR_ROWS("devices.accel", "m/s^2", "m/s^2/sqrt(Hz)", "m/s^2/sqrt(s)"),
    {"devices.accel.bias", SIM_PARAMETER_IN_SENSOR, "m/s^2", -FAR, FAR, 3, {4, 5, 6}},
    {"devices.accel.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 3, {0.1, 0.2, 0.4}},
    ERROR_ROWS("devices.mag", "T", "T/sqrt(Hz)", "T/sqrt(s)"),
    {"devices.mag.bias", SIM_PARAMETER_IN_SENSOR, "T", -FAR, FAR, 3, {7, 8, 9}},
    {"devices.mag.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 3, {0.1, 0.2, 0.5}},
    ERROR_ROWS("devices.baro", "Pa", "Pa/sqrt(Hz)", "Pa/sqrt(s)"),
    {"devices.baro.bias", SIM_PARAMETER_IN_SENSOR, "Pa", -FAR, FAR, 1, {1.5}},
    {"devices.baro.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 1, {0.25}},
    ERROR_ROWS("devices.pitot", "Pa", "Pa/sqrt(Hz)", "Pa/sqrt(s)"),
    {"devices.pitot.bias", SIM_PARAMETER_IN_SENSOR, "Pa", -FAR, FAR, 1, {2.5}},
    {"devices.pitot.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 1, {0.35}},
    ERROR_ROWS("devices.angle", "rad", "rad/sqrt(Hz)", "rad/sqrt(s)"),
    {"devices.angle.bias", SIM_PARAMETER_IN_SENSOR, "rad", -FAR, FAR, 1, {3.5}},
    {"devices.angle.scale", SIM_PARAMETER_IN_SENSOR, "", -0.5, 0.5, 1, {0.45}},
    {"devices.gps.noise_horizontal", SIM_PARAMETER_IN_SENSOR, "m", 0, FAR, 1, {1}},
    {"devices.gps.noise_vertical", SIM_PARAMETER_IN_SENSOR, "m", 0, FAR, 1, {2}},
    {"devices.gps.eph", SIM_PARAMETER_IN_SENSOR, "m", 0, FAR, 1, {3}},
    {"devices.gps.epv", SIM_PARAMETER_IN_SENSOR, "m", 0, FAR, 1, {4}},
    {"devices.sun.noise", SIM_PARAMETER_IN_SENSOR, "rad", 0, FAR, 1, {0.01}},
    {"devices.sun.view", SIM_PARAMETER_IN_SENSOR, "rad", 0.001, 3.15, 1, {0.5}},
    {"devices.star.noise_across", SIM_PARAMETER_IN_SENSOR, "rad", 0, FAR, 1, {0.01}},
    {"devices.star.noise_about", SIM_PARAMETER_IN_SENSOR, "rad", 0, FAR, 1, {0.02}},
    {"devices.star.misalignment", SIM_PARAMETER_IN_SENSOR, "rad", -0.2, 0.2, 3, {0.03, 0.04, 0.05}},
    {"devices.star.sun_exclusion", SIM_PARAMETER_IN_SENSOR, "rad", 0, 3.15, 1, {0.06}},
    {"devices.star.earth_exclusion", SIM_PARAMETER_IN_SENSOR, "rad", 0, 3.15, 1, {0.07}},
    {"devices.star.max_rate", SIM_PARAMETER_IN_SENSOR, "rad/s", 0, FAR, 1, {0.08}},
    {"devices.wheel.max_torque", SIM_PARAMETER_IN_EFFECTOR, "N m", DBL_MIN, FAR, 1, {1}},
    {"devices.wheel.max_speed", SIM_PARAMETER_IN_EFFECTOR, "rad/s", DBL_MIN, FAR, 1, {2}},
    {"devices.wheel.viscous", SIM_PARAMETER_IN_EFFECTOR, "N m s/rad", 0, FAR, 1, {3}},
    {"devices.wheel.coulomb", SIM_PARAMETER_IN_EFFECTOR, "N m", 0, FAR, 1, {4}},
    {"devices.wheel.stiction", SIM_PARAMETER_IN_EFFECTOR, "N m", 0, FAR, 1, {5}},
    {"devices.wheel.gain", SIM_PARAMETER_IN_DRIVE, "N m", -FAR, FAR, 1, {-6}},
    {"devices.wheel.quantum", SIM_PARAMETER_IN_DRIVE, "", 0, 1, 1, {0.7}},
    {"devices.prop.idle_speed", SIM_PARAMETER_IN_EFFECTOR, "rad/s", 0, FAR, 1, {20}},
    {"devices.prop.lateral_drag", SIM_PARAMETER_IN_EFFECTOR, "N s^2/m/rad", 0, FAR, 1, {0.3}},
    {"devices.prop.quantum", SIM_PARAMETER_IN_DRIVE, "", 0, 1, 1, {0.4}},
    {"devices.coil.max_dipole", SIM_PARAMETER_IN_EFFECTOR, "A m^2", DBL_MIN, FAR, 1, {2}},
    {"devices.coil.gain", SIM_PARAMETER_IN_DRIVE, "A m^2", -FAR, FAR, 1, {-3}},
    {"devices.coil.quantum", SIM_PARAMETER_IN_DRIVE, "", 0, 1, 1, {0.5}},
    {"devices.jet.thrust", SIM_PARAMETER_IN_EFFECTOR, "N", DBL_MIN, FAR, 1, {7}},
    {"devices.jet.min_control", SIM_PARAMETER_IN_DRIVE, "", 0, 1, 1, {0.2}},
    {"devices.jet.quantum", SIM_PARAMETER_IN_DRIVE, "", 0, 1, 1, {0.3}},
    {"devices.air.area", SIM_PARAMETER_IN_EFFECTOR, "m^2", 0, FAR, 3, {1, 2, 3}},
    {"devices.air.linear", SIM_PARAMETER_IN_EFFECTOR, "N s/m", 0, FAR, 3, {4, 5, 6}},
    {"devices.air.angular", SIM_PARAMETER_IN_EFFECTOR, "N m s/rad", 0, FAR, 3, {7, 8, 9}},
    {"devices.feet.stiffness", SIM_PARAMETER_IN_EFFECTOR, "N/m", DBL_MIN, FAR, 1, {70}},
    {"devices.feet.damping", SIM_PARAMETER_IN_EFFECTOR, "N s/m", 0, FAR, 1, {8}},
    {"devices.feet.friction", SIM_PARAMETER_IN_EFFECTOR, "", 0, FAR, 1, {0.9}},
    {"devices.cell.resistance", SIM_PARAMETER_IN_EFFECTOR, "ohm", 0, FAR, 1, {0.125}},
    {"devices.cell.idle_current", SIM_PARAMETER_IN_EFFECTOR, "A", 0, FAR, 1, {0.5}},
    {"devices.cell.efficiency", SIM_PARAMETER_IN_EFFECTOR, "", 0.01, 1, 1, {0.75}},
    {"environment.wind", SIM_PARAMETER_IN_TUNED, "m/s", -FAR, FAR, 3, {2, 3, 4}},
    {"environment.gust.sigma", SIM_PARAMETER_IN_TUNED, "m/s", 0, FAR, 3, {5, 6, 7}},
    {"environment.gravity", SIM_PARAMETER_IN_ENVIRONMENT, "m/s^2", -FAR, FAR, 3, {0.25, 0.5, 9.75}},
    {"environment.ground", SIM_PARAMETER_IN_ENVIRONMENT, "m", -FAR, FAR, 1, {1.5}},
    {"pointing.position", SIM_PARAMETER_IN_TUNED, "m", -FAR, FAR, 3, {21, 22, 23}},
    {"pointing.target", SIM_PARAMETER_IN_TUNED, "", -1, 1, 4, {0.5, -0.5, 0.5, -0.5}},
    {"bodies.arm.joint.stiffness", SIM_PARAMETER_IN_JOINT_FORCE, "N m/rad", 0, FAR, 1, {11}},
    {"bodies.arm.joint.damping", SIM_PARAMETER_IN_JOINT_FORCE, "N m s/rad", 0, FAR, 1, {12}},
    {"bodies.arm.joint.friction.coulomb", SIM_PARAMETER_IN_JOINT_FORCE, "N m", 0, FAR, 1, {13}},
    {"bodies.rod.joint.stiffness", SIM_PARAMETER_IN_JOINT_FORCE, "N/m", 0, FAR, 1, {14}},
    {"bodies.rod.joint.damping", SIM_PARAMETER_IN_JOINT_FORCE, "N s/m", 0, FAR, 1, {15}},
    {"bodies.rod.joint.friction.coulomb", SIM_PARAMETER_IN_JOINT_FORCE, "N", 0, FAR, 1, {16}},
    {"bodies.stop.joint.stiffness", SIM_PARAMETER_IN_JOINT_FORCE, "N m/rad", 0, FAR, 1, {0}},
    {"bodies.stop.joint.damping", SIM_PARAMETER_IN_JOINT_FORCE, "N m s/rad", 0, FAR, 1, {0}},
    {"faults.shift.value", SIM_PARAMETER_IN_FAULT, "", -FAR, FAR, 1, {0.5}},
    {"faults.creep.value", SIM_PARAMETER_IN_FAULT, "", -FAR, FAR, 1, {0.25}},
    {"faults.hiss.value", SIM_PARAMETER_IN_FAULT, "", 0, FAR, 1, {0.125}},
    {"faults.gap.value", SIM_PARAMETER_IN_FAULT, "", 0, 1, 1, {0.75}},
    {"faults.flip.value", SIM_PARAMETER_IN_FAULT, "", 0, 1, 1, {0.0625}},
};
// clang-format on

static void test_every_number_is_found_where_the_frame_reads_it(void)
{
    load(ALL);
    struct cfg_scenario *first = scenario;
    scenario = NULL;
    void *mem = aligned_alloc(64, (sim_vehicle_size(&first->spec) / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, sim_vehicle_size(&first->spec));
    untouched = sim_vehicle_place(&first->spec, mem);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *axes = all[i].count == 4 ? "wxyz" : "xyz", *path = all[i].path;
        load_tunable(ALL, path);
        TEST_ASSERT_EQUAL_INT_MESSAGE(all[i].count, scenario->spec.parameter_count, path);
        for (int k = 0; k < all[i].count; k++) {
            const struct sim_parameter *parameter = &scenario->spec.parameters[k];
            char name[96];
            snprintf(name, sizeof name, all[i].count > 1 ? "%s.%c" : "%s", path, axes[k]);
            TEST_ASSERT_EQUAL_STRING(name, parameter->name);
            TEST_ASSERT_EQUAL_INT_MESSAGE((int)all[i].home, (int)parameter->home, path);
            TEST_ASSERT_EQUAL_STRING_MESSAGE(all[i].unit, parameter->unit, path);
            TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(all[i].low, parameter->low, path);
            TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(all[i].high, parameter->high, path);
            TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(all[i].number[k], parameter->initial, path);
            TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(all[i].number[k], number_behind(parameter, 0), path);
        }
    }
    free(mem);
    cfg_scenario_free(first);
}

static void test_one_component_is_one_number(void)
{
    load_tunable(ALL, "devices.air.linear.y, pointing.target.w, pointing.target.z, "
                      "environment.gravity.z, devices.gyro.bias.x, environment.wind.z");
    static const char *const names[] = {"devices.air.linear.y", "pointing.target.w",
                                        "pointing.target.z",    "environment.gravity.z",
                                        "devices.gyro.bias.x",  "environment.wind.z"};
    static const double numbers[] = {5, 0.5, -0.5, 9.75, 1, 4};
    TEST_ASSERT_EQUAL_INT(6, scenario->spec.parameter_count);
    for (int i = 0; i < 6; i++) {
        TEST_ASSERT_EQUAL_STRING(names[i], scenario->spec.parameters[i].name);
        TEST_ASSERT_EQUAL_DOUBLE(numbers[i], scenario->spec.parameters[i].initial);
    }
}

/* Its points are effectors of their own, and a change reaches all of them. */
static void test_a_contact_counts_its_points(void)
{
    load_tunable(ALL, "devices.feet.damping, devices.cell.resistance, devices.wheel.viscous");
    const struct sim_parameter *feet = &scenario->spec.parameters[0];
    TEST_ASSERT_EQUAL_INT(3, feet->count);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_DOUBLE(8.0, number_behind(feet, i));
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_STRING("feet", scenario->spec.effectors[feet->index + i].name);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.parameters[1].count);
    TEST_ASSERT_EQUAL_STRING("cell",
                             scenario->spec.effectors[scenario->spec.parameters[1].index].name);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.parameters[2].count);
    TEST_ASSERT_EQUAL_STRING("wheel",
                             scenario->spec.effectors[scenario->spec.parameters[2].index].name);
}

static void test_limits_are_given_in_any_unit_and_include_their_ends(void)
{
    load_tunable(ALL, "{of: devices.gyro.bias.y, low: 2 rad/s, high: 180 deg/s}, "
                      "{of: devices.gyro.bias.z, low: -1}, {of: devices.gyro.bias.x, high: 1}");
    NEAR(2.0, scenario->spec.parameters[0].low);
    NEAR(PI, scenario->spec.parameters[0].high);
    NEAR(-1.0, scenario->spec.parameters[1].low);
    TEST_ASSERT_EQUAL_DOUBLE(FAR, scenario->spec.parameters[1].high);
    TEST_ASSERT_EQUAL_DOUBLE(-FAR, scenario->spec.parameters[2].low);
    NEAR(1.0, scenario->spec.parameters[2].high);
}

/* ---- mistakes ---- */

static void expect_refused(const char *head, const char *list, const char *complaint)
{
    static char text[1 << 14];
    int line = 1;
    for (const char *at = head; *at != '\0'; at++)
        line += *at == '\n';
    snprintf(text, sizeof text, "%stunable: [%s]\n", head, list);
    char expected[CFG_ERROR_MAX];
    snprintf(expected, sizeof expected, "s.yaml:%d:%s", line, complaint);
    struct cfg_scenario *none = NULL;
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        -EINVAL, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &none, error), list);
    TEST_ASSERT_EQUAL_STRING(expected, error);
}

static void test_every_path_that_leads_nowhere_is_refused(void)
{
    static const struct {
        const char *list, *complaint;
    } wrong[] = {
        {"devices.gyr.bias", "11: there is no device \"gyr\"; did you mean \"gyro\"?"},
        {"devices.telescope.bias", "11: there is no device \"telescope\"; add it to devices"},
        {"devices.gyro.delay",
         "11: while it runs a device does not change its \"delay\"; one can tune its bias, scale, "
         "noise, bias_walk, instability, range, quantum"},
        {"devices.sun.delay", "11: while it runs a device does not change its \"delay\"; one can "
                              "tune its noise, view"},
        {"devices.cell.efficency", "11: while it runs a device does not change its \"efficency\"; "
                                   "did you mean \"efficiency\"?"},
        {"devices.gyro.bias.w",
         "11: there is no such component: \"devices.gyro.bias.w\"; they are x, y and z"},
        {"devices.gyro.noise.x",
         "11: there is no such component: \"devices.gyro.noise.x\"; it is one number"},
        {"pointing.target.q",
         "11: there is no such component: \"pointing.target.q\"; they are w, x, y and z"},
        {"devices.gyro", "11: there is no tunable number at \"devices.gyro\"; give e.g. "
                         "devices.gyro.bias, environment.wind, bodies.panel.joint.damping"},
        {"gravity", "11: there is no tunable number at \"gravity\"; give e.g. "
                    "devices.gyro.bias, environment.wind, bodies.panel.joint.damping"},
        {"links.l.delay", "11: there is no tunable number at \"links.l.delay\"; give e.g. "
                          "devices.gyro.bias, environment.wind, bodies.panel.joint.damping"},
        {"bodies.arm.mass", "11: there is no tunable number at \"bodies.arm.mass\"; give e.g. "
                            "devices.gyro.bias, environment.wind, bodies.panel.joint.damping"},
        {"faults.shift.at", "11: there is no tunable number at \"faults.shift.at\"; give e.g. "
                            "devices.gyro.bias, environment.wind, bodies.panel.joint.damping"},
        {"pointing.targt", "11: there is no tunable number at \"pointing.targt\"; did you mean "
                           "\"pointing.target\"?"},
        {"bodies.arn.joint.damping", "11: there is no body \"arn\"; did you mean \"arm\"?"},
        {"bodies.chassis.joint.damping", "11: there is no body \"chassis\"; add it to bodies"},
        {"bodies.a.joint.damping",
         "11: only a hinge or slide can be tuned, not the joint of \"a\"; remove it"},
        {"bodies.ball.joint.damping",
         "11: only a hinge or slide can be tuned, not the joint of \"ball\"; remove it"},
        {"bodies.loose.joint.damping",
         "11: there is no spring, damper or friction in the joint of \"loose\"; give it one to "
         "begin with"},
        {"bodies.stop.joint.friction.coulomb",
         "11: there is no friction in the joint of \"stop\"; give it some to begin with"},
        {"bodies.arm.joint.dampin", "11: while it runs a joint does not change its \"dampin\"; did "
                                    "you mean \"damping\"?"},
        {"bodies.arm.joint.rest",
         "11: while it runs a joint does not change its \"rest\"; one can tune stiffness, damping "
         "and friction.coulomb"},
        {"faults.shft.value", "11: there is no fault \"shft\"; did you mean \"shift\"?"},
        {"faults.burnt.value", "11: there is no fault \"burnt\"; add it to faults"},
        {"faults.stiff.value",
         "11: while it runs nothing changes the value of \"stiff\"; only bias, drift, noise, "
         "dropout and bit_flip of a device can be tuned"},
        {"faults.slow.value",
         "11: while it runs nothing changes the value of \"slow\"; only bias, drift, noise, "
         "dropout and bit_flip of a device can be tuned"},
        {"faults.wire.value",
         "11: while it runs nothing changes the value of \"wire\"; only bias, drift, noise, "
         "dropout and bit_flip of a device can be tuned"},
        {"devices.gyro.bias, devices.gyro.bias.y",
         "30: this is in the list already: \"devices.gyro.bias.y\"; remove one"},
        {"{of: devices.gyro.bias, low: 1 m}", "40: bias wants rad/s, not m"},
        {"{of: devices.gyro.bias.y, low: much}",
         "42: bias wants a number in rad/s; here is \"much\""},
        {"{of: pointing.target, low: much}", "38: target wants a number; here is \"much\""},
        {"{of: devices.gyro.noise, high: much}",
         "42: noise wants a number in rad/s/sqrt(Hz), e.g. 0.001 rad/s/sqrt(Hz); here is \"much\""},
        {"{of: devices.gyro.bias.z, high: 2}",
         "16: \"devices.gyro.bias.z\" begins with 3, which is not from low, -1e+30, to high, 2; "
         "widen them"},
        {"{of: devices.gyro.bias.y, low: 3, high: 4}",
         "16: \"devices.gyro.bias.y\" begins with 2, which is not from low, 3, to high, 4; widen "
         "them"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refused(ALL, wrong[i].list, wrong[i].complaint);
}

/* A parameter that would change nothing is not tunable. */
static void test_what_a_world_lacks_is_not_offered(void)
{
    expect_refused("name: x\nenvironment: {air: true}\n" BODIES, "environment.gust.sigma",
                   "11: the scenario has no gusts to tune with \"environment.gust.sigma\"; give "
                   "environment.gust");
    expect_refused("name: x\nenvironment: {air: true}\n" BODIES, "environment.ground",
                   "11: there is no ground to move with \"environment.ground\"; give "
                   "environment.ground");
    expect_refused("name: x\nenvironment: {world: orbit}\n" BODIES, "environment.gravity",
                   "11: world: orbit does not use \"environment.gravity\"; remove it");
    load_tunable("name: x\nenvironment: {air: true}\n" BODIES,
                 "environment.wind, environment.gravity");
    TEST_ASSERT_EQUAL_INT(6, scenario->spec.parameter_count);
    load_tunable("name: x\nenvironment: {world: orbit}\n" BODIES, "pointing.target");
    TEST_ASSERT_EQUAL_INT(4, scenario->spec.parameter_count);
}

static void test_only_so_many_numbers_can_be_tuned(void)
{
    static char list[4096], most[4200];
    size_t size = 0;
    static const char *const paths[] = {
        "devices.gyro.bias",   "devices.gyro.scale",        "devices.accel.bias",
        "devices.accel.scale", "devices.mag.bias",          "devices.mag.scale",
        "devices.air.area",    "devices.air.linear",        "devices.air.angular",
        "environment.wind",    "environment.gust.sigma",    "environment.gravity",
        "pointing.position",   "devices.star.misalignment", "pointing.target"};
    for (int i = 0; i < 15; i++) /* 14 of three and one of four: 46 */
        size +=
            (size_t)snprintf(list + size, sizeof list - size, "%s%s", i > 0 ? ", " : "", paths[i]);
    static const char *const devices[] = {"gyro", "accel", "mag", "baro"};
    static const char *const keys[] = {"noise", "bias_walk", "instability", "range", "quantum"};
    for (int i = 0; i < 18; i++)
        size += (size_t)snprintf(list + size, sizeof list - size, ", devices.%s.%s", devices[i / 5],
                                 keys[i % 5]);
    load_tunable(ALL, list);
    TEST_ASSERT_EQUAL_INT(SIM_PARAMETER_MAX, scenario->spec.parameter_count);
    TEST_ASSERT_EQUAL_STRING("devices.baro.instability", scenario->spec.parameters[63].name);
    snprintf(most, sizeof most, "%s, devices.gps.eph", list);
    char complaint[256];
    snprintf(complaint, sizeof complaint,
             "%zu: there are too many numbers that can be tuned, at \"devices.gps.eph\"; name "
             "single components, or fewer keys",
             strlen("tunable: [") + size + strlen(", ") + 1);
    expect_refused(ALL, most, complaint);
}

/* A name has room for 63 characters, the component included. */
static void test_a_long_name_is_refused_where_it_no_longer_fits(void)
{
#define LONG(name)                                                                                 \
    "name: x\nenvironment: {air: true}\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 "    \
    "1}]\ndevices: [{name: " name ", type: drag, body: a, area: 1 2 3}]\n"
#define N40 "n123456789012345678901234567890123456789"
    /* devices. and .angular.x are 18 characters */
    load_tunable(LONG(N40 "12345"), "devices." N40 "12345.angular");
    TEST_ASSERT_EQUAL_size_t(63, strlen(scenario->spec.parameters[2].name));
    TEST_ASSERT_EQUAL_STRING("devices." N40 "12345.angular.z", scenario->spec.parameters[2].name);
    load_tunable(LONG(N40 "12345"), "devices." N40 "12345.angular.y");
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.parameter_count);
    expect_refused(LONG(N40 "123456"), "devices." N40 "123456.angular",
                   "11: the name is too long: \"devices.n1234567890123456789012345678901...\"; "
                   "shorten that of the device");
    expect_refused(LONG(N40 "123456"), "devices." N40 "123456.angular.x",
                   "11: the path is too long: \"devices.n1234567890123456789012345678901...\"; "
                   "shorten the names in it");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_number_is_found_where_the_frame_reads_it);
    RUN_TEST(test_one_component_is_one_number);
    RUN_TEST(test_a_contact_counts_its_points);
    RUN_TEST(test_limits_are_given_in_any_unit_and_include_their_ends);
    RUN_TEST(test_every_path_that_leads_nowhere_is_refused);
    RUN_TEST(test_what_a_world_lacks_is_not_offered);
    RUN_TEST(test_only_so_many_numbers_can_be_tuned);
    RUN_TEST(test_a_long_name_is_refused_where_it_no_longer_fits);
    return UNITY_END();
}
