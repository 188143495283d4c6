/*
 * Mistakes in faults, and in what may be tuned while a run goes on.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct part parts[] = {
    /* faults */
    {.devices = GYRO,
     .rest = "faults: [{type: bias, at: 0, value: 1}]",
     .complaint = "8:10: a fault hits a device or a link; give one of them, e.g. device: gyro"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, link: l, type: loss, at: 0}]",
     .complaint = "8:10: a fault hits a device or a link; give one of them, e.g. device: gyro"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1}]",
     .complaint = "8:10: a fault begins at a time or in a frame; give one of them, e.g. at: 5 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1, at: 1 s, frame: 3}]",
     .complaint = "8:10: a fault begins at a time or in a frame; give one of them, e.g. at: 5 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, value: 1, when: operator, at: 1 s}]",
     .complaint = "8:64: this fault waits for the operator; remove it, or when: operator"},
    {.devices = GYRO,
     .rest = "faults: [{name: f, device: g, type: stuck, at: 0},\n"
             "         {name: f, device: g, type: loss, at: 0}]",
     .complaint = "9:17: another fault is called \"f\" already; take another name"},
    {.rest = "faults: [{link: l, type: delay, at: 0, value: 2 ms},\n"
             "         {link: l, type: delay, at: 1 s, value: 2 ms}]",
     .complaint = "9:26: this link is late already by another fault; make it one"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, axes: [0, 1, 2, 1, 0]}]",
     .complaint = "8:48: axes has 5 numbers; it can have 4"},
    {.devices = GYRO,
     .rest = "faults: [{device: gg, type: stuck, at: 0}]",
     .complaint = "8:19: there is no device \"gg\"; add it to devices"},
    {.devices = GYRO,
     .rest = "faults: [{device: none, type: stuck, at: 0}]",
     .complaint = "8:19: there is no device \"none\"; add it to devices"},
    {.devices = GYRO,
     .rest = "faults: [{link: k, type: loss, at: 0}]",
     .complaint = "8:17: there is no link \"k\"; add it to links"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: burnt, at: 0}]",
     .complaint = "8:28: type cannot be \"burnt\"; write stuck, bias, drift, noise, dropout, "
      "delay, bit_flip, crc or loss"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: crc, at: 0}]",
     .complaint = "8:28: crc cannot happen to a signal; it goes with a link"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: bias, at: 0, value: 1}]",
     .complaint = "8:26: bias cannot happen to a message; it goes with a device"},
    {.devices = "{name: s, type: battery, body: a, voltage: 2, voltage_empty: 1, capacity: "
      "1}",
     .rest = "faults: [{device: s, type: stuck, at: 0}]",
     .complaint = "8:19: no link commands \"s\", so there is no signal to disturb; name another"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 10 s}]",
     .complaint = "8:39: the run ends at 10 s, before this fault begins; raise seconds or take "
      "an earlier time"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, frame: 10000}]",
     .complaint = "8:42: the run ends at 10 s, before this fault begins; raise seconds or take "
      "an earlier time"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 1e9 s}]",
     .complaint = "8:39: at must be from 0 to 10000000 s; here is 1000000000"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, for: 0}]",
     .complaint = "8:47: for must be from 5e-05 to 10000000 s; here is 0"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0}]",
     .complaint = "8:10: bias needs \"value\" (how large it is); write e.g. value: 0.1 rad/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: drift, at: 0}]",
     .complaint = "8:10: drift needs \"value\" (how large it is); write e.g. value: 0.1 rad/s/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0}]",
     .complaint = "8:10: delay needs \"value\" (how large it is); write e.g. value: 20 ms"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1 m}]",
     .complaint = "8:48: value wants rad/s, not m"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: drift, at: 0, value: 1 deg/s}]",
     .complaint = "8:49: value wants rad/s/s, not deg/s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: noise, at: 0, value: -1}]",
     .complaint = "8:49: value must be 0 rad/s or more; here is -1"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: dropout, at: 0, value: 2}]",
     .complaint = "8:51: value must be from 0 to 1; here is 2"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: loss, at: 0, value: 0.5}]",
     .complaint = "8:46: loss is whole and has no value; remove it, or take dropout"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0, value: 1 s}]",
     .complaint = "8:49: value of 1 s is too long; at most 0.063 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: delay, at: 0, value: 1.5 ms}]",
     .complaint = "8:49: value of 0.0015 s is not a multiple of 0.001 s; the nearest are 0.001 "
      "s and 0.002 s"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [3]}]",
     .complaint = "8:57: this signal has 3 components, counted from 0; here is 3"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [0.5]}]",
     .complaint = "8:57: this signal has 3 components, counted from 0; here is 0.5"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: bias, at: 0, value: 1, axes: [4]}]",
     .complaint = "8:58: axes must be from 0 to 3; here is 4"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: dropout, at: 0, axes: [0]}]",
     .complaint = "8:50: dropout takes the whole reading, not some axes of it; remove it"},
    {.devices = GYRO,
     .rest = "faults: [{link: l, type: crc, at: 0, axes: [0]}]",
     .complaint = "8:44: axes go with a device; a message has none, remove it"},
    {.devices = GYRO,
     .rest = "faults: [{device: g, type: stuck, at: 0, way: in}]",
     .complaint = "8:47: way goes with a link; a device's signal has only one, remove it"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: t, type: stuck, at: 0, value: 0.1}]",
     .complaint = "8:49: a stuck star tracker keeps its last attitude; remove value"},
    {.devices = "{name: t, type: star_tracker, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: t, type: delay, at: 0, value: 10 ms, axes: [0]}]",
     .complaint = "8:62: delay takes the whole attitude, not some axes of it; remove it"},
    {.environment = "world: orbit",
     .devices = "{name: h, type: horizon_sensor, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: h, type: stuck, at: 0, value: 0.1}]",
     .complaint = "8:49: a stuck horizon sensor keeps its last direction; remove value"},
    {.environment = "world: orbit",
     .devices = "{name: h, type: horizon_sensor, body: a, boresight: 0 0 1}",
     .rest = "faults: [{device: h, type: delay, at: 0, value: 10 ms, axes: [0]}]",
     .complaint = "8:62: delay takes the whole direction, not some axes of it; remove it"},
    {.devices = "{name: e, type: encoder, body: arm}",
     .rest = "faults: [{device: e, type: bias, at: 0, value: 1 mm}]",
     .complaint = "8:48: value wants rad, not mm"},
    /* numbers that can be tuned */
    {.devices = GYRO,
     .rest = "tunable: [devices.gg.bias]",
     .complaint = "8:11: there is no device \"gg\"; add it to devices"},
    {.devices = GYRO,
     .rest = "tunable: [devices.g.biass]",
     .complaint = "8:11: while it runs a device does not change its \"biass\"; did you mean "
                  "\"bias\"?"},
    {.devices = GYRO,
     .rest = "tunable: [{of: devices.g.bias.w}]",
     .complaint = "8:16: there is no such component: \"devices.g.bias.w\"; they are x, y and z"},
    {.devices = GYRO,
     .rest = "tunable: [{of: devices.g.noise, low: 1 rad/s/sqrt(Hz)}]",
     .complaint = "8:16: \"devices.g.noise\" begins with 0, which is not from low, 1, to high, "
                  "1e+30; widen them"},
    {.devices = GYRO,
     .rest = "tunable: [enviroment.wind]",
     .complaint = "8:11: there is no tunable number at \"enviroment.wind\"; did you mean "
                  "\"environment.wind\"?"},
};
// clang-format on

static void test_every_mistake_in_a_fault_is_refused_at_its_place(void)
{
    REFUSE_PARTS(parts);
}

static void test_a_link_has_only_so_many_faults(void)
{
    static char text[1 << 14];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 "
                                   "1}]\nlinks: [{name: l, body: a}]\nfaults:\n");
    for (int i = 0; i < IO_LINK_FAULT_MAX + 1; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {link: l, type: crc, frame: %d}\n", i);
    char complaint[128];
    snprintf(complaint, sizeof complaint, "%d:10: a link can have %d faults; remove some",
             5 + IO_LINK_FAULT_MAX, IO_LINK_FAULT_MAX);
    expect_complaint(text, complaint);
}

/* The last moment that a run has, and all axes. */
static void test_a_fault_just_within_its_limits_is_taken(void)
{
    static const char *const good[] = {
        "faults: [{device: g, type: stuck, at: 9.999 s}, {device: g, type: stuck, frame: 9999}]",
        "faults: [{device: g, type: stuck, at: 0, axes: [0, 1, 2]}]",
        "faults: [{link: l, type: delay, at: 0, value: 2 ms}, {link: l, type: loss, at: 1}]",
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
    RUN_TEST(test_every_mistake_in_a_fault_is_refused_at_its_place);
    RUN_TEST(test_a_link_has_only_so_many_faults);
    RUN_TEST(test_a_fault_just_within_its_limits_is_taken);
    return UNITY_END();
}
