/*
 * Keeps the rest of a frame of which the kernel accepted only a part.  The rest leaves before any
 * other frame, so that the far end never sees two frames mixed.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "io/bus/packet.h"

struct io_partial_frame {
    size_t at, size; /* at == size: nothing left */
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* The number of bytes accepted, 1 to size, or -errno; -EAGAIN: none. */
typedef ssize_t io_partial_write(void *self, const void *bytes, size_t size);

/* Send the rest: 0 when nothing is left, else -EAGAIN or -errno.  Context: frame. */
int io_partial_flush(struct io_partial_frame *partial, io_partial_write *write, void *self);
/* Send a frame behind the rest of the last one.  0: the frame is out or its rest is kept; -EAGAIN:
 * nothing of it was sent.  Context: frame. */
int io_partial_send(struct io_partial_frame *partial, io_partial_write *write, void *self,
                    const void *bytes, size_t size);
