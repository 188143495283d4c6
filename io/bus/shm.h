/*
 * Messages through shared memory, between two processes of one machine that poll it: no system call
 * per message, and no wake-up.
 *
 * The layout, version 1, for the author of the other side.  The file is a POSIX shared memory
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
 * to a multiple of 8.  `size` is 0 to message_max.  A record that reaches the end of the ring
 * continues at its beginning.  head and tail count bytes and never wrap: a position is its counter
 * modulo ring_size, a power of two.  The writer copies the record and then stores head (release);
 * the reader loads head (acquire), copies the record out and then stores tail (release).  A record
 * that does not fit ring_size - (head - tail) is not written.  stamp is CLOCK_REALTIME in ns at the
 * moment of writing; 0: not known.
 *
 * The side of a process is the byte, 0 or 1, of the file on which it holds an open-file-description
 * lock (F_OFD_SETLK, F_WRLCK); it takes the first that is free.  The kernel releases the lock when
 * the process ends in any way, so a side is free when its lock is, and the far end is there when
 * the other byte is locked.  A process that reads or writes the header holds a lock on byte 2.  The
 * first process creates the file.  A process that takes a side reads on from the head of the ring
 * that it reads.  The last process that closes the bus removes the name.
 *
 * A process that makes the file smaller ends the link: the far end counts as lost from then on,
 * whichever process holds its lock, and this end continues with private memory
 * (rt/guarded_mapping.h).
 *
 * Emergency messages bypass the ring, because signal handlers send them: emergency_sequence is even
 * while a message can be read, and grows by two with each.  A writer makes it odd by
 * compare-and-swap (and gives up when it is odd already), writes size and bytes, and makes it even
 * again.
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
    IO_SHM_RECORD = 16, /* the header of a record */
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
    _Alignas(64) _Atomic uint32_t emergency_sequence; /* of the emergency message */
    uint32_t emergency_size;
    unsigned char emergency[IO_EMERGENCY_MAX];
    unsigned char zero[56];
};
_Static_assert(sizeof(struct io_shm_ring) == 512, "the layout is a contract");

/* One end of one ring.  It keeps its own counter as well, because the far end may overwrite the
 * shared one with any value. */
struct io_shm_port {
    struct io_shm_ring *ring;
    unsigned char *bytes;
    uint32_t size;
    uint64_t at;                 /* head of a writer, tail of a reader */
    uint32_t emergency_sequence; /* reader: of the emergency message read last */
};

struct io_shm {
    int fd;
    int side;
    void *mem;
    size_t mem_size;
    atomic_bool gone; /* the file was truncated */
    struct io_shm_port in, out;
    unsigned char bytes[IO_DATAGRAM_MAX];
};

/* Check a header: 0, -EPROTO (not this kind of memory), -EPROTONOSUPPORT (another version), -EINVAL
 * (impossible sizes).  Context: setup. */
int io_shm_check(const struct io_shm_header *header, size_t size);
/* Write a new layout to zeroed memory of IO_SHM_SIZE bytes.  Context: setup. */
void io_shm_format(void *mem);
/* Set up the two ends of one side, in memory that was checked.  Context: setup. */
void io_shm_ports(void *mem, int side, struct io_shm_port *in, struct io_shm_port *out);

/* 0, -EAGAIN (full), -EMSGSIZE.  Context: frame. */
int io_shm_push(struct io_shm_port *out, const void *bytes, size_t size, uint64_t stamp_ns);
/* 1 with a message, 0, or -EBADMSG: the ring is inconsistent and reading continues at its head.
 * Context: frame. */
int io_shm_pull(struct io_shm_port *in, unsigned char bytes[IO_DATAGRAM_MAX], size_t *size,
                uint64_t *stamp_ns);
/* True with an emergency message that was not read before.  Context: frame. */
bool io_shm_pull_emergency(struct io_shm_port *in, unsigned char bytes[IO_EMERGENCY_MAX],
                           size_t *size);
