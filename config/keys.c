#include "config/keys.h"

#include "config/scenario.h"

static const char *const paces[] = {
    [RT_PACE_REAL] = "real", [RT_PACE_FAST] = "fast", [RT_PACE_LOCKSTEP] = "lockstep", NULL};
static const char *const commits[] = {[RT_COMMIT_GRID] = "grid", [RT_COMMIT_EARLY] = "early", NULL};
static const char *const policies[] = {[RT_OVERRUN_SKIP] = "skip",
                                       [RT_OVERRUN_CATCH_UP] = "catch-up",
                                       [RT_OVERRUN_STOP] = "stop",
                                       NULL};
static const char *const requirements[] = {"nothing", "realtime", NULL};
static const char *const modes[] = {
    [IO_LINK_THREADED] = "threaded", [IO_LINK_INLINE] = "inline", NULL};
static const char *const waits[] = {[RT_WAIT_PLAIN] = "plain", [RT_WAIT_HYBRID] = "hybrid", NULL};
static const char *const methods[] = {[DYN_SEMI_IMPLICIT_EULER] = "semi-implicit-euler",
                                      [DYN_RK2] = "rk2",
                                      [DYN_RK4] = "rk4",
                                      [DYN_AB2] = "ab2",
                                      [DYN_AB3] = "ab3",
                                      [DYN_AB4] = "ab4",
                                      [DYN_ROS2] = "ros2",
                                      NULL};
static const char *const device_types[] = {[CFG_DEVICE_GYRO] = "gyro",
                                           [CFG_DEVICE_ACCELEROMETER] = "accelerometer",
                                           [CFG_DEVICE_MAGNETOMETER] = "magnetometer",
                                           [CFG_DEVICE_WHEEL] = "wheel",
                                           NULL};
static const char *const protocols[] = {"mavlink", NULL};
static const char *const buses[] = {"udp", NULL};
static const char *const losses[] = {"safe", "stop", NULL};

// clang-format off

/* ---- how the frames run ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_overrun, member)
static const struct cfg_key overrun_keys[] = {
    {"policy", CFG_CHOICE, AT(policy), .choices = policies, .fallback = "skip",
     .help = "what happens to releases that a late frame missed"},
    {"max_catch_up", CFG_INTEGER, AT(max_catch_up), .limit = CFG_BETWEEN, .min = 1, .max = 1000000,
     .fallback = "10", .example = "10", .help = "catch-up: most frames run back to back"},
};
static const struct cfg_table overrun_table = {
    CFG_KEYS("overrun", overrun_keys), .size = sizeof(struct cfg_keys_overrun),
    .shorthand = "policy"};
#undef AT

#define CPU_KEY(thread) \
    {"cpu", CFG_INTEGER, AT(cpu), .limit = CFG_BETWEEN, .min = 0, .max = 1023, .word = "auto", \
     .fallback = "auto", .example = "3", .help = "core of the " thread " thread"}
#define PRIORITY_KEY(thread, value) \
    {"priority", CFG_INTEGER, AT(priority), .limit = CFG_BETWEEN, .min = 1, .max = 98, \
     .fallback = value, .example = value, .help = "SCHED_FIFO priority of the " thread " thread"}

#define AT(member) .offset = offsetof(struct cfg_keys_io, member)
static const struct cfg_key io_keys[] = {
    {"mode", CFG_CHOICE, AT(mode), .choices = modes, .fallback = "threaded",
     .help = "links on a thread of their own, or polled inside the frame"},
    CPU_KEY("I/O"),
    PRIORITY_KEY("I/O", "80"),
};
static const struct cfg_table io_table = {
    CFG_KEYS("io", io_keys), .size = sizeof(struct cfg_keys_io), .shorthand = "mode"};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_frame, member)
static const struct cfg_key frame_keys[] = {
    CPU_KEY("frame"),
    PRIORITY_KEY("frame", "90"),
    {"wait", CFG_CHOICE, AT(wait), .choices = waits, .fallback = "hybrid",
     .help = "sleep to the release, or sleep and spin the last bit"},
    {"lead", CFG_QUANTITY, AT(lead), .unit = "s", .limit = CFG_NOT_NEGATIVE, .word = "auto",
     .fallback = "auto", .example = "80 us", .help = "hybrid: how long it spins; auto measures it"},
    {"watchdog", CFG_QUANTITY, AT(watchdog), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-3,
     .max = 60, .fallback = "500 ms", .example = "500 ms",
     .help = "a frame thread silent for this long is taken for dead"},
};
static const struct cfg_table frame_table = {
    CFG_KEYS("frame", frame_keys), .size = sizeof(struct cfg_keys_frame)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_integrator, member)
static const struct cfg_key integrator_keys[] = {
    {"method", CFG_CHOICE, AT(method), .choices = methods, .fallback = "rk4",
     .help = "fixed-step method"},
    {"substeps", CFG_INTEGER, AT(substeps), .limit = CFG_BETWEEN, .min = 1, .max = 1000,
     .fallback = "1", .example = "4", .help = "steps per frame"},
};
static const struct cfg_table integrator_table = {
    CFG_KEYS("integrator", integrator_keys), .size = sizeof(struct cfg_keys_integrator),
    .shorthand = "method"};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_log, member)
static const struct cfg_key log_keys[] = {
    {"every", CFG_INTEGER, AT(every), .limit = CFG_BETWEEN, .min = 1, .max = 1000000,
     .fallback = "1", .example = "10", .help = "frames per state record"},
};
static const struct cfg_table log_table = {
    CFG_KEYS("log", log_keys), .size = sizeof(struct cfg_keys_log)};
#undef AT

/* ---- the world ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_home, member)
#define QUARTER_TURN 1.5707963267948966
static const struct cfg_key home_keys[] = {
    {"latitude", CFG_QUANTITY, AT(latitude), .unit = "rad", .limit = CFG_BETWEEN,
     .min = -QUARTER_TURN, .max = QUARTER_TURN, .fallback = "47.397742 deg",
     .example = "47.397742 deg", .help = "north is positive"},
    {"longitude", CFG_QUANTITY, AT(longitude), .unit = "rad", .limit = CFG_BETWEEN,
     .min = -2 * QUARTER_TURN, .max = 2 * QUARTER_TURN, .fallback = "8.545594 deg",
     .example = "8.545594 deg", .help = "east is positive"},
    {"altitude", CFG_QUANTITY, AT(altitude), .unit = "m", .fallback = "488 m", .example = "488 m",
     .help = "above sea level"},
};
static const struct cfg_table home_table = {
    CFG_KEYS("home", home_keys), .size = sizeof(struct cfg_keys_home)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_environment, member)
static const struct cfg_key environment_keys[] = {
    {"gravity", CFG_VECTOR, AT(gravity), .size = 3, .unit = "m/s^2", .fallback = "0 0 0",
     .example = "0 0 9.81", .help = "world axes: north, east, down"},
    {"magnetic_field", CFG_VECTOR, AT(magnetic_field), .size = 3, .unit = "T", .fallback = "0 0 0",
     .example = "21.5 1.0 42.7 uT", .help = "world axes"},
    {"home", CFG_MAP, AT(home), .table = &home_table,
     .help = "where on Earth the world origin lies, for GPS"},
};
static const struct cfg_table environment_table = {
    CFG_KEYS("environment", environment_keys), .size = sizeof(struct cfg_keys_environment)};
#undef AT

/* ---- bodies ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_body, member)
static const struct cfg_key body_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: bus",
     .help = "by which others refer to it"},
    {"parent", CFG_NAME, AT(parent), .otherwise = "the world", .example = "bus",
     .help = "the body it hangs from"},
    {"joint", CFG_MAP, AT(joint), .required = true, .table = &cfg_joint_table, .example = "joint: free",
     .help = "what carries it"},
    {"mass", CFG_QUANTITY, AT(mass), .required = true, .unless = "flex", .unit = "kg",
     .limit = CFG_NOT_NEGATIVE, .example = "mass: 120 kg", .help = "with its wheels"},
    {"center", CFG_VECTOR, AT(center), .size = 3, .unit = "m", .fallback = "0 0 0",
     .example = "0 0.1 0 m", .help = "mass centre, body axes"},
    {"inertia", CFG_VECTOR, AT(inertia), .required = true, .unless = "flex", .size = 6,
     .unit = "kg m^2", .example = "inertia: 12 14 10 kg m^2",
     .help = "about the mass centre, rotors included: xx yy zz [xy xz yz]"},
    {"flex", CFG_MAP, AT(flex), .table = &cfg_flex_table, .otherwise = "rigid",
     .help = "how it bends"},
};
static const struct cfg_table body_table = {
    CFG_KEYS("a body", body_keys), .size = sizeof(struct cfg_keys_body)};
#undef AT

/* ---- devices ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_command, member)
static const struct cfg_key command_keys[] = {
    {"link", CFG_NAME, AT(link), .required = true, .example = "link: board",
     .help = "the link that it listens to"},
    {"control", CFG_INTEGER, AT(control), .required = true, .limit = CFG_BETWEEN, .min = 0,
     .max = IO_CONTROL_MAX - 1, .example = "control: 0", .help = "which of the link's controls"},
};
static const struct cfg_table command_table = {
    CFG_KEYS("a command", command_keys), .size = sizeof(struct cfg_keys_command)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_device, member)
#define INSTRUMENT_KEYS(si, density, walk) \
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", \
     .example = "0.1 0 0 m", .help = "where it sits, body axes"}, \
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{yaw: 0.1 deg}", \
     .help = "its axes in the body's, misalignment included"}, \
    {"rate", CFG_QUANTITY, AT(rate), .unit = "Hz", .limit = CFG_POSITIVE, \
     .otherwise = "every frame", .example = "250 Hz", \
     .help = "samples; must divide the frame rate"}, \
    {"noise", CFG_QUANTITY, AT(noise), .unit = density, .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "0.001 " density, .help = "density of the white noise"}, \
    {"bias", CFG_VECTOR, AT(bias), .size = 3, .unit = si, .fallback = "0 0 0", \
     .example = "0.01 0 0 " si, .help = "at the start"}, \
    {"bias_walk", CFG_QUANTITY, AT(bias_walk), .unit = walk, .limit = CFG_NOT_NEGATIVE, \
     .fallback = "0", .example = "1e-6 " walk, .help = "density of the bias's random walk"}, \
    {"scale", CFG_VECTOR, AT(scale), .size = 3, .limit = CFG_BETWEEN, .min = -0.5, .max = 0.5, \
     .fallback = "0 0 0", .example = "0.1 0 0 %", .help = "relative error of each axis"}, \
    {"range", CFG_QUANTITY, AT(range), .unit = si, .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "10 " si, .help = "largest reading; 0 is unlimited"}, \
    {"quantum", CFG_QUANTITY, AT(quantum), .unit = si, .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "0.001 " si, .help = "step of the reading; 0 is continuous"}, \
    {"delay", CFG_QUANTITY, AT(delay), .unit = "s", .limit = CFG_NOT_NEGATIVE, .fallback = "0", \
     .example = "4 ms", .help = "motion to reading; whole samples, fewer than 16"}

static const struct cfg_key gyro_keys[] = {
    INSTRUMENT_KEYS("rad/s", "rad/s/sqrt(Hz)", "rad/s/sqrt(s)")};
static const struct cfg_key accelerometer_keys[] = {
    INSTRUMENT_KEYS("m/s^2", "m/s^2/sqrt(Hz)", "m/s^2/sqrt(s)")};
static const struct cfg_key magnetometer_keys[] = {
    INSTRUMENT_KEYS("T", "T/sqrt(Hz)", "T/sqrt(s)")};
static const struct cfg_key wheel_keys[] = {
    {"axis", CFG_AXIS, AT(axis), .required = true, .example = "axis: 1 0 0", .help = "body axes"},
    {"inertia", CFG_QUANTITY, AT(inertia), .required = true, .unit = "kg m^2",
     .limit = CFG_POSITIVE, .example = "inertia: 0.02 kg m^2",
     .help = "of the rotor about its axis; part of the body's"},
    {"max_torque", CFG_QUANTITY, AT(max_torque), .required = true, .unit = "N m",
     .limit = CFG_POSITIVE, .example = "max_torque: 0.2 N m", .help = "of the motor"},
    {"max_speed", CFG_QUANTITY, AT(max_speed), .required = true, .unit = "rad/s",
     .limit = CFG_POSITIVE, .example = "max_speed: 6000 rpm", .help = "the motor goes no faster"},
    {"speed", CFG_QUANTITY, AT(speed), .unit = "rad/s", .fallback = "0", .example = "1000 rpm",
     .help = "at the start, relative to the body"},
    {"viscous", CFG_QUANTITY, AT(viscous), .unit = "N m s/rad", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "2e-5 N m s/rad", .help = "friction that grows with speed"},
    {"coulomb", CFG_QUANTITY, AT(coulomb), .unit = "N m", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0", .example = "0.5 mN m", .help = "dry friction"},
    {"coulomb_speed", CFG_QUANTITY, AT(coulomb_speed), .unit = "rad/s", .limit = CFG_POSITIVE,
     .fallback = "1 rad/s", .example = "1 rad/s",
     .help = "dry friction is smooth below about this speed"},
    {"gain", CFG_QUANTITY, AT(gain), .unit = "N m", .otherwise = "max_torque", .example = "0.2 N m",
     .help = "torque at control 1; negative turns the sense"},
    {"quantum", CFG_QUANTITY, AT(quantum), .limit = CFG_BETWEEN, .min = 0, .max = 1,
     .fallback = "0", .example = "0.001", .help = "step of the control; 0 is continuous"},
    {"delay", CFG_QUANTITY, AT(delay), .unit = "s", .limit = CFG_NOT_NEGATIVE, .fallback = "0",
     .example = "2 ms", .help = "control to torque; whole frames, fewer than 64"},
    {"command", CFG_MAP, AT(command), .required = true, .table = &command_table,
     .example = "command: {link: board, control: 0}", .help = "where its control comes from"},
};
static const struct cfg_table device_variants[] = {
    [CFG_DEVICE_GYRO] = {CFG_KEYS("a gyro", gyro_keys)},
    [CFG_DEVICE_ACCELEROMETER] = {CFG_KEYS("an accelerometer", accelerometer_keys)},
    [CFG_DEVICE_MAGNETOMETER] = {CFG_KEYS("a magnetometer", magnetometer_keys)},
    [CFG_DEVICE_WHEEL] = {CFG_KEYS("a wheel", wheel_keys)},
};
static const struct cfg_key device_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: gyro",
     .help = "by which others refer to it"},
    CFG_TYPE_KEY(device_types, "type: gyro"),
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: bus",
     .help = "what it sits on"},
};
static const struct cfg_table device_table = {
    CFG_KEYS("a device", device_keys), .size = sizeof(struct cfg_keys_device),
    .variant_count = CFG_COUNT(device_variants), .variants = device_variants};
#undef AT

/* ---- links ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_send, member)
#define SEND_KEY(member, hertz, text) \
    {#member, CFG_QUANTITY, AT(member), .unit = "Hz", .limit = CFG_NOT_NEGATIVE, \
     .otherwise = "about " hertz, .example = hertz, .help = text}
static const struct cfg_key send_keys[] = {
    SEND_KEY(sensor, "250 Hz", "instrument readings; each rate divides the frame rate, 0 is never"),
    SEND_KEY(state, "50 Hz", "true motion of the body"),
    SEND_KEY(gps, "10 Hz", "position and velocity"),
    SEND_KEY(heartbeat, "1 Hz", "sign of life"),
    SEND_KEY(time, "1 Hz", "system time"),
};
static const struct cfg_table send_table = {
    CFG_KEYS("send", send_keys), .size = sizeof(struct cfg_keys_send)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_link, member)
static const struct cfg_key link_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: board",
     .help = "by which others refer to it"},
    {"protocol", CFG_CHOICE, AT(protocol), .choices = protocols, .fallback = "mavlink",
     .help = "language on the wire"},
    {"bus", CFG_CHOICE, AT(bus), .choices = buses, .fallback = "udp", .help = "the wire"},
    {"listen", CFG_TEXT, AT(listen), .required = true, .example = "listen: 127.0.0.1:14560",
     .help = "own IPv4 address and port"},
    {"peer", CFG_TEXT, AT(peer), .otherwise = "who speaks first", .example = "127.0.0.1:14561",
     .help = "the board's IPv4 address and port"},
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: bus",
     .help = "whose motion is reported"},
    {"send", CFG_MAP, AT(send), .table = &send_table, .help = "how often each message leaves"},
    {"lost_after", CFG_QUANTITY, AT(lost_after), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-3,
     .max = 3600, .fallback = "500 ms", .example = "500 ms",
     .help = "without a command for this long the link is lost"},
    {"on_loss", CFG_CHOICE, AT(on_loss), .choices = losses, .fallback = "safe",
     .help = "controls to zero and go on, or end the run (exit 3)"},
    {"connect_within", CFG_QUANTITY, AT(connect_within), .unit = "s", .limit = CFG_BETWEEN,
     .min = 0, .max = 3600, .fallback = "10 s", .example = "10 s",
     .help = "longest wait for the board before the first frame"},
    {"wait_limit", CFG_QUANTITY, AT(wait_limit), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-6,
     .max = 3600, .fallback = "1 s", .example = "1 s",
     .help = "lockstep: longest wait for a reply"},
    {"system_id", CFG_INTEGER, AT(system_id), .limit = CFG_BETWEEN, .min = 1, .max = 255,
     .fallback = "1", .example = "1", .help = "MAVLink, own"},
    {"component_id", CFG_INTEGER, AT(component_id), .limit = CFG_BETWEEN, .min = 1, .max = 255,
     .fallback = "200", .example = "200", .help = "MAVLink, own"},
};
static const struct cfg_table link_table = {
    CFG_KEYS("a link", link_keys), .size = sizeof(struct cfg_keys_link)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_controller, member)
static const struct cfg_key controller_keys[] = {
    {"command", CFG_TEXTS, AT(command), .required = true, .size = CFG_ARGUMENT_MAX - 1,
     .example = "command: [board, --connect, 127.0.0.1:14560]", .help = "program and arguments"},
};
static const struct cfg_table controller_table = {
    CFG_KEYS("controller", controller_keys), .size = sizeof(struct cfg_keys_controller)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_pointing, member)
static const struct cfg_key pointing_keys[] = {
    {"body", CFG_NAME, AT(body), .otherwise = "the first body", .example = "bus",
     .help = "the body that is to be pointed"},
    {"target", CFG_ATTITUDE, AT(target), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}",
     .help = "the attitude it should have; attitude_error is measured from it"},
};
static const struct cfg_table pointing_table = {
    CFG_KEYS("pointing", pointing_keys), .size = sizeof(struct cfg_keys_pointing)};
#undef AT

/* ---- the whole ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_scenario, member)
static const struct cfg_key scenario_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: satellite",
     .help = "of the run"},
    {"rate", CFG_QUANTITY, AT(rate), .unit = "Hz", .limit = CFG_BETWEEN, .min = 1, .max = 20000,
     .fallback = "1 kHz", .example = "1 kHz", .help = "frames; the period is whole nanoseconds"},
    {"seconds", CFG_QUANTITY, AT(seconds), .unit = "s", .limit = CFG_BETWEEN, .min = 5e-5,
     .max = 1e7, .fallback = "10 s", .example = "20 s", .help = "simulated time of a run"},
    {"seed", CFG_INTEGER, AT(seed), .limit = CFG_NOT_NEGATIVE, .fallback = "1", .example = "1",
     .help = "of all noise"},
    {"pace", CFG_CHOICE, AT(pace), .choices = paces, .fallback = "real",
     .help = "wall clock, as fast as it goes, or paced by the board"},
    {"commit", CFG_CHOICE, AT(commit), .choices = commits, .otherwise = "grid; early in lockstep",
     .help = "samples leave at the next release, or as soon as they are known"},
    {"overrun", CFG_MAP, AT(overrun), .table = &overrun_table, .help = "when a frame is late"},
    {"require", CFG_CHOICE, AT(require), .choices = requirements, .fallback = "nothing",
     .help = "realtime: a run without real-time guarantees fails (exit 1)"},
    {"frame", CFG_MAP, AT(frame), .table = &frame_table, .help = "the thread that computes"},
    {"io", CFG_MAP, AT(io), .table = &io_table, .help = "the thread that talks"},
    {"integrator", CFG_MAP, AT(integrator), .table = &integrator_table, .help = "of the motion"},
    {"environment", CFG_MAP, AT(environment), .table = &environment_table, .help = "the world"},
    {"bodies", CFG_LIST, AT(bodies), .required = true, .size = CFG_BODY_MAX, .table = &body_table,
     .example = "bodies: [{name: bus, joint: free, mass: 120 kg, inertia: 12 14 10 kg m^2}]",
     .help = "the vehicle, as a tree"},
    {"devices", CFG_LIST, AT(devices), .size = CFG_DEVICE_MAX, .table = &device_table,
     .example = "[{name: gyro, type: gyro, body: bus}]", .help = "instruments and actuators"},
    {"links", CFG_LIST, AT(links), .size = IO_LINK_MAX, .table = &link_table,
     .example = "[{name: board, listen: 127.0.0.1:14560, body: bus}]",
     .help = "boards on the wire"},
    {"controller", CFG_MAP, AT(controller), .table = &controller_table, .otherwise = "none",
     .help = "the board as a process, started with the run"},
    {"pointing", CFG_MAP, AT(pointing), .table = &pointing_table, .help = "what the board is for"},
    {"expect", CFG_TEXTS, AT(expect), .size = CFG_EXPECT_MAX,
     .example = "[attitude_error < 0.1 deg after 15 s]",
     .help = "attitude_error, rate or wheel_speed; < or >; after (from then on) or within (once)"},
    {"log", CFG_MAP, AT(log), .table = &log_table, .help = "what is recorded"},
};
const struct cfg_table cfg_scenario_table = {
    CFG_KEYS("a scenario", scenario_keys), .size = sizeof(struct cfg_keys_scenario)};

const char *cfg_integrator_name(enum dyn_integrator integrator)
{
    return methods[integrator];
}
