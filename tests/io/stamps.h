/*
 * The kernel stamps packets while a socket on the machine asks for it, and begins some time after
 * the first request, so the first packets may have no stamp.  After hold_stamps() every packet has
 * one, until the process ends.
 */
#pragma once

#include <poll.h>

#include "io/bus/udp.h"

/* False: no packet got a stamp.  Call before the first test. */
static inline bool hold_stamps(void)
{
    static struct io_udp self; /* stays open, so that stamps stay enabled */
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
