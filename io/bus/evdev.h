/*
 * Joysticks, gamepads and hand controllers, as event devices of the kernel.
 *
 *      device   /dev/input/event7, /dev/input/by-id/...-event-joystick, or "name:Logitech Extreme
 *               3D", which finds the device at any port
 *
 * A packet is a report (io/protocol/hand.h) with the stamp of the kernel, on CLOCK_MONOTONIC.  The
 * first report has the state of the device when it is opened, so that a controller at rest is
 * received as well.  After events were lost (SYN_DROPPED) the report is made anew from the state
 * that the kernel returns.
 *
 * A controller at rest sends nothing; it counts as present while its device exists.  When the
 * device is unplugged it is lost at once, and searched for every 50 ms to 2 s.  A path only accepts
 * a device of the same name as before, because event7 may be another device by then.  The kernel
 * closes an event device only after its other readers have left: an unplugging costs the thread of
 * the bus some milliseconds, once.
 *
 * libevdev is not used: it allocates when a device is opened, and a device may come back in the
 * middle of a run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/bus/evdev_decode.h"
#include "io/bus/packet.h"
#include "io/bus/pending_event.h"
#include "io/bus/stable_fd.h"

/* At most as many as the reactor receives at a time, or a report would wait here unnoticed. */
enum { IO_EVDEV_EVENTS = 16, IO_EVDEV_EVENT_SIZE = 24 };

/* Where the devices are and how their state is queried; NULL in a spec stands for this machine. */
struct io_evdev_host {
    const char *names;   /* a folder with eventN/device/name: /sys/class/input */
    const char *devices; /* /dev/input */
    int (*query)(int fd, struct io_evdev_info *facts); /* 0 or -errno */
};

struct io_evdev {
    const struct io_evdev_host *host;
    struct io_stable_fd stable_fd;
    struct io_pending_event pending_event; /* a report that the device did not send */
    char name[IO_EVDEV_NAME_MAX];          /* of the first device opened */
    uint64_t retry_ns, wait_ns;
    struct io_evdev_decoder input;
    struct io_hand_report out;
    int at, count;
    _Alignas(8) unsigned char events[IO_EVDEV_EVENTS * IO_EVDEV_EVENT_SIZE];
};
