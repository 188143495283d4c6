/*
 * The keys of links, of the controller on the other end, of the predictor and of faults.
 *
 * Tested by tests/config/resolve/test_links.c.
 */
#include "config/keys/keys.h"

#include "config/scenario.h"

/* The kernel's ABS_ codes, in their order; those between brake and the hats have no use. */
static const char *const axes[IO_HAND_AXIS_COUNT + 1] = {
    "x",     "y",     "z",     "rx",     "ry",     "rz",     "throttle", "rudder",
    "wheel", "gas",   "brake", "axis11", "axis12", "axis13", "axis14",   "axis15",
    "hat0x", "hat0y", "hat1x", "hat1y",  "hat2x",  "hat2y",  "hat3x",    "hat3y"};
static const char *const variants[] = {
    [IO_BETAFLIGHT_4_5] = "4.5", [IO_BETAFLIGHT_2026_6] = "2026.6", NULL};
static const char *const losses[] = {"safe", "stop", NULL};
static const char *const answers[] = {"false", "true", NULL};
static const char *const onlys[] = {"true", NULL};
static const char *const policies[] = {"other", "fifo", NULL};
static const char *const fault_types[] = {
    [IO_FAULT_STUCK] = "stuck",       [IO_FAULT_BIAS] = "bias",
    [IO_FAULT_DRIFT] = "drift",       [IO_FAULT_NOISE] = "noise",
    [IO_FAULT_DROPOUT] = "dropout",   [IO_FAULT_DELAY] = "delay",
    [IO_FAULT_BIT_FLIP] = "bit_flip", [IO_FAULT_CRC] = "crc",
    [IO_FAULT_LOSS] = "loss",         NULL};
static const char *const occasions[] = {"time", "operator", NULL};
static const char *const ways[] = {
    [SIM_DIRECTION_BOTH] = "both", [SIM_DIRECTION_OUT] = "out", [SIM_DIRECTION_IN] = "in", NULL};

// clang-format off

#define SEND_KEY(message, key, job, text) \
    {key, CFG_QUANTITY, .offset = offsetof(struct cfg_keys_send, rate[IO_MESSAGE_##message]), \
     .unit = "Hz", .limit = CFG_NOT_NEGATIVE, .otherwise = "as the protocol has it", \
     .example = "50 Hz", .help = text},
static const struct cfg_key send_keys[] = {
    IO_MESSAGE_LIST(SEND_KEY)
};
static const struct cfg_table send_table = {
    CFG_KEYS("send", send_keys), .size = sizeof(struct cfg_keys_send)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_stick, member)
#define STICK_KEY(member, least, start) \
    {#member, CFG_QUANTITY, AT(member), .limit = CFG_BETWEEN, .min = least, .max = 1, \
     .fallback = start, .example = "0.2", .help = "stick, full way is 1"}
static const struct cfg_key stick_keys[] = {
    {"at", CFG_QUANTITY, AT(at), .required = true, .unit = "s", .limit = CFG_NOT_NEGATIVE,
     .example = "at: 2 s", .help = "from when on, simulated time"},
    STICK_KEY(roll, -1, "0"), STICK_KEY(pitch, -1, "0"), STICK_KEY(yaw, -1, "0"),
    STICK_KEY(throttle, 0, "0"),
    {"height", CFG_QUANTITY, AT(height), .unit = "m", .limit = CFG_NOT_NEGATIVE, .otherwise = "none",
     .example = "2 m", .help = "above the ground, which the pilot holds with the throttle around "
                               "the one given"},
    {"switches", CFG_NUMBERS, AT(switches), .size = IO_RC_MAX - 4, .limit = CFG_BETWEEN, .min = 0,
     .max = 1, .otherwise = "0", .example = "[1, 0]", .help = "channels from 5 on, 0 to 1"},
};
static const struct cfg_table stick_table = {
    CFG_KEYS("a stick position", stick_keys), .size = sizeof(struct cfg_keys_stick)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_ground, member)
static const struct cfg_key ground_keys[] = {
    {"at", CFG_QUANTITY, AT(at), .required = true, .unit = "s", .limit = CFG_BETWEEN, .min = 0,
     .max = 1e7, .example = "at: 20 s", .help = "when it is said first, simulated time"},
    {"arm", CFG_CHOICE, AT(arm), .choices = answers, .otherwise = "not this",
     .help = "arm the motors; false: disarm"},
    {"mode", CFG_TEXT, AT(mode), .otherwise = "not this", .example = "guided",
     .help = "flight mode, by the firmware's name"},
    {"takeoff", CFG_QUANTITY, AT(takeoff), .unit = "m", .limit = CFG_POSITIVE,
     .otherwise = "not this", .example = "2.5 m", .help = "height above home"},
    {"land", CFG_CHOICE, AT(land), .choices = onlys, .otherwise = "not this",
     .help = "where it is"},
    {"set", CFG_TEXT, AT(set), .otherwise = "not this", .example = "MIS_TAKEOFF_ALT",
     .help = "a parameter of the firmware"},
    {"to", CFG_QUANTITY, AT(to), .otherwise = "none", .example = "2.5", .help = "its value"},
    {"within", CFG_QUANTITY, AT(within), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-3,
     .max = 3600, .fallback = "30 s", .example = "30 s",
     .help = "it is said again every second until it is accepted, and for this long"},
};
static const struct cfg_table ground_table = {
    CFG_KEYS("a step of the ground station", ground_keys), .size = sizeof(struct cfg_keys_ground)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_hand_axis, member)
static const struct cfg_key way_keys[] = {
    {"axis", CFG_CHOICE, AT(axis), .required = true, .choices = axes, .example = "axis: x",
     .help = "by the kernel's name; `evtest` shows which is which"},
    {"control", CFG_INTEGER, AT(control), .required = true, .limit = CFG_BETWEEN, .min = 0,
     .max = IO_CONTROL_MAX - 1, .example = "control: 0", .help = "that it moves"},
    {"dead_band", CFG_QUANTITY, AT(dead_band), .limit = CFG_BETWEEN, .min = 0, .max = 0.9,
     .fallback = "5 %", .example = "5 %", .help = "share of the way that means nothing"},
    {"expo", CFG_QUANTITY, AT(expo), .limit = CFG_BETWEEN, .min = 0, .max = 1, .fallback = "0",
     .example = "0.3", .help = "0 is straight, 1 the cube: fine near the centre"},
    {"scale", CFG_QUANTITY, AT(scale), .limit = CFG_BETWEEN, .min = 0, .max = 1000,
     .fallback = "1", .example = "0.5", .help = "the control at full deflection"},
    {"invert", CFG_CHOICE, AT(invert), .choices = answers, .fallback = "false",
     .help = "the other way round"},
};
static const struct cfg_table way_table = {
    CFG_KEYS("an axis", way_keys), .size = sizeof(struct cfg_keys_hand_axis)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_link, member)
static const struct cfg_key link_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: board",
     .help = "by which others refer to it"},
    {"protocol", CFG_CHOICE, AT(protocol), .choices = io_protocol_names, .fallback = "mavlink",
     .help = "language on the wire"},
    {"variant", CFG_CHOICE, AT(variant), .choices = variants, .otherwise = "4.5",
     .help = "betaflight: packet format; 4.5 is that of 4.x and 2025.12, 2026.6 has another"},
    {"bus", CFG_CHOICE, AT(bus), .choices = io_bus_names, .otherwise = "udp; px4: tcp; px4-hitl: serial; hand: evdev",
     .help = "the wire; cockpit: a hand at the page of run --serve"},
    {"listen", CFG_TEXT, AT(listen), .otherwise = "as the protocol has it",
     .example = "127.0.0.1:14560", .help = "udp and tcp: own IPv4 address and port"},
    {"peer", CFG_TEXT, AT(peer), .otherwise = "whoever sends first", .example = "127.0.0.1:14561",
     .help = "the board's IPv4 address and port; tcp: connect there"},
    {"device", CFG_TEXT, AT(device), .otherwise = "none", .example = "/dev/ttyACM0",
     .help = "serial: the port; can: the interface; shared: a name; tape: a file; evdev: "
             "/dev/input/eventN or name:NAME; spacenav: its socket"},
    {"baud", CFG_INTEGER, AT(baud), .limit = CFG_BETWEEN, .min = 50, .max = 20000000,
     .fallback = "921600", .example = "921600", .help = "serial: any rate that the port can do"},
    {"rs485", CFG_CHOICE, AT(rs485), .choices = answers, .fallback = "false",
     .help = "serial: the driver switches the direction"},
    {"can_fd", CFG_CHOICE, AT(can_fd), .choices = answers, .fallback = "false",
     .help = "can: frames of 64 bytes"},
    {"can_id", CFG_INTEGER, AT(can_id), .limit = CFG_BETWEEN, .min = 0, .max = 0x7ff,
     .fallback = "256", .example = "256", .help = "can: of what is sent"},
    {"can_reply_id", CFG_INTEGER, AT(can_reply_id), .limit = CFG_BETWEEN, .min = 0, .max = 0x7ff,
     .fallback = "257", .example = "257", .help = "can: of what the board sends"},
    {"body", CFG_NAME, AT(body), .required = true, .example = "body: bus",
     .help = "whose motion is reported"},
    {"send", CFG_MAP, AT(send), .table = &send_table, .help = "how often each message leaves"},
    {"forward", CFG_TEXTS, AT(forward), .size = IO_LINK_GROUND_MAX, .otherwise = "none",
     .example = "[127.0.0.1:14550, 127.0.0.1:14540]",
     .help = "MAVLink: ground stations that share the board's line"},
    {"sticks", CFG_LIST, AT(sticks), .size = IO_RC_SCRIPT_STEP_MAX, .table = &stick_table,
     .otherwise = "centred, no throttle", .example = "[{at: 2 s, throttle: 0.5, switches: [1]}]",
     .help = "betaflight: what the pilot does"},
    {"sticks_from", CFG_QUANTITY, AT(sticks_from), .unit = "s", .limit = CFG_BETWEEN, .min = 0,
     .max = 3600, .otherwise = "5 s", .example = "5 s",
     .help = "betaflight: when the radio is switched on; one that it hears while it boots it "
             "takes for lost"},
    {"ground", CFG_LIST, AT(ground), .size = IO_GROUND_STEP_MAX, .table = &ground_table,
     .otherwise = "none", .example = "[{at: 20 s, takeoff: 2.5 m}, {at: 21 s, arm: true}]",
     .help = "MAVLink and ardupilot: a ground station's commands, one after the other"},
    {"ground_line", CFG_TEXT, AT(ground_line),
     .otherwise = "px4, ardupilot: 127.0.0.1:14550; others: the board's own line",
     .example = "127.0.0.1:14550", .help = "UDP, where the firmware looks for its ground station"},
    {"axes", CFG_LIST, AT(axes), .size = IO_CONTROL_MAX, .table = &way_table, .otherwise = "none",
     .example = "[{axis: x, control: 0}]", .help = "hand: which axis moves which control"},
    {"modes", CFG_NUMBERS, AT(modes), .size = IO_HAND_MODE_MAX, .limit = CFG_BETWEEN, .min = 0,
     .max = IO_HAND_BUTTON_COUNT - 1, .otherwise = "none", .example = "[0, 1]",
     .help = "hand: buttons, from 0, that select mode 0, 1, ..."},
    {"lost_after", CFG_QUANTITY, AT(lost_after), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-3,
     .max = 3600, .fallback = "500 ms", .example = "500 ms",
     .help = "without a command for this long the link is lost; a hand on evdev, "
             "spacenav or tape: with its device"},
    {"delay", CFG_QUANTITY, AT(delay), .unit = "s", .limit = CFG_BETWEEN, .min = 0,
     .max = CFG_LINK_DELAY_MAX, .fallback = "0", .example = "2 s",
     .help = "so much later what comes in reaches the vehicle, on purpose; whole frames, pace real"},
    {"on_loss", CFG_CHOICE, AT(on_loss), .choices = losses, .fallback = "safe",
     .help = "controls to zero and go on, or end the run (exit 3)"},
    {"connect_within", CFG_QUANTITY, AT(connect_within), .unit = "s", .limit = CFG_BETWEEN,
     .min = 0, .max = 3600, .fallback = "10 s", .example = "10 s",
     .help = "longest wait for the board before the first frame"},
    {"wait_limit", CFG_QUANTITY, AT(wait_limit), .unit = "s", .limit = CFG_BETWEEN, .min = 1e-6,
     .max = 3600, .otherwise = "1 s; ardupilot: 1 min", .example = "1 s",
     .help = "lockstep: longest wait for a reply"},
    {"system_id", CFG_INTEGER, AT(system_id), .limit = CFG_BETWEEN, .min = 1, .max = 255,
     .fallback = "1", .example = "1", .help = "MAVLink, own"},
    {"component_id", CFG_INTEGER, AT(component_id), .limit = CFG_BETWEEN, .min = 1, .max = 255,
     .fallback = "200", .example = "200", .help = "MAVLink, own"},
};
const struct cfg_table cfg_link_table = {
    CFG_KEYS("a link", link_keys), .size = sizeof(struct cfg_keys_link)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_controller, member)
static const struct cfg_key controller_keys[] = {
    {"command", CFG_TEXTS, AT(command), .required = true, .size = CFG_ARGUMENT_MAX - 1,
     .example = "command: [board, --connect, 127.0.0.1:14560]", .help = "program and arguments"},
    {"cpu", CFG_INTEGER, AT(cpu), .limit = CFG_BETWEEN, .min = 0, .max = 1023, .word = "auto",
     .fallback = "auto", .example = "3", .help = "core of the controller process; auto: the housekeeping core"},
    {"policy", CFG_CHOICE, AT(policy), .choices = policies, .fallback = "other",
     .help = "fifo: with real-time priority, below the run's own threads"},
    {"priority", CFG_INTEGER, AT(priority), .limit = CFG_BETWEEN, .min = 1, .max = 98,
     .fallback = "40", .example = "40", .help = "fifo: its priority"},
};
const struct cfg_table cfg_controller_table = {
    CFG_KEYS("controller", controller_keys), .size = sizeof(struct cfg_keys_controller)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_predictor, member)
static const struct cfg_key predictor_keys[] = {
    {"rate", CFG_QUANTITY, AT(rate), .unit = "Hz", .limit = CFG_POSITIVE, .fallback = "10 Hz",
     .example = "10 Hz", .help = "predictions; divides the frame rate"},
    {"ahead", CFG_QUANTITY, AT(ahead), .unit = "s", .limit = CFG_POSITIVE,
     .otherwise = "the longest delay of links", .example = "2 s",
     .help = "how far it runs; whole frames, at most 60 s"},
};
const struct cfg_table cfg_predictor_table = {
    CFG_KEYS("predictor", predictor_keys), .size = sizeof(struct cfg_keys_predictor)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_fault, member)
static const struct cfg_key fault_keys[] = {
    {"name", CFG_NAME, AT(name), .otherwise = "what it is, as \"bias of gyro\"", .example = "drifter",
     .help = "by which the operator calls it"},
    {"device", CFG_NAME, AT(device), .otherwise = "none", .example = "gyro",
     .help = "whose signal it hits: an instrument's reading, an actuator's command"},
    {"link", CFG_NAME, AT(link), .otherwise = "none", .example = "board",
     .help = "or the link whose messages are hit"},
    {"type", CFG_CHOICE, AT(type), .required = true, .choices = fault_types,
     .example = "type: bias", .help = "a link knows dropout, delay, bit_flip, crc and loss"},
    {"way", CFG_CHOICE, AT(way), .choices = ways, .fallback = "both",
     .help = "of a link: to the board, from it, or both"},
    {"when", CFG_CHOICE, AT(when), .choices = occasions, .fallback = "time",
     .help = "operator: it waits until he begins it, and needs neither at nor frame"},
    {"at", CFG_QUANTITY, AT(at), .unit = "s", .limit = CFG_BETWEEN, .min = 0, .max = 1e7,
     .otherwise = "frame",
     .example = "5 s", .help = "when it begins, simulated time"},
    {"frame", CFG_INTEGER, AT(frame), .limit = CFG_NOT_NEGATIVE, .word = "none",
     .fallback = "none", .example = "5000", .help = "or in which frame"},
    {"for", CFG_QUANTITY, AT(duration), .unit = "s", .limit = CFG_BETWEEN, .min = 5e-5, .max = 1e7,
     .otherwise = "to the end", .example = "2 s", .help = "how long it lasts"},
    {"axes", CFG_NUMBERS, AT(axes), .size = 4, .limit = CFG_BETWEEN, .min = 0, .max = 3,
     .otherwise = "all", .example = "[0]", .help = "which components of the signal, from 0"},
    {"value", CFG_TEXT, AT(value), .otherwise = "as the type has it", .example = "1 deg/s",
     .help = "bias, drift (a second), deviation of noise; chance of dropout, bit_flip, crc; delay"},
};
const struct cfg_table cfg_fault_table = {
    CFG_KEYS("a fault", fault_keys), .size = sizeof(struct cfg_keys_fault)};
#undef AT
// clang-format on

const char *cfg_protocol_name(enum io_protocol_kind protocol)
{
    return io_protocol_name(protocol);
}

const char *cfg_variant_name(enum io_betaflight_variant variant)
{
    return variants[variant];
}

const char *cfg_axis_name(int axis)
{
    return axes[axis];
}

const char *cfg_bus_name(enum io_bus_kind bus)
{
    return io_bus_names[bus];
}

const char *cfg_fault_name(enum io_fault_kind kind)
{
    return fault_types[kind];
}
