#include "io/bus/stable_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int io_stable_fd_open(struct io_stable_fd *stable_fd)
{
    *stable_fd = (struct io_stable_fd){.fd = -1, .empty = open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (stable_fd->empty >= 0)
        stable_fd->fd = fcntl(stable_fd->empty, F_DUPFD_CLOEXEC, 0);
    if (stable_fd->fd >= 0)
        return 0;
    const int status = -errno;
    io_stable_fd_close(stable_fd);
    return status;
}

void io_stable_fd_close(struct io_stable_fd *stable_fd)
{
    if (stable_fd->fd >= 0)
        (void)close(stable_fd->fd);
    if (stable_fd->empty >= 0)
        (void)close(stable_fd->empty);
    *stable_fd = (struct io_stable_fd){.fd = -1, .empty = -1};
}

int io_stable_fd_attach(struct io_stable_fd *stable_fd, int fd)
{
    const int status = dup3(fd, stable_fd->fd, O_CLOEXEC) < 0 ? -errno : 0;
    (void)close(fd);
    stable_fd->taken = status == 0;
    return status;
}

void io_stable_fd_detach(struct io_stable_fd *stable_fd)
{
    if (stable_fd->taken)
        (void)dup3(stable_fd->empty, stable_fd->fd, O_CLOEXEC);
    stable_fd->taken = false;
}
