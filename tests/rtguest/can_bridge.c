/*
 * A board that speaks UDP, on a CAN bus: bytes of CAN FD frames one way, datagrams the other.
 *
 *   can_bridge INTERFACE CAN_ID_IN CAN_ID_OUT UDP_PORT
 *
 * Written from the kernel's header and not with io/bus/can, so that the two sides of the loop share
 * no code.  Goes on until it is killed.
 */
#include <arpa/inet.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_can(const char *interface, unsigned id)
{
    const struct can_filter filter = {.can_id = id, .can_mask = CAN_SFF_MASK | CAN_EFF_FLAG};
    const struct sockaddr_can at = {.can_family = AF_CAN,
                                    .can_ifindex = (int)if_nametoindex(interface)};
    const int fd = socket(PF_CAN, SOCK_RAW, CAN_RAW), on = 1;
    if (setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof on) ||
        setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FILTER, &filter, sizeof filter) ||
        bind(fd, (const struct sockaddr *)&at, sizeof at)) {
        perror("can_bridge: can");
        exit(1);
    }
    return fd;
}

static int open_udp(unsigned port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at)) {
        perror("can_bridge: udp");
        exit(1);
    }
    return fd;
}

/* Only these lengths exist on the wire. */
static size_t frame_size(size_t left)
{
    static const size_t sizes[] = {64, 48, 32, 24, 20, 16, 12};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (left >= sizes[i])
            return sizes[i];
    }
    return left < 8 ? left : 8;
}

static void put_on_can(int can, unsigned id, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const size_t part = frame_size(size);
        struct canfd_frame frame = {.can_id = id, .len = (uint8_t)part};
        memcpy(frame.data, bytes, part);
        if (write(can, &frame, CANFD_MTU) != CANFD_MTU)
            return; /* the bus is full: as on a real one, the rest is lost */
        bytes += part;
        size -= part;
    }
}

/* Bytes of a stream, until a MAVLink 2 message is whole: the board wants one per datagram. */
struct pieces {
    unsigned char bytes[1024];
    size_t size;
};

static void take_piece(struct pieces *pieces, const struct canfd_frame *frame)
{
    if (pieces->size + frame->len > sizeof pieces->bytes)
        pieces->size = 0;
    memcpy(pieces->bytes + pieces->size, frame->data, frame->len);
    pieces->size += frame->len;
}

static void pass_messages(struct pieces *pieces, int udp, const struct sockaddr_in *board)
{
    for (;;) {
        const size_t whole = 12u + pieces->bytes[1];
        if (pieces->size > 0 && pieces->bytes[0] != 0xfd)
            pieces->size = 0; /* lost its place: begin anew */
        if (pieces->size < 12 || pieces->size < whole)
            return;
        if (board->sin_port)
            (void)sendto(udp, pieces->bytes, whole, 0, (const struct sockaddr *)board,
                         sizeof *board);
        pieces->size -= whole;
        memmove(pieces->bytes, pieces->bytes + whole, pieces->size);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: can_bridge INTERFACE CAN_ID_IN CAN_ID_OUT UDP_PORT\n", stderr);
        return 64;
    }
    const int can = open_can(argv[1], (unsigned)atoi(argv[2]));
    const int udp = open_udp((unsigned)atoi(argv[4]));
    struct sockaddr_in board = {0};
    static struct pieces pieces;
    for (;;) {
        struct pollfd ready[2] = {{.fd = can, .events = POLLIN}, {.fd = udp, .events = POLLIN}};
        poll(ready, 2, -1);
        struct canfd_frame frame;
        if ((ready[0].revents & POLLIN) && read(can, &frame, sizeof frame) > 0) {
            take_piece(&pieces, &frame);
            pass_messages(&pieces, udp, &board);
        }
        unsigned char bytes[2048];
        socklen_t size = sizeof board;
        ssize_t got = 0;
        if (ready[1].revents & POLLIN)
            got = recvfrom(udp, bytes, sizeof bytes, 0, (struct sockaddr *)&board, &size);
        if (got > 0)
            put_on_can(can, (unsigned)atoi(argv[3]), bytes, (size_t)got);
    }
}
