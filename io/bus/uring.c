#include "io/bus/uring.h"

#include <errno.h>
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rt/arena.h"
#include "rt/check.h"

enum {
    PAGE = 4096,
    BUFFER_COUNT = 64, /* a power of two; 64 datagrams may come between two waits */
    BUFFER_SIZE = 2304,
    BUFFER_GROUP = 0,
    SUBMISSIONS = 2 * (IO_REACTOR_SOCKET_MAX + 1),
    COMPLETIONS = 2 * BUFFER_COUNT,
    BATCH_MAX = 16, /* datagrams per socket and wait, with poll */
};

/* What the kernel writes before the payload of a datagram. */
enum {
    HEADER_SIZE =
        sizeof(struct io_uring_recvmsg_out) + sizeof(struct sockaddr_in) + IO_STAMP_CONTROL
};
_Static_assert(BUFFER_SIZE >= HEADER_SIZE + IO_DATAGRAM_MAX, "a whole datagram fits a buffer");

struct io_reactor {
    struct io_reactor_tasks tasks;
    struct io_udp *socket[IO_REACTOR_SOCKET_MAX];
    int socket_count;
    int wake_fd;
    uint64_t wake_count; /* where io_uring puts what it read from wake_fd */

    bool has_ring;
    struct io_uring ring;
    struct msghdr shape; /* how much room a receive leaves for name and control */
    uint32_t unarmed;    /* one bit per receive that must be posted; bit socket_count is the wake */
    struct io_uring_buf_ring *buffers; /* page-aligned, as the kernel wants it */
    unsigned char *bytes;

    char note[IO_REACTOR_NOTE_MAX];
};

static size_t lay_out(unsigned char *mem)
{
    size_t at = 0;
    struct io_reactor *reactor = rt_cut(mem, &at, sizeof *reactor);
    unsigned char *buffers =
        rt_cut(mem, &at, BUFFER_COUNT * sizeof(struct io_uring_buf) + PAGE - 1);
    unsigned char *bytes = rt_cut(mem, &at, (size_t)BUFFER_COUNT * BUFFER_SIZE);
    if (mem) {
        memset(reactor, 0, sizeof *reactor);
        buffers += -(uintptr_t)buffers % PAGE;
        reactor->buffers = (struct io_uring_buf_ring *)(void *)buffers;
        reactor->bytes = bytes;
        reactor->wake_fd = -1;
    }
    return at;
}

size_t io_reactor_size(void)
{
    return lay_out(NULL);
}

struct io_reactor *io_reactor_place(void *mem)
{
    (void)lay_out(mem);
    return mem;
}

const char *io_reactor_note(const struct io_reactor *reactor)
{
    return reactor->note;
}

static void give_back(struct io_reactor *reactor, unsigned buffer)
{
    unsigned char *bytes = reactor->bytes + (size_t)buffer * BUFFER_SIZE;
    io_uring_buf_ring_add(reactor->buffers, bytes, HEADER_SIZE + IO_DATAGRAM_MAX,
                          (unsigned short)buffer, io_uring_buf_ring_mask(BUFFER_COUNT), 0);
    io_uring_buf_ring_advance(reactor->buffers, 1);
}

/* Multishot recvmsg has no probe bit of its own; it came in the same release, 6.0, as the zero-copy
 * send, which has one. */
static bool has_multishot(struct io_uring *ring)
{
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
    if (!probe)
        return false;
    const bool has = io_uring_opcode_supported(probe, IORING_OP_SEND_ZC);
    io_uring_free_probe(probe);
    return has;
}

/* The ring stays disabled until the I/O thread enables it and so becomes its single issuer.  With
 * DEFER_TASKRUN (6.1) completions are handled inside the wait instead of interrupting the thread.
 */
static int open_ring(struct io_uring *ring)
{
    const unsigned best = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    struct io_uring_params params = {
        .flags = IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE | best,
        .cq_entries = COMPLETIONS,
    };
    int status = io_uring_queue_init_params(SUBMISSIONS, ring, &params);
    if (status == -EINVAL) {
        params = (struct io_uring_params){
            .flags = IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE,
            .cq_entries = COMPLETIONS,
        };
        status = io_uring_queue_init_params(SUBMISSIONS, ring, &params);
    }
    return status;
}

static int give_buffers(struct io_reactor *reactor)
{
    struct io_uring_buf_reg buffers = {
        .ring_addr = (uintptr_t)reactor->buffers,
        .ring_entries = BUFFER_COUNT,
        .bgid = BUFFER_GROUP,
    };
    const int status = io_uring_register_buf_ring(&reactor->ring, &buffers, 0);
    if (status < 0)
        return status;
    io_uring_buf_ring_init(reactor->buffers);
    for (unsigned i = 0; i < BUFFER_COUNT; i++)
        give_back(reactor, i);
    return 0;
}

static int open_uring(struct io_reactor *reactor)
{
    int status = open_ring(&reactor->ring);
    if (status < 0)
        return status;
    status = has_multishot(&reactor->ring) ? give_buffers(reactor) : -EOPNOTSUPP;
    if (status < 0)
        io_uring_queue_exit(&reactor->ring);
    return status;
}

static void explain(struct io_reactor *reactor, int status)
{
    const char *why = status == -EOPNOTSUPP || status == -ENOSYS || status == -EINVAL
                          ? "this kernel's io_uring is absent or older than 6.0"
                          : strerror(-status);
    (void)snprintf(reactor->note, sizeof reactor->note,
                   "I/O waits in poll instead of io_uring (%s): more system calls per message.",
                   why);
}

int io_reactor_open(struct io_reactor *reactor, struct io_udp *const *sockets, int socket_count,
                    const struct io_reactor_tasks *tasks)
{
    RT_CHECK(socket_count >= 0 && socket_count <= IO_REACTOR_SOCKET_MAX);
    reactor->tasks = *tasks;
    reactor->socket_count = socket_count;
    for (int i = 0; i < socket_count; i++)
        reactor->socket[i] = sockets[i];
    /* Blocking, or io_uring would not wait for it; a write of 1 never blocks. */
    reactor->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (reactor->wake_fd < 0)
        return -errno;
    reactor->shape = (struct msghdr){
        .msg_namelen = sizeof(struct sockaddr_in),
        .msg_controllen = IO_STAMP_CONTROL,
    };
    reactor->unarmed = (1u << (socket_count + 1)) - 1;
    const int status = open_uring(reactor);
    reactor->has_ring = status == 0;
    if (status < 0)
        explain(reactor, status);
    return 0;
}

void io_reactor_close(struct io_reactor *reactor)
{
    if (reactor->has_ring)
        io_uring_queue_exit(&reactor->ring);
    if (reactor->wake_fd >= 0)
        (void)close(reactor->wake_fd);
    reactor->has_ring = false;
    reactor->wake_fd = -1;
}

/* io_uring_enable_rings() by its own name: liburing 2.3 declares it but does not export it. */
void io_reactor_enter(struct io_reactor *reactor)
{
    if (reactor->has_ring)
        RT_CHECK(io_uring_register((unsigned)reactor->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS,
                                   NULL, 0) == 0);
}

void io_reactor_wake(struct io_reactor *reactor)
{
    const int saved = errno;
    const uint64_t one = 1;
    const ssize_t written = write(reactor->wake_fd, &one, sizeof one);
    (void)written; /* it fails only when the counter is full: then the wake is pending anyway */
    errno = saved;
}

static void arm(struct io_reactor *reactor)
{
    for (int i = 0; i <= reactor->socket_count; i++) {
        if (!(reactor->unarmed & 1u << i))
            continue;
        struct io_uring_sqe *sqe = io_uring_get_sqe(&reactor->ring);
        if (!sqe)
            return; /* the queue holds more than we ever post; next time */
        if (i == reactor->socket_count) {
            io_uring_prep_read(sqe, reactor->wake_fd, &reactor->wake_count,
                               sizeof reactor->wake_count, 0);
        } else {
            io_uring_prep_recvmsg_multishot(sqe, reactor->socket[i]->fd, &reactor->shape, 0);
            sqe->flags |= IOSQE_BUFFER_SELECT;
            sqe->buf_group = BUFFER_GROUP;
        }
        sqe->user_data = (unsigned)i;
        reactor->unarmed &= ~(1u << i);
    }
}

/* header | name | control | payload */
static void take_datagram(struct io_reactor *reactor, int socket, unsigned char *bytes, int size)
{
    struct io_uring_recvmsg_out *out = io_uring_recvmsg_validate(bytes, size, &reactor->shape);
    if (!out)
        return;
    unsigned char *name = io_uring_recvmsg_name(out);
    const struct msghdr message = {
        .msg_name = name,
        .msg_namelen = out->namelen,
        .msg_control = name + reactor->shape.msg_namelen,
        .msg_controllen = out->controllen,
    };
    const struct io_packet packet = {
        .bytes = io_uring_recvmsg_payload(out, &reactor->shape),
        .size = io_uring_recvmsg_payload_length(out, size, &reactor->shape),
        .from = io_udp_from(&message),
        .stamp_ns = io_stamp_read(&message),
        .whole = !(out->flags & MSG_TRUNC),
    };
    reactor->tasks.packet(reactor->tasks.self, socket, &packet);
}

static void take_completion(struct io_reactor *reactor, const struct io_uring_cqe *cqe)
{
    const int source = (int)cqe->user_data;
    if (!(cqe->flags & IORING_CQE_F_MORE))
        reactor->unarmed |= 1u << source;
    if (!(cqe->flags & IORING_CQE_F_BUFFER))
        return; /* the wake, or a receive that ended (out of buffers): posted again */
    const unsigned buffer = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
    take_datagram(reactor, source, reactor->bytes + (size_t)buffer * BUFFER_SIZE, cqe->res);
    give_back(reactor, buffer);
}

static void wait_uring(struct io_reactor *reactor, uint64_t timeout_ns)
{
    struct __kernel_timespec timeout = {
        .tv_sec = (long long)(timeout_ns / 1000000000u),
        .tv_nsec = (long long)(timeout_ns % 1000000000u),
    };
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;
    arm(reactor);
    (void)io_uring_submit_and_wait_timeout(&reactor->ring, &cqe, 1, &timeout, NULL);
    io_uring_for_each_cqe(&reactor->ring, head, cqe)
    {
        take_completion(reactor, cqe);
        count++;
    }
    io_uring_cq_advance(&reactor->ring, count);
}

static void drain_socket(struct io_reactor *reactor, int socket)
{
    struct io_packet packet;
    for (int i = 0; i < BATCH_MAX; i++) {
        if (io_udp_receive(reactor->socket[socket], &packet) <= 0)
            return;
        reactor->tasks.packet(reactor->tasks.self, socket, &packet);
    }
}

static void wait_poll(struct io_reactor *reactor, uint64_t timeout_ns)
{
    const struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / 1000000000u),
        .tv_nsec = (long)(timeout_ns % 1000000000u),
    };
    struct pollfd watch[IO_REACTOR_SOCKET_MAX + 1];
    const int wake = reactor->socket_count;
    for (int i = 0; i < wake; i++)
        watch[i] = (struct pollfd){.fd = reactor->socket[i]->fd, .events = POLLIN};
    watch[wake] = (struct pollfd){.fd = reactor->wake_fd, .events = POLLIN};
    if (ppoll(watch, (nfds_t)wake + 1, &timeout, NULL) <= 0)
        return;
    if (watch[wake].revents & POLLIN) {
        const ssize_t size = read(reactor->wake_fd, &reactor->wake_count, sizeof(uint64_t));
        (void)size;
    }
    for (int i = 0; i < wake; i++)
        if (watch[i].revents & POLLIN)
            drain_socket(reactor, i);
}

void io_reactor_wait(struct io_reactor *reactor, uint64_t timeout_ns)
{
    if (reactor->has_ring)
        wait_uring(reactor, timeout_ns);
    else
        wait_poll(reactor, timeout_ns);
}
