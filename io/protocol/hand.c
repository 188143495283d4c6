#include "io/protocol/hand.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

void io_hand_rest(struct io_hand_picture *picture)
{
    *picture = (struct io_hand_picture){.version = IO_HAND_VERSION};
    memcpy(picture->magic, IO_HAND_MAGIC, sizeof picture->magic);
}

bool io_hand_decode(const void *bytes, size_t size, struct io_hand_picture *picture)
{
    struct io_hand_picture in;
    if (size != sizeof in)
        return false;
    memcpy(&in, bytes, sizeof in);
    if (memcmp(in.magic, IO_HAND_MAGIC, sizeof in.magic) != 0 || in.version != IO_HAND_VERSION)
        return false;
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++)
        if (!(fabsf(in.axis[i]) <= 1.0f))
            return false;
    *picture = in;
    return true;
}

static void press(const struct io_hand_spec *spec, struct io_hand *hand, uint32_t pressed)
{
    hand->presses ^= pressed;
    for (int i = 0; i < spec->mode_count; i++)
        if (pressed >> spec->mode_button[i] & 1)
            hand->mode = (uint32_t)i;
}

void io_hand_command(const struct io_hand_spec *spec, struct io_hand *hand,
                     const struct io_hand_picture *picture, struct io_command *command)
{
    if (hand->met)
        press(spec, hand, picture->buttons & ~hand->buttons);
    hand->met = true;
    hand->buttons = picture->buttons;
    command->flags = (uint64_t)hand->presses << 32 | hand->buttons;
    command->mode = hand->mode;
    for (int i = 0; i < spec->way_count; i++) {
        const struct io_hand_way *way = &spec->way[i];
        command->controls[way->control] =
            (float)io_axis_shape(&way->shape, (double)picture->axis[way->axis]);
    }
}

void io_hand_forget(struct io_hand *hand)
{
    hand->met = false;
}
