/*
 * The board's codecs against bytes made by hand from the protocols' tables.
 */
#include <math.h>
#include <string.h>

#include "tools/board/codecs/ardupilot.h"
#include "tools/board/codecs/betaflight.h"
#include "tools/board/codecs/frames.h"
#include "unity.h"

static struct board_frames frames;
static struct board_message message;
static uint8_t bytes[512];
static size_t size;

void setUp(void)
{
    frames = (struct board_frames){.rx = 0};
    message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    size = 0;
}

void tearDown(void)
{
}

/* The checksum of MAVLink, X.25, written from its description. */
static uint16_t checksum(const uint8_t *data, size_t count, uint8_t extra)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i <= count; i++) {
        crc ^= i < count ? data[i] : extra;
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 1 ? (crc >> 1) ^ 0x8408 : crc >> 1);
    }
    return crc;
}

/* A MAVLink 2 frame: its ten bytes of head, the payload, and the checksum. */
static void begin(uint32_t id, uint8_t payload)
{
    const uint8_t head[10] = {0xfd, payload, 0, 0, 7, 1, 200, (uint8_t)id, (uint8_t)(id >> 8), 0};
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, head, sizeof head);
    size = 10u + payload;
}

static void put(size_t at, const void *value, size_t count)
{
    memcpy(bytes + 10 + at, value, count);
}

static void put_float(size_t at, float value)
{
    put(at, &value, sizeof value);
}

static bool end(uint8_t extra)
{
    mavlink_message_t raw;
    bool whole = false;
    const uint16_t crc = checksum(bytes + 1, size - 1, extra);
    bytes[size++] = (uint8_t)crc;
    bytes[size++] = (uint8_t)(crc >> 8);
    for (size_t i = 0; i < size; i++)
        whole = board_frames_push(&frames, bytes[i], &raw);
    if (whole)
        board_frames_read(&raw, &message);
    return whole;
}

/* HIL_SENSOR: time, nine floats, four floats of air, then fields_updated at 60 and id at 64. */
static void make_sensor(uint32_t fields)
{
    const uint64_t time_us = 123456789;
    begin(107, 64);
    put(0, &time_us, 8);
    for (int i = 0; i < 9; i++)
        put_float(8 + 4u * (unsigned)i, 0.5f * (float)(i + 1));
    put_float(44, 955.0f);
    put(60, &fields, 4);
}

static void test_a_sensor_message_is_read_in_si_units(void)
{
    make_sensor(0x1fff);
    TEST_ASSERT_TRUE(end(108));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_SENSOR, message.type);
    TEST_ASSERT_EQUAL_UINT64(123456789, message.time_us);
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_TRUE(message.accel[i] == 0.5 * (i + 1));
        TEST_ASSERT_TRUE(message.gyro[i] == 0.5 * (i + 4));
        TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5e-4 * (i + 7), message.field[i]); /* gauss */
    }
    TEST_ASSERT_TRUE(message.pressure == 95500.0); /* hPa */
}

static void test_an_instrument_counts_when_all_its_bits_are_set(void)
{
    static const uint32_t whole[4] = {0x7, 0x38, 0x1c0, 0x1a00};
    for (int which = 0; which < 4; which++) {
        for (uint32_t missing = 0; missing < 13; missing++) {
            const bool is_own = (whole[which] >> missing & 1) != 0;
            make_sensor(0x1fff & ~(1u << missing));
            TEST_ASSERT_TRUE(end(108));
            const bool has[4] = {message.has_accel, message.has_gyro, message.has_field,
                                 message.has_pressure};
            TEST_ASSERT_EQUAL_INT(!is_own, has[which]);
        }
    }
}

static void test_gps_is_read_in_radians_and_metres(void)
{
    const int32_t place[3] = {473977420, -85455940, 488125};
    const int16_t velocity[3] = {-150, 25, 75};
    begin(113, 36);
    put(8, place, sizeof place);
    put(26, velocity, sizeof velocity);
    bytes[10 + 34] = 3; /* fix */
    bytes[10 + 35] = 9;
    TEST_ASSERT_TRUE(end(124));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_GPS, message.type);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 47.3977420 * M_PI / 180.0, message.latitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -8.5455940 * M_PI / 180.0, message.longitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 488.125, message.altitude);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1.5, message.velocity[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.25, message.velocity[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.75, message.velocity[2]);
    TEST_ASSERT_EQUAL_INT(3, message.fix);
}

static void test_the_star_tracker_is_distinguished_from_the_truth(void)
{
    static const uint32_t id[2] = {138, 115};
    static const uint8_t extra[2] = {109, 4};
    for (int k = 0; k < 2; k++) {
        begin(id[k], 36);
        for (int i = 0; i < 4; i++)
            put_float(8 + 4u * (unsigned)i, 0.25f * (float)(i + 1));
        TEST_ASSERT_TRUE(end(extra[k]));
        TEST_ASSERT_EQUAL_INT(k == 0 ? BOARD_MESSAGE_TRACKER : BOARD_MESSAGE_TRUTH, message.type);
        for (int i = 0; i < 4; i++)
            TEST_ASSERT_TRUE(message.attitude[i] == 0.25 * (i + 1));
    }
}

static void test_a_forwarded_ground_station_is_not_the_simulator(void)
{
    begin(0, 9);
    bytes[10 + 4] = 6; /* MAV_TYPE_GCS */
    bytes[10 + 7] = 7; /* POWEROFF */
    TEST_ASSERT_TRUE(end(50));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_OTHER, message.type);
    begin(0, 9);
    bytes[10 + 7] = 7;
    TEST_ASSERT_TRUE(end(50));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_STATUS, message.type);
    TEST_ASSERT_EQUAL_INT(BOARD_STATUS_POWEROFF, message.status);
}

static void test_a_spoilt_checksum_is_counted_and_nothing_else(void)
{
    make_sensor(0x3f);
    TEST_ASSERT_FALSE(end(107));
    TEST_ASSERT_EQUAL_UINT64(1, frames.rx_bad);
    TEST_ASSERT_EQUAL_UINT64(0, frames.rx);
}

/* The bytes of a message of ours, checked down to its checksum; trailing zeros are cut. */
static void take(const mavlink_message_t *raw, uint32_t id, uint8_t extra)
{
    memset(bytes, 0, sizeof bytes);
    size = mavlink_msg_to_send_buffer(bytes, raw);
    TEST_ASSERT_EQUAL_HEX8(0xfd, bytes[0]);
    TEST_ASSERT_EQUAL_UINT(size, 12u + bytes[1]);
    TEST_ASSERT_EQUAL_UINT8(1, bytes[5]);
    TEST_ASSERT_EQUAL_UINT8(1, bytes[6]);
    TEST_ASSERT_EQUAL_UINT(id, (unsigned)(bytes[7] | bytes[8] << 8 | bytes[9] << 16));
    TEST_ASSERT_EQUAL_UINT16(checksum(bytes + 1, size - 3, extra),
                             bytes[size - 2] | bytes[size - 1] << 8);
    bytes[size - 2] = bytes[size - 1] = 0; /* the payload as if nothing had been cut */
}

/* HIL_ACTUATOR_CONTROLS: time, flags, 16 floats, mode. */
static void test_controls_are_written_as_the_table_says(void)
{
    double controls[BOARD_CONTROL_COUNT] = {0.25, -0.5, 0.0, 1.0, [15] = 0.125};
    mavlink_message_t raw;
    uint64_t number;
    float value;
    board_frames_controls(&frames, 4000, 0x81, 1, controls, &raw);
    take(&raw, 93, 47);
    memcpy(&number, bytes + 10, 8);
    TEST_ASSERT_EQUAL_UINT64(4000, number);
    memcpy(&number, bytes + 18, 8);
    TEST_ASSERT_EQUAL_UINT64(1, number);
    for (unsigned i = 0; i < BOARD_CONTROL_COUNT; i++) {
        memcpy(&value, bytes + 26 + 4 * i, 4);
        TEST_ASSERT_TRUE((double)value == controls[i]);
    }
    TEST_ASSERT_EQUAL_HEX8(0x81, bytes[10 + 80]);
}

static void test_px4_asks_for_the_true_state(void)
{
    mavlink_message_t raw;
    float value[2];
    board_frames_request(&frames, 115, 5000, &raw);
    take(&raw, 76, 152);
    memcpy(value, bytes + 10, 8);
    TEST_ASSERT_TRUE(value[0] == 115.0f && value[1] == 5000.0f);
    TEST_ASSERT_EQUAL_UINT(511, (unsigned)(bytes[10 + 28] | bytes[10 + 29] << 8));
}

static void test_attitude_is_sent_in_euler_angles(void)
{
    /* yaw 90 deg, then pitch 30 deg */
    const double c = cos(M_PI / 12), s = sin(M_PI / 12), r = sqrt(0.5);
    const double q[4] = {r * c, -r * s, r * s, r * c}, rate[3] = {0.5, 0.25, 0.125};
    mavlink_message_t raw;
    float value[6];
    board_frames_attitude(&frames, 77, q, rate, &raw);
    take(&raw, 30, 39);
    memcpy(value, bytes + 14, sizeof value);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, (double)value[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, M_PI / 6, (double)value[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, M_PI / 2, (double)value[2]);
    TEST_ASSERT_TRUE(value[3] == 0.5f && value[4] == 0.25f && value[5] == 0.125f);
}

/* What a ground station asks, in bytes: system 255, component 190. */
static bool ask(uint8_t extra, mavlink_message_t *reply)
{
    mavlink_message_t raw;
    bool whole = false;
    bytes[5] = 255;
    bytes[6] = 190;
    const uint16_t crc = checksum(bytes + 1, size - 1, extra);
    bytes[size++] = (uint8_t)crc;
    bytes[size++] = (uint8_t)(crc >> 8);
    for (size_t i = 0; i < size; i++)
        whole = board_frames_push(&frames, bytes[i], &raw);
    return whole && board_frames_reply(&frames, &raw, reply);
}

static void test_a_ground_station_is_answered(void)
{
    mavlink_message_t reply;
    begin(76, 33);
    bytes[10 + 28] = 400 & 0xff; /* arm */
    bytes[10 + 29] = 400 >> 8;
    TEST_ASSERT_TRUE(ask(152, &reply));
    take(&reply, 77, 143);
    TEST_ASSERT_EQUAL_UINT(400, (unsigned)(bytes[10] | bytes[11] << 8));
    TEST_ASSERT_EQUAL_UINT8(255, bytes[10 + 8]);
    TEST_ASSERT_EQUAL_UINT8(190, bytes[10 + 9]);

    begin(21, 2);
    TEST_ASSERT_TRUE(ask(159, &reply));
    take(&reply, 22, 220);
    TEST_ASSERT_EQUAL_STRING("SYS_HITL", (const char *)bytes + 10 + 8);

    begin(0, 9);
    TEST_ASSERT_FALSE(ask(50, &reply));
}

static const struct board_command half = {.armed = true, .controls = {0.5, 0.7254, 1.0, 0.0}};

static void test_a_servo_packet_is_forty_bytes(void)
{
    static const uint8_t wanted[16] = {0x1a, 0x48, 0xe8, 0x03, 0x04, 0x03, 0x02, 0x01,
                                       0xdc, 0x05, 0xbd, 0x06, 0xd0, 0x07, 0xe8, 0x03};
    TEST_ASSERT_EQUAL_UINT(40, board_ardupilot_write(false, 1000, 0x01020304, &half, bytes));
    TEST_ASSERT_EQUAL_HEX8_ARRAY(wanted, bytes, 16);
    for (int i = 16; i < 40; i++)
        TEST_ASSERT_EQUAL_HEX8(0, bytes[i]);
}

static void test_a_servo_packet_of_32_channels_has_the_other_magic(void)
{
    TEST_ASSERT_EQUAL_UINT(72, board_ardupilot_write(true, 1000, 5, &half, bytes));
    TEST_ASSERT_EQUAL_UINT(29569, (unsigned)(bytes[0] | bytes[1] << 8));
    TEST_ASSERT_EQUAL_UINT(1500, (unsigned)(bytes[8] | bytes[9] << 8));
}

#define ANSWER                                                                                     \
    "\n{\"timestamp\":2.5,\"imu\":{\"gyro\":[0.1,-0.2,0.3],\"accel_body\":[1,2,-9.8]},"            \
    "\"position\":[1,2,-3],"
#define ATTITUDE "\"quaternion\":[1,0,0,0],"
#define VELOCITY "\"velocity\":[4,5e-1,-6]}\n"

static void test_an_answer_in_json_is_read(void)
{
    TEST_ASSERT_TRUE(board_ardupilot_read(ANSWER ATTITUDE VELOCITY, &message));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_STATE, message.type);
    TEST_ASSERT_EQUAL_UINT64(2500000, message.time_us);
    TEST_ASSERT_TRUE(message.gyro[1] == -0.2 && message.accel[2] == -9.8);
    TEST_ASSERT_TRUE(message.position[2] == -3.0 && message.velocity[1] == 0.5);
    TEST_ASSERT_TRUE(message.attitude[0] == 1.0);
}

static void test_the_attitude_may_come_as_angles(void)
{
    TEST_ASSERT_TRUE(board_ardupilot_read(
        ANSWER "\"attitude\":[0,0.5235987755982988,1.5707963267948966]," VELOCITY, &message));
    const double c = cos(M_PI / 12), s = sin(M_PI / 12), r = sqrt(0.5);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, r * c, message.attitude[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, -r * s, message.attitude[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, r * s, message.attitude[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, r * c, message.attitude[3]);
}

static void test_an_answer_that_ardupilot_could_not_read_is_refused(void)
{
    static const char *const bad[] = {
        "",
        "\n",
        "\n\n",
        ANSWER VELOCITY,                                     /* no attitude */
        ANSWER ATTITUDE "}\n",                               /* no velocity */
        ANSWER ATTITUDE "\"velocity\":[4,5]}\n",             /* two numbers */
        ANSWER ATTITUDE "\"velocity\": [4,5,6]}\n",          /* a blank before the bracket */
        ANSWER ATTITUDE "\"velocity\":[4,nan,6]}\n",         /* not a number */
        ANSWER ATTITUDE "\"velocity\":[4,5,6]}",             /* no end of line */
        "{\"timestamp\":1" ANSWER ATTITUDE VELOCITY,         /* no line before it */
        "\n{\"timestamp\":-1,\"imu\":{\"gyro\":[0,0,0]}}\n", /* before the start */
        "\n{\"timestamp",
        "\n\"imu\"gyro\n",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_FALSE_MESSAGE(board_ardupilot_read(bad[i], &message), bad[i]);
}

static void test_the_motion_for_betaflight_is_eighteen_doubles(void)
{
    double number[18];
    for (int i = 0; i < 18; i++)
        number[i] = i + 0.25;
    memcpy(bytes, number, sizeof number);
    TEST_ASSERT_TRUE(board_betaflight_read_fdm(bytes, 144, &message));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_STATE, message.type);
    TEST_ASSERT_EQUAL_UINT64(250000, message.time_us);
    TEST_ASSERT_TRUE(message.gyro[0] == 1.25 && message.accel[0] == 4.25);
    TEST_ASSERT_TRUE(message.attitude[0] == 7.25 && message.velocity[0] == 11.25);
    TEST_ASSERT_TRUE(message.position[0] == 14.25 && message.pressure == 17.25);
    TEST_ASSERT_FALSE(board_betaflight_read_fdm(bytes, 143, &message));
    number[5] = (double)NAN;
    memcpy(bytes, number, sizeof number);
    TEST_ASSERT_FALSE(board_betaflight_read_fdm(bytes, 144, &message));
}

static void test_the_radio_for_betaflight_is_a_stamp_and_sixteen_channels(void)
{
    for (unsigned i = 0; i < 16; i++) {
        const uint16_t us = (uint16_t)(1000 + i);
        memcpy(bytes + 8 + 2 * i, &us, 2);
    }
    TEST_ASSERT_TRUE(board_betaflight_read_rc(bytes, 40, &message));
    TEST_ASSERT_EQUAL_INT(BOARD_MESSAGE_STICKS, message.type);
    TEST_ASSERT_EQUAL_UINT16(1015, message.stick[15]);
    TEST_ASSERT_FALSE(board_betaflight_read_rc(bytes, 144, &message));
}

/* Betaflight's motors are rear right, front right, rear left, front left. */
static void test_motors_of_betaflight_go_out_in_two_orders(void)
{
    const struct board_command command = {.controls = {0.1, 0.2, 0.3, 0.4}};
    static const float speed[4] = {0.1f, 0.2f, 0.3f, 0.4f};
    static const float pulse[4] = {1400.0f, 1100.0f, 1200.0f, 1300.0f};
    uint16_t count;
    board_betaflight_write_motors(&command, bytes);
    TEST_ASSERT_EQUAL_MEMORY(speed, bytes, 16);
    board_betaflight_write_raw(&command, bytes);
    memcpy(&count, bytes, 2);
    TEST_ASSERT_EQUAL_UINT16(4, count);
    TEST_ASSERT_EQUAL_MEMORY(pulse, bytes + 4, 16);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_sensor_message_is_read_in_si_units);
    RUN_TEST(test_an_instrument_counts_when_all_its_bits_are_set);
    RUN_TEST(test_gps_is_read_in_radians_and_metres);
    RUN_TEST(test_the_star_tracker_is_distinguished_from_the_truth);
    RUN_TEST(test_a_forwarded_ground_station_is_not_the_simulator);
    RUN_TEST(test_a_spoilt_checksum_is_counted_and_nothing_else);
    RUN_TEST(test_controls_are_written_as_the_table_says);
    RUN_TEST(test_px4_asks_for_the_true_state);
    RUN_TEST(test_attitude_is_sent_in_euler_angles);
    RUN_TEST(test_a_ground_station_is_answered);
    RUN_TEST(test_a_servo_packet_is_forty_bytes);
    RUN_TEST(test_a_servo_packet_of_32_channels_has_the_other_magic);
    RUN_TEST(test_an_answer_in_json_is_read);
    RUN_TEST(test_the_attitude_may_come_as_angles);
    RUN_TEST(test_an_answer_that_ardupilot_could_not_read_is_refused);
    RUN_TEST(test_the_motion_for_betaflight_is_eighteen_doubles);
    RUN_TEST(test_the_radio_for_betaflight_is_a_stamp_and_sixteen_channels);
    RUN_TEST(test_motors_of_betaflight_go_out_in_two_orders);
    return UNITY_END();
}
