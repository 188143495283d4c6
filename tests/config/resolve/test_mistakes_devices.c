/*
 * Mistakes in instruments and actuators.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct mistake mistakes[] = {
    {"    body: bus\n    rate: 250 Hz", "    body: buss\n    rate: 250 Hz",
     "43:11: there is no body \"buss\"; did you mean \"bus\"?"},
    {"type: wheel, body: bus", "type: wheel, body: hub",
     "54:38: there is no body \"hub\"; the bodies are boom, bus, panel"},
    {"rate: 250 Hz", "rate: 300 Hz",
     "44:11: rate of 300 Hz does not divide the frame rate of 1000 Hz; the nearest that do are "
     "333.3333 Hz and 250 Hz"},
    {"rate: 250 Hz", "rate: 2 kHz",
     "44:11: rate of 2000 Hz is above the frame rate of 1000 Hz; lower it, or raise the "
     "scenario's rate"},
    {"rate: 250 Hz", "rate: 0 Hz",
     "44:11: rate must be above 0 Hz; here is 0"},
    {"    delay: 8 ms", "    delay: 6 ms",
     "53:12: delay of 0.006 s is not a multiple of 0.004 s; the nearest are 0.004 s and 0.008 s"},
    {"    delay: 8 ms", "    delay: 64 ms",
     "53:12: delay of 0.064 s is too long; at most 0.06 s"},
    {"delay: 3 ms", "delay: 64 ms",
     "57:13: delay of 0.064 s is too long; at most 0.063 s"},
    {"delay: 3 ms", "delay: 2.5 ms",
     "57:13: delay of 0.0025 s is not a multiple of 0.001 s; the nearest are 0.002 s and 0.003 s"},
    {"  - name: gyro\n", "  - {name: other, type: gyro, body: bus}\n  - name: gyro\n",
     "43:11: \"other\" is already the instrument of this type, and a vehicle has one of each; "
     "remove one"},
    {"{name: wheel,", "{name: gyro,",
     "54:12: there is already a device \"gyro\"; choose another name"},
    {"link: board", "link: bord",
     "57:35: there is no link \"bord\"; did you mean \"board\"?"},
    {"link: board", "link: autopilot",
     "57:35: there is no link \"autopilot\"; add it under links"},
    {"control: 2", "control: 16",
     "57:51: control must be from 0 to 15; here is \"16\""},
    {"links:", "  - {name: twin, type: wheel, body: bus, axis: 1 0 0, inertia: 0.01, max_torque: "
     "1, max_speed: 1, command: {link: board, control: 2}}\nlinks:",
     "58:131: control 2 already drives \"wheel\"; take another"},
    {"inertia: 0.02 kg m^2", "inertia: 9 kg m^2",
     "54:65: the rotor's 9 kg m^2 does not fit into the inertia of \"bus\", which is stated with "
     "its rotors; check both"},
    {"inertia: 0.02 kg m^2", "inertia: 0",
     "54:65: inertia must be above 0 kg m^2; here is 0"},
    {"speed: -600 rpm", "speed: -7000 rpm",
     "55:56: speed of 733.0382858 rad/s is above max_speed, 628.3185307 rad/s; lower it"},
};

static const struct part parts[] = {
    /* instruments */
    {.devices = "{name: d, type: barometr, body: a}",
     .complaint = "6:27: type cannot be \"barometr\"; did you mean \"barometer\"?"},
    {.devices = "{name: d, type: barometer, body: a}",
     .complaint = "6:27: the device needs air; give environment.air: true, or world: local"},
    {.devices = "{name: d, type: airspeed, body: a}",
     .complaint = "6:27: the device needs air; give environment.air: true, or world: local"},
    {.devices = "{name: d, type: sun_sensor, body: a, boresight: 0 0 1}",
     .complaint = "6:27: there is no Sun in a uniform world; give environment.world: orbit or "
      "local"},
    {.environment = "world: orbit",
     .devices = "{name: d, type: sun_sensor, body: a, boresight: 0 0 1, quantum: 5.01}",
     .complaint = "6:75: quantum must be from 0 to 0.5; here is 5.01"},
    {.devices = "{name: d, type: horizon_sensor, body: a, boresight: 0 0 1}",
     .complaint = "6:27: the horizon of the Earth is seen from orbit alone; give environment.world: "
      "orbit"},
    {.environment = "world: local",
     .devices = "{name: d, type: horizon_sensor, body: a, boresight: 0 0 1}",
     .complaint = "6:27: the horizon of the Earth is seen from orbit alone; give environment.world: "
      "orbit"},
    {.environment = "world: orbit",
     .devices = "{name: d, type: horizon_sensor, body: a, boresight: 0 0 1, view: 4 rad}",
     .complaint = "6:76: view must be from 0.001 to 3.15 rad; here is 4"},
    {.devices = "{name: d, type: star_tracker, body: a}",
     .complaint = "6:11: a star tracker needs \"boresight\" (where it looks, body axes); write "
      "e.g. boresight: 0 0 1"},
    {.environment = "world: orbit, date: '1999-01-01T00:00:00Z'",
     .devices = "{name: d, type: magnetometer, body: a}",
     .complaint = "6:27: there is no magnetic model for environment.date in this program; take "
      "a date that the World Magnetic Model covers (tools/build fetches it), or "
      "give environment.magnetic_field"},
    {.devices = "{name: d, type: encoder, body: a}",
     .complaint = "6:42: the joint of \"a\" has no angle or travel that an encoder could read; "
      "name a body on a hinge or slide"},
    {.devices = "{name: d, type: encoder, body: arm, coordinate: 1}",
     .complaint = "6:59: the joint of \"arm\" has 1 coordinate, counted from 0"},
    {.devices = "{name: d, type: gps, body: a, noise: 1 m}",
     .complaint = "6:41: unknown key \"noise\" in a gps; it takes name, type, body, at, rate, "
      "noise_horizontal, noise_vertical, noise_velocity, wander, wander_time, eph, "
      "epv, satellites, delay"},
    {.devices = "{name: d, type: gps, body: a, delay: 1500 us}",
     .complaint = "6:48: delay of 0.0015 s is not a multiple of 0.001 s; the nearest are 0.001 "
      "s and 0.002 s"},
    {.devices = "{name: d, type: gps, body: a, rate: 10 Hz, delay: 2 s}",
     .complaint = "6:61: delay of 2 s is too long; at most 1.5 s"},
    {.devices = "{name: d, type: gps, body: a}, {name: e, type: gps, body: a}",
     .complaint = "6:58: \"d\" is already the instrument of this type, and a vehicle has one of "
      "each; remove one"},
    {.devices = "{name: d, type: gps, body: a, satellites: 65}",
     .complaint = "6:53: satellites must be from 0 to 64; here is \"65\""},
    {.devices = "{name: d, type: gyro, body: a, instability_time: 0}",
     .complaint = "6:60: instability_time must be above 0 s; here is 0"},
    {.devices = "{name: d, type: gyro, body: a, misalignment: 0.3 0 0}",
     .complaint = "6:56: misalignment must be from -0.2 to 0.2 rad; here is 0.3"},
    {.environment = "air: true",
     .devices = "{name: d, type: barometer, body: a, bias: 1 2 3}",
     .complaint = "6:53: unknown unit \"2\"; units look like ms, deg/s, N m/rad or kg m^2"},
    /* actuators */
    {.devices = "{name: d, type: rotor, body: a, turns: ccw, max_speed: 1, max_thrust: 1, "
      "command: {link: l, control: 0}}",
     .complaint = "6:27: the device needs air; give environment.air: true, or world: local"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, max_speed: 1, max_thrust: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:11: a rotor needs \"turns\" (its sense, seen from where the thrust points); "
      "write e.g. turns: ccw"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: left, max_speed: 1, max_thrust: 1, "
      "command: {link: l, control: 0}}",
     .complaint = "6:50: turns cannot be \"left\"; write ccw or cw"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag: 0, command: {link: l, control: 0}}",
     .complaint = "6:88: lag must be above 0 s; here is 0"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:88: lag of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "lag_down: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:93: lag_down of 0.0001 s is shorter than a step of 0.001 s; lengthen it, "
      "or take more substeps"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "idle_speed: 2, command: {link: l, control: 0}}",
     .complaint = "6:11: device \"d\": the rotor's idle_speed must lie between zero and max_speed"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "speed: 2, command: {link: l, control: 0}}",
     .complaint = "6:90: speed of 2 rad/s is above max_speed, 1 rad/s; lower it"},
    {.environment = "air: true",
     .devices = "{name: d, type: rotor, body: a, turns: cw, max_speed: 1, max_thrust: 1, "
      "speed: -1, command: {link: l, control: 0}}",
     .complaint = "6:90: speed must be 0 rad/s or more; here is -1"},
    {.devices = "{name: d, type: torquer, body: a, axis: 1 0 0, max_dipole: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:27: a torquer needs a magnetic field; give "
      "environment.magnetic_field, or world: local or orbit"},
    {.environment = "world: orbit, date: '1999-01-01T00:00:00Z'",
     .devices = "{name: d, type: torquer, body: a, axis: 1 0 0, max_dipole: 1, command: "
      "{link: l, control: 0}}",
     .complaint = "6:27: there is no magnetic model for environment.date in this program; take "
      "a date that the World Magnetic Model covers (tools/build fetches it), or "
      "give environment.magnetic_field"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 10 ms, "
      "fall: 0, command: {link: l, control: 0}}",
     .complaint = "6:11: device \"d\": a thruster has both rise and fall, positive, or neither"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 100 us, "
      "command: {link: l, control: 0}}",
     .complaint = "6:76: rise of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, rise: 10 ms, "
      "fall: 100 us, command: {link: l, control: 0}}",
     .complaint = "6:89: fall of 0.0001 s is shorter than a step of 0.001 s; lengthen it, or "
      "take more substeps"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, min_control: 2, "
      "command: {link: l, control: 0}}",
     .complaint = "6:83: min_control must be from 0 to 1; here is 2"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, delay: 64 ms, "
      "command: {link: l, control: 0}}",
     .complaint = "6:77: delay of 0.064 s is too long; at most 0.063 s"},
    {.devices = "{name: d, type: thruster, body: a, axis: 1 0 0, thrust: 1, command: {link: "
      "l, control: 0}}, {name: e, type: thruster, body: a, axis: 1 0 0, thrust: "
      "1, command: {link: l, control: 0}}",
     .complaint = "6:190: control 0 already drives \"d\"; take another"},
    {.devices = "{name: d, type: drag, body: a}",
     .complaint = "6:27: the device needs air; give environment.air: true, or world: local"},
    {.environment = "air: true",
     .devices = "{name: d, type: drag, body: a, area: -1 0 0}",
     .complaint = "6:48: area must be 0 m^2 or more; here is -1"},
    {.devices = "{name: d, type: contact, body: a, points: [0 0 0], stiffness: 1}",
     .complaint = "6:27: there is no ground to touch; give environment.ground, e.g. 0 m"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0], stiffness: 1}",
     .complaint = "6:54: a row of points wants 3 numbers; here are 2"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [], stiffness: 1}",
     .complaint = "6:53: points is empty; give at least one row"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0 0], stiffness: 0}",
     .complaint = "6:73: stiffness must be above 0 N/m; here is 0"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 2, voltage: 2, capacity: "
      "1}",
     .complaint = "6:60: an empty battery's 2 V is not below a full one's 2 V; check both"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 1, resistance: 1, "
      "idle_current: 1, voltage: 2, capacity: 1}",
     .complaint = "6:11: device \"d\": the idle_current is more than the battery can give"},
    {.devices = "{name: d, type: battery, body: a, voltage_empty: 1, voltage: 2, capacity: "
      "1}, {name: e, type: battery, body: a, voltage_empty: 1, voltage: 2, "
      "capacity: 1}",
     .complaint = "6:105: \"d\" is already the battery, and a vehicle has one; remove one"},
    /* rows of numbers */
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: {x: 1}, stiffness: 1}",
     .complaint = "6:53: points wants a list of rows in m, e.g. points: [[0.2, 0.2, 0.1], [-0.2, 0.2, "
      "0.1]]; here is a mapping"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, 0, 0], [0, 0]], stiffness: 1}",
     .complaint = "6:65: a row of points wants 3 numbers; here are 2"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, 0, 0], [1]], stiffness: 1}",
     .complaint = "6:65: a row of points wants 3 numbers; here is 1"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [0 0 0, 1 2 3 4], stiffness: 1}",
     .complaint = "6:61: a row of points wants 3 numbers; here are 4"},
    {.environment = "ground: 0",
     .devices = "{name: d, type: contact, body: a, points: [[0, [1], 0]], stiffness: 1}",
     .complaint = "6:58: points wants a list of rows in m, e.g. points: [[0.2, 0.2, 0.1], [-0.2, 0.2, "
      "0.1]]; here is a list"},
};
// clang-format on

static void test_every_wrong_edit_of_a_device_is_refused_at_its_place(void)
{
    REFUSE_EDITS(mistakes);
}

static void test_every_mistake_in_a_device_is_refused_at_its_place(void)
{
    REFUSE_PARTS(parts);
}

static void test_a_vehicle_has_only_so_many_encoders_and_contact_points(void)
{
    static char text[1 << 14];
    const char *head = "name: x\nenvironment: {ground: 0}\nbodies:\n"
                       "- {name: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: 1 1 "
                       "1}\n";
    size_t size = (size_t)snprintf(text, sizeof text, "%sdevices:\n", head);
    for (int i = 0; i < 17; i++)
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "- {name: e%d, type: encoder, body: a}\n", i);
    expect_complaint(text, "22:21: a vehicle can have 16 encoders; remove some");

    size = (size_t)snprintf(
        text, sizeof text,
        "%sdevices:\n- {name: feet, type: contact, body: a, stiffness: 1, points: [", head);
    for (int i = 0; i < 97; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s0 0 0", i > 0 ? ", " : "");
    snprintf(text + size, sizeof text - size, "]}\n");
    expect_complaint(text,
                     "6:62: a vehicle can have 96 actuators, drags and contact points; remove "
                     "some");
}

/* Of all that acts on a body there is room for 96, contact points among them. */
static void test_the_last_actuator_still_fits(void)
{
    static char text[1 << 15];
    for (int drags = 1; drags <= 2; drags++) {
        size_t size =
            (size_t)snprintf(text, sizeof text,
                             "name: x\nenvironment: {ground: 0, air: true}\nbodies:\n"
                             "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\ndevices:\n"
                             "- {name: feet, type: contact, body: a, stiffness: 1, points: [");
        for (int i = 0; i < 95; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s0 0 0", i > 0 ? ", " : "");
        size += (size_t)snprintf(text + size, sizeof text - size, "]}\n");
        for (int i = 0; i < drags; i++)
            size += (size_t)snprintf(text + size, sizeof text - size,
                                     "- {name: d%d, type: drag, body: a}\n", i);
        snprintf(text + size, sizeof text - size, "tunable: [devices.feet.damping]\n");
        if (drags == 1)
            expect_good(text);
        else
            expect_complaint(text, "8:20: a vehicle can have 96 actuators, drags and contact "
                                   "points; remove some");
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_wrong_edit_of_a_device_is_refused_at_its_place);
    RUN_TEST(test_every_mistake_in_a_device_is_refused_at_its_place);
    RUN_TEST(test_a_vehicle_has_only_so_many_encoders_and_contact_points);
    RUN_TEST(test_the_last_actuator_still_fits);
    return UNITY_END();
}
