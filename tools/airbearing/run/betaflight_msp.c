#include "tools/airbearing/run/betaflight_msp.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/bus/address.h"

enum {
    MSP_VERSION = 3,
    MSP_BELOW_MOTION = 9003 - 5761,
    CALENDAR_SINCE = 25, /* 2025.12 and later send the year since 2000 */
    WAIT_MS = 250,
    ANSWER_MAX = 64
};

bool betaflight_read_version(const unsigned char *bytes, int size,
                             struct betaflight_version *version)
{
    enum { HEAD = 5, NUMBERS = 3 };
    *version = (struct betaflight_version){0};
    if (size < HEAD + NUMBERS + 1 || memcmp(bytes, "$M>", 3) != 0 || bytes[4] != MSP_VERSION)
        return false;
    const int length = bytes[3];
    if (length < NUMBERS || size < HEAD + length + 1)
        return false;
    unsigned char sum = 0;
    for (int i = 3; i < HEAD + length; i++)
        sum ^= bytes[i];
    if (sum != bytes[HEAD + length])
        return false;
    for (int i = 0; i < NUMBERS; i++)
        version->number[i] = bytes[HEAD + i];
    if (version->number[0] >= CALENDAR_SINCE)
        version->number[0] += 2000;
    return true;
}

enum io_betaflight_variant betaflight_variant_of(const struct betaflight_version *version)
{
    return version->number[0] >= 2026 ? IO_BETAFLIGHT_2026_6 : IO_BETAFLIGHT_4_5;
}

bool betaflight_gate_opens(struct betaflight_gate *gate, enum betaflight_state stand,
                           uint64_t now_ns)
{
    static const uint64_t boot_ns = 3000000000;
    if (stand == BETAFLIGHT_NO_PORT)
        gate->bound_since_ns = 0;
    else if (gate->bound_since_ns == 0)
        gate->bound_since_ns = now_ns;
    return stand == BETAFLIGHT_BOOTED ||
           (stand == BETAFLIGHT_BOOTING && now_ns - gate->bound_since_ns >= boot_ns);
}

static struct sockaddr_in to_socket(struct io_address address, int port)
{
    address.port = (uint16_t)port;
    return io_address_to_kernel(address);
}

/* Probe the port with a datagram of one byte, which Betaflight ignores: an unbound port of this
 * machine refuses it at once. */
static bool is_bound(struct io_address motion)
{
    const struct sockaddr_in to = to_socket(motion, motion.port);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool bound = false;
    if (fd < 0)
        return false;
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 && send(fd, "", 1, 0) == 1) {
        struct pollfd watch = {.fd = fd};
        bound = poll(&watch, 1, WAIT_MS / 5) == 0; /* an error wakes it */
    }
    close(fd);
    return bound;
}

static bool wait_for(int fd, short what)
{
    struct pollfd watch = {.fd = fd, .events = what};
    return poll(&watch, 1, WAIT_MS) == 1 && (watch.revents & what);
}

static bool exchange(int fd, const struct sockaddr_in *to, struct betaflight_version *version)
{
    static const unsigned char question[] = {'$', 'M', '<', 0, MSP_VERSION, MSP_VERSION};
    unsigned char answer[ANSWER_MAX];
    int size = 0;
    const bool begun = connect(fd, (const struct sockaddr *)to, sizeof *to) == 0;
    if ((!begun && errno != EINPROGRESS) || !wait_for(fd, POLLOUT) ||
        send(fd, question, sizeof question, MSG_NOSIGNAL) != sizeof question)
        return false;
    while (size < ANSWER_MAX && wait_for(fd, POLLIN)) {
        const ssize_t got = recv(fd, answer + size, (size_t)(ANSWER_MAX - size), 0);
        if (got <= 0)
            return false;
        size += (int)got;
        if (betaflight_read_version(answer, size, version))
            return true;
    }
    return false;
}

enum betaflight_state betaflight_query(const char *motion, struct betaflight_version *version)
{
    struct io_address address;
    *version = (struct betaflight_version){0};
    if (io_address_parse(motion, &address) < 0)
        return BETAFLIGHT_NO_PORT;
    if (address.port > MSP_BELOW_MOTION) {
        const struct sockaddr_in to = to_socket(address, address.port - MSP_BELOW_MOTION);
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const bool told = fd >= 0 && exchange(fd, &to, version);
        if (fd >= 0)
            close(fd);
        if (told)
            return BETAFLIGHT_BOOTED;
    }
    return is_bound(address) ? BETAFLIGHT_BOOTING : BETAFLIGHT_NO_PORT;
}
