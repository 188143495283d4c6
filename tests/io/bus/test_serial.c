/*
 * A serial line on a pseudo-terminal: the bus has one end, the test the other.  A symbolic link
 * plays the name of a USB adapter, which leads to another device each time it is plugged in.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/wait.h"
#include "unity.h"

static char device[64];
static int board = -1; /* the end of the test */
static struct io_bus bus;
static struct io_bus_spec spec;
static const struct io_address nobody = {0};

static void plug_in(void)
{
    board = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    TEST_ASSERT_GREATER_OR_EQUAL(0, board);
    TEST_ASSERT_EQUAL(0, grantpt(board));
    TEST_ASSERT_EQUAL(0, unlockpt(board));
    TEST_ASSERT_EQUAL(0, symlink(ptsname(board), device));
}

static void pull_out(void)
{
    (void)unlink(device);
    if (board >= 0)
        (void)close(board);
    board = -1;
}

void setUp(void)
{
    (void)snprintf(device, sizeof device, "/tmp/test_serial_%d", (int)getpid());
    plug_in();
    spec = (struct io_bus_spec){.kind = IO_BUS_SERIAL, .name = "board", .baud = 921600};
    (void)snprintf(spec.device, sizeof spec.device, "%s", device);
    memset(&bus, 0, sizeof bus);
}

void tearDown(void)
{
    io_bus_close(&bus);
    pull_out();
}

static size_t read_board(unsigned char *bytes, size_t size)
{
    size_t done = 0;
    for (int i = 0; i < WAIT_TRIES && done < size; i++) {
        const ssize_t got = read(board, bytes + done, size - done);
        done += got > 0 ? (size_t)got : 0;
        if (got <= 0)
            wait_moment();
    }
    return done;
}

static void test_every_byte_goes_through_at_any_baud_rate(void)
{
    static const uint32_t bauds[] = {300, 9600, 57600, 100000, 115200, 250000, 921600, 3141592};
    unsigned char all[256], back[256];
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    for (size_t k = 0; k < sizeof bauds / sizeof bauds[0]; k++) {
        uint32_t actual = 0;
        spec.baud = bauds[k];
        open_bus(&bus, &spec);
        TEST_ASSERT_TRUE(io_bus_is_stream(&bus));
        TEST_ASSERT_TRUE(io_bus_connected(&bus));
        TEST_ASSERT_EQUAL(0, io_baud_set(bus.serial.stable_fd.fd, bauds[k], &actual));
        TEST_ASSERT_EQUAL_UINT32(bauds[k], actual);
        TEST_ASSERT_EQUAL(0, io_bus_send(&bus, nobody, all, sizeof all, true));
        TEST_ASSERT_EQUAL_size_t(sizeof back, read_board(back, sizeof back));
        TEST_ASSERT_EQUAL_MEMORY(all, back, sizeof all);
        memset(back, 0, sizeof back);
        TEST_ASSERT_EQUAL(sizeof all, write(board, all, sizeof all));
        wait_bytes(&bus, back, sizeof back);
        TEST_ASSERT_EQUAL_MEMORY(all, back, sizeof all);
        io_bus_close(&bus);
    }
}

static void test_there_are_no_stamps(void)
{
    struct io_packet packet;
    uint64_t stamp_ns;
    open_bus(&bus, &spec);
    TEST_ASSERT_EQUAL(1, write(board, "x", 1));
    wait_packet(&bus, &packet);
    TEST_ASSERT_EQUAL_UINT64(0, packet.stamp_ns);
    TEST_ASSERT_EQUAL_UINT64(io_address_pack(io_address_far_end), io_address_pack(packet.from));
    TEST_ASSERT_EQUAL(0, io_bus_send(&bus, nobody, "y", 1, true));
    TEST_ASSERT_FALSE(io_bus_tx_timestamp(&bus, &stamp_ns));
}

static void test_refusals_name_the_device_and_the_remedy(void)
{
    refuse_bus(&(struct io_bus_spec){.kind = IO_BUS_SERIAL, .name = "board", .baud = 1}, -EINVAL,
               "links.board.device: ", "/dev/ttyACM0");
    spec.baud = 0;
    refuse_bus(&spec, -EINVAL, "links.board.baud: ", "baud rate, such as 921600");
    spec.baud = 57600;
    (void)snprintf(spec.device, sizeof spec.device, "/dev/no-such-tty");
    refuse_bus(&spec, -ENOENT, "links.board.device: there is no device /dev/no-such-tty",
               "is the board plugged in?");
    (void)snprintf(spec.device, sizeof spec.device, "/dev/null");
    refuse_bus(&spec, -ENOTTY, "links.board.device: /dev/null", "is not a serial device");
}

static void test_rs485_on_a_line_without_it_is_refused_with_the_reason(void)
{
    spec.rs485 = true;
    refuse_bus(&spec, -ENOTTY, "links.board.rs485: the driver of /tmp/test_serial_",
               "leave rs485 out");
    spec.rs485 = false;
    open_bus(&bus, &spec); /* and the device is free again */
}

static void test_a_device_without_permission_names_the_group(void)
{
    if (geteuid() == 0 && seteuid(65534) < 0)
        TEST_IGNORE_MESSAGE("cannot drop root here");
    const bool dropped = geteuid() == 65534;
    char path[] = "/tmp/test_serial_locked_XXXXXX";
    const int fd = mkstemp(path);
    TEST_ASSERT_EQUAL(0, fchmod(fd, 0));
    (void)snprintf(spec.device, sizeof spec.device, "%s", path);
    refuse_bus(&spec, -EACCES, "links.board.device: no permission for /tmp/", "dialout");
    (void)unlink(path);
    (void)close(fd);
    if (dropped)
        TEST_ASSERT_EQUAL(0, seteuid(0));
}

static void test_one_program_at_a_time(void)
{
    open_bus(&bus, &spec);
    refuse_bus(&spec, -EBUSY, "links.board.device: ", "is in use by another program; `fuser");
    io_bus_close(&bus);
    open_bus(&bus, &spec);
}

static void test_a_line_that_is_not_read_costs_frames_and_no_time(void)
{
    static unsigned char heard[1 << 20];
    unsigned char frame[300];
    int taken = 0, status = 0;
    open_bus(&bus, &spec);
    for (; taken < 1000 && status == 0; taken += status == 0) {
        memset(frame, taken & 0xff, sizeof frame);
        status = io_bus_send(&bus, nobody, frame, sizeof frame, false);
    }
    TEST_ASSERT_EQUAL(-EAGAIN, status);
    TEST_ASSERT_GREATER_THAN(0, taken);
    TEST_ASSERT_GREATER_THAN_size_t(0, io_bus_backlog(&bus));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).full);
    const size_t total = (size_t)taken * sizeof frame;
    size_t size = 0;
    for (int i = 0; i < WAIT_TRIES && size < total; i++) {
        const ssize_t got = read(board, heard + size, sizeof heard - size);
        size += got > 0 ? (size_t)got : 0;
        io_bus_tick(&bus, rt_now_ns()); /* the rest of the last frame */
        if (got <= 0)
            wait_moment();
    }
    TEST_ASSERT_EQUAL_size_t(total, size);
    for (size_t i = 0; i < total; i++)
        TEST_ASSERT_EQUAL_HEX8(i / sizeof frame & 0xff, heard[i]);
}

static void test_a_device_that_vanishes_is_found_again_where_it_comes_back(void)
{
    struct io_packet packet;
    unsigned char bytes[4];
    open_bus(&bus, &spec);
    const uint32_t generation = io_bus_generation(&bus);
    pull_out();
    wait_connected(&bus, false);
    TEST_ASSERT_NOT_EQUAL_UINT32(generation, io_bus_generation(&bus));
    TEST_ASSERT_EQUAL(0, io_bus_receive(&bus, &packet));
    TEST_ASSERT_EQUAL(-ENOTCONN, io_bus_send(&bus, nobody, "lost", 4, false));
    for (int i = 0; i < 5; i++)
        io_bus_tick(&bus, rt_now_ns());
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    plug_in();
    wait_connected(&bus, true);
    TEST_ASSERT_EQUAL(0, io_bus_send(&bus, nobody, "back", 4, false));
    TEST_ASSERT_EQUAL_size_t(4, read_board(bytes, 4));
    TEST_ASSERT_EQUAL_MEMORY("back", bytes, 4);
    TEST_ASSERT_EQUAL_UINT64(2, counters_of(&bus).connects);
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).losses);
}

static void test_a_vanished_device_is_noticed_by_sending_too(void)
{
    open_bus(&bus, &spec);
    pull_out();
    for (int i = 0; i < WAIT_TRIES && io_bus_connected(&bus); i++) {
        (void)io_bus_send(&bus, nobody, "anybody?", 8, false);
        wait_moment();
    }
    TEST_ASSERT_FALSE(io_bus_connected(&bus));
    TEST_ASSERT_EQUAL_UINT64(1, counters_of(&bus).errors);
}

static void test_a_vanished_device_is_looked_for_ever_more_rarely(void)
{
    int looks = 0;
    open_bus(&bus, &spec);
    pull_out();
    wait_connected(&bus, false);
    bus.serial.retry_ns = bus.serial.wait_ns = 0;
    for (uint64_t now_ns = 1, last_ns = 0; now_ns < 60000000000; now_ns += 20000000) {
        io_bus_tick(&bus, now_ns);
        looks += bus.serial.retry_ns != last_ns;
        last_ns = bus.serial.retry_ns;
    }
    TEST_ASSERT_LESS_OR_EQUAL(40, looks);
    TEST_ASSERT_GREATER_OR_EQUAL(25, looks);
}

static void test_emergency_messages_are_written(void)
{
    unsigned char bytes[4];
    open_bus(&bus, &spec);
    errno = EDOM;
    io_bus_send_emergency(&bus, nobody, "safe", 4);
    TEST_ASSERT_EQUAL(EDOM, errno);
    TEST_ASSERT_EQUAL_size_t(4, read_board(bytes, 4));
    TEST_ASSERT_EQUAL_MEMORY("safe", bytes, 4);
    pull_out();
    io_bus_send_emergency(&bus, nobody, "safe", 4);
    TEST_ASSERT_EQUAL(EDOM, errno);
}

static void test_what_is_no_device_is_refused(void)
{
    (void)snprintf(spec.device, sizeof spec.device, "/tmp");
    refuse_bus(&spec, -EISDIR, "links.board.device: cannot open /tmp: Is a directory", "");
}

static void test_a_process_out_of_descriptors_opens_no_line(void)
{
    struct rlimit before, none;
    char error[IO_BUS_ERROR_MAX];
    const int next = dup(0);
    (void)close(next);
    TEST_ASSERT_EQUAL(0, getrlimit(RLIMIT_NOFILE, &before));
    none = before;
    for (int room = 0; room < 3; room++) { /* the stable descriptor needs two, the device one */
        none.rlim_cur = (rlim_t)(next + room);
        TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &none));
        const int status = io_bus_open(&bus, &spec, error);
        TEST_ASSERT_EQUAL(0, setrlimit(RLIMIT_NOFILE, &before));
        TEST_ASSERT_EQUAL(-EMFILE, status);
        if (room < 2)
            TEST_ASSERT_EQUAL_STRING(
                "links.board.device: no file descriptor is left: Too many open files", error);
        else
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, ": Too many open files"), error);
        const int after = dup(0);
        (void)close(after);
        TEST_ASSERT_EQUAL(next, after); /* no descriptor is left open */
    }
    open_bus(&bus, &spec);
}

static void test_what_waits_is_in_the_line_or_here(void)
{
    open_bus(&bus, &spec);
    const size_t before = io_bus_backlog(&bus);
    bus.serial.partial.at = 10; /* as if the line had accepted a part */
    bus.serial.partial.size = 30;
    TEST_ASSERT_EQUAL_size_t(before + 20, io_bus_backlog(&bus));
    bus.serial.partial.at = bus.serial.partial.size = 0;
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_byte_goes_through_at_any_baud_rate);
    RUN_TEST(test_there_are_no_stamps);
    RUN_TEST(test_refusals_name_the_device_and_the_remedy);
    RUN_TEST(test_rs485_on_a_line_without_it_is_refused_with_the_reason);
    RUN_TEST(test_a_device_without_permission_names_the_group);
    RUN_TEST(test_one_program_at_a_time);
    RUN_TEST(test_a_line_that_is_not_read_costs_frames_and_no_time);
    RUN_TEST(test_a_device_that_vanishes_is_found_again_where_it_comes_back);
    RUN_TEST(test_a_vanished_device_is_noticed_by_sending_too);
    RUN_TEST(test_a_vanished_device_is_looked_for_ever_more_rarely);
    RUN_TEST(test_emergency_messages_are_written);
    RUN_TEST(test_what_is_no_device_is_refused);
    RUN_TEST(test_a_process_out_of_descriptors_opens_no_line);
    RUN_TEST(test_what_waits_is_in_the_line_or_here);
    return UNITY_END();
}
