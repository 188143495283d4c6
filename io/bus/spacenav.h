/*
 * A SpaceMouse, read from the socket of the daemon spacenavd.
 *
 *      device   the socket of the daemon; /var/run/spnav.sock where the scenario names none
 *
 * A packet is a report (io/protocol/hand.h): buttons 0 to 31, and axes x, y, z, rx, ry, rz as the
 * daemon sends them.  They differ from the axes X to RZ of the kernel, which point to the right,
 * towards the person and down.  With its default configuration the daemon sends
 *
 *      x = X    to the right          rx = RX    tilted back, towards the person
 *      y = -Z   upwards               ry = -RZ   twisted to the left, seen from above
 *      z = -Y   away from the person  rz = -RY   tilted to the right
 *
 * and sends 0 for a single count.  350 counts are the full deflection.  Axes that the kernel calls
 * relative, as those of a SpaceNavigator, SpaceMouse Compact or Pro, have that many.  The daemon
 * scales absolute axes to 500, so that they reach the full deflection at 70 % of their range,
 * unless `sensitivity = 0.7` is in /etc/spnavrc.
 *
 * The daemon sends no times, so a move is stamped when it is read.  The controller counts as
 * present while the daemon is connected.  The daemon does not report that the controller was
 * released: the kernel drops the zero of a relative axis, so the last report shows a deflection on
 * the way back.  Nor does it report that the device was unplugged.  A deflection that is held,
 * however, is repeated some sixty times a second, so half a second without a move means a
 * controller at rest.  Absolute axes that are held quite still are not repeated either:
 * `repeat-interval = 250` in /etc/spnavrc repeats them.  It must not be set with relative axes,
 * which would then never come to rest.
 *
 * The protocol is the first one of the daemon, which every version sends by default: eight int32
 * per message, {0, x, y, z, rx, ry, rz, ms since the last}, {1, button} down, {2, button} up.
 * libspnav is not used: it keeps one connection for the whole process, and to open it, which after
 * a restart of the daemon happens in the middle of a run, it allocates, reads a file and waits for
 * up to 0.3 s.
 */
#pragma once

#include <stdint.h>

#include "io/bus/pending_event.h"
#include "io/bus/stable_fd.h"
#include "io/protocol/hand.h"

#define IO_SPACENAV_SOCKET "/var/run/spnav.sock"
enum { IO_SPACENAV_WORDS = 8, IO_SPACENAV_FULL = 350, IO_SPACENAV_QUIET_NS = 500000000 };

/* Decode one message into the report; true when the report has changed.  An unknown message changes
 * nothing.  Context: frame. */
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
