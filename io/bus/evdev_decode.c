#include "io/bus/evdev_decode.h"

#include <linux/input.h>
#include <string.h>

_Static_assert((int)IO_EVDEV_KEY_COUNT == (int)KEY_CNT, "all keys of the kernel");
_Static_assert((int)IO_HAND_AXIS_COUNT == (int)ABS_HAT3Y + 1, "the axes of sticks and hats");

static bool has_bit(const unsigned char *bits, int i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* Scale a value to -1 to 1; a device may send values outside its announced range. */
static float normalise_axis(const struct io_evdev_axis *axis, int32_t value)
{
    if (axis->max <= axis->min)
        return 0.0f;
    if (value >= axis->max)
        return 1.0f;
    if (value <= axis->min)
        return -1.0f;
    const double offset = (double)value - axis->min, range = (double)axis->max - axis->min;
    return (float)(2.0 * offset / range - 1.0);
}

static int number_buttons(struct io_evdev_decoder *input, const struct io_evdev_info *facts,
                          int first, int end, int count)
{
    for (int key = first; key < end && count < IO_HAND_BUTTON_COUNT; key++)
        if (has_bit(facts->keys, key))
            input->button[key] = (unsigned char)++count;
    return count;
}

static void set_button(struct io_evdev_decoder *input, int key, bool down)
{
    if (input->button[key] == 0)
        return;
    const uint32_t bit = UINT32_C(1) << (input->button[key] - 1);
    const uint32_t now = down ? input->report.buttons | bit : input->report.buttons & ~bit;
    input->changed |= now != input->report.buttons;
    input->report.buttons = now;
}

static void set_axis(struct io_evdev_decoder *input, int axis, int32_t value)
{
    if (!(input->axes >> axis & 1))
        return;
    const float now = normalise_axis(&input->axis[axis], value);
    input->changed |= now < input->report.axis[axis] || now > input->report.axis[axis];
    input->report.axis[axis] = now;
}

void io_evdev_decoder_reset(struct io_evdev_decoder *input, const struct io_evdev_info *facts)
{
    memset(input, 0, sizeof *input);
    io_hand_report_neutral(&input->report);
    input->axes = facts->axes;
    memcpy(input->axis, facts->axis, sizeof input->axis);
    const int count = number_buttons(input, facts, BTN_JOYSTICK, KEY_CNT, 0);
    (void)number_buttons(input, facts, BTN_MISC, BTN_JOYSTICK, count);
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++)
        set_axis(input, i, facts->axis[i].value);
    for (int key = BTN_MISC; key < KEY_CNT; key++)
        set_button(input, key, has_bit(facts->down, key));
    input->changed = false;
}

/* Events between a loss and the end of its report belong to no report. */
static enum io_evdev_result decode_sync(struct io_evdev_decoder *input, int code)
{
    if (code == SYN_DROPPED)
        input->dropped = true;
    if (code != SYN_REPORT)
        return IO_EVDEV_INCOMPLETE;
    if (input->dropped) {
        input->dropped = false;
        return IO_EVDEV_DROPPED;
    }
    const bool changed = input->changed;
    input->changed = false;
    return changed ? IO_EVDEV_REPORT : IO_EVDEV_INCOMPLETE;
}

enum io_evdev_result io_evdev_decode(struct io_evdev_decoder *input,
                                     const struct input_event *event)
{
    if (event->type == EV_SYN)
        return decode_sync(input, event->code);
    if (input->dropped)
        return IO_EVDEV_INCOMPLETE;
    if (event->type == EV_ABS && event->code < IO_HAND_AXIS_COUNT)
        set_axis(input, event->code, event->value);
    else if (event->type == EV_KEY && event->code < IO_EVDEV_KEY_COUNT)
        set_button(input, event->code, event->value != 0);
    return IO_EVDEV_INCOMPLETE;
}
