/*
 * Mistakes in how a run goes and what it must show: rates, threads, clocks, controller, log and
 * expectations.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
    /* frames and threads */
    {"rate: 1 kHz", "rate: 50 kHz",
     "2:7: rate must be from 0.001 to 20 kHz; here is 50"},
    {"rate: 1 kHz", "rate: 0.5 Hz",
     "2:7: rate must be from 1 to 20000 Hz; here is 0.5"},
    {"rate: 1 kHz", "rate: 300 Hz",
     "2:7: rate of 300 Hz has a period of 3333333.333 ns, and the grid counts whole ones; the "
     "nearest round rates are 256 Hz and 320 Hz"},
    {"rate: 1 kHz", "rate: 1 ms",
     "2:7: rate wants Hz, not ms"},
    {"seconds: 20 s", "seconds: 0",
     "3:10: seconds must be from 5e-05 to 10000000 s; here is 0"},
    {"seconds: 20 s", "seconds: 0.1 ms",
     "3:10: seconds of 0.0001 s is not even one frame of 0.001 s; make it longer"},
    {"seconds: 20 s", "seconds: 20 Hz",
     "3:10: seconds wants s, not Hz"},
    {"max_catch_up: 5", "max_catch_up: 0",
     "7:43: max_catch_up must be from 1 to 1000000; here is \"0\""},
    {"priority: 91", "priority: 99",
     "9:27: priority must be from 1 to 98; here is \"99\""},
    {"priority: 81", "priority: 91",
     "9:27: the frame thread's priority (91) must be above the I/O thread's (91); raise one or "
     "lower the other"},
    {"cpu: 3", "cpu: 2",
     "10:27: the frame and I/O threads are both on core 2; give them two cores, or io: inline"},
    {"cpu: 3", "cpu: any",
     "10:27: cpu wants a whole number or auto, e.g. 3; here is \"any\""},
    {"lead: 80 us", "lead: 500 us",
     "9:50: lead of 0.0005 s is not below half a period, 0.0005 s; shorten it or write auto"},
    {"watchdog: 250 ms", "watchdog: 1 ms",
     "9:67: watchdog of 0.001 s would bark at healthy frames; give it at least two periods, 0.002 "
     "s"},
    {"substeps: 4", "substeps: 0",
     "11:53: substeps must be from 1 to 1000; here is \"0\""},
    /* the log */
    {"log: {every: 10}", "log: {every: 99991}",
     "77:14: every makes the rates repeat together only after more than 1048576 frames; take a "
     "rate that divides, or is divided by, the others"},
    {"log: {every: 10}", "log: {every: 0}",
     "77:14: every must be from 1 to 1000000; here is \"0\""},
    {"log: {every: 10}", "log: {channels: [{topic: /device/giro, every: 10}]}",
     "77:26: \"/device/giro\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can; did you mean \"/device/gyro\"?"},
    {"log: {every: 10}", "log: {channels: [{topic: /plan, every: 10}]}",
     "77:26: \"/plan\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can; did you mean \"/plant\"?"},
    {"log: {every: 10}", "log: {channels: [{topic: /frame, every: 10}]}",
     "77:26: \"/frame\" cannot be thinned; only /plant and /device/NAME of instruments and "
     "commanded devices can"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant}]}",
     "77:18: a thinned channel wants every or rate, one of them; e.g. every: 10"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2, rate: 1 Hz}]}",
     "77:18: a thinned channel wants every or rate, one of them; e.g. every: 10"},
    {"log: {every: 10}", "log: {every: 10, channels: [{topic: /plant, rate: 40 Hz}]}",
     "77:51: rate of 40 Hz does not divide the 100 Hz at which /plant comes; take one that does, or "
     "every"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, rate: 2 kHz}]}",
     "77:40: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the scenario's "
     "rate"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}, {topic: /plant, every: 3}]}",
     "77:53: \"/plant\" is thinned twice; remove one"},
    {"log: {every: 10}", "log: {trigger: {when: [fault]}}",
     "77:16: no channel is thinned, so all is whole without a trigger; add channels or remove it"},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}], trigger: {when: [late]}}",
     "77:62: a trigger is overrun or fault; here is \"late\""},
    {"log: {every: 10}", "log: {channels: [{topic: /plant, every: 2}], trigger: {before: 1 s}}",
     "77:55: trigger needs \"when\" (overrun: a frame is late; fault: one of faults begins); write "
     "e.g. [overrun, fault]"},
    /* what a run must show */
    {"pointing: {body: panel", "pointing: {body: pannel",
     "73:18: there is no body \"pannel\"; did you mean \"panel\"?"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error below 0.1 deg after 15 s",
     "75:5: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and within); "
     "here is \"attitude_error below 0.1 deg after 15 s\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg",
     "75:5: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and within); "
     "here is \"attitude_error < 0.1 deg\""},
    {"attitude_error < 0.1 deg after 15 s", "atitude_error < 0.1 deg after 15 s",
     "75:5: nothing is called \"atitude_error\"; did you mean \"attitude_error\"?"},
    {"attitude_error < 0.1 deg after 15 s", "temperature < 0.1 deg after 15 s",
     "75:5: nothing is called \"temperature\"; there are attitude_error, rate, wheel_speed, "
     "altitude, speed, position_error and tilt"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 m after 15 s",
     "75:5: attitude_error wants rad, not m"},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < little after 15 s",
     "75:5: attitude_error wants a number in rad, e.g. 0.1 deg; here is \"little\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg after lunch",
     "75:5: after wants a number in s, e.g. 15 s; here is \"lunch\""},
    {"attitude_error < 0.1 deg after 15 s", "attitude_error < 0.1 deg after 20 s",
     "75:5: the run ends at 20 s, so nothing is tested after 20 s; raise seconds or take an "
     "earlier time"},
    {"within 500 ms", "within 21 s",
     "76:5: the run ends at 20 s, so nothing is tested up to 21 s; raise seconds or take an "
     "earlier time"},
};

static const struct part parts[] = {
    /* the predictor */
    {.rest = "predictor: {rate: 10 Hz}",
     .complaint = "8:12: no link is late, so there is nothing to run ahead of; give a link a delay, "
      "or say how far, e.g. ahead: 2 s"},
    {.rest = "predictor: {ahead: 2 s, rate: 30 Hz}",
     .complaint = "8:31: rate of 30 Hz does not divide the frame rate of 1000 Hz; the nearest that do "
      "are 30.30303 Hz and 29.41176 Hz"},
    {.rest = "predictor: {ahead: 2 s, rate: 2 kHz}",
     .complaint = "8:31: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the "
      "scenario's rate"},
    {.rest = "predictor: {ahead: 61 s}",
     .complaint = "8:20: ahead of 61 s is too long; at most 60 s"},
    {.rest = "predictor: {ahead: 0.1 ms}",
     .complaint = "8:20: ahead of 0.0001 s is not a multiple of 0.001 s; the nearest are 0 s and "
      "0.001 s"},
    /* the controller */
    {.rest = "controller: {cpu: 3}",
     .complaint = "8:13: controller needs \"command\" (program and arguments); write e.g. "
      "command: [board, --connect, 127.0.0.1:14560]"},
    {.rest = "controller: {command: [b], policy: rr}",
     .complaint = "8:36: policy cannot be \"rr\"; write other or fifo"},
    {.rest = "controller: {command: [b], priority: 10}",
     .complaint = "8:38: priority goes with policy: fifo; write that, or remove it"},
    {.rest = "controller: {command: [b], policy: fifo, priority: 80}",
     .complaint = "8:52: the controller's priority (80) must be below the I/O thread's (80); "
      "lower it"},
    {.rest = "io: inline\ncontroller: {command: [b], policy: fifo, priority: 90}",
     .complaint = "9:52: the controller's priority (90) must be below the frame thread's (90); "
      "lower it"},
    /* the sync pulse */
    {.rest = "pulse: {device: " D127 "d}",
     .complaint = "8:17: device is longer than 127 characters; give a shorter path"},
    {.rest = "pulse: {every: 10}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
      "127.0.0.1:14600"},
    {.rest = "pulse: {to: '127.0.0.1:1', device: d}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
      "127.0.0.1:14600"},
    {.rest = "pulse: {to: here}",
     .complaint = "8:13: to wants an IPv4 address and a port from 1 to 65535, e.g. 127.0.0.1:14600; "
      "here is \"here\""},
    {.rest = "pulse: {to: '127.0.0.1:1', baud: 9600}",
     .complaint = "8:34: baud means nothing on UDP; remove it, or give device instead of to"},
    {.rest = "pulse: {every: 10}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
                  "127.0.0.1:14600"},
    {.rest = "pulse: {to: 127.0.0.1:14600, device: /dev/ttyS0}",
     .complaint = "8:8: a pulse goes to an address or to a device; give one of them, e.g. to: "
                  "127.0.0.1:14600"},
    {.rest = "pulse: {to: localhost}",
     .complaint = "8:13: to wants an IPv4 address and a port from 1 to 65535, e.g. "
                  "127.0.0.1:14600; here is \"localhost\""},
    {.rest = "pulse: {to: 127.0.0.1:14600, baud: 9600}",
     .complaint = "8:36: baud means nothing on UDP; remove it, or give device instead of to"},
    {.rest = "pulse: {to: 127.0.0.1:14600, every: 0}",
     .complaint = "8:37: every must be from 1 to 1000000; here is \"0\""},
    /* expectations */
    {.rest = "expect: [wheel_speed < 5 rad/s after 1 s]",
     .complaint = "8:10: there is no wheel whose speed could be tested; add one or remove the line"},
    {.rest = "expect: [rate < 5 rad/s after 1 s within 2 s]",
     .complaint = "8:10: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and "
      "within); here is \"rate < 5 rad/s after 1 s within 2 s\""},
    {.rest = "expect: [rate after 1 s < 2]",
     .complaint = "8:10: an expectation looks like \"attitude_error < 0.1 deg after 15 s\" (or > and "
      "within); here is \"rate after 1 s < 2\""},
    {.rest = "expect: [rate < 5 rad/s within 0 s]",
     .complaint = "8:10: within must be above 0 s; here is 0"},
    {.rest = "expect: [rate < -1 rad/s after 0 s]",
     .complaint = "8:10: rate must be 0 rad/s or more; here is -1"},
    {.rest = "expect: [tilt < 1 deg after -1 s]",
     .complaint = "8:10: after must be 0 s or more; here is -1"},
    {.rest = "expect: [speed < 1 deg after 1 s]", .complaint = "8:10: speed wants m/s, not deg"},
    {.rest = "expect: [altitude < 1 deg after 1 s]", .complaint = "8:10: altitude wants m, not deg"},
    {.rest = "expect: [position_error < 1 s after 1 s]",
     .complaint = "8:10: position_error wants m, not s"},
    {.rest = "expect: [tilt < 1 m after 1 s]", .complaint = "8:10: tilt wants rad, not m"},
    {.rest = "expect: [altitude < 1 rad after 1 s]",
     .complaint = "8:10: altitude wants m, not rad"},
    {.rest = "expect: [tilt < -1 deg after 1 s]",
     .complaint = "8:10: tilt must be 0 deg or more; here is -1"},
    {.rest = "expect: [hight > 1 m after 1 s]",
     .complaint = "8:10: nothing is called \"hight\"; there are attitude_error, rate, "
      "wheel_speed, altitude, speed, position_error and tilt"},
    /* clocks */
    {.rest = "lock: {source: timesync}",
     .complaint = "8:7: lock needs \"link\" (whose clock the frames follow; pace real); write e.g. "
                  "link: board"},
    {.rest = "lock: {link: k}",
     .complaint = "8:14: there is no link \"k\"; add it under links"},
    {.rest = "lock: {link: l, source: gps}",
     .complaint = "8:25: source cannot be \"gps\"; write timesync or arrival"},
    {.rest = "lock: {link: l, limit_ppm: 0}",
     .complaint = "8:28: limit_ppm must be from 1 to 10000; here is 0"},
    {.rest = "lock: {link: l, time_constant: 1 ms}",
     .complaint = "8:32: time_constant must be from 100 to 600000 ms; here is 1"},
    {.rest = "lock: {link: l, period: 2 ms}",
     .complaint = "8:25: period goes with source: arrival; a board that is asked tells its time by "
                  "itself"},
    {.rest = "lock: {link: l, source: arrival, period: 2.01 ms}",
     .complaint = "8:42: period of 0.00201 s and the frame's of 0.001 s have only 1e-05 s in "
                  "common; at least 5e-05 s is needed to tell one command from the next"},
    {.links = "{name: l, body: a, protocol: ardupilot}", .rest = "lock: {link: l}",
     .complaint = "8:7: a board that speaks ardupilot cannot be asked for its time; write source: "
                  "arrival, or speak MAVLink"},
};

static const struct whole wholes[] = {
    {"name: x\nbodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\nexpect: [wheel_speed < "
     "1 rpm after 1 s]\n",
     "3:10: there is no wheel whose speed could be tested; add one or remove the line"},
    {"name: x\nbodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n"
     "controller: {command: [board]}\n",
     "3:23: there is no link for the controller to talk on; add one to links"},
};
// clang-format on

static void test_every_wrong_edit_of_a_run_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_every_mistake_in_a_run_is_refused_at_its_place(void)
{
    REFUSE_PARTS(parts);
}

static void test_what_a_run_needs_must_be_there(void)
{
    REFUSE_TEXTS(wholes);
}

/* 95 characters are an expectation, and 96 none. */
static void test_an_expectation_is_a_line_and_not_longer(void)
{
    char text[512];
    for (int more = 0; more < 2; more++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "expect: ['tilt < 1 deg%*safter 1 s']\n",
                 95 + more - (int)strlen("tilt < 1 degafter 1 s"), "");
        if (more == 0)
            expect_good(text);
        else
            expect_complaint(text, "3:10: an expectation looks like \"attitude_error < 0.1 deg "
                                   "after 15 s\" (or > and within); here is \"tilt < 1 deg        "
                                   "                    ...\"");
    }
}

static void test_a_frame_has_only_so_much_room_for_jobs(void)
{
    static char text[1 << 14];
    size_t size = (size_t)snprintf(
        text, sizeof text,
        "name: x\nenvironment: {world: local, magnetic_field: 1 0 0}\nbodies:\n"
        "- {name: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 1}\ndevices:\n"
        "- {name: g, type: gyro, body: a}\n- {name: f, type: accelerometer, body: a}\n"
        "- {name: m, type: magnetometer, body: a}\n- {name: p, type: gps, body: a}\n"
        "- {name: t, type: star_tracker, body: a, boresight: 0 0 1}\n"
        "- {name: s, type: sun_sensor, body: a, boresight: 0 0 1}\n");
    for (int i = 0; i < 16; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: e%d, type: encoder, body: a}\n", i);
    size += (size_t)snprintf(text + size, sizeof text - size, "links:\n");
    for (int i = 1; i <= 4; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: l%d, listen: 127.0.0.1:%d, body: a}\n", i, i);
    expect_complaint(text, "32:3: instruments and messages make more than the 51 jobs that a frame "
                           "has room for; set a message's rate to 0");
}

/* The last moment that a run has, and the longest names. */
static void test_what_is_just_within_its_limits_is_taken(void)
{
    static const char *const good[] = {
        "expect: [tilt < 1 deg within 10 s, rate > 1 after 9.999 s, altitude < -5 m after 0 s]",
        "pulse: {device: " D127 "}",
        "predictor: {ahead: 60 s}",
        "controller: {command: [b], policy: fifo, priority: 79}",
        "log: {every: 1000000}",
        "frame: {watchdog: 2 ms, lead: 499.999 us}",
        "frame: {cpu: 1023, priority: 98}",
        "io: {priority: 89}",
        "integrator: {substeps: 1000}",
    };
    char text[1024];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text,
                 "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
                 "devices: [{name: g, type: gyro, body: a}]\nlinks: [{name: l, body: a}]\n%s\n",
                 good[i]);
        expect_good(text);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_wrong_edit_of_a_run_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_a_run_is_refused_at_its_place);
    RUN_TEST(test_what_a_run_needs_must_be_there);
    RUN_TEST(test_an_expectation_is_a_line_and_not_longer);
    RUN_TEST(test_a_frame_has_only_so_much_room_for_jobs);
    RUN_TEST(test_what_is_just_within_its_limits_is_taken);
    return UNITY_END();
}
