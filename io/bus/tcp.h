/*
 * TCP on IPv4, as server or as client, with one peer at a time and no delay of small frames.
 *
 *   server   the first to connect has the place; others are accepted, closed and counted, until the
 *            first has gone, or was silent for long (io_bus_newcomer_policy)
 *   client   connects again after a loss, at first at once, then after 50 ms, 100 ms ... 2 s
 *
 * The kernel keeps at most some 128 KiB that the peer has not taken: beyond that a send answers
 * -EAGAIN, because old samples are worth less than none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/bus/packet.h"
#include "io/bus/partial_send.h"
#include "io/bus/stable_fd.h"

struct io_tcp {
    int listener;                  /* -1: client */
    bool listener_paused;          /* server: no descriptor left to accept with */
    int attempt;                   /* a connect under way; -1: none */
    struct io_stable_fd stable_fd; /* of the one peer */
    struct io_address remote;
    uint64_t retry_ns, wait_ns; /* client: when to connect next; how long to wait after that */
    uint64_t give_up_ns;        /* of the attempt; 0: not yet seen by a tick */
    bool stamps_sent;           /* the kernel can stamp what leaves */
    bool awaits_stamp, has_stamp;
    uint32_t taken;     /* bytes the kernel took from this connection on: the numbers of stamps */
    uint32_t stamp_key; /* the number of the newest stamped frame */
    uint64_t stamp_ns;
    struct io_partial_frame partial;
    unsigned char bytes[IO_DATAGRAM_MAX];
};
