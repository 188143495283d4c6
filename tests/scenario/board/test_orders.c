/*
 * The ground station's line: a heartbeat goes out once a second, and once more where the kernel
 * tells of an earlier datagram's refusal instead of sending it.
 */
#include "tools/board/orders.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unity.h"

enum { SENT_MAX = 8 };

static struct board_orders orders;
static struct board_quad quad;
static int station = -1;
static int refusals; /* of the next datagrams */
static int sent_count, flags_sent[SENT_MAX];
static size_t size_sent[SENT_MAX];

ssize_t __real_send(int fd, const void *bytes, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags)
{
    TEST_ASSERT_LESS_THAN(SENT_MAX, sent_count);
    size_sent[sent_count] = size;
    flags_sent[sent_count++] = flags;
    if (refusals > 0) {
        refusals--;
        errno = ECONNREFUSED;
        return -1;
    }
    return __real_send(fd, bytes, size, flags);
}

void setUp(void)
{
    char error[256];
    int ends[2];
    memset(&orders, 0, sizeof orders);
    memset(&quad, 0, sizeof quad);
    TEST_ASSERT_TRUE(board_orders_open(&orders, NULL, &quad, error));
    TEST_ASSERT_EQUAL_INT(-1, orders.fd);
    TEST_ASSERT_EQUAL_INT(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends));
    orders.fd = ends[0];
    station = ends[1];
    refusals = sent_count = 0;
}

void tearDown(void)
{
    close(orders.fd);
    close(station);
}

/* The message that the station gets next; its number, or -1 when there is none. */
static int heard(mavlink_message_t *message)
{
    struct board_frames frames = {0};
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    const ssize_t size = recv(station, bytes, sizeof bytes, MSG_DONTWAIT);
    for (ssize_t i = 0; i < size; i++)
        if (board_frames_push(&frames, bytes[i], message))
            return (int)message->msgid;
    return -1;
}

static void test_a_heartbeat_goes_out_once_a_second(void)
{
    mavlink_message_t message;
    board_orders_turn(&orders, 0);
    TEST_ASSERT_EQUAL_INT(MAVLINK_MSG_ID_HEARTBEAT, heard(&message));
    board_orders_turn(&orders, 999999);
    TEST_ASSERT_EQUAL_INT(-1, heard(&message));
    board_orders_turn(&orders, 1000000);
    TEST_ASSERT_EQUAL_INT(MAVLINK_MSG_ID_HEARTBEAT, heard(&message));
    TEST_ASSERT_EQUAL_INT(2, sent_count);
}

static void test_a_refusal_of_an_earlier_datagram_costs_no_message(void)
{
    mavlink_message_t message;
    refusals = 1;
    board_orders_turn(&orders, 0);
    TEST_ASSERT_EQUAL_INT(MAVLINK_MSG_ID_HEARTBEAT, heard(&message));
    TEST_ASSERT_EQUAL_INT(2, sent_count);
    TEST_ASSERT_EQUAL_size_t(size_sent[0], size_sent[1]);
    TEST_ASSERT_EQUAL_INT(flags_sent[0], flags_sent[1]);
}

static void test_a_line_that_refuses_twice_is_left_until_the_next_second(void)
{
    mavlink_message_t message;
    refusals = 2;
    board_orders_turn(&orders, 0);
    TEST_ASSERT_EQUAL_INT(2, sent_count);
    TEST_ASSERT_EQUAL_INT(-1, heard(&message));
    board_orders_turn(&orders, 1000000);
    TEST_ASSERT_EQUAL_INT(MAVLINK_MSG_ID_HEARTBEAT, heard(&message));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_heartbeat_goes_out_once_a_second);
    RUN_TEST(test_a_refusal_of_an_earlier_datagram_costs_no_message);
    RUN_TEST(test_a_line_that_refuses_twice_is_left_until_the_next_second);
    return UNITY_END();
}
