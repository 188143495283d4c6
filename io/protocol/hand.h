/*
 * The hand controller protocol: one report of all axes and buttons whenever one of them changes.
 *
 *      0  "HAND"            4 bytes
 *      4  uint32 version    1, or 2 if the sender's time follows
 *      8  uint32 buttons    bit i: button i is down
 *     12  float axis[24]    -1 to 1, in the order of the kernel's ABS_ codes; 0 if there is none
 *    108  uint64 sent_us    version 2 only: the sender's own clock, of any epoch
 *
 * All numbers are little-endian, without padding.  Each report is complete, so a lost one is made
 * good by the next.  A report of version 2 that is up to IO_HAND_LATE_US older than the newest was
 * overtaken: it shows that the sender is alive, and the newest report stays in force.  If several
 * in a row are older, with increasing times, the sender's clock was set back, and they count.  The
 * buses evdev and spacenav make reports from the events of the kernel and of spacenavd; a hand
 * controller elsewhere can send reports by UDP, and a browser by the live server.
 *
 * A report becomes a command: the controls by the map of axes, and the buttons
 *
 *      flags     bits 0 to 31: the button is down; bits 32 to 63: flips with each press, so that a
 *                press is seen even if the button is released before the next frame.  A second
 *                press before the frame has latched the first does not flip the bit back, except
 *                for toggle buttons
 *      mode      the mode button that was pressed last, 0 at first
 *      board_us  sent_us, which is sent back with the motion that it caused; 0 in version 1
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
    IO_HAND_SIZE = 108, /* bytes on the wire */
    IO_HAND_SIZE_TIMED = 116,
    IO_HAND_AXIS_COUNT = 24,
    IO_HAND_BUTTON_COUNT = 32,
    IO_HAND_MODE_MAX = 8,
    IO_HAND_LATE_US = 1000000,
    IO_HAND_LATE_COUNT =
        3, /* late reports in a row with increasing times: the clock was set back */
};

struct __attribute__((packed, aligned(4))) io_hand_report {
    char magic[4];
    uint32_t version;
    uint32_t buttons;
    float axis[IO_HAND_AXIS_COUNT];
    uint64_t sent_us; /* 0 in version 1, which ends before this field */
};
_Static_assert(offsetof(struct io_hand_report, sent_us) == IO_HAND_SIZE &&
                   sizeof(struct io_hand_report) == IO_HAND_SIZE_TIMED,
               "the format is a contract");

/* Maps an axis of the report to a control of the command. */
struct io_hand_axis_map {
    int axis, control;
    struct io_stick_axis_spec shape;
};

struct io_hand_spec {
    int axis_map_count, mode_count;
    struct io_hand_axis_map axis_map[IO_CONTROL_MAX];
    int mode_button[IO_HAND_MODE_MAX]; /* pressing button mode_button[i] selects mode i */
    uint32_t once; /* idempotent buttons: two presses between two frames count as one */
};

/* The state that is kept from one report to the next. */
struct io_hand_decoder {
    bool has_report; /* a report has arrived */
    uint32_t presses, mode;
    struct io_hand_report newest;
    int late_count; /* overtaken reports in a row */
    uint64_t late_us;
    uint32_t unlatched;    /* flips of `once` that a frame may not have latched, */
    uint32_t newest_flips; /* those of them that are in the newest command, */
    uint32_t deferred;     /* presses that the newest command left out because of unlatched */
};

/* A report of version 1 with all axes at rest.  Context: any. */
void io_hand_report_neutral(struct io_hand_report *report);
/* False when the bytes are not a report, or a number in it is NaN or out of range.  Context:
 * frame. */
bool io_hand_decode(const void *bytes, size_t size, struct io_hand_report *report);
/* Writes board_us, flags, mode and controls of the command.  Context: frame. */
void io_hand_to_command(const struct io_hand_spec *spec, struct io_hand_decoder *hand,
                        const struct io_hand_report *report, struct io_command *command);
/* Call this after a command was published and the one before it had been latched.  True: the
 * published command lacked a press, which *command now has; publish it as well.  Context: frame. */
bool io_hand_apply_deferred(struct io_hand_decoder *hand, struct io_command *command);
/* Another device, or the same one after it was gone: buttons that are already down do not count
 * as presses.  Context: frame. */
void io_hand_new_peer(struct io_hand_decoder *hand);
