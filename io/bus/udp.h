/*
 * A UDP socket on IPv4 that never blocks and has the kernel stamps of its packets.
 *
 * The kernel stamps every received datagram, and sent ones on request.  The stamps are on
 * CLOCK_REALTIME; 0: the kernel gave none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "io/bus/kernel_timestamp.h"
#include "io/bus/packet.h"

struct io_udp {
    int fd;             /* -1: closed */
    bool stamps_sent;   /* the kernel can stamp sent datagrams */
    uint32_t stamp_key; /* the number of the next datagram that asks for a stamp */
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* Bind to the address (port 0: any free one).  0 or -errno.  Context: setup. */
int io_udp_open(struct io_udp *udp, struct io_address listen);
void io_udp_close(struct io_udp *udp);
/* The address that was bound.  Context: any. */
struct io_address io_udp_local(const struct io_udp *udp);

/* 1 with the next datagram in packet, 0 when there is none, -errno.  Context: frame. */
int io_udp_receive(struct io_udp *udp, struct io_packet *packet);
/* 0 or -errno; stamped asks for a stamp, to be fetched with io_udp_tx_timestamp().  Context: frame.
 */
int io_udp_send(struct io_udp *udp, struct io_address to, const void *bytes, size_t size,
                bool stamped);
/* True with the stamp of the newest stamped datagram, once, when it has come.  Context: frame. */
bool io_udp_tx_timestamp(struct io_udp *udp, uint64_t *stamp_ns);

/* The sender in a message header.  Context: frame. */
struct io_address io_udp_from(const struct msghdr *message);

/* Send a datagram without reading or writing any state, for signal handlers.  Context: any. */
void io_udp_send_emergency(int fd, struct io_address to, const void *bytes, size_t size);
