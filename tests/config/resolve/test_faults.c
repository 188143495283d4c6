/*
 * Faults, and what a run must show: what they hit, when, and how large they are.
 */
#include "tests/config/loaded.h"

/* One fault in a vehicle with a signal of every unit, at 500 frames a second. */
static const struct sim_fault *load_fault(const char *fault)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "name: x\nrate: 500 Hz\nseconds: 100 s\n"
             "environment: {world: local, magnetic_field: 1 0 0 uT}\n"
             "bodies:\n"
             "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\n"
             "- {name: b, parent: a, joint: {type: cylindrical, axis: 0 0 1}, mass: 1,\n"
             "   inertia: 1 1 1}\n"
             "devices:\n"
             "- {name: drag, type: drag, body: a}\n"
             "- {name: gyro, type: gyro, body: a}\n"
             "- {name: accel, type: accelerometer, body: a}\n"
             "- {name: mag, type: magnetometer, body: a, rate: 50 Hz}\n"
             "- {name: baro, type: barometer, body: a}\n"
             "- {name: gps, type: gps, body: a}\n"
             "- {name: tracker, type: star_tracker, body: a, boresight: 0 0 1}\n"
             "- {name: angle, type: encoder, body: b}\n"
             "- {name: way, type: encoder, body: b, coordinate: 1}\n"
             "- {name: wheel, type: wheel, body: a, axis: 1 0 0, inertia: 0.1, max_torque: 1,\n"
             "   max_speed: 1, command: {link: first, control: 0}}\n"
             "- {name: coil, type: torquer, body: a, axis: 1 0 0, max_dipole: 1,\n"
             "   command: {link: second, control: 0}}\n"
             "links: [{name: first, listen: 127.0.0.1:1, body: a},\n"
             "        {name: second, listen: 127.0.0.1:2, body: a}]\n"
             "faults: [{%s}]\n",
             fault);
    load(text);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.fault_count);
    return &scenario->spec.faults[0];
}

static void test_a_fault_may_wait_for_the_operator(void)
{
    const struct sim_fault *fault =
        load_fault("name: silent, device: accel, type: stuck, when: operator, for: 20 ms");
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, fault->spec.first_frame);
    TEST_ASSERT_EQUAL_UINT64(10, fault->frames); /* of 2 ms */
    TEST_ASSERT_EQUAL_STRING("silent", fault->text);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX,
                             load_fault("device: accel, type: stuck, when: operator")->frames);
}

static void test_a_fault_hits_a_sensor_an_actuator_or_a_link(void)
{
    const struct sim_fault *fault = load_fault("device: accel, type: stuck, at: 0 s");
    TEST_ASSERT_EQUAL_INT(1, fault->sensor);
    TEST_ASSERT_EQUAL_INT(-1, fault->effector);
    TEST_ASSERT_EQUAL_INT(-1, fault->link);
    TEST_ASSERT_EQUAL_STRING("stuck of accel", fault->text);
    /* The drag stands before them in the file and behind them among the effectors. */
    fault = load_fault("device: coil, type: stuck, at: 0 s");
    TEST_ASSERT_EQUAL_INT(-1, fault->sensor);
    TEST_ASSERT_EQUAL_INT(1, fault->effector);
    TEST_ASSERT_EQUAL_STRING("coil", scenario->spec.effectors[fault->effector].name);
    fault = load_fault("link: second, type: loss, at: 0 s, way: in");
    TEST_ASSERT_EQUAL_INT(-1, fault->sensor);
    TEST_ASSERT_EQUAL_INT(-1, fault->effector);
    TEST_ASSERT_EQUAL_INT(1, fault->link);
    TEST_ASSERT_EQUAL_INT(SIM_DIRECTION_IN, fault->way);
    TEST_ASSERT_EQUAL_INT(SIM_DIRECTION_OUT,
                          load_fault("link: first, type: crc, at: 0, way: out")->way);
    TEST_ASSERT_EQUAL_INT(SIM_DIRECTION_BOTH, load_fault("link: first, type: crc, at: 0")->way);
}

/* What goes wrong on the wire acts there; way says on which way. */
static void test_a_fault_of_a_link_is_handed_to_it(void)
{
    static const struct {
        const char *fault;
        bool out, in;
    } ways[] = {{"link: second, type: crc, at: 2 s, value: 0.5", true, true},
                {"link: second, type: crc, at: 2 s, value: 0.5, way: out", true, false},
                {"link: second, type: crc, at: 2 s, value: 0.5, way: in", false, true}};
    for (int i = 0; i < 3; i++) {
        const struct sim_fault *fault = load_fault(ways[i].fault);
        const struct io_link_spec *link = &scenario->spec.links[1].spec;
        TEST_ASSERT_EQUAL_INT(0, scenario->spec.links[0].spec.fault_count);
        TEST_ASSERT_EQUAL_INT(1, link->fault_count);
        TEST_ASSERT_EQUAL_INT(0, fault->link_fault_index);
        TEST_ASSERT_EQUAL_INT(IO_FAULT_CRC, link->fault[0].spec.kind);
        TEST_ASSERT_EQUAL_UINT64(1000, link->fault[0].spec.first_frame);
        NEAR(0.5, link->fault[0].spec.value);
        TEST_ASSERT_EQUAL_INT(ways[i].out, link->fault[0].out);
        TEST_ASSERT_EQUAL_INT(ways[i].in, link->fault[0].in);
    }
}

static void test_a_fault_begins_at_a_time_or_in_a_frame(void)
{
    const struct sim_fault *fault = load_fault("device: gyro, type: stuck, at: 3 s, for: 500 ms");
    TEST_ASSERT_EQUAL_UINT64(1500, fault->spec.first_frame);
    TEST_ASSERT_EQUAL_UINT64(1750, fault->spec.last_frame);
    fault = load_fault("device: gyro, type: stuck, frame: 7");
    TEST_ASSERT_EQUAL_UINT64(7, fault->spec.first_frame);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, fault->spec.last_frame);
    fault = load_fault("device: gyro, type: stuck, frame: 7, for: 100 us"); /* one at least */
    TEST_ASSERT_EQUAL_UINT64(8, fault->spec.last_frame);
}

static void expect_size(const char *fault, enum io_fault_kind kind, double value)
{
    const struct sim_fault *loaded = load_fault(fault);
    TEST_ASSERT_EQUAL_INT_MESSAGE(kind, loaded->spec.kind, fault);
    TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12, value, loaded->spec.value, fault);
}

static void test_the_value_has_the_unit_of_the_signal(void)
{
    expect_size("device: gyro, type: bias, at: 0, value: 2 deg/s", IO_FAULT_BIAS, 2 * DEGREE);
    expect_size("device: gyro, type: drift, at: 0, value: 2 deg/s/s", IO_FAULT_DRIFT, 2 * DEGREE);
    expect_size("device: gyro, type: drift, at: 0, value: 2 deg/s^2", IO_FAULT_DRIFT, 2 * DEGREE);
    expect_size("device: accel, type: noise, at: 0, value: 3 g0", IO_FAULT_NOISE, 3 * 9.80665);
    expect_size("device: accel, type: drift, at: 0, value: 3 m/s^3", IO_FAULT_DRIFT, 3);
    expect_size("device: mag, type: bias, at: 0, value: -4 mT", IO_FAULT_BIAS, -4e-3);
    expect_size("device: baro, type: drift, at: 0, value: 5 kPa/min", IO_FAULT_DRIFT, 5000.0 / 60);
    expect_size("device: gps, type: bias, at: 0, value: 6 km", IO_FAULT_BIAS, 6000);
    expect_size("device: tracker, type: bias, at: 0, value: 1 arcmin", IO_FAULT_BIAS, DEGREE / 60);
    expect_size("device: angle, type: bias, at: 0, value: 8 deg", IO_FAULT_BIAS, 8 * DEGREE);
    expect_size("device: way, type: bias, at: 0, value: 8 mm", IO_FAULT_BIAS, 8e-3);
    expect_size("device: way, type: drift, at: 0, value: 8 mm/s", IO_FAULT_DRIFT, 8e-3);
    expect_size("device: wheel, type: bias, at: 0, value: 10 %", IO_FAULT_BIAS, 0.1);
    expect_size("device: wheel, type: drift, at: 0, value: 50 %/s", IO_FAULT_DRIFT, 0.5);
}

static void test_what_strikes_by_chance_strikes_always_where_nothing_is_said(void)
{
    expect_size("device: gyro, type: dropout, at: 0", IO_FAULT_DROPOUT, 1);
    expect_size("device: gyro, type: bit_flip, at: 0, value: 0.25", IO_FAULT_BIT_FLIP, 0.25);
    expect_size("link: first, type: crc, at: 0, value: 5 %", IO_FAULT_CRC, 0.05);
    expect_size("link: first, type: loss, at: 0", IO_FAULT_LOSS, 0);
}

static void test_stuck_is_where_it_was_or_at_the_value(void)
{
    TEST_ASSERT_EQUAL_UINT32(0, load_fault("device: gyro, type: stuck, at: 0")->spec.at_value);
    const struct sim_fault *fault = load_fault("device: wheel, type: stuck, at: 0, value: 0.5");
    TEST_ASSERT_EQUAL_UINT32(1, fault->spec.at_value);
    NEAR(0.5, fault->spec.value);
}

/* Of an instrument by its own samples, of an actuator by frames. */
static void test_a_delay_is_counted_in_samples(void)
{
    expect_size("device: mag, type: delay, at: 0, value: 60 ms", IO_FAULT_DELAY, 3);
    expect_size("device: wheel, type: delay, at: 0, value: 60 ms", IO_FAULT_DELAY, 30);
}

static void test_axes_are_bits(void)
{
    TEST_ASSERT_EQUAL_HEX32(0, load_fault("device: gyro, type: stuck, at: 0")->spec.components);
    const struct sim_fault *fault =
        load_fault("device: gyro, type: bias, at: 0, value: 1, axes: [0, 2]");
    TEST_ASSERT_EQUAL_HEX32(5, fault->spec.components);
}

/* ---- expectations ---- */

static const struct sim_expectation *load_expect(const char *line)
{
    char text[512];
    snprintf(text, sizeof text,
             "name: x\nbodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
             "pointing: {position: 1 2 -3 m}\nexpect: ['%s']\n",
             line);
    load(text);
    TEST_ASSERT_EQUAL_INT(1, scenario->spec.expect_count);
    return &scenario->spec.expects[0];
}

static void expect_limit(const char *line, enum sim_signal signal, double limit)
{
    const struct sim_expectation *expect = load_expect(line);
    TEST_ASSERT_EQUAL_INT_MESSAGE(signal, expect->signal, line);
    TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12, limit, expect->limit, line);
}

static void test_every_signal_has_its_unit(void)
{
    expect_limit("altitude > -9 m within 5 s", SIM_SIGNAL_ALTITUDE, -9);
    expect_limit("speed < 3.6 km/h after 5 s", SIM_SIGNAL_SPEED, 1);
    expect_limit("position_error < 50 cm after 5 s", SIM_SIGNAL_POSITION_ERROR, 0.5);
    expect_limit("tilt < 10 deg after 5 s", SIM_SIGNAL_TILT, 10 * DEGREE);
    EXPECT_VECTOR(scenario->spec.target_position, 1, 2, -3);
    TEST_ASSERT_EQUAL_STRING("tilt", cfg_signal_name(SIM_SIGNAL_TILT));
    TEST_ASSERT_EQUAL_STRING("m/s", cfg_signal_unit(SIM_SIGNAL_SPEED));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_fault_may_wait_for_the_operator);
    RUN_TEST(test_a_fault_hits_a_sensor_an_actuator_or_a_link);
    RUN_TEST(test_a_fault_of_a_link_is_handed_to_it);
    RUN_TEST(test_a_fault_begins_at_a_time_or_in_a_frame);
    RUN_TEST(test_the_value_has_the_unit_of_the_signal);
    RUN_TEST(test_what_strikes_by_chance_strikes_always_where_nothing_is_said);
    RUN_TEST(test_stuck_is_where_it_was_or_at_the_value);
    RUN_TEST(test_a_delay_is_counted_in_samples);
    RUN_TEST(test_axes_are_bits);
    RUN_TEST(test_every_signal_has_its_unit);
    return UNITY_END();
}
