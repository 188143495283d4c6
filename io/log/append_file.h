/*
 * A file that is only appended to, without waiting for the disk.
 *
 * Bytes are copied into blocks.  Only one write runs at a time, through io_uring where the machine
 * permits it and else through pwrite, so the file never has a hole: at any moment it holds a prefix
 * of what was appended, and the bytes that `written` counts survive the death of this process.
 * After it was closed without an error all of it survives a power loss, too; its name does from the
 * start.
 *
 * The first failed write stops the file: later bytes are ignored until io_append_file_rewind().
 */
#pragma once

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* A second of a heavy log (16 MB/s), a minute of a usual one: the time for which the disk may
 * stall before the rings fill up. */
enum { IO_APPEND_FILE_BLOCK_COUNT = 64, IO_APPEND_FILE_BLOCK_SIZE = 256 * 1024 };

struct io_append_file_block {
    unsigned char *data;
    size_t size, done; /* bytes to write, bytes written */
};

struct io_append_file {
    int fd;
    bool uring_open;
    bool under_way; /* blocks[first] and some after it are being written by the kernel */
    struct io_uring uring;
    struct io_append_file_block blocks[IO_APPEND_FILE_BLOCK_COUNT];
    struct iovec parts[IO_APPEND_FILE_BLOCK_COUNT]; /* of the write that runs */
    unsigned first, count;                          /* queued blocks, oldest first */
    uint64_t appended, written;
    int error; /* 0 or -errno */
};

/* Lock an open file until it is closed.  -EBUSY: another process writes it.  Readers take no
 * lock, even of a log that is being written.  Context: setup. */
int io_append_file_lock(int fd);

/* Create the file, or truncate it unless another process writes it (-EBUSY).  0 or -errno.
 * Context: setup. */
int io_append_file_open(struct io_append_file *file, const char *path);

/* Queue bytes; waits only when all blocks are full.  Context: telemetry thread. */
void io_append_file_append(struct io_append_file *file, const void *bytes, size_t size);

/* Collect finished writes and start the next one; never waits.  Context: telemetry thread. */
void io_append_file_poll(struct io_append_file *file);

/* Wait until all is written or a write failed.  0 or -errno.  Context: telemetry thread. */
int io_append_file_flush(struct io_append_file *file);

/* Truncate the file to size, forget the error and the queued bytes, and append from there.  0 or
 * -errno.  Context: telemetry thread. */
int io_append_file_rewind(struct io_append_file *file, uint64_t size);

/* Sync and close.  0 or -errno.  Context: after the run. */
int io_append_file_close(struct io_append_file *file);
