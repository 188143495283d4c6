/*
 * Events of the kernel to reports: ranges, numbers of buttons, complete reports, losses.
 */
#include "io/bus/evdev_decode.h"

#include <linux/input.h>
#include <string.h>

#include "unity.h"

static struct io_evdev_info facts;
static struct io_evdev_decoder input;

static void set(unsigned char *bits, int i)
{
    bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << (i % 8));
}

void setUp(void)
{
    memset(&facts, 0, sizeof facts);
    facts.axes = 1u << ABS_X | 1u << ABS_RZ | 1u << ABS_HAT3Y;
    facts.axis[ABS_X] = (struct io_evdev_axis){0, 1023, 0};
    facts.axis[ABS_RZ] = (struct io_evdev_axis){-32768, 32767, 0};
    facts.axis[ABS_HAT3Y] = (struct io_evdev_axis){-1, 1, 1};
    set(facts.keys, KEY_A);
    set(facts.keys, BTN_MISC);
    set(facts.keys, BTN_TRIGGER);
    set(facts.keys, BTN_THUMB2);
    set(facts.keys, KEY_MAX);
    set(facts.down, BTN_THUMB2);
    io_evdev_decoder_reset(&input, &facts);
}

void tearDown(void)
{
}

static enum io_evdev_result take(uint16_t type, uint16_t code, int32_t value)
{
    const struct input_event event = {.type = type, .code = code, .value = value};
    return io_evdev_decode(&input, &event);
}

static enum io_evdev_result report(uint16_t type, uint16_t code, int32_t value)
{
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(type, code, value));
    return take(EV_SYN, SYN_REPORT, 0);
}

static float axis(int code)
{
    return input.report.axis[code];
}

static void test_the_first_picture_is_how_the_device_stands(void)
{
    TEST_ASSERT_EQUAL_MEMORY("HAND", input.report.magic, 4);
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, axis(ABS_X));
    TEST_ASSERT_FLOAT_WITHIN(2e-5f, 0.0f, axis(ABS_RZ));
    TEST_ASSERT_EQUAL_FLOAT(1.0f, axis(ABS_HAT3Y));
    TEST_ASSERT_EQUAL_HEX32(0x2, input.report.buttons);
}

static void test_a_range_is_scaled_to_one_exactly_at_both_ends(void)
{
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, report(EV_ABS, ABS_X, 1023));
    TEST_ASSERT_TRUE(axis(ABS_X) == 1.0f);
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, report(EV_ABS, ABS_X, 256));
    TEST_ASSERT_EQUAL_FLOAT(2.0f * 256 / 1023 - 1.0f, axis(ABS_X));
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, report(EV_ABS, ABS_RZ, -32768));
    TEST_ASSERT_TRUE(axis(ABS_RZ) == -1.0f);
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT,
                      report(EV_ABS, ABS_RZ, INT32_MAX)); /* outside the announced range */
    TEST_ASSERT_TRUE(axis(ABS_RZ) == 1.0f);
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, report(EV_ABS, ABS_RZ, INT32_MIN));
    TEST_ASSERT_TRUE(axis(ABS_RZ) == -1.0f);
}

static void test_the_widest_range_does_not_overflow_and_the_narrowest_is_the_centre(void)
{
    facts.axis[ABS_X] = (struct io_evdev_axis){INT32_MIN, INT32_MAX, 0};
    facts.axis[ABS_RZ] = (struct io_evdev_axis){7, 7, 7};
    io_evdev_decoder_reset(&input, &facts);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0.0f, axis(ABS_X));
    TEST_ASSERT_TRUE(axis(ABS_RZ) == 0.0f);
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_ABS, ABS_RZ, 9));
    TEST_ASSERT_TRUE(axis(ABS_RZ) == 0.0f);
}

/* Buttons are numbered as in jstest: from BTN_JOYSTICK to the last key, then BTN_MISC. */
static void test_buttons_are_numbered_as_jstest_does(void)
{
    (void)report(EV_KEY, BTN_THUMB2, 0);
    TEST_ASSERT_EQUAL_HEX32(0, input.report.buttons);
    (void)report(EV_KEY, BTN_TRIGGER, 1);
    TEST_ASSERT_EQUAL_HEX32(1, input.report.buttons);
    (void)report(EV_KEY, KEY_MAX, 1);
    TEST_ASSERT_EQUAL_HEX32(5, input.report.buttons);
    (void)report(EV_KEY, BTN_MISC, 1);
    TEST_ASSERT_EQUAL_HEX32(13, input.report.buttons);
    (void)report(EV_KEY, BTN_TRIGGER, 2); /* a repetition; the button is still down */
    TEST_ASSERT_EQUAL_HEX32(13, input.report.buttons);
}

static void test_a_snapshot_comes_with_its_report_and_only_after_a_change(void)
{
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_ABS, ABS_X, 5));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_KEY, BTN_TRIGGER, 1));
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, take(EV_SYN, SYN_REPORT, 0));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_SYN, SYN_REPORT, 0));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_ABS, ABS_X, 5));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_MSC, MSC_SCAN, 9));
}

static void test_what_was_not_announced_is_passed_over(void)
{
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_ABS, ABS_Y, 5));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_ABS, ABS_MT_SLOT, 5));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_ABS, 0xffff, 5));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_KEY, BTN_THUMB, 1));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_KEY, KEY_A, 1));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_KEY, 0xffff, 1));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(0xffff, ABS_X, 5));
}

static void test_no_more_buttons_than_there_are_bits(void)
{
    memset(facts.keys, 0xff, sizeof facts.keys);
    memset(facts.down, 0xff, sizeof facts.down);
    io_evdev_decoder_reset(&input, &facts);
    TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, input.report.buttons);
    (void)report(EV_KEY, BTN_TRIGGER + 31, 0);
    TEST_ASSERT_EQUAL_HEX32(0x7fffffff, input.report.buttons);
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, report(EV_KEY, BTN_TRIGGER + 32, 0));
}

static void test_after_a_loss_the_rest_of_the_report_counts_for_nothing(void)
{
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_SYN, SYN_DROPPED, 0));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_ABS, ABS_X, 1023));
    TEST_ASSERT_EQUAL(IO_EVDEV_INCOMPLETE, take(EV_KEY, BTN_TRIGGER, 1));
    TEST_ASSERT_EQUAL(IO_EVDEV_DROPPED, take(EV_SYN, SYN_REPORT, 0));
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, axis(ABS_X));
    TEST_ASSERT_EQUAL(IO_EVDEV_REPORT, report(EV_ABS, ABS_X, 1023));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_first_picture_is_how_the_device_stands);
    RUN_TEST(test_a_range_is_scaled_to_one_exactly_at_both_ends);
    RUN_TEST(test_the_widest_range_does_not_overflow_and_the_narrowest_is_the_centre);
    RUN_TEST(test_buttons_are_numbered_as_jstest_does);
    RUN_TEST(test_a_snapshot_comes_with_its_report_and_only_after_a_change);
    RUN_TEST(test_what_was_not_announced_is_passed_over);
    RUN_TEST(test_no_more_buttons_than_there_are_bits);
    RUN_TEST(test_after_a_loss_the_rest_of_the_report_counts_for_nothing);
    return UNITY_END();
}
