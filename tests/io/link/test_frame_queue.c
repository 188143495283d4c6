/*
 * The queue of frames between a board and its ground stations.
 */
#include "io/link/frame_queue.h"

#include <string.h>

#include "unity.h"

static struct io_frame_queue relay;

void setUp(void)
{
    memset(&relay, 0, sizeof relay);
}

void tearDown(void)
{
}

static uint32_t push(unsigned number, size_t size)
{
    unsigned char bytes[IO_QUEUED_FRAME_MAX];
    memset(bytes, (int)number, sizeof bytes);
    return io_frame_queue_push(&relay, bytes, size);
}

static void check_front(unsigned number, size_t size)
{
    const struct io_queued_frame *frame = io_frame_queue_front(&relay);
    TEST_ASSERT_NOT_NULL(frame);
    TEST_ASSERT_EQUAL_size_t(size, frame->size);
    TEST_ASSERT_EACH_EQUAL_HEX8(number, frame->bytes, size);
    io_frame_queue_pop(&relay);
}

static void test_frames_leave_in_the_order_they_came(void)
{
    TEST_ASSERT_NULL(io_frame_queue_front(&relay));
    for (unsigned round = 0; round < 3 * IO_FRAME_QUEUE_MAX; round++) {
        TEST_ASSERT_EQUAL_UINT32(0, push(round % 200, 12 + round % 268));
        TEST_ASSERT_EQUAL_UINT32(0, push(round % 200 + 1, IO_QUEUED_FRAME_MAX));
        check_front(round % 200, 12 + round % 268);
        check_front(round % 200 + 1, IO_QUEUED_FRAME_MAX);
    }
    TEST_ASSERT_NULL(io_frame_queue_front(&relay));
}

static void test_a_full_queue_loses_its_oldest_frame(void)
{
    for (unsigned i = 0; i < IO_FRAME_QUEUE_MAX; i++)
        TEST_ASSERT_EQUAL_UINT32(0, push(i, 20));
    TEST_ASSERT_EQUAL_UINT32(1, push(100, 21));
    TEST_ASSERT_EQUAL_UINT32(1, push(101, 22));
    for (unsigned i = 2; i < IO_FRAME_QUEUE_MAX; i++)
        check_front(i, 20);
    check_front(100, 21);
    check_front(101, 22);
    TEST_ASSERT_NULL(io_frame_queue_front(&relay));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_frames_leave_in_the_order_they_came);
    RUN_TEST(test_a_full_queue_loses_its_oldest_frame);
    return UNITY_END();
}
