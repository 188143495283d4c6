#include "config/keys/keys.h"

#include "config/scenario.h"

static const char *const paces[] = {
    [RT_PACE_REAL] = "real", [RT_PACE_FAST] = "fast", [RT_PACE_LOCKSTEP] = "lockstep", NULL};
static const char *const commits[] = {[RT_COMMIT_GRID] = "grid", [RT_COMMIT_EARLY] = "early", NULL};
static const char *const policies[] = {[RT_OVERRUN_SKIP] = "skip",
                                       [RT_OVERRUN_CATCH_UP] = "catch-up",
                                       [RT_OVERRUN_STOP] = "stop",
                                       NULL};
static const char *const machine_needs[] = {"nothing", "realtime", NULL};
static const char *const time_needs[] = {"nothing", "kept", NULL};
static const char *const link_needs[] = {"nothing", "unbroken", NULL};
static const char *const log_needs[] = {"nothing", "complete", NULL};
static const char *const expectation_needs[] = {"nothing", "reached", NULL};
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

static const char *const worlds[] = {[DYN_WORLD_UNIFORM] = "uniform",
                                     [DYN_WORLD_LOCAL] = "local",
                                     [DYN_WORLD_ORBIT] = "orbit",
                                     NULL};
static const char *const answers[] = {"false", "true", NULL};
static const char *const bases[] = {[CFG_URDF_FIXED] = "fixed", [CFG_URDF_FREE] = "free", NULL};

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

#define AT(member) .offset = offsetof(struct cfg_keys_require, member)
static const struct cfg_key require_keys[] = {
    {"machine", CFG_CHOICE, AT(machine), .choices = machine_needs, .fallback = "nothing",
     .help = "realtime: PREEMPT_RT, real-time priority, locked memory, a pinned and isolated core"},
    {"time", CFG_CHOICE, AT(time), .choices = time_needs, .fallback = "nothing",
     .help = "kept: as airbearing timing has it; pace real"},
    {"link", CFG_CHOICE, AT(link), .choices = link_needs, .fallback = "nothing",
     .help = "unbroken: every board commanded, none was lost, every reply came in time"},
    {"log", CFG_CHOICE, AT(log), .choices = log_needs, .fallback = "nothing",
     .help = "complete: there is one, and no record was dropped"},
    {"expectations", CFG_CHOICE, AT(expectations), .choices = expectation_needs,
     .fallback = "nothing", .help = "reached: the run is long enough to judge each of expect"},
};
static const struct cfg_table require_table = {
    CFG_KEYS("require", require_keys), .size = sizeof(struct cfg_keys_require),
    .shorthand = "machine"};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_physics, member)
static const struct cfg_key physics_keys[] = {
    {"max_speed", CFG_QUANTITY, AT(max_speed), .unit = "m/s", .limit = CFG_POSITIVE,
     .fallback = "2997.92458 km/s", .example = "100 m/s",
     .help = "of any body's origin in the world; a hundredth of the speed of light"},
    {"max_energy_growth", CFG_QUANTITY, AT(max_energy_growth), .limit = CFG_BETWEEN, .min = 2,
     .max = 1e300, .fallback = "1e6", .example = "1000",
     .help = "mechanical energy against that at the start and the work done on the vehicle"},
};
static const struct cfg_table physics_table = {
    CFG_KEYS("physics", physics_keys), .size = sizeof(struct cfg_keys_physics)};
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

#define AT(member) .offset = offsetof(struct cfg_keys_log_channel, member)
static const struct cfg_key log_channel_keys[] = {
    {"topic", CFG_TEXT, AT(topic), .required = true, .example = "topic: /device/gyro",
     .help = "/plant, or /device/NAME; the others are always whole"},
    {"every", CFG_INTEGER, AT(every), .limit = CFG_BETWEEN, .min = 1, .max = 1000000,
     .otherwise = "rate", .example = "10", .help = "so many records of it one is written"},
    {"rate", CFG_QUANTITY, AT(rate), .unit = "Hz", .limit = CFG_POSITIVE, .otherwise = "every",
     .example = "50 Hz", .help = "or how often one is"},
};
static const struct cfg_table log_channel_table = {
    CFG_KEYS("a thinned channel", log_channel_keys), .size = sizeof(struct cfg_keys_log_channel)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_trigger, member)
static const struct cfg_key trigger_keys[] = {
    {"when", CFG_TEXTS, AT(when), .required = true, .size = 2, .example = "[overrun, fault]",
     .help = "overrun: a frame is late; fault: one of faults begins"},
    {"before", CFG_QUANTITY, AT(before), .unit = "s", .limit = CFG_BETWEEN, .min = 0, .max = 10,
     .fallback = "1 s", .example = "1 s", .help = "whole from so long before it, simulated time"},
    {"after", CFG_QUANTITY, AT(after), .unit = "s", .limit = CFG_BETWEEN, .min = 0, .max = 1e6,
     .fallback = "1 s", .example = "1 s", .help = "until so long after it"},
};
static const struct cfg_table trigger_table = {
    CFG_KEYS("trigger", trigger_keys), .size = sizeof(struct cfg_keys_trigger)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_log, member)
static const struct cfg_key log_keys[] = {
    {"every", CFG_INTEGER, AT(every), .limit = CFG_BETWEEN, .min = 1, .max = 1000000,
     .fallback = "1", .example = "10", .help = "frames per state record"},
    {"parts", CFG_CHOICE, AT(parts), .choices = answers, .fallback = "false",
     .help = "a hash of every part of the run state by itself, so that a replay names what differs"},
    {"channels", CFG_LIST, AT(channels), .size = SIM_LOG_CHANNEL_MAX, .table = &log_channel_table,
     .example = "[{topic: /plant, rate: 50 Hz}]", .help = "those of which not all is written"},
    {"trigger", CFG_MAP, AT(trigger), .table = &trigger_table, .otherwise = "none",
     .help = "around what they are written whole"},
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
    {"altitude", CFG_QUANTITY, AT(altitude), .unit = "m", .limit = CFG_BETWEEN, .min = -5e3,
     .max = 1e6, .fallback = "488 m", .example = "488 m", .help = "above sea level"},
};
static const struct cfg_table home_table = {
    CFG_KEYS("home", home_keys), .size = sizeof(struct cfg_keys_home)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_gust, member)
static const struct cfg_key gust_keys[] = {
    {"sigma", CFG_VECTOR, AT(sigma), .size = 3, .unit = "m/s", .limit = CFG_NOT_NEGATIVE,
     .fallback = "0 0 0", .example = "1 1 0.5 m/s", .help = "deviation along each world axis"},
    {"time", CFG_VECTOR, AT(time), .size = 3, .unit = "s", .limit = CFG_POSITIVE,
     .fallback = "2 2 2", .example = "2 2 1 s", .help = "over which it forgets"},
};
static const struct cfg_table gust_table = {
    CFG_KEYS("gust", gust_keys), .size = sizeof(struct cfg_keys_gust)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_orbit, member)
static const struct cfg_key orbit_keys[] = {
    {"body", CFG_NAME, AT(body), .otherwise = "the first free body", .example = "bus",
     .help = "the one that flies it; its position and velocity come on top"},
    {"altitude", CFG_QUANTITY, AT(altitude), .unit = "m", .limit = CFG_BETWEEN, .min = 1e3,
     .max = 1e9, .fallback = "500 km", .example = "500 km", .help = "semi-major axis less the Earth's radius"},
    {"eccentricity", CFG_QUANTITY, AT(eccentricity), .limit = CFG_BETWEEN, .min = 0, .max = 0.9,
     .fallback = "0", .example = "0.001", .help = "0 is a circle"},
    {"inclination", CFG_QUANTITY, AT(inclination), .unit = "rad", .limit = CFG_BETWEEN, .min = 0,
     .max = 2 * QUARTER_TURN, .fallback = "97.4 deg", .example = "51.6 deg",
     .help = "to the equator"},
    {"node", CFG_QUANTITY, AT(ascending_node), .unit = "rad", .fallback = "0", .example = "30 deg",
     .help = "right ascension of the ascending node"},
    {"perigee", CFG_QUANTITY, AT(perigee), .unit = "rad", .fallback = "0", .example = "0 deg",
     .help = "its angle from the node"},
    {"anomaly", CFG_QUANTITY, AT(anomaly), .unit = "rad", .fallback = "0", .example = "0 deg",
     .help = "mean, at the start"},
    {"bulge", CFG_CHOICE, AT(bulge), .choices = answers, .fallback = "true",
     .help = "the Earth's oblateness, J2"},
};
static const struct cfg_table orbit_table = {
    CFG_KEYS("orbit", orbit_keys), .size = sizeof(struct cfg_keys_orbit)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_environment, member)
static const struct cfg_key environment_keys[] = {
    {"world", CFG_CHOICE, AT(world), .choices = worlds, .fallback = "uniform",
     .help = "uniform: as said here; local: at home on the Earth; orbit: around it"},
    {"gravity", CFG_VECTOR, AT(gravity), .size = 3, .unit = "m/s^2",
     .otherwise = "0 0 0; local: as at home", .example = "0 0 9.81",
     .help = "world axes: north, east, down"},
    {"magnetic_field", CFG_VECTOR, AT(magnetic_field), .size = 3, .unit = "T",
     .otherwise = "0 0 0; else by the World Magnetic Model", .example = "21.5 1.0 42.7 uT",
     .help = "world axes"},
    {"home", CFG_MAP, AT(home), .table = &home_table,
     .help = "where on Earth the world origin lies, for GPS"},
    {"date", CFG_TEXT, AT(date), .fallback = "2026-06-21T12:00:00Z",
     .example = "2026-06-21T12:00:00Z", .help = "UTC at the start: Sun, Earth's turn, magnetic field"},
    {"wind", CFG_VECTOR, AT(wind), .size = 3, .unit = "m/s", .fallback = "0 0 0",
     .example = "3 0 0 m/s", .help = "how the air moves, world axes"},
    {"gust", CFG_MAP, AT(gust), .table = &gust_table, .help = "on top of the wind"},
    {"air", CFG_CHOICE, AT(air), .choices = answers, .otherwise = "true in a local world",
     .help = "standard atmosphere: drag, thrust of rotors, pressure"},
    {"ground", CFG_QUANTITY, AT(ground), .unit = "m", .otherwise = "none", .example = "0 m",
     .help = "down to flat ground from the world origin, for contact"},
    {"orbit", CFG_MAP, AT(orbit), .table = &orbit_table,
     .help = "orbit: where the vehicle starts; world axes are inertial, from the Earth's centre"},
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
    {"shapes", CFG_LIST, AT(solids), .size = CFG_SOLID_MAX, .table = &cfg_solid_table,
     .otherwise = "the box that has its inertia",
     .example = "[{type: box, size: 1 1 0.5 m, color: gold}]",
     .help = "shapes that viewers draw; the motion does not feel them; []: none"},
};
static const struct cfg_table body_table = {
    CFG_KEYS("a body", body_keys), .size = sizeof(struct cfg_keys_body)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_urdf, member)
static const struct cfg_key urdf_keys[] = {
    {"file", CFG_TEXT, AT(file), .required = true, .example = "file: arm7.urdf",
     .help = "as seen from the scenario's folder; a log carries it"},
    {"base", CFG_CHOICE, AT(base), .choices = bases, .fallback = "fixed",
     .help = "how its root hangs from the parent"},
    {"parent", CFG_NAME, AT(parent), .otherwise = "the world", .example = "bus",
     .help = "the body that carries its root"},
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0",
     .example = "0 0 0.8 m", .help = "its root in the parent's axes; of a free one at the start"},
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}",
     .help = "its axes in the parent's; of a free one at the start"},
};
static const struct cfg_table urdf_table = {
    CFG_KEYS("urdf", urdf_keys), .size = sizeof(struct cfg_keys_urdf), .shorthand = "file"};
#undef AT

/* ---- the whole ---- */

#define AT(member) .offset = offsetof(struct cfg_keys_pointing, member)
static const struct cfg_key pointing_keys[] = {
    {"body", CFG_NAME, AT(body), .otherwise = "the first body", .example = "bus",
     .help = "the body that is to be pointed"},
    {"target", CFG_ATTITUDE, AT(target), .fallback = "1 0 0 0", .example = "{yaw: 90 deg}",
     .help = "the attitude it should have; attitude_error is measured from it"},
    {"position", CFG_VECTOR, AT(position), .size = 3, .unit = "m", .fallback = "0 0 0",
     .example = "0 0 -10 m", .help = "where it should be; position_error is the level way to it"},
};
static const struct cfg_table pointing_table = {
    CFG_KEYS("pointing", pointing_keys), .size = sizeof(struct cfg_keys_pointing)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_tunable, member)
static const struct cfg_key tunable_keys[] = {
    {"of", CFG_TEXT, AT(of), .required = true, .example = "of: devices.gyro.bias",
     .help = "its path, as for --set; of a vector all components, or one: devices.gyro.bias.x"},
    {"low", CFG_TEXT, AT(low), .otherwise = "as for the key", .example = "-1 deg/s",
     .help = "least value that is taken"},
    {"high", CFG_TEXT, AT(high), .otherwise = "as for the key", .example = "1 deg/s",
     .help = "greatest"},
};
static const struct cfg_table tunable_table = {
    CFG_KEYS("tunable", tunable_keys), .size = sizeof(struct cfg_keys_tunable), .shorthand = "of"};
#undef AT

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
    {"require", CFG_MAP, AT(require), .table = &require_table,
     .help = "what must be kept, too: what is not makes the verdict no (exit 1)"},
    {"physics", CFG_MAP, AT(physics), .table = &physics_table,
     .help = "beyond these the motion is not sound (exit 1)"},
    {"frame", CFG_MAP, AT(frame), .table = &frame_table, .help = "the thread that computes"},
    {"io", CFG_MAP, AT(io), .table = &io_table, .help = "the thread that talks"},
    {"integrator", CFG_MAP, AT(integrator), .table = &integrator_table, .help = "of the motion"},
    {"environment", CFG_MAP, AT(environment), .table = &environment_table, .help = "the world"},
    {"urdf", CFG_MAP, AT(urdf), .table = &urdf_table, .otherwise = "none",
     .help = "a robot; its links are bodies"},
    {"joints", CFG_LIST, AT(joints), .size = CFG_BODY_MAX, .table = &cfg_urdf_joint_table,
     .example = "[{name: elbow, angle: 30 deg, friction: 0.2 N m}]",
     .help = "what the URDF does not say of its joints"},
    {"bodies", CFG_LIST, AT(bodies), .required = true, .unless = "urdf", .size = CFG_BODY_MAX, .table = &body_table,
     .example = "bodies: [{name: bus, joint: free, mass: 120 kg, inertia: 12 14 10 kg m^2}]",
     .help = "the vehicle, as a tree"},
    {"devices", CFG_LIST, AT(devices), .size = SIM_DEVICE_MAX, .table = &cfg_device_table,
     .example = "[{name: gyro, type: gyro, body: bus}]", .help = "instruments and actuators"},
    {"links", CFG_LIST, AT(links), .size = IO_LINK_MAX, .table = &cfg_link_table,
     .example = "[{name: board, listen: 127.0.0.1:14560, body: bus}]",
     .help = "boards on the wire"},
    {"arm", CFG_MAP, AT(arm), .table = &cfg_arm_table, .otherwise = "none",
     .help = "an arm that a person flies"},
    {"payloads", CFG_LIST, AT(payloads), .size = SIM_PAYLOAD_MAX, .table = &cfg_payload_table,
     .example = "[{body: satellite, speed: 10 %}]", .help = "what the arm can carry"},
    {"controller", CFG_MAP, AT(controller), .table = &cfg_controller_table, .otherwise = "none",
     .help = "the board as a process, started with the run"},
    {"lock", CFG_MAP, AT(lock), .table = &cfg_lock_table, .otherwise = "none",
     .help = "frames follow the board's clock"},
    {"pulse", CFG_MAP, AT(pulse), .table = &cfg_pulse_table, .otherwise = "none",
     .help = "on the frame grid, for airbearing stopwatch"},
    {"predictor", CFG_MAP, AT(predictor), .table = &cfg_predictor_table, .otherwise = "none",
     .help = "predicted state ahead of time, for an operator on a delayed link"},
    {"pointing", CFG_MAP, AT(pointing), .table = &pointing_table, .help = "what the board is for"},
    {"faults", CFG_LIST, AT(faults), .size = SIM_FAULT_MAX, .table = &cfg_fault_table,
     .example = "[{device: gyro, type: bias, at: 5 s, for: 2 s, value: 1 deg/s}]",
     .help = "what goes wrong, and when"},
    {"tunable", CFG_LIST, AT(tunable), .size = SIM_PARAMETER_MAX, .table = &tunable_table,
     .example = "[devices.gyro.bias, {of: environment.wind, low: -20 m/s, high: 20 m/s}]",
     .help = "what the operator may change while the run goes on"},
    {"expect", CFG_TEXTS, AT(expect), .size = SIM_EXPECTATION_MAX,
     .example = "[attitude_error < 0.1 deg after 15 s]",
     .help = "a signal; < or >; a limit; after (from then on) or within (once) a time"},
    {"log", CFG_MAP, AT(log), .table = &log_table, .help = "what is recorded"},
    {"cameras", CFG_LIST, AT(cameras), .size = CFG_CAMERA_MAX, .table = &cfg_camera_table,
     .example = "[{name: elbow, body: boom, at: 0 0 0.5 m, look: 1 0 0}]",
     .help = "viewpoints for viewers; the motion does not feel them"},
};
const struct cfg_table cfg_scenario_table = {
    CFG_KEYS("a scenario", scenario_keys), .size = sizeof(struct cfg_keys_scenario)};

const char *cfg_integrator_name(enum dyn_integrator integrator)
{
    return methods[integrator];
}
