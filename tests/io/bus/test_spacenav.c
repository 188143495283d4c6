/*
 * A SpaceMouse with a daemon that is only a socket of the test; the real daemon is tested in
 * tests/rtguest.
 */
#include "io/bus/spacenav.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/io/wait.h"
#include "unity.h"

static char path[64];
static int daemon_fd = -1, client = -1;
static struct io_bus bus;
static struct io_bus_spec spec;
static struct io_packet packet;

static void start_daemon(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    daemon_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    TEST_ASSERT_EQUAL(0, bind(daemon_fd, (const struct sockaddr *)&name, sizeof name));
    TEST_ASSERT_EQUAL(0, listen(daemon_fd, 2));
}

static void end_daemon(void)
{
    (void)close(client);
    (void)close(daemon_fd);
    (void)unlink(path);
    client = daemon_fd = -1;
}

static void open_hand(void)
{
    open_bus(&bus, &spec);
    client = accept(daemon_fd, NULL, NULL);
    TEST_ASSERT_GREATER_OR_EQUAL(0, client);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet)); /* at rest */
}

void setUp(void)
{
    (void)snprintf(path, sizeof path, "/tmp/test_spacenav_%d", (int)getpid());
    start_daemon();
    spec = (struct io_bus_spec){.kind = IO_BUS_SPACENAV, .name = "hand"};
    (void)snprintf(spec.device, sizeof spec.device, "%s", path);
    memset(&bus, 0, sizeof bus);
}

void tearDown(void)
{
    io_bus_close(&bus);
    end_daemon();
}

static void say(const int32_t *word, size_t size)
{
    TEST_ASSERT_EQUAL(size, write(client, word, size));
}
#define SAY(...) say((const int32_t[8]){__VA_ARGS__}, 32)

static struct io_hand_report next(void)
{
    struct io_hand_report picture;
    wait_packet(&bus, &packet);
    TEST_ASSERT_TRUE(io_hand_decode(packet.bytes, packet.size, &picture));
    return picture;
}

static void test_a_hand_controller_at_rest_is_received(void)
{
    struct io_hand_report picture;
    open_hand();
    TEST_ASSERT_TRUE(io_hand_decode(packet.bytes, packet.size, &picture));
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++)
        TEST_ASSERT_TRUE(picture.axis[i] == 0.0f);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
}

static void test_moves_are_shares_of_the_full_travel(void)
{
    open_hand();
    SAY(0, 35, -70, 105, -140, 350, -350, 16);
    static const float way[] = {0.1f, -0.2f, 0.3f, -0.4f, 1.0f, -1.0f};
    const struct io_hand_report picture = next();
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_EQUAL_FLOAT(way[i], picture.axis[i]);
    SAY(0, INT32_MAX, INT32_MIN, 0, 0, 0, 0, 16);
    const struct io_hand_report much = next();
    TEST_ASSERT_TRUE(much.axis[0] == 1.0f && much.axis[1] == -1.0f && much.axis[5] == 0.0f);
}

static void test_buttons_go_down_and_up(void)
{
    open_hand();
    SAY(1, 31);
    TEST_ASSERT_EQUAL_HEX32(0x80000000, next().buttons);
    SAY(1, 0);
    TEST_ASSERT_EQUAL_HEX32(0x80000001, next().buttons);
    SAY(2, 31);
    TEST_ASSERT_EQUAL_HEX32(1, next().buttons);
}

static void test_what_changes_nothing_is_no_packet(void)
{
    open_hand();
    for (int i = 0; i < 40; i++)
        SAY(3, i); /* the message that a device was plugged in */
    SAY(1, 32);
    SAY(1, -1);
    SAY(-7, 1);
    SAY(0, 0, 0, 0, 0, 0, 0, 16);
    SAY(1, 5);
    TEST_ASSERT_EQUAL_HEX32(0x20, next().buttons);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&bus).rx);
}

static void test_a_message_may_come_in_pieces(void)
{
    const int32_t word[8] = {0, 350, 0, 0, 0, 0, 0, 16};
    open_hand();
    for (size_t i = 0; i < sizeof word; i++) {
        TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
        TEST_ASSERT_EQUAL(1, write(client, (const unsigned char *)word + i, 1));
    }
    TEST_ASSERT_EQUAL_FLOAT(1.0f, next().axis[0]);
}

static void test_a_daemon_that_went_is_found_again_and_the_hand_rests(void)
{
    struct io_hand_report picture;
    open_hand();
    SAY(0, 350, 0, 0, 0, 0, 0, 16);
    (void)next();
    (void)write(client, "half", 4);
    end_daemon();
    int status;
    while ((status = io_bus_receive(&bus, &packet)) == 0)
        wait_moment();
    TEST_ASSERT_LESS_THAN(0, status);
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    io_bus_tick(&bus, rt_now_ns());
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    start_daemon();
    wait_connected(&bus, true);
    client = accept(daemon_fd, NULL, NULL);
    picture = next();
    TEST_ASSERT_TRUE(picture.axis[0] == 0.0f);
    SAY(1, 2);
    TEST_ASSERT_EQUAL_HEX32(4, next().buttons);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).losses);
}

static void test_a_daemon_that_dies_is_not_asked_at_once(void)
{
    open_hand();
    (void)close(client);
    client = -1;
    while (io_bus_receive(&bus, &packet) == 0)
        wait_moment();
    const uint64_t now_ns = rt_now_ns();
    io_bus_tick(&bus, now_ns);
    io_bus_tick(&bus, now_ns + 20000000);
    TEST_ASSERT_FALSE(io_bus_connected(&bus)); /* although its socket still exists */
    io_bus_tick(&bus, now_ns + 60000000);
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
}

/* Tick every 20 ms for so long, and receive after each. */
static uint64_t tick_for(uint64_t from_ns, uint64_t ms, int *packets)
{
    *packets = 0;
    for (uint64_t i = 0; i < ms / 20; i++) {
        io_bus_tick(&bus, from_ns += 20000000);
        *packets += io_bus_receive(&bus, &packet);
    }
    return from_ns;
}

static void test_a_hand_that_no_longer_moves_was_let_go(void)
{
    struct io_hand_report picture;
    int packets;
    open_hand();
    uint64_t now_ns = tick_for(rt_now_ns(), 1000, &packets);
    TEST_ASSERT_EQUAL(0, packets); /* it is at rest already */
    SAY(1, 3);
    (void)next();
    SAY(0, 0, 0, 0, 0, 0, 7, 16);
    (void)next();
    now_ns = tick_for(now_ns, 480, &packets);
    TEST_ASSERT_EQUAL(0, packets);
    SAY(0, 0, 0, 0, 0, 0, 7, 16); /* nothing changes, but the deflection is held */
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    now_ns = tick_for(now_ns, 480, &packets);
    TEST_ASSERT_EQUAL(0, packets);
    SAY(2, 9); /* a button is not a move */
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    now_ns = tick_for(now_ns, 40, &packets);
    TEST_ASSERT_EQUAL(1, packets);
    TEST_ASSERT_TRUE(io_hand_decode(packet.bytes, packet.size, &picture));
    TEST_ASSERT_TRUE(picture.axis[5] == 0.0f);
    TEST_ASSERT_EQUAL_HEX32(8, picture.buttons);
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
    now_ns = tick_for(now_ns, 1000, &packets);
    TEST_ASSERT_EQUAL(0, packets);
    SAY(0, 0, 0, 0, 0, 0, 7, 2000); /* moved again to where it was released */
    TEST_ASSERT_EQUAL_FLOAT(0.02f, next().axis[5]);
}

static void test_a_machine_that_stood_still_received_nothing(void)
{
    int packets;
    open_hand();
    uint64_t now_ns = tick_for(rt_now_ns(), 20, &packets);
    SAY(0, 350, 0, 0, 0, 0, 0, 16);
    (void)next();
    now_ns = tick_for(now_ns + 3000000000u, 400, &packets);
    TEST_ASSERT_EQUAL(0, packets);
    (void)tick_for(now_ns, 100, &packets);
    TEST_ASSERT_EQUAL(1, packets);
}

static void test_without_a_daemon_the_line_says_how_to_start_it(void)
{
    end_daemon();
    refuse_bus(&spec, -ENOENT, "links.hand.device: spacenavd does not answer at ",
               "systemctl start spacenavd");
    memset(spec.device, 'x', sizeof spec.device - 1);
    refuse_bus(&spec, -ENAMETOOLONG, "links.hand.device: ", "");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_hand_controller_at_rest_is_received);
    RUN_TEST(test_moves_are_shares_of_the_full_travel);
    RUN_TEST(test_buttons_go_down_and_up);
    RUN_TEST(test_what_changes_nothing_is_no_packet);
    RUN_TEST(test_a_message_may_come_in_pieces);
    RUN_TEST(test_a_daemon_that_went_is_found_again_and_the_hand_rests);
    RUN_TEST(test_a_daemon_that_dies_is_not_asked_at_once);
    RUN_TEST(test_a_hand_that_no_longer_moves_was_let_go);
    RUN_TEST(test_a_machine_that_stood_still_received_nothing);
    RUN_TEST(test_without_a_daemon_the_line_says_how_to_start_it);
    return UNITY_END();
}
