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

enum { IO_EVDEV_NAME_MAX = 80, IO_EVDEV_KEY_COUNT = 0x300 };

struct io_evdev_axis {
    int32_t min, max, value;
};

/* What a device is, and how it stands now. */
struct io_evdev_info {
    char name[IO_EVDEV_NAME_MAX];
    uint32_t axes; /* bit i: it has ABS_ axis i */
    struct io_evdev_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char keys[IO_EVDEV_KEY_COUNT / 8]; /* bit i: it has key i */
    unsigned char down[IO_EVDEV_KEY_COUNT / 8];
};

struct io_evdev_decoder {
    struct io_hand_report report;
    uint32_t axes;
    struct io_evdev_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char button[IO_EVDEV_KEY_COUNT]; /* number of the button, from 1; 0: none */
    bool changed;                             /* since the last picture was handed out */
    bool dropped;                             /* events were thrown away */
};

enum io_evdev_result {
    IO_EVDEV_INCOMPLETE,
    IO_EVDEV_REPORT,  /* the picture is whole and new */
    IO_EVDEV_DROPPED, /* the kernel threw events away: ask for the facts, and begin again */
};

/* Context: frame. */
void io_evdev_decoder_reset(struct io_evdev_decoder *input, const struct io_evdev_info *facts);
enum io_evdev_result io_evdev_decode(struct io_evdev_decoder *input,
                                     const struct input_event *event);
