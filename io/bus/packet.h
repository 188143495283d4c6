/*
 * What a bus hands out: bytes, where they came from and when they crossed the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest packet that is taken whole; five times the longest MAVLink frame and an Ethernet's MTU.
 */
enum { IO_DATAGRAM_MAX = 2048, IO_EMERGENCY_MAX = 320 };

/* IPv4 in host byte order; port 0: none.  One word, so that any thread can read it in one piece. */
struct io_address {
    uint32_t ip;
    uint16_t port;
};

/* Of a bus that has no addresses because only one can be at its other end. */
static const struct io_address io_address_far_end = {.ip = 0, .port = 1};

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
    uint64_t stamp_ns; /* CLOCK_REALTIME, when the last byte was in; 0: nobody knows */
    bool monotonic;    /* that stamp is on CLOCK_MONOTONIC already */
    bool whole;        /* false: it was longer than IO_DATAGRAM_MAX */
};
