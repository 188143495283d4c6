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
        .way_count = 1 + (int)(seed % IO_CONTROL_MAX),
        .mode_count = (int)(seed % (IO_HAND_MODE_MAX + 1)),
    };
    for (int i = 0; i < map.way_count; i++)
        map.way[i] = (struct io_hand_way){
            .axis = (i + (int)seed) % IO_HAND_AXIS_COUNT,
            .control = i,
            .shape = {0.1 * (seed % 10), i / 15.0, 1.0 + i, (seed + (unsigned)i) % 2},
        };
    for (int i = 0; i < map.mode_count; i++)
        map.mode_button[i] = (i * 5 + (int)seed) % IO_HAND_BUTTON_COUNT;
    return map;
}

static void check_command(const struct io_hand_spec *map, struct io_hand *hand,
                          const struct io_hand_picture *picture)
{
    struct io_command command = {0};
    io_hand_command(map, hand, picture, &command);
    RT_CHECK((command.flags & UINT32_MAX) == picture->buttons);
    RT_CHECK(command.board_us == picture->sent_us);
    RT_CHECK(command.mode == 0 || command.mode < (uint32_t)map->mode_count);
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        RT_CHECK(fabsf(command.controls[i]) <= (i < map->way_count ? 1.0f + (float)i : 0.0f));
}

static void check_picture(const struct io_hand_spec *map, struct io_hand *hand,
                          const struct io_hand_picture *picture)
{
    struct io_hand_picture read;
    RT_CHECK(io_hand_decode(picture, IO_HAND_SIZE, &read));
    RT_CHECK(memcmp(picture, &read, sizeof read) == 0);
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
    struct io_input_facts facts = {0};
    struct io_input input;
    struct io_hand hand = {0};
    size_t at = take(&facts, sizeof facts, bytes, size);
    io_input_begin(&input, &facts);
    check_picture(map, &hand, &input.picture);
    for (struct input_event event; size - at >= sizeof event; at += sizeof event) {
        const struct io_hand_picture before = input.picture;
        memcpy(&event, bytes + at, sizeof event);
        const enum io_input_news news = io_input_take(&input, &event);
        RT_CHECK(news == IO_INPUT_NOTHING || (event.type == EV_SYN && event.code == SYN_REPORT));
        if (event.type == EV_SYN)
            RT_CHECK(memcmp(&before, &input.picture, sizeof before) == 0);
        if (news == IO_INPUT_TORN)
            io_input_begin(&input, &facts);
        if (news != IO_INPUT_NOTHING) {
            check_picture(map, &hand, &input.picture);
            RT_CHECK(io_input_take(&input, &event) == IO_INPUT_NOTHING);
        }
    }
}

static void listen(const struct io_hand_spec *map, const uint8_t *bytes, size_t size)
{
    struct io_hand_picture picture;
    struct io_hand hand = {0};
    int32_t word[IO_SPACENAV_WORDS];
    io_hand_rest(&picture);
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(word, bytes, sizeof word);
        (void)io_spacenav_take(&picture, word);
        RT_CHECK(!io_spacenav_take(&picture, word));
        check_picture(map, &hand, &picture);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return 0;
    const struct io_hand_spec map = make_map(bytes[0]);
    struct io_hand hand = {0};
    struct io_hand_picture picture;
    live(&map, bytes + 1, size - 1);
    listen(&map, bytes + 1, size - 1);
    if (io_hand_decode(bytes + 1, size - 1, &picture)) {
        RT_CHECK(picture.version == (size - 1 == IO_HAND_SIZE ? 1 : 2));
        RT_CHECK(picture.version == 2 || picture.sent_us == 0);
        check_command(&map, &hand, &picture);
    }
    return 0;
}
