/*
 * Kernel stamps of what crosses a socket, on CLOCK_REALTIME.
 *
 * What comes in is stamped always, what leaves only where it asks: a stamp on the error queue
 * costs a system call to fetch.  Each of those has a number and comes without a copy of the bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { IO_TIMESTAMP_CONTROL_SIZE = 128 };

/* Ask for stamps, and restart the numbers at 0.  True when the kernel can stamp what leaves, too.
 * Context: frame. */
bool io_timestamp_enable(int fd);
/* The stamp of a received message; 0: none.  Context: frame. */
uint64_t io_timestamp_read(const struct msghdr *message);
/* Let the message about to be sent ask for its stamp.  control is aligned for and as long as one
 * cmsghdr with 4 bytes: IO_TIMESTAMP_CONTROL_SIZE is enough.  Context: frame. */
void io_timestamp_request(struct msghdr *message, void *control, size_t size);
/* The stamp with this number, if the error queue has it; older ones are thrown away on the way.
 * Context: frame. */
bool io_timestamp_fetch(int fd, uint32_t key, uint64_t *stamp_ns);
