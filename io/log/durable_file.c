#include "io/log/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* The error of a file system or a device that has nothing to sync. */
static bool has_nothing(int error)
{
    return error == EINVAL || error == ENOTSUP || error == EROFS;
}

int io_durable_sync_file(int fd)
{
    int status;
    do {
        status = fsync(fd);
    } while (status != 0 && errno == EINTR);
    return status == 0 || has_nothing(errno) ? 0 : -errno;
}

int io_durable_sync_folder(const char *path)
{
    char folder[PATH_SIZE];
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof folder)
        return -ENAMETOOLONG;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    const int error = io_durable_sync_file(fd);
    (void)close(fd); /* nothing was written through it */
    return error;
}
