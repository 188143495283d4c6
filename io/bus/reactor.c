#include "io/bus/reactor.h"

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
#include "rt/clock.h"

enum {
    PAGE = 4096,
    BUFFER_COUNT = 64, /* a power of two; as many datagrams may come between two waits */
    BUFFER_SIZE = 2304,
    BUFFER_GROUP = 0,
    SLOT_WAKE = IO_REACTOR_BUS_MAX * IO_BUS_WATCH_MAX, /* slots before it: the buses' watches */
    SLOT_COUNT,
    SUBMISSIONS = 64, /* per wait: at most a cancel and a post for each slot */
    COMPLETIONS = 2 * BUFFER_COUNT,
    BATCH_MAX = 16, /* packets per bus and wait, where each is received by a call */
    POLL_PERIOD_NS = 200000,
};
_Static_assert(SUBMISSIONS >= 2 * SLOT_COUNT, "the queue has room for all that is posted");

static const uint64_t no_completion =
    UINT64_MAX; /* user_data of an entry whose completion is ignored */

/* The kernel writes this before the payload of a datagram. */
enum {
    HEADER_SIZE =
        sizeof(struct io_uring_recvmsg_out) + sizeof(struct sockaddr_in) + IO_TIMESTAMP_CONTROL_SIZE
};
_Static_assert(BUFFER_SIZE >= HEADER_SIZE + IO_DATAGRAM_MAX, "a whole datagram fits a buffer");

/* A bus and its descriptors.  Completions of an earlier epoch belong to closed descriptors. */
struct source {
    struct io_udp *udp; /* NULL: not UDP */
    struct io_bus *bus;
    struct io_bus_watch watch[IO_BUS_WATCH_MAX];
    int watch_count;
    uint32_t generation, epoch;
};

struct io_reactor {
    struct io_reactor_tasks tasks;
    struct source source[IO_REACTOR_BUS_MAX];
    int source_count;
    bool has_polled_bus; /* at least one bus cannot wake the thread */
    int wake_fd;
    uint64_t wake_count; /* io_uring reads wake_fd into it */

    bool has_ring;
    struct io_uring ring;
    struct msghdr shape; /* the room that a receive leaves for name and control */
    uint32_t unarmed;    /* one bit per slot: its receive, poll or read must be posted */
    struct io_uring_buf_ring *buffers; /* page-aligned, as the kernel requires */
    unsigned char *bytes;

    char note[IO_REACTOR_NOTE_MAX];
};

static size_t place_reactor(unsigned char *mem)
{
    size_t at = 0;
    struct io_reactor *reactor = rt_layout_cut(mem, &at, sizeof *reactor);
    unsigned char *buffers =
        rt_layout_cut(mem, &at, BUFFER_COUNT * sizeof(struct io_uring_buf) + PAGE - 1);
    unsigned char *bytes = rt_layout_cut(mem, &at, (size_t)BUFFER_COUNT * BUFFER_SIZE);
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
    return place_reactor(NULL);
}

struct io_reactor *io_reactor_place(void *mem)
{
    (void)place_reactor(mem);
    return mem;
}

const char *io_reactor_note(const struct io_reactor *reactor)
{
    return reactor->note;
}

static void return_buffer(struct io_reactor *reactor, unsigned buffer)
{
    unsigned char *bytes = reactor->bytes + (size_t)buffer * BUFFER_SIZE;
    io_uring_buf_ring_add(reactor->buffers, bytes, HEADER_SIZE + IO_DATAGRAM_MAX,
                          (unsigned short)buffer, io_uring_buf_ring_mask(BUFFER_COUNT), 0);
    io_uring_buf_ring_advance(reactor->buffers, 1);
}

/* Multishot recvmsg has no probe bit.  It came in the same release, 6.0, as the zero-copy send,
 * which has one. */
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

static int register_buffers(struct io_reactor *reactor)
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
        return_buffer(reactor, i);
    return 0;
}

static int open_uring(struct io_reactor *reactor)
{
    int status = open_ring(&reactor->ring);
    if (status < 0)
        return status;
    status = has_multishot(&reactor->ring) ? register_buffers(reactor) : -EOPNOTSUPP;
    if (status < 0)
        io_uring_queue_exit(&reactor->ring);
    return status;
}

static void note_fallback(struct io_reactor *reactor, int status)
{
    const char *why = status == -EOPNOTSUPP || status == -ENOSYS || status == -EINVAL
                          ? "this kernel's io_uring is absent or older than 6.0"
                          : strerror(-status);
    (void)snprintf(reactor->note, sizeof reactor->note,
                   "I/O waits in poll instead of io_uring (%s): more system calls per message.",
                   why);
}

/* Read the watches of a bus again if they have changed; true when they have. */
static bool update_watches(struct source *source)
{
    if (source->generation == io_bus_generation(source->bus))
        return false;
    source->generation = io_bus_generation(source->bus);
    source->watch_count = io_bus_watches(source->bus, source->watch);
    return true;
}

static uint32_t slot_bits(int source, int watch_count)
{
    return ((1u << watch_count) - 1) << (source * IO_BUS_WATCH_MAX);
}

static int open_sources(struct io_reactor *reactor, const struct io_reactor_tasks *tasks)
{
    reactor->tasks = *tasks;
    /* The descriptor is blocking, or io_uring would not wait for it; a write of 1 never blocks. */
    reactor->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (reactor->wake_fd < 0)
        return -errno;
    reactor->shape = (struct msghdr){
        .msg_namelen = sizeof(struct sockaddr_in),
        .msg_controllen = IO_TIMESTAMP_CONTROL_SIZE,
    };
    reactor->unarmed = 1u << SLOT_WAKE;
    for (int i = 0; i < reactor->source_count; i++)
        reactor->unarmed |= slot_bits(i, reactor->source[i].watch_count);
    const int status = open_uring(reactor);
    reactor->has_ring = status == 0;
    if (status < 0)
        note_fallback(reactor, status);
    return 0;
}

int io_reactor_open(struct io_reactor *reactor, struct io_bus *const *buses, int bus_count,
                    const struct io_reactor_tasks *tasks)
{
    RT_CHECK(bus_count >= 0 && bus_count <= IO_REACTOR_BUS_MAX);
    reactor->source_count = bus_count;
    for (int i = 0; i < bus_count; i++) {
        struct source *source = &reactor->source[i];
        source->bus = buses[i];
        source->udp = buses[i]->spec.kind == IO_BUS_UDP ? &buses[i]->udp : NULL;
        source->generation = io_bus_generation(buses[i]);
        source->watch_count = io_bus_watches(buses[i], source->watch);
        reactor->has_polled_bus = reactor->has_polled_bus || io_bus_needs_polling(buses[i]);
    }
    return open_sources(reactor, tasks);
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

/* This is io_uring_enable_rings(), which liburing 2.3 declares but does not export. */
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
    (void)written; /* it fails only when the counter is full, and then a wake is pending */
    errno = saved;
}

static uint64_t slot_name(const struct io_reactor *reactor, int slot)
{
    const uint32_t epoch = slot == SLOT_WAKE ? 0 : reactor->source[slot / IO_BUS_WATCH_MAX].epoch;
    return (uint64_t)epoch << 32 | (unsigned)slot;
}

/* A poll on a closed descriptor has to be cancelled, because it would keep the file open. */
static void cancel(struct io_reactor *reactor, int slot)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&reactor->ring);
    if (!sqe)
        return;
    io_uring_prep_poll_remove(sqe, slot_name(reactor, slot));
    sqe->user_data = no_completion;
}

static void rewatch_source(struct io_reactor *reactor, int index)
{
    struct source *source = &reactor->source[index];
    const uint32_t armed = slot_bits(index, source->watch_count) & ~reactor->unarmed;
    if (!update_watches(source))
        return;
    for (int slot = 0; slot < SLOT_WAKE; slot++)
        if (armed & 1u << slot)
            cancel(reactor, slot);
    source->epoch++;
    reactor->unarmed &= ~slot_bits(index, IO_BUS_WATCH_MAX);
    reactor->unarmed |= slot_bits(index, source->watch_count);
}

static void prepare_slot(struct io_reactor *reactor, int slot, struct io_uring_sqe *sqe)
{
    if (slot == SLOT_WAKE) {
        io_uring_prep_read(sqe, reactor->wake_fd, &reactor->wake_count, sizeof reactor->wake_count,
                           0);
        return;
    }
    const struct source *source = &reactor->source[slot / IO_BUS_WATCH_MAX];
    if (source->udp) {
        io_uring_prep_recvmsg_multishot(sqe, source->udp->fd, &reactor->shape, 0);
        sqe->flags |= IOSQE_BUFFER_SELECT;
        sqe->buf_group = BUFFER_GROUP;
    } else {
        io_uring_prep_poll_add(sqe, source->watch[slot % IO_BUS_WATCH_MAX].fd, POLLIN);
    }
}

static void post_unarmed(struct io_reactor *reactor)
{
    for (int i = 0; i < reactor->source_count; i++)
        rewatch_source(reactor, i);
    for (int slot = 0; reactor->unarmed && slot < SLOT_COUNT; slot++) {
        if (!(reactor->unarmed & 1u << slot))
            continue;
        struct io_uring_sqe *sqe = io_uring_get_sqe(&reactor->ring);
        if (!sqe)
            return; /* cannot happen, the queue is large enough; posted next time */
        prepare_slot(reactor, slot, sqe);
        sqe->user_data = slot_name(reactor, slot);
        reactor->unarmed &= ~(1u << slot);
    }
}

/* Receive a bounded number of packets; returns how many came. */
static int drain(struct io_reactor *reactor, int index)
{
    struct io_packet packet;
    for (int i = 0; i < BATCH_MAX; i++) {
        if (io_bus_receive(reactor->source[index].bus, &packet) <= 0)
            return i;
        reactor->tasks.packet(reactor->tasks.self, index, &packet);
    }
    return BATCH_MAX;
}

/* The tick comes last, because receiving notices that a peer has left, and the tick then accepts
 * the next one. */
static void receive_and_tick(struct io_reactor *reactor, int index, bool wants_tick)
{
    (void)drain(reactor, index);
    if (wants_tick)
        io_bus_tick(reactor->source[index].bus, rt_now_ns());
}

/* header | name | control | payload */
static void handle_datagram(struct io_reactor *reactor, int index, unsigned char *bytes, int size)
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
        .stamp_ns = io_timestamp_read(&message),
        .whole = !(out->flags & MSG_TRUNC),
    };
    io_bus_account(reactor->source[index].bus, &packet);
    reactor->tasks.packet(reactor->tasks.self, index, &packet);
}

static void handle_completion(struct io_reactor *reactor, const struct io_uring_cqe *cqe)
{
    const int slot = (int)(cqe->user_data & UINT32_MAX);
    if (cqe->user_data == no_completion || cqe->user_data != slot_name(reactor, slot))
        return;
    if (!(cqe->flags & IORING_CQE_F_MORE))
        reactor->unarmed |= 1u << slot;
    if (slot == SLOT_WAKE)
        return;
    const int index = slot / IO_BUS_WATCH_MAX;
    if (!reactor->source[index].udp) {
        receive_and_tick(reactor, index,
                         reactor->source[index].watch[slot % IO_BUS_WATCH_MAX].wants_tick);
        return;
    }
    if (!(cqe->flags & IORING_CQE_F_BUFFER))
        return; /* a receive that ended for lack of buffers; it is posted again */
    const unsigned buffer = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
    handle_datagram(reactor, index, reactor->bytes + (size_t)buffer * BUFFER_SIZE, cqe->res);
    return_buffer(reactor, buffer);
}

/* True when the wait ended before its timeout. */
static bool wait_uring(struct io_reactor *reactor, uint64_t timeout_ns)
{
    struct __kernel_timespec timeout = {
        .tv_sec = (long long)(timeout_ns / 1000000000u),
        .tv_nsec = (long long)(timeout_ns % 1000000000u),
    };
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;
    post_unarmed(reactor);
    (void)io_uring_submit_and_wait_timeout(&reactor->ring, &cqe, 1, &timeout, NULL);
    io_uring_for_each_cqe(&reactor->ring, head, cqe)
    {
        handle_completion(reactor, cqe);
        count++;
    }
    io_uring_cq_advance(&reactor->ring, count);
    return count > 0;
}

static nfds_t collect_watches(struct io_reactor *reactor, struct pollfd watch[SLOT_COUNT],
                              int slot[SLOT_COUNT])
{
    nfds_t count = 0;
    for (int i = 0; i < reactor->source_count; i++) {
        struct source *source = &reactor->source[i];
        (void)update_watches(source);
        for (int k = 0; k < source->watch_count; k++) {
            slot[count] = i * IO_BUS_WATCH_MAX + k;
            watch[count++] = (struct pollfd){.fd = source->watch[k].fd, .events = POLLIN};
        }
    }
    slot[count] = SLOT_WAKE;
    watch[count++] = (struct pollfd){.fd = reactor->wake_fd, .events = POLLIN};
    return count;
}

static void handle_ready(struct io_reactor *reactor, int slot)
{
    const int index = slot / IO_BUS_WATCH_MAX;
    if (slot == SLOT_WAKE) {
        const ssize_t size = read(reactor->wake_fd, &reactor->wake_count, sizeof(uint64_t));
        (void)size;
    } else {
        receive_and_tick(reactor, index,
                         reactor->source[index].watch[slot % IO_BUS_WATCH_MAX].wants_tick);
    }
}

static bool wait_poll(struct io_reactor *reactor, uint64_t timeout_ns)
{
    const struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / 1000000000u),
        .tv_nsec = (long)(timeout_ns % 1000000000u),
    };
    struct pollfd watch[SLOT_COUNT];
    int slot[SLOT_COUNT];
    const nfds_t count = collect_watches(reactor, watch, slot);
    if (ppoll(watch, count, &timeout, NULL) <= 0)
        return false;
    for (nfds_t i = 0; i < count; i++)
        if (watch[i].revents)
            handle_ready(reactor, slot[i]);
    return true;
}

static bool wait_once(struct io_reactor *reactor, uint64_t timeout_ns)
{
    return reactor->has_ring ? wait_uring(reactor, timeout_ns) : wait_poll(reactor, timeout_ns);
}

/* Receive from the buses that cannot wake the thread; true when a packet came. */
static bool poll_buses(struct io_reactor *reactor)
{
    int found = 0;
    for (int i = 0; i < reactor->source_count; i++)
        if (io_bus_needs_polling(reactor->source[i].bus))
            found += drain(reactor, i);
    return found > 0;
}

void io_reactor_wait(struct io_reactor *reactor, uint64_t timeout_ns)
{
    if (!reactor->has_polled_bus) {
        (void)wait_once(reactor, timeout_ns);
        return;
    }
    const uint64_t end_ns = rt_now_ns() + timeout_ns;
    bool ended = poll_buses(reactor);
    do {
        const uint64_t now_ns = rt_now_ns();
        const uint64_t left_ns = end_ns > now_ns && !ended ? end_ns - now_ns : 0;
        ended =
            wait_once(reactor, left_ns < POLL_PERIOD_NS ? left_ns : POLL_PERIOD_NS) || left_ns == 0;
        ended = poll_buses(reactor) || ended;
    } while (!ended);
}
