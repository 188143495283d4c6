#include "io/bus/evdev_decode.h"

#include <linux/input.h>
#include <string.h>

_Static_assert((int)IO_INPUT_KEY_COUNT == (int)KEY_CNT, "all keys that the kernel knows");
_Static_assert((int)IO_HAND_AXIS_COUNT == (int)ABS_HAT3Y + 1, "the axes of sticks and hats");

static bool has_bit(const unsigned char *bits, int i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* A device may say more than it announced. */
static float spread(const struct io_input_axis *axis, int32_t value)
{
    if (axis->max <= axis->min)
        return 0.0f;
    if (value >= axis->max)
        return 1.0f;
    if (value <= axis->min)
        return -1.0f;
    const double way = (double)value - axis->min, whole = (double)axis->max - axis->min;
    return (float)(2.0 * way / whole - 1.0);
}

static int number_buttons(struct io_input *input, const struct io_input_facts *facts, int first,
                          int end, int count)
{
    for (int key = first; key < end && count < IO_HAND_BUTTON_COUNT; key++)
        if (has_bit(facts->keys, key))
            input->button[key] = (unsigned char)++count;
    return count;
}

static void set_button(struct io_input *input, int key, bool down)
{
    if (input->button[key] == 0)
        return;
    const uint32_t bit = UINT32_C(1) << (input->button[key] - 1);
    const uint32_t now = down ? input->picture.buttons | bit : input->picture.buttons & ~bit;
    input->changed |= now != input->picture.buttons;
    input->picture.buttons = now;
}

static void set_axis(struct io_input *input, int axis, int32_t value)
{
    if (!(input->axes >> axis & 1))
        return;
    const float now = spread(&input->axis[axis], value);
    input->changed |= now < input->picture.axis[axis] || now > input->picture.axis[axis];
    input->picture.axis[axis] = now;
}

void io_input_begin(struct io_input *input, const struct io_input_facts *facts)
{
    memset(input, 0, sizeof *input);
    io_hand_rest(&input->picture);
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

/* What comes between the loss and the end of its report belongs to no picture. */
static enum io_input_news take_mark(struct io_input *input, int code)
{
    if (code == SYN_DROPPED)
        input->torn = true;
    if (code != SYN_REPORT)
        return IO_INPUT_NOTHING;
    if (input->torn) {
        input->torn = false;
        return IO_INPUT_TORN;
    }
    const bool changed = input->changed;
    input->changed = false;
    return changed ? IO_INPUT_PICTURE : IO_INPUT_NOTHING;
}

enum io_input_news io_input_take(struct io_input *input, const struct input_event *event)
{
    if (event->type == EV_SYN)
        return take_mark(input, event->code);
    if (input->torn)
        return IO_INPUT_NOTHING;
    if (event->type == EV_ABS && event->code < IO_HAND_AXIS_COUNT)
        set_axis(input, event->code, event->value);
    else if (event->type == EV_KEY && event->code < IO_INPUT_KEY_COUNT)
        set_button(input, event->code, event->value != 0);
    return IO_INPUT_NOTHING;
}
