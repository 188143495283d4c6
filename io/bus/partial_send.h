/*
 * The rest of a frame of which the kernel took only a part.  It leaves before anything else does,
 * so that the far end never sees two frames mixed.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "io/bus/packet.h"

struct io_partial_frame {
    size_t at, size; /* at == size: nothing left */
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* Bytes taken, 1 to size, or -errno; -EAGAIN: none. */
typedef ssize_t io_partial_write(void *self, const void *bytes, size_t size);

/* 0 when nothing is left, else -EAGAIN or -errno.  Context: frame. */
int io_partial_flush(struct io_partial_frame *partial, io_partial_write *write, void *self);
/* 0: the frame is out or its rest is kept; -EAGAIN: nothing of it left.  Context: frame. */
int io_partial_send(struct io_partial_frame *partial, io_partial_write *write, void *self,
                    const void *bytes, size_t size);
