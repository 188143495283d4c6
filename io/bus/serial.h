/*
 * A serial line: raw, 8 data bits, no parity, one stop bit, no flow control, any baud rate.
 *
 * The device is opened exclusively (TIOCEXCL, and a lock that also holds against root).  Low
 * latency is set where the driver supports it.  When the device vanishes (an unplugged USB
 * adapter), its path is tried again every 50 ms to 2 s; the rest of the run is not affected.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/bus/packet.h"
#include "io/bus/partial_send.h"
#include "io/bus/stable_fd.h"

struct io_serial {
    struct io_stable_fd stable_fd;
    bool low_latency; /* the driver has accepted the mode */
    uint64_t retry_ns, wait_ns;
    struct io_partial_frame partial;
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* Set raw mode at this rate, in both directions.  0, -errno, or -ERANGE with the rate that the
 * driver would use instead, when that is more than 2.5 % off.  Context: frame. */
int io_baud_set(int fd, uint32_t baud, uint32_t *actual);
