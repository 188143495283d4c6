/*
 * Tested by tests/io/log/test_mcap_writer.c.
 */
#include "io/log/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/log/durable_file.h"

enum { RING_ENTRIES = 4 };

static struct io_append_file_block *oldest(struct io_append_file *file)
{
    return &file->blocks[file->first];
}

static void fail(struct io_append_file *file, int error)
{
    file->error = error;
    file->count = 0;
}

/* A write has finished with its result: bytes, or -errno. */
static void note_written(struct io_append_file *file, int result)
{
    if (result == -EINTR || result == -EAGAIN)
        return; /* it is started again unchanged */
    if (result <= 0) {
        fail(file, result ? result : -EIO);
        return;
    }
    file->written += (uint64_t)result;
    for (size_t left = (size_t)result; left > 0;) {
        struct io_append_file_block *block = oldest(file);
        const size_t part = left < block->size - block->done ? left : block->size - block->done;
        block->done += part;
        left -= part;
        if (block->done < block->size)
            return; /* a short write: the rest is started again and gives the reason */
        block->size = block->done = 0;
        file->first = (file->first + 1) % IO_APPEND_FILE_BLOCK_COUNT;
        file->count--;
    }
}

static void write_oldest(struct io_append_file *file)
{
    const struct io_append_file_block *block = oldest(file);
    const ssize_t result = pwrite(file->fd, block->data + block->done, block->size - block->done,
                                  (off_t)file->written);
    note_written(file, result < 0 ? -errno : (int)result);
}

/* Submits all queued blocks as one write: a kernel worker writes them, and on a busy machine it
 * waits long for each of its turns. */
static bool submit_queued(struct io_append_file *file)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&file->uring);
    if (!sqe)
        return false;
    for (unsigned i = 0; i < file->count; i++) {
        const struct io_append_file_block *block =
            &file->blocks[(file->first + i) % IO_APPEND_FILE_BLOCK_COUNT];
        file->parts[i] = (struct iovec){.iov_base = block->data + block->done,
                                        .iov_len = block->size - block->done};
    }
    io_uring_prep_writev(sqe, file->fd, file->parts, file->count, file->written);
    return io_uring_submit(&file->uring) == 1;
}

static void close_uring(struct io_append_file *file)
{
    if (file->uring_open)
        io_uring_queue_exit(&file->uring);
    file->uring_open = false;
}

/* Start the queued blocks.  If the ring accepts no work, pwrite is used instead. */
static void start_write(struct io_append_file *file)
{
    if (file->count == 0 || file->under_way)
        return;
    if (file->uring_open) {
        file->under_way = submit_queued(file);
        if (file->under_way)
            return;
        close_uring(file);
    }
    while (file->count > 0)
        write_oldest(file);
}

static void finish_write(struct io_append_file *file, struct io_uring_cqe *cqe)
{
    const int result = cqe->res;
    io_uring_cqe_seen(&file->uring, cqe);
    file->under_way = false;
    note_written(file, result);
    start_write(file);
}

/* Wait for the blocks that are being written. */
static void wait_oldest(struct io_append_file *file)
{
    struct io_uring_cqe *cqe;
    int error;
    do {
        error = io_uring_wait_cqe(&file->uring, &cqe);
    } while (error == -EINTR);
    if (error == 0) {
        finish_write(file, cqe);
        return;
    }
    close_uring(file); /* the blocks being written are given up with the ring */
    file->under_way = false;
    fail(file, error);
}

void io_append_file_poll(struct io_append_file *file)
{
    struct io_uring_cqe *cqe;
    while (file->under_way && io_uring_peek_cqe(&file->uring, &cqe) == 0)
        finish_write(file, cqe);
    start_write(file);
}

int io_append_file_flush(struct io_append_file *file)
{
    start_write(file);
    while (file->under_way)
        wait_oldest(file);
    return file->error;
}

/* A block with room that the kernel does not use, or NULL after an error. */
static struct io_append_file_block *open_block(struct io_append_file *file)
{
    while (file->count == IO_APPEND_FILE_BLOCK_COUNT && file->under_way)
        wait_oldest(file);
    if (file->error)
        return NULL;
    struct io_append_file_block *block =
        &file->blocks[(file->first + file->count) % IO_APPEND_FILE_BLOCK_COUNT];
    block->size = block->done = 0;
    file->count++;
    return block;
}

void io_append_file_append(struct io_append_file *file, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    file->appended += size;
    while (size > 0 && !file->error) {
        struct io_append_file_block *block = open_block(file);
        if (!block)
            return;
        block->size = size < IO_APPEND_FILE_BLOCK_SIZE ? size : IO_APPEND_FILE_BLOCK_SIZE;
        memcpy(block->data, from, block->size);
        from += block->size;
        size -= block->size;
        start_write(file);
    }
}

int io_append_file_rewind(struct io_append_file *file, uint64_t size)
{
    (void)io_append_file_flush(file); /* the kernel releases the blocks */
    file->count = 0;
    if (ftruncate(file->fd, (off_t)size) != 0)
        return -errno;
    file->appended = file->written = size;
    file->error = 0;
    return 0;
}

/* io_uring may be missing, forbidden (seccomp, sysctl) or too old to write; pwrite is used then. */
static void open_uring(struct io_append_file *file)
{
    if (io_uring_queue_init(RING_ENTRIES, &file->uring, 0) != 0)
        return;
    file->uring_open = true;
    struct io_uring_probe *probe = io_uring_get_probe_ring(&file->uring);
    const bool can_write = probe && io_uring_opcode_supported(probe, IORING_OP_WRITEV);
    io_uring_free_probe(probe);
    if (!can_write)
        close_uring(file);
}

/* A device or a pipe has no contents to lose, and some file systems have no locks.  After a run
 * was killed, the kernel first writes what the run had submitted, and releases the lock only
 * then. */
int io_append_file_lock(int fd)
{
    enum { LOOKS = 25 };
    const struct timespec pause = {.tv_nsec = 10000000};
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    for (int i = 0; i < LOOKS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return 0;
        nanosleep(&pause, NULL);
    }
    return -EBUSY;
}

/* Truncated only after it is locked, so that the log of another run is not lost. */
static int open_empty(const char *path)
{
    struct stat status = {0};
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int error = io_append_file_lock(fd);
    if (error == 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && ftruncate(fd, 0) != 0)
        error = -errno;
    if (error == 0 && S_ISREG(status.st_mode))
        error = io_durable_sync_folder(path); /* syncs its name; the bytes are synced at close */
    if (error)
        close(fd);
    return error ? error : fd;
}

int io_append_file_open(struct io_append_file *file, const char *path)
{
    *file = (struct io_append_file){.fd = -1};
    unsigned char *memory = malloc(IO_APPEND_FILE_BLOCK_COUNT * IO_APPEND_FILE_BLOCK_SIZE);
    if (!memory)
        return -ENOMEM;
    for (int i = 0; i < IO_APPEND_FILE_BLOCK_COUNT; i++)
        file->blocks[i].data = memory + (size_t)i * IO_APPEND_FILE_BLOCK_SIZE;

    file->fd = open_empty(path);
    if (file->fd < 0) {
        free(memory);
        return file->fd;
    }
    open_uring(file);
    return 0;
}

int io_append_file_close(struct io_append_file *file)
{
    int error = io_append_file_flush(file);
    close_uring(file);
    const int unsynced = io_durable_sync_file(file->fd);
    if (error == 0)
        error = unsynced;
    if (close(file->fd) != 0 && error == 0)
        error = -errno;
    free(file->blocks[0].data);
    *file = (struct io_append_file){.fd = -1};
    return error;
}
