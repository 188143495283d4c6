/*
 * The hand controller of the cockpit page: the live server passes its reports to the link
 * (io/protocol/hand.h).
 *
 * The bus is two UDP sockets on 127.0.0.1 that are connected to each other, so that no other
 * process can send to them, and the kernel stamps the datagrams.  The server has the sending end,
 * the link the receiving one.  The bus cannot detect whether the page is there: the page repeats
 * its report, and the link is lost when no report comes.
 *
 * A datagram without bytes is not a report: it announces that the next reports are those of another
 * viewer.
 */
#pragma once

#include <stddef.h>

#include "io/bus/udp.h"

struct io_cockpit {
    struct io_udp in;
    struct io_udp out;
};

/* Send one report on a descriptor of io_bus_cockpit_sender(), or with size 0 the announcement of
 * another viewer.  A datagram that the kernel does not accept is lost, as any report may be.
 * Context: any. */
void io_cockpit_send(int fd, const void *bytes, size_t size);
