/*
 * A wire that is late on purpose, item by item.
 */
#include "rt/executive/input/delay_line.h"

#include "unity.h"

enum { DELAY = 3 };

static struct io_fault_state state;
static struct sim_delay_line line;
static uint64_t memory[64];

/* A line with this delay, and DELAY more while the fault is on. */
static void place_line(uint64_t delay, const struct io_fault_state *fault)
{
    const struct sim_delay_line_spec spec = {.delay = delay,
                                             .fault_delay = fault ? DELAY : 0,
                                             .fault = fault,
                                             .item_size = sizeof(uint32_t)};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof memory, sim_delay_line_size(&spec));
    sim_delay_line_place(&line, &spec, memory);
}

void setUp(void)
{
    const struct io_fault_spec fault = {
        .kind = IO_FAULT_DELAY, .first_frame = 10, .last_frame = 30, .value = DELAY};
    io_fault_begin(&fault, 1, 1, &state);
    place_line(0, &state);
}

void tearDown(void)
{
}

/* ---- late while a fault lasts ---- */

static void expect(uint32_t expected, uint64_t frame, uint32_t in)
{
    const uint32_t *out = sim_delay_line_pass(&line, frame, frame, in ? &in : NULL);
    TEST_ASSERT_EQUAL_UINT32(expected, out ? *out : 0);
}

static void test_outside_its_window_a_wire_is_on_time(void)
{
    for (uint32_t frame = 0; frame < 10; frame++)
        expect(100 + frame, frame, 100 + frame);
    for (uint32_t frame = 30; frame < 100; frame++)
        expect(100 + frame, frame, 100 + frame);
    TEST_ASSERT_EQUAL_UINT64(0, line.hits);
}

static void test_within_it_items_come_as_many_frames_later(void)
{
    for (uint32_t frame = 10; frame < 30; frame++)
        expect(frame < 13 ? 0 : 100 + frame - 3, frame, 100 + frame);
    TEST_ASSERT_EQUAL_UINT64(20, line.hits);
}

static void test_frames_without_an_item_stay_so(void)
{
    for (uint32_t frame = 10; frame < 30; frame++)
        expect(frame >= 13 && (frame - 3) % 4 == 0 ? frame - 3 : 0, frame, frame % 4 ? 0 : frame);
}

/* In a catch-up only the last frame commits: those in between put nothing in and take nothing. */
static void test_what_came_due_in_a_frame_that_was_passed_over_comes_in_the_next(void)
{
    io_fault_move(&state, 10, UINT64_MAX);
    expect(0, 10, 1);
    expect(0, 11, 2);
    expect(2, 17, 3);
    expect(0, 18, 0);
    expect(3, 20, 4);
}

static void test_what_is_under_way_when_it_ends_is_lost(void)
{
    expect(0, 28, 1);
    expect(0, 29, 2);
    expect(3, 30, 3);
    expect(4, 31, 4);
    io_fault_move(&state, 32, 50);
    expect(0, 32, 5);
    expect(5, 35, 0);
}

static void test_of_a_sender_that_may_send_no_more_the_newest_comes_out(void)
{
    line.spec.delivers_last = true;
    expect(0, 28, 1);
    expect(0, 29, 2);
    expect(2, 30, 0);
    expect(0, 31, 0);
    io_fault_move(&state, 32, 35);
    expect(0, 34, 5);
    expect(6, 35, 6); /* there is a newer one */
    expect(0, 36, 0);
}

static void test_a_wire_without_a_fault_is_never_late(void)
{
    line = (struct sim_delay_line){0};
    expect(7, 15, 7);
}

/* ---- late always ---- */

static void put(uint64_t frame, uint32_t item)
{
    sim_delay_line_push(&line, frame, frame, &item);
}

static uint32_t take(uint64_t frame)
{
    const uint32_t *out = sim_delay_line_pop(&line, frame);
    return out ? *out : 0;
}

static void test_each_item_comes_once_and_in_order(void)
{
    place_line(DELAY, NULL);
    for (uint32_t frame = 0; frame < 100; frame++) {
        put(frame, 1000 + frame);
        TEST_ASSERT_EQUAL_UINT32(frame < DELAY ? 0 : 1000 + frame - DELAY, take(frame));
        TEST_ASSERT_EQUAL_UINT32(0, take(frame));
    }
    TEST_ASSERT_EQUAL_UINT64(DELAY, sim_delay_line_count(&line));
}

static void test_all_that_came_due_is_there_to_be_taken(void)
{
    place_line(DELAY, NULL);
    put(5, 1);
    put(6, 2);
    put(7, 3);
    TEST_ASSERT_EQUAL_UINT32(1, take(9));
    TEST_ASSERT_EQUAL_UINT32(2, take(9));
    TEST_ASSERT_EQUAL_UINT32(0, take(9));
    TEST_ASSERT_EQUAL_UINT32(3, take(10));
}

static void test_without_a_delay_it_is_there_at_once(void)
{
    place_line(0, NULL);
    TEST_ASSERT_EQUAL_UINT64(0, line.slots);
    expect(1, 5, 1);
    expect(2, 6, 2);
    TEST_ASSERT_EQUAL_UINT32(0, take(6));
}

/* ---- late always, and more while a fault lasts ---- */

static void test_the_delay_of_a_fault_is_added_to_that_of_the_line(void)
{
    place_line(2, &state);
    for (uint32_t frame = 4; frame < 30; frame++) {
        const bool on_time = frame < 10 + 2, late = frame >= 10 + 2 + DELAY;
        const uint32_t from = on_time ? frame - 2 : frame - 2 - DELAY;
        expect(from >= 4 && (on_time || late) ? 100 + from : 0, frame, 100 + frame);
    }
    TEST_ASSERT_EQUAL_UINT64(20, line.hits);
}

/* At the end of a fault the items that have passed it already, and have only the delay of the line
 * before them, are not lost. */
static void test_the_end_of_a_fault_loses_only_the_items_that_it_holds_back(void)
{
    place_line(2, &state);
    for (uint32_t frame = 24; frame < 30; frame++)
        expect(frame < 29 ? 0 : 100 + frame - 5, frame, 100 + frame);
    expect(125, 30, 0); /* it left the fault in frame 28 */
    expect(126, 31, 131);
    expect(0, 32, 0); /* that of frame 27 was held until frame 30 */
    expect(131, 33, 0);
    expect(0, 34, 0);
}

static void test_the_newest_of_them_has_the_delay_of_the_line_before_it(void)
{
    place_line(2, &state);
    line.spec.delivers_last = true;
    expect(0, 28, 1);
    expect(0, 29, 2);
    expect(0, 30, 0);
    expect(0, 31, 0);
    expect(2, 32, 0);
    expect(0, 33, 0);
}

static void test_what_is_under_way_can_be_looked_at_and_dropped(void)
{
    uint64_t due;
    place_line(DELAY, NULL);
    for (uint32_t frame = 0; frame < 6; frame++) { /* around the end of the ring */
        put(frame, 10 + frame);
        (void)take(frame);
    }
    TEST_ASSERT_EQUAL_UINT64(3, sim_delay_line_count(&line));
    for (uint32_t i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_UINT32(13 + i, *(const uint32_t *)sim_delay_line_peek(&line, i, &due));
        TEST_ASSERT_EQUAL_UINT64(6 + i, due);
    }
    sim_delay_line_clear(&line);
    TEST_ASSERT_EQUAL_UINT64(0, sim_delay_line_count(&line));
    TEST_ASSERT_EQUAL_UINT32(0, take(100));
    put(100, 7);
    TEST_ASSERT_EQUAL_UINT32(7, take(103));
}

static void test_all_but_the_newest_can_be_dropped(void)
{
    place_line(DELAY, NULL);
    sim_delay_line_keep_newest(&line);
    TEST_ASSERT_EQUAL_UINT64(0, sim_delay_line_count(&line));
    for (uint32_t frame = 10; frame < 13; frame++)
        put(frame, 10 + frame);
    sim_delay_line_keep_newest(&line);
    TEST_ASSERT_EQUAL_UINT64(1, sim_delay_line_count(&line));
    TEST_ASSERT_EQUAL_UINT32(0, take(14));
    TEST_ASSERT_EQUAL_UINT32(22, take(15));
    put(16, 1);
    TEST_ASSERT_EQUAL_UINT32(1, take(19));
}

/* The fault lasts by the count of the run state, which a restore moves; the delay does not. */
static void test_a_fault_is_asked_by_the_count_of_the_run_state(void)
{
    const struct io_fault_state late = {.first_frame = 100, .last_frame = 200};
    const uint32_t first = 1, second = 2;
    place_line(0, &late);
    TEST_ASSERT_NULL(sim_delay_line_pass(&line, 10, 150, &first));
    TEST_ASSERT_NULL(sim_delay_line_pass(&line, 11, 120, &second)); /* a state was put back */
    TEST_ASSERT_EQUAL_UINT32(1,
                             *(const uint32_t *)sim_delay_line_pass(&line, 10 + DELAY, 122, NULL));
    TEST_ASSERT_EQUAL_UINT32(2,
                             *(const uint32_t *)sim_delay_line_pass(&line, 11 + DELAY, 123, NULL));
    TEST_ASSERT_EQUAL_UINT32(1, *(const uint32_t *)sim_delay_line_pass(&line, 30, 99, &first));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_outside_its_window_a_wire_is_on_time);
    RUN_TEST(test_within_it_items_come_as_many_frames_later);
    RUN_TEST(test_frames_without_an_item_stay_so);
    RUN_TEST(test_what_came_due_in_a_frame_that_was_passed_over_comes_in_the_next);
    RUN_TEST(test_what_is_under_way_when_it_ends_is_lost);
    RUN_TEST(test_of_a_sender_that_may_send_no_more_the_newest_comes_out);
    RUN_TEST(test_a_wire_without_a_fault_is_never_late);
    RUN_TEST(test_each_item_comes_once_and_in_order);
    RUN_TEST(test_all_that_came_due_is_there_to_be_taken);
    RUN_TEST(test_without_a_delay_it_is_there_at_once);
    RUN_TEST(test_the_delay_of_a_fault_is_added_to_that_of_the_line);
    RUN_TEST(test_the_end_of_a_fault_loses_only_the_items_that_it_holds_back);
    RUN_TEST(test_the_newest_of_them_has_the_delay_of_the_line_before_it);
    RUN_TEST(test_what_is_under_way_can_be_looked_at_and_dropped);
    RUN_TEST(test_all_but_the_newest_can_be_dropped);
    RUN_TEST(test_a_fault_is_asked_by_the_count_of_the_run_state);
    return UNITY_END();
}
