#include "io/bus/pending_event.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int io_pending_event_open(struct io_pending_event *pending_event)
{
    *pending_event = (struct io_pending_event){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    return pending_event->fd < 0 ? -errno : 0;
}

void io_pending_event_close(struct io_pending_event *pending_event)
{
    if (pending_event->fd >= 0)
        (void)close(pending_event->fd);
    *pending_event = (struct io_pending_event){.fd = -1};
}

void io_pending_event_set(struct io_pending_event *pending_event)
{
    const uint64_t one = 1;
    const ssize_t written = write(pending_event->fd, &one, sizeof one);
    (void)written; /* it fails only when the counter is full */
    pending_event->pending = true;
}

bool io_pending_event_consume(struct io_pending_event *pending_event)
{
    uint64_t count;
    if (!pending_event->pending)
        return false;
    const ssize_t got = read(pending_event->fd, &count, sizeof count);
    (void)got;
    pending_event->pending = false;
    return true;
}
