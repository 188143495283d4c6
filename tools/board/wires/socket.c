#include "tools/board/wires/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_MAX = 128, PORT_MAX = 16 };

/* Split "host:port"; brackets around an IPv6 address are removed. */
static bool split_address(const char *address, char host[HOST_MAX], long *number)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || strlen(colon + 1) == 0)
        return false;

    size_t size = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']') {
        address++;
        size -= 2;
    }
    if (size == 0 || size >= HOST_MAX || strlen(colon + 1) >= PORT_MAX)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';

    char *end;
    *number = strtol(colon + 1, &end, 10);
    return *end == '\0' && *number > 0 && *number <= UINT16_MAX;
}

static struct addrinfo *look_up(const char *address, int offset, int type, char error[256])
{
    const struct addrinfo hint = {.ai_socktype = type};
    struct addrinfo *found = NULL;
    char host[HOST_MAX], port[PORT_MAX];
    long number;

    if (!split_address(address, host, &number) || number + offset <= 0 ||
        number + offset > UINT16_MAX) {
        snprintf(error, 256, "%.100s: an address is host:port, such as 127.0.0.1:14560", address);
        return NULL;
    }
    snprintf(port, sizeof port, "%ld", number + offset);
    const int failure = getaddrinfo(host, port, &hint, &found);
    if (failure != 0)
        snprintf(error, 256, "%s: %s", host, gai_strerror(failure));
    return failure == 0 ? found : NULL;
}

static int set_error(int fd, const char *what, char error[256])
{
    snprintf(error, 256, "%.150s: %s", what, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_to(const char *address, int offset, int type, char error[256])
{
    struct addrinfo *found = look_up(address, offset, type, error);
    if (found == NULL)
        return -1;
    const int fd = socket(found->ai_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const bool ok =
        fd >= 0 && (connect(fd, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS);
    freeaddrinfo(found);
    return ok ? fd : set_error(fd, address, error);
}

int board_socket_udp(const char *address, char error[256])
{
    return open_to(address, 0, SOCK_DGRAM, error);
}

int board_socket_tcp(const char *address, char error[256])
{
    const int fd = open_to(address, 0, SOCK_STREAM, error);
    const int yes = 1;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

/* Bind to the own address on the route to the simulator, so that a loopback test stays on loopback.
 */
static int bind_beside(const char *address, int offset, char error[256])
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    const int probe = open_to(address, offset, SOCK_DGRAM, error);
    if (probe < 0)
        return -1;
    struct addrinfo *found = look_up(address, offset, SOCK_DGRAM, error);
    bool ok = found != NULL && getsockname(probe, (struct sockaddr *)&own, &size) == 0;
    close(probe);
    if (!ok)
        return -1;

    /* The port is at the same offset in both address families. */
    memcpy((char *)&own + 2, (const char *)found->ai_addr + 2, 2);
    const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    freeaddrinfo(found);
    ok = fd >= 0 && bind(fd, (struct sockaddr *)&own, size) == 0;
    return ok ? fd : set_error(fd, address, error);
}

int board_socket_udp_beside(const char *address, int offset, bool bound, char error[256])
{
    return bound ? bind_beside(address, offset, error)
                 : open_to(address, offset, SOCK_DGRAM, error);
}
