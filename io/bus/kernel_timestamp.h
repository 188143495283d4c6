/*
 * Kernel stamps of packets that cross a socket, on CLOCK_REALTIME.
 *
 * A received packet is always stamped, a sent one only on request, because a stamp on the error
 * queue costs a system call to fetch.  Each stamp of a sent packet has a number and comes without a
 * copy of the bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { IO_TIMESTAMP_CONTROL_SIZE = 128 };

/* Enable stamps, and restart the numbers at 0.  True when the kernel can stamp sent packets as
 * well.  Context: frame. */
bool io_timestamp_enable(int fd);
/* The stamp of a received message; 0: none.  Context: frame. */
uint64_t io_timestamp_read(const struct msghdr *message);
/* Make the message that is about to be sent request its stamp.  control is aligned for a cmsghdr
 * and has room for one with 4 bytes: IO_TIMESTAMP_CONTROL_SIZE is enough.  Context: frame. */
void io_timestamp_request(struct msghdr *message, void *control, size_t size);
/* True with the stamp of this number, if the error queue has it; older stamps are discarded.
 * Context: frame. */
bool io_timestamp_fetch(int fd, uint32_t key, uint64_t *stamp_ns);
