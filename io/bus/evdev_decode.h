/*
 * The kernel's input events, one by one, to pictures of a hand controller (io/protocol/hand.h).
 *
 * Pure: no descriptor and no clock.  Axes are spread from their range to -1 to 1.  Buttons are
 * numbered as `jstest` numbers them: from BTN_JOYSTICK upwards, then BTN_MISC.  Whatever is
 * neither, and axes and buttons that the device did not announce, are passed over.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/protocol/hand.h"

struct input_event;

enum { IO_INPUT_NAME_MAX = 80, IO_INPUT_KEY_COUNT = 0x300 };

struct io_input_axis {
    int32_t min, max, value;
};

/* What a device is, and how it stands now. */
struct io_input_facts {
    char name[IO_INPUT_NAME_MAX];
    uint32_t axes; /* bit i: it has ABS_ axis i */
    struct io_input_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char keys[IO_INPUT_KEY_COUNT / 8]; /* bit i: it has key i */
    unsigned char down[IO_INPUT_KEY_COUNT / 8];
};

struct io_input {
    struct io_hand_picture picture;
    uint32_t axes;
    struct io_input_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char button[IO_INPUT_KEY_COUNT]; /* number of the button, from 1; 0: none */
    bool changed;                             /* since the last picture was handed out */
    bool torn;                                /* events were thrown away */
};

enum io_input_news {
    IO_INPUT_NOTHING,
    IO_INPUT_PICTURE, /* the picture is whole and new */
    IO_INPUT_TORN,    /* the kernel threw events away: ask for the facts, and begin again */
};

/* Context: frame. */
void io_input_begin(struct io_input *input, const struct io_input_facts *facts);
enum io_input_news io_input_take(struct io_input *input, const struct input_event *event);
