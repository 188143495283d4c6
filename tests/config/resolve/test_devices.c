/*
 * Devices: every key of every type arrives with its SI value, and what is left out is what the
 * reference says.
 */
#include "tests/config/loaded.h"

/* A bus with a hinged and a sliding part, in air and over ground. */
static void load_devices(const char *devices)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "name: x\n"
             "environment: {world: local, ground: 0 m, magnetic_field: 20 0 40 uT}\n"
             "bodies:\n"
             "- {name: bus, joint: free, mass: 9, inertia: 3 3 3}\n"
             "- {name: arm, parent: bus, joint: {type: cylindrical, axis: 1 0 0}, mass: 1,\n"
             "   inertia: 1 1 1}\n"
             "devices:\n%s"
             "links: [{name: board, listen: 127.0.0.1:1, body: bus}]\n",
             devices);
    load(text);
}

#define ERRORS(unit)                                                                               \
    "noise: 2 " unit "/sqrt(Hz), bias_walk: 3 " unit "/sqrt(s), instability: 4 " unit              \
    ", instability_time: 50 s, range: 5 " unit ", quantum: 6 " unit ", rate: 100 Hz, delay: 20 ms"

static void expect_errors(const struct io_sensor_error_spec *error_spec, double unit)
{
    NEAR(2 * unit, error_spec->noise_density);
    NEAR(3 * unit, error_spec->walk_density);
    NEAR(4 * unit, error_spec->instability);
    NEAR(50, error_spec->instability_time);
    NEAR(5 * unit, error_spec->range);
    NEAR(6 * unit, error_spec->quantum);
    NEAR(0.01, error_spec->sample_time);
}

/* ---- instruments ---- */

static void test_a_triad_has_a_wandering_bias_and_axes_that_miss(void)
{
    load_devices(
        "- {name: g, type: gyro, body: bus, instability: 3 deg/h, instability_time: 50 s,\n"
        "   misalignment: 1 2 3 mrad}\n");
    const struct io_three_axis_sensor_spec *triad = &scenario->spec.sensors[0].triad;
    NEAR(3 * DEGREE / 3600, triad->instability);
    NEAR(50, triad->instability_time);
    /* Axes turned by d see u - d x u: x sees dz uy - dy uz, and so on. */
    EXPECT_VECTOR(triad->misalignment, 3e-3, -2e-3, -3e-3, 1e-3, 2e-3, -1e-3);
    load_devices("- {name: g, type: gyro, body: bus}\n");
    NEAR(0, scenario->spec.sensors[0].triad.instability);
    NEAR(100, scenario->spec.sensors[0].triad.instability_time);
    EXPECT_VECTOR(scenario->spec.sensors[0].triad.misalignment, 0, 0, 0, 0, 0, 0);
}

static void test_barometer_and_airspeed_are_read(void)
{
    load_devices(
        "- {name: b, type: barometer, body: arm, at: 1 2 3 cm, bias: 1 mPa,\n"
        "   scale: 2 %, " ERRORS(
            "mPa") "}\n"
                   "- {name: s, type: airspeed, body: bus, at: 4 5 6 cm, bias: 7 Pa, scale: -1 %,\n"
                   "   " ERRORS("Pa") "}\n");
    const struct sim_sensor *barometer = &scenario->spec.sensors[0],
                            *probe = &scenario->spec.sensors[1];
    TEST_ASSERT_EQUAL_INT(SIM_SENSOR_BAROMETER, barometer->kind);
    TEST_ASSERT_EQUAL_INT(1, barometer->body);
    TEST_ASSERT_EQUAL_UINT32(10, barometer->every);
    TEST_ASSERT_EQUAL_UINT32(2, barometer->gauge.delay);
    NEAR(0.01, barometer->sample_time);
    EXPECT_VECTOR(barometer->point, 0.01, 0.02, 0.03);
    NEAR(1e-3, barometer->gauge.error.bias);
    NEAR(0.02, barometer->gauge.error.scale);
    expect_errors(&barometer->gauge.error, 1e-3);
    TEST_ASSERT_EQUAL_INT(SIM_SENSOR_AIRSPEED, probe->kind);
    EXPECT_VECTOR(probe->point, 0.04, 0.05, 0.06);
    NEAR(7, probe->gauge.error.bias);
    NEAR(-0.01, probe->gauge.error.scale);
    expect_errors(&probe->gauge.error, 1);
}

static void test_encoders_are_counted_in_the_order_of_the_file(void)
{
    load_devices("- {name: first, type: encoder, body: arm, bias: 2 mrad, " ERRORS(
        "mrad") "}\n"
                "- {name: g, type: gyro, body: bus}\n"
                "- {name: second, type: encoder, body: arm, coordinate: 1}\n");
    const struct sim_sensor *first = &scenario->spec.sensors[0],
                            *second = &scenario->spec.sensors[2];
    TEST_ASSERT_EQUAL_INT(SIM_SENSOR_ENCODER, first->kind);
    TEST_ASSERT_EQUAL_INT(1, first->body);
    TEST_ASSERT_EQUAL_INT(0, first->coordinate);
    TEST_ASSERT_EQUAL_INT(0, first->angle);
    TEST_ASSERT_EQUAL_INT(1, second->coordinate);
    TEST_ASSERT_EQUAL_INT(1, second->angle);
    NEAR(2e-3, first->gauge.error.bias);
    expect_errors(&first->gauge.error, 1e-3);
    NEAR(100, second->gauge.error.instability_time);
}

static void test_a_gps_is_read(void)
{
    load_devices("- {name: p, type: gps, body: bus, at: 1 2 3 m, rate: 5 Hz, delay: 400 ms,\n"
                 "   noise_horizontal: 1 cm, noise_vertical: 2 cm, noise_velocity: 3 cm/s,\n"
                 "   wander: 4 cm, wander_time: 1 min, eph: 5 cm, epv: 6 cm, satellites: 3}\n");
    const struct sim_sensor *sensor = &scenario->spec.sensors[0];
    const struct io_gps_spec *gps = &sensor->gps;
    TEST_ASSERT_EQUAL_INT(SIM_SENSOR_GPS, sensor->kind);
    EXPECT_VECTOR(sensor->point, 1, 2, 3);
    TEST_ASSERT_EQUAL_UINT32(200, sensor->every);
    TEST_ASSERT_EQUAL_UINT32(2, gps->delay);
    NEAR(0.2, gps->sample_time);
    NEAR(0.01, gps->noise_horizontal);
    NEAR(0.02, gps->noise_vertical);
    NEAR(0.03, gps->velocity_noise_horizontal);
    NEAR(0.03, gps->velocity_noise_vertical);
    NEAR(0.04, gps->wander_horizontal);
    NEAR(0.04, gps->wander_vertical);
    NEAR(60, gps->wander_time);
    NEAR(0.05, gps->eph);
    NEAR(0.06, gps->epv);
    TEST_ASSERT_EQUAL_UINT32(3, gps->satellites);
    TEST_ASSERT_EQUAL_UINT32(0, gps->fix_type); /* four make one */
    load_devices("- {name: p, type: gps, body: bus}\n");
    TEST_ASSERT_EQUAL_UINT32(14, scenario->spec.sensors[0].gps.satellites);
    TEST_ASSERT_EQUAL_UINT32(3, scenario->spec.sensors[0].gps.fix_type);
    NEAR(0.5, scenario->spec.sensors[0].gps.eph);
    NEAR(0.8, scenario->spec.sensors[0].gps.epv);
}

static void test_sun_sensor_and_star_tracker_are_read(void)
{
    load_devices("- {name: s, type: sun_sensor, body: bus, boresight: 0 0 -2, view: 45 deg,\n"
                 "   noise: 1 mrad, quantum: 0.01, rate: 10 Hz}\n"
                 "- {name: t, type: star_tracker, body: bus, boresight: 3 4 0, rate: 4 Hz,\n"
                 "   noise_across: 5 arcsec, noise_about: 40 arcsec, misalignment: 1 2 3 mrad,\n"
                 "   sun_exclusion: 35 deg, earth_exclusion: 25 deg, max_rate: 2 deg/s,\n"
                 "   delay: 250 ms}\n");
    const struct io_sun_sensor_spec *sun = &scenario->spec.sensors[0].sun;
    const struct io_star_tracker_spec *tracker = &scenario->spec.sensors[1].tracker;
    EXPECT_VECTOR(sun->boresight, 0, 0, -1);
    NEAR(PI / 4, sun->half_angle);
    NEAR(1e-3, sun->noise);
    NEAR(0.01, sun->quantum);
    TEST_ASSERT_EQUAL_UINT32(0, sun->delay);
    TEST_ASSERT_EQUAL_UINT32(100, scenario->spec.sensors[0].every);
    EXPECT_VECTOR(tracker->boresight, 0.6, 0.8, 0);
    NEAR(5 * PI / 648000, tracker->noise_across);
    NEAR(40 * PI / 648000, tracker->noise_about);
    EXPECT_VECTOR(tracker->misalignment, 1e-3, 2e-3, 3e-3);
    NEAR(35 * DEGREE, tracker->sun_exclusion);
    NEAR(25 * DEGREE, tracker->earth_exclusion);
    NEAR(2 * DEGREE, tracker->max_rate);
    TEST_ASSERT_EQUAL_UINT32(1, tracker->delay);
}

/* ---- actuators ---- */

#define COMMAND "command: {link: board, control: 3}"

static void test_a_wheel_has_stiction_and_is_out_of_balance(void)
{
    load_devices("- {name: w, type: wheel, body: bus, axis: 1 0 0, at: 1 2 3 cm, inertia: 0.1,\n"
                 "   max_torque: 1, max_speed: 9, stiction: 2 mN m, stiction_speed: 3 rad/s,\n"
                 "   static_imbalance: 4 g mm, dynamic_imbalance: 5 g mm^2, " COMMAND "}\n");
    const struct dyn_wheel *wheel = &scenario->spec.effectors[0].effector.wheel;
    EXPECT_VECTOR(wheel->at, 0.01, 0.02, 0.03);
    NEAR(2e-3, wheel->stiction);
    NEAR(3, wheel->stribeck_speed);
    NEAR(4e-6, wheel->static_imbalance);
    TEST_ASSERT_DOUBLE_WITHIN(1e-20, 5e-9, wheel->dynamic_imbalance);
    NEAR(1, scenario->spec.effectors[0].drive.gain);
    TEST_ASSERT_EQUAL_UINT32(0, scenario->spec.effectors[0].drive.one_sided);
}

static void test_a_rotor_is_read(void)
{
    load_devices("- {name: r, type: rotor, body: bus, at: 1 2 3 cm, axis: 0 0 -2, turns: cw,\n"
                 "   max_speed: 500 rad/s, idle_speed: 50 rad/s, max_thrust: 10 N,\n"
                 "   torque_ratio: 2 cm, lag: 30 ms, lag_down: 40 ms, inertia: 7e-5,\n"
                 "   lateral_drag: 1e-4, pitch: 10 cm, speed: 100 rad/s, quantum: 0.01,\n"
                 "   delay: 2 ms, " COMMAND "}\n");
    const struct sim_effector *effector = &scenario->spec.effectors[0];
    const struct dyn_rotor *rotor = &effector->effector.rotor;
    TEST_ASSERT_EQUAL_INT(DYN_EFFECTOR_ROTOR, effector->effector.type);
    EXPECT_VECTOR(rotor->at, 0.01, 0.02, 0.03);
    EXPECT_VECTOR(rotor->axis, 0, 0, -1);
    NEAR(-1, rotor->spin);
    NEAR(500, rotor->max_speed);
    NEAR(50, rotor->idle_speed);
    NEAR(10.0 / 250000, rotor->thrust);
    NEAR(0.2 / 250000, rotor->torque);
    NEAR(0.03, rotor->lag_up);
    NEAR(0.04, rotor->lag_down);
    NEAR(7e-5, rotor->inertia);
    NEAR(1e-4, rotor->lateral_drag);
    NEAR(20 * PI, rotor->inflow);
    NEAR(100, effector->speed);
    NEAR(1, effector->drive.gain);
    NEAR(0.01, effector->drive.quantum);
    TEST_ASSERT_EQUAL_UINT32(2, effector->drive.delay);
    TEST_ASSERT_EQUAL_UINT32(1, effector->drive.one_sided);
    TEST_ASSERT_EQUAL_INT(3, effector->control);
}

static void test_defaults_of_a_rotor(void)
{
    load_devices("- {name: r, type: rotor, body: bus, turns: ccw, max_speed: 1, max_thrust: 1,\n"
                 "   lag: 50 ms, " COMMAND "}\n");
    const struct dyn_rotor *rotor = &scenario->spec.effectors[0].effector.rotor;
    EXPECT_VECTOR(rotor->axis, 0, 0, -1);
    NEAR(1, rotor->spin);
    NEAR(0.05, rotor->lag_down);
    NEAR(0.016, rotor->torque);
    NEAR(0, rotor->inflow);
    NEAR(0, rotor->idle_speed);
    NEAR(0, rotor->inertia);
}

static void test_torquer_and_thruster_are_read(void)
{
    load_devices("- {name: m, type: torquer, body: bus, axis: 0 5 0, max_dipole: 200 mA m^2,\n"
                 "   gain: -100 mA m^2, command: {link: board, control: 0}}\n"
                 "- {name: n, type: torquer, body: bus, axis: 0 0 1, max_dipole: 2,\n"
                 "   command: {link: board, control: 1}}\n"
                 "- {name: t, type: thruster, body: arm, at: 1 2 3 m, axis: -1 0 0,\n"
                 "   thrust: 2 N, rise: 10 ms, fall: 20 ms, min_control: 5 %,\n"
                 "   command: {link: board, control: 2}}\n");
    const struct sim_effector *coil = &scenario->spec.effectors[0],
                              *plain = &scenario->spec.effectors[1];
    const struct sim_effector *jet = &scenario->spec.effectors[2];
    EXPECT_VECTOR(coil->effector.torquer.axis, 0, 1, 0);
    NEAR(0.2, coil->effector.torquer.max_dipole);
    NEAR(-0.1, coil->drive.gain);
    NEAR(2, plain->drive.gain);
    TEST_ASSERT_EQUAL_UINT32(0, coil->drive.one_sided);
    TEST_ASSERT_EQUAL_INT(1, jet->effector.body);
    EXPECT_VECTOR(jet->effector.thruster.at, 1, 2, 3);
    EXPECT_VECTOR(jet->effector.thruster.axis, -1, 0, 0);
    NEAR(2, jet->effector.thruster.thrust);
    NEAR(0.01, jet->effector.thruster.rise);
    NEAR(0.02, jet->effector.thruster.fall);
    NEAR(0.05, jet->drive.min_duty);
    NEAR(1, jet->drive.gain);
    TEST_ASSERT_EQUAL_UINT32(1, jet->drive.one_sided);
}

/* ---- what acts by itself ---- */

static void test_drag_and_battery_are_read(void)
{
    load_devices("- {name: d, type: drag, body: arm, at: 1 2 3 cm, area: 100 200 300 cm^2,\n"
                 "   linear: 4 5 6 N s/m, angular: 7 8 9}\n"
                 "- {name: b, type: battery, body: bus, voltage: 16.8 V, voltage_empty: 13.2 V,\n"
                 "   capacity: 5 A h, resistance: 20 mohm, idle_current: 500 mA,\n"
                 "   efficiency: 75 %}\n");
    const struct dyn_drag *drag = &scenario->spec.effectors[0].effector.drag;
    const struct dyn_battery *battery = &scenario->spec.effectors[1].effector.battery;
    EXPECT_VECTOR(drag->at, 0.01, 0.02, 0.03);
    EXPECT_VECTOR(drag->area, 0.01, 0.02, 0.03);
    EXPECT_VECTOR(drag->linear, 4, 5, 6);
    EXPECT_VECTOR(drag->angular, 7, 8, 9);
    NEAR(16.8, battery->voltage_full);
    NEAR(13.2, battery->voltage_empty);
    NEAR(18000, battery->capacity);
    NEAR(0.02, battery->resistance);
    NEAR(0.5, battery->idle_current);
    NEAR(0.75, battery->efficiency);
    TEST_ASSERT_EQUAL_INT(-1, scenario->spec.effectors[0].link);
}

static void test_each_point_of_a_contact_is_an_effector(void)
{
    load_devices(
        "- {name: feet, type: contact, body: arm, points: [1 2 3 cm, [4 cm, 5 cm, 6 cm]],\n"
        "   stiffness: 2 kN/m, damping: 40 N s/m, friction: 0.5, slip_speed: 2 cm/s}\n");
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.effector_count);
    TEST_ASSERT_EQUAL_INT(0, scenario->spec.drive_count);
    for (int i = 0; i < 2; i++) {
        const struct sim_effector *effector = &scenario->spec.effectors[i];
        const struct dyn_contact *contact = &effector->effector.contact;
        TEST_ASSERT_EQUAL_STRING("feet", effector->name);
        TEST_ASSERT_EQUAL_INT(DYN_EFFECTOR_CONTACT, effector->effector.type);
        TEST_ASSERT_EQUAL_INT(1, effector->effector.body);
        EXPECT_VECTOR(contact->at, 0.01 + 0.03 * i, 0.02 + 0.03 * i, 0.03 + 0.03 * i);
        NEAR(2000, contact->stiffness);
        NEAR(40, contact->damping);
        NEAR(0.5, contact->friction);
    }
    load_devices("- {name: feet, type: contact, body: bus, points: [0 0 0], stiffness: 1}\n");
    NEAR(0.6, scenario->spec.effectors[0].effector.contact.friction);
}

static void test_commanded_devices_come_first_otherwise_the_order_is_that_of_the_file(void)
{
    load_devices(
        "- {name: d, type: drag, body: bus}\n"
        "- {name: t, type: thruster, body: bus, axis: 1 0 0, thrust: 1,\n"
        "   command: {link: board, control: 1}}\n"
        "- {name: b, type: battery, body: bus, voltage: 2, voltage_empty: 1, capacity: 1}\n"
        "- {name: m, type: torquer, body: bus, axis: 1 0 0, max_dipole: 1,\n"
        "   command: {link: board, control: 0}}\n");
    static const char *const order[] = {"t", "m", "d", "b"};
    TEST_ASSERT_EQUAL_INT(4, scenario->spec.effector_count);
    TEST_ASSERT_EQUAL_INT(2, scenario->spec.drive_count);
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_STRING(order[i], scenario->spec.effectors[i].name);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_triad_has_a_wandering_bias_and_axes_that_miss);
    RUN_TEST(test_barometer_and_airspeed_are_read);
    RUN_TEST(test_encoders_are_counted_in_the_order_of_the_file);
    RUN_TEST(test_a_gps_is_read);
    RUN_TEST(test_sun_sensor_and_star_tracker_are_read);
    RUN_TEST(test_a_wheel_has_stiction_and_is_out_of_balance);
    RUN_TEST(test_a_rotor_is_read);
    RUN_TEST(test_defaults_of_a_rotor);
    RUN_TEST(test_torquer_and_thruster_are_read);
    RUN_TEST(test_drag_and_battery_are_read);
    RUN_TEST(test_each_point_of_a_contact_is_an_effector);
    RUN_TEST(test_commanded_devices_come_first_otherwise_the_order_is_that_of_the_file);
    return UNITY_END();
}
