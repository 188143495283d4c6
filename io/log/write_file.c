#include "io/log/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/log/durable_file.h"

static int write_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count = write(fd, (const unsigned char *)bytes + at, size - at);
        if (count == 0)
            return -EIO;
        if (count < 0 && errno != EINTR)
            return -errno;
        at += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

static int write_into(const char *path, int flags, mode_t mode, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | flags, mode);
    if (fd < 0)
        return -errno;
    int error = write_all(fd, bytes, size);
    if (error == 0)
        error = io_durable_sync_file(fd);
    if (close(fd) != 0 && error == 0)
        error = -errno;
    return error;
}

/* The old contents stay until all of the new ones are written. */
static int replace(const char *path, mode_t mode, const void *bytes, size_t size)
{
    char beside[PATH_MAX];
    const int length = snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof beside)
        return -ENAMETOOLONG;
    int error = write_into(beside, O_EXCL, mode & 0777, bytes, size);
    if (error == -EEXIST)
        return error; /* another process writes this file */
    if (error == 0 && rename(beside, path) != 0)
        error = -errno;
    if (error)
        (void)unlink(beside);
    return error;
}

int io_write_file(const char *path, const void *bytes, size_t size)
{
    struct stat status;
    const bool regular = lstat(path, &status) == 0 && S_ISREG(status.st_mode);
    int error = regular ? replace(path, status.st_mode, bytes, size) : -EACCES;
    /* A device, a link, or a folder that accepts no new file is written in place. */
    if (error == -EACCES || error == -EPERM || error == -EEXIST || error == -ENAMETOOLONG)
        error = write_into(path, O_TRUNC, 0666, bytes, size);
    return error ? error : io_durable_sync_folder(path);
}
