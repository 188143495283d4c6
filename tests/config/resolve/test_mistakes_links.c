/*
 * Mistakes in links to boards and people.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
    {"listen: 127.0.0.1:14560", "listen: localhost:14560",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"localhost:14560\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1:70000",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1:70000\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1\""},
    {"listen: 127.0.0.1:14560", "listen: 127.0.0.1:0",
     "62:13: listen wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here "
     "is \"127.0.0.1:0\""},
    {"peer: 127.0.0.1:14561", "peer: 127.0.0.256:14561",
     "63:11: peer wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14560; here is "
     "\"127.0.0.256:14561\""},
    {"    body: bus\n    send", "    body: bux\n    send",
     "64:11: there is no body \"bux\"; did you mean \"bus\"?"},
    {"gps: 5 Hz", "gps: 3 Hz",
     "65:48: gps of 3 Hz does not divide the frame rate of 1000 Hz; the nearest that do are "
     "3.003003 Hz and 2.994012 Hz"},
    {"state: 100 Hz", "state: 1e-7 Hz",
     "65:35: state of 1e-07 Hz comes less than once in a thousand million frames; raise it"},
    {"lost_after: 250 ms", "lost_after: 0",
     "66:17: lost_after must be from 0.001 to 3600 s; here is 0"},
    {"system_id: 9", "system_id: 256",
     "70:16: system_id must be from 1 to 255; here is \"256\""},
    {"controller:", "  - {name: board, listen: 127.0.0.1:1, body: bus}\ncontroller:",
     "72:12: there is already a link \"board\"; choose another name"},
    {"controller:", "  - {name: twin, listen: 127.0.0.1:14560, body: bus}\ncontroller:",
     "72:26: link \"board\" already listens on 127.0.0.1:14560; take another port"},
    {"controller:", "  - {name: a, listen: 127.0.0.1:1, body: bus}\n  - {name: b, listen: "
     "127.0.0.1:2, body: bus}\n  - {name: c, listen: 127.0.0.1:3, body: bus}\n  - {name: d, "
     "listen: 127.0.0.1:4, body: bus}\ncontroller:",
     "59:3: links has 5 entries; it can have 4, remove some"},
};

static const struct part parts[] = {
    {.links = "{name: l, body: a, protocol: mavlin}",
     .complaint = "7:38: protocol cannot be \"mavlin\"; did you mean \"mavlink\"?"},
    {.links = "{name: l, body: a, bus: usb}",
     .complaint = "7:33: bus cannot be \"usb\"; write udp, tcp, serial, can, shared, tape, evdev, spacenav or cockpit"},
    {.links = "{name: l, body: a, protocol: ardupilot, bus: tcp}",
     .complaint = "7:54: ardupilot is spoken over udp only; write bus: udp"},
    {.links = "{name: l, body: a, bus: serial}",
     .complaint = "7:9: a link on bus serial needs \"device\"; write e.g. device: /dev/ttyACM0"},
    {.links = "{name: l, body: a, bus: can}",
     .complaint = "7:9: a link on bus can needs \"device\"; write e.g. device: can0"},
    {.links = "{name: l, body: a, bus: shared}",
     .complaint = "7:9: a link on bus shared needs \"device\"; write e.g. device: /board"},
    {.links = "{name: l, body: a, bus: tape}",
     .complaint = "7:9: a link on bus tape needs \"device\"; write e.g. device: board.tape"},
    {.links = "{name: l, body: a, protocol: px4-hitl}",
     .complaint = "7:9: a link on bus serial needs \"device\"; write e.g. device: /dev/ttyACM0"},
    {.links = "{name: l, body: a, device: d}",
     .complaint = "7:36: device means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, baud: 9600}",
     .complaint = "7:34: baud means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, rs485: true}",
     .complaint = "7:35: rs485 means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_fd: true}",
     .complaint = "7:36: can_fd means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_id: 1}",
     .complaint = "7:36: can_id means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, can_reply_id: 1}",
     .complaint = "7:42: can_reply_id means nothing on bus udp; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: serial, device: d, listen: 127.0.0.1:1}",
     .complaint = "7:60: listen means nothing on bus serial; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: serial, device: d, peer: 127.0.0.1:1}",
     .complaint = "7:58: peer means nothing on bus serial; remove it, or name another bus"},
    {.links = "{name: l, body: a, bus: can, device: d, can_id: 257}",
     .complaint = "7:57: can_id and can_reply_id are both 257; each side wants its own"},
    {.links = "{name: l, body: a, bus: tcp, listen: 127.0.0.1:1, peer: 127.0.0.1:2}",
     .complaint = "7:65: of tcp give listen, to be the server, or peer, to connect there"},
    {.links = "{name: k, body: a, bus: tcp, peer: 127.0.0.1:2}, {name: l, body: a, bus: "
      "tcp, peer: 127.0.0.1:2}",
     .complaint = "7:93: link \"k\" is already on 127.0.0.1:2; take another"},
    {.links = "{name: k, body: a, bus: serial, device: d}, {name: l, body: a, bus: "
      "serial, device: d}",
     .complaint = "7:93: link \"k\" is already on d; take another"},
    {.links = "{name: k, body: a}, {name: l, body: a}",
     .complaint = "7:29: link \"k\" already listens on 127.0.0.1:14560; take another port"},
    {.links = "{name: l, body: a, bus: serial, device: d, baud: 115200}",
     .complaint = "7:58: the messages of this link are 23605 bytes a second and 115200 baud "
      "carry 11520; raise baud to 237000, or lower rates in send"},
    {.links = "{name: l, body: a, bus: serial, device: d, baud: 115200}", .rest = "lock: {link: l}",
     .complaint = "7:58: the messages of this link are 24355 bytes a second and 115200 baud "
      "carry 11520; raise baud to 244000, or lower rates in send"},
    {.links = "{name: l, body: a, protocol: ardupilot, forward: [127.0.0.1:14550]}",
     .complaint = "7:58: ardupilot has no line that ground stations could share; remove it"},
    {.links = "{name: l, body: a, protocol: px4, forward: [14550]}",
     .complaint = "7:52: forward wants an IPv4 address and a port from 1 to 65535, e.g. "
      "127.0.0.1:14560; here is \"14550\""},
    {.links = "{name: l, body: a, protocol: px4, forward: [a, b, c, d, e]}",
     .complaint = "7:52: forward has 5 entries; it can have 4, remove some"},
    {.links = "{name: l, body: a, delay: 2.5 ms}",
     .complaint = "7:35: delay of 0.0025 s is not a multiple of 0.001 s; the nearest are 0.002 s and "
      "0.003 s"},
    {.links = "{name: l, body: a, delay: 11 s}",
     .complaint = "7:35: delay must be from 0 to 10 s; here is 11"},
    {.links = "{name: l, body: a, protocol: hand, axes: [{axis: x, control: 0}]}",
     .complaint = "7:9: a link on bus evdev needs \"device\"; write e.g. device: /dev/input/event0"},
    {.links = "{name: l, body: a, protocol: hand, device: d}",
     .complaint = "7:9: a hand controller needs \"axes\"; write e.g. axes: [{axis: x, control: 0}]"},
    {.links = "{name: l, body: a, protocol: hand, bus: serial, device: d}",
     .complaint = "7:49: a hand controller is on bus evdev, spacenav, cockpit, udp or tape, not on serial"},
    {.links = "{name: l, body: a, bus: cockpit}",
     .complaint = "7:33: on bus cockpit is a hand controller; write protocol: hand"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, device: d, axes: [{axis: x, "
              "control: 0}]}",
     .complaint = "7:66: device means nothing on bus cockpit; remove it, or name another bus"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, listen: '127.0.0.1:1', axes: "
              "[{axis: x, control: 0}]}",
     .complaint = "7:66: listen means nothing on bus cockpit; remove it, or name another bus"},
    {.links = "{name: l, body: a, protocol: hand, bus: cockpit, axes: [{axis: x, control: 0}]}, "
              "{name: m, body: a, protocol: hand, bus: cockpit, axes: [{axis: x, control: 0}]}",
     .complaint = "7:130: link \"l\" is already the cockpit's; take another bus"},
    {.links = "{name: l, body: a, bus: evdev, device: d}",
     .complaint = "7:33: on bus evdev is a hand controller; write protocol: hand"},
    {.links = "{name: l, body: a, axes: [{axis: x, control: 0}]}",
     .complaint = "7:34: protocol mavlink is not a hand controller; remove axes, or take protocol: hand"},
    {.links = "{name: l, body: a, protocol: px4, modes: [1]}",
     .complaint = "7:50: protocol px4 is not a hand controller; remove axes, or take protocol: hand"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 3}, {axis: "
      "y, control: 3}]}",
     .complaint = "7:104: another axis moves control 3 already; take another"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: rudde, control: 3}]}",
     .complaint = "7:69: axis cannot be \"rudde\"; did you mean \"rudder\"?"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 16}]}",
     .complaint = "7:81: control must be from 0 to 15; here is \"16\""},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0, "
      "dead_band: 1}]}",
     .complaint = "7:95: dead_band must be from 0 to 0.9; here is 1"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0, "
      "expo: 1.5}]}",
     .complaint = "7:90: expo must be from 0 to 1; here is 1.5"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0}], "
      "modes: [0.5]}",
     .complaint = "7:93: buttons go by whole numbers, from 0; here is 0.5"},
    {.links = "{name: l, body: a, protocol: hand, device: d, axes: [{axis: x, control: 0}], "
      "modes: [32]}",
     .complaint = "7:94: modes must be from 0 to 31; here is 32"},
    {.links = "{name: l, body: a, sticks: [{at: 0 s}]}",
     .complaint = "7:36: protocol mavlink has no radio input; remove sticks, or take protocol: betaflight"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 2 s}, {at: 1 s}]}",
     .complaint = "7:75: the sticks move at 1 s after they moved at 2 s; sort them"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 0 s}, {at: 4 s}]}",
     .complaint = "7:75: the radio is silent until 5 s, so no stick movement is received at 4 s; "
      "move it, or lower sticks_from"},
    {.links = "{name: l, body: a, protocol: px4, variant: 2026.6}",
     .complaint = "7:52: variant means nothing to px4; remove it, or take protocol: betaflight"},
    {.links = "{name: l, body: a, protocol: px4, sticks_from: 1 s}",
     .complaint = "7:56: sticks_from means nothing to px4; remove it, or take protocol: "
      "betaflight"},
    {.links = "{name: l, body: a, protocol: betaflight, ground: [{at: 1 s, arm: true}]}",
     .complaint = "7:58: protocol betaflight has no ground station; remove ground"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s}]}",
     .complaint = "7:52: a step of the ground station does nothing; give it arm, mode, takeoff, land "
      "or set"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s, arm: true, takeoff: 2 m}]}",
     .complaint = "7:82: a step does one thing, and this one has arm already; make two steps"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 1 s, mode: guided}]}",
     .complaint = "7:68: \"guided\" is not a mode of px4; its modes are manual, altitude, position, offboard, "
      "takeoff, hold, mission, return, land"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, arm: true}, {at: 1 s, arm: "
      "false}]}",
     .complaint = "7:79: this step is at 1 s, after one at 2 s; sort them"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A}]}",
     .complaint = "7:52: set needs \"to\", the value; write e.g. set: MIS_TAKEOFF_ALT, to: 2.5"},
    {.links = "{name: l, body: a, protocol: px4, ground_line: here, ground: [{at: 2 s, arm: true}]}",
     .complaint = "7:56: ground_line wants an IPv4 address and a port from 1 to 65535, e.g. "
      "127.0.0.1:14550; here is \"here\""},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{roll: 1}]}",
     .complaint = "7:59: a stick position needs \"at\" (from when on, simulated time); write e.g. "
      "at: 2 s"},
    {.links = "{name: l, body: a, protocol: betaflight, sticks: [{at: 1 s, throttle: "
      "-1}]}",
     .complaint = "7:79: throttle must be from 0 to 1; here is -1"},
    {.links = "{name: l, body: a, protocol: px4, send: {sun: 1 Hz}}",
     .complaint = "7:55: px4 has no such message; remove it"},
    {.links = "{name: l, body: a, send: {rc: 50 Hz}}",
     .complaint = "7:39: mavlink has no such message; remove it"},
    {.links = "{name: l, body: a, send: {angles: 50 Hz}}",
     .complaint = "7:43: no instrument feeds this message; add one to devices, or remove it"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .links = "{name: l, body: a, send: {star_tracker: 3 Hz}}",
     .complaint = "7:49: star_tracker of 3 Hz does not divide the frame rate of 1000 Hz; the "
      "nearest that do are 3.003003 Hz and 2.994012 Hz"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: '', to: 1}]}",
     .complaint = "7:67: a parameter has a name of 1 to 16 characters; here is \"\""},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A2345678901234567, to: 1}]}",
     .complaint = "7:67: a parameter has a name of 1 to 16 characters; here is "
      "\"A2345678901234567\""},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, arm: true, to: 1}]}",
     .complaint = "7:77: to belongs to set, not to arm"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, land: true, to: 1}]}",
     .complaint = "7:78: to belongs to set, not to land"},
    {.links = "{name: l, body: a, protocol: px4, ground: [{at: 2 s, set: A, to: 1, land: true}]}",
     .complaint = "7:67: a step does one thing, and this one has land already; make two steps"},
    {.links = "{name: l, body: a, protocol: ardupilot, ground: [{at: 1 s, mode: hold}]}",
     .complaint = "7:74: \"hold\" is not a mode of ardupilot; its modes are stabilize, alt_hold, auto, guided, "
      "loiter, rtl, land, brake"},
    {.links = "{name: l, body: a, protocol: betaflight, ground_line: '127.0.0.1:14550'}",
     .complaint = "7:63: protocol betaflight has no ground station; remove ground"},
    {.links = "{name: l, body: a, bus: serial, device: " D127 "d}",
     .complaint = "7:49: device has more than 127 characters; shorten it"},
};
// clang-format on

static void test_every_wrong_edit_of_a_link_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_every_mistake_in_a_link_is_refused_at_its_place(void)
{
    REFUSE_PARTS(parts);
}

static void test_a_link_just_within_its_limits_is_taken(void)
{
    char text[1024];
    static const char *const links[] = {
        "bus: serial, device: " D127,
        "delay: 10 s",
        "protocol: px4, ground: [{at: 2 s, set: A234567890123456, to: 1}]",
        "protocol: px4, ground: [{at: 2 s, arm: true}, {at: 2 s, land: true}]",
        "protocol: betaflight, sticks: [{at: 0 s}, {at: 5 s}, {at: 5 s}]",
        "protocol: hand, device: d, axes: [{axis: x, control: 15, dead_band: 0.9}], modes: [31]"};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "links: [{name: l, body: a, %s}]\n",
                 links[i]);
        expect_good(text);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_wrong_edit_of_a_link_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_a_link_is_refused_at_its_place);
    RUN_TEST(test_a_link_just_within_its_limits_is_taken);
    return UNITY_END();
}
