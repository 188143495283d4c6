#include "io/bus/udp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/bus/bus_ops.h"

static void enable_timestamps(struct io_udp *udp)
{
    udp->stamp_key = 0;
    udp->stamps_sent = io_timestamp_enable(udp->fd);
}

/* The descriptor stays in blocking mode, because io_uring returns -EAGAIN at once on one that is
 * not; every call here uses MSG_DONTWAIT instead. */
int io_udp_open(struct io_udp *udp, struct io_address listen)
{
    *udp = (struct io_udp){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (udp->fd < 0)
        return -errno;
    const struct sockaddr_in name = io_address_to_kernel(listen);
    if (bind(udp->fd, (const struct sockaddr *)&name, sizeof name) < 0) {
        const int status = -errno;
        io_udp_close(udp);
        return status;
    }
    enable_timestamps(udp);
    return 0;
}

void io_udp_close(struct io_udp *udp)
{
    if (udp->fd >= 0)
        (void)close(udp->fd);
    udp->fd = -1;
}

struct io_address io_udp_local(const struct io_udp *udp)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    (void)getsockname(udp->fd, (struct sockaddr *)&name, &size);
    return io_address_from_kernel(&name);
}

struct io_address io_udp_from(const struct msghdr *message)
{
    struct sockaddr_in name;
    if (message->msg_namelen < sizeof name)
        return (struct io_address){0};
    memcpy(&name, message->msg_name, sizeof name);
    return io_address_from_kernel(&name);
}

int io_udp_receive(struct io_udp *udp, struct io_packet *packet)
{
    struct sockaddr_in name;
    _Alignas(struct cmsghdr) unsigned char control[IO_TIMESTAMP_CONTROL_SIZE];
    struct iovec part = {.iov_base = udp->bytes, .iov_len = sizeof udp->bytes};
    struct msghdr message = {
        .msg_name = &name,
        .msg_namelen = sizeof name,
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    const ssize_t size = recvmsg(udp->fd, &message, MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    *packet = (struct io_packet){
        .bytes = udp->bytes,
        .size = (size_t)size,
        .from = io_udp_from(&message),
        .stamp_ns = io_timestamp_read(&message),
        .whole = !(message.msg_flags & MSG_TRUNC),
    };
    return 1;
}

int io_udp_send(struct io_udp *udp, struct io_address to, const void *bytes, size_t size,
                bool stamped)
{
    struct sockaddr_in name = io_address_to_kernel(to);
    _Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(uint32_t))];
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {
        .msg_name = &name,
        .msg_namelen = sizeof name,
        .msg_iov = &part,
        .msg_iovlen = 1,
    };
    stamped = stamped && udp->stamps_sent;
    if (stamped)
        io_timestamp_request(&message, control, sizeof control);
    if (sendmsg(udp->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        udp->stamp_key += stamped;
        return 0;
    }
    const int status = -errno;
    if (stamped)
        enable_timestamps(udp); /* whether the number was used is not known: restart the numbers */
    return status;
}

bool io_udp_tx_timestamp(struct io_udp *udp, uint64_t *stamp_ns)
{
    return io_timestamp_fetch(udp->fd, udp->stamp_key - 1, stamp_ns);
}

void io_udp_send_emergency(int fd, struct io_address to, const void *bytes, size_t size)
{
    const int saved = errno; /* the interrupted code may be about to read it */
    const struct sockaddr_in name = io_address_to_kernel(to);
    (void)sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&name,
                 sizeof name);
    errno = saved;
}

/* The bus. */

static int open_udp(struct io_bus *bus, char *error)
{
    const struct io_bus_spec *spec = &bus->spec;
    struct io_address listen = {0}, peer = {0};
    int status = 0;
    bus->udp.fd = -1;
    if (spec->listen[0] || !spec->peer[0])
        status = io_bus_parse_address(bus, "listen", spec->listen, &listen, error);
    if (status == 0 && spec->peer[0])
        status = io_bus_parse_address(bus, "peer", spec->peer, &peer, error);
    if (status < 0)
        return status;
    if (spec->peer[0] && peer.port == 0)
        return io_bus_error(bus, "peer", -EINVAL, error, "\"%s\" needs a port other than 0",
                            spec->peer);
    status = io_udp_open(&bus->udp, listen);
    if (status < 0)
        return io_bus_bind_error(bus, listen, status, error);
    bus->peer = peer;
    atomic_store(&bus->connected, true);
    return 0;
}

static void close_udp(struct io_bus *bus)
{
    io_udp_close(&bus->udp);
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    return io_udp_receive(&bus->udp, packet);
}

static int send_datagram(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                         bool stamped)
{
    if (to.port == 0)
        return -ENOTCONN;
    return io_udp_send(&bus->udp, to, bytes, size, stamped);
}

static bool has_tx_timestamp(const struct io_bus *bus)
{
    return bus->udp.stamps_sent;
}

static bool tx_timestamp(struct io_bus *bus, uint64_t *stamp_ns)
{
    return io_udp_tx_timestamp(&bus->udp, stamp_ns);
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    io_udp_send_emergency(bus->udp.fd, to, bytes, size);
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->udp.fd};
    return 1;
}

static size_t backlog(struct io_bus *bus)
{
    int waiting = 0;
    return ioctl(bus->udp.fd, SIOCOUTQ, &waiting) == 0 && waiting > 0 ? (size_t)waiting : 0;
}

static struct io_address local(const struct io_bus *bus)
{
    return io_udp_local(&bus->udp);
}

const struct io_bus_ops io_udp_bus_ops = {
    .traits = {.addressed = true,
               .datagrams = true,
               .carries_hands = true,
               .keys = IO_BUS_KEYS_ENDS},
    .open = open_udp,
    .close = close_udp,
    .receive = receive,
    .send = send_datagram,
    .has_tx_timestamp = has_tx_timestamp,
    .tx_timestamp = tx_timestamp,
    .send_emergency = send_emergency,
    .watches = watches,
    .backlog = backlog,
    .local = local,
};
