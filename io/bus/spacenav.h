/*
 * A SpaceMouse by way of spacenavd, whose socket tells of moves and buttons.
 *
 *      device   the daemon's socket; /var/run/spnav.sock where the scenario has none
 *
 * A packet is a picture (io/protocol/hand.h): axes x, y, z, rx, ry, rz, of which 350 counts are the
 * full way, as the device has them at the daemon's usual sensitivity; buttons 0 to 31.  The daemon
 * gives no times, so a move is stamped when it is read.  It sends nothing at rest: the daemon being
 * there is the sign of life.  That a SpaceMouse was pulled out of a daemon that stays it does not
 * tell; who needs that takes the bus evdev, where the kernel does.
 *
 * The language is the daemon's first, which every version speaks unasked: eight int32 a message,
 * {0, x, y, z, rx, ry, rz, ms since the last}, {1, button} down, {2, button} up.  No libspnav: it
 * keeps one connection for the whole process and allocates while it reads.
 */
#pragma once

#include <stdint.h>

#include "io/bus/news.h"
#include "io/bus/seat.h"
#include "io/protocol/hand.h"

#define IO_SPACENAV_SOCKET "/var/run/spnav.sock"
enum { IO_SPACENAV_WORDS = 8, IO_SPACENAV_FULL = 350 };

/* One message; true when the picture is another than before.  Any other message changes nothing.
 * Context: frame. */
bool io_spacenav_take(struct io_hand_picture *picture, const int32_t word[IO_SPACENAV_WORDS]);

struct io_spacenav {
    struct io_seat seat;
    struct io_news news;
    uint64_t retry_ns, wait_ns;
    struct io_hand_picture picture, out;
    size_t have; /* bytes of the message that is being read */
    int32_t word[IO_SPACENAV_WORDS];
};
