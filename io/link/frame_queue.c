#include "io/link/frame_queue.h"

#include <string.h>

#include "rt/check.h"

uint32_t io_relay_push(struct io_relay *relay, const void *bytes, size_t size)
{
    RT_CHECK(size <= IO_RELAY_FRAME_MAX);
    const bool full = relay->count == IO_RELAY_COUNT_MAX;
    if (full)
        io_relay_pop(relay);
    struct io_relay_frame *frame =
        &relay->frame[(relay->first + relay->count) % IO_RELAY_COUNT_MAX];
    frame->size = (uint16_t)size;
    memcpy(frame->bytes, bytes, size);
    relay->count++;
    return full;
}

const struct io_relay_frame *io_relay_front(const struct io_relay *relay)
{
    return relay->count > 0 ? &relay->frame[relay->first] : NULL;
}

void io_relay_pop(struct io_relay *relay)
{
    RT_CHECK(relay->count > 0);
    relay->first = (relay->first + 1) % IO_RELAY_COUNT_MAX;
    relay->count--;
}
