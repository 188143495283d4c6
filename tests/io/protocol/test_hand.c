/*
 * The protocol of hand controllers: reports to commands.
 */
#include "io/protocol/hand.h"

#include <math.h>
#include <stdlib.h>

#include "tests/io/live/notebook.h"
#include "unity.h"

static const struct io_hand_spec map = {
    .axis_map_count = 2,
    .axis_map = {{.axis = 5, .control = 0, .shape = {.dead_band = 0.1, .scale = 1.0}},
                 {.axis = 0, .control = 15, .shape = {.scale = 4.0, .invert = true}}},
    .mode_count = 3,
    .mode_button = {4, 2, 31},
    .once = 1u << 7 | 1u << 31,
};
static struct notebook book;
static struct io_protocol *protocol;
static struct io_hand_report picture;

void setUp(void)
{
    const struct io_protocol_spec spec = {.kind = IO_PROTOCOL_HAND, .hand = map};
    memset(&book, 0, sizeof book);
    io_hand_report_neutral(&picture);
    protocol =
        io_protocol_place(&spec, aligned_alloc(64, (io_protocol_size(&spec) + 63) / 64 * 64));
}

void tearDown(void)
{
    free(protocol);
}

static void say_bytes(const void *bytes, size_t size)
{
    const struct io_protocol_port port = notebook_port(&book);
    protocol->ops->receive(protocol, bytes, size, 5, &port);
}

static const struct io_command *show(void)
{
    const int before = book.commands;
    say_bytes(&picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL(before + 1, book.commands);
    return &book.command;
}

static const struct io_command *hold(uint32_t buttons)
{
    picture.buttons = buttons;
    return show();
}

static void test_axes_move_the_controls_of_their_map(void)
{
    picture.axis[5] = 0.55f;
    picture.axis[0] = -0.25f;
    picture.axis[1] = 1.0f; /* an axis without a control */
    const struct io_command *command = show();
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0.5f, command->controls[0]);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1.0f, command->controls[15]);
    for (int i = 1; i < 15; i++)
        TEST_ASSERT_TRUE(command->controls[i] == 0.0f);
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_protocol_facts(protocol)->board);
}

static void test_buttons_are_flags_while_they_are_down(void)
{
    TEST_ASSERT_EQUAL_HEX64(0, hold(0)->flags);
    TEST_ASSERT_EQUAL_HEX32(0x80000001, hold(0x80000001)->flags & UINT32_MAX);
    TEST_ASSERT_EQUAL_HEX32(0, hold(0)->flags & UINT32_MAX);
}

static void test_every_press_flips_its_bit_and_no_release_does(void)
{
    (void)hold(0);
    TEST_ASSERT_EQUAL_HEX32(0x3, hold(0x3)->flags >> 32);
    TEST_ASSERT_EQUAL_HEX32(0x3, hold(0x1)->flags >> 32);
    TEST_ASSERT_EQUAL_HEX32(0x1, hold(0x3)->flags >> 32);
    TEST_ASSERT_EQUAL_HEX32(0x1, hold(0x3)->flags >> 32); /* still down */
    TEST_ASSERT_EQUAL_HEX32(0x80000001, hold(0x80000000)->flags >> 32);
}

/* A button goes down, up, down, up while no frame latches: after an outage, or in a pause. */
static void test_two_unread_presses_are_one_where_they_do_the_same(void)
{
    (void)hold(0);
    book.ignored = true;
    for (int i = 0; i < 4; i++) {
        TEST_ASSERT_EQUAL_HEX32(1u << 7, hold(1u << 7 | 1u << 8)->flags >> 32 & 1u << 7);
        (void)hold(0);
    }
    TEST_ASSERT_EQUAL_HEX32(1u << 7, book.command.flags >> 32); /* button 8 is a toggle */
    TEST_ASSERT_EQUAL_HEX32(1u << 31 | 1u << 7, hold(1u << 31)->flags >> 32); /* another button */
    book.ignored = false;
    (void)hold(0);
    TEST_ASSERT_EQUAL_HEX32(1u << 31,
                            hold(1u << 7)->flags >> 32); /* a new press: the first was latched */
}

/* The decoder does not see when the frame latches: it learns it with the next command only. */
static void test_a_press_after_one_that_was_read_is_given_out_at_once(void)
{
    (void)hold(0);
    book.ignored = true;
    (void)hold(1u << 7);
    (void)hold(0);
    book.ignored = false;
    picture.buttons = 1u << 7;
    const int before = book.commands;
    say_bytes(&picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL(before + 2, book.commands);
    TEST_ASSERT_EQUAL_HEX64(1u << 7, book.command.flags);
    book.ignored = true; /* and no frame has latched that one yet */
    (void)hold(0);
    TEST_ASSERT_EQUAL_HEX64(1u << 7, hold(1u << 7)->flags);
    TEST_ASSERT_EQUAL_HEX64(0, hold(0)->flags);
}

static void test_the_last_of_many_unread_modes_is_given_out(void)
{
    (void)hold(0);
    book.ignored = true;
    (void)hold(1u << 31);
    (void)hold(1u << 2);
    TEST_ASSERT_EQUAL_UINT32(2, hold(1u << 31)->mode);
    TEST_ASSERT_EQUAL_HEX32(1u << 31 | 1u << 2, book.command.flags >> 32);
}

static void test_the_mode_is_that_of_the_last_mode_button(void)
{
    TEST_ASSERT_EQUAL_UINT32(0, hold(0)->mode);
    TEST_ASSERT_EQUAL_UINT32(1, hold(1u << 2)->mode);
    TEST_ASSERT_EQUAL_UINT32(1, hold(0)->mode);
    TEST_ASSERT_EQUAL_UINT32(2, hold(1u << 31)->mode);
    TEST_ASSERT_EQUAL_UINT32(0, hold(1u << 31 | 1u << 4)->mode);
    TEST_ASSERT_EQUAL_UINT32(0, hold(1u << 31 | 1u << 4)->mode); /* held, not pressed again */
    TEST_ASSERT_EQUAL_UINT32(0, hold(1u << 3)->mode);            /* not a mode button */
}

static void test_a_button_that_was_down_when_the_device_came_is_no_press(void)
{
    TEST_ASSERT_EQUAL_HEX64(1u << 2, hold(1u << 2)->flags);
    TEST_ASSERT_EQUAL_UINT32(0, book.command.mode);
    (void)hold(0);
    TEST_ASSERT_EQUAL_UINT32(1, hold(1u << 2)->mode);
    io_protocol_new_peer(protocol); /* unplugged */
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(4) << 32 | 0x10, hold(1u << 4)->flags);
    TEST_ASSERT_EQUAL_UINT32(1, book.command.mode);
}

static void test_a_picture_of_version_2_has_its_sender_s_time(void)
{
    picture.axis[5] = 1.0f;
    picture.sent_us = UINT64_C(0x123456789abcdef0);
    TEST_ASSERT_EQUAL_UINT64(0, show()->board_us); /* version 1 has no sent_us */
    picture.version = IO_HAND_VERSION_TIMED;
    say_bytes(&picture, IO_HAND_SIZE_TIMED);
    TEST_ASSERT_EQUAL(2, book.commands);
    TEST_ASSERT_EQUAL_HEX64(0x123456789abcdef0, book.command.board_us);
    TEST_ASSERT_TRUE(book.command.controls[0] == 1.0f);
}

static const struct io_command *show_at(uint64_t sent_us, uint32_t buttons, float axis_map)
{
    picture.version = IO_HAND_VERSION_TIMED;
    picture.sent_us = sent_us;
    picture.buttons = buttons;
    picture.axis[5] = axis_map;
    say_bytes(&picture, IO_HAND_SIZE_TIMED);
    return &book.command;
}

/* Datagrams may be reordered or duplicated. */
static void test_a_picture_that_was_overtaken_moves_nothing(void)
{
    (void)show_at(5000000, 0, 0.0f);
    (void)show_at(5000010, 1, 1.0f);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(1) << 32, show_at(5000020, 0, 0.0f)->flags);
    (void)show_at(5000010, 1, 1.0f);
    TEST_ASSERT_EQUAL_HEX64(UINT64_C(1) << 32, book.command.flags); /* not a second press */
    TEST_ASSERT_TRUE(book.command.controls[0] == 0.0f);
    TEST_ASSERT_EQUAL_UINT64(5000020, book.command.board_us);
    TEST_ASSERT_EQUAL(4, book.commands); /* but it shows that the sender is alive */
    TEST_ASSERT_TRUE(show_at(5000020, 0, 0.0f)->controls[0] == 0.0f);
    TEST_ASSERT_TRUE(show_at(5000021, 0, 1.0f)->controls[0] == 1.0f);
}

static void test_a_clock_that_was_set_back_and_another_hand_are_accepted(void)
{
    (void)show_at(9000000, 0, 0.0f);
    TEST_ASSERT_TRUE(show_at(9000000 - IO_HAND_LATE_US, 0, 1.0f)->controls[0] == 1.0f);
    io_protocol_new_peer(protocol);
    TEST_ASSERT_TRUE(show_at(7999999, 0, -1.0f)->controls[0] == -1.0f);
    picture.version = IO_HAND_VERSION; /* without a time */
    picture.axis[5] = 1.0f;
    TEST_ASSERT_TRUE(show()->controls[0] == 1.0f);
}

static void test_a_clock_that_was_set_back_a_little_costs_two_pictures(void)
{
    (void)show_at(5000000, 0, 1.0f);
    TEST_ASSERT_TRUE(show_at(4500000, 0, 0.0f)->controls[0] == 1.0f);
    TEST_ASSERT_TRUE(show_at(4520000, 0, 0.0f)->controls[0] == 1.0f);
    TEST_ASSERT_TRUE(show_at(4540000, 0, 0.0f)->controls[0] == 0.0f);
    TEST_ASSERT_EQUAL_UINT64(4540000, book.command.board_us);
    TEST_ASSERT_TRUE(show_at(4560000, 0, -1.0f)->controls[0] == -1.0f);
}

static void test_many_that_were_overtaken_one_by_one_move_nothing(void)
{
    for (uint64_t k = 1; k < 20; k++) { /* each pair is reordered */
        (void)show_at(5000000 + 20 * k, 0, 1.0f);
        TEST_ASSERT_TRUE(show_at(5000000 + 20 * k - 10, 0, 0.0f)->controls[0] == 1.0f);
    }
    for (int k = 0; k < 5; k++) /* one report that is repeated */
        TEST_ASSERT_TRUE(show_at(5000000, 0, 0.0f)->controls[0] == 1.0f);
}

static void refuse(void)
{
    say_bytes(&picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL(0, book.commands);
    TEST_ASSERT_EQUAL(0, book.heard);
    TEST_ASSERT_EQUAL_UINT64(0, io_protocol_get_counters(protocol).rx);
}

static void test_what_is_no_picture_is_counted_and_commands_nothing(void)
{
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 1.0001f, -2.0f};
    for (int i = 0; i < 5; i++) {
        picture.axis[IO_HAND_AXIS_COUNT - 1] = wrong[i];
        refuse();
    }
    io_hand_report_neutral(&picture);
    picture.version = 2;
    refuse();
    io_hand_report_neutral(&picture);
    picture.magic[3] = 'd';
    refuse();
    io_hand_report_neutral(&picture);
    say_bytes(&picture, IO_HAND_SIZE - 1);
    say_bytes(&picture, IO_HAND_SIZE + 1);
    say_bytes(&picture, IO_HAND_SIZE_TIMED); /* of version 1 */
    say_bytes(&picture, 0);
    TEST_ASSERT_EQUAL(0, book.commands);
    TEST_ASSERT_EQUAL_UINT64(11, io_protocol_get_counters(protocol).rx_bad);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_protocol_facts(protocol)->board);
}

static void test_nothing_is_sent_to_hand_controllers(void)
{
    const struct io_protocol_port port = notebook_port(&book);
    const struct io_sample sample = {.due = 0x1ff};
    unsigned char safe[IO_PROTOCOL_INVALID_MAX];
    io_protocol_encode(protocol, &sample, 7, &port);
    io_protocol_send_status(protocol, IO_STATUS_ACTIVE, &port);
    TEST_ASSERT_EQUAL(0, book.sent_count);
    TEST_ASSERT_EQUAL_size_t(0, io_protocol_invalid_message(protocol, safe));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_axes_move_the_controls_of_their_map);
    RUN_TEST(test_buttons_are_flags_while_they_are_down);
    RUN_TEST(test_every_press_flips_its_bit_and_no_release_does);
    RUN_TEST(test_two_unread_presses_are_one_where_they_do_the_same);
    RUN_TEST(test_a_press_after_one_that_was_read_is_given_out_at_once);
    RUN_TEST(test_the_last_of_many_unread_modes_is_given_out);
    RUN_TEST(test_the_mode_is_that_of_the_last_mode_button);
    RUN_TEST(test_a_button_that_was_down_when_the_device_came_is_no_press);
    RUN_TEST(test_a_picture_of_version_2_has_its_sender_s_time);
    RUN_TEST(test_a_picture_that_was_overtaken_moves_nothing);
    RUN_TEST(test_a_clock_that_was_set_back_and_another_hand_are_accepted);
    RUN_TEST(test_a_clock_that_was_set_back_a_little_costs_two_pictures);
    RUN_TEST(test_many_that_were_overtaken_one_by_one_move_nothing);
    RUN_TEST(test_what_is_no_picture_is_counted_and_commands_nothing);
    RUN_TEST(test_nothing_is_sent_to_hand_controllers);
    return UNITY_END();
}
