/* This file is separate from socket.c, because the kernel's terminal header, which allows any baud
 * rate, and libc's cannot be included in one file. */
#include "tools/board/wires/socket.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int board_socket_serial(const char *path, unsigned baud, char error[256])
{
    struct termios2 line;
    const int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool ok = fd >= 0 && ioctl(fd, TCGETS2, &line) == 0;
    if (ok) {
        line.c_iflag = 0;
        line.c_oflag = 0;
        line.c_lflag = 0;
        line.c_cflag = CS8 | CREAD | CLOCAL | BOTHER;
        line.c_cc[VMIN] = 1; /* an empty line gives EAGAIN and not an end of file */
        line.c_cc[VTIME] = 0;
        line.c_ispeed = line.c_ospeed = baud;
        ok = ioctl(fd, TCSETS2, &line) == 0;
    }
    if (!ok) {
        snprintf(error, 256, "%.150s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return ok ? fd : -1;
}
