/*
 * A tape: packets in a file, with the times at which they were received.
 *
 *      0  "AIRBTAPE"        8 bytes
 *      8  uint32 version    1
 *     12  uint32 zero
 *     16  records: {uint64 time_ns, uint32 size, uint32 zero}, `size` bytes of packet
 *
 * All numbers are little-endian.  time_ns counts from the beginning of the tape and never goes
 * back.  size is 1 to IO_DATAGRAM_MAX; a record of size 0 ends the tape, as does the end of the
 * file, so a recording whose program was killed, with zeros where nothing was written yet, can be
 * played as well.
 *
 * As a bus a tape plays its packets at their times after the first receive; what is sent to it is
 * counted and discarded.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/packet.h"
#include "rt/clock.h"

#define IO_TAPE_MAGIC "AIRBTAPE"
enum {
    IO_TAPE_VERSION = 1,
    IO_TAPE_HEADER = 16,
    IO_TAPE_RECORD = 16,
    IO_TAPE_SIZE_MAX = 1 << 30,
    IO_TAPE_RECORD_SIZE = 64 << 20, /* of a recording, by default */
    IO_TAPE_ERROR_MAX = 160,
};

/* The position of a reader in bytes that were checked. */
struct io_tape_reader {
    const unsigned char *bytes;
    size_t size, at;
};

/* Check a tape: 0, or -EBADMSG with a line that names the byte and the error.  Context: setup. */
int io_tape_check(const unsigned char *bytes, size_t size, char error[IO_TAPE_ERROR_MAX]);
/* Read the record at the position without moving on; false at the end.  Context: frame. */
bool io_tape_peek(const struct io_tape_reader *reader, uint64_t *time_ns, struct io_packet *packet);
void io_tape_skip(struct io_tape_reader *reader, const struct io_packet *packet);

/* The file is created with its greatest size and mapped while it is written, so that a record costs
 * no system call; closing it cuts the rest off. */
struct io_tape_writer {
    unsigned char *map; /* NULL: closed */
    atomic_bool gone;   /* the file was truncated while it was written */
    size_t size, used;
    int fd;
    const struct rt_clock *clock; /* NULL: CLOCK_MONOTONIC */
    uint64_t start_ns, last_ns;
};

/* An existing file is overwritten.  0 or -errno.  Context: setup. */
int io_tape_writer_open(struct io_tape_writer *writer, const char *path, size_t size,
                        const struct rt_clock *clock);
/* False: there is no room, or the file was truncated.  Empty packets are left out.  Context:
 * frame. */
bool io_tape_writer_append(struct io_tape_writer *writer, const void *bytes, size_t size);
void io_tape_writer_close(struct io_tape_writer *writer);

struct io_tape {
    unsigned char *bytes; /* the whole file, read at set-up */
    struct io_tape_reader reader;
    uint64_t start_ns;
    bool started;
};
