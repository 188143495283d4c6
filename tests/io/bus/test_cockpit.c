/*
 * The hand controller of the cockpit page as a bus, and as a link in each mode (the argument:
 * threaded, polling, inline, refused).  The test plays the live server.
 */
#include "io/bus/cockpit.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/bus/bus.h"
#include "io/link/link.h"
#include "tests/io/forbid_uring.h"
#include "tests/io/stamps.h"
#include "tests/io/wait.h"
#include "unity.h"

enum { MS = 1000000, MEMORY = 2 << 20 };

static enum io_link_mode mode;
static bool polls;
static const struct io_bus_spec spec = {.kind = IO_BUS_COCKPIT, .name = "hand"};
static struct io_bus bus;
static struct io_packet packet;
static _Alignas(4096) unsigned char memory[MEMORY];
static struct io_links *links;
static struct rt_thread thread;
static struct io_hand_report picture;
static struct io_command command;
static int sender;

void setUp(void)
{
    sender = -1;
    command = (struct io_command){0};
    io_hand_report_neutral(&picture);
}

void tearDown(void)
{
    io_bus_close(&bus);
    if (sender >= 0)
        (void)close(sender);
}

static void open_cockpit(void)
{
    open_bus(&bus, &spec);
    sender = io_bus_cockpit_sender(&bus);
    TEST_ASSERT_GREATER_OR_EQUAL(0, sender);
}

static void test_a_picture_crosses_with_the_kernels_stamp(void)
{
    open_cockpit();
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_size_t(IO_HAND_SIZE, packet.size);
    TEST_ASSERT_EQUAL_MEMORY(&picture, packet.bytes, IO_HAND_SIZE);
    TEST_ASSERT_NOT_EQUAL_UINT64(0, packet.stamp_ns);
    TEST_ASSERT_TRUE(packet.whole);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).rx);
}

static void test_another_hand_is_no_packet_and_is_counted(void)
{
    open_cockpit();
    const uint64_t before = counters_of(&bus).connects;
    io_cockpit_send(sender, NULL, 0);
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_size_t(IO_HAND_SIZE, packet.size);
    TEST_ASSERT_EQUAL_UINT64(before + 1, counters_of(&bus).connects);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
}

static void test_no_other_socket_can_inject_a_packet(void)
{
    open_cockpit();
    struct io_udp stranger;
    TEST_ASSERT_EQUAL(0, io_udp_open(&stranger, (struct io_address){.ip = 0x7f000001}));
    const struct io_address in = io_udp_local(&bus.cockpit.in);
    for (int i = 0; i < 10; i++) /* the send fails once it was refused, which does not matter */
        (void)io_udp_send(&stranger, in, &picture, IO_HAND_SIZE, false);
    picture.buttons = 77;
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_MEMORY(&picture, packet.bytes, IO_HAND_SIZE);
    io_udp_close(&stranger);
}

static void test_the_sender_may_outlive_the_bus(void)
{
    open_cockpit();
    io_bus_close(&bus);
    for (int i = 0; i < 3; i++)
        io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL(-1, io_bus_cockpit_sender(&bus));
}

static void test_nothing_can_be_sent(void)
{
    open_cockpit();
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&bus, io_address_far_end, "x", 1, false));
}

/* The link. */

static void start_link(void)
{
    const struct io_link_spec link = {
        .name = "hand",
        .bus = spec,
        .lost_after_ns = 100 * MS,
        .protocol = IO_PROTOCOL_HAND,
        .hand = {.axis_map_count = 1,
                 .axis_map = {{.axis = 0, .control = 2, .shape = {.scale = 1.0}}}},
    };
    const struct rt_thread_spec io = {.name = "io", .policy = SCHED_OTHER, .cpu = -1};
    char error[IO_ERROR_MAX];
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_links_size(1));
    links = io_links_place(&link, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &io, polls, NULL, &thread));
    sender = io_link_cockpit_sender(links, 0);
    TEST_ASSERT_GREATER_OR_EQUAL(0, sender);
}

static void wait_command(uint32_t sequence)
{
    for (int i = 0; i < WAIT_TRIES; i++) {
        io_links_poll(links);
        (void)io_link_latch(links, 0, &command);
        if (command.sequence >= sequence)
            break;
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT32(sequence, command.sequence);
}

static uint64_t losses(void)
{
    struct io_link_counts counters;
    io_link_counters(links, 0, &counters);
    return counters.losses;
}

static void test_a_page_commands_and_its_silence_is_its_loss(void)
{
    start_link();
    for (int i = 0; i < 150; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(0, losses()); /* no report has come yet */
    picture.axis[0] = -0.5f;
    picture.version = IO_HAND_VERSION_TIMED;
    picture.sent_us = 123456789;
    io_cockpit_send(sender, &picture, IO_HAND_SIZE_TIMED);
    wait_command(1);
    TEST_ASSERT_EQUAL_FLOAT(-0.5f, command.controls[2]);
    TEST_ASSERT_EQUAL_UINT64(123456789, command.board_us);
    TEST_ASSERT_NOT_EQUAL_UINT64(0, command.rx_ns);
    for (int i = 0; i < WAIT_TRIES && losses() == 0; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(1, losses());
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    io_links_stop(links);
}

static void test_a_pause_excuses_no_hand(void)
{
    start_link();
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_command(1);
    io_links_restart_loss_timers(links, rt_now_ns() + 10000ull * MS);
    TEST_ASSERT_TRUE(io_link_alive(links, 0, command.ready_ns + 100ull * MS));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, command.ready_ns + 101ull * MS));
    for (int i = 0; i < WAIT_TRIES && losses() == 0; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(1, losses());
    io_links_stop(links);
}

static void test_what_another_hand_holds_down_when_it_comes_is_no_press(void)
{
    start_link();
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_command(1);
    picture.buttons = 1;
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_command(2);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(1) << 32 | 1, command.flags);
    io_cockpit_send(sender, NULL, 0);
    picture.buttons = 2;
    io_cockpit_send(sender, &picture, IO_HAND_SIZE);
    wait_command(3);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(1) << 32 | 2, command.flags);
    io_links_stop(links);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "threaded";
    mode = strcmp(how, "inline") == 0 ? IO_LINK_INLINE : IO_LINK_THREADED;
    polls = strcmp(how, "polling") == 0;
    if (strcmp(how, "refused") == 0 && !forbid_uring()) {
        puts("skipped: no seccomp filter to be had, so io_uring cannot be refused");
        return 77;
    }
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_a_picture_crosses_with_the_kernels_stamp);
    RUN_TEST(test_another_hand_is_no_packet_and_is_counted);
    RUN_TEST(test_no_other_socket_can_inject_a_packet);
    RUN_TEST(test_the_sender_may_outlive_the_bus);
    RUN_TEST(test_nothing_can_be_sent);
    RUN_TEST(test_a_page_commands_and_its_silence_is_its_loss);
    RUN_TEST(test_a_pause_excuses_no_hand);
    RUN_TEST(test_what_another_hand_holds_down_when_it_comes_is_no_press);
    return UNITY_END();
}
