/*
 * The scripted ground station against a firmware that the test plays.
 */
#include "io/link/ground_station.h"

#include <math.h>
#include <string.h>

#include "io/protocol/mavlink.h"
#include "unity.h"

enum { SECOND = 100, COMMAND_LONG = 76, COMMAND_ACK = 77, PARAM_VALUE = 22, PARAM_SET = 23 };
enum { ACCEPTED = 0, REJECTED_FOR_NOW = 1, UNSUPPORTED = 3 };
enum { PX4 = 12, ARDUPILOT = 3 };

static _Alignas(64) unsigned char memory[1 << 13];
static struct io_ground_station *ground;
static struct io_ground_script script;
static unsigned char said[64][IO_MAVLINK_FRAME_MAX];
static int said_count;

static void note(void *self, const void *bytes, size_t size)
{
    (void)self;
    TEST_ASSERT_LESS_THAN_INT(64, said_count);
    memset(said[said_count], 0, sizeof said[0]);
    memcpy(said[said_count++], bytes, size);
}

static const struct io_ground_station_port port = {.send = note};

void setUp(void)
{
    memset(&script, 0, sizeof script);
    script.second = SECOND;
    script.system_id = 255;
    script.component_id = 190;
    said_count = 0;
}

void tearDown(void)
{
}

/* The events that the observer got, with their answers, in order. */
static struct {
    int link, step, event, answer;
    uint64_t frame;
} seen[64];
static int seen_count;

static void observe(void *self, int link, int step, uint64_t frame, enum io_ground_event event,
                    int answer)
{
    (void)self;
    TEST_ASSERT_LESS_THAN_INT(64, seen_count);
    seen[seen_count].link = link;
    seen[seen_count].step = step;
    seen[seen_count].event = (int)event;
    seen[seen_count].answer = answer;
    seen[seen_count++].frame = frame;
}

static void assert_seen(int index, int step, uint64_t frame, int event, int answer)
{
    TEST_ASSERT_LESS_THAN_INT(seen_count, index);
    TEST_ASSERT_EQUAL_INT(3, seen[index].link);
    TEST_ASSERT_EQUAL_INT(step, seen[index].step);
    TEST_ASSERT_EQUAL_UINT64(frame, seen[index].frame);
    TEST_ASSERT_EQUAL_INT(event, seen[index].event);
    TEST_ASSERT_EQUAL_INT(answer, seen[index].answer);
}

static void place(void)
{
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof memory, io_ground_station_size());
    memset(memory, 0xff, sizeof memory);
    ground = io_ground_station_place(&script, memory);
}

static void hear_heartbeat(uint8_t autopilot)
{
    struct io_mavlink_sender sender = {.system_id = 1, .component_id = 1};
    const struct io_mavlink_message beat = {
        .kind = IO_MAVLINK_HEARTBEAT,
        .heartbeat = {.type = 2, .autopilot = autopilot, .version = 3}};
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&sender, &beat, frame);
    io_ground_station_receive(ground, frame, size, 0);
}

static uint16_t crc_byte(uint16_t crc, uint8_t byte)
{
    uint8_t mixed = (uint8_t)(byte ^ (crc & 0xff));
    mixed = (uint8_t)(mixed ^ (mixed << 4));
    return (uint16_t)((crc >> 8) ^ (mixed << 8) ^ (mixed << 3) ^ (mixed >> 4));
}

/* A frame of MAVLink 2, written by hand from its specification. */
static void hear(uint32_t id, uint8_t extra, const void *payload, uint8_t size, uint64_t frame)
{
    unsigned char bytes[300] = {0xfd, size, 0, 0, 7, 1, 1, (unsigned char)id, 0, 0};
    uint16_t crc = 0xffff;
    memcpy(bytes + 10, payload, size);
    for (int i = 1; i < 10 + size; i++)
        crc = crc_byte(crc, bytes[i]);
    crc = crc_byte(crc, extra);
    bytes[10 + size] = (unsigned char)crc;
    bytes[11 + size] = (unsigned char)(crc >> 8);
    io_ground_station_receive(ground, bytes, 12u + size, frame);
}

static void hear_ack(uint16_t command, uint8_t result, uint64_t frame)
{
    const unsigned char payload[3] = {(unsigned char)command, (unsigned char)(command >> 8),
                                      result};
    hear(COMMAND_ACK, 143, payload, sizeof payload, frame);
}

static int count_of(uint8_t id)
{
    int count = 0;
    for (int i = 0; i < said_count; i++)
        count += said[i][7] == id;
    return count;
}

static const unsigned char *last_of(uint8_t id)
{
    for (int i = said_count - 1; i >= 0; i--)
        if (said[i][7] == id)
            return said[i] + 10;
    TEST_FAIL_MESSAGE("never said");
    return NULL;
}

static float param(const unsigned char *payload, int number)
{
    float value;
    memcpy(&value, payload + 4 * (number - 1), sizeof value);
    return value;
}

static unsigned command(const unsigned char *payload)
{
    return payload[28] | (unsigned)payload[29] << 8;
}

static void test_a_command_is_said_again_until_it_is_accepted(void)
{
    script.step_count = 1;
    script.step[0] =
        (struct io_ground_step){.act = IO_GROUND_ARM, .frame = 50, .limit_frames = 1000};
    place();
    hear_heartbeat(PX4);
    for (uint64_t frame = 0; frame < 50; frame++)
        io_ground_station_update(ground, frame, &port);
    TEST_ASSERT_EQUAL_INT(0, count_of(COMMAND_LONG));
    io_ground_station_update(ground, 50, &port);
    TEST_ASSERT_EQUAL_INT(1, count_of(COMMAND_LONG));
    TEST_ASSERT_EQUAL_UINT(400, command(last_of(COMMAND_LONG)));
    TEST_ASSERT_EQUAL_FLOAT(1.0f, param(last_of(COMMAND_LONG), 1));
    hear_ack(400, REJECTED_FOR_NOW, 51);
    for (uint64_t frame = 51; frame < 150; frame++)
        io_ground_station_update(ground, frame, &port);
    TEST_ASSERT_EQUAL_INT(1, count_of(COMMAND_LONG));
    io_ground_station_update(ground, 150, &port);
    TEST_ASSERT_EQUAL_INT(2, count_of(COMMAND_LONG));
    hear_ack(22, ACCEPTED, 151); /* the acknowledgement of another command */
    TEST_ASSERT_EQUAL_INT(IO_GROUND_PENDING, io_ground_result(ground, 0)->state);
    TEST_ASSERT_EQUAL_INT(REJECTED_FOR_NOW, io_ground_result(ground, 0)->answer);
    hear_ack(400, ACCEPTED, 152);
    TEST_ASSERT_EQUAL_INT(IO_GROUND_DONE, io_ground_result(ground, 0)->state);
    TEST_ASSERT_EQUAL_UINT64(50, io_ground_result(ground, 0)->asked);
    TEST_ASSERT_EQUAL_UINT64(152, io_ground_result(ground, 0)->ended);
    TEST_ASSERT_EQUAL_UINT32(2, io_ground_result(ground, 0)->tries);
    for (uint64_t frame = 152; frame < 500; frame++)
        io_ground_station_update(ground, frame, &port);
    TEST_ASSERT_EQUAL_INT(2, count_of(COMMAND_LONG));
}

static void test_what_is_never_accepted_fails_and_the_next_step_goes_on(void)
{
    script.step_count = 3;
    script.step[0] = (struct io_ground_step){.act = IO_GROUND_ARM, .limit_frames = 250};
    script.step[1] =
        (struct io_ground_step){.act = IO_GROUND_LAND, .frame = 10, .limit_frames = 1000};
    script.step[2] =
        (struct io_ground_step){.act = IO_GROUND_DISARM, .frame = 20, .limit_frames = 9};
    place();
    hear_heartbeat(ARDUPILOT);
    for (uint64_t frame = 0; frame <= 250; frame++)
        io_ground_station_update(ground, frame, &port);
    TEST_ASSERT_EQUAL_INT(IO_GROUND_FAILED, io_ground_result(ground, 0)->state);
    TEST_ASSERT_EQUAL_UINT32(3, io_ground_result(ground, 0)->tries);
    TEST_ASSERT_EQUAL_INT(-1, io_ground_result(ground, 0)->answer);
    io_ground_station_update(ground, 251, &port);
    TEST_ASSERT_EQUAL_UINT(21, command(last_of(COMMAND_LONG)));
    hear_ack(21, UNSUPPORTED, 252); /* an unsupported command is not repeated */
    TEST_ASSERT_EQUAL_INT(IO_GROUND_FAILED, io_ground_result(ground, 1)->state);
    TEST_ASSERT_EQUAL_INT(IO_GROUND_WAITING, io_ground_result(ground, 2)->state);
}

static void test_each_firmware_gets_the_height_in_its_own_form(void)
{
    script.step_count = 1;
    script.step[0] = (struct io_ground_step){
        .act = IO_GROUND_TAKEOFF, .limit_frames = 1000, .value = 2.5f, .above_sea = 490.5f};
    place();
    hear_heartbeat(PX4);
    io_ground_station_update(ground, 0, &port);
    TEST_ASSERT_EQUAL_UINT(22, command(last_of(COMMAND_LONG)));
    TEST_ASSERT_EQUAL_FLOAT(490.5f, param(last_of(COMMAND_LONG), 7));
    TEST_ASSERT_TRUE(isnan(param(last_of(COMMAND_LONG), 5)));
    place();
    hear_heartbeat(ARDUPILOT);
    io_ground_station_update(ground, 0, &port);
    TEST_ASSERT_EQUAL_FLOAT(2.5f, param(last_of(COMMAND_LONG), 7));
}

static void test_a_parameter_is_set_when_it_is_said_back(void)
{
    unsigned char value[25] = {0};
    script.step_count = 1;
    script.step[0] = (struct io_ground_step){
        .act = IO_GROUND_SET, .limit_frames = 1000, .value = 2.5f, .name = "MIS_TAKEOFF_ALT"};
    place();
    hear_heartbeat(PX4);
    io_ground_station_update(ground, 0, &port);
    TEST_ASSERT_EQUAL_FLOAT(2.5f, param(last_of(PARAM_SET), 1));
    TEST_ASSERT_EQUAL_STRING("MIS_TAKEOFF_ALT", (const char *)last_of(PARAM_SET) + 6);
    strcpy((char *)value + 8, "OTHER");
    hear(PARAM_VALUE, 220, value, sizeof value, 1);
    TEST_ASSERT_EQUAL_INT(IO_GROUND_PENDING, io_ground_result(ground, 0)->state);
    strcpy((char *)value + 8, "MIS_TAKEOFF_ALT");
    hear(PARAM_VALUE, 220, value, sizeof value, 2);
    TEST_ASSERT_EQUAL_INT(IO_GROUND_DONE, io_ground_result(ground, 0)->state);
}

static void test_what_happens_to_a_step_is_recorded_in_order(void)
{
    script.step_count = 2;
    script.step[0] =
        (struct io_ground_step){.act = IO_GROUND_ARM, .frame = 5, .limit_frames = 1000};
    script.step[1] = (struct io_ground_step){.act = IO_GROUND_LAND, .frame = 6, .limit_frames = 50};
    place();
    seen_count = 0;
    io_ground_station_observe(ground, (struct io_ground_observer){.link = 3, .observe = observe});
    hear_heartbeat(PX4);
    io_ground_station_update(ground, 5, &port);
    hear_ack(400, REJECTED_FOR_NOW, 7);
    io_ground_station_update(ground, 5 + SECOND, &port);
    hear_ack(400, ACCEPTED, 110);
    io_ground_station_update(ground, 111, &port);
    io_ground_station_update(ground, 161, &port); /* the second step gets no answer */
    TEST_ASSERT_EQUAL_INT(6, seen_count);
    assert_seen(0, 0, 5, IO_GROUND_SENT, -1);
    assert_seen(1, 0, 7, IO_GROUND_ANSWERED, REJECTED_FOR_NOW);
    assert_seen(2, 0, 5 + SECOND, IO_GROUND_SENT, REJECTED_FOR_NOW);
    assert_seen(3, 0, 110, IO_GROUND_ACCEPTED, ACCEPTED);
    assert_seen(4, 1, 111, IO_GROUND_SENT, -1);
    assert_seen(5, 1, 161, IO_GROUND_GAVE_UP, -1);
}

/* The station sends heartbeats at once, but no command before a flight controller is known. */
static void test_it_beats_every_second_and_waits_for_a_firmware(void)
{
    script.step_count = 1;
    script.step[0] = (struct io_ground_step){.act = IO_GROUND_ARM, .limit_frames = 10000};
    place();
    for (uint64_t frame = 0; frame < 5 * SECOND; frame++)
        io_ground_station_update(ground, frame, &port);
    TEST_ASSERT_EQUAL_INT(5, count_of(0));
    TEST_ASSERT_EQUAL_INT(0, count_of(COMMAND_LONG));
    hear_heartbeat(8); /* MAV_AUTOPILOT_INVALID: another ground station */
    io_ground_station_update(ground, 5 * SECOND, &port);
    TEST_ASSERT_EQUAL_INT(0, count_of(COMMAND_LONG));
    hear_heartbeat(PX4);
    io_ground_station_update(ground, 6 * SECOND, &port);
    TEST_ASSERT_EQUAL_INT(1, count_of(COMMAND_LONG));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_command_is_said_again_until_it_is_accepted);
    RUN_TEST(test_what_is_never_accepted_fails_and_the_next_step_goes_on);
    RUN_TEST(test_each_firmware_gets_the_height_in_its_own_form);
    RUN_TEST(test_a_parameter_is_set_when_it_is_said_back);
    RUN_TEST(test_what_happens_to_a_step_is_recorded_in_order);
    RUN_TEST(test_it_beats_every_second_and_waits_for_a_firmware);
    return UNITY_END();
}
