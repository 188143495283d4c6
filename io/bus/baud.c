/*
 * Any baud rate: termios2 with BOTHER.  In a file of its own, because the kernel's header and
 * <termios.h> define the same names differently.
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <stdint.h>

#include "io/bus/serial.h"

/* Of the C library, whose <sys/ioctl.h> brings the other termios along. */
extern int ioctl(int fd, unsigned long request, ...);

static void make_raw(struct termios2 *line)
{
    line->c_iflag = IGNBRK;
    line->c_oflag = 0;
    line->c_lflag = 0;
    line->c_cflag = CS8 | CREAD | CLOCAL | BOTHER | BOTHER << IBSHIFT;
    line->c_cc[VMIN] = 1; /* so that a read of 0 bytes means: hung up */
    line->c_cc[VTIME] = 0;
}

/* A receiver samples the tenth bit of a frame rightly as long as both clocks are within 5 % of each
 * other: half of it is ours. */
static int is_off(uint32_t actual, uint32_t wanted)
{
    const uint64_t difference = actual > wanted ? actual - wanted : wanted - actual;
    return difference * 40 > wanted;
}

int io_baud_set(int fd, uint32_t baud, uint32_t *actual)
{
    struct termios2 line;
    if (ioctl(fd, TCGETS2, &line) < 0)
        return -errno;
    make_raw(&line);
    line.c_ispeed = line.c_ospeed = baud;
    if (ioctl(fd, TCSETS2, &line) < 0 || ioctl(fd, TCGETS2, &line) < 0)
        return -errno;
    *actual = line.c_ospeed;
    if (is_off(line.c_ospeed, baud) || is_off(line.c_ispeed, baud))
        return -ERANGE;
    (void)ioctl(fd, TCFLSH, (unsigned long)TCIOFLUSH); /* what came before us is nobody's */
    return 0;
}
