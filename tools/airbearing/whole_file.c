#include "tools/airbearing/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/folder.h"

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

int whole_file_write(const char *path, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    int error = write_all(fd, bytes, size);
    if (error == 0)
        error = io_file_sync(fd);
    if (close(fd) != 0 && error == 0)
        error = -errno;
    return error ? error : io_folder_sync(path);
}
