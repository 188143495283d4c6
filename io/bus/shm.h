/*
 * Messages through shared memory, between two processes of one machine that look at it in turns of
 * their own: no system call per message and nobody to wake.
 *
 * The layout, version 1, for whoever writes the other side.  The file is a POSIX shared memory
 * object (shm_open; /dev/shm/<name> on Linux).  All numbers are little-endian.
 *
 *         0  struct io_shm_header        64 bytes
 *        64  struct io_shm_ring [0]     512 bytes   side 0 writes, side 1 reads
 *       576  struct io_shm_ring [1]     512 bytes   side 1 writes, side 0 reads
 *      1088  zero
 *      4096  bytes of ring 0               ring_size
 *      4096 + ring_size  bytes of ring 1   ring_size
 *
 * A ring holds records: {uint32 size, uint32 zero, uint64 stamp}, `size` bytes of message, zeros up
 * to a multiple of 8.  `size` is 0 to message_max.  A record that reaches the end of the ring goes
 * on at its beginning.  head and tail count bytes and never wrap: a position is its counter modulo
 * ring_size, a power of two.  The writer copies the record and then stores head (release); the
 * reader loads head (acquire), copies the record out and then stores tail (release).  A record that
 * does not fit ring_size - (head - tail) is not written.  stamp is CLOCK_REALTIME in ns at the
 * moment of writing; 0: not known.
 *
 * Who is which side: a process holds an open-file-description lock (F_OFD_SETLK, F_WRLCK) on byte
 * 0 or 1 of the file, whichever it gets first: that is its side.  The kernel gives it up when the
 * process ends in whatever way, so a place is free when its lock is; the far end is there when the
 * other byte is locked.  While one looks at or writes the header it holds byte 2.  The first to
 * come makes the file; who takes a side reads on from the head of the ring that he reads; the last
 * to leave in good order removes the name.
 *
 * Who makes the file smaller ends the link: the far end counts as gone from then on, whoever holds
 * its lock, and this end goes on with memory of its own that nobody else sees
 * (rt/guarded_mapping.h).
 *
 * Last words go past the ring, since signal handlers say them: `turn` is even while they can be
 * read, and grows by two with each.  A writer makes it odd by compare-and-swap (and leaves it at
 * that when it is odd already), writes size and bytes, and makes it even again.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/packet.h"

#define IO_SHM_MAGIC "AIRBSHM"
enum {
    IO_SHM_VERSION = 1,
    IO_SHM_DATA_AT = 4096,
    IO_SHM_RING_SIZE = 65536,
    IO_SHM_SIZE = IO_SHM_DATA_AT + 2 * IO_SHM_RING_SIZE,
    IO_SHM_RECORD = 16, /* what stands before a message */
};

struct io_shm_header {
    char magic[8];        /* IO_SHM_MAGIC with its zero */
    uint32_t version;     /* 1; any other layout is another version */
    uint32_t header_size; /* 64 */
    uint32_t ring_size;   /* bytes of each ring, a power of two */
    uint32_t message_max; /* IO_DATAGRAM_MAX */
    uint64_t total_size;  /* of the file */
    unsigned char zero[32];
};
_Static_assert(sizeof(struct io_shm_header) == 64, "the layout is a contract");

struct io_shm_ring {
    _Alignas(64) _Atomic uint64_t head;               /* stored by the writer */
    _Alignas(64) _Atomic uint64_t tail;               /* stored by the reader */
    _Alignas(64) _Atomic uint32_t emergency_sequence; /* of the last words */
    uint32_t emergency_size;
    unsigned char emergency[IO_EMERGENCY_MAX];
    unsigned char zero[56];
};
_Static_assert(sizeof(struct io_shm_ring) == 512, "the layout is a contract");

/* One end of one ring.  The own counter is kept here as well: what the far end scribbles over the
 * shared one is never believed. */
struct io_shm_port {
    struct io_shm_ring *ring;
    unsigned char *bytes;
    uint32_t size;
    uint64_t at;                 /* head of a writer, tail of a reader */
    uint32_t emergency_sequence; /* reader: last words already heard */
};

struct io_shm {
    int fd;
    int side;
    void *mem;
    size_t mem_size;
    atomic_bool gone; /* the far end cut the file off */
    struct io_shm_port in, out;
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* 0, -EPROTO (not such memory), -EPROTONOSUPPORT (another version), -EINVAL (sizes that cannot be).
 * Context: setup. */
int io_shm_check(const struct io_shm_header *header, size_t size);
/* A fresh layout in zeroed memory of IO_SHM_SIZE.  Context: setup. */
void io_shm_format(void *mem);
/* The two ends of one side, of memory that was checked.  Context: setup. */
void io_shm_ports(void *mem, int side, struct io_shm_port *in, struct io_shm_port *out);

/* 0, -EAGAIN (full), -EMSGSIZE.  Context: frame. */
int io_shm_push(struct io_shm_port *out, const void *bytes, size_t size, uint64_t stamp_ns);
/* 1 with a message, 0, or -EBADMSG: the ring makes no sense and is read on from its head.
 * Context: frame. */
int io_shm_pull(struct io_shm_port *in, unsigned char bytes[IO_DATAGRAM_MAX], size_t *size,
                uint64_t *stamp_ns);
/* True with last words that were not heard before.  Context: frame. */
bool io_shm_pull_emergency(struct io_shm_port *in, unsigned char bytes[IO_EMERGENCY_MAX],
                           size_t *size);
