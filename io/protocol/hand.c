#include "io/protocol/hand.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

void io_hand_report_neutral(struct io_hand_report *report)
{
    *report = (struct io_hand_report){.version = IO_HAND_VERSION};
    memcpy(report->magic, IO_HAND_MAGIC, sizeof report->magic);
}

bool io_hand_decode(const void *bytes, size_t size, struct io_hand_report *report)
{
    struct io_hand_report in = {0};
    if (size != IO_HAND_SIZE && size != IO_HAND_SIZE_TIMED)
        return false;
    memcpy(&in, bytes, size);
    const uint32_t version = size == IO_HAND_SIZE ? IO_HAND_VERSION : IO_HAND_VERSION_TIMED;
    if (memcmp(in.magic, IO_HAND_MAGIC, sizeof in.magic) != 0 || in.version != version)
        return false;
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++)
        if (!(fabsf(in.axis[i]) <= 1.0f))
            return false;
    *report = in;
    return true;
}

/* A second press of an idempotent button before a frame has latched the first would flip the bit
 * back and undo the first; so it is left out, and the first counts for both.  The mode that was
 * pressed last is in hand->mode. */
static void count_presses(const struct io_hand_spec *spec, struct io_hand_decoder *hand,
                          uint32_t pressed)
{
    const uint32_t once = pressed & spec->once;
    hand->deferred |= once & hand->unlatched;
    hand->newest_flips = once & ~hand->unlatched;
    hand->unlatched |= once;
    hand->presses ^= (pressed & ~spec->once) | hand->newest_flips;
    for (int i = 0; i < spec->mode_count; i++)
        if (pressed >> spec->mode_button[i] & 1)
            hand->mode = (uint32_t)i;
}

/* True for a report that was overtaken or duplicated by the network.  A report that is much
 * older shows that the sender's clock was set back.  So does a sequence of older reports with
 * increasing times: without this rule the hand would stay as it was until that clock has caught
 * up. */
static bool is_late(struct io_hand_decoder *hand, const struct io_hand_report *report)
{
    const uint64_t newest_us = hand->newest.sent_us, sent_us = report->sent_us;
    const bool older = hand->has_report && sent_us != 0 && sent_us < newest_us &&
                       newest_us - sent_us < IO_HAND_LATE_US;
    const bool goes_on = older && hand->late_count > 0 && sent_us > hand->late_us;
    hand->late_us = sent_us;
    hand->late_count = goes_on ? hand->late_count + 1 : older;
    return older && hand->late_count < IO_HAND_LATE_COUNT;
}

void io_hand_to_command(const struct io_hand_spec *spec, struct io_hand_decoder *hand,
                        const struct io_hand_report *report, struct io_command *command)
{
    hand->deferred = hand->newest_flips = 0;
    if (is_late(hand, report))
        report = &hand->newest;
    if (hand->has_report)
        count_presses(spec, hand, report->buttons & ~hand->newest.buttons);
    hand->has_report = true;
    hand->newest = *report;
    command->flags = (uint64_t)hand->presses << 32 | report->buttons;
    command->mode = hand->mode;
    command->board_us = report->sent_us;
    for (int i = 0; i < spec->axis_map_count; i++) {
        const struct io_hand_axis_map *axis_map = &spec->axis_map[i];
        command->controls[axis_map->control] =
            (float)io_stick_axis_shape(&axis_map->shape, (double)report->axis[axis_map->axis]);
    }
}

bool io_hand_apply_deferred(struct io_hand_decoder *hand, struct io_command *command)
{
    const uint32_t deferred = hand->deferred;
    hand->unlatched = hand->newest_flips | deferred;
    hand->newest_flips = deferred;
    hand->deferred = 0;
    hand->presses ^= deferred;
    command->flags ^= (uint64_t)deferred << 32;
    return deferred != 0;
}

void io_hand_new_peer(struct io_hand_decoder *hand)
{
    hand->has_report = false;
}
