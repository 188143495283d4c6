/*
 * Hands at the cockpit page: the live server passes their pictures on (io/protocol/hand.h).
 *
 * Two UDP sockets on 127.0.0.1, connected to each other, so that no other process can put a word in
 * between them, and the kernel stamps what crosses.  The server has the sending end, the link the
 * receiving one.  Nobody sees whether a hand is there: the page repeats its picture, and silence is
 * its loss.
 *
 * A datagram without bytes is no picture: it says that those behind it are another hand's.
 */
#pragma once

#include <stddef.h>

#include "io/bus/udp.h"

struct io_cockpit {
    struct io_udp in;
    struct io_udp out;
};

/* On a descriptor of io_bus_cockpit_sender(): one picture, or with size 0 the news of another hand.
 * What the kernel does not take is lost, as a picture may be.  Context: any. */
void io_cockpit_send(int fd, const void *bytes, size_t size);
