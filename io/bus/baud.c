/*
 * Any baud rate: termios2 with BOTHER.  In a file of its own, because the kernel's header and
 * <termios.h> define the same names differently.
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <stdint.h>

#include "io/bus/serial.h"

/* Declared here because <sys/ioctl.h> of the C library includes the other termios. */
extern int ioctl(int fd, unsigned long request, ...);

static void make_raw(struct termios2 *line)
{
    line->c_iflag = IGNBRK;
    line->c_oflag = 0;
    line->c_lflag = 0;
    line->c_cflag = CS8 | CREAD | CLOCAL | BOTHER | BOTHER << IBSHIFT;
    line->c_cc[VMIN] = 1; /* so that a read of 0 bytes means a hang-up */
    line->c_cc[VTIME] = 0;
}

/* A receiver samples the tenth bit of a frame correctly while both clocks agree within 5 %; half of
 * that is allowed here. */
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
    /* discard bytes received before the line was configured */
    (void)ioctl(fd, TCFLSH, (unsigned long)TCIOFLUSH);
    return 0;
}
