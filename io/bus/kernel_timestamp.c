#include "io/bus/kernel_timestamp.h"

#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

enum { READS_MAX = 16 };

/* OPT_ID numbers the stamps and restarts at 0 when it is set anew; OPT_TSONLY leaves the bytes
 * out. */
bool io_timestamp_enable(int fd)
{
    const unsigned none = 0;
    const unsigned flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
                           SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &none, sizeof none);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0)
        return true;
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return false;
}

static uint64_t to_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* SCM_TIMESTAMPING holds three times of which the first is the software stamp; SCM_TIMESTAMPNS
 * holds one: the first timespec is the stamp in both. */
uint64_t io_timestamp_read(const struct msghdr *message)
{
    struct msghdr *walk = (struct msghdr *)(uintptr_t)message; /* the macro needs it non-const */
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

void io_timestamp_request(struct msghdr *message, void *control, size_t size)
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

/* Read the stamp and the number of one entry of the error queue. */
static bool read_entry(const struct msghdr *message, uint32_t *key, uint64_t *stamp_ns)
{
    struct msghdr *walk = (struct msghdr *)(uintptr_t)message;
    *stamp_ns = io_timestamp_read(message);
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

bool io_timestamp_fetch(int fd, uint32_t key, uint64_t *stamp_ns)
{
    for (int i = 0; i < READS_MAX; i++) {
        _Alignas(struct cmsghdr) unsigned char control[2 * IO_TIMESTAMP_CONTROL_SIZE];
        struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
        uint32_t found;
        if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return false;
        if (read_entry(&message, &found, stamp_ns) && found == key)
            return true;
    }
    return false;
}
