#include "io/link/frame_queue.h"

#include <string.h>

#include "rt/check.h"

uint32_t io_frame_queue_push(struct io_frame_queue *queue, const void *bytes, size_t size)
{
    RT_CHECK(size <= IO_QUEUED_FRAME_MAX);
    const bool full = queue->count == IO_FRAME_QUEUE_MAX;
    if (full)
        io_frame_queue_pop(queue);
    struct io_queued_frame *frame =
        &queue->frame[(queue->first + queue->count) % IO_FRAME_QUEUE_MAX];
    frame->size = (uint16_t)size;
    memcpy(frame->bytes, bytes, size);
    queue->count++;
    return full;
}

const struct io_queued_frame *io_frame_queue_front(const struct io_frame_queue *queue)
{
    return queue->count > 0 ? &queue->frame[queue->first] : NULL;
}

void io_frame_queue_pop(struct io_frame_queue *queue)
{
    RT_CHECK(queue->count > 0);
    queue->first = (queue->first + 1) % IO_FRAME_QUEUE_MAX;
    queue->count--;
}
