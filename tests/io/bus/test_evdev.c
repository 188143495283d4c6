/*
 * Hand controllers as a bus, and as a link in each mode (the argument: threaded, polling, inline,
 * refused).  The test has no event device: a FIFO carries the events, and a folder replaces
 * /sys/class/input.
 */
#include "io/bus/evdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bus/bus.h"
#include "io/link/link.h"
#include "tests/io/forbid_uring.h"
#include "tests/io/wait.h"
#include "unity.h"

enum { MS = 1000000, MEMORY = 2 << 20, PATH = 128 };

static enum io_link_mode mode;
static bool polls;
static char folder[64], path[PATH];
static int device = -1; /* where the events are written */
static struct io_evdev_info facts;
static _Atomic int32_t
    stands_x; /* the state of the device, which the I/O thread queries while the test changes it */
static int ask_status;
static struct io_bus bus;
static struct io_bus_spec spec;
static struct io_packet packet;

static int query(int fd, struct io_evdev_info *out)
{
    TEST_ASSERT_GREATER_OR_EQUAL(0, fd);
    *out = facts;
    out->axis[ABS_X].value = stands_x;
    return ask_status;
}
static struct io_evdev_host world = {.names = folder, .devices = folder, .query = query};

static void write_file(int number, const char *what, const char *text)
{
    char name[PATH];
    (void)snprintf(name, sizeof name, "%s/event%d/device/%s", folder, number, what);
    FILE *file = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

/* In sysfs eventN is a directory and in /dev a device; here the device has another place. */
static void describe(int number, const char *name, const char *axes)
{
    char command[2 * PATH];
    (void)snprintf(command, sizeof command, "mkdir -p %s/event%d/device/capabilities", folder,
                   number);
    TEST_ASSERT_EQUAL(0, system(command));
    write_file(number, "name", name);
    write_file(number, "capabilities/abs", axes);
}

static void plug_in(void)
{
    TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
    device = open(path, O_RDWR | O_CLOEXEC);
    TEST_ASSERT_GREATER_OR_EQUAL(0, device);
}

static void pull_out(void)
{
    (void)unlink(path);
    if (device >= 0)
        (void)close(device);
    device = -1;
}

void setUp(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/test_evdev_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/stick", folder);
    plug_in();
    memset(&facts, 0, sizeof facts);
    (void)snprintf(facts.name, sizeof facts.name, "Yoke");
    facts.axes = 1u << ABS_X | 1u << ABS_Y;
    facts.axis[ABS_X] = facts.axis[ABS_Y] = (struct io_evdev_axis){-100, 100, 0};
    facts.keys[BTN_TRIGGER / 8] = 1u << BTN_TRIGGER % 8;
    ask_status = 0;
    stands_x = 0;
    spec = (struct io_bus_spec){.kind = IO_BUS_EVDEV, .name = "hand", .input = &world};
    (void)snprintf(spec.device, sizeof spec.device, "%s", path);
    memset(&bus, 0, sizeof bus);
}

void tearDown(void)
{
    char command[PATH];
    io_bus_close(&bus);
    pull_out();
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    TEST_ASSERT_EQUAL(0, system(command));
}

static void say(uint16_t type, uint16_t code, int32_t value, uint64_t stamp_ns)
{
    struct input_event event = {.type = type, .code = code, .value = value};
    event.input_event_sec = (long)(stamp_ns / 1000000000u);
    event.input_event_usec = (long)(stamp_ns % 1000000000u / 1000u);
    TEST_ASSERT_EQUAL(sizeof event, write(device, &event, sizeof event));
}

static void move(uint16_t type, uint16_t code, int32_t value, uint64_t stamp_ns)
{
    say(type, code, value, stamp_ns);
    say(EV_SYN, SYN_REPORT, 0, stamp_ns);
}

static struct io_hand_report shown(void)
{
    struct io_hand_report picture;
    TEST_ASSERT_TRUE(io_hand_decode(packet.bytes, packet.size, &picture));
    return picture;
}

/* The bus. */

static void test_the_first_packet_is_how_the_device_stands(void)
{
    facts.axis[ABS_Y].value = 50;
    open_bus(&bus, &spec);
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
    TEST_ASSERT_FALSE(io_bus_is_stream(&bus));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_FLOAT(0.5f, shown().axis[ABS_Y]);
    TEST_ASSERT_EQUAL_UINT64(0, packet.stamp_ns);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
}

static void test_every_report_is_a_packet_with_the_kernels_stamp(void)
{
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    move(EV_ABS, ABS_X, 100, 5000001000);
    move(EV_KEY, BTN_TRIGGER, 1, 5000002000);
    move(EV_KEY, BTN_TRIGGER, 0, 5000003000);
    for (uint64_t i = 1; i <= 3; i++) {
        TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
        TEST_ASSERT_EQUAL_UINT64(5000000000 + i * 1000, packet.stamp_ns);
        TEST_ASSERT_TRUE(packet.monotonic && packet.whole);
        TEST_ASSERT_EQUAL_FLOAT(1.0f, shown().axis[ABS_X]);
        TEST_ASSERT_EQUAL_HEX32(i == 2, shown().buttons);
    }
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_UINT64(4, counters_of(&bus).rx);
}

static void test_a_report_longer_than_one_read_is_still_one(void)
{
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    for (int i = 1; i <= 3 * IO_EVDEV_EVENTS; i++)
        say(EV_ABS, ABS_X, i, 1000);
    say(EV_SYN, SYN_REPORT, 0, 1000);
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_FLOAT(0.01f * 3 * IO_EVDEV_EVENTS, shown().axis[ABS_X]);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&bus).rx);
}

static void test_after_a_loss_the_kernel_is_asked_how_the_device_stands(void)
{
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    stands_x = -100;
    facts.down[BTN_TRIGGER / 8] = 1u << BTN_TRIGGER % 8;
    say(EV_SYN, SYN_DROPPED, 0, 7000);
    say(EV_ABS, ABS_X, 33, 8000);
    say(EV_SYN, SYN_REPORT, 0, 9000);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, shown().axis[ABS_X]);
    TEST_ASSERT_EQUAL_HEX32(1, shown().buttons);
    TEST_ASSERT_EQUAL_UINT64(9000, packet.stamp_ns);
    ask_status = -ENODEV; /* the device vanishes at this moment */
    say(EV_SYN, SYN_DROPPED, 0, 7000);
    say(EV_SYN, SYN_REPORT, 0, 9000);
    TEST_ASSERT_EQUAL(-ENODEV, io_bus_receive(&bus, &packet));
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
}

/* When the kernel is queried for the keys, it drops the queued events of keys: the queried state is
 * the newest. */
static void test_after_a_loss_what_was_read_before_the_answer_counts_for_nothing(void)
{
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    stands_x = 100;
    facts.down[BTN_TRIGGER / 8] = 1u << BTN_TRIGGER % 8;
    say(EV_SYN, SYN_DROPPED, 0, 7000);
    say(EV_SYN, SYN_REPORT, 0, 7000);
    move(EV_KEY, BTN_TRIGGER, 0, 8000);
    move(EV_ABS, ABS_X, -50, 8000);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_HEX32(1, shown().buttons);
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    move(EV_ABS, ABS_X, 0, 9000);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_FLOAT(0.0f, shown().axis[ABS_X]);
    TEST_ASSERT_EQUAL_HEX32(1, shown().buttons);
}

static void lose_device(void)
{
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    pull_out();
    TEST_ASSERT_EQUAL(-EIO, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet)); /* the error is returned once */
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).losses);
    io_bus_tick(&bus, rt_now_ns());
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
}

static void test_an_unplugged_device_is_found_again(void)
{
    struct io_bus_watch watch[IO_BUS_WATCH_MAX];
    lose_device();
    TEST_ASSERT_EQUAL(0, io_bus_watches(&bus, watch));
    const uint32_t generation = io_bus_generation(&bus);
    stands_x = 50;
    plug_in();
    wait_connected(&bus, true);
    TEST_ASSERT_NOT_EQUAL(generation, io_bus_generation(&bus));
    TEST_ASSERT_EQUAL(2, io_bus_watches(&bus, watch));
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL_FLOAT(0.5f, shown().axis[ABS_X]);
    move(EV_ABS, ABS_X, 0, 1000);
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&bus).connects);
}

static void test_another_device_in_its_place_is_left_alone(void)
{
    lose_device();
    (void)snprintf(facts.name, sizeof facts.name, "Mouse");
    plug_in();
    for (uint64_t i = 1; i <= 4; i++)
        io_bus_tick(&bus, rt_now_ns() + i * 10000u * MS);
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    (void)snprintf(facts.name, sizeof facts.name, "Yoke");
    io_bus_tick(&bus, rt_now_ns() + 100000u * (uint64_t)MS);
    TEST_ASSERT_TRUE(io_bus_connected(&bus));
}

static void test_a_name_is_enough_wherever_it_is_plugged_in(void)
{
    char devices[PATH], link[2 * PATH];
    (void)snprintf(devices, sizeof devices, "%s/dev", folder);
    TEST_ASSERT_EQUAL(0, mkdir(devices, 0700));
    describe(3, "Yoke 2\n", "3\n");
    describe(63, "Yoke\n", "3\n");
    (void)snprintf(link, sizeof link, "%s/event63", devices);
    TEST_ASSERT_EQUAL(0, symlink(path, link));
    world.devices = devices;
    (void)snprintf(spec.device, sizeof spec.device, "name:Yoke");
    open_bus(&bus, &spec);
    world.devices = folder;
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
}

static void test_a_missing_device_is_reported_with_those_that_are_there(void)
{
    char error[IO_BUS_ERROR_MAX];
    (void)snprintf(spec.device, sizeof spec.device, "name:Yoke");
    refuse_bus(&spec, -ENODEV, "links.hand.device: there is no name:Yoke, nor any other",
               "bus: tape");
    describe(2, "Power Button\n", "0\n");
    describe(5, "Gamepad\n", "3003f\n");
    describe(11, "Pedals\n", "7\n");
    refuse_bus(&spec, -ENODEV,
               "links.hand.device: there is no input device name:Yoke; the input devices with axes "
               "are /tmp/test_evdev",
               "/event5 \"Gamepad\", ");
    TEST_ASSERT_EQUAL(-ENODEV, io_bus_open(&bus, &spec, error));
    TEST_ASSERT_NULL(strstr(error, "Power Button"));
    refuse_bus(
        &spec, -ENODEV,
        "links.hand.device: there is no input device name:Yoke; the input devices with axes are ",
        "/event11 \"Pedals\"");
    for (int i = 0; i < 64; i++) /* the list is longer than the error line */
        describe(i, "A controller with a name as long as they come, Rev. 2\n", "1\n");
    refuse_bus(
        &spec, -ENODEV,
        "links.hand.device: there is no input device name:Yoke; the input devices with axes are ",
        "Rev. 2");
}

static void test_what_is_no_hand_controller_is_refused(void)
{
    facts.axes = 0;
    refuse_bus(&spec, -ENODATA, "links.hand.device: ", "has no axes; is it a keyboard?");
    ask_status = -ENOTTY;
    refuse_bus(&spec, -ENOTTY, "links.hand.device: ", "is not an event device");
    spec.input = NULL; /* the error of the kernel for a FIFO */
    refuse_bus(&spec, -ENOTTY, "links.hand.device: ", "is not an event device");
    (void)snprintf(spec.device, sizeof spec.device, "%s/none", folder);
    refuse_bus(&spec, -ENOENT, "links.hand.device: there is no ", "");
}

static void test_nothing_can_be_sent(void)
{
    const struct io_address nobody = {0};
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&bus, nobody, "x", 1, false));
    io_bus_send_emergency(&bus, nobody, "x", 1);
    TEST_ASSERT_EQUAL(1, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
}

/* The link. */

static _Alignas(4096) unsigned char memory[MEMORY];
static struct io_links *links;
static struct rt_thread thread;
static struct io_command command;
static const struct rt_thread_spec thread_spec = {.name = "io", .policy = SCHED_OTHER, .cpu = -1};

static void start_link(void)
{
    char error[IO_ERROR_MAX];
    const struct io_link_spec link = {
        .name = "hand",
        .bus = spec,
        .protocol = IO_PROTOCOL_HAND,
        .lost_after_ns = 20 * MS, /* much shorter than a controller may rest */
        .hand = {.axis_map_count = 1,
                 .axis_map = {{.axis = ABS_X, .control = 2, .shape = {.scale = 1.0}}}},
    };
    memset(memory, 0xff, sizeof memory);
    links = io_links_place(&link, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, NULL, &thread));
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

static void wait_alive(bool alive)
{
    for (int i = 0; i < WAIT_TRIES && io_link_alive(links, 0, rt_now_ns()) != alive; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_EQUAL(alive, io_link_alive(links, 0, rt_now_ns()));
}

static struct io_link_counts counted(void)
{
    struct io_link_counts counters;
    io_link_counters(links, 0, &counters);
    return counters;
}

static void test_a_hand_controller_at_rest_is_received_and_stays(void)
{
    start_link();
    TEST_ASSERT_FALSE(mode == IO_LINK_INLINE && io_link_alive(links, 0, rt_now_ns()));
    wait_command(1);
    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
    for (int i = 0; i < 100; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_link_board_state(links, 0));
    TEST_ASSERT_EQUAL_UINT64(0, counted().losses);
    io_links_stop(links);
}

static void test_a_move_commands_with_the_time_at_which_the_kernel_saw_it(void)
{
    start_link();
    wait_command(1);
    const uint64_t seen_ns = rt_now_ns() / 1000 * 1000 - 3 * MS;
    move(EV_ABS, ABS_X, -100, seen_ns);
    wait_command(2);
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, command.controls[2]);
    TEST_ASSERT_EQUAL_UINT64(seen_ns, command.rx_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(seen_ns, command.ready_ns);
    move(EV_ABS, ABS_X, 100,
         rt_now_ns() + 3600u * 1000u * (uint64_t)MS); /* a stamp in the future */
    wait_command(3);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), command.rx_ns);
    io_links_stop(links);
}

static void test_the_loop_ends_with_the_motion(void)
{
    start_link();
    wait_command(1);
    const struct io_sample shows = {
        .frame = 9,
        .due = IO_SEND_SENSOR,
        .trace = {.rx_ns = 1000, .ready_ns = 1010, .latch_ns = 1110, .step_ns = 2110}};
    const struct io_sample shows_nothing = {.frame = 10, .due = IO_SEND_SENSOR};
    io_link_commit(links, 0, &shows);
    io_link_commit(links, 0, &shows_nothing);
    io_links_stop(links);
    const struct io_latency *latency = io_link_latency(links, 0);
    const uint64_t part[] = {10, 100, 1000};
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_UINT64(part[i], latency->last[i]);
    TEST_ASSERT_EQUAL_UINT64(0, latency->last[IO_LATENCY_WIRE_OUT]);
    TEST_ASSERT_EQUAL_UINT64(1, latency->part[IO_LATENCY_SUM].count);
    TEST_ASSERT_EQUAL_UINT64(0, counted().tx + counted().tx_dropped);
}

static void test_an_unplugged_hand_is_lost_and_plugged_in_it_is_back(void)
{
    start_link();
    wait_command(1);
    pull_out();
    wait_alive(false);
    for (int i = 0; i < WAIT_TRIES && counted().losses == 0; i++) {
        io_links_poll(links);
        wait_moment();
    }
    TEST_ASSERT_EQUAL_UINT64(1, counted().losses);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_link_board_state(links, 0));
    stands_x = 50;
    plug_in();
    wait_command(2);
    TEST_ASSERT_EQUAL_FLOAT(0.5f, command.controls[2]);
    wait_alive(true);
    move(EV_ABS, ABS_X, 100, rt_now_ns());
    wait_command(3);
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
    UNITY_BEGIN();
    RUN_TEST(test_the_first_packet_is_how_the_device_stands);
    RUN_TEST(test_every_report_is_a_packet_with_the_kernels_stamp);
    RUN_TEST(test_a_report_longer_than_one_read_is_still_one);
    RUN_TEST(test_after_a_loss_the_kernel_is_asked_how_the_device_stands);
    RUN_TEST(test_after_a_loss_what_was_read_before_the_answer_counts_for_nothing);
    RUN_TEST(test_an_unplugged_device_is_found_again);
    RUN_TEST(test_another_device_in_its_place_is_left_alone);
    RUN_TEST(test_a_name_is_enough_wherever_it_is_plugged_in);
    RUN_TEST(test_a_missing_device_is_reported_with_those_that_are_there);
    RUN_TEST(test_what_is_no_hand_controller_is_refused);
    RUN_TEST(test_nothing_can_be_sent);
    RUN_TEST(test_a_hand_controller_at_rest_is_received_and_stays);
    RUN_TEST(test_a_move_commands_with_the_time_at_which_the_kernel_saw_it);
    RUN_TEST(test_the_loop_ends_with_the_motion);
    RUN_TEST(test_an_unplugged_hand_is_lost_and_plugged_in_it_is_back);
    return UNITY_END();
}
