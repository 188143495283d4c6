#include "rt/machine/cpu_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

int rt_cpu_latency_hold(void)
{
    const int32_t latency_us = 0;
    const int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (write(fd, &latency_us, sizeof latency_us) == (ssize_t)sizeof latency_us)
        return fd;
    close(fd);
    return -EIO;
}
