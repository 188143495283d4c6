/*
 * The codec against frames made by hand from the published tables (ids, CRC extras, offsets,
 * units).
 */
#include "io/protocol/mavlink.h"

#include <math.h>
#include <string.h>

#include "tests/io/wire.h"
#include "unity.h"

enum { HEARTBEAT = 0, TIMESYNC = 111, SENSOR = 107, GPS = 113, STATE = 115, CONTROLS = 93 };
enum { CRC_HEARTBEAT = 50, CRC_TIMESYNC = 34, CRC_CONTROLS = 47, CRC_ATTITUDE = 39 };
enum { CONTROLS_SIZE = 81, MINE = 7 };

static _Alignas(64) unsigned char parser_mem[4096], other_mem[4096];
static struct io_mavlink_parser *parser;
static struct io_mavlink_message message;
static struct io_mavlink_sender sender;
static unsigned char frame[IO_MAVLINK_FRAME_MAX];
static unsigned char controls[CONTROLS_SIZE];

void setUp(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof parser_mem, io_mavlink_parser_size());
    memset(parser_mem, 0xff, sizeof parser_mem);
    parser = io_mavlink_parser_place(parser_mem);
    sender = (struct io_mavlink_sender){.system_id = MINE, .component_id = 200, .sequence = 5};
    /* time_usec | flags | controls[16] | mode */
    const uint64_t time_us = 0x0102030405060708, flags = 1;
    memcpy(controls, &time_us, 8);
    memcpy(controls + 8, &flags, 8);
    for (int i = 0; i < 16; i++) {
        const float value = (float)(i + 1) / 16.0f;
        memcpy(controls + 16 + 4 * i, &value, 4);
    }
    controls[80] = 0x81;
}

void tearDown(void)
{
}

static const struct io_mavlink_counters *counted(void)
{
    return io_mavlink_get_counters(parser);
}

/* The first message in the bytes, and how many there are. */
static int feed(const void *bytes, size_t size)
{
    struct io_mavlink_message next;
    int count = 0;
    message.kind = IO_MAVLINK_NONE;
    for (size_t at = 0; at < size;) {
        at += io_mavlink_feed(parser, (const unsigned char *)bytes + at, size - at, &next);
        if (next.kind != IO_MAVLINK_NONE && count++ == 0)
            message = next;
    }
    return count;
}

static int feed_datagram(const struct wire *wire)
{
    const int count = feed(wire->bytes, wire->size);
    io_mavlink_end(parser);
    return count;
}

static uint64_t bad(void)
{
    return counted()->bad_crc + counted()->bad_length + counted()->bad_header;
}

static void check_controls(void)
{
    TEST_ASSERT_EQUAL(IO_MAVLINK_CONTROLS, message.kind);
    TEST_ASSERT_EQUAL_HEX64(0x0102030405060708, message.controls.time_us);
    TEST_ASSERT_EQUAL_UINT64(1, message.controls.flags);
    TEST_ASSERT_EQUAL_HEX8(0x81, message.controls.mode);
    for (int i = 0; i < 16; i++)
        TEST_ASSERT_EQUAL_FLOAT((float)(i + 1) / 16.0f, message.controls.controls[i]);
}

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
    .velocity = {5.0, -6.0, 2.006}, /* the truth is not what the receiver says */
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
static void test_a_star_tracker_tells_an_attitude_and_no_position(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_TRACKER, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), 138, 109, 120);
    TEST_ASSERT_EQUAL_UINT8(8 + 4 * 8, frame[1]); /* trimmed behind the NaN of the covariance */
    TEST_ASSERT_EQUAL_UINT64(123456789, uint64_at(0));
    TEST_ASSERT_EQUAL_FLOAT(0.5f, float_at(8));
    TEST_ASSERT_EQUAL_FLOAT(-0.5f, float_at(16));
    for (size_t i = 0; i < 4; i++)
        TEST_ASSERT_TRUE(isnan(float_at(24 + 4 * i)));
}

/* DEBUG_VECT: time | x y z | name[10], id 250 */
static void test_a_sun_sensor_tells_a_vector_by_name(void)
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
static void test_encoders_tell_an_array_by_name(void)
{
    struct io_sample sixteen = sample;
    sixteen.angle_count = 99; /* no more than there are */
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
static void test_the_sticks_are_told_as_pulses(void)
{
    io_mavlink_from_sample(&sample, IO_MAVLINK_RC, &message);
    check_frame(io_mavlink_encode(&sender, &message, frame), 65, 118, 42);
    TEST_ASSERT_EQUAL_INT32(123456, int32_at(0));
    TEST_ASSERT_EQUAL_INT16(1500, int16_at(4));
    TEST_ASSERT_EQUAL_INT16(1000, int16_at(8)); /* throttle is the third */
    TEST_ASSERT_EQUAL_INT16(2000, int16_at(12));
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, (uint16_t)int16_at(4 + 2 * 16)); /* not used */
    TEST_ASSERT_EQUAL_UINT8(16, frame[10 + 40]);
    TEST_ASSERT_EQUAL_UINT8(255, frame[10 + 41]);
}

static void test_without_a_barometer_no_altitude_is_made_up(void)
{
    struct io_sample bare = sample;
    bare.pressure = 0.0;
    io_mavlink_from_sample(&bare, IO_MAVLINK_SENSOR, &message);
    TEST_ASSERT_EQUAL_FLOAT(0.0f, message.sensor.pressure_altitude_m);
}

/* For forwarding: the bytes as they came, with signature, version 1, or behind a broken frame. */
static void test_the_frame_of_a_message_is_kept_byte_by_byte(void)
{
    struct wire part = wire_v2(1, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&part, "thirteenbytes", 13);
    const struct wire frames[] = {
        part,
        wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls),
        wire_v2(0, 2, 0xabcdef, 99, controls, 7),
        wire_v2(0, 3, HEARTBEAT, CRC_HEARTBEAT, "\1\2\3\4\5\0\0\0\3", 9),
    };
    struct wire stream = wire_v2(0, 9, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    stream.size--; /* the next frame's first byte is taken for the end of this one's checksum */
    for (size_t i = 0; i < 4; i++)
        wire_put(&stream, frames[i].bytes, frames[i].size);
    size_t count = 0;
    for (size_t used = 0; used < stream.size;) {
        size_t size;
        used += io_mavlink_feed(parser, stream.bytes + used, stream.size - used, &message);
        if (message.kind == IO_MAVLINK_NONE)
            continue;
        const unsigned char *kept = io_mavlink_frame(parser, &size);
        TEST_ASSERT_EQUAL_size_t(frames[count].size, size);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(frames[count].bytes, kept, size);
        count++;
    }
    TEST_ASSERT_EQUAL_size_t(4, count);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
}

static void test_controls_come_in_both_versions(void)
{
    struct wire wire = wire_v1(9, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT8(1, message.version);
    wire = wire_v2(0, 10, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT8(2, message.version);
    TEST_ASSERT_EQUAL_UINT8(10, message.sequence);
    TEST_ASSERT_EQUAL_UINT64(0, bad() + counted()->lost);

    struct io_command command = {.sequence = 77};
    io_mavlink_to_command(&message, &command);
    TEST_ASSERT_EQUAL_HEX64(0x0102030405060708, command.board_us);
    TEST_ASSERT_EQUAL_UINT64(1, command.flags);
    TEST_ASSERT_EQUAL_UINT32(0x81, command.mode);
    TEST_ASSERT_EQUAL_FLOAT(0.125f, command.controls[1]);
    TEST_ASSERT_EQUAL_UINT32(77, command.sequence);
}

static void test_a_trimmed_payload_is_filled_with_zeros(void)
{
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* leaves its bytes in the parser */
    wire = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, 20);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_FLOAT(0.0625f, message.controls.controls[0]);
    for (int i = 1; i < 16; i++)
        TEST_ASSERT_EQUAL_FLOAT(0.0f, message.controls.controls[i]);
    TEST_ASSERT_EQUAL_UINT8(0, message.controls.mode);
}

static void test_unknown_extensions_are_ignored(void)
{
    unsigned char longer[CONTROLS_SIZE + 4] = {0};
    memcpy(longer, controls, sizeof controls);
    longer[CONTROLS_SIZE + 3] = 1;
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, longer, sizeof longer);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    wire = wire_v1(1, CONTROLS, CRC_CONTROLS, longer, sizeof longer);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

static void test_version_1_trims_nothing(void)
{
    const struct wire wire = wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls - 1);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_length);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
}

static void test_no_flipped_bit_gets_through(void)
{
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t bit = 0; bit < 8 * good.size; bit++) {
        struct wire flipped = good;
        flipped.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const uint64_t bad_before = bad(), unknown_before = counted()->unknown;
        const int count = feed_datagram(&flipped);
        TEST_ASSERT_TRUE(count == 0 || message.kind == IO_MAVLINK_UNKNOWN);
        TEST_ASSERT_GREATER_THAN_UINT64(bad_before + unknown_before, bad() + counted()->unknown);
        TEST_ASSERT_EQUAL(1, feed_datagram(&good));
        check_controls();
    }
}

static void test_a_wrong_checksum_is_counted_as_one(void)
{
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS + 1, controls, sizeof controls);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
    TEST_ASSERT_EQUAL_UINT64(0, counted()->messages);
}

static void test_bytes_may_come_in_any_pieces(void)
{
    const struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t cut = 1; cut < wire.size; cut++) {
        io_mavlink_new_peer(parser);
        TEST_ASSERT_EQUAL(0, feed(wire.bytes, cut));
        TEST_ASSERT_EQUAL(1, feed(wire.bytes + cut, wire.size - cut));
        check_controls();
    }
    TEST_ASSERT_EQUAL_UINT64(wire.size - 1, counted()->messages);
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

static void test_a_feed_stops_behind_each_message(void)
{
    struct wire two = wire_v1(0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    const size_t one = two.size;
    const struct wire next = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&two, next.bytes, next.size);
    TEST_ASSERT_EQUAL_size_t(one, io_mavlink_feed(parser, two.bytes, two.size, &message));
    check_controls();
    TEST_ASSERT_EQUAL(1, feed(two.bytes + one, two.size - one));
    TEST_ASSERT_EQUAL_UINT8(2, message.version);
}

static void test_garbage_is_counted_once_a_run_and_skipped(void)
{
    struct wire wire = {.size = 0};
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (unsigned i = 0; i < 100; i++)
        wire_byte(&wire, i);
    wire_put(&wire, good.bytes, good.size);
    wire_put(&wire, "xyz", 3);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(2, counted()->bad_header);
    wire.size = 50; /* garbage alone: each datagram is a run of its own */
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(4, counted()->bad_header);
    TEST_ASSERT_EQUAL_UINT64(4, bad());
}

static void test_a_cut_datagram_is_bad_and_does_not_spoil_the_next(void)
{
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t size = 1; size < good.size; size++) {
        struct wire cut = good;
        cut.size = size;
        TEST_ASSERT_EQUAL(0, feed_datagram(&cut));
        TEST_ASSERT_EQUAL(1, feed_datagram(&good));
        check_controls();
    }
    TEST_ASSERT_EQUAL_UINT64(good.size - 1, counted()->bad_length);
    TEST_ASSERT_EQUAL_UINT64(good.size - 1, bad());
}

static void test_a_lost_byte_costs_one_frame_of_a_stream(void)
{
    struct wire stream = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    const struct wire next = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    memmove(stream.bytes + 40, stream.bytes + 41, stream.size - 41);
    stream.size--;
    wire_put(&stream, next.bytes, next.size);
    TEST_ASSERT_EQUAL(1, feed(stream.bytes, stream.size));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
}

static void feed_heartbeat(uint8_t sequence, uint8_t component)
{
    const unsigned char payload[9] = {0, 0, 0, 0, 2, 12, 0, 4, 3};
    struct wire wire = wire_v2(0, sequence, HEARTBEAT, CRC_HEARTBEAT, payload, sizeof payload);
    wire.bytes[6] = component;
    wire.size -= 2;
    wire_end(&wire, CRC_HEARTBEAT);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_HEARTBEAT, message.kind);
}

static void test_sequence_gaps_are_counted_per_component(void)
{
    feed_heartbeat(250, 1);
    feed_heartbeat(3, 2);
    feed_heartbeat(251, 1);
    feed_heartbeat(4, 2);
    TEST_ASSERT_EQUAL_UINT64(0, counted()->lost);
    feed_heartbeat(2, 1); /* 252..255, 0, 1 are missing */
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
    feed_heartbeat(6, 2);
    TEST_ASSERT_EQUAL_UINT64(7, counted()->lost);
    io_mavlink_new_peer(parser);
    feed_heartbeat(100, 1);
    TEST_ASSERT_EQUAL_UINT64(7, counted()->lost);
}

static void test_more_components_than_the_table_holds_are_heard_and_not_watched(void)
{
    for (unsigned i = 0; i < 2 * IO_MAVLINK_SOURCE_MAX; i++)
        feed_heartbeat(0, (uint8_t)i);
    for (unsigned i = 0; i < 2 * IO_MAVLINK_SOURCE_MAX; i++)
        feed_heartbeat(2, (uint8_t)i);
    TEST_ASSERT_EQUAL_UINT64(IO_MAVLINK_SOURCE_MAX, counted()->lost);
    TEST_ASSERT_EQUAL_UINT64(4 * IO_MAVLINK_SOURCE_MAX, counted()->messages);
}

static void test_an_unknown_id_is_skipped_and_not_bad(void)
{
    struct wire wire = wire_v2(0, 77, 0xabcdef, 99, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* may be noise: its number starts no sequence */
    feed_heartbeat(10, 1);
    wire = wire_v2(0, 11, 0xabcdef, 99, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_UNKNOWN, message.kind);
    TEST_ASSERT_EQUAL_HEX32(0xabcdef, message.id);
    feed_heartbeat(12, 1); /* its number was seen */
    TEST_ASSERT_EQUAL_UINT64(4, counted()->messages);
    TEST_ASSERT_EQUAL_UINT64(2, counted()->unknown);
    TEST_ASSERT_EQUAL_UINT64(0, bad() + counted()->lost);
}

static void test_a_known_message_without_use_is_other(void)
{
    const unsigned char attitude[28] = {1, 2, 3};
    const struct wire wire = wire_v2(0, 0, 30, CRC_ATTITUDE, attitude, sizeof attitude);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_OTHER, message.kind);
    TEST_ASSERT_EQUAL_UINT32(30, message.id);
}

static void test_signed_frames_are_read_and_other_flags_refused(void)
{
    struct wire wire = wire_v2(1, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(0, bad());
    wire = wire_v2(2, 1, HEARTBEAT, CRC_HEARTBEAT, "", 0);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_header);
}

static void test_a_signature_behind_a_checksum_that_cannot_be_right_is_part_of_the_frame(void)
{
    struct wire wire = wire_v2(1, 0, 0xabcdef, 99, controls, sizeof controls);
    size_t size;
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* unknown, once */
    (void)io_mavlink_frame(parser, &size);
    TEST_ASSERT_EQUAL_size_t(wire.size, size);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->unknown);
    wire = wire_v2(1, 0, CONTROLS, CRC_CONTROLS + 1, controls, sizeof controls);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
    wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
}

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

static void test_a_timesync_answer_echoes_and_goes_to_who_asked(void)
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

static void test_every_message_survives_the_way_out_and_in(void)
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

static void test_two_parsers_share_nothing(void)
{
    const struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    struct io_mavlink_parser *other = io_mavlink_parser_place(other_mem);
    struct io_mavlink_message others = {.kind = IO_MAVLINK_NONE};
    for (size_t i = 0; i < wire.size; i++) {
        (void)io_mavlink_feed(other, wire.bytes + i, 1, &others);
        TEST_ASSERT_EQUAL(i + 1 == wire.size, feed(wire.bytes + i, 1));
    }
    check_controls();
    TEST_ASSERT_EQUAL(IO_MAVLINK_CONTROLS, others.kind);
}

/* A payload of distinct bytes, and what a message makes of it: the field that the published table
 * has at an offset holds the bytes from there on. */
static unsigned char payload[256];

static void take_payload(uint32_t id, uint8_t extra, size_t size, enum io_mavlink_kind kind)
{
    for (size_t i = 0; i < size; i++)
        payload[i] = (unsigned char)(i + 1);
    if (kind == IO_MAVLINK_HEARTBEAT)
        payload[8] = 3; /* its sender does not choose the version */
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

/* Encoded again it is the frame that it came in, but for who says it. */
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
    struct io_command command = {.sequence = 77, .resets = 3, .rx_ns = 5, .ready_ns = 6};
    io_mavlink_to_command(&message, &command);
    FIELD(0, command.board_us);
    FIELD(8, command.flags);
    FIELD(16, command.controls);
    TEST_ASSERT_EQUAL_UINT32(81, command.mode);
    TEST_ASSERT_EQUAL_UINT32(77, command.sequence);
    TEST_ASSERT_EQUAL_UINT32(3, command.resets);
    TEST_ASSERT_EQUAL_UINT64(5, command.rx_ns);
    TEST_ASSERT_EQUAL_UINT64(6, command.ready_ns);
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
    FIELD(4, message.rc.channel_us); /* all 18, the first first */
    FIELD(40, message.rc.count);
    FIELD(41, message.rc.rssi);
    check_encoded(65, 118, 42);
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
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, course_of(0.1, 0.0)); /* not faster than this */
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

static void test_every_status_is_told(void)
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

static void feed_from(uint8_t system, uint8_t component, uint8_t sequence)
{
    struct wire wire = wire_v2(0, sequence, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire.bytes[5] = system;
    wire.bytes[6] = component;
    wire.size -= 2;
    wire_end(&wire, CRC_CONTROLS);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT8(system, message.system_id);
    TEST_ASSERT_EQUAL_UINT8(component, message.component_id);
    TEST_ASSERT_EQUAL_UINT8(sequence, message.sequence);
}

static void test_a_source_is_a_system_and_a_component(void)
{
    feed_from(1, 2, 10);
    feed_from(2, 2, 50);
    feed_from(2, 1, 90);
    feed_from(1, 1, 130);
    TEST_ASSERT_EQUAL_UINT64(0, counted()->lost);
    feed_from(1, 2, 12);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->lost);
    feed_from(2, 2, 53);
    TEST_ASSERT_EQUAL_UINT64(3, counted()->lost);
    feed_from(2, 1, 94);
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
    feed_from(1, 1, 131);
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
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

static void test_a_frame_of_either_version_begins_in_the_checksum_of_a_cut_one(void)
{
    for (int version = 1; version <= 2; version++) {
        struct wire stream = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
        const struct wire next =
            version == 1 ? wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls)
                         : wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
        stream.size--;
        wire_put(&stream, next.bytes, next.size);
        TEST_ASSERT_EQUAL(1, feed_datagram(&stream));
        check_controls();
        TEST_ASSERT_EQUAL_UINT8(version, message.version);
        TEST_ASSERT_EQUAL_UINT64((uint64_t)version, counted()->bad_crc);
        TEST_ASSERT_EQUAL_UINT64((uint64_t)version, bad());
    }
}

/* 10 bytes of head, 255 of payload, the checksum and a signature. */
static void test_the_longest_frame_is_kept_whole(void)
{
    unsigned char longest[255];
    size_t size = 0;
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = (unsigned char)(i + 1);
    struct wire wire = wire_v2(1, 0, 0xabcdef, 99, longest, sizeof longest);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL_size_t(IO_MAVLINK_FRAME_MAX, wire.size);
    for (size_t cut = 0; cut < wire.size; cut += 93) { /* in one piece, and in two */
        (void)feed(wire.bytes, cut);
        TEST_ASSERT_EQUAL(1, feed(wire.bytes + cut, wire.size - cut));
        const unsigned char *kept = io_mavlink_frame(parser, &size);
        TEST_ASSERT_EQUAL_size_t(wire.size, size);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(wire.bytes, kept, size);
    }
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_heartbeat_has_the_published_bytes);
    RUN_TEST(test_a_sensor_message_has_its_fields_at_their_offsets_in_their_units);
    RUN_TEST(test_a_gps_message_is_scaled_and_rounded);
    RUN_TEST(test_a_state_message_is_scaled_and_rounded);
    RUN_TEST(test_numbers_beyond_the_wire_stop_at_its_ends);
    RUN_TEST(test_a_star_tracker_tells_an_attitude_and_no_position);
    RUN_TEST(test_a_sun_sensor_tells_a_vector_by_name);
    RUN_TEST(test_encoders_tell_an_array_by_name);
    RUN_TEST(test_the_sticks_are_told_as_pulses);
    RUN_TEST(test_without_a_barometer_no_altitude_is_made_up);
    RUN_TEST(test_the_frame_of_a_message_is_kept_byte_by_byte);
    RUN_TEST(test_controls_come_in_both_versions);
    RUN_TEST(test_a_trimmed_payload_is_filled_with_zeros);
    RUN_TEST(test_unknown_extensions_are_ignored);
    RUN_TEST(test_version_1_trims_nothing);
    RUN_TEST(test_no_flipped_bit_gets_through);
    RUN_TEST(test_a_wrong_checksum_is_counted_as_one);
    RUN_TEST(test_bytes_may_come_in_any_pieces);
    RUN_TEST(test_a_feed_stops_behind_each_message);
    RUN_TEST(test_garbage_is_counted_once_a_run_and_skipped);
    RUN_TEST(test_a_cut_datagram_is_bad_and_does_not_spoil_the_next);
    RUN_TEST(test_a_lost_byte_costs_one_frame_of_a_stream);
    RUN_TEST(test_sequence_gaps_are_counted_per_component);
    RUN_TEST(test_more_components_than_the_table_holds_are_heard_and_not_watched);
    RUN_TEST(test_an_unknown_id_is_skipped_and_not_bad);
    RUN_TEST(test_a_known_message_without_use_is_other);
    RUN_TEST(test_signed_frames_are_read_and_other_flags_refused);
    RUN_TEST(test_a_signature_behind_a_checksum_that_cannot_be_right_is_part_of_the_frame);
    RUN_TEST(test_timesync_comes_with_and_without_its_target);
    RUN_TEST(test_a_timesync_answer_echoes_and_goes_to_who_asked);
    RUN_TEST(test_every_message_survives_the_way_out_and_in);
    RUN_TEST(test_two_parsers_share_nothing);
    RUN_TEST(test_every_field_of_the_small_messages_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_sensors_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_state_and_the_controls_is_at_its_offset);
    RUN_TEST(test_every_field_of_the_long_messages_is_at_its_offset);
    RUN_TEST(test_every_number_of_a_sample_has_its_place);
    RUN_TEST(test_the_course_goes_round_the_compass);
    RUN_TEST(test_numbers_are_rounded_to_the_nearest);
    RUN_TEST(test_the_sea_is_at_no_altitude_and_a_mountain_is_high);
    RUN_TEST(test_every_status_is_told);
    RUN_TEST(test_a_source_is_a_system_and_a_component);
    RUN_TEST(test_an_answer_names_system_and_component);
    RUN_TEST(test_a_frame_of_either_version_begins_in_the_checksum_of_a_cut_one);
    RUN_TEST(test_the_longest_frame_is_kept_whole);
    return UNITY_END();
}
