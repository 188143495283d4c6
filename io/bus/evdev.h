/*
 * Joysticks, gamepads and hand controllers: the kernel's event devices.
 *
 *      device   /dev/input/event7, /dev/input/by-id/...-event-joystick, or "name:Logitech Extreme
 *               3D", which finds it wherever it was plugged in
 *
 * A packet is a picture (io/protocol/hand.h) with the kernel's own stamp, on CLOCK_MONOTONIC; the
 * first is made of how the device stands when it is opened, so that a hand at rest is heard, too.
 * After events were lost (SYN_DROPPED) the picture is made anew from what the kernel says.
 *
 * A hand that rests sends nothing.  The device being there is its sign of life; when it is
 * unplugged it is lost at once, and looked for every 50 ms to 2 s.  Under a path only a device of
 * the same name is taken: event7 may be somebody else's mouse by then.  The kernel lets nobody
 * close an event device without waiting for readers in other places: an unplugging costs the thread
 * of the bus some milliseconds, once.
 *
 * No libevdev: it allocates when a device is opened, and a device comes back in the middle of a
 * run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/bus/evdev_decode.h"
#include "io/bus/packet.h"
#include "io/bus/pending_event.h"
#include "io/bus/stable_fd.h"

/* At most as many as the reactor takes at a time, or a picture would wait here unseen. */
enum { IO_EVDEV_EVENTS = 16, IO_EVDEV_EVENT_SIZE = 24 };

/* Where devices are and how they are asked; NULL in a spec stands for this machine. */
struct io_evdev_host {
    const char *names;   /* a folder with eventN/device/name: /sys/class/input */
    const char *devices; /* /dev/input */
    int (*query)(int fd, struct io_evdev_info *facts); /* 0 or -errno */
};

struct io_evdev {
    const struct io_evdev_host *host;
    struct io_stable_fd stable_fd;
    struct io_pending_event pending_event; /* a picture that the device did not send */
    char name[IO_EVDEV_NAME_MAX];          /* of the first one opened */
    uint64_t retry_ns, wait_ns;
    struct io_evdev_decoder input;
    struct io_hand_report out;
    int at, count;
    _Alignas(8) unsigned char events[IO_EVDEV_EVENTS * IO_EVDEV_EVENT_SIZE];
};
