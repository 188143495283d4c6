#include "io/bus/stable_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int io_seat_open(struct io_seat *seat)
{
    *seat = (struct io_seat){.fd = -1, .empty = open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (seat->empty >= 0)
        seat->fd = fcntl(seat->empty, F_DUPFD_CLOEXEC, 0);
    if (seat->fd >= 0)
        return 0;
    const int status = -errno;
    io_seat_close(seat);
    return status;
}

void io_seat_close(struct io_seat *seat)
{
    if (seat->fd >= 0)
        (void)close(seat->fd);
    if (seat->empty >= 0)
        (void)close(seat->empty);
    *seat = (struct io_seat){.fd = -1, .empty = -1};
}

int io_seat_take(struct io_seat *seat, int fd)
{
    const int status = dup3(fd, seat->fd, O_CLOEXEC) < 0 ? -errno : 0;
    (void)close(fd);
    seat->taken = status == 0;
    return status;
}

void io_seat_leave(struct io_seat *seat)
{
    if (seat->taken)
        (void)dup3(seat->empty, seat->fd, O_CLOEXEC);
    seat->taken = false;
}
