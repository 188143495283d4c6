/*
 * Any bytes as what the kernel says of a hand controller, its facts, then events; as what spacenavd
 * says of one; and as a picture.  What must hold:
 *   - every picture is one that the protocol takes, and so are those after a loss,
 *   - a picture comes only with the end of a report, and never twice for one move,
 *   - no control is ever outside its scale, and none is NAN.
 *
 * The input: seed of the map, facts, then events of 24 bytes.
 */
#include <linux/input.h>
#include <math.h>
#include <string.h>

#include "io/bus/evdev_decode.h"
#include "io/bus/spacenav.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct io_hand_spec make_map(unsigned seed)
{
    struct io_hand_spec map = {
        .axis_map_count = 1 + (int)(seed % IO_CONTROL_MAX),
        .mode_count = (int)(seed % (IO_HAND_MODE_MAX + 1)),
    };
    for (int i = 0; i < map.axis_map_count; i++)
        map.axis_map[i] = (struct io_hand_axis_map){
            .axis = (i + (int)seed) % IO_HAND_AXIS_COUNT,
            .control = i,
            .shape = {0.1 * (seed % 10), i / 15.0, 1.0 + i, (seed + (unsigned)i) % 2},
        };
    for (int i = 0; i < map.mode_count; i++)
        map.mode_button[i] = (i * 5 + (int)seed) % IO_HAND_BUTTON_COUNT;
    return map;
}

static void check_command(const struct io_hand_spec *map, struct io_hand_decoder *hand,
                          const struct io_hand_report *report)
{
    struct io_command command = {0};
    io_hand_to_command(map, hand, report, &command);
    RT_CHECK((command.flags & UINT32_MAX) == report->buttons);
    RT_CHECK(command.board_us == report->sent_us);
    RT_CHECK(command.mode == 0 || command.mode < (uint32_t)map->mode_count);
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        RT_CHECK(fabsf(command.controls[i]) <= (i < map->axis_map_count ? 1.0f + (float)i : 0.0f));
}

static void check_picture(const struct io_hand_spec *map, struct io_hand_decoder *hand,
                          const struct io_hand_report *report)
{
    struct io_hand_report read;
    RT_CHECK(io_hand_decode(report, IO_HAND_SIZE, &read));
    RT_CHECK(memcmp(report, &read, sizeof read) == 0);
    check_command(map, hand, &read);
}

static size_t take(void *to, size_t room, const uint8_t *bytes, size_t size)
{
    const size_t some = size < room ? size : room;
    memcpy(to, bytes, some);
    return some;
}

static void live(const struct io_hand_spec *map, const uint8_t *bytes, size_t size)
{
    struct io_evdev_info facts = {0};
    struct io_evdev_decoder input;
    struct io_hand_decoder hand = {0};
    size_t at = take(&facts, sizeof facts, bytes, size);
    io_evdev_decoder_reset(&input, &facts);
    check_picture(map, &hand, &input.report);
    for (struct input_event event; size - at >= sizeof event; at += sizeof event) {
        const struct io_hand_report before = input.report;
        memcpy(&event, bytes + at, sizeof event);
        const enum io_evdev_result news = io_evdev_decode(&input, &event);
        RT_CHECK(news == IO_EVDEV_INCOMPLETE || (event.type == EV_SYN && event.code == SYN_REPORT));
        if (event.type == EV_SYN)
            RT_CHECK(memcmp(&before, &input.report, sizeof before) == 0);
        if (news == IO_EVDEV_DROPPED)
            io_evdev_decoder_reset(&input, &facts);
        if (news != IO_EVDEV_INCOMPLETE) {
            check_picture(map, &hand, &input.report);
            RT_CHECK(io_evdev_decode(&input, &event) == IO_EVDEV_INCOMPLETE);
        }
    }
}

static void listen(const struct io_hand_spec *map, const uint8_t *bytes, size_t size)
{
    struct io_hand_report report;
    struct io_hand_decoder hand = {0};
    int32_t word[IO_SPACENAV_WORDS];
    io_hand_report_neutral(&report);
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(word, bytes, sizeof word);
        (void)io_spacenav_decode(&report, word);
        RT_CHECK(!io_spacenav_decode(&report, word));
        check_picture(map, &hand, &report);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    const struct io_hand_spec map = make_map(bytes[0]);
    struct io_hand_decoder hand = {0};
    struct io_hand_report report;
    live(&map, bytes + 1, size - 1);
    listen(&map, bytes + 1, size - 1);
    if (io_hand_decode(bytes + 1, size - 1, &report)) {
        RT_CHECK(report.version == (size - 1 == IO_HAND_SIZE ? 1 : 2));
        RT_CHECK(report.version == 2 || report.sent_us == 0);
        check_command(&map, &hand, &report);
    }
    return 0;
}
