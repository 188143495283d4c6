/*
 * The body of every message, decoded and encoded, against the published tables of offsets.
 */
#include "tests/io/protocol/mavlink_fixture.h"

static void test_timesync_comes_with_and_without_its_target(void)
{
    const int64_t request[2] = {0, 0x1122334455667788};
    unsigned char with_target[18];
    memcpy(with_target, request, 16);
    with_target[16] = 7;
    with_target[17] = 9;
    struct wire wire = wire_v1(0, TIMESYNC, CRC_TIMESYNC, request, sizeof request);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_TIMESYNC, message.kind);
    TEST_ASSERT_EQUAL_INT64(request[1], message.timesync.ts1);
    TEST_ASSERT_EQUAL_UINT8(0, message.timesync.target_system);
    wire = wire_v2(0, 1, TIMESYNC, CRC_TIMESYNC, with_target, sizeof with_target);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_INT64(0, message.timesync.tc1);
    TEST_ASSERT_EQUAL_INT64(request[1], message.timesync.ts1);
    TEST_ASSERT_EQUAL_UINT8(7, message.timesync.target_system);
    TEST_ASSERT_EQUAL_UINT8(9, message.timesync.target_component);
    wire = wire_v2(0, 2, TIMESYNC, CRC_TIMESYNC, with_target, 17); /* component 0, trimmed */
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT8(7, message.timesync.target_system);
    TEST_ASSERT_EQUAL_UINT8(0, message.timesync.target_component);
}

/* A payload of distinct bytes and the message decoded from it: a field must hold the bytes from
 * its published offset on. */
static unsigned char payload[256];

static void take_payload(uint32_t id, uint8_t extra, size_t size, enum io_mavlink_kind kind)
{
    for (size_t i = 0; i < size; i++)
        payload[i] = (unsigned char)(i + 1);
    if (kind == IO_MAVLINK_HEARTBEAT)
        payload[8] = 3; /* the library sets the version */
    const struct wire wire = wire_v2(0, 0, id, extra, payload, size);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(kind, message.kind);
    TEST_ASSERT_EQUAL_UINT32(id, message.id);
}

static void check_field(size_t offset, const void *field, size_t size)
{
    TEST_ASSERT_EQUAL_HEX8_ARRAY(payload + offset, field, size);
}

#define FIELD(offset, field) check_field(offset, &(field), sizeof(field))

/* Encoded again, the message is the same frame except for its sender. */
static void check_encoded(uint32_t id, uint8_t extra, size_t size)
{
    struct wire wire = wire_v2(0, 5, id, extra, payload, size);
    wire.bytes[5] = MINE;
    wire.bytes[6] = 200;
    wire.size -= 2;
    wire_end(&wire, extra);
    sender.sequence = 5;
    TEST_ASSERT_EQUAL_size_t(wire.size, io_mavlink_encode(&sender, &message, frame));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(wire.bytes, frame, wire.size);
    TEST_ASSERT_EQUAL_UINT8(6, sender.sequence);
}

static void test_every_field_of_the_small_messages_is_at_its_offset(void)
{
    take_payload(HEARTBEAT, CRC_HEARTBEAT, 9, IO_MAVLINK_HEARTBEAT);
    FIELD(0, message.heartbeat.custom_mode);
    FIELD(4, message.heartbeat.type);
    FIELD(5, message.heartbeat.autopilot);
    FIELD(6, message.heartbeat.base_mode);
    FIELD(7, message.heartbeat.status);
    FIELD(8, message.heartbeat.version);
    check_encoded(HEARTBEAT, CRC_HEARTBEAT, 9);
    take_payload(2, 137, 12, IO_MAVLINK_TIME);
    FIELD(0, message.time.unix_us);
    FIELD(8, message.time.boot_ms);
    check_encoded(2, 137, 12);
    take_payload(TIMESYNC, CRC_TIMESYNC, 18, IO_MAVLINK_TIMESYNC);
    FIELD(0, message.timesync.tc1);
    FIELD(8, message.timesync.ts1);
    FIELD(16, message.timesync.target_system);
    FIELD(17, message.timesync.target_component);
    check_encoded(TIMESYNC, CRC_TIMESYNC, 18);
    take_payload(250, 49, 30, IO_MAVLINK_VECTOR);
    FIELD(0, message.vector.time_us);
    FIELD(8, message.vector.value); /* x y z */
    FIELD(20, message.vector.name);
    check_encoded(250, 49, 30);
}

static void test_every_field_of_the_sensors_is_at_its_offset(void)
{
    take_payload(SENSOR, 108, 65, IO_MAVLINK_SENSOR);
    FIELD(0, message.sensor.time_us);
    FIELD(8, message.sensor.accel);
    FIELD(20, message.sensor.gyro);
    FIELD(32, message.sensor.mag);
    FIELD(44, message.sensor.pressure_hpa);
    FIELD(48, message.sensor.diff_pressure_hpa);
    FIELD(52, message.sensor.pressure_altitude_m);
    FIELD(56, message.sensor.temperature_c);
    FIELD(60, message.sensor.fields);
    FIELD(64, message.sensor.id);
    check_encoded(SENSOR, 108, 65);
    take_payload(GPS, 124, 39, IO_MAVLINK_GPS);
    FIELD(0, message.gps.time_us);
    FIELD(8, message.gps.latitude_e7);
    FIELD(12, message.gps.longitude_e7);
    FIELD(16, message.gps.altitude_mm);
    FIELD(20, message.gps.eph);
    FIELD(22, message.gps.epv);
    FIELD(24, message.gps.speed_cms);
    FIELD(26, message.gps.velocity_cms); /* north, east, down */
    FIELD(32, message.gps.course_cdeg);
    FIELD(34, message.gps.fix);
    FIELD(35, message.gps.satellites);
    FIELD(36, message.gps.id);
    FIELD(37, message.gps.yaw_cdeg);
    check_encoded(GPS, 124, 39);
}

static void test_every_field_of_the_state_and_the_controls_is_at_its_offset(void)
{
    take_payload(STATE, 4, 64, IO_MAVLINK_STATE);
    FIELD(0, message.state.time_us);
    FIELD(8, message.state.attitude);
    FIELD(24, message.state.rate);
    FIELD(36, message.state.latitude_e7);
    FIELD(40, message.state.longitude_e7);
    FIELD(44, message.state.altitude_mm);
    FIELD(48, message.state.velocity_cms);
    FIELD(54, message.state.indicated_cms);
    FIELD(56, message.state.true_cms);
    FIELD(58, message.state.accel_mg);
    check_encoded(STATE, 4, 64);
    take_payload(CONTROLS, CRC_CONTROLS, 81, IO_MAVLINK_CONTROLS);
    FIELD(0, message.controls.time_us);
    FIELD(8, message.controls.flags);
    FIELD(16, message.controls.controls);
    FIELD(80, message.controls.mode);
    check_encoded(CONTROLS, CRC_CONTROLS, 81);
}

static void test_every_field_of_the_long_messages_is_at_its_offset(void)
{
    take_payload(138, 109, 120, IO_MAVLINK_TRACKER);
    FIELD(0, message.tracker.time_us);
    FIELD(8, message.tracker.attitude);
    FIELD(24, message.tracker.position);
    FIELD(36, message.tracker.covariance);
    check_encoded(138, 109, 120);
    take_payload(350, 232, 252, IO_MAVLINK_ARRAY);
    FIELD(0, message.array.time_us);
    FIELD(8, message.array.id);
    FIELD(10, message.array.name);
    FIELD(20, message.array.value);
    check_encoded(350, 232, 252);
    take_payload(65, 118, 42, IO_MAVLINK_RC);
    FIELD(0, message.rc.boot_ms);
    FIELD(4, message.rc.channel_us); /* all 18, in order */
    FIELD(40, message.rc.count);
    FIELD(41, message.rc.rssi);
    check_encoded(65, 118, 42);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_timesync_comes_with_and_without_its_target);
    RUN_TEST(test_every_field_of_the_small_messages_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_sensors_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_state_and_the_controls_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_long_messages_is_at_its_offset);
    return UNITY_END();
}
