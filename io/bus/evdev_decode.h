/*
 * Decodes input events of the kernel, one by one, to reports of a hand controller
 * (io/protocol/hand.h).
 *
 * Pure: no descriptor and no clock.  Axes are scaled from their range to -1 to 1.  Buttons are
 * numbered as `jstest` numbers them: from BTN_JOYSTICK upwards, then BTN_MISC.  Other events, and
 * axes and buttons that the device did not announce, are ignored.
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

/* What a device has, and its state now. */
struct io_evdev_info {
    char name[IO_EVDEV_NAME_MAX];
    uint32_t axes; /* bit i: the device has ABS_ axis i */
    struct io_evdev_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char keys[IO_EVDEV_KEY_COUNT / 8]; /* bit i: the device has key i */
    unsigned char down[IO_EVDEV_KEY_COUNT / 8];
};

struct io_evdev_decoder {
    struct io_hand_report report;
    uint32_t axes;
    struct io_evdev_axis axis[IO_HAND_AXIS_COUNT];
    unsigned char button[IO_EVDEV_KEY_COUNT]; /* number of the button, from 1; 0: none */
    bool changed;                             /* since the last report was handed out */
    bool dropped;                             /* the kernel has dropped events */
};

enum io_evdev_result {
    IO_EVDEV_INCOMPLETE,
    IO_EVDEV_REPORT,  /* the report is complete and new */
    IO_EVDEV_DROPPED, /* the kernel dropped events: query the state, and reset the decoder */
};

/* Context: frame. */
void io_evdev_decoder_reset(struct io_evdev_decoder *input, const struct io_evdev_info *facts);
enum io_evdev_result io_evdev_decode(struct io_evdev_decoder *input,
                                     const struct input_event *event);
