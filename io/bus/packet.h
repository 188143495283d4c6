/*
 * A packet of a bus: its bytes, its sender, and the time at which it crossed the kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest packet that is received whole: more than seven MAVLink frames, and more than the MTU
 * of Ethernet.  The longest emergency message. */
enum { IO_DATAGRAM_MAX = 2048, IO_EMERGENCY_MAX = 320 };

/* An IPv4 address in host byte order; port 0: none.  It packs into one word, so that any thread can
 * read it in one piece. */
struct io_address {
    uint32_t ip;
    uint16_t port;
};

/* The address of the far end on a bus that can have only one. */
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
    uint64_t stamp_ns; /* CLOCK_REALTIME at the last byte; 0: not known */
    bool monotonic;    /* the stamp is on CLOCK_MONOTONIC instead */
    bool whole;        /* false: the packet was longer than IO_DATAGRAM_MAX and is cut */
};
