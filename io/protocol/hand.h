/*
 * What a hand controller says: one picture of all its axes and buttons, whenever one has moved.
 *
 *      0  "HAND"            4 bytes
 *      4  uint32 version    1, or 2 where the sender's time follows
 *      8  uint32 buttons    bit i: button i is down
 *     12  float axis[24]    -1 to 1, in the order of the kernel's ABS_ codes; 0 where there is none
 *    108  uint64 sent_us    version 2 only: the sender's own clock, of any epoch
 *
 * All numbers are little-endian, and nothing is between them.  Each picture is whole, so one that
 * is lost costs nothing but its moment.  One of version 2 that is up to IO_HAND_LATE_US older than
 * the newest was overtaken, and counts as the newest again: a sign of life.  Where several in a row
 * are so, each later than the one before, the sender's clock was set back, and they count.  The
 * buses evdev and spacenav make pictures of what the kernel and spacenavd tell; whoever has a hand
 * controller elsewhere may send them by UDP, and a browser by the live server.
 *
 * A picture becomes a command: controls by the map of axes, and the buttons
 *
 *      flags     bits 0 to 31: the button is down; bits 32 to 63: flips with each press, so that a
 *                press is seen even when the release came before the frame looked; one that comes
 *                before the frame has latched the last flips nothing back, but for buttons that
 *                work in turns
 *      mode      which of the mode buttons was pressed last, 0 at first
 *      board_us  sent_us, which comes back with the motion that it made; 0 in version 1
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"
#include "io/device/stick_axis.h"

#define IO_HAND_MAGIC "HAND"
enum {
    IO_HAND_VERSION = 1,
    IO_HAND_VERSION_TIMED = 2,
    IO_HAND_SIZE = 108, /* on the wire */
    IO_HAND_SIZE_TIMED = 116,
    IO_HAND_AXIS_COUNT = 24,
    IO_HAND_BUTTON_COUNT = 32,
    IO_HAND_MODE_MAX = 8,
    IO_HAND_LATE_US = 1000000,
    IO_HAND_LATE_COUNT = 3, /* late in a row, each later than the last: it is the clock */
};

struct __attribute__((packed, aligned(4))) io_hand_report {
    char magic[4];
    uint32_t version;
    uint32_t buttons;
    float axis[IO_HAND_AXIS_COUNT];
    uint64_t sent_us; /* 0 in version 1, which ends before it */
};
_Static_assert(offsetof(struct io_hand_report, sent_us) == IO_HAND_SIZE &&
                   sizeof(struct io_hand_report) == IO_HAND_SIZE_TIMED,
               "the format is a contract");

/* Axis of the picture to control of the command. */
struct io_hand_axis_map {
    int axis, control;
    struct io_stick_axis_spec shape;
};

struct io_hand_spec {
    int axis_map_count, mode_count;
    struct io_hand_axis_map axis_map[IO_CONTROL_MAX];
    int mode_button[IO_HAND_MODE_MAX]; /* pressing button mode_button[i] selects mode i */
    uint32_t once; /* buttons whose presses do the same each time: two that nobody saw are one */
};

/* What is remembered from one picture to the next. */
struct io_hand_decoder {
    bool has_report; /* there was a picture */
    uint32_t presses, mode;
    struct io_hand_report newest;
    int sim_delay_line_count; /* that were overtaken, in a row */
    uint64_t late_us;
    uint32_t unlatched;    /* flips of `once` that no frame may have latched, */
    uint32_t newest_flips; /* of those the ones of the newest command, */
    uint32_t deferred;     /* and presses that it left out because of the others */
};

/* At rest, version 1.  Context: any. */
void io_hand_report_neutral(struct io_hand_report *report);
/* False when this is no picture, or a number in it is none or out of range.  Context: frame. */
bool io_hand_decode(const void *bytes, size_t size, struct io_hand_report *report);
/* board_us, flags, mode and controls are written.  Context: frame. */
void io_hand_to_command(const struct io_hand_spec *spec, struct io_hand_decoder *hand,
                        const struct io_hand_report *report, struct io_command *command);
/* When the newest command was given out, the one before had been latched.  True: by that the newest
 * lacks a press, which command has now; it is to be given out as well.  Context: frame. */
bool io_hand_apply_deferred(struct io_hand_decoder *hand, struct io_command *command);
/* Another device, or the same after it was away: buttons that are down already are no presses.
 * Context: frame. */
void io_hand_new_peer(struct io_hand_decoder *hand);
