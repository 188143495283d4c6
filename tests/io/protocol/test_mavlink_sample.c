/*
 * Samples and states as messages, against the published tables of offsets and units.
 */
#include "tests/io/protocol/mavlink_fixture.h"

static float float_at(size_t offset)
{
    float value;
    memcpy(&value, frame + 10 + offset, sizeof value);
    return value;
}

static int32_t int32_at(size_t offset)
{
    int32_t value;
    memcpy(&value, frame + 10 + offset, sizeof value);
    return value;
}

static int16_t int16_at(size_t offset)
{
    int16_t value;
    memcpy(&value, frame + 10 + offset, sizeof value);
    return value;
}

static uint64_t uint64_at(size_t offset)
{
    uint64_t value;
    memcpy(&value, frame + 10 + offset, sizeof value);
    return value;
}

/* Header, length and checksum are those of a MAVLink 2 frame with this id. */
static void check_frame(size_t size, uint32_t id, uint8_t extra, size_t payload_max)
{
    TEST_ASSERT_EQUAL_HEX8(0xfd, frame[0]);
    TEST_ASSERT_EQUAL_size_t(size, 12u + frame[1]);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(payload_max, frame[1]);
    const unsigned char rest[] = {0, 0, 5, MINE, 200, (unsigned char)id, 0, 0};
    TEST_ASSERT_EQUAL_HEX8_ARRAY(rest, frame + 2, sizeof rest);
    TEST_ASSERT_NOT_EQUAL_HEX8(0, frame[size - 3]); /* trimmed */
    const uint16_t crc = wire_crc(frame + 1, size - 3, extra);
    TEST_ASSERT_EQUAL_HEX16(crc, frame[size - 2] | frame[size - 1] << 8);
    memset(frame + size - 2, 0, sizeof frame - size + 2); /* read past the trimmed end */
}

static void test_a_heartbeat_has_the_published_bytes(void)
{
    /* custom_mode 0, type 0 generic, autopilot 8 invalid, base_mode 0, status 4 active, version 3
     */
    const unsigned char payload[] = {0, 0, 0, 0, 0, 8, 0, 4, 3};
    struct wire expected = wire_v2(0, 5, HEARTBEAT, CRC_HEARTBEAT, payload, sizeof payload);
    expected.bytes[5] = MINE;
    expected.bytes[6] = 200;
    expected.size -= 2;
    wire_end(&expected, CRC_HEARTBEAT);
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    TEST_ASSERT_EQUAL_size_t(expected.size, io_mavlink_encode(&sender, &message, frame));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(expected.bytes, frame, expected.size);
    TEST_ASSERT_EQUAL_UINT8(6, sender.sequence);
}

static const struct io_sample sample = {
    .sim_us = 123456789,
    .fields = IO_FIELD_ACCEL | IO_FIELD_GYRO | IO_FIELD_MAG,
    .accel = {0.5, -0.25, -9.81},
    .gyro = {0.01, -0.02, 0.03},
    .mag = {21.5e-6, 1.0e-6, 42.7e-6},
    .pressure = 95000.0,
    .temperature = 15.5,
    .diff_pressure = 150.0,
    .fix = {.latitude = 0.5,
            .longitude = -1.25,
            .altitude = 488.1234,
            .velocity = {3.0, -4.0, 1.006},
            .eph = 1.25,
            .epv = 2.504,
            .type = 3,
            .satellites = 11},
    .tracker = {0.5, 0.5, -0.5, 0.5},
    .tracker_valid = 1,
    .sun = {0.6, 0.0, -0.8},
    .angle = {0.25, -1.5, 3.0},
    .angle_count = 3,
    .rc = {1500, 1501, 1000, 1502, 2000},
    .airspeed = 12.344,
    .attitude = {0.5, -0.5, 0.25, 0.75},
    .rate = {0.1, 0.2, -0.3},
    .velocity = {5.0, -6.0, 2.006}, /* differs from the receiver's velocity */
    .latitude = 0.25,
    .longitude = 1.5,
    .altitude = 499.0,
    .true_accel = {9.80665, -19.6133, 0.0098},
};

static void test_a_sensor_message_has_its_fields_at_their_offsets_in_their_units(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_SENSOR, &message);
    const size_t size = io_mavlink_encode(&sender, &message, frame);
    check_frame(size, SENSOR, 108, 65);
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_FLOAT(-9.81f, float_at(16));
    TEST_ASSERT_EQUAL_FLOAT(0.01f, float_at(20));
    TEST_ASSERT_EQUAL_FLOAT(0.215f, float_at(32)); /* gauss */
    TEST_ASSERT_EQUAL_FLOAT(0.010f, float_at(36));
    TEST_ASSERT_EQUAL_FLOAT(0.427f, float_at(40));
    TEST_ASSERT_EQUAL_FLOAT(950.0f, float_at(44)); /* hPa */
    TEST_ASSERT_EQUAL_FLOAT(1.5f, float_at(48));
    TEST_ASSERT_EQUAL_FLOAT(540.3368f, float_at(52)); /* 44330.77 m (1 - 0.93758^0.190263) */
    TEST_ASSERT_EQUAL_FLOAT(15.5f, float_at(56));
    TEST_ASSERT_EQUAL_INT32(0x1ff, int32_at(60));
    TEST_ASSERT_EQUAL_size_t(12 + 62, size); /* fields 0x1ff and id 0 leave three zero bytes */
}

static void test_a_gps_message_is_scaled_and_rounded(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_GPS, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), GPS, 124, 39);
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_INT32(286478898, int32_at(8));       /* 0.5 rad = 28.64788976 deg */
    TEST_ASSERT_EQUAL_INT32(-716197244, int32_at(12));     /* -1.25 rad = -71.6197244 deg */
    TEST_ASSERT_EQUAL_INT32(488123, int32_at(16));         /* mm */
    TEST_ASSERT_EQUAL_UINT16(125, (uint16_t)int16_at(20)); /* cm */
    TEST_ASSERT_EQUAL_UINT16(250, (uint16_t)int16_at(22));
    TEST_ASSERT_EQUAL_INT16(500, int16_at(24)); /* 3-4-5 */
    TEST_ASSERT_EQUAL_INT16(300, int16_at(26));
    TEST_ASSERT_EQUAL_INT16(-400, int16_at(28));
    TEST_ASSERT_EQUAL_INT16(101, int16_at(30));
    TEST_ASSERT_EQUAL_UINT16(30687, (uint16_t)int16_at(32)); /* 360 - atan(4/3) */
    TEST_ASSERT_EQUAL_UINT8(3, frame[10 + 34]);
    TEST_ASSERT_EQUAL_UINT8(11, frame[10 + 35]);
}

static void test_a_state_message_is_scaled_and_rounded(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_STATE, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), STATE, 4, 64);
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_FLOAT((float)sample.attitude[i], float_at(8 + 4 * (size_t)i));
    TEST_ASSERT_EQUAL_FLOAT(-0.3f, float_at(32));
    TEST_ASSERT_EQUAL_INT32(143239449, int32_at(36)); /* 0.25 rad, the truth */
    TEST_ASSERT_EQUAL_INT32(499000, int32_at(44));
    TEST_ASSERT_EQUAL_INT16(500, int16_at(48));
    TEST_ASSERT_EQUAL_INT16(201, int16_at(52));
    TEST_ASSERT_EQUAL_INT16(0, int16_at(54));
    TEST_ASSERT_EQUAL_INT16(1234, int16_at(56)); /* true airspeed */
    TEST_ASSERT_EQUAL_INT16(1000, int16_at(58)); /* mG */
    TEST_ASSERT_EQUAL_INT16(-2000, int16_at(60));
    TEST_ASSERT_EQUAL_INT16(1, int16_at(62));
}

static void test_numbers_beyond_the_wire_stop_at_its_ends(void)
{
    struct io_sample fast = sample;
    fast.fix.velocity[0] = 7600.0; /* an orbit */
    fast.fix.velocity[1] = -7600.0;
    fast.fix.velocity[2] = (double)NAN;
    fast.fix.altitude = 1e9;
    fast.fix.eph = 1e9;
    fast.fix.satellites = 300;
    io_mavlink_from_sample(&fast, IO_MAVLINK_GPS, &message);
    TEST_ASSERT_EQUAL_INT16(INT16_MAX, message.gps.velocity_cms[0]);
    TEST_ASSERT_EQUAL_INT16(INT16_MIN, message.gps.velocity_cms[1]);
    TEST_ASSERT_EQUAL_INT16(0, message.gps.velocity_cms[2]);
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, message.gps.speed_cms);
    TEST_ASSERT_EQUAL_INT32(INT32_MAX, message.gps.altitude_mm);
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, message.gps.eph);
    TEST_ASSERT_EQUAL_UINT8(UINT8_MAX, message.gps.satellites);
    TEST_ASSERT_EQUAL_UINT16(31500, message.gps.course_cdeg);
    fast.fix.velocity[0] = fast.fix.velocity[1] = 0.0;
    io_mavlink_from_sample(&fast, IO_MAVLINK_GPS, &message);
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, message.gps.course_cdeg); /* unknown at rest */
    fast.fix.velocity[0] = 100.0;
    fast.fix.velocity[1] = -1e-6;
    io_mavlink_from_sample(&fast, IO_MAVLINK_GPS, &message);
    TEST_ASSERT_EQUAL_UINT16(0, message.gps.course_cdeg); /* never 360 */
}

/* ATT_POS_MOCAP: time | q[4] | x y z | covariance[21], id 138 */
static void test_a_star_tracker_sends_an_attitude_and_no_position(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_TRACKER, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), 138, 109, 120);
    TEST_ASSERT_EQUAL_UINT8(8 + 4 * 8, frame[1]); /* trimmed after the NaN of the covariance */
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_FLOAT(0.5f, float_at(8));
    TEST_ASSERT_EQUAL_FLOAT(-0.5f, float_at(16));
    for (size_t i = 0; i < 4; i++)
        TEST_ASSERT_TRUE(isnan(float_at(24 + 4 * i)));
}

/* DEBUG_VECT: time | x y z | name[10], id 250 */
static void test_a_sun_sensor_sends_a_vector_by_name(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_VECTOR, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), 250, 49, 30);
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_FLOAT(0.6f, float_at(8));
    TEST_ASSERT_EQUAL_FLOAT(0.0f, float_at(12));
    TEST_ASSERT_EQUAL_FLOAT(-0.8f, float_at(16));
    TEST_ASSERT_EQUAL_STRING("sun", (const char *)frame + 10 + 20);
}

/* DEBUG_FLOAT_ARRAY: time | array_id | name[10] | data[58], id 350 */
static void test_encoders_send_an_array_by_name(void)
{
    struct io_sample sixteen = sample;
    sixteen.angle_count = 99; /* more than the array has */
    sixteen.angle[15] = 8.0;
    io_mavlink_from_sample(&sixteen, IO_MAVLINK_ARRAY, &message);
    TEST_ASSERT_EQUAL_FLOAT(8.0f, message.array.value[15]);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.array.value[16]);
    io_mavlink_from_sample(&sample, IO_MAVLINK_ARRAY, &message);
    const size_t size = io_mavlink_encode(&sender, &message, frame);
    TEST_ASSERT_EQUAL_UINT8(20 + 4 * 3, frame[1]);
    TEST_ASSERT_EQUAL_HEX8(350 & 0xff, frame[7]);
    TEST_ASSERT_EQUAL_HEX8(350 >> 8, frame[8]);
    TEST_ASSERT_EQUAL_HEX16(wire_crc(frame + 1, size - 3, 232),
                            frame[size - 2] | frame[size - 1] << 8);
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_STRING("angles", (const char *)frame + 10 + 10);
    TEST_ASSERT_EQUAL_FLOAT(0.25f, float_at(20));
    TEST_ASSERT_EQUAL_FLOAT(-1.5f, float_at(24));
    TEST_ASSERT_EQUAL_FLOAT(3.0f, float_at(28));
}

/* RC_CHANNELS: boot_ms | channel[18] | count | rssi, id 65 */
static void test_the_sticks_are_sent_as_pulse_widths(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_RC, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), 65, 118, 42);
    TEST_ASSERT_EQUAL_INT32(123456, int32_at(0));
    TEST_ASSERT_EQUAL_INT16(1500, int16_at(4));
    TEST_ASSERT_EQUAL_INT16(1000, int16_at(8)); /* throttle is the third channel */
    TEST_ASSERT_EQUAL_INT16(2000, int16_at(12));
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, (uint16_t)int16_at(4 + 2 * 16)); /* not used */
    TEST_ASSERT_EQUAL_UINT8(16, frame[10 + 40]);
    TEST_ASSERT_EQUAL_UINT8(255, frame[10 + 41]);
}

static void test_without_a_barometer_no_altitude_is_invented(void)
{
    struct io_sample bare = sample;
    bare.pressure = 0.0;
    io_mavlink_from_sample(&bare, IO_MAVLINK_SENSOR, &message);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.sensor.pressure_altitude_m);
}

static void test_a_timesync_answer_echoes_and_goes_to_its_asker(void)
{
    const int64_t request[2] = {0, 4711};
    const struct wire wire = wire_v2(0, 0, TIMESYNC, CRC_TIMESYNC, request, sizeof request);
    struct io_mavlink_message answer;
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    io_mavlink_timesync_reply(&message, 123456, &answer);
    check_frame(io_mavlink_encode(&sender, &answer, frame), TIMESYNC, CRC_TIMESYNC, 18);
    TEST_ASSERT_EQUAL_UINT64(123456, uint64_at(0));
    TEST_ASSERT_EQUAL_UINT64(4711, uint64_at(8));
    TEST_ASSERT_EQUAL_UINT8(1, frame[26]);
    TEST_ASSERT_EQUAL_UINT8(1, frame[27]);
}

static void round_trip(const struct io_mavlink_message *in)
{
    unsigned char again[IO_MAVLINK_FRAME_MAX];
    struct io_mavlink_sender twin = sender;
    const size_t size = io_mavlink_encode(&sender, in, frame);
    TEST_ASSERT_EQUAL(1, feed(frame, size));
    TEST_ASSERT_EQUAL(in->kind, message.kind);
    TEST_ASSERT_EQUAL_UINT8(MINE, message.system_id);
    TEST_ASSERT_EQUAL_size_t(size, io_mavlink_encode(&twin, &message, again));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(frame, again, size);
}

static void test_every_message_survives_encoding_and_decoding(void)
{
    struct io_mavlink_message in;
    const enum io_mavlink_kind kinds[] = {IO_MAVLINK_TRACKER, IO_MAVLINK_VECTOR, IO_MAVLINK_ARRAY,
                                          IO_MAVLINK_RC,      IO_MAVLINK_SENSOR, IO_MAVLINK_GPS,
                                          IO_MAVLINK_STATE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        io_mavlink_from_sample(&sample, kinds[i], &in);
        round_trip(&in);
    }
    TEST_ASSERT_EQUAL_INT16(-2000, message.state.accel_mg[1]);
    TEST_ASSERT_EQUAL_FLOAT(0.25f, message.state.attitude[2]);
    io_mavlink_from_sample(&sample, IO_MAVLINK_SENSOR, &in);
    in.sensor.id = 2;
    in.sensor.diff_pressure_hpa = 1.5f;
    round_trip(&in);
    TEST_ASSERT_EQUAL_UINT8(2, message.sensor.id);
    TEST_ASSERT_EQUAL_FLOAT(1.5f, message.sensor.diff_pressure_hpa);
    TEST_ASSERT_EQUAL_FLOAT(0.427f, message.sensor.mag[2]);
    in = (struct io_mavlink_message){.kind = IO_MAVLINK_TIME,
                                     .time = {.unix_us = UINT64_MAX - 1, .boot_ms = 99}};
    round_trip(&in);
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX - 1, message.time.unix_us);
    TEST_ASSERT_EQUAL_UINT32(99, message.time.boot_ms);
    in = (struct io_mavlink_message){.kind = IO_MAVLINK_CONTROLS,
                                     .controls = {.time_us = 5, .flags = 1, .mode = 0x81}};
    in.controls.controls[15] = -0.5f;
    round_trip(&in);
    TEST_ASSERT_EQUAL_FLOAT(-0.5f, message.controls.controls[15]);
    TEST_ASSERT_EQUAL_UINT64(0, bad() + counted()->lost);
}

static void test_every_number_of_a_sample_has_its_place(void)
{
    struct io_sample all = sample;
    for (int i = 0; i < IO_RC_MAX; i++)
        all.rc[i] = (uint16_t)(1000 + i);
    for (int i = 0; i < IO_ANGLE_MAX; i++)
        all.angle[i] = i + 1;
    for (int i = 0; i < 4; i++)
        all.tracker[i] = i + 1;
    io_mavlink_from_sample(&all, IO_MAVLINK_RC, &message);
    for (int i = 0; i < IO_MAVLINK_RC_MAX; i++)
        TEST_ASSERT_EQUAL_UINT16(i < 16 ? 1000 + i : UINT16_MAX, message.rc.channel_us[i]);
    all.angle_count = 7;
    io_mavlink_from_sample(&all, IO_MAVLINK_ARRAY, &message);
    for (int i = 0; i < IO_MAVLINK_ARRAY_MAX; i++)
        TEST_ASSERT_EQUAL_FLOAT(i < 7 ? (float)(i + 1) : 0.0f, message.array.value[i]);
    all.angle_count = IO_ANGLE_MAX;
    io_mavlink_from_sample(&all, IO_MAVLINK_ARRAY, &message);
    TEST_ASSERT_EQUAL_FLOAT(16.0f, message.array.value[15]);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.array.value[16]);
    io_mavlink_from_sample(&all, IO_MAVLINK_TRACKER, &message);
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_FLOAT((float)(i + 1), message.tracker.attitude[i]);
    io_mavlink_from_sample(&all, IO_MAVLINK_STATE, &message);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_FLOAT((float)sample.rate[i], message.state.rate[i]);
    TEST_ASSERT_EQUAL_INT32(859436693, message.state.longitude_e7); /* 1.5 rad */
    TEST_ASSERT_EQUAL_INT16(-600, message.state.velocity_cms[1]);
    io_mavlink_from_sample(&all, IO_MAVLINK_SENSOR, &message);
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_FLOAT((float)sample.accel[i], message.sensor.accel[i]);
        TEST_ASSERT_EQUAL_FLOAT((float)sample.gyro[i], message.sensor.gyro[i]);
    }
}

static uint16_t course_of(double north, double east)
{
    struct io_sample moving = sample;
    moving.fix.velocity[0] = north;
    moving.fix.velocity[1] = east;
    io_mavlink_from_sample(&moving, IO_MAVLINK_GPS, &message);
    return message.gps.course_cdeg;
}

static void test_the_course_goes_round_the_compass(void)
{
    TEST_ASSERT_EQUAL_UINT16(0, course_of(1.0, 0.0));
    TEST_ASSERT_EQUAL_UINT16(4500, course_of(1.0, 1.0));
    TEST_ASSERT_EQUAL_UINT16(9000, course_of(0.0, 1.0));
    TEST_ASSERT_EQUAL_UINT16(18000, course_of(-1.0, 0.0));
    TEST_ASSERT_EQUAL_UINT16(18000, course_of(-1.0, -0.0));
    TEST_ASSERT_EQUAL_UINT16(27000, course_of(0.0, -1.0));
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, course_of(0.1, 0.0)); /* not faster than the limit */
    TEST_ASSERT_EQUAL_UINT16(0, course_of(nextafter(0.1, 1.0), 0.0));
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, course_of((double)NAN, 1.0));
}

static void test_numbers_are_rounded_to_the_nearest(void)
{
    struct io_sample near = sample;
    near.fix.velocity[0] = 0.014;
    near.fix.velocity[1] = -0.014;
    near.fix.velocity[2] = -0.016;
    near.fix.epv = -1.0;
    near.fix.altitude = -1e9;
    near.fix.satellites = 254;
    near.fix.type = 256;
    near.airspeed = 655.36;
    io_mavlink_from_sample(&near, IO_MAVLINK_GPS, &message);
    TEST_ASSERT_EQUAL_INT16(1, message.gps.velocity_cms[0]);
    TEST_ASSERT_EQUAL_INT16(-1, message.gps.velocity_cms[1]);
    TEST_ASSERT_EQUAL_INT16(-2, message.gps.velocity_cms[2]);
    TEST_ASSERT_EQUAL_UINT16(0, message.gps.epv);
    TEST_ASSERT_EQUAL_INT32(INT32_MIN, message.gps.altitude_mm);
    TEST_ASSERT_EQUAL_UINT8(254, message.gps.satellites);
    TEST_ASSERT_EQUAL_UINT8(255, message.gps.fix);
    io_mavlink_from_sample(&near, IO_MAVLINK_STATE, &message);
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, message.state.true_cms);
}

static void test_the_sea_is_at_no_altitude_and_a_mountain_is_high(void)
{
    struct io_sample at = sample;
    at.pressure = 101325.0;
    io_mavlink_from_sample(&at, IO_MAVLINK_SENSOR, &message);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.sensor.pressure_altitude_m);
    TEST_ASSERT_EQUAL_FLOAT(1013.25f, message.sensor.pressure_hpa);
    at.pressure = 54019.9; /* of the standard atmosphere at 5000 m */
    io_mavlink_from_sample(&at, IO_MAVLINK_SENSOR, &message);
    TEST_ASSERT_FLOAT_WITHIN(2.0f, 5000.0f, message.sensor.pressure_altitude_m);
    at.pressure = -1.0;
    io_mavlink_from_sample(&at, IO_MAVLINK_SENSOR, &message);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.sensor.pressure_altitude_m);
}

static void test_every_status_is_sent(void)
{
    const enum io_mavlink_status states[] = {IO_MAVLINK_ACTIVE, IO_MAVLINK_EMERGENCY,
                                             IO_MAVLINK_POWEROFF};
    for (int i = 0; i < 3; i++) {
        io_mavlink_from_status(states[i], &message);
        TEST_ASSERT_EQUAL(IO_MAVLINK_HEARTBEAT, message.kind);
        TEST_ASSERT_EQUAL_UINT8(states[i], message.heartbeat.status);
        TEST_ASSERT_EQUAL_UINT8(0, message.heartbeat.type);
        TEST_ASSERT_EQUAL_UINT8(8, message.heartbeat.autopilot);
        TEST_ASSERT_EQUAL_UINT8(0, message.heartbeat.base_mode);
    }
}

static void test_an_answer_names_system_and_component(void)
{
    struct io_mavlink_message answer;
    message = (struct io_mavlink_message){.kind = IO_MAVLINK_TIMESYNC,
                                          .system_id = 3,
                                          .component_id = 9,
                                          .timesync = {.tc1 = 0, .ts1 = 4711}};
    io_mavlink_timesync_reply(&message, 123456, &answer);
    TEST_ASSERT_EQUAL(IO_MAVLINK_TIMESYNC, answer.kind);
    TEST_ASSERT_EQUAL_INT64(123456, answer.timesync.tc1);
    TEST_ASSERT_EQUAL_INT64(4711, answer.timesync.ts1);
    TEST_ASSERT_EQUAL_UINT8(3, answer.timesync.target_system);
    TEST_ASSERT_EQUAL_UINT8(9, answer.timesync.target_component);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_heartbeat_has_the_published_bytes);
    RUN_TEST(test_a_sensor_message_has_its_fields_at_their_offsets_in_their_units);
    RUN_TEST(test_a_gps_message_is_scaled_and_rounded);
    RUN_TEST(test_a_state_message_is_scaled_and_rounded);
    RUN_TEST(test_numbers_beyond_the_wire_stop_at_its_ends);
    RUN_TEST(test_a_star_tracker_sends_an_attitude_and_no_position);
    RUN_TEST(test_a_sun_sensor_sends_a_vector_by_name);
    RUN_TEST(test_encoders_send_an_array_by_name);
    RUN_TEST(test_the_sticks_are_sent_as_pulse_widths);
    RUN_TEST(test_without_a_barometer_no_altitude_is_invented);
    RUN_TEST(test_a_timesync_answer_echoes_and_goes_to_its_asker);
    RUN_TEST(test_every_message_survives_encoding_and_decoding);
    RUN_TEST(test_every_number_of_a_sample_has_its_place);
    RUN_TEST(test_the_course_goes_round_the_compass);
    RUN_TEST(test_numbers_are_rounded_to_the_nearest);
    RUN_TEST(test_the_sea_is_at_no_altitude_and_a_mountain_is_high);
    RUN_TEST(test_every_status_is_sent);
    RUN_TEST(test_an_answer_names_system_and_component);
    return UNITY_END();
}
