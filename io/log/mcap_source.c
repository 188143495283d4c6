#include "io/log/mcap_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/guarded_mapping.h"

static const char *map_file(struct io_mcap_source *source, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    if (status.st_size == 0)
        return "the file is empty";
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return strerror(errno);
    source->file = (struct io_slice){.data = bytes, .size = (size_t)status.st_size};
    source->mapped = true;
    (void)rt_guarded_mapping_add(bytes, (size_t)status.st_size, &source->gone);
    return NULL;
}

const char *io_mcap_source_open(struct io_mcap_source *source, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    if (fd < 0)
        return strerror(errno);
    const char *wrong = map_file(source, fd);
    close(fd);
    return wrong;
}

void io_mcap_source_close(struct io_mcap_source *source)
{
    if (!source->mapped)
        return;
    rt_guarded_mapping_remove(source->file.data);
    munmap((void *)(uintptr_t)source->file.data, source->file.size);
    source->mapped = false;
}
