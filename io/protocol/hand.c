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
    struct io_hand_picture in = {0};
    if (size != IO_HAND_SIZE && size != IO_HAND_SIZE_TIMED)
        return false;
    memcpy(&in, bytes, size);
    const uint32_t version = size == IO_HAND_SIZE ? IO_HAND_VERSION : IO_HAND_VERSION_TIMED;
    if (memcmp(in.magic, IO_HAND_MAGIC, sizeof in.magic) != 0 || in.version != version)
        return false;
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++)
        if (!(fabsf(in.axis[i]) <= 1.0f))
            return false;
    *picture = in;
    return true;
}

/* A button that does the same again would undo its first press by flipping back, if nobody has seen
 * that yet; then the first stands for both.  Which mode was last is told by mode. */
static void press(const struct io_hand_spec *spec, struct io_hand *hand, uint32_t pressed)
{
    const uint32_t once = pressed & spec->once;
    hand->owed |= once & hand->unseen;
    hand->fresh = once & ~hand->unseen;
    hand->unseen |= once;
    hand->presses ^= (pressed & ~spec->once) | hand->fresh;
    for (int i = 0; i < spec->mode_count; i++)
        if (pressed >> spec->mode_button[i] & 1)
            hand->mode = (uint32_t)i;
}

/* Overtaken on its way, or sent twice by the network.  One that is older than that is of a clock
 * that was set back, and so is one in a row of such that go on among themselves: else the hand
 * would stay as it was until that clock has caught up. */
static bool is_late(struct io_hand *hand, const struct io_hand_picture *picture)
{
    const uint64_t newest_us = hand->newest.sent_us, sent_us = picture->sent_us;
    const bool older =
        hand->met && sent_us != 0 && sent_us < newest_us && newest_us - sent_us < IO_HAND_LATE_US;
    const bool goes_on = older && hand->late_count > 0 && sent_us > hand->late_us;
    hand->late_us = sent_us;
    hand->late_count = goes_on ? hand->late_count + 1 : older;
    return older && hand->late_count < IO_HAND_LATE_COUNT;
}

void io_hand_command(const struct io_hand_spec *spec, struct io_hand *hand,
                     const struct io_hand_picture *picture, struct io_command *command)
{
    hand->owed = hand->fresh = 0;
    if (is_late(hand, picture))
        picture = &hand->newest;
    if (hand->met)
        press(spec, hand, picture->buttons & ~hand->newest.buttons);
    hand->met = true;
    hand->newest = *picture;
    command->flags = (uint64_t)hand->presses << 32 | picture->buttons;
    command->mode = hand->mode;
    command->board_us = picture->sent_us;
    for (int i = 0; i < spec->way_count; i++) {
        const struct io_hand_way *way = &spec->way[i];
        command->controls[way->control] =
            (float)io_axis_shape(&way->shape, (double)picture->axis[way->axis]);
    }
}

bool io_hand_met(struct io_hand *hand, struct io_command *command)
{
    const uint32_t owed = hand->owed;
    hand->unseen = hand->fresh | owed;
    hand->fresh = owed;
    hand->owed = 0;
    hand->presses ^= owed;
    command->flags ^= (uint64_t)owed << 32;
    return owed != 0;
}

void io_hand_forget(struct io_hand *hand)
{
    hand->met = false;
}
