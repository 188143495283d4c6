/*
 * The board program as a whole, from the far end of its wire: it points a flexible satellite, keeps
 * the protocol, and ends when it should.  Simulated time runs as fast as the two processes can
 * exchange messages.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "io/device/noise.h"
#include "tests/scenario/board/peer.h"
#include "tests/scenario/board/satellite.h"
#include "unity.h"

enum { STEP_US = 4000, STAR_EVERY = 5, REPLY_MS = 5000, SILENCE_MS = 200 };
enum { STATE_ACTIVE = 4, STATE_EMERGENCY = 6, STATE_POWEROFF = 7 };
enum { DISARMED = 0x21, ARMED = 0xa1 };

static const char *program;
static struct peer peer;

static const double still[3] = {0.0, 0.0, 0.0};
static const double level[4] = {1.0, 0.0, 0.0, 0.0};

void setUp(void)
{
}

void tearDown(void)
{
    peer_close(&peer);
}

#define START(...) peer_start(&peer, program, (const char *const[]){__VA_ARGS__, NULL})

static void assert_end(int exit_code, const char *saying)
{
    TEST_ASSERT_TRUE_MESSAGE(peer_await_end(&peer), "the board does not end");
    TEST_ASSERT_EQUAL_INT(exit_code, peer.exit_code);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, saying), peer.text);
}

/* One sensor message and its answer. */
static bool exchange(uint64_t time_us, const double gyro[3])
{
    const unsigned before = peer.commands;
    peer_send_sensor(&peer, time_us, gyro);
    return peer_await_command(&peer, before, REPLY_MS) && peer.commands == before + 1;
}

/* Inertia 12, 14, 10 with a fifth of it in panels at 1.3 and 2.4 Hz; 25 deg off, 2 deg/s away. */
static const struct satellite flexible = {.inertia = {12.0, 14.0, 10.0},
                                          .coupling = {{0.5, 1.7, 0.0}, {1.2, 0.0, 0.8}},
                                          .frequency = {8.2, 15.1},
                                          .damping = 0.003,
                                          .wheel_inertia = 8e-3,
                                          .viscous = 1e-5,
                                          .coulomb = 1e-3,
                                          .torque_max = 0.2};

static void read_gyro(const struct satellite *satellite, struct io_noise *noise, double gyro[3])
{
    static const double bias[3] = {1e-3, -5e-4, 2e-4};
    const double deviation = 5e-5 / sqrt(STEP_US * 1e-6);
    for (int i = 0; i < 3; i++)
        gyro[i] = satellite_rate(satellite)[i] + bias[i] + deviation * io_noise_normal(noise);
}

/* One step of the closed loop; the answer to step k acts during step k. */
static void close_loop(struct satellite *satellite, struct io_noise *noise, uint64_t step)
{
    double gyro[3];
    read_gyro(satellite, noise, gyro);
    if (step % STAR_EVERY == 0)
        peer_send_star(&peer, step * STEP_US, satellite_attitude(satellite));
    TEST_ASSERT_TRUE_MESSAGE(exchange(step * STEP_US, gyro), "one answer to each sensor message");
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_TRUE(fabs(peer.controls[i]) <= 1.0);
    for (int i = 0; i < 4; i++)
        satellite_step(satellite, peer.controls, STEP_US * 0.25e-6);
}

static void test_the_board_points_a_flexible_satellite_and_holds_it(void)
{
    const double third = sqrt(1.0 / 3.0), axis[3] = {third, third, third}, degree = M_PI / 180.0;
    struct satellite satellite = flexible;
    struct io_noise noise;
    char history[200] = "error, deg, every 2 s:";

    io_noise_seed(&noise, 1, 1);
    satellite_place(&satellite, axis, 25.0 * degree, 2.0 * degree);
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    for (uint64_t step = 0; step < 5000; step++) {
        close_loop(&satellite, &noise, step);
        const double error = satellite_error(&satellite) / degree;
        if (step >= 12 * 250)
            TEST_ASSERT_DOUBLE_WITHIN(0.1, 0.0, error);
        if (step >= 14 * 250)
            TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.0, error);
        if ((step + 1) % 500 == 0)
            snprintf(history + strlen(history), sizeof history - strlen(history), " %.4f", error);
    }
    TEST_MESSAGE(history);
    peer_send_status(&peer, STATE_POWEROFF);
    assert_end(0, "board: simulator ended; ");
    TEST_ASSERT_NOT_NULL(strstr(peer.text, "; attitude error 0.0"));
    TEST_ASSERT_NOT_NULL(strstr(peer.text, " 0 lost, 0 bad"));
    TEST_ASSERT_EQUAL_UINT(0, peer.strangers);
}

static void test_the_board_announces_itself_as_a_px4_in_the_loop(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_EQUAL_UINT8(12, peer.autopilot);
    TEST_ASSERT_EQUAL_HEX8(DISARMED, peer.base_mode);
}

static void test_controls_are_zero_and_disarmed_until_the_first_star(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    for (uint64_t step = 1; step <= 10; step++) {
        TEST_ASSERT_TRUE(exchange(step * STEP_US, (double[]){0.01, 0.02, 0.03}));
        TEST_ASSERT_EQUAL_HEX8(DISARMED, peer.mode);
        for (int i = 0; i < 16; i++)
            TEST_ASSERT_TRUE(peer.controls[i] == 0.0);
    }
    peer_send_star(&peer, 11 * STEP_US, level);
    TEST_ASSERT_TRUE(exchange(11 * STEP_US, (double[]){0.01, 0.02, 0.03}));
    TEST_ASSERT_EQUAL_HEX8(ARMED, peer.mode);
    TEST_ASSERT_TRUE(peer.flags == 0);
    for (int i = 0; i < 3; i++) /* wheels take up the momentum that the body has */
        TEST_ASSERT_TRUE(peer.controls[i] > 0.0);
}

static void test_the_round_trip_is_measured_and_reported(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer_send_status(&peer, STATE_ACTIVE);
    for (int i = 0; i < 50 && peer.requests == 0; i++)
        peer_await_command(&peer, 0, SILENCE_MS);
    TEST_ASSERT_TRUE(peer.requests > 0);
    peer_send_status(&peer, STATE_POWEROFF);
    assert_end(0, "; round trip ");
}

static void test_gaps_and_broken_frames_are_counted(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_TRUE(exchange(1 * STEP_US, still));
    peer.sequence = (uint8_t)(peer.sequence + 2);
    TEST_ASSERT_TRUE(exchange(2 * STEP_US, still));
    peer.break_next = true;
    peer_send_sensor(&peer, 3 * STEP_US, still);
    TEST_ASSERT_TRUE(exchange(4 * STEP_US, still));
    peer_send_status(&peer, STATE_POWEROFF);
    assert_end(0, " 3 lost, 1 bad");
}

static void test_a_torn_datagram_does_not_spoil_the_next(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer.tear_next = true;
    peer_send_sensor(&peer, 1 * STEP_US, still);
    TEST_ASSERT_TRUE(exchange(2 * STEP_US, still));
}

static void test_a_sensor_without_a_new_gyro_is_answered_with_the_same_controls(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer_send_star(&peer, STEP_US, level);
    TEST_ASSERT_TRUE(exchange(STEP_US, (double[]){0.01, 0.0, 0.0}));
    const double before = peer.controls[0];
    peer.fields = 0x1ff & ~0x08u; /* one of the three rates is old */
    TEST_ASSERT_TRUE(exchange(2 * STEP_US, (double[]){-1.0, 0.0, 0.0}));
    TEST_ASSERT_TRUE(before > 0.0 && peer.controls[0] == before);
}

static void test_a_second_instrument_is_not_listened_to(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer.instrument = 1;
    peer_send_sensor(&peer, STEP_US, still);
    peer.instrument = 0;
    TEST_ASSERT_TRUE(exchange(2 * STEP_US, still));
    TEST_ASSERT_EQUAL_UINT(1, peer.commands);
}

static void test_time_requests_of_the_simulator_are_answered(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer_send_request(&peer);
    TEST_ASSERT_TRUE(exchange(STEP_US, still));
    TEST_ASSERT_EQUAL_UINT(1, peer.answers);
}

static void test_in_an_emergency_the_board_sends_zero_once_and_ends(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer_send_star(&peer, STEP_US, level);
    TEST_ASSERT_TRUE(exchange(STEP_US, (double[]){0.05, 0.0, 0.0}));
    TEST_ASSERT_TRUE(peer.controls[0] != 0.0);
    peer_send_status(&peer, STATE_EMERGENCY);
    assert_end(0, "emergency, commands stopped");
    TEST_ASSERT_EQUAL_UINT(2, peer.commands);
    TEST_ASSERT_EQUAL_HEX8(DISARMED, peer.mode);
    TEST_ASSERT_TRUE(peer.controls[0] == 0.0);
}

static void test_a_simulator_that_stops_sending_ends_the_board_with_a_line(void)
{
    START("--connect", "@", "--timeout", "0.3");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_TRUE(exchange(STEP_US, still));
    peer.silent = true;
    assert_end(1, "simulator silent");
}

static void test_without_a_simulator_the_board_retries_and_gives_up(void)
{
    START("--connect", "@", "--wait", "1.5");
    assert_end(1, "no simulator answered");
    TEST_ASSERT_TRUE(peer.heartbeats >= 2);
}

static void test_sigterm_ends_the_board_with_its_summary(void)
{
    START("--connect", "@");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_TRUE(exchange(STEP_US, still));
    peer_signal(&peer, SIGTERM);
    assert_end(0, "board: stopped; ");
}

static void test_quiet_says_nothing(void)
{
    START("--connect", "@", "--quiet");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    peer_send_status(&peer, STATE_POWEROFF);
    assert_end(0, "");
    TEST_ASSERT_EQUAL_STRING("", peer.text);
}

static void test_drop_leaves_every_third_sensor_without_an_answer(void)
{
    START("--connect", "@", "--drop", "3");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    for (uint64_t step = 1; step <= 9; step++)
        peer_send_sensor(&peer, step * STEP_US, still);
    TEST_ASSERT_TRUE(peer_await_command(&peer, 5, REPLY_MS));
    TEST_ASSERT_FALSE(peer_await_command(&peer, 6, SILENCE_MS));
}

static void test_a_muted_board_receives_and_does_not_send(void)
{
    START("--connect", "@", "--mute-after", "1");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_TRUE(exchange(0, still));
    TEST_ASSERT_TRUE(exchange(999999, still));
    peer_send_sensor(&peer, 1000000, still);
    TEST_ASSERT_FALSE(peer_await_command(&peer, 2, SILENCE_MS));
    peer_send_status(&peer, STATE_POWEROFF);
    assert_end(0, "simulator ended");
}

static void test_a_dying_board_is_gone_without_a_message(void)
{
    START("--connect", "@", "--die-after", "1");
    TEST_ASSERT_TRUE(peer_meet(&peer));
    TEST_ASSERT_TRUE(exchange(0, still));
    peer_send_sensor(&peer, 1000000, still);
    assert_end(0, "");
    TEST_ASSERT_EQUAL_UINT(1, peer.commands);
    TEST_ASSERT_EQUAL_STRING("", peer.text);
}

static void test_bad_addresses_end_with_two(void)
{
    static const char *const bad[] = {
        "nowhere",         "127.0.0.1",   "127.0.0.1:",      ":14560", "127.0.0.1:0",
        "127.0.0.1:70000", "127.0.0.1:x", "300.1.2.3:14560", "[]:1"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        START("--connect", bad[i]);
        assert_end(2, "board: ");
        peer_close(&peer);
    }
}

static void test_wrong_options_end_with_sixty_four(void)
{
    static const char *const bad[][2] = {
        {"--nonsense", NULL},      {"stray", NULL},
        {"--target", "0,0,0,0"},   {"--target", "1,0,0"},
        {"--target", "1,0,0,0,0"}, {"--inertia", "1,2,-3"},
        {"--torque", "0"},         {"--torque", "much"},
        {"--rate-limit", "nan"},   {"--authority", "1.5"},
        {"--drop", "0"},           {"--drop", "1.5"},
        {"--timeout", "-1"},       {"--attitude-gain", "1e999"},
        {"--connect", NULL},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        START(bad[i][0], bad[i][1]);
        assert_end(64, "board --help");
        peer_close(&peer);
    }
}

static void test_help_names_every_option_and_the_exit_codes(void)
{
    static const char *const word[] = {
        "--connect", "--target",        "--timeout",    "--wait",      "--quiet",     "--inertia",
        "--torque",  "--rate-limit",    "--authority",  "--rate-gain", "--trim-gain", "--roll-off",
        "--drop",    "--attitude-gain", "--mute-after", "--die-after", "exit: 0"};
    START("--help");
    assert_end(0, "usage: board");
    for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(peer.text, word[i]), word[i]);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: test_board BOARD\n", stderr);
        return 64;
    }
    program = argv[1];
    UNITY_BEGIN();
    RUN_TEST(test_the_board_points_a_flexible_satellite_and_holds_it);
    RUN_TEST(test_the_board_announces_itself_as_a_px4_in_the_loop);
    RUN_TEST(test_controls_are_zero_and_disarmed_until_the_first_star);
    RUN_TEST(test_the_round_trip_is_measured_and_reported);
    RUN_TEST(test_gaps_and_broken_frames_are_counted);
    RUN_TEST(test_a_torn_datagram_does_not_spoil_the_next);
    RUN_TEST(test_a_sensor_without_a_new_gyro_is_answered_with_the_same_controls);
    RUN_TEST(test_a_second_instrument_is_not_listened_to);
    RUN_TEST(test_time_requests_of_the_simulator_are_answered);
    RUN_TEST(test_in_an_emergency_the_board_sends_zero_once_and_ends);
    RUN_TEST(test_a_simulator_that_stops_sending_ends_the_board_with_a_line);
    RUN_TEST(test_without_a_simulator_the_board_retries_and_gives_up);
    RUN_TEST(test_sigterm_ends_the_board_with_its_summary);
    RUN_TEST(test_quiet_says_nothing);
    RUN_TEST(test_drop_leaves_every_third_sensor_without_an_answer);
    RUN_TEST(test_a_muted_board_receives_and_does_not_send);
    RUN_TEST(test_a_dying_board_is_gone_without_a_message);
    RUN_TEST(test_bad_addresses_end_with_two);
    RUN_TEST(test_wrong_options_end_with_sixty_four);
    RUN_TEST(test_help_names_every_option_and_the_exit_codes);
    return UNITY_END();
}
