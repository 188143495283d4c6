#include "io/bus/cockpit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/bus/bus_ops.h"

enum { NOTICES_PER_RECEIVE = 16 };

void io_cockpit_send(int fd, const void *bytes, size_t size)
{
    (void)send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int connect_socket(const struct io_udp *from, const struct io_udp *to)
{
    const struct sockaddr_in name = io_address_to_kernel(io_udp_local(to));
    return connect(from->fd, (const struct sockaddr *)&name, sizeof name) < 0 ? -errno : 0;
}

/* Discard what another process sent before the sockets were connected. */
static void discard_received(struct io_udp *udp)
{
    struct io_packet packet;
    while (io_udp_receive(udp, &packet) > 0)
        continue;
}

static void close_cockpit(struct io_bus *bus)
{
    io_udp_close(&bus->cockpit.in);
    io_udp_close(&bus->cockpit.out);
}

static int open_cockpit(struct io_bus *bus, char *error)
{
    static const struct io_address loopback = {.ip = 0x7f000001};
    struct io_cockpit *cockpit = &bus->cockpit;
    cockpit->out.fd = -1;
    int status = io_udp_open(&cockpit->in, loopback);
    if (status == 0)
        status = io_udp_open(&cockpit->out, loopback);
    if (status == 0)
        status = connect_socket(&cockpit->in, &cockpit->out);
    if (status == 0)
        status = connect_socket(&cockpit->out, &cockpit->in);
    if (status < 0) {
        close_cockpit(bus);
        return io_bus_error(bus, "bus", status, error, "cannot open sockets on 127.0.0.1: %s",
                            strerror(-status));
    }
    discard_received(&cockpit->in);
    io_bus_peer_arrived(bus, io_address_far_end);
    return 0;
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    for (int i = 0; i < NOTICES_PER_RECEIVE; i++) {
        const int status = io_udp_receive(&bus->cockpit.in, packet);
        if (status <= 0)
            return status;
        if (packet->size > 0) {
            packet->from = io_address_far_end;
            return 1;
        }
        io_bus_count(&bus->tally.connects, 1);
    }
    return 0;
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->cockpit.in.fd};
    return 1;
}

int io_bus_cockpit_sender(const struct io_bus *bus)
{
    if (!bus->ops || bus->spec.kind != IO_BUS_COCKPIT)
        return -1;
    return fcntl(bus->cockpit.out.fd, F_DUPFD_CLOEXEC, 0);
}

const struct io_bus_ops io_cockpit_bus_ops = {
    .traits = {.makes_hands = true, .only_one = true},
    .open = open_cockpit,
    .close = close_cockpit,
    .receive = receive,
    .watches = watches,
};
