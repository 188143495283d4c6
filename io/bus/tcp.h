/*
 * TCP on IPv4, as server or as client, with one peer at a time and no delay of small frames.
 *
 *   server   the first to connect is the peer; others are accepted, closed and counted until the
 *            peer has gone; io_bus_newcomer_policy() can let them wait or replace it
 *   client   connects again after a loss, first at once, then after 50 ms, 100 ms ... 2 s
 *
 * The kernel keeps at most some 128 KiB that the peer has not read.  Beyond that a send returns
 * -EAGAIN, because old samples are worse than none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/bus/packet.h"
#include "io/bus/partial_send.h"
#include "io/bus/stable_fd.h"

struct io_tcp {
    int listener;         /* -1: client */
    bool listener_paused; /* server: nothing can be accepted now, so no thread sleeps on it */
    int attempt;          /* a connection attempt that is in progress; -1: none */
    struct io_stable_fd stable_fd; /* of the peer */
    struct io_address remote;
    uint64_t retry_ns, wait_ns; /* client: the time of the next attempt; the pause after it */
    uint64_t give_up_ns;        /* the end of the attempt; 0: no tick has seen it yet */
    bool stamps_sent;           /* the kernel can stamp sent bytes */
    bool awaits_stamp, has_stamp;
    uint32_t taken; /* bytes that the kernel accepted on this connection; they number the stamps */
    uint32_t stamp_key; /* the number of the newest stamped frame */
    uint64_t stamp_ns;
    struct io_partial_frame partial;
    unsigned char bytes[IO_DATAGRAM_MAX];
};
