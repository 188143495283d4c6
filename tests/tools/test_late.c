/*
 * A wire that is late on purpose, item by item.
 */
#include "tools/airbearing/late.h"

#include "unity.h"

static struct io_fault_spec fault;
static struct io_fault_state state;
static struct late late;
static uint32_t items[IO_FAULT_DELAY_MAX];

void setUp(void)
{
    fault = (struct io_fault_spec){
        .kind = IO_FAULT_DELAY, .first_frame = 10, .last_frame = 30, .value = 3};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof items, late_size(sizeof items[0]));
    io_fault_begin(&fault, 1, 1, &state);
    late_place(&late, &fault, &state, sizeof items[0], items);
}

void tearDown(void)
{
}

static void expect(uint32_t expected, uint64_t frame, uint32_t in)
{
    const uint32_t *out = late_pass(&late, frame, in ? &in : NULL);
    TEST_ASSERT_EQUAL_UINT32(expected, out ? *out : 0);
}

static void test_outside_its_window_a_wire_is_on_time(void)
{
    for (uint32_t frame = 0; frame < 10; frame++)
        expect(100 + frame, frame, 100 + frame);
    for (uint32_t frame = 30; frame < 100; frame++)
        expect(100 + frame, frame, 100 + frame);
    TEST_ASSERT_EQUAL_UINT64(0, late.hits);
}

static void test_within_it_items_come_as_many_frames_later(void)
{
    for (uint32_t frame = 10; frame < 30; frame++)
        expect(frame < 13 ? 0 : 100 + frame - 3, frame, 100 + frame);
    TEST_ASSERT_EQUAL_UINT64(20, late.hits);
}

static void test_frames_without_an_item_stay_so(void)
{
    for (uint32_t frame = 10; frame < 30; frame++)
        expect(frame >= 13 && (frame - 3) % 4 == 0 ? frame - 3 : 0, frame, frame % 4 ? 0 : frame);
}

/* In a catch-up only the last frame commits: those in between put nothing in. */
static void test_a_frame_that_was_passed_over_leaves_nothing_stale(void)
{
    io_fault_move(&state, 10, UINT64_MAX);
    expect(0, 10, 1);
    expect(0, 10 + IO_FAULT_DELAY_MAX + 3, 2); /* slot of frame 10 again, another frame */
    expect(2, 10 + IO_FAULT_DELAY_MAX + 6, 3);
}

static void test_what_is_under_way_when_it_ends_is_lost(void)
{
    expect(0, 28, 1);
    expect(0, 29, 2);
    expect(3, 30, 3);
    expect(4, 31, 4);
}

static void test_a_wire_without_a_fault_is_never_late(void)
{
    late.fault = NULL;
    expect(7, 15, 7);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_outside_its_window_a_wire_is_on_time);
    RUN_TEST(test_within_it_items_come_as_many_frames_later);
    RUN_TEST(test_frames_without_an_item_stay_so);
    RUN_TEST(test_a_frame_that_was_passed_over_leaves_nothing_stale);
    RUN_TEST(test_what_is_under_way_when_it_ends_is_lost);
    RUN_TEST(test_a_wire_without_a_fault_is_never_late);
    return UNITY_END();
}
