#include "io/bus/pending_event.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int io_news_open(struct io_news *news)
{
    *news = (struct io_news){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    return news->fd < 0 ? -errno : 0;
}

void io_news_close(struct io_news *news)
{
    if (news->fd >= 0)
        (void)close(news->fd);
    *news = (struct io_news){.fd = -1};
}

void io_news_tell(struct io_news *news)
{
    const uint64_t one = 1;
    const ssize_t written = write(news->fd, &one, sizeof one);
    (void)written; /* it fails only when the counter is full */
    news->is = true;
}

bool io_news_take(struct io_news *news)
{
    uint64_t count;
    if (!news->is)
        return false;
    const ssize_t got = read(news->fd, &count, sizeof count);
    (void)got;
    news->is = false;
    return true;
}
