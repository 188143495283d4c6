/*
 * CAN.  The cutting of bytes into frames and back is tested on every machine, with a pair of
 * sockets that keep message borders as a CAN socket does.  The rest needs CAN in the kernel and an
 * interface vcan0 (`ip link add vcan0 type vcan && ip link set vcan0 mtu 72 up`), and is skipped
 * with one line where there is none.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <linux/can.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/io/wait.h"
#include "unity.h"

static int pair[2];
static char skipped[IO_BUS_ERROR_MAX];
static const struct io_address nobody = {0};

void setUp(void)
{
    TEST_ASSERT_EQUAL(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
}

void tearDown(void)
{
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void test_classic_frames_have_eight_bytes_and_the_last_what_is_left(void)
{
    TEST_ASSERT_EQUAL_size_t(8, io_can_frame_size(300, false));
    TEST_ASSERT_EQUAL_size_t(8, io_can_frame_size(8, false));
    for (size_t left = 0; left < 8; left++)
        TEST_ASSERT_EQUAL_size_t(left, io_can_frame_size(left, false));
}

static void test_fd_frames_have_only_lengths_that_exist(void)
{
    static const size_t exist[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64};
    for (size_t left = 1; left <= 300; left++) {
        size_t most = 0;
        for (size_t i = 0; i < sizeof exist / sizeof exist[0]; i++)
            most = exist[i] <= left ? exist[i] : most;
        TEST_ASSERT_EQUAL_size_t(most, io_can_frame_size(left, true));
    }
}

static void test_a_message_is_cut_in_order_and_put_together_again(void)
{
    unsigned char message[317], bytes[64], together[317]; /* 4 x 64 + 48 + 12 + 1 */
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)(i * 7);
    for (int fd_frames = 0; fd_frames < 2; fd_frames++) {
        struct io_packet packet;
        size_t size = 0;
        TEST_ASSERT_EQUAL(sizeof message,
                          io_can_write(pair[0], 0x123, fd_frames, message, sizeof message));
        while (io_can_read(pair[1], bytes, &packet) == 1) {
            TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof together - size, packet.size);
            memcpy(together + size, packet.bytes, packet.size);
            size += packet.size;
        }
        TEST_ASSERT_EQUAL_size_t(sizeof message, size);
        TEST_ASSERT_EQUAL_MEMORY(message, together, sizeof message);
    }
}

static void test_frames_on_the_wire_are_those_of_the_kernel(void)
{
    struct canfd_frame frame;
    TEST_ASSERT_EQUAL(3, io_can_write(pair[0], 0x123, false, "abc", 3));
    TEST_ASSERT_EQUAL(CAN_MTU, recv(pair[1], &frame, sizeof frame, 0));
    TEST_ASSERT_EQUAL_HEX32(0x123, frame.can_id);
    TEST_ASSERT_EQUAL(3, frame.len);
    TEST_ASSERT_EQUAL(0, frame.flags);
    TEST_ASSERT_EQUAL_MEMORY("abc", frame.data, 3);
    TEST_ASSERT_EQUAL(3, io_can_write(pair[0], 0x123 | CAN_EFF_FLAG, true, "abc", 3));
    TEST_ASSERT_EQUAL(CANFD_MTU, recv(pair[1], &frame, sizeof frame, 0));
    TEST_ASSERT_EQUAL_HEX32(0x123 | CAN_EFF_FLAG, frame.can_id);
    TEST_ASSERT_EQUAL_HEX8(CANFD_BRS, frame.flags);
}

static void test_a_full_bus_takes_whole_frames_or_none(void)
{
    static const unsigned char message[64 << 10];
    struct io_packet packet;
    unsigned char bytes[64];
    const int small = 4096;
    TEST_ASSERT_EQUAL(0, setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small));
    const int taken = io_can_write(pair[0], 1, false, message, sizeof message);
    TEST_ASSERT_GREATER_THAN(0, taken);
    TEST_ASSERT_LESS_THAN((int)sizeof message, taken);
    TEST_ASSERT_EQUAL(0, taken % 8);
    TEST_ASSERT_EQUAL(-EAGAIN, io_can_write(pair[0], 1, false, message, 8));
    for (int i = 0; i < taken / 8; i++)
        TEST_ASSERT_EQUAL(1, io_can_read(pair[1], bytes, &packet));
    TEST_ASSERT_EQUAL(0, io_can_read(pair[1], bytes, &packet));
}

static void test_frames_that_are_none_are_refused(void)
{
    struct canfd_frame frame = {.can_id = 1, .len = 9};
    struct io_packet packet;
    unsigned char bytes[64];
    TEST_ASSERT_EQUAL(CAN_MTU,
                      send(pair[0], &frame, CAN_MTU, 0)); /* a classic frame with nine bytes */
    TEST_ASSERT_EQUAL(-EBADMSG, io_can_read(pair[1], bytes, &packet));
    frame.len = 65;
    TEST_ASSERT_EQUAL(CANFD_MTU, send(pair[0], &frame, CANFD_MTU, 0));
    TEST_ASSERT_EQUAL(-EBADMSG, io_can_read(pair[1], bytes, &packet));
    frame = (struct canfd_frame){.can_id = 1 | CAN_RTR_FLAG, .len = 8};
    TEST_ASSERT_EQUAL(CAN_MTU, send(pair[0], &frame, CAN_MTU, 0));
    TEST_ASSERT_EQUAL(-EBADMSG, io_can_read(pair[1], bytes, &packet));
    TEST_ASSERT_EQUAL(5, send(pair[0], &frame, 5, 0));
    TEST_ASSERT_EQUAL(-EBADMSG, io_can_read(pair[1], bytes, &packet));
}

static void test_identifiers_that_cannot_be_are_refused(void)
{
    struct io_bus_spec spec = {.kind = IO_BUS_CAN, .name = "board", .device = "can0"};
    refuse_bus(&spec, -EINVAL, "links.board.can_id_rx: both directions", "give each its own");
    spec.can_id_tx = 0x20000000;
    refuse_bus(&spec, -EINVAL, "links.board.can_id_tx: ", "at most 0x1fffffff");
    spec.can_id_tx = 1;
    spec.device[0] = '\0';
    refuse_bus(&spec, -EINVAL, "links.board.device: ", "such as can0");
}

static struct io_bus_spec end_of(const char *device, uint32_t tx, uint32_t rx, bool fd)
{
    struct io_bus_spec spec = {
        .kind = IO_BUS_CAN, .name = "board", .can_id_tx = tx, .can_id_rx = rx, .fd = fd};
    (void)snprintf(spec.device, sizeof spec.device, "%s", device);
    return spec;
}

static void test_a_kernel_or_machine_without_the_bus_says_so(void)
{
    const struct io_bus_spec spec = end_of("no-such-can", 1, 2, false);
    struct io_bus bus;
    char error[IO_BUS_ERROR_MAX];
    const int status = io_bus_open(&bus, &spec, error);
    TEST_ASSERT_LESS_THAN(0, status);
    if (status == -EAFNOSUPPORT)
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "this kernel has no CAN (AF_CAN)"), error);
    else
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "there is no CAN interface"), error);
}

static void test_two_ends_of_a_virtual_bus_receive_each_other(void)
{
    static const uint32_t ids[][2] = {{0x10, 0x11}, {0x1abcdef0, 0x11}};
    for (int k = 0; k < 4; k++) {
        const struct io_bus_spec spec[] = {end_of("vcan0", ids[k / 2][0], ids[k / 2][1], k % 2),
                                           end_of("vcan0", ids[k / 2][1], ids[k / 2][0], k % 2)};
        struct io_bus end[2];
        unsigned char message[280], heard[280];
        if (io_bus_open(&end[0], &spec[0], skipped) < 0)
            TEST_IGNORE_MESSAGE(skipped);
        open_bus(&end[1], &spec[1]);
        memset(message, 0x5a + k, sizeof message);
        TEST_ASSERT_EQUAL(0, io_bus_send(&end[0], nobody, message, sizeof message, false));
        wait_bytes(&end[1], heard, sizeof heard);
        TEST_ASSERT_EQUAL_MEMORY(message, heard, sizeof heard);
        io_bus_close(&end[0]);
        io_bus_close(&end[1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_classic_frames_have_eight_bytes_and_the_last_what_is_left);
    RUN_TEST(test_fd_frames_have_only_lengths_that_exist);
    RUN_TEST(test_a_message_is_cut_in_order_and_put_together_again);
    RUN_TEST(test_frames_on_the_wire_are_those_of_the_kernel);
    RUN_TEST(test_a_full_bus_takes_whole_frames_or_none);
    RUN_TEST(test_frames_that_are_none_are_refused);
    RUN_TEST(test_identifiers_that_cannot_be_are_refused);
    RUN_TEST(test_a_kernel_or_machine_without_the_bus_says_so);
    RUN_TEST(test_two_ends_of_a_virtual_bus_receive_each_other);
    const int failures = UNITY_END();
    if (failures == 0 && skipped[0]) {
        (void)printf("skipped: %s\n", skipped);
        return 77;
    }
    return failures;
}
