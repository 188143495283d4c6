/*
 * A UDP socket on IPv4 that never blocks and knows when its packets crossed the kernel.
 *
 * The kernel stamps every datagram as it comes in, and those that ask for it as they leave; the
 * stamps are on CLOCK_REALTIME, 0 where the kernel gave none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Longest datagram that is taken whole; five times the longest MAVLink frame and an Ethernet's MTU.
 */
enum { IO_DATAGRAM_MAX = 2048, IO_UDP_CONTROL = 128 };

/* IPv4 in host byte order; port 0: none.  One word, so that any thread can read it in one piece. */
struct io_address {
    uint32_t ip;
    uint16_t port;
};

/* "127.0.0.1:14560" or "name:port".  0 or -EINVAL.  Context: setup. */
int io_address_parse(const char *text, struct io_address *address);

static inline uint64_t io_address_pack(struct io_address address)
{
    return (uint64_t)address.ip << 16 | address.port;
}

static inline struct io_address io_address_unpack(uint64_t word)
{
    return (struct io_address){.ip = (uint32_t)(word >> 16), .port = (uint16_t)word};
}

struct io_packet {
    const unsigned char *bytes; /* valid until the next receive */
    size_t size;
    struct io_address from;
    uint64_t stamp_ns; /* CLOCK_REALTIME, when the last byte was in */
    bool whole;        /* false: it was longer than IO_DATAGRAM_MAX */
};

struct io_udp {
    int fd;             /* -1: closed */
    bool stamps_sent;   /* the kernel can stamp what leaves */
    uint32_t stamp_key; /* of the next datagram that asks for a stamp */
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* Bind to the address (port 0: any free one).  0 or -errno.  Context: setup. */
int io_udp_open(struct io_udp *udp, struct io_address listen);
void io_udp_close(struct io_udp *udp);
/* The address that was bound.  Context: any. */
struct io_address io_udp_local(const struct io_udp *udp);

/* 1 with the next datagram in packet, 0 when there is none, -errno.  Context: frame. */
int io_udp_receive(struct io_udp *udp, struct io_packet *packet);
/* 0 or -errno; stamped asks for a stamp, to be fetched with io_udp_sent().  Context: frame. */
int io_udp_send(struct io_udp *udp, struct io_address to, const void *bytes, size_t size,
                bool stamped);
/* True with the stamp of the newest stamped datagram, once, when it has come.  Context: frame. */
bool io_udp_sent(struct io_udp *udp, uint64_t *stamp_ns);

/* A message header's fields that a receive fills.  Context: frame. */
struct io_address io_udp_from(const struct msghdr *message);
uint64_t io_udp_stamp(const struct msghdr *message);

/* The datagram alone, without a word of state: for signal handlers.  Context: any. */
void io_udp_shout(int fd, struct io_address to, const void *bytes, size_t size);
