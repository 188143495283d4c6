/*
 * The board program on each wire, from the simulator's side: which end sends first, what answers
 * what, and whole flights in lockstep.  Simulated time runs as fast as two processes can exchange
 * messages; nothing asserts a wall time.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "tests/scenario/board/instruments.h"
#include "tests/scenario/board/line.h"
#include "tests/scenario/board/peer.h"
#include "unity.h"

enum { REPLY_MS = 10000, SILENCE_MS = 150, SECOND = 250 };

static const char *program;
static struct peer peer; /* the process; its own socket is used by the UDP wire only */
static struct line line;
static struct quadrotor quadrotor;
static struct instruments instruments;
static char address[32];
static int extra[4]; /* descriptors of a test */

void setUp(void)
{
    for (int i = 0; i < 4; i++)
        extra[i] = -1;
    quadrotor_place(&quadrotor, 0.4);
    instruments = (struct instruments){.loudness = 1.0};
    io_noise_seed(&instruments.noise, 5, 1);
}

void tearDown(void)
{
    peer_close(&peer);
    for (int i = 0; i < 4; i++) {
        if (extra[i] >= 0)
            close(extra[i]);
    }
}

#define START(...) peer_start(&peer, program, (const char *const[]){__VA_ARGS__, NULL})

/* A socket on a port of the loopback, 0: any; the port. */
static int bind_to(int type, unsigned *port)
{
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof any;
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&any, size) != 0) {
        close(fd);
        return -1;
    }
    getsockname(fd, (struct sockaddr *)&any, &size);
    *port = ntohs(any.sin_port);
    snprintf(address, sizeof address, "127.0.0.1:%u", *port);
    return fd;
}

static void accept_board(void)
{
    struct pollfd wait = {.fd = extra[0], .events = POLLIN};
    TEST_ASSERT_TRUE_MESSAGE(poll(&wait, 1, REPLY_MS) == 1, "the board does not connect");
    extra[1] = accept(extra[0], NULL, NULL);
    line_begin(&line, extra[1], false);
}

static void start_px4(void)
{
    unsigned port = 0;
    extra[0] = bind_to(SOCK_STREAM, &port);
    listen(extra[0], 1);
    START("--wire", "px4", "--vehicle", "quad", "--connect", address);
    accept_board();
}

static void assert_greeting(void)
{
    mavlink_message_t message;
    mavlink_command_long_t command;
    mavlink_heartbeat_t heartbeat;
    TEST_ASSERT_TRUE(line_next(&line, &message, REPLY_MS));
    TEST_ASSERT_EQUAL_UINT(MAVLINK_MSG_ID_COMMAND_LONG, message.msgid);
    mavlink_msg_command_long_decode(&message, &command);
    TEST_ASSERT_EQUAL_UINT(511, command.command);
    TEST_ASSERT_TRUE(command.param1 == 115.0f && command.param2 == 5000.0f);
    TEST_ASSERT_TRUE(line_next(&line, &message, REPLY_MS));
    TEST_ASSERT_EQUAL_UINT(MAVLINK_MSG_ID_HEARTBEAT, message.msgid);
    mavlink_msg_heartbeat_decode(&message, &heartbeat);
    TEST_ASSERT_EQUAL_UINT8(0, heartbeat.type);
    TEST_ASSERT_EQUAL_UINT8(12, heartbeat.autopilot);
}

/* All readings of a step; the time of its sensor message. */
static uint64_t send_step(uint64_t step)
{
    struct board_message reading[2];
    const int count = instruments_read(&instruments, &quadrotor, step, reading);
    for (int i = 0; i < count; i++)
        line_send_reading(&line, &reading[i]);
    return reading[count - 1].time_us;
}

static mavlink_hil_actuator_controls_t await_controls(void)
{
    mavlink_hil_actuator_controls_t controls;
    mavlink_message_t message;
    TEST_ASSERT_TRUE_MESSAGE(line_next(&line, &message, REPLY_MS), "no answer");
    TEST_ASSERT_EQUAL_UINT(MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS, message.msgid);
    mavlink_msg_hil_actuator_controls_decode(&message, &controls);
    return controls;
}

static void test_px4_sends_first_and_then_waits_for_twenty_sensor_messages(void)
{
    mavlink_message_t message;
    start_px4();
    assert_greeting();
    TEST_ASSERT_FALSE(line_next(&line, &message, SILENCE_MS));
    for (uint64_t step = 0; step < 19; step++)
        send_step(step);
    TEST_ASSERT_FALSE(line_next(&line, &message, SILENCE_MS));
    for (uint64_t step = 19; step < 40; step++) {
        const uint64_t time_us = send_step(step);
        const mavlink_hil_actuator_controls_t controls = await_controls();
        TEST_ASSERT_EQUAL_UINT64(time_us, controls.time_usec);
        TEST_ASSERT_EQUAL_UINT64(1, controls.flags);
        TEST_ASSERT_EQUAL_HEX8(0x01, controls.mode);
    }
    TEST_ASSERT_FALSE(line_next(&line, &message, SILENCE_MS));
}

static void test_px4_asks_until_the_simulator_listens(void)
{
    unsigned port = 0;
    extra[0] = bind_to(SOCK_STREAM, &port);
    START("--wire", "px4", "--connect", address);
    usleep(100000);
    listen(extra[0], 1);
    accept_board();
    assert_greeting();
}

static void test_px4_ends_when_the_simulator_hangs_up(void)
{
    start_px4();
    assert_greeting();
    close(extra[1]);
    extra[1] = -1;
    TEST_ASSERT_TRUE(peer_await_end(&peer));
    TEST_ASSERT_EQUAL_INT(0, peer.exit_code);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, "hung up"), peer.text);
}

static void turn_rotors(const double command[4])
{
    for (int i = 0; i < 4; i++)
        quadrotor_step(&quadrotor, command, INSTRUMENTS_STEP_US * 0.25e-6);
}

static uint64_t fly_px4(void)
{
    double command[4] = {0.0, 0.0, 0.0, 0.0};
    start_px4();
    assert_greeting();
    for (uint64_t step = 0; step < 18 * SECOND; step++) {
        const uint64_t time_us = send_step(step);
        if (step >= 19) {
            const mavlink_hil_actuator_controls_t controls = await_controls();
            TEST_ASSERT_EQUAL_UINT64(time_us, controls.time_usec);
            for (int i = 0; i < 4; i++) {
                command[i] = (double)controls.controls[i];
                TEST_ASSERT_TRUE(command[i] >= 0.0 && command[i] <= 1.0);
                TEST_ASSERT_TRUE(controls.mode == 0x81 || command[i] == 0.0);
            }
        }
        turn_rotors(command);
    }
    return line.hash;
}

static void test_px4_flies_in_lockstep_and_twice_the_same(void)
{
    const uint64_t first = fly_px4();
    const double *p = quadrotor_position(&quadrotor);
    TEST_ASSERT_DOUBLE_WITHIN(0.3, -10.1, p[2]);
    TEST_ASSERT_TRUE(hypot(p[0], p[1]) < 0.5);
    close(extra[1]);
    extra[1] = -1;
    TEST_ASSERT_TRUE(peer_await_end(&peer));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, "; hold, "), peer.text);
    tearDown();
    setUp();
    TEST_ASSERT_TRUE_MESSAGE(first == fly_px4(), "two runs differ");
}

struct servo {
    uint16_t magic, rate;
    uint32_t count;
    uint16_t pwm[32];
};

/* One packet of ArduPilot; later packets come from the same place. */
static ssize_t await_servo(int fd, struct servo *servo, int limit_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    if (poll(&wait, 1, limit_ms) <= 0)
        return -1;
    const ssize_t got = recvfrom(fd, servo, sizeof *servo, 0, (struct sockaddr *)&from, &size);
    if (connect(fd, (struct sockaddr *)&from, size) != 0)
        abort();
    return got;
}

static void answer_servo(int fd, double time_s)
{
    char text[1024];
    const double *p = quadrotor_position(&quadrotor), *v = quadrotor_velocity(&quadrotor);
    const double *q = quadrotor_attitude(&quadrotor), *w = quadrotor_rate(&quadrotor);
    double f[3];
    quadrotor_force(&quadrotor, f);
    const int size =
        snprintf(text, sizeof text,
                 "\n{\"timestamp\":%.6f,\"imu\":{\"gyro\":[%.9g,%.9g,%.9g],\"accel_body\":[%.9g,"
                 "%.9g,%.9g]},\"position\":[%.9g,%.9g,%.9g],\"quaternion\":[%.9g,%.9g,%.9g,%.9g],"
                 "\"velocity\":[%.9g,%.9g,%.9g]}\n",
                 time_s, w[0], w[1], w[2], f[0], f[1], f[2], p[0], p[1], p[2], q[0], q[1], q[2],
                 q[3], v[0], v[1], v[2]);
    if (send(fd, text, (size_t)size, 0) != size)
        abort();
}

static void test_ardupilot_flies_by_json_and_counts_answers(void)
{
    unsigned port = 0;
    struct servo servo;
    extra[0] = bind_to(SOCK_DGRAM, &port);
    START("--wire", "ardupilot", "--connect", address);
    for (uint32_t step = 0; step < 18000; step++) {
        double command[4];
        TEST_ASSERT_EQUAL_INT(40, await_servo(extra[0], &servo, REPLY_MS));
        while (servo.count < step) /* sent again on a slow machine */
            TEST_ASSERT_EQUAL_INT(40, await_servo(extra[0], &servo, REPLY_MS));
        TEST_ASSERT_EQUAL_UINT(18458, servo.magic);
        TEST_ASSERT_EQUAL_UINT(1000, servo.rate);
        TEST_ASSERT_EQUAL_UINT(step, servo.count);
        for (int i = 0; i < 4; i++)
            command[i] = (servo.pwm[i] - 1000.0) * 1e-3;
        quadrotor_step(&quadrotor, command, 1e-3);
        answer_servo(extra[0], (step + 1) * 1e-3);
    }
    const double *p = quadrotor_position(&quadrotor);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, -10.1, p[2]);
    TEST_ASSERT_TRUE(hypot(p[0], p[1]) < 0.1);
}

static void test_ardupilot_repeats_a_packet_without_an_answer(void)
{
    unsigned port = 0;
    struct servo servo;
    extra[0] = bind_to(SOCK_DGRAM, &port);
    START("--wire", "ardupilot", "--pwm32", "--connect", address);
    for (int k = 0; k < 3; k++) {
        TEST_ASSERT_EQUAL_INT(72, await_servo(extra[0], &servo, REPLY_MS));
        TEST_ASSERT_EQUAL_UINT(29569, servo.magic);
        TEST_ASSERT_EQUAL_UINT(0, servo.count);
    }
    answer_servo(extra[0], 0.001);
    do {
        TEST_ASSERT_EQUAL_INT(72, await_servo(extra[0], &servo, REPLY_MS));
    } while (servo.count == 0);
    TEST_ASSERT_EQUAL_UINT(1, servo.count);
}

/* Four ports in a row, of which the board takes the upper two. */
static bool take_row(unsigned *port)
{
    for (int tries = 0; tries < 50; tries++) {
        *port = 0;
        unsigned other = 0;
        extra[0] = bind_to(SOCK_DGRAM, &other); /* raw pulses */
        *port = other + 1;
        extra[1] = bind_to(SOCK_DGRAM, port);
        if (extra[1] >= 0)
            return true;
        close(extra[0]);
    }
    return false;
}

static void send_to(unsigned port, const void *bytes, size_t size)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)port)};
    if (sendto(extra[1], bytes, size, 0, (const struct sockaddr *)&to, sizeof to) < 0)
        abort();
}

static void test_betaflight_answers_each_motion_on_both_ports(void)
{
    unsigned port;
    double fdm[18] = {0.0};
    struct {
        double stamp;
        uint16_t channel[16];
    } rc = {.channel = {1500, 1500, 1000, 1500, 2000}};
    float speed[4];
    uint8_t raw[128];
    TEST_ASSERT_TRUE(take_row(&port));
    START("--wire", "betaflight", "--connect", address);
    fdm[7] = 1.0;
    struct pollfd wait = {.fd = extra[1], .events = POLLIN};
    for (int k = 0; k < 100 && poll(&wait, 1, 100) == 0; k++)
        send_to(port + 1, fdm, sizeof fdm); /* until it is there */
    while (poll(&wait, 1, SILENCE_MS) > 0)
        TEST_ASSERT_EQUAL_INT(16, recv(extra[1], speed, sizeof speed, 0));
    TEST_ASSERT_TRUE(speed[0] == 0.0f);
    while (recv(extra[0], raw, sizeof raw, MSG_DONTWAIT) > 0)
        continue;

    send_to(port + 2, &rc, sizeof rc);
    usleep(50000); /* two sockets have no order between them */
    fdm[0] = 0.001;
    send_to(port + 1, fdm, sizeof fdm);
    TEST_ASSERT_TRUE(poll(&wait, 1, REPLY_MS) == 1);
    TEST_ASSERT_EQUAL_INT(16, recv(extra[1], speed, sizeof speed, 0));
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.07, (double)speed[i]);
    wait.fd = extra[0];
    TEST_ASSERT_TRUE(poll(&wait, 1, REPLY_MS) == 1);
    TEST_ASSERT_EQUAL_INT(68, recv(extra[0], raw, sizeof raw, 0));
    wait.fd = extra[1];
    TEST_ASSERT_EQUAL_INT(0, poll(&wait, 1, SILENCE_MS));
}

/* The UDP wire of a board on its own clock: it talks, we connect to where it talks from. */
static void meet_hitl(void)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    struct pollfd wait = {.fd = peer.fd, .events = POLLIN};
    uint8_t byte;
    TEST_ASSERT_TRUE_MESSAGE(poll(&wait, 1, REPLY_MS) == 1, "the board is silent");
    recvfrom(peer.fd, &byte, 1, MSG_PEEK, (struct sockaddr *)&from, &size);
    TEST_ASSERT_EQUAL_INT(0, connect(peer.fd, (struct sockaddr *)&from, size));
    line_begin(&line, peer.fd, true);
}

static void assert_heartbeat(uint8_t mode)
{
    mavlink_message_t message;
    TEST_ASSERT_TRUE(line_await(&line, MAVLINK_MSG_ID_HEARTBEAT, &message, REPLY_MS));
    TEST_ASSERT_EQUAL_HEX8(mode, mavlink_msg_heartbeat_get_base_mode(&message));
    TEST_ASSERT_EQUAL_UINT8(12, mavlink_msg_heartbeat_get_autopilot(&message));
}

static void assert_streams(void)
{
    mavlink_hil_actuator_controls_t controls;
    mavlink_message_t message;
    for (uint64_t step = 0; step < 100; step++) {
        send_step(step);
        usleep(1000);
    }
    for (int k = 0; k < 10; k++) { /* more than the sensor messages asked for: a stream */
        TEST_ASSERT_TRUE(
            line_await(&line, MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS, &message, REPLY_MS));
        mavlink_msg_hil_actuator_controls_decode(&message, &controls);
        TEST_ASSERT_EQUAL_HEX8(0x35, controls.mode);
        TEST_ASSERT_EQUAL_UINT64(0, controls.flags);
    }
    TEST_ASSERT_TRUE(line_await(&line, MAVLINK_MSG_ID_TIMESYNC, &message, REPLY_MS));
    TEST_ASSERT_TRUE(line_await(&line, MAVLINK_MSG_ID_ATTITUDE, &message, REPLY_MS));
}

static void test_a_board_in_the_loop_streams_on_its_own_clock(void)
{
    START("--wire", "px4-hitl", "--vehicle", "quad", "--connect", "@");
    meet_hitl();
    assert_heartbeat(0x3d);
    assert_streams();
}

static void test_a_board_that_is_not_in_the_loop_commands_nothing(void)
{
    mavlink_message_t message;
    START("--wire", "px4-hitl", "--no-hil", "--vehicle", "quad", "--connect", "@");
    meet_hitl();
    assert_heartbeat(0x1d);
    for (uint64_t step = 0; step < 10; step++)
        send_step(step);
    TEST_ASSERT_FALSE(line_await(&line, MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS, &message, 300));
}

static void test_a_board_in_the_loop_answers_a_ground_station(void)
{
    const mavlink_command_long_t ask = {.command = 400, .target_system = 1};
    const mavlink_param_request_list_t list = {.target_system = 1};
    mavlink_message_t message;
    START("--wire", "px4-hitl", "--connect", "@");
    meet_hitl();
    mavlink_msg_command_long_encode_status(255, 190, &line.tx_status, &message, &ask);
    line_send(&line, &message);
    TEST_ASSERT_TRUE(line_await(&line, MAVLINK_MSG_ID_COMMAND_ACK, &message, REPLY_MS));
    TEST_ASSERT_EQUAL_UINT(400, mavlink_msg_command_ack_get_command(&message));
    mavlink_msg_param_request_list_encode_status(255, 190, &line.tx_status, &message, &list);
    line_send(&line, &message);
    TEST_ASSERT_TRUE(line_await(&line, MAVLINK_MSG_ID_PARAM_VALUE, &message, REPLY_MS));
}

static void test_a_board_in_the_loop_uses_a_serial_line(void)
{
    struct termios raw;
    extra[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    TEST_ASSERT_TRUE(extra[0] >= 0 && grantpt(extra[0]) == 0 && unlockpt(extra[0]) == 0);
    extra[1] = open(ptsname(extra[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    tcgetattr(extra[1], &raw);
    cfmakeraw(&raw);
    tcsetattr(extra[1], TCSANOW, &raw);
    START("--wire", "px4-hitl", "--vehicle", "quad", "--connect", ptsname(extra[0]), "--baud",
          "2000000");
    line_begin(&line, extra[0], false);
    assert_heartbeat(0x3d);
    assert_streams();
}

static void test_addresses_that_do_not_work_end_with_two(void)
{
    static const char *const bad[][2] = {{"px4", "nowhere"},
                                         {"px4-hitl", "/dev/no-such-line"},
                                         {"px4-hitl", "/dev/null"},
                                         {"ardupilot", "127.0.0.1:0"},
                                         {"betaflight", "127.0.0.1:65535"}};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        START("--wire", bad[i][0], "--connect", bad[i][1]);
        TEST_ASSERT_TRUE(peer_await_end(&peer));
        TEST_ASSERT_EQUAL_INT_MESSAGE(2, peer.exit_code, bad[i][0]);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, "board: "), peer.text);
        peer_close(&peer);
    }
}

static void test_options_that_do_not_fit_end_with_sixty_four(void)
{
    static const char *const bad[][4] = {
        {"--wire", "carrier-pigeon", NULL, NULL},
        {"--vehicle", "submarine", NULL, NULL},
        {"--wire", "ardupilot", "--vehicle", "satellite"},
        {"--wire", "betaflight", "--vehicle", "satellite"},
        {"--vehicle", "quad", "--mass", "15"},
        {"--altitude", "-3", NULL, NULL},
        {"--arms", "0.2", NULL, NULL},
        {"--baud", "0", NULL, NULL},
        {"--dipole", "0", NULL, NULL},
        {"--lock-after", "0", NULL, NULL},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        START(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        TEST_ASSERT_TRUE(peer_await_end(&peer));
        TEST_ASSERT_EQUAL_INT_MESSAGE(64, peer.exit_code, bad[i][1]);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, "board --help"), peer.text);
        peer_close(&peer);
    }
}

static void test_help_names_wires_and_vehicles(void)
{
    static const char *const word[] = {
        "px4-hitl",   "ardupilot", "betaflight",   "satellite",  "quad",         "--baud",
        "--no-hil",   "--pwm32",   "--lock-after", "--detumble", "--dipole",     "--unload-gain",
        "--altitude", "--mass",    "--max-thrust", "--arms",     "--drag-ratio", "--declination"};
    START("--help");
    TEST_ASSERT_TRUE(peer_await_end(&peer));
    for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, word[i]), word[i]);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: test_wires BOARD\n", stderr);
        return 64;
    }
    program = argv[1];
    UNITY_BEGIN();
    RUN_TEST(test_px4_sends_first_and_then_waits_for_twenty_sensor_messages);
    RUN_TEST(test_px4_asks_until_the_simulator_listens);
    RUN_TEST(test_px4_ends_when_the_simulator_hangs_up);
    RUN_TEST(test_px4_flies_in_lockstep_and_twice_the_same);
    RUN_TEST(test_ardupilot_flies_by_json_and_counts_answers);
    RUN_TEST(test_ardupilot_repeats_a_packet_without_an_answer);
    RUN_TEST(test_betaflight_answers_each_motion_on_both_ports);
    RUN_TEST(test_a_board_in_the_loop_streams_on_its_own_clock);
    RUN_TEST(test_a_board_that_is_not_in_the_loop_commands_nothing);
    RUN_TEST(test_a_board_in_the_loop_answers_a_ground_station);
    RUN_TEST(test_a_board_in_the_loop_uses_a_serial_line);
    RUN_TEST(test_addresses_that_do_not_work_end_with_two);
    RUN_TEST(test_options_that_do_not_fit_end_with_sixty_four);
    RUN_TEST(test_help_names_wires_and_vehicles);
    return UNITY_END();
}
