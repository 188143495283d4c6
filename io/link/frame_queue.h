/*
 * A bounded queue of whole frames between a board and its ground stations.
 *
 * A full queue drops its oldest frame, because the newest telemetry is worth most and a ground
 * station asks again for what it misses.  The queue belongs to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_QUEUED_FRAME_MAX = 280, IO_FRAME_QUEUE_MAX = 64 };

struct io_queued_frame {
    uint16_t size;
    unsigned char bytes[IO_QUEUED_FRAME_MAX];
};

/* A zeroed queue is empty. */
struct io_frame_queue {
    uint32_t first, count;
    struct io_queued_frame frame[IO_FRAME_QUEUE_MAX];
};

/* Returns the number of frames that were dropped for it: 0 or 1.  Context: frame. */
uint32_t io_frame_queue_push(struct io_frame_queue *queue, const void *bytes, size_t size);
/* The oldest frame, or NULL.  Valid until the next push or pop.  Context: frame. */
const struct io_queued_frame *io_frame_queue_front(const struct io_frame_queue *queue);
/* The queue must not be empty.  Context: frame. */
void io_frame_queue_pop(struct io_frame_queue *queue);
