/*
 * The keys of devices: sensors, commanded effectors, and effectors without a command.
 *
 * Tested by tests/config/resolve/test_devices.c.
 */
#include "config/keys/keys.h"

#include "config/resolve/effector_types.h"
#include "config/scenario.h"
#include "rt/executive/output/sensor_types.h"

static const char *const turns[] = {"ccw", "cw", NULL};

// clang-format off

#define AT(member) .offset = offsetof(struct cfg_keys_command, member)
static const struct cfg_key command_keys[] = {
    {"link", CFG_NAME, AT(link), .required = true, .example = "link: board",
     .help = "the link that commands it"},
    {"control", CFG_INTEGER, AT(control), .required = true, .limit = CFG_BETWEEN, .min = 0,
     .max = IO_CONTROL_MAX - 1, .example = "control: 0", .help = "which of the link's controls"},
};
static const struct cfg_table command_table = {
    CFG_KEYS("a command", command_keys), .size = sizeof(struct cfg_keys_command)};
#undef AT

/* A key whose number the run uses as it is written has its offset in the spec: */
#define AT(member)     .offset = offsetof(struct cfg_keys_device, member)
#define SENSOR(member) AT(sensor.member)
#define DRIVE(member)  AT(effector.drive.member)
#define LAW(member)    AT(effector.effector.member)
/* and it may be tuned if every frame reads it again. */
#define TUNABLE .tunable = CFG_TUNABLE
#define TUNABLE_FIRST .tunable = CFG_TUNABLE_FIRST

/* ---- common keys ---- */

#define PLACE_KEY(place) \
    {"at", CFG_VECTOR, place, .size = 3, .unit = "m", .fallback = "0 0 0", \
     .example = "0.1 0 0 m", .help = "where it sits, body axes"}
#define AXES_KEY \
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{yaw: 0.1 deg}", \
     .help = "its axes in the body's, misalignment included"}
#define RATE_KEY \
    {"rate", CFG_QUANTITY, AT(rate), .unit = "Hz", .limit = CFG_POSITIVE, \
     .otherwise = "every frame", .example = "250 Hz", \
     .help = "samples; must divide the frame rate"}
#define LATE_KEY \
    {"delay", CFG_QUANTITY, AT(delay), .unit = "s", .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "4 ms", .help = "motion to reading; whole samples, fewer than 16"}
/* The error model of all sensors except receivers and cameras. */
#define ERROR_KEYS(member, si, density, walk) \
    {"noise", CFG_QUANTITY, SENSOR(member.noise_density), TUNABLE, .unit = density, \
     .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "0.001 " density, .help = "density of the white noise"}, \
    {"bias_walk", CFG_QUANTITY, SENSOR(member.walk_density), TUNABLE, .unit = walk, \
     .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "1e-6 " walk, .help = "density of the bias's random walk"}, \
    {"instability", CFG_QUANTITY, SENSOR(member.instability), TUNABLE, .unit = si, \
     .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "1e-4 " si, .help = "deviation of the bias's slow wander"}, \
    {"instability_time", CFG_QUANTITY, SENSOR(member.instability_time), .unit = "s", \
     .limit = CFG_POSITIVE, \
     .fallback = "100 s", .example = "100 s", .help = "over which that wander forgets"}, \
    {"range", CFG_QUANTITY, SENSOR(member.range), TUNABLE, .unit = si, \
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "10 " si, .help = "largest reading; 0 is unlimited"}, \
    {"quantum", CFG_QUANTITY, SENSOR(member.quantum), TUNABLE, .unit = si, \
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "0.001 " si, .help = "step of the reading; 0 is continuous"}

/* ---- sensors ---- */

#define TRIAD_KEYS(si, density, walk) \
    PLACE_KEY(SENSOR(point)), AXES_KEY, RATE_KEY, ERROR_KEYS(triad, si, density, walk), \
    {"bias", CFG_VECTOR, SENSOR(triad.bias), TUNABLE_FIRST, .size = 3, .unit = si, \
     .fallback = "0 0 0", \
     .example = "0.01 0 0 " si, .help = "at the start"}, \
    {"scale", CFG_VECTOR, SENSOR(triad.scale), TUNABLE_FIRST, .size = 3, .limit = CFG_BETWEEN, \
     .min = -0.5, .max = 0.5, \
     .fallback = "0 0 0", .example = "0.1 0 0 %", .help = "relative error of each axis"}, \
    {"misalignment", CFG_VECTOR, AT(misalignment), .size = 3, .unit = "rad", .limit = CFG_BETWEEN, \
     .min = -0.2, .max = 0.2, .fallback = "0 0 0", .example = "0.1 0 -0.1 deg", \
     .help = "small turn of its true axes, unknown to the board"}, \
    LATE_KEY
#define GAUGE_KEYS(si, density, walk) \
    RATE_KEY, ERROR_KEYS(gauge.error, si, density, walk), \
    {"bias", CFG_QUANTITY, SENSOR(gauge.error.bias), TUNABLE_FIRST, .unit = si, .fallback = "0", \
     .example = "1 " si, \
     .help = "at the start"}, \
    {"scale", CFG_QUANTITY, SENSOR(gauge.error.scale), TUNABLE_FIRST, .limit = CFG_BETWEEN, \
     .min = -0.5, .max = 0.5, \
     .fallback = "0", .example = "0.1 %", .help = "relative error"}, \
    LATE_KEY

static const struct cfg_key gyro_keys[] = {
    TRIAD_KEYS("rad/s", "rad/s/sqrt(Hz)", "rad/s/sqrt(s)")};
static const struct cfg_key accelerometer_keys[] = {
    TRIAD_KEYS("m/s^2", "m/s^2/sqrt(Hz)", "m/s^2/sqrt(s)")};
static const struct cfg_key magnetometer_keys[] = {
    TRIAD_KEYS("T", "T/sqrt(Hz)", "T/sqrt(s)")};
static const struct cfg_key barometer_keys[] = {
    PLACE_KEY(SENSOR(point)), GAUGE_KEYS("Pa", "Pa/sqrt(Hz)", "Pa/sqrt(s)")};
static const struct cfg_key airspeed_keys[] = {
    PLACE_KEY(SENSOR(point)), GAUGE_KEYS("Pa", "Pa/sqrt(Hz)", "Pa/sqrt(s)")};
static const struct cfg_key encoder_keys[] = {
    {"coordinate", CFG_INTEGER, AT(coordinate), .limit = CFG_BETWEEN, .min = 0, .max = 5,
     .fallback = "0", .example = "0", .help = "which of the joint's coordinates; the body's joint"},
    GAUGE_KEYS("rad", "rad/sqrt(Hz)", "rad/sqrt(s)")};
static const struct cfg_key gps_keys[] = {
    PLACE_KEY(SENSOR(point)), RATE_KEY,
    {"noise_horizontal", CFG_QUANTITY, SENSOR(gps.noise_horizontal), TUNABLE, .unit = "m",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.3 m", .help = "deviation of each fix, north and east"},
    {"noise_vertical", CFG_QUANTITY, SENSOR(gps.noise_vertical), TUNABLE, .unit = "m",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.5 m", .help = "deviation of each fix, up"},
    {"noise_velocity", CFG_QUANTITY, SENSOR(gps.velocity_noise_horizontal), .unit = "m/s",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.05 m/s", .help = "deviation of each velocity"},
    {"wander", CFG_QUANTITY, SENSOR(gps.wander_horizontal), .unit = "m",
     .limit = CFG_NOT_NEGATIVE, .fallback = "0",
     .example = "1 m", .help = "deviation of the slow error of position"},
    {"wander_time", CFG_QUANTITY, SENSOR(gps.wander_time), .unit = "s", .limit = CFG_POSITIVE,
     .fallback = "60 s", .example = "60 s", .help = "over which the slow error forgets"},
    {"eph", CFG_QUANTITY, SENSOR(gps.eph), TUNABLE, .unit = "m", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0.5 m",
     .example = "0.5 m", .help = "horizontal accuracy that it reports"},
    {"epv", CFG_QUANTITY, SENSOR(gps.epv), TUNABLE, .unit = "m", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0.8 m",
     .example = "0.8 m", .help = "vertical accuracy that it reports"},
    {"satellites", CFG_INTEGER, AT(satellites), .limit = CFG_BETWEEN, .min = 0, .max = 64,
     .fallback = "14", .example = "14", .help = "that it reports; fewer than 4 give no fix"},
    LATE_KEY,
};
#define BORESIGHT_KEY(member) \
    {"boresight", CFG_AXIS, SENSOR(member.boresight), .required = true, \
     .example = "boresight: 0 0 1", \
     .help = "where it looks, body axes"}
static const struct cfg_key sun_sensor_keys[] = {
    BORESIGHT_KEY(sun), RATE_KEY,
    {"view", CFG_QUANTITY, SENSOR(sun.half_angle), TUNABLE, .unit = "rad", .limit = CFG_BETWEEN,
     .min = 0.001,
     .max = 3.15, .fallback = "60 deg", .example = "60 deg",
     .help = "half angle of the cone in which it sees"},
    {"noise", CFG_QUANTITY, SENSOR(sun.noise), TUNABLE_FIRST, .unit = "rad",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0",
     .example = "0.1 deg", .help = "deviation of each reading, across"},
    {"quantum", CFG_QUANTITY, SENSOR(sun.quantum), .limit = CFG_BETWEEN, .min = 0, .max = 0.5,
     .fallback = "0", .example = "0.001", .help = "step of each component; 0 is continuous"},
};
static const struct cfg_key star_tracker_keys[] = {
    BORESIGHT_KEY(tracker), RATE_KEY,
    {"noise_across", CFG_QUANTITY, SENSOR(tracker.noise_across), TUNABLE, .unit = "rad",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "5 arcsec",
     .help = "deviation of each reading, across the boresight"},
    {"noise_about", CFG_QUANTITY, SENSOR(tracker.noise_about), TUNABLE, .unit = "rad",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "40 arcsec",
     .help = "deviation of each reading, about the boresight"},
    {"misalignment", CFG_VECTOR, SENSOR(tracker.misalignment), TUNABLE, .size = 3, .unit = "rad",
     .limit = CFG_BETWEEN,
     .min = -0.2, .max = 0.2, .fallback = "0 0 0", .example = "0.01 0 0 deg",
     .help = "small turn of its true axes, unknown to the board"},
    {"sun_exclusion", CFG_QUANTITY, SENSOR(tracker.sun_exclusion), TUNABLE, .unit = "rad",
     .limit = CFG_BETWEEN, .min = 0,
     .max = 3.15, .fallback = "0", .example = "35 deg",
     .help = "blind with the Sun nearer than this"},
    {"earth_exclusion", CFG_QUANTITY, SENSOR(tracker.earth_exclusion), TUNABLE, .unit = "rad",
     .limit = CFG_BETWEEN,
     .min = 0, .max = 3.15, .fallback = "0", .example = "25 deg",
     .help = "blind with the Earth's limb nearer than this"},
    {"max_rate", CFG_QUANTITY, SENSOR(tracker.max_rate), TUNABLE, .unit = "rad/s",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "2 deg/s", .help = "blind when turning faster; 0 is never"},
    LATE_KEY,
};
static const struct cfg_key horizon_sensor_keys[] = {
    {"boresight", CFG_AXIS, SENSOR(horizon.boresight), .required = true,
     .example = "boresight: 0 0 1",
     .help = "where it looks, body axes; its reading is logged and shown live, no message has it"},
    RATE_KEY,
    {"view", CFG_QUANTITY, SENSOR(horizon.half_angle), TUNABLE, .unit = "rad",
     .limit = CFG_BETWEEN, .min = 0.001, .max = 3.15, .fallback = "60 deg", .example = "60 deg",
     .help = "half angle of the cone in which the Earth's centre must lie"},
    {"noise", CFG_QUANTITY, SENSOR(horizon.noise), TUNABLE, .unit = "rad",
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", .example = "0.1 deg",
     .help = "deviation of each reading, across"},
    {"sun_exclusion", CFG_QUANTITY, SENSOR(horizon.sun_exclusion), TUNABLE, .unit = "rad",
     .limit = CFG_BETWEEN, .min = 0, .max = 3.15, .fallback = "0", .example = "10 deg",
     .help = "blind with the Sun nearer than this to the boresight or to the Earth's limb"},
    LATE_KEY,
};

/* ---- commanded effectors ---- */

#define COMMAND_KEY \
    {"command", CFG_MAP, AT(command), .required = true, .table = &command_table, \
     .example = "command: {link: board, control: 0}", .help = "where its control comes from"}
#define DRIVE_KEYS \
    {"quantum", CFG_QUANTITY, DRIVE(quantum), TUNABLE, .limit = CFG_BETWEEN, .min = 0, .max = 1, \
     .fallback = "0", .example = "0.001", .help = "step of the control; 0 is continuous"}, \
    {"delay", CFG_QUANTITY, AT(delay), .unit = "s", .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "2 ms", .help = "control to action; whole frames, fewer than 64"}, \
    COMMAND_KEY

static const struct cfg_key wheel_keys[] = {
    {"axis", CFG_AXIS, LAW(wheel.axis), .required = true, .example = "axis: 1 0 0",
     .help = "body axes"},
    PLACE_KEY(LAW(wheel.at)),
    {"inertia", CFG_QUANTITY, LAW(wheel.inertia), .required = true, .unit = "kg m^2",
     .limit = CFG_POSITIVE, .example = "inertia: 0.02 kg m^2",
     .help = "of the rotor about its axis; part of the body's"},
    {"max_torque", CFG_QUANTITY, LAW(wheel.max_torque), TUNABLE, .required = true, .unit = "N m",
     .limit = CFG_POSITIVE, .example = "max_torque: 0.2 N m", .help = "of the motor"},
    {"max_speed", CFG_QUANTITY, LAW(wheel.max_speed), TUNABLE, .required = true, .unit = "rad/s",
     .limit = CFG_POSITIVE, .example = "max_speed: 6000 rpm", .help = "the motor goes no faster"},
    {"speed", CFG_QUANTITY, AT(effector.speed), .unit = "rad/s", .fallback = "0",
     .example = "1000 rpm",
     .help = "at the start, relative to the body"},
    {"viscous", CFG_QUANTITY, LAW(wheel.viscous), TUNABLE, .unit = "N m s/rad",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "2e-5 N m s/rad", .help = "friction that grows with speed"},
    {"coulomb", CFG_QUANTITY, LAW(wheel.coulomb), TUNABLE, .unit = "N m", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.5 mN m", .help = "dry friction"},
    {"coulomb_speed", CFG_QUANTITY, AT(not_read), .unit = "rad/s", .limit = CFG_POSITIVE,
     .fallback = "1 rad/s", .example = "1 rad/s",
     .help = "no longer read: a rotor at rest sticks"},
    {"stiction", CFG_QUANTITY, LAW(wheel.stiction), TUNABLE, .unit = "N m",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.2 mN m", .help = "what breaking loose takes beyond coulomb"},
    {"stiction_speed", CFG_QUANTITY, LAW(wheel.stribeck_speed), .unit = "rad/s",
     .limit = CFG_POSITIVE,
     .fallback = "5 rad/s", .example = "5 rad/s", .help = "at which stiction has mostly gone"},
    {"static_imbalance", CFG_QUANTITY, LAW(wheel.static_imbalance), .unit = "kg m",
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", .example = "1e-6 kg m",
     .help = "mass times its distance from the axis"},
    {"dynamic_imbalance", CFG_QUANTITY, LAW(wheel.dynamic_imbalance), .unit = "kg m^2",
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", .example = "1e-8 kg m^2",
     .help = "product of inertia that turns with it"},
    {"gain", CFG_QUANTITY, DRIVE(gain), TUNABLE, .unit = "N m", .otherwise = "max_torque",
     .example = "0.2 N m",
     .help = "torque at control 1; negative turns the sense"},
    DRIVE_KEYS,
};
static const struct cfg_key rotor_keys[] = {
    PLACE_KEY(LAW(rotor.at)),
    {"axis", CFG_AXIS, LAW(rotor.axis), .fallback = "0 0 -1", .example = "0 0 -1",
     .help = "where the thrust points, body axes"},
    {"turns", CFG_CHOICE, AT(turns), .choices = turns, .required = true, .example = "turns: ccw",
     .help = "its sense, seen from where the thrust points"},
    {"max_speed", CFG_QUANTITY, LAW(rotor.max_speed), .required = true, .unit = "rad/s",
     .limit = CFG_POSITIVE, .example = "max_speed: 10000 rpm",
     .help = "at control 1, battery full"},
    {"idle_speed", CFG_QUANTITY, LAW(rotor.idle_speed), TUNABLE, .unit = "rad/s",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "1000 rpm", .help = "least speed once its control is not zero"},
    {"max_thrust", CFG_QUANTITY, AT(max_thrust), .required = true, .unit = "N",
     .limit = CFG_POSITIVE, .example = "max_thrust: 7 N",
     .help = "at max_speed in air of 1.225 kg/m^3; goes with the square of the speed"},
    {"torque_ratio", CFG_QUANTITY, AT(torque_ratio), .unit = "m", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0.016 m", .example = "0.016 m", .help = "torque of its drag over its thrust"},
    {"lag", CFG_QUANTITY, LAW(rotor.lag_up), .unit = "s", .limit = CFG_POSITIVE,
     .fallback = "20 ms",
     .example = "20 ms", .help = "time constant of its speed, upwards"},
    {"lag_down", CFG_QUANTITY, LAW(rotor.lag_down), .unit = "s", .limit = CFG_POSITIVE,
     .otherwise = "lag", .example = "30 ms", .help = "the same downwards"},
    {"inertia", CFG_QUANTITY, LAW(rotor.inertia), .unit = "kg m^2", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "6e-5 kg m^2", .help = "about its axis; part of the body's"},
    {"lateral_drag", CFG_QUANTITY, LAW(rotor.lateral_drag), TUNABLE, .unit = "N s^2/m/rad",
     .limit = CFG_NOT_NEGATIVE, .fallback = "0", .example = "1e-4",
     .help = "force against flow across the axis, per speed of rotor and flow"},
    {"pitch", CFG_QUANTITY, AT(pitch), .unit = "m", .limit = CFG_POSITIVE,
     .otherwise = "thrust does not feel the flow", .example = "0.11 m",
     .help = "advance by turn at which the thrust is gone"},
    {"speed", CFG_QUANTITY, AT(effector.speed), .unit = "rad/s", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0",
     .example = "0 rpm", .help = "at the start"},
    DRIVE_KEYS,
};
static const struct cfg_key torquer_keys[] = {
    {"axis", CFG_AXIS, LAW(torquer.axis), .required = true, .example = "axis: 1 0 0",
     .help = "body axes"},
    {"max_dipole", CFG_QUANTITY, LAW(torquer.max_dipole), TUNABLE, .required = true,
     .unit = "A m^2",
     .limit = CFG_POSITIVE, .example = "max_dipole: 0.2 A m^2", .help = "it saturates there"},
    {"gain", CFG_QUANTITY, DRIVE(gain), TUNABLE, .unit = "A m^2", .otherwise = "max_dipole",
     .example = "0.2 A m^2", .help = "dipole at control 1; negative turns the sense"},
    DRIVE_KEYS,
};
static const struct cfg_key thruster_keys[] = {
    PLACE_KEY(LAW(thruster.at)),
    {"axis", CFG_AXIS, LAW(thruster.axis), .required = true, .example = "axis: 1 0 0",
     .help = "where it pushes the body, body axes"},
    {"thrust", CFG_QUANTITY, LAW(thruster.thrust), TUNABLE, .required = true, .unit = "N",
     .limit = CFG_POSITIVE,
     .example = "thrust: 1 N", .help = "with the valve open"},
    {"rise", CFG_QUANTITY, LAW(thruster.rise), .unit = "s", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0",
     .example = "5 ms", .help = "time constant after opening"},
    {"fall", CFG_QUANTITY, LAW(thruster.fall), .unit = "s", .limit = CFG_NOT_NEGATIVE,
     .otherwise = "rise",
     .example = "10 ms", .help = "time constant after closing"},
    {"min_control", CFG_QUANTITY, DRIVE(min_duty), TUNABLE, .limit = CFG_BETWEEN, .min = 0,
     .max = 1,
     .fallback = "0", .example = "0.05",
     .help = "controls below this do not open the valve: the shortest pulse"},
    DRIVE_KEYS,
};

/* ---- effectors without a command ---- */

static const struct cfg_key drag_keys[] = {
    PLACE_KEY(LAW(drag.at)),
    {"area", CFG_VECTOR, LAW(drag.area), TUNABLE, .size = 3, .unit = "m^2",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "0.02 0.02 0.05 m^2",
     .help = "drag coefficient times area, for flow along each body axis"},
    {"linear", CFG_VECTOR, LAW(drag.linear), TUNABLE, .size = 3, .unit = "N s/m",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "0.1 0.1 0.1 N s/m",
     .help = "force per speed along each axis"},
    {"angular", CFG_VECTOR, LAW(drag.angular), TUNABLE, .size = 3, .unit = "N m s/rad",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "0.002 0.002 0.002",
     .help = "torque per rate about each axis"},
};
static const struct cfg_key contact_keys[] = {
    {"points", CFG_ROWS, AT(points), .required = true, .size = 3, .unit = "m",
     .example = "points: [[0.2, 0.2, 0.1], [-0.2, 0.2, 0.1]]",
     .help = "that may touch the ground, body axes"},
    {"stiffness", CFG_QUANTITY, LAW(contact.stiffness), TUNABLE, .required = true, .unit = "N/m",
     .limit = CFG_POSITIVE, .example = "stiffness: 2000 N/m", .help = "of each point"},
    {"damping", CFG_QUANTITY, LAW(contact.damping), TUNABLE, .unit = "N s/m",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "40 N s/m", .help = "of each point while it touches"},
    {"friction", CFG_QUANTITY, LAW(contact.friction), TUNABLE, .limit = CFG_NOT_NEGATIVE,
     .fallback = "0.6",
     .example = "0.6", .help = "coefficient"},
    {"slip_speed", CFG_QUANTITY, AT(not_read), .unit = "m/s", .limit = CFG_POSITIVE,
     .fallback = "0.01 m/s", .example = "0.01 m/s",
     .help = "no longer read: a foot at rest sticks"},
};
static const struct cfg_key battery_keys[] = {
    {"voltage", CFG_QUANTITY, LAW(battery.voltage_full), .required = true, .unit = "V",
     .limit = CFG_POSITIVE,
     .example = "voltage: 16.8 V", .help = "full, without load"},
    {"voltage_empty", CFG_QUANTITY, LAW(battery.voltage_empty), .required = true, .unit = "V",
     .limit = CFG_POSITIVE, .example = "voltage_empty: 13.2 V", .help = "empty, without load"},
    {"capacity", CFG_QUANTITY, LAW(battery.capacity), .required = true, .unit = "A s",
     .limit = CFG_POSITIVE, .example = "capacity: 5 A h", .help = "charge from full to empty"},
    {"resistance", CFG_QUANTITY, LAW(battery.resistance), TUNABLE, .unit = "ohm",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "20 mohm", .help = "by which the voltage sags under load"},
    {"idle_current", CFG_QUANTITY, LAW(battery.idle_current), TUNABLE, .unit = "A",
     .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.5 A", .help = "of everything but the rotors"},
    {"efficiency", CFG_QUANTITY, LAW(battery.efficiency), TUNABLE, .limit = CFG_BETWEEN,
     .min = 0.01, .max = 1,
     .fallback = "80 %", .example = "80 %", .help = "of the rotors' motors"},
};

static const struct cfg_table device_variants[] = {
    [SIM_SENSOR_GYRO] = {CFG_KEYS("a gyro", gyro_keys)},
    [SIM_SENSOR_ACCELEROMETER] = {CFG_KEYS("an accelerometer", accelerometer_keys)},
    [SIM_SENSOR_MAGNETOMETER] = {CFG_KEYS("a magnetometer", magnetometer_keys)},
    [SIM_SENSOR_BAROMETER] = {CFG_KEYS("a barometer", barometer_keys)},
    [SIM_SENSOR_AIRSPEED] = {CFG_KEYS("an airspeed probe", airspeed_keys)},
    [SIM_SENSOR_GPS] = {CFG_KEYS("a gps", gps_keys)},
    [SIM_SENSOR_SUN] = {CFG_KEYS("a sun sensor", sun_sensor_keys)},
    [SIM_SENSOR_STAR_TRACKER] = {CFG_KEYS("a star tracker", star_tracker_keys)},
    [SIM_SENSOR_HORIZON] = {CFG_KEYS("a horizon sensor", horizon_sensor_keys)},
    [SIM_SENSOR_ENCODER] = {CFG_KEYS("an encoder", encoder_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_WHEEL] = {CFG_KEYS("a wheel", wheel_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_ROTOR] = {CFG_KEYS("a rotor", rotor_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_TORQUER] = {CFG_KEYS("a torquer", torquer_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_THRUSTER] = {CFG_KEYS("a thruster", thruster_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_DRAG] = {CFG_KEYS("drag", drag_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_CONTACT] = {CFG_KEYS("contact", contact_keys)},
    [CFG_DEVICE_EFFECTOR + DYN_EFFECTOR_BATTERY] = {CFG_KEYS("a battery", battery_keys)},
};
static const char *device_type(int i)
{
    return i < CFG_DEVICE_EFFECTOR          ? sim_sensor_types[i].name
           : i < CFG_COUNT(device_variants) ? cfg_effector_types[i - CFG_DEVICE_EFFECTOR].name
                                            : NULL;
}
static const struct cfg_key device_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: gyro",
     .help = "by which others refer to it"},
    {"type", CFG_CHOICE, AT(type), .required = true, .choice = device_type, .example = "type: gyro",
     .help = "decides which further keys there are"},
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: bus",
     .help = "what it sits on"},
};
const struct cfg_table cfg_device_table = {
    CFG_KEYS("a device", device_keys), .size = sizeof(struct cfg_keys_device),
    .variant_count = CFG_COUNT(device_variants), .variants = device_variants};

