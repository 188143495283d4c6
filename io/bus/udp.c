#include "io/bus/udp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

enum { HOST_MAX = 256, PORT_DIGITS_MAX = 5, STAMP_READS_MAX = 16 };

static struct sockaddr_in to_kernel(struct io_address address)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(address.port),
        .sin_addr.s_addr = htonl(address.ip),
    };
}

static struct io_address from_kernel(const struct sockaddr_in *name)
{
    return (struct io_address){.ip = ntohl(name->sin_addr.s_addr), .port = ntohs(name->sin_port)};
}

static int parse_port(const char *text, uint16_t *port)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > PORT_DIGITS_MAX || text[digits] != '\0')
        return -EINVAL;
    const unsigned long value = strtoul(text, NULL, 10);
    if (value > UINT16_MAX)
        return -EINVAL;
    *port = (uint16_t)value;
    return 0;
}

static int resolve(const char *host, uint32_t *ip)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return -EINVAL;
    struct sockaddr_in name;
    memcpy(&name, found->ai_addr, sizeof name);
    freeaddrinfo(found);
    *ip = ntohl(name.sin_addr.s_addr);
    return 0;
}

int io_address_parse(const char *text, struct io_address *address)
{
    char host[HOST_MAX];
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof host)
        return -EINVAL;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    const int status = parse_port(colon + 1, &address->port);
    return status ? status : resolve(host, &address->ip);
}

/* Stamps of what comes in for every datagram, of what leaves only for those that ask: a stamp on
 * the error queue costs a system call to fetch.  Each gets a number (OPT_ID) and no copy of the
 * datagram (OPT_TSONLY).  Setting OPT_ID anew restarts the numbers at 0. */
static void ask_for_stamps(struct io_udp *udp)
{
    const unsigned none = 0;
    const unsigned flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
                           SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
    (void)setsockopt(udp->fd, SOL_SOCKET, SO_TIMESTAMPING, &none, sizeof none);
    udp->stamp_key = 0;
    udp->stamps_sent = setsockopt(udp->fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0;
    if (!udp->stamps_sent) {
        const int on = 1;
        (void)setsockopt(udp->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    }
}

/* The descriptor itself stays in blocking mode, because io_uring answers -EAGAIN at once on one
 * that is not; every call here says MSG_DONTWAIT instead. */
int io_udp_open(struct io_udp *udp, struct io_address listen)
{
    *udp = (struct io_udp){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (udp->fd < 0)
        return -errno;
    const struct sockaddr_in name = to_kernel(listen);
    if (bind(udp->fd, (const struct sockaddr *)&name, sizeof name) < 0) {
        const int status = -errno;
        io_udp_close(udp);
        return status;
    }
    ask_for_stamps(udp);
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
    return from_kernel(&name);
}

struct io_address io_udp_from(const struct msghdr *message)
{
    struct sockaddr_in name;
    if (message->msg_namelen < sizeof name)
        return (struct io_address){0};
    memcpy(&name, message->msg_name, sizeof name);
    return from_kernel(&name);
}

static uint64_t to_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* SCM_TIMESTAMPING holds three times of which the first is the software stamp; SCM_TIMESTAMPNS
 * holds one: the first timespec is the answer of both. */
uint64_t io_udp_stamp(const struct msghdr *message)
{
    struct msghdr *walk = (struct msghdr *)(uintptr_t)message; /* the macro wants it non-const */
    for (struct cmsghdr *c = CMSG_FIRSTHDR(walk); c; c = CMSG_NXTHDR(walk, c)) {
        if (c->cmsg_level == SOL_SOCKET &&
            (c->cmsg_type == SCM_TIMESTAMPING || c->cmsg_type == SCM_TIMESTAMPNS)) {
            struct timespec stamp;
            memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
            return to_ns(&stamp);
        }
    }
    return 0;
}

int io_udp_receive(struct io_udp *udp, struct io_packet *packet)
{
    struct sockaddr_in name;
    _Alignas(struct cmsghdr) unsigned char control[IO_UDP_CONTROL];
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
        .stamp_ns = io_udp_stamp(&message),
        .whole = !(message.msg_flags & MSG_TRUNC),
    };
    return 1;
}

static void request_stamp(struct msghdr *message, void *control, size_t size)
{
    const uint32_t flags = SOF_TIMESTAMPING_TX_SOFTWARE;
    memset(control, 0, size);
    message->msg_control = control;
    message->msg_controllen = CMSG_SPACE(sizeof flags);
    struct cmsghdr *c = CMSG_FIRSTHDR(message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SO_TIMESTAMPING;
    c->cmsg_len = CMSG_LEN(sizeof flags);
    memcpy(CMSG_DATA(c), &flags, sizeof flags);
}

int io_udp_send(struct io_udp *udp, struct io_address to, const void *bytes, size_t size,
                bool stamped)
{
    struct sockaddr_in name = to_kernel(to);
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
        request_stamp(&message, control, sizeof control);
    if (sendmsg(udp->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        udp->stamp_key += stamped;
        return 0;
    }
    const int status = -errno;
    if (stamped)
        ask_for_stamps(udp); /* whether the number was used up is not known: start anew */
    return status;
}

/* The stamp and the number of one entry of the error queue. */
static bool read_entry(const struct msghdr *message, uint32_t *key, uint64_t *stamp_ns)
{
    struct msghdr *walk = (struct msghdr *)(uintptr_t)message;
    *stamp_ns = io_udp_stamp(message);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(walk); c; c = CMSG_NXTHDR(walk, c)) {
        if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_RECVERR)
            continue;
        struct sock_extended_err entry;
        memcpy(&entry, CMSG_DATA(c), sizeof entry);
        *key = entry.ee_data;
        return entry.ee_origin == SO_EE_ORIGIN_TIMESTAMPING && *stamp_ns != 0;
    }
    return false;
}

bool io_udp_sent(struct io_udp *udp, uint64_t *stamp_ns)
{
    /* Entries of older datagrams are thrown away on the way to the newest. */
    for (int i = 0; i < STAMP_READS_MAX; i++) {
        _Alignas(struct cmsghdr) unsigned char control[2 * IO_UDP_CONTROL];
        struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
        uint32_t key;
        if (recvmsg(udp->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return false;
        if (read_entry(&message, &key, stamp_ns) && key == udp->stamp_key - 1)
            return true;
    }
    return false;
}

void io_udp_shout(int fd, struct io_address to, const void *bytes, size_t size)
{
    const int saved = errno; /* the interrupted code may be looking at it */
    const struct sockaddr_in name = to_kernel(to);
    (void)sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&name,
                 sizeof name);
    errno = saved;
}
