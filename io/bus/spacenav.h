/*
 * A SpaceMouse by way of spacenavd, whose socket tells of moves and buttons.
 *
 *      device   the daemon's socket; /var/run/spnav.sock where the scenario has none
 *
 * A packet is a picture (io/protocol/hand.h): buttons 0 to 31, and axes x, y, z, rx, ry, rz as the
 * daemon has them.  They are not the kernel's, X to RZ, which go to the right, towards the person
 * and down: unless its configuration says otherwise the daemon has
 *
 *      x = X    to the right          rx = RX    tilted back, towards the person
 *      y = -Z   upwards               ry = -RZ   twisted to the left, seen from above
 *      z = -Y   away from the person  rz = -RY   tilted to the right
 *
 * and makes 0 of a single count.  350 counts are the full way.  Axes that the kernel calls
 * relative, as those of a SpaceNavigator, SpaceMouse Compact or Pro, have just so many.  Of
 * absolute axes the daemon makes 500, so that they are at their full way at 70 % of it, unless
 * `sensitivity = 0.7` is in /etc/spnavrc.
 *
 * The daemon gives no times, so a move is stamped when it is read.  It being there is the sign of
 * life, and its end the loss of the hand.  What it does not tell is that the hand let go: the
 * kernel drops the zero of a relative axis, so that the last that is heard is how it stood on its
 * way back.  Nor does it tell that the device was pulled out.  But what is held is told again and
 * again, some sixty times a second, so half a second without a move is a hand at rest.  Absolute
 * axes that are held quite still are silent, too: who needs that puts `repeat-interval = 250` into
 * /etc/spnavrc.  With relative axes that must not be there: they would never be let go.
 *
 * The language is the daemon's first, which every version speaks unasked: eight int32 a message,
 * {0, x, y, z, rx, ry, rz, ms since the last}, {1, button} down, {2, button} up.  No libspnav: it
 * keeps one connection for the whole process, and to open it, which after a restart of the daemon
 * is in the middle of a run, it allocates, reads a file and waits for up to 0.3 s.
 */
#pragma once

#include <stdint.h>

#include "io/bus/pending_event.h"
#include "io/bus/stable_fd.h"
#include "io/protocol/hand.h"

#define IO_SPACENAV_SOCKET "/var/run/spnav.sock"
enum { IO_SPACENAV_WORDS = 8, IO_SPACENAV_FULL = 350, IO_SPACENAV_QUIET_NS = 500000000 };

/* One message; true when the picture is another than before.  Any other message changes nothing.
 * Context: frame. */
bool io_spacenav_decode(struct io_hand_report *report, const int32_t word[IO_SPACENAV_WORDS]);

struct io_spacenav {
    struct io_stable_fd stable_fd;
    struct io_pending_event pending_event;
    uint64_t retry_ns, wait_ns;
    uint64_t ticked_ns, quiet_ns; /* since the last move */
    struct io_hand_report report, out;
    size_t have; /* bytes of the message that is being read */
    int32_t word[IO_SPACENAV_WORDS];
};
