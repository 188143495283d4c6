/*
 * What instruments say of a vehicle whose motion and place are known, and what faults make of it.
 */
#include "tests/rt/executive/frames.h"

#define LINK "links: [{name: board, listen: 127.0.0.1:14560, body: a}]\n"
#define BALL "mass: 1, inertia: 1 1 1}\n"

/* ---- air ---- */

/* A mast of 1000 m with its head down, and 100 m more: 1300 m above the sea. */
static void test_a_barometer_feels_the_standard_atmosphere_where_it_sits(void)
{
    bring_up("name: x\nenvironment: {world: local, home: {altitude: 200 m}}\nbodies:\n"
             "- {name: a, joint: {type: fixed, at: 0 0 -1000 m, attitude: {roll: 180 deg}}, " BALL
             "devices: [{name: b, type: barometer, body: a, at: 0 0 100 m, rate: 50 Hz}]\n" LINK);
    run_frames(20);
    const double geopotential = 6356766.0 * 1300 / (6356766.0 + 1300);
    const double T = 288.15 - 0.0065 * geopotential;
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 101325 * pow(T / 288.15, 5.25587971),
                              sim->scratch.sample[0].pressure);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, T - 273.15, sim->scratch.sample[0].temperature);
    TEST_ASSERT_EQUAL_HEX32(IO_FIELD_BARO, fields);
    run_frames(4); /* a sensor message without a new reading of it */
    TEST_ASSERT_EQUAL_HEX32(0, fields);
    TEST_ASSERT_EQUAL_HEX32(IO_SEND_SENSOR, due);
}

/* The nose points east; wind blows west, then east. */
static void test_an_airspeed_probe_feels_the_wind_on_its_nose(void)
{
    for (int sense = -1; sense <= 1; sense += 2) {
        char text[512];
        snprintf(text, sizeof text,
                 "name: x\nenvironment: {world: local, home: {altitude: 0}, wind: 3 %d 5 m/s}\n"
                 "bodies:\n- {name: a, joint: {type: fixed, attitude: {yaw: 90 deg}}, " BALL
                 "devices: [{name: s, type: airspeed, body: a}]\n" LINK,
                 10 * sense);
        bring_up(text);
        run_frames(4);
        TEST_ASSERT_DOUBLE_WITHIN(0.01, -sense * 0.5 * 1.225 * 100,
                                  sim->scratch.sample[0].diff_pressure);
        TEST_ASSERT_EQUAL_HEX32(IO_FIELD_AIRSPEED, fields);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, sqrt(9 + 100 + 25), sim->scratch.sample[0].airspeed);
    }
}

/* v from 0.5 rho v |v|; a wander forgets by 1/e in its time. */
static void test_gusts_have_their_deviation_and_their_time(void)
{
    enum { COUNT = 40000, LAG = 20 };
    static double v[COUNT];
    bring_up("name: x\nenvironment: {world: local, home: {altitude: 0}, wind: -30 0 0 m/s,\n"
             "  gust: {sigma: 2 0 0 m/s, time: 20 1 1 ms}}\n"
             "bodies:\n- {name: a, joint: fixed, " BALL
             "devices: [{name: s, type: airspeed, body: a}]\n" LINK);
    double mean = 0, square = 0, product = 0;
    for (int i = 0; i < COUNT; i++) {
        run_frames(1);
        v[i] = sqrt(2 * sim->scratch.sample[0].diff_pressure / 1.225);
        mean += v[i] / COUNT;
    }
    for (int i = 0; i < COUNT; i++)
        square += (v[i] - mean) * (v[i] - mean) / COUNT;
    for (int i = 0; i + LAG < COUNT; i++)
        product += (v[i] - mean) * (v[i + LAG] - mean) / (COUNT - LAG);
    TEST_ASSERT_DOUBLE_WITHIN(0.3, 30, mean);
    TEST_ASSERT_DOUBLE_WITHIN(0.2, 2, sqrt(square));
    TEST_ASSERT_DOUBLE_WITHIN(0.08, exp(-1), product / square);
}

/* ---- place ---- */

/* Home on the equator at longitude 0: down is -x of the Earth, east is y, north is z. */
static void bring_up_on_the_equator(const char *joint, const char *gps)
{
    char text[1024];
    snprintf(text, sizeof text,
             "name: x\nenvironment: {world: local, gravity: 0 0 0,\n"
             "  home: {latitude: 0, longitude: 0, altitude: 0}}\n"
             "bodies:\n- {name: a, joint: {%s}, " BALL
             "devices: [{name: p, type: gps, body: a, %s}]\n" LINK,
             joint, gps);
    bring_up(text);
}

static void test_a_gps_knows_where_on_the_earth_it_is(void)
{
    const double a = 6378137.0, e2 = 6.69437999014e-3;
    bring_up_on_the_equator("type: fixed, at: 0 2000 -50 m", "at: 0 0 -10 m");
    run_frames(1);
    const struct io_geodetic_fix *fix = &sim->scratch.sample[0].fix;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, fix->latitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, atan2(2000, a + 60), fix->longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, sqrt((a + 60) * (a + 60) + 4e6) - a, fix->altitude);
    bring_up_on_the_equator("type: fixed, at: 1000 0 0 m", "eph: 2 m, epv: 3 m, satellites: 9");
    run_frames(1);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 1000 / (a * (1 - e2)), sim->scratch.sample[0].fix.latitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, sim->scratch.sample[0].fix.longitude);
    TEST_ASSERT_EQUAL_DOUBLE(2, sim->scratch.sample[0].fix.eph);
    TEST_ASSERT_EQUAL_DOUBLE(3, sim->scratch.sample[0].fix.epv);
    TEST_ASSERT_EQUAL_UINT32(3, sim->scratch.sample[0].fix.type);
    TEST_ASSERT_EQUAL_UINT32(9, sim->scratch.sample[0].fix.satellites);
}

/* 300 m/s to the east for a second; the fix is 200 ms old. */
static void test_a_late_fix_is_where_it_was(void)
{
    const double a = 6378137.0;
    bring_up_on_the_equator("type: free, velocity: 0 300 0 m/s", "rate: 10 Hz, delay: 200 ms");
    run_frames(1000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, atan2(240, a), sim->scratch.sample[0].fix.longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, atan2(300, a), sim->scratch.sample[0].longitude);
    EXPECT_VECTOR(0.02, sim->scratch.sample[0].fix.velocity, 0, 300, 0);
    TEST_ASSERT_TRUE(due & IO_SEND_GPS);
}

/* ---- before the delay has passed ---- */

/* The first fix is of 100 ms; it is 200 ms old when it leaves. */
static void test_a_delayed_fix_is_not_sent_before_there_is_one(void)
{
    bring_up_on_the_equator("type: fixed", "rate: 10 Hz, delay: 200 ms");
    int first = 0;
    for (int k = 1; k <= 400 && first == 0; k++) {
        run_frames(1);
        if (due & IO_SEND_GPS)
            first = k;
        else
            TEST_ASSERT_EQUAL_UINT32(0, sim->scratch.sample[0].fix.type);
    }
    TEST_ASSERT_EQUAL_INT(300, first);
    TEST_ASSERT_EQUAL_UINT32(3, sim->scratch.sample[0].fix.type);
}

#define SPINNER                                                                                    \
    "bodies:\n- {name: a, joint: {type: fixed}, " BALL                                             \
    "- {name: b, parent: a, joint: {type: revolute, axis: 0 0 1, angle: 2 rad}, " BALL             \
    "devices:\n- {name: g, type: gyro, body: b, bias: 1 2 3 rad/s, delay: 5 ms}\n"                 \
    "- {name: f, type: accelerometer, body: b, delay: 2 ms}\n"                                     \
    "- {name: m, type: magnetometer, body: b, delay: 3 ms}\n"                                      \
    "- {name: quick, type: encoder, body: b}\n"                                                    \
    "- {name: slow, type: encoder, body: b, delay: 7 ms}\n"

static void test_delayed_instruments_are_not_marked_before_they_have_an_answer(void)
{
    bring_up("name: x\n" SPINNER "links: [{name: board, body: a, send: {sensor: 1 kHz}}]\n");
    for (int k = 1; k <= 10; k++) {
        run_frames(1);
        TEST_ASSERT_EQUAL_HEX32(IO_SEND_SENSOR, due & IO_SEND_SENSOR);
        TEST_ASSERT_EQUAL_HEX32((k > 5 ? IO_FIELD_GYRO : 0) | (k > 2 ? IO_FIELD_ACCEL : 0) |
                                    (k > 3 ? IO_FIELD_MAG : 0),
                                fields);
        EXPECT_VECTOR(0, sim->scratch.sample[0].gyro, k > 5, 2 * (k > 5), 3 * (k > 5));
    }
}

static void test_joint_angles_wait_for_the_last_encoder(void)
{
    bring_up("name: x\n" SPINNER LINK);
    for (int k = 1; k <= 20; k++) {
        run_frames(1);
        if (due & IO_SEND_ANGLES) {
            TEST_ASSERT_TRUE(k > 7);
            EXPECT_VECTOR(1e-9, sim->scratch.sample[0].angle, 2, 2);
        }
    }
    TEST_ASSERT_FALSE(sim->scratch.withheld_messages & IO_SEND_ANGLES);
}

/* ArduPilot's and Betaflight's packets cannot say that there is no rate yet. */
static void test_a_packet_without_marks_is_held_back_until_rate_and_force_are_there(void)
{
    static const char *const protocols[] = {"ardupilot", "betaflight"};
    for (int p = 0; p < 2; p++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "name: x\n" SPINNER "links: [{name: board, protocol: %s, body: a}]\n",
                 protocols[p]);
        bring_up(text);
        for (int k = 1; k <= 10; k++) {
            run_frames(1);
            TEST_ASSERT_EQUAL_HEX32(k > 5 ? IO_SEND_SENSOR : 0, due & IO_SEND_SENSOR);
            TEST_ASSERT_EQUAL_INT(k <= 5, sim->scratch.sensor_withheld[0]);
        }
    }
}

/* ---- joints ---- */

static void test_encoders_read_the_angle_or_the_travel_of_their_joint(void)
{
    bring_up("name: x\nbodies:\n- {name: a, joint: fixed, " BALL
             "- {name: b, parent: a, joint: {type: cylindrical, axis: 0 0 1,\n"
             "   turn: {angle: 10 deg, rate: 30 deg/s, prescribed: 0},\n"
             "   slide: {position: 2 m, velocity: -1 m/s, prescribed: 0.5 m/s^2}}, " BALL
             "devices:\n- {name: way, type: encoder, body: b, coordinate: 1, scale: 1 %}\n"
             "- {name: angle, type: encoder, body: b, bias: 1 deg, quantum: 1 mrad}\n" LINK);
    run_frames(500);
    TEST_ASSERT_EQUAL_UINT32(2, sim->scratch.sample[0].angle_count);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.01 * (2 - 0.5 + 0.25 * 0.25),
                              sim->scratch.sample[0].angle[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-3 * nearbyint(26e3 * DEGREE),
                              sim->scratch.sample[0].angle[1]);
    TEST_ASSERT_TRUE(due & IO_SEND_ANGLES);
}

/* ---- sky ---- */

#define LOW ", altitude: 621.863 km"

/* At the equinox the Sun is over x; a circle in the equator's plane, LOW of 7000 km, begins there.
 */
static void bring_up_in_orbit(const char *rate, const char *orbit, const char *joint,
                              const char *devices)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "name: x\nrate: %s\nframe: {watchdog: 10 s}\nenvironment:\n"
             "  world: orbit\n  date: 2026-03-20T14:46:00Z\n"
             "  orbit: {inclination: 0, bulge: false%s}\n"
             "bodies:\n- {name: a, joint: {type: free%s}, " BALL "devices:\n%s" LINK,
             rate, orbit, joint, devices);
    bring_up(text);
}

/* mu = w^2 r^3 with the Earth's own w: it hangs over one place, and an old fix is as good. */
static void test_a_geostationary_receiver_stands_still_on_the_earth(void)
{
    const double w = 7.292115146706979e-5, r = cbrt(3.986004418e14 / (w * w));
    char orbit[64];
    snprintf(orbit, sizeof orbit, ", altitude: %.6f m", r - 6378137.0);
    bring_up_in_orbit("1 Hz", orbit, "", "- {name: p, type: gps, body: a, delay: 10 s}\n");
    run_frames(20);
    const double longitude = sim->scratch.sample[0].fix.longitude;
    run_frames(1000);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, longitude, sim->scratch.sample[0].fix.longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, longitude, sim->scratch.sample[0].longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1, r - 6378137.0, sim->scratch.sample[0].fix.altitude);
    EXPECT_VECTOR(0.01, sim->scratch.sample[0].fix.velocity, 0, 0, 0);
}

#define SUN "- {name: s, type: sun_sensor, body: a, boresight: %s, view: 60 deg}\n"

static void test_a_sun_sensor_sees_the_sun_in_body_axes_and_in_its_cone(void)
{
    static const struct {
        const char *boresight;
        double sun[3];
    } views[] = {{"0 -1 0", {0, -1, 0}}, {"0 -1 1", {0, -1, 0}}, {"0 1 0", {0}}, {"1 0 0", {0}}};
    for (int i = 0; i < 4; i++) {
        char device[256];
        snprintf(device, sizeof device, SUN, views[i].boresight);
        bring_up_in_orbit("100 Hz", LOW, ", attitude: {yaw: 90 deg}", device);
        run_frames(1);
        expect_vector(0.01, views[i].sun, sim->scratch.sample[0].sun, 3);
    }
}

/* The Earth hides the Sun from pi - asin(R / r) on: 1851 s of a period of 5829 s. */
static void test_the_sun_sets_behind_the_earth(void)
{
    bring_up_in_orbit("1 Hz", LOW, "",
                      "- {name: s, type: sun_sensor, body: a, boresight: 1 0 0, view: 60 deg}\n");
    const double r = 7e6, period = 2 * PI * sqrt(r * r * r / 3.986004418e14);
    const int sets = (int)(period * (0.5 - asin(6378137.0 / r) / (2 * PI)));
    run_frames(sets - 20);
    EXPECT_VECTOR(0.02, sim->scratch.sample[0].sun, 1, 0, 0);
    run_frames(40);
    EXPECT_VECTOR(1e-12, sim->scratch.sample[0].sun, 0, 0, 0);
}

#define TRACKER "- {name: t, type: star_tracker, body: a, %s}\n"

static void expect_tracker(const char *joint, const char *keys, uint32_t valid)
{
    char device[256];
    snprintf(device, sizeof device, TRACKER, keys);
    bring_up_in_orbit("100 Hz", LOW, joint, device);
    run_frames(100);
    TEST_ASSERT_EQUAL_UINT32_MESSAGE(valid, sim->scratch.sample[0].tracker_valid, keys);
}

/* A ball keeps turning as it did: 20 deg/s about z for a second. */
static void test_a_star_tracker_gives_the_attitude_turned_by_its_misalignment(void)
{
    expect_tracker(", rate: 0 0 20 deg/s", "boresight: 0 0 1, misalignment: 0 0 0.1 rad", 1);
    EXPECT_VECTOR(1e-9, sim->scratch.sample[0].tracker, cos(10 * DEGREE + 0.05), 0, 0,
                  sin(10 * DEGREE + 0.05));
    EXPECT_VECTOR(1e-9, sim->scratch.sample[0].attitude, cos(10 * DEGREE), 0, 0, sin(10 * DEGREE));
}

/* Over x the Sun is along x and the Earth along -x, with 65.66 deg of radius. */
static void test_a_star_tracker_is_blind_near_sun_and_earth_and_when_it_turns(void)
{
    expect_tracker("", "boresight: 1 0 0", 1);
    expect_tracker("", "boresight: 1 0 0, sun_exclusion: 10 deg", 0);
    expect_tracker("", "boresight: 1 1 0, sun_exclusion: 44 deg", 1);
    expect_tracker("", "boresight: 1 1 0, sun_exclusion: 46 deg", 0);
    expect_tracker("", "boresight: -1 0 0", 0);
    expect_tracker("", "boresight: 0 0 1, earth_exclusion: 24 deg", 1);
    expect_tracker("", "boresight: 0 0 1, earth_exclusion: 25 deg", 0);
    expect_tracker(", rate: 0 0 3 deg/s", "boresight: 0 0 1, max_rate: 4 deg/s", 1);
    expect_tracker(", rate: 0 0 3 deg/s", "boresight: 0 0 1, max_rate: 2 deg/s", 0);
}

/* ---- the horizon ---- */

#define HORIZON "- {name: h, type: horizon_sensor, body: a, %s}\n"

static double reading[1][SIM_READING_MAX];

/* Over x the Sun is along x and the Earth along -x, with 65.66 deg of radius. */
static void expect_horizon(const char *keys, double seen)
{
    char device[256];
    snprintf(device, sizeof device, HORIZON, keys);
    bring_up_in_orbit("100 Hz", LOW, "", device);
    sim->reading = reading;
    run_frames(100);
    TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(seen, reading[0][3], keys);
    const double *r = sim->vehicle->x;
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    EXPECT_VECTOR(1e-12, reading[0], -seen * r[0] / length, -seen * r[1] / length,
                  -seen * r[2] / length);
}

static void test_a_horizon_sensor_sees_the_earth_in_its_cone_and_away_from_the_sun(void)
{
    expect_horizon("boresight: -1 0 0", 1);
    expect_horizon("boresight: -1 1 0, view: 46 deg", 1);
    expect_horizon("boresight: -1 1 0, view: 44 deg", 0);
    expect_horizon("boresight: 1 0 0", 0);
    expect_horizon("boresight: -1 0 0, sun_exclusion: 110 deg", 1);
    expect_horizon("boresight: -1 0 0, sun_exclusion: 115 deg", 0); /* limb: 114.34 deg */
}

static void test_no_message_waits_for_a_horizon_sensor(void)
{
    bring_up_in_orbit("100 Hz", LOW, "",
                      "- {name: h, type: horizon_sensor, body: a, "
                      "boresight: -1 0 0, delay: 50 ms}\n");
    TEST_ASSERT_EQUAL_HEX32(0, sim->scratch.withheld_messages);
    run_frames(100);
    TEST_ASSERT_EQUAL_HEX32(0, sim->scratch.withheld_messages);
}

static void bring_up_horizon_with_fault(const char *fault)
{
    static char device[512];
    snprintf(device, sizeof device,
             "- {name: h, type: horizon_sensor, body: a, boresight: -1 0 0}\n"
             "faults: [{device: h, at: 100 ms, for: 100 ms, %s}]\n",
             fault);
    bring_up_in_orbit("100 Hz", LOW, ", rate: 0 0 10 deg/s", device);
    sim->reading = reading;
}

/* The body turns by 0.1 deg a frame; the Earth goes the other way. */
static void expect_horizon_angle(int frame, double degrees)
{
    run_frames(frame - (int)frames);
    TEST_ASSERT_EQUAL_DOUBLE(1, reading[0][3]);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, degrees, -atan2(-reading[0][1], -reading[0][0]) / DEGREE);
}

static void test_a_horizon_sensor_goes_wrong_by_a_turn_or_as_a_whole(void)
{
    const double orbit = 0.0006; /* deg a frame, by which the Earth's centre follows */
    bring_up_horizon_with_fault("type: bias, value: -2 deg, axes: [2]");
    expect_horizon_angle(10, 1.0 - 10 * orbit);
    expect_horizon_angle(15, 3.5 - 15 * orbit);
    expect_horizon_angle(21, 2.1 - 21 * orbit);
    bring_up_horizon_with_fault("type: stuck");
    expect_horizon_angle(20, 1.1 - 11 * orbit);
    bring_up_horizon_with_fault("type: delay, value: 40 ms");
    expect_horizon_angle(20, 1.6 - 16 * orbit);
    bring_up_horizon_with_fault("type: loss");
    expect_horizon_angle(20, 1.0 - 10 * orbit);
    expect_horizon_angle(21, 2.1 - 21 * orbit);
}

/* A dipole over the equator: north, some 30 uT at the ground and less by the cube of r. */
static void test_the_field_is_that_of_where_the_vehicle_is(void)
{
    bring_up_in_orbit("1 Hz", LOW, "", "- {name: m, type: magnetometer, body: a}\n");
    if (!scenario->spec.world.has_field)
        TEST_IGNORE_MESSAGE("built without the World Magnetic Model");
    double least = 1, most = 0;
    for (int i = 0; i < 30; i++) {
        run_frames(100);
        least = fmin(least, sim->scratch.sample[0].mag[2]);
        most = fmax(most, sim->scratch.sample[0].mag[2]);
    }
    TEST_ASSERT_TRUE(least > 15e-6 && most < 40e-6 && most - least > 2e-6);
}

/* ---- faults ---- */

/* A hinge that turns ever faster, 1 rad/s^2; its gyro, with one fault from 0.1 s to 0.2 s. */
static void bring_up_with_fault(const char *fault)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "name: x\nenvironment: {world: local, home: {altitude: 0}}\nbodies:\n"
             "- {name: a, joint: {type: revolute, axis: 0 0 1, prescribed: 1 rad/s^2}, " BALL
             "devices:\n- {name: g, type: gyro, body: a}\n"
             "- {name: p, type: gps, body: a, rate: 100 Hz}\n"
             "- {name: e, type: encoder, body: a}\n"
             "- {name: t, type: star_tracker, body: a, boresight: 0 0 1}\n"
             "links: [{name: board, body: a, send: {sensor: 1 kHz, gps: 100 Hz}}]\n"
             "faults: [{at: 100 ms, for: 100 ms, %s}]\n",
             fault);
    bring_up(text);
}

static void expect_gyro(int frame, double x, double z)
{
    run_frames(frame - (int)frames);
    EXPECT_VECTOR(1e-9, sim->scratch.sample[0].gyro, x, 0, z);
}

static void test_a_bias_comes_and_goes(void)
{
    bring_up_with_fault("device: g, type: bias, value: 0.5 rad/s, axes: [0, 2]");
    expect_gyro(100, 0, 0.1);
    expect_gyro(101, 0.5, 0.601);
    expect_gyro(200, 0.5, 0.7);
    expect_gyro(201, 0, 0.201);
}

static void test_a_drift_grows_from_its_beginning_on(void)
{
    bring_up_with_fault("device: g, type: drift, value: 2 rad/s^2, axes: [0]");
    expect_gyro(100, 0, 0.1);
    expect_gyro(101, 0, 0.101);
    expect_gyro(151, 0.1, 0.151);
    expect_gyro(201, 0, 0.201);
}

static void test_a_stuck_gyro_stays_where_it_was(void)
{
    bring_up_with_fault("device: g, type: stuck");
    expect_gyro(101, 0, 0.101);
    expect_gyro(200, 0, 0.101);
    expect_gyro(201, 0, 0.201);
    bring_up_with_fault("device: g, type: stuck, value: -3 rad/s, axes: [2]");
    expect_gyro(150, 0, -3);
}

static void test_a_late_gyro_says_what_was(void)
{
    bring_up_with_fault("device: g, type: delay, value: 30 ms");
    expect_gyro(100, 0, 0.1);
    expect_gyro(101, 0, 0.071);
    expect_gyro(200, 0, 0.17);
}

static void test_a_dropped_gyro_has_no_new_reading(void)
{
    bring_up_with_fault("device: g, type: dropout");
    run_frames(100);
    TEST_ASSERT_EQUAL_HEX32(IO_FIELD_GYRO, fields);
    for (int i = 0; i < 100; i++) {
        run_frames(1);
        TEST_ASSERT_EQUAL_HEX32(0, fields);
        EXPECT_VECTOR(1e-9, sim->scratch.sample[0].gyro, 0, 0, 0.1);
    }
    run_frames(1);
    TEST_ASSERT_EQUAL_HEX32(IO_FIELD_GYRO, fields);
}

static int count_messages(uint32_t bit, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        run_frames(1);
        sum += (due & bit) != 0;
    }
    return sum;
}

static void test_what_only_a_lost_instrument_feeds_is_not_sent(void)
{
    bring_up_with_fault("device: p, type: loss");
    TEST_ASSERT_EQUAL_INT(10, count_messages(IO_SEND_GPS, 100));
    TEST_ASSERT_EQUAL_INT(0, count_messages(IO_SEND_GPS, 100));
    TEST_ASSERT_EQUAL_INT(10, count_messages(IO_SEND_GPS, 100));
    bring_up_with_fault("device: t, type: loss");
    TEST_ASSERT_EQUAL_INT(100, count_messages(IO_SEND_TRACKER, 100));
    TEST_ASSERT_EQUAL_INT(0, count_messages(IO_SEND_TRACKER, 100));
    TEST_ASSERT_EQUAL_INT(1, count_messages(IO_SEND_TRACKER, 1));
}

/* Half of it, by a seed. */
static void test_a_dropout_strikes_by_its_chance(void)
{
    bring_up_with_fault("device: t, type: dropout, value: 0.5");
    run_frames(100);
    const int sent = count_messages(IO_SEND_TRACKER, 100);
    TEST_ASSERT_INT_WITHIN(20, 50, sent);
    bring_up_with_fault("device: t, type: dropout, value: 0.5");
    run_frames(100);
    TEST_ASSERT_EQUAL_INT(sent, count_messages(IO_SEND_TRACKER, 100));
}

/* Receiver: 10 m to the north are 10 m, and a stuck one holds its velocity too. */
static void test_a_receiver_goes_wrong_in_metres(void)
{
    bring_up_with_fault("device: p, type: bias, value: 10 m, axes: [2]");
    run_frames(100);
    const double altitude = sim->scratch.sample[0].fix.altitude;
    run_frames(50);
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, altitude - 10, sim->scratch.sample[0].fix.altitude);
}

static void test_a_stuck_receiver_does_not_move_at_all(void)
{
    bring_up("name: x\nenvironment: {gravity: 0 0 9.81}\nbodies:\n- {name: a, joint: free, " BALL
             "devices: [{name: p, type: gps, body: a}]\n" LINK
             "faults: [{device: p, type: stuck, frame: 99}]\n");
    run_frames(100);
    const struct io_geodetic_fix held = sim->scratch.sample[0].fix;
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.981, held.velocity[2]);
    run_frames(100);
    TEST_ASSERT_EQUAL_MEMORY(&held, &sim->scratch.sample[0].fix, sizeof held);
}

static void test_a_tracker_with_a_bias_is_turned_by_it(void)
{
    bring_up_with_fault("device: t, type: bias, value: 1 mrad, axes: [2]");
    run_frames(150);
    const double angle =
        2 * atan2(sim->scratch.sample[0].tracker[3], sim->scratch.sample[0].tracker[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5 * 0.15 * 0.15 + 1e-3, angle);
    const double *q = sim->scratch.sample[0].tracker;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_barometer_feels_the_standard_atmosphere_where_it_sits);
    RUN_TEST(test_an_airspeed_probe_feels_the_wind_on_its_nose);
    RUN_TEST(test_gusts_have_their_deviation_and_their_time);
    RUN_TEST(test_a_gps_knows_where_on_the_earth_it_is);
    RUN_TEST(test_a_late_fix_is_where_it_was);
    RUN_TEST(test_a_delayed_fix_is_not_sent_before_there_is_one);
    RUN_TEST(test_delayed_instruments_are_not_marked_before_they_have_an_answer);
    RUN_TEST(test_joint_angles_wait_for_the_last_encoder);
    RUN_TEST(test_a_packet_without_marks_is_held_back_until_rate_and_force_are_there);
    RUN_TEST(test_encoders_read_the_angle_or_the_travel_of_their_joint);
    RUN_TEST(test_a_geostationary_receiver_stands_still_on_the_earth);
    RUN_TEST(test_a_sun_sensor_sees_the_sun_in_body_axes_and_in_its_cone);
    RUN_TEST(test_the_sun_sets_behind_the_earth);
    RUN_TEST(test_a_star_tracker_gives_the_attitude_turned_by_its_misalignment);
    RUN_TEST(test_a_star_tracker_is_blind_near_sun_and_earth_and_when_it_turns);
    RUN_TEST(test_a_horizon_sensor_sees_the_earth_in_its_cone_and_away_from_the_sun);
    RUN_TEST(test_no_message_waits_for_a_horizon_sensor);
    RUN_TEST(test_a_horizon_sensor_goes_wrong_by_a_turn_or_as_a_whole);
    RUN_TEST(test_the_field_is_that_of_where_the_vehicle_is);
    RUN_TEST(test_a_bias_comes_and_goes);
    RUN_TEST(test_a_drift_grows_from_its_beginning_on);
    RUN_TEST(test_a_stuck_gyro_stays_where_it_was);
    RUN_TEST(test_a_late_gyro_says_what_was);
    RUN_TEST(test_a_dropped_gyro_has_no_new_reading);
    RUN_TEST(test_what_only_a_lost_instrument_feeds_is_not_sent);
    RUN_TEST(test_a_dropout_strikes_by_its_chance);
    RUN_TEST(test_a_receiver_goes_wrong_in_metres);
    RUN_TEST(test_a_stuck_receiver_does_not_move_at_all);
    RUN_TEST(test_a_tracker_with_a_bias_is_turned_by_it);
    return UNITY_END();
}
