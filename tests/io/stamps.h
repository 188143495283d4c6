/*
 * The kernel stamps packets while somebody on the machine asks for it, and begins when one of its
 * workers had time to, not when it is asked to: the first packets may have no stamp.  From here to
 * the end of the process each has one.
 */
#pragma once

#include <poll.h>

#include "io/bus/udp.h"

/* False: it never stamped.  Call before the first test. */
static inline bool hold_stamps(void)
{
    static struct io_udp self; /* stays open, so that somebody asks */
    struct io_packet packet = {0};
    if (io_udp_open(&self, (struct io_address){.ip = 0x7f000001}) < 0)
        return false;
    for (int i = 0; i < 5000 && packet.stamp_ns == 0; i++) {
        struct pollfd watch = {.fd = self.fd, .events = POLLIN};
        (void)io_udp_send(&self, io_udp_local(&self), "tick", 4, false);
        (void)poll(&watch, 1, 1000);
        if (io_udp_receive(&self, &packet) > 0 && packet.stamp_ns == 0)
            (void)poll(NULL, 0, 1);
    }
    return packet.stamp_ns != 0;
}
