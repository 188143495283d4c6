/*
 * io_uring as the log uses it, without a kernel: one write at a time that takes its while.  The
 * reactor of the links finds none and polls.
 */
#include <errno.h>
#include <liburing.h>
#include <string.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

enum { ENTRIES = 8 };

/* What the kernel would share with the library. */
struct kernel {
    struct io_uring_sqe sqes[ENTRIES];
    unsigned sq_head, sq_tail, cq_head, cq_tail, mask, entries, flags, dropped;
    bool busy;
    struct io_uring_sqe work;
    bool over;
    struct io_uring_cqe *cqes;
};

static void *work(void *self);

int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    (void)entries, (void)flags;
    if (!seeded_weather.uring)
        return -EPERM;
    struct kernel *kernel = seeded_allocate(sizeof *kernel);
    kernel->cqes = seeded_allocate(ENTRIES * sizeof(struct io_uring_cqe));
    kernel->mask = ENTRIES - 1;
    kernel->entries = ENTRIES;
    memset(ring, 0, sizeof *ring);
    ring->sq.khead = &kernel->sq_head;
    ring->sq.ktail = &kernel->sq_tail;
    ring->sq.kflags = &kernel->flags;
    ring->sq.kdropped = &kernel->dropped;
    ring->sq.kring_mask = &kernel->mask;
    ring->sq.kring_entries = &kernel->entries;
    ring->sq.sqes = kernel->sqes;
    ring->cq.khead = &kernel->cq_head;
    ring->cq.ktail = &kernel->cq_tail;
    ring->cq.kflags = &kernel->flags;
    ring->cq.koverflow = &kernel->dropped;
    ring->cq.kring_mask = &kernel->mask;
    ring->cq.kring_entries = &kernel->entries;
    ring->cq.cqes = kernel->cqes;
    ring->sq.ring_mask = ring->cq.ring_mask = kernel->mask;
    ring->sq.ring_entries = ring->cq.ring_entries = kernel->entries;
    ring->sq.ring_ptr = kernel;
    (void)seeded_spawn(work, kernel);
    return 0;
}

int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
                                      struct io_uring_params *params)
{
    (void)entries, (void)ring, (void)params;
    return -EPERM;
}

struct io_uring_probe *__wrap_io_uring_get_probe_ring(struct io_uring *ring)
{
    (void)ring;
    struct io_uring_probe *probe =
        seeded_allocate(sizeof *probe + 256 * sizeof(struct io_uring_probe_op));
    probe->last_op = IORING_OP_WRITEV;
    probe->ops_len = 255;
    for (int i = 0; i < 255; i++)
        probe->ops[i] =
            (struct io_uring_probe_op){.op = (uint8_t)i, .flags = IO_URING_OP_SUPPORTED};
    return probe;
}

void __wrap_io_uring_free_probe(struct io_uring_probe *probe)
{
    (void)probe;
}

static struct kernel *kernel_of(const struct io_uring *ring)
{
    return ring->sq.ring_ptr;
}

static void complete(struct kernel *kernel, int result)
{
    struct io_uring_cqe *cqe = &kernel->cqes[kernel->cq_tail & kernel->mask];
    cqe->user_data = kernel->work.user_data;
    cqe->res = result;
    kernel->cq_tail++;
    kernel->busy = false;
    seeded_wake(kernel);
}

static int carry_out(const struct io_uring_sqe *sqe)
{
    if (sqe->opcode == IORING_OP_FSYNC)
        return __wrap_fsync(sqe->fd) ? -errno : 0;
    const struct iovec *parts = (const struct iovec *)(uintptr_t)sqe->addr;
    int sum = 0;
    for (unsigned i = 0; i < sqe->len; i++) {
        const int result =
            disk_write(sqe->fd, parts[i].iov_base, parts[i].iov_len, sqe->off + (unsigned)sum);
        if (result < 0)
            return sum > 0 ? sum : result;
        sum += result;
        if ((size_t)result < parts[i].iov_len)
            break;
    }
    return sum;
}

/* The kernel's worker: a write takes as long as the disk wants, and nobody waits for it. */
static void *work(void *self)
{
    struct kernel *kernel = self;
    seeded_name("kernel");
    while (!kernel->over) {
        if (!kernel->busy)
            seeded_wait(&kernel->busy, UINT64_MAX);
        else
            complete(kernel, carry_out(&kernel->work));
    }
    return NULL;
}

int __wrap_io_uring_submit(struct io_uring *ring)
{
    struct kernel *kernel = kernel_of(ring);
    seeded_point();
    const unsigned waits = ring->sq.sqe_tail - ring->sq.sqe_head;
    if (waits == 0)
        return 0;
    if (kernel->busy || waits > 1)
        seeded_fail("the simulated kernel takes one write at a time");
    if (seeded_breaks(20 * seeded_weather.disk_errors)) {
        seeded_trace("io_uring takes no work: EAGAIN");
        return -EAGAIN;
    }
    kernel->work = kernel->sqes[ring->sq.sqe_head & kernel->mask];
    ring->sq.sqe_head++;
    kernel->sq_head = kernel->sq_tail = ring->sq.sqe_head;
    kernel->busy = true;
    seeded_wake(&kernel->busy);
    return 1;
}

int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                              unsigned wait_nr, sigset_t *mask)
{
    struct kernel *kernel = kernel_of(ring);
    (void)submit, (void)mask;
    seeded_point();
    while (kernel->cq_head == kernel->cq_tail) {
        *cqe = NULL;
        if (wait_nr == 0)
            return -EAGAIN;
        seeded_wait(kernel, UINT64_MAX);
    }
    *cqe = &kernel->cqes[kernel->cq_head & kernel->mask];
    return 0;
}

/* What is under way is finished, as the kernel does before it lets go of a file. */
void __wrap_io_uring_queue_exit(struct io_uring *ring)
{
    struct kernel *kernel = kernel_of(ring);
    while (kernel->busy)
        seeded_wait(kernel, UINT64_MAX);
    kernel->over = true;
    seeded_wake(&kernel->busy);
}
