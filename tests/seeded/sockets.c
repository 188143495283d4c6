/*
 * Datagram sockets on a loopback of their own; those that the server tries its port with lead
 * nowhere.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

enum { SOCKET_MAX = 64, FD_FIRST = 1 << 21, QUEUE = 64, DATAGRAM_MAX = 2048 };

struct datagram {
    size_t size;
    unsigned char bytes[DATAGRAM_MAX];
};

struct port {
    in_port_t port, peer;
    struct datagram queue[QUEUE];
    unsigned first, count;
    int users;
};

static struct port *sockets[SOCKET_MAX];

static struct port **place(int fd)
{
    return fd >= FD_FIRST && fd < FD_FIRST + SOCKET_MAX && sockets[fd - FD_FIRST]
               ? &sockets[fd - FD_FIRST]
               : NULL;
}

static int give(struct port *port)
{
    for (int i = 0; i < SOCKET_MAX; i++) {
        if (sockets[i])
            continue;
        sockets[i] = port;
        port->users++;
        return FD_FIRST + i;
    }
    errno = EMFILE;
    return -1;
}

int __wrap_socket(int domain, int type, int protocol)
{
    static in_port_t next = 20000;
    (void)domain, (void)type, (void)protocol;
    struct port *port = seeded_allocate(sizeof *port);
    port->port = htons(next++);
    return give(port);
}

bool sockets_close(int fd)
{
    struct port **socket = place(fd);
    if (!socket)
        return false;
    *socket = NULL;
    return true;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    (void)fd, (void)address, (void)size;
    return 0;
}

int __wrap_listen(int fd, int backlog)
{
    (void)fd, (void)backlog;
    return 0;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    struct port **socket = place(fd);
    (void)size;
    if (socket)
        (*socket)->peer = ((const struct sockaddr_in *)(const void *)address)->sin_port;
    return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
    struct port **socket = place(fd);
    const struct sockaddr_in name = {.sin_family = AF_INET,
                                     .sin_port = socket ? (*socket)->port : 0,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    memcpy(address, &name, *size < sizeof name ? *size : sizeof name);
    *size = sizeof name;
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    (void)fd, (void)level, (void)name, (void)value, (void)size;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    (void)fd, (void)level, (void)name;
    memset(value, 0, *size);
    return 0;
}

int __wrap_fcntl64(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    const long argument = va_arg(list, long);
    va_end(list);
    struct port **socket = place(fd);
    if (!socket)
        return __real_fcntl64(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? give(*socket) : 0;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags)
{
    struct port **from = place(fd);
    (void)flags;
    seeded_point();
    for (int i = 0; from && i < SOCKET_MAX; i++) {
        struct port *to = sockets[i];
        if (!to || to->port != (*from)->peer || to->count == QUEUE || size > DATAGRAM_MAX)
            continue;
        struct datagram *last = &to->queue[(to->first + to->count++) % QUEUE];
        last->size = size;
        memcpy(last->bytes, bytes, size);
        break;
    }
    return (ssize_t)size;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    struct port **socket = place(fd);
    (void)flags;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    if (!socket || (*socket)->count == 0) {
        errno = EAGAIN;
        return -1;
    }
    struct port *port = *socket;
    const struct datagram *first = &port->queue[port->first];
    const size_t room = message->msg_iov[0].iov_len;
    const size_t size = first->size < room ? first->size : room;
    memcpy(message->msg_iov[0].iov_base, first->bytes, size);
    if (message->msg_name) {
        const struct sockaddr_in name = {.sin_family = AF_INET,
                                         .sin_port = port->peer,
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        memcpy(message->msg_name, &name, sizeof name);
        message->msg_namelen = sizeof name;
    }
    port->first = (port->first + 1) % QUEUE;
    port->count--;
    return (ssize_t)size;
}

int __wrap_shutdown(int fd, int how)
{
    (void)fd, (void)how;
    return 0;
}
