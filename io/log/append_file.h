/*
 * A file that is only appended to, without waiting for the disk.
 *
 * Bytes are copied into blocks.  One write at a time is under way, through io_uring where the
 * machine permits it and else through pwrite, so the file never has a hole: at any moment it holds
 * a prefix of what was appended, and what `written` counts survives the death of this process.
 * When it has been closed without an error all of it survives a loss of power, too; its name does
 * from the start.
 *
 * The first failed write stops the file: later bytes are ignored until io_append_file_rewind().
 */
#pragma once

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* A second of a heavy log (16 MB/s), a minute of a usual one: so long a disk may stand still before
 * the rings fill up. */
enum { IO_APPEND_FILE_BLOCK_COUNT = 64, IO_APPEND_FILE_BLOCK_SIZE = 256 * 1024 };

struct io_append_file_block {
    unsigned char *data;
    size_t size, done; /* bytes to write, bytes written */
};

struct io_append_file {
    int fd;
    bool uring_open;
    bool under_way; /* blocks[first] and some after it are with the kernel */
    struct io_uring uring;
    struct io_append_file_block blocks[IO_APPEND_FILE_BLOCK_COUNT];
    struct iovec parts[IO_APPEND_FILE_BLOCK_COUNT]; /* of the write under way */
    unsigned first, count;                          /* queued blocks, oldest first */
    uint64_t appended, written;
    int error; /* 0 or -errno */
};

/* Take an open file for oneself until it is closed.  -EBUSY: somebody else writes it.  Who only
 * reads a log, also one that is being written, asks nobody.  Context: setup. */
int io_append_file_lock(int fd);

/* Create the file, or empty it unless somebody writes it (-EBUSY).  0 or -errno.  Context: setup.
 */
int io_append_file_open(struct io_append_file *file, const char *path);

/* Queue bytes; waits only when all blocks are full.  Context: telemetry thread. */
void io_append_file_append(struct io_append_file *file, const void *bytes, size_t size);

/* Take note of finished writes and start the next one; never waits.  Context: telemetry thread. */
void io_append_file_poll(struct io_append_file *file);

/* Wait until all is written or a write failed.  0 or -errno.  Context: telemetry thread. */
int io_append_file_flush(struct io_append_file *file);

/* Cut the file back to size, forget the error and what was queued, and append from there.
 * 0 or -errno.  Context: telemetry thread. */
int io_append_file_rewind(struct io_append_file *file, uint64_t size);

/* Sync and close.  0 or -errno.  Context: after the run. */
int io_append_file_close(struct io_append_file *file);
