#include "io/bus/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/bus/bus_ops.h"
#include "io/bus/kernel_timestamp.h"

enum {
    QUEUE = 8,         /* connections that may wait to be accepted or refused */
    ACCEPTS_MAX = 4,   /* per tick */
    SEND_SIZE = 65536, /* the kernel doubles it for its own bookkeeping */
};
static const uint64_t attempt_ns_max = 3000000000;

static int new_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* Make this connection the peer. */
static void attach_peer(struct io_bus *bus, int fd, struct io_address peer)
{
    struct io_tcp *tcp = &bus->tcp;
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_SNDBUF, SEND_SIZE);
    if (io_stable_fd_attach(&tcp->stable_fd, fd) < 0)
        return;
    tcp->stamps_sent = io_timestamp_enable(tcp->stable_fd.fd);
    tcp->awaits_stamp = tcp->has_stamp = false;
    tcp->taken = 0;
    tcp->partial.at = tcp->partial.size = 0;
    io_bus_peer_arrived(bus, peer);
}

/* The shutdown comes first, because a thread that sleeps on the descriptor keeps the socket open
 * after our close. */
static void drop(struct io_bus *bus)
{
    if (!bus->tcp.stable_fd.taken)
        return;
    (void)shutdown(bus->tcp.stable_fd.fd, SHUT_RDWR);
    io_stable_fd_detach(&bus->tcp.stable_fd);
    io_bus_peer_left(bus);
}

/* Server. */

static int listen_on(struct io_tcp *tcp, struct io_address listen_address)
{
    const struct sockaddr_in name = io_address_to_kernel(listen_address);
    tcp->listener = new_socket();
    if (tcp->listener < 0)
        return -errno;
    set_option(tcp->listener, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(tcp->listener, (const struct sockaddr *)&name, sizeof name) < 0 ||
        listen(tcp->listener, QUEUE) < 0)
        return -errno;
    return 0;
}

/* The peer has closed its end, but its last bytes may not have been read yet. */
static bool is_leaving(const struct io_tcp *tcp)
{
    struct pollfd watch = {.fd = tcp->stable_fd.fd, .events = POLLRDHUP};
    return poll(&watch, 1, 0) > 0 && watch.revents & (POLLRDHUP | POLLHUP);
}

/* A listener with a waiting connection stays readable, so no thread may sleep on it until it
 * accepts again. */
static void set_listener_paused(struct io_bus *bus, bool listener_paused)
{
    if (bus->tcp.listener_paused == listener_paused)
        return;
    bus->tcp.listener_paused = listener_paused;
    io_bus_watches_changed(bus);
}

/* A silent peer must not block the board, and a newcomer must not displace a board that is about to
 * send. */
static void attach_or_refuse(struct io_bus *bus, int fd, const struct sockaddr_in *name)
{
    const bool replaces = bus->tcp.stable_fd.taken && bus->newcomer_policy == IO_BUS_REPLACE_PEER;
    if (replaces) {
        drop(bus);
        bus->newcomer_policy = IO_BUS_DEFER_NEWCOMER;
    }
    if (bus->tcp.stable_fd.taken) {
        (void)close(fd);
        io_bus_count(&bus->tally.refused, 1);
    } else {
        attach_peer(bus, fd, io_address_from_kernel(name));
    }
}

/* A newcomer waits while the peer is leaving, because it may be the same program again. */
static void accept_some(struct io_bus *bus)
{
    struct io_tcp *tcp = &bus->tcp;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_in name = {.sin_family = AF_INET};
        socklen_t size = sizeof name;
        if (tcp->stable_fd.taken && is_leaving(tcp))
            return;
        if (tcp->stable_fd.taken && bus->newcomer_policy == IO_BUS_DEFER_NEWCOMER) {
            set_listener_paused(bus, true);
            return;
        }
        const int fd =
            accept4(tcp->listener, (struct sockaddr *)&name, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        const bool exhausted = fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
        if (exhausted && !tcp->listener_paused)
            io_bus_count(&bus->tally.errors, 1);
        set_listener_paused(bus, exhausted);
        if (fd < 0)
            return;
        attach_or_refuse(bus, fd, &name);
    }
}

/* Client. */

static void abandon_attempt(struct io_tcp *tcp)
{
    if (tcp->attempt >= 0)
        (void)close(tcp->attempt);
    tcp->attempt = -1;
    tcp->give_up_ns = 0;
}

static void begin_attempt(struct io_tcp *tcp)
{
    const struct sockaddr_in name = io_address_to_kernel(tcp->remote);
    tcp->attempt = new_socket();
    if (tcp->attempt < 0)
        return;
    if (connect(tcp->attempt, (const struct sockaddr *)&name, sizeof name) < 0 &&
        errno != EINPROGRESS)
        abandon_attempt(tcp);
}

/* On loopback the kernel may by chance give a client the very port to which it connects, if nothing
 * listens there.  The client is then connected to itself and receives its own bytes. */
static bool is_self(int fd, struct io_address remote)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    (void)getsockname(fd, (struct sockaddr *)&name, &size);
    return io_address_pack(io_address_from_kernel(&name)) == io_address_pack(remote);
}

/* True when the attempt has ended, successfully or not. */
static bool finish_attempt(struct io_bus *bus)
{
    struct io_tcp *tcp = &bus->tcp;
    struct pollfd watch = {.fd = tcp->attempt, .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    if (poll(&watch, 1, 0) <= 0)
        return false;
    (void)getsockopt(tcp->attempt, SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure || watch.revents & POLLERR || is_self(tcp->attempt, tcp->remote)) {
        abandon_attempt(tcp);
        return true;
    }
    const int fd = tcp->attempt;
    tcp->attempt = -1;
    tcp->give_up_ns = 0;
    attach_peer(bus, fd, tcp->remote);
    return true;
}

static void retry_connect(struct io_bus *bus, uint64_t now_ns)
{
    struct io_tcp *tcp = &bus->tcp;
    if (tcp->attempt >= 0 && !finish_attempt(bus)) {
        if (tcp->give_up_ns == 0)
            tcp->give_up_ns = now_ns + attempt_ns_max;
        if (now_ns >= tcp->give_up_ns)
            abandon_attempt(tcp);
    }
    if (tcp->stable_fd.taken || tcp->attempt >= 0 || now_ns < tcp->retry_ns)
        return;
    tcp->retry_ns = now_ns + io_bus_back_off(&tcp->wait_ns);
    begin_attempt(tcp);
}

/* Both. */

static int check_roles(struct io_bus *bus, char *error)
{
    const struct io_bus_spec *spec = &bus->spec;
    if (spec->listen[0] && spec->peer[0])
        return io_bus_error(bus, "peer", -EINVAL, error,
                            "a TCP link has `listen` (server) or `peer` (client), not both");
    if (!spec->listen[0] && !spec->peer[0])
        return io_bus_error(bus, "listen", -EINVAL, error,
                            "a TCP link needs `listen` (server) or `peer` (client), such as "
                            "127.0.0.1:4560");
    return 0;
}

static void close_all(struct io_bus *bus)
{
    struct io_tcp *tcp = &bus->tcp;
    if (tcp->stable_fd.taken)
        (void)shutdown(tcp->stable_fd.fd, SHUT_WR); /* what is queued is still sent */
    io_stable_fd_close(&tcp->stable_fd);
    abandon_attempt(tcp);
    if (tcp->listener >= 0)
        (void)close(tcp->listener);
    tcp->listener = -1;
}

static int open_server(struct io_bus *bus, char *error)
{
    struct io_address listen_address;
    int status = io_bus_parse_address(bus, "listen", bus->spec.listen, &listen_address, error);
    if (status < 0)
        return status;
    status = listen_on(&bus->tcp, listen_address);
    return status < 0 ? io_bus_bind_error(bus, listen_address, status, error) : 0;
}

static int open_client(struct io_bus *bus, char *error)
{
    struct io_tcp *tcp = &bus->tcp;
    const int status = io_bus_parse_address(bus, "peer", bus->spec.peer, &tcp->remote, error);
    if (status < 0)
        return status;
    if (tcp->remote.port == 0)
        return io_bus_error(bus, "peer", -EINVAL, error, "\"%s\" needs a port other than 0",
                            bus->spec.peer);
    begin_attempt(tcp);
    return 0;
}

static int open_tcp(struct io_bus *bus, char *error)
{
    struct io_tcp *tcp = &bus->tcp;
    tcp->listener = tcp->attempt = -1;
    int status = check_roles(bus, error);
    if (status < 0)
        return status;
    status = io_stable_fd_open(&tcp->stable_fd);
    if (status < 0)
        return io_bus_error(bus, "listen", status, error, "no file descriptor is left: %s",
                            strerror(-status));
    status = bus->spec.listen[0] ? open_server(bus, error) : open_client(bus, error);
    if (status < 0)
        close_all(bus);
    return status;
}

/* Until it is fetched, an entry on the error queue wakes every thread that sleeps on the
 * descriptor. */
static void fetch_stamp(struct io_tcp *tcp)
{
    if (!tcp->awaits_stamp ||
        !io_timestamp_fetch(tcp->stable_fd.fd, tcp->stamp_key, &tcp->stamp_ns))
        return;
    tcp->awaits_stamp = false;
    tcp->has_stamp = true;
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_tcp *tcp = &bus->tcp;
    _Alignas(struct cmsghdr) unsigned char control[IO_TIMESTAMP_CONTROL_SIZE];
    struct iovec part = {.iov_base = tcp->bytes, .iov_len = sizeof tcp->bytes};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    if (!tcp->stable_fd.taken)
        return 0;
    const ssize_t size = recvmsg(tcp->stable_fd.fd, &message, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        fetch_stamp(tcp);
        return 0;
    }
    if (size <= 0) {
        const int status = size == 0 ? -ECONNRESET : -errno;
        drop(bus);
        return status;
    }
    tcp->wait_ns = tcp->retry_ns =
        0; /* after a connection that worked, the next attempt is made at once */
    *packet = (struct io_packet){
        .bytes = tcp->bytes,
        .size = (size_t)size,
        .from = bus->peer,
        .stamp_ns = io_timestamp_read(&message),
        .whole = true,
    };
    return 1;
}

static ssize_t write_some(void *self, const void *bytes, size_t size)
{
    struct io_tcp *tcp = self;
    const ssize_t taken = send(tcp->stable_fd.fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (taken < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    tcp->taken += (uint32_t)taken;
    return taken;
}

/* The kernel numbers a stamp by the last byte of the call. */
static ssize_t write_stamped(void *self, const void *bytes, size_t size)
{
    struct io_tcp *tcp = self;
    _Alignas(struct cmsghdr) unsigned char control[IO_TIMESTAMP_CONTROL_SIZE];
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    io_timestamp_request(&message, control, sizeof control);
    const ssize_t taken = sendmsg(tcp->stable_fd.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (taken < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    tcp->taken += (uint32_t)taken;
    tcp->stamp_key = tcp->taken - 1;
    tcp->awaits_stamp = true;
    tcp->has_stamp = false;
    return taken;
}

static int send_frame(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                      bool stamped)
{
    struct io_tcp *tcp = &bus->tcp;
    (void)to;
    if (!tcp->stable_fd.taken)
        return -ENOTCONN;
    int status = io_partial_flush(&tcp->partial, write_some, tcp);
    if (status == 0)
        status =
            io_partial_send(&tcp->partial, stamped && tcp->stamps_sent ? write_stamped : write_some,
                            tcp, bytes, size);
    if (status < 0 && status != -EAGAIN && status != -EMSGSIZE)
        drop(bus);
    return status;
}

static bool has_tx_timestamp(const struct io_bus *bus)
{
    return bus->tcp.stamps_sent;
}

static bool tx_timestamp(struct io_bus *bus, uint64_t *stamp_ns)
{
    struct io_tcp *tcp = &bus->tcp;
    if (tcp->stable_fd.taken)
        fetch_stamp(tcp);
    const bool has = tcp->has_stamp;
    if (has)
        *stamp_ns = tcp->stamp_ns;
    tcp->has_stamp = false;
    return has;
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_tcp *tcp = &bus->tcp;
    if (tcp->listener >= 0)
        accept_some(bus);
    else
        retry_connect(bus, now_ns);
    if (!tcp->stable_fd.taken)
        return;
    const int status = io_partial_flush(&tcp->partial, write_some, tcp);
    if (status < 0 && status != -EAGAIN)
        drop(bus);
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    (void)to;
    (void)send(bus->tcp.stable_fd.fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    int count = 0;
    if (bus->tcp.listener >= 0 && !bus->tcp.listener_paused)
        watch[count++] = (struct io_bus_watch){.fd = bus->tcp.listener, .wants_tick = true};
    if (bus->tcp.stable_fd.taken)
        watch[count++] = (struct io_bus_watch){.fd = bus->tcp.stable_fd.fd};
    return count;
}

static size_t backlog(struct io_bus *bus)
{
    const struct io_tcp *tcp = &bus->tcp;
    int waiting = 0;
    if (!tcp->stable_fd.taken || ioctl(tcp->stable_fd.fd, SIOCOUTQ, &waiting) < 0 || waiting < 0)
        return 0;
    return (size_t)waiting + tcp->partial.size - tcp->partial.at;
}

static struct io_address local(const struct io_bus *bus)
{
    const int fd = bus->tcp.listener >= 0 ? bus->tcp.listener : bus->tcp.stable_fd.fd;
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0)
        return (struct io_address){0};
    return io_address_from_kernel(&name);
}

const struct io_bus_ops io_tcp_bus_ops = {
    .traits = {.stream = true, .detects_peer = true, .one_end = true, .keys = IO_BUS_KEYS_ENDS},
    .open = open_tcp,
    .close = close_all,
    .receive = receive,
    .send = send_frame,
    .send_emergency = send_emergency,
    .watches = watches,
    .tick = tick,
    .has_tx_timestamp = has_tx_timestamp,
    .tx_timestamp = tx_timestamp,
    .backlog = backlog,
    .local = local,
};
