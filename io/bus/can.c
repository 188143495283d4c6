#include "io/bus/can.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"
#include "io/bus/kernel_timestamp.h"

size_t io_can_frame_size(size_t left, bool fd_frames)
{
    static const unsigned char sizes[] = {64, 48, 32, 24, 20, 16, 12};
    for (size_t i = 0; fd_frames && i < sizeof sizes; i++)
        if (left >= sizes[i])
            return sizes[i];
    return left < CAN_MAX_DLEN ? left : CAN_MAX_DLEN;
}

/* A classic frame has the layout of the beginning of an FD frame. */
int io_can_read(int fd, unsigned char bytes[64], struct io_packet *packet)
{
    struct canfd_frame frame = {0};
    _Alignas(struct cmsghdr) unsigned char control[IO_TIMESTAMP_CONTROL_SIZE];
    struct iovec part = {.iov_base = &frame, .iov_len = sizeof frame};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    const ssize_t size = recvmsg(fd, &message, MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    const size_t most = size == CANFD_MTU ? CANFD_MAX_DLEN : CAN_MAX_DLEN;
    if ((size != CAN_MTU && size != CANFD_MTU) || frame.len > most ||
        frame.can_id & (CAN_RTR_FLAG | CAN_ERR_FLAG))
        return -EBADMSG;
    memcpy(bytes, frame.data, frame.len);
    *packet = (struct io_packet){
        .bytes = bytes,
        .size = frame.len,
        .from = io_address_far_end,
        .stamp_ns = io_timestamp_read(&message),
        .whole = true,
    };
    return 1;
}

static int write_frame(int fd, uint32_t id, bool fd_frames, const unsigned char *bytes, size_t size)
{
    struct canfd_frame frame = {
        .can_id = id,
        .len = (unsigned char)size,
        .flags = fd_frames ? CANFD_BRS : 0, /* the data bytes at the faster rate */
    };
    memcpy(frame.data, bytes, size);
    const size_t whole = fd_frames ? CANFD_MTU : CAN_MTU;
    if (send(fd, &frame, whole, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 0;
    return errno == ENOBUFS || errno == EINTR ? -EAGAIN : -errno;
}

int io_can_write(int fd, uint32_t id, bool fd_frames, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const size_t next = io_can_frame_size(size - done, fd_frames);
        const int status =
            write_frame(fd, id, fd_frames, (const unsigned char *)bytes + done, next);
        if (status < 0)
            return done ? (int)done : status;
        done += next;
    }
    return (int)done;
}

static uint32_t kernel_id(uint32_t id)
{
    return id > CAN_SFF_MASK ? id | CAN_EFF_FLAG : id;
}

static bool can_carry_fd(int fd, const char *device)
{
    struct ifreq request = {0};
    memcpy(request.ifr_name, device, strnlen(device, sizeof request.ifr_name - 1));
    return ioctl(fd, SIOCGIFMTU, &request) == 0 && request.ifr_mtu == CANFD_MTU;
}

/* 0, -ENODEV (no such interface), -EOPNOTSUPP (the interface has no CAN FD), or -errno. */
static int attach(int fd, const struct io_bus_spec *spec)
{
    const int on = 1;
    const struct can_filter filter = {
        .can_id = kernel_id(spec->can_id_rx),
        .can_mask = CAN_EFF_FLAG | CAN_RTR_FLAG | CAN_EFF_MASK,
    };
    struct sockaddr_can name = {.can_family = AF_CAN};
    name.can_ifindex = (int)if_nametoindex(spec->device);
    if (name.can_ifindex == 0)
        return -ENODEV;
    if (spec->fd && (!can_carry_fd(fd, spec->device) ||
                     setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) < 0))
        return -EOPNOTSUPP;
    (void)setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, &filter, sizeof filter);
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return bind(fd, (const struct sockaddr *)&name, sizeof name) < 0 ? -errno : 0;
}

static int open_socket(struct io_bus *bus)
{
    const int fd = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);
    if (fd < 0)
        return -errno;
    int status = attach(fd, &bus->spec);
    if (status < 0) {
        (void)close(fd);
        return status;
    }
    bus->can.partial.at = bus->can.partial.size = 0;
    status = io_stable_fd_attach(&bus->can.stable_fd, fd);
    if (status == 0)
        io_bus_peer_arrived(bus, io_address_far_end);
    return status;
}

static int open_error(struct io_bus *bus, int status, char *error)
{
    const char *device = bus->spec.device;
    if (status == -EAFNOSUPPORT || status == -EPROTONOSUPPORT)
        return io_bus_error(bus, "device", status, error,
                            "this kernel has no CAN (AF_CAN); load its modules with `sudo modprobe "
                            "can_raw`, or use a kernel that has them");
    if (status == -ENODEV)
        return io_bus_error(bus, "device", status, error,
                            "there is no CAN interface %s; `ip -br link` lists the interfaces",
                            device);
    if (status == -EOPNOTSUPP)
        return io_bus_error(bus, "fd", status, error,
                            "%s is not set up for CAN FD; `sudo ip link set %s mtu 72` and a data "
                            "bit rate enable it, if the adapter supports it",
                            device, device);
    return io_bus_error(bus, "device", status, error, "cannot use %s: %s", device,
                        strerror(-status));
}

static int check_spec(struct io_bus *bus, char *error)
{
    const struct io_bus_spec *spec = &bus->spec;
    const bool tx = spec->can_id_tx > CAN_EFF_MASK;
    if (tx || spec->can_id_rx > CAN_EFF_MASK)
        return io_bus_error(bus, tx ? "can_id_tx" : "can_id_rx", -EINVAL, error,
                            "a CAN identifier has 29 bits: at most 0x1fffffff");
    if (spec->can_id_tx == spec->can_id_rx)
        return io_bus_error(bus, "can_id_rx", -EINVAL, error,
                            "both directions have the identifier 0x%x; give each its own",
                            spec->can_id_rx);
    if (spec->device[0] == '\0')
        return io_bus_error(bus, "device", -EINVAL, error,
                            "a CAN link needs an interface such as can0");
    return 0;
}

static int open_can(struct io_bus *bus, char *error)
{
    struct io_can *can = &bus->can;
    int status = check_spec(bus, error);
    if (status < 0)
        return status;
    can->id_tx = kernel_id(bus->spec.can_id_tx);
    can->fd_frames = bus->spec.fd;
    status = io_stable_fd_open(&can->stable_fd);
    if (status == 0)
        status = open_socket(bus);
    if (status < 0) {
        io_stable_fd_close(&can->stable_fd);
        return open_error(bus, status, error);
    }
    return 0;
}

static void close_can(struct io_bus *bus)
{
    io_stable_fd_close(&bus->can.stable_fd);
}

/* An interface that is down comes back under the same socket; one that was removed does not. */
static void detach_if_gone(struct io_bus *bus, int status)
{
    if (status != -ENODEV && status != -ENXIO)
        return;
    io_stable_fd_detach(&bus->can.stable_fd);
    io_bus_peer_left(bus);
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    if (!bus->can.stable_fd.taken)
        return 0;
    const int status = io_can_read(bus->can.stable_fd.fd, bus->can.bytes, packet);
    detach_if_gone(bus, status);
    return status;
}

static ssize_t write_some(void *self, const void *bytes, size_t size)
{
    const struct io_can *can = self;
    return io_can_write(can->stable_fd.fd, can->id_tx, can->fd_frames, bytes, size);
}

static int send_frame(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                      bool stamped)
{
    struct io_can *can = &bus->can;
    (void)to;
    (void)stamped;
    if (!can->stable_fd.taken)
        return -ENOTCONN;
    const int status = io_partial_send(&can->partial, write_some, can, bytes, size);
    detach_if_gone(bus, status);
    return status;
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_can *can = &bus->can;
    if (can->stable_fd.taken) {
        can->wait_ns = can->retry_ns = 0;
        detach_if_gone(bus, io_partial_flush(&can->partial, write_some, can));
    } else if (now_ns >= can->retry_ns) {
        can->retry_ns = now_ns + io_bus_back_off(&can->wait_ns);
        (void)open_socket(bus);
    }
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    (void)to;
    (void)io_can_write(bus->can.stable_fd.fd, bus->can.id_tx, bus->can.fd_frames, bytes, size);
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->can.stable_fd.fd};
    return bus->can.stable_fd.taken;
}

static size_t backlog(struct io_bus *bus)
{
    const struct io_can *can = &bus->can;
    int waiting = 0;
    if (!can->stable_fd.taken || ioctl(can->stable_fd.fd, TIOCOUTQ, &waiting) < 0 || waiting < 0)
        return 0;
    return (size_t)waiting + can->partial.size - can->partial.at;
}

const struct io_bus_ops io_can_bus_ops = {
    .traits = {.stream = true,
               .detects_peer = true,
               .keys = IO_BUS_KEYS_DEVICE | IO_BUS_KEYS_CAN,
               .example_device = "can0"},
    .open = open_can,
    .close = close_can,
    .receive = receive,
    .send = send_frame,
    .send_emergency = send_emergency,
    .watches = watches,
    .tick = tick,
    .backlog = backlog,
};
