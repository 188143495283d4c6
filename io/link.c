/*
 * What the I/O thread and the inline mode do is the same code; they differ in who calls it:
 *
 *      threaded   run(): doze() in the reactor, or receive() when it polls; then send_waiting()
 *      inline     io_links_poll(): receive(); io_link_commit(): send_sample()
 *
 * Everything of a link belongs to the sending thread (the I/O thread, or the frame thread in inline
 * mode), except what is atomic and what stands under "frame thread".
 */
#include "io/link.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/udp.h"
#include "io/bus/uring.h"
#include "io/protocol/mavlink.h"
#include "rt/alloc.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/mailbox.h"
#include "rt/ring.h"

enum {
    SAMPLES_WAITING_MAX = 8, /* how many frames late the I/O thread may be without losing one */
    DATAGRAMS_PER_POLL = 8,  /* of the peer */
    STRANGERS_PER_PEER = 4,  /* so many of strangers cost a poll as much as one of the peer */
    TICK_NS = 20000000,
    HELLO_TICKS = 10,            /* between two greetings of a named peer that has not spoken */
    STAMP_TRUST_NS = 1000000000, /* a datagram that lay longer in the kernel has a wrong stamp */
    STAMP_SLACK_NS = 1000000,    /* error of the clock mapping, generously */
};

const char *const io_part_name[IO_PART_COUNT] = {"wire_in", "grid_wait", "step",
                                                 "hold",    "wire_out",  "sum"};

/* Written by one thread, read by any. */
struct tally {
    _Atomic uint64_t rx, rx_bytes, rx_bad, rx_lost, refused;
    _Atomic uint64_t tx, tx_bytes, tx_dropped;
    _Atomic uint64_t commands, losses;
};

/* A sample on its way to the I/O thread. */
struct letter {
    struct io_sample sample;
    uint64_t handed_ns;
};

/* A sample that has left and whose kernel stamp has not come yet. */
struct departure {
    bool open;
    uint64_t frame, handed_ns, sent_ns;
    struct io_trace trace;
};

struct link {
    struct io_link_spec spec;
    struct io_udp udp;
    struct io_mavlink_parser *parser;
    struct io_mavlink_sender sender;
    struct departure departure;
    bool fixed_peer; /* named by the spec, not learned */
    bool lost;
    uint32_t sequence; /* of the newest command */
    uint32_t ticks;    /* while nobody has spoken */

    _Atomic uint64_t peer;       /* packed address; 0: not known yet */
    _Atomic uint64_t heard_ns;   /* newest sound message of the peer; 0: none yet */
    _Atomic uint64_t command_ns; /* newest command; 0: none yet */
    _Atomic uint32_t arrived;    /* its sequence: the word on which io_link_await() sleeps */
    struct tally tally;
    struct rt_mailbox *commands; /* to the frame */
    struct rt_ring *samples;     /* from the frame, of struct letter */
    struct io_latency latency;

    /* Written before the run, for io_links_safe() in whatever thread or signal handler. */
    _Atomic int safe_fd;
    size_t safe_size;
    unsigned char safe[IO_MAVLINK_FRAME_MAX];

    /* frame thread */
    _Alignas(RT_CACHE_LINE) atomic_bool awaited;
    uint32_t latched;           /* sequence of the command that was latched last */
    _Atomic uint64_t not_taken; /* messages of samples that found the ring full */
};

struct io_links {
    enum io_link_mode mode;
    int link_count;
    bool is_open, polls;
    struct link *link;
    struct io_reactor *reactor;
    struct rt_watchdog *watchdog;
    struct rt_thread *thread; /* NULL: not running */
    struct rt_wall_map wall;
    uint64_t next_tick_ns;
    uint64_t faults_at_entry;
    _Atomic uint64_t faults;
    atomic_bool stop;
    atomic_bool safe; /* no sample leaves any more */
    _Alignas(RT_CACHE_LINE) atomic_bool sleeping;
};

/* One layout answers size and placement. */
static size_t lay_out(struct io_links *links, int link_count, void *mem)
{
    size_t at = 0;
    (void)rt_cut(mem, &at, sizeof *links);
    links->link = rt_cut(mem, &at, (size_t)link_count * sizeof *links->link);
    links->reactor = rt_cut(mem, &at, io_reactor_size());
    for (int i = 0; i < link_count; i++) {
        void *parser = rt_cut(mem, &at, io_mavlink_parser_size());
        void *commands = rt_cut(mem, &at, rt_mailbox_size(sizeof(struct io_command)));
        void *samples = rt_cut(mem, &at, rt_ring_size(sizeof(struct letter), SAMPLES_WAITING_MAX));
        if (!mem)
            continue;
        memset(&links->link[i], 0, sizeof links->link[i]);
        links->link[i].parser = io_mavlink_parser_place(parser);
        links->link[i].commands = rt_mailbox_place(sizeof(struct io_command), commands);
        links->link[i].samples = rt_ring_place(sizeof(struct letter), SAMPLES_WAITING_MAX, samples);
    }
    return at;
}

size_t io_links_size(int link_count)
{
    struct io_links links;
    return lay_out(&links, link_count, NULL);
}

struct io_links *io_links_place(const struct io_link_spec *specs, int link_count,
                                enum io_link_mode mode, void *mem)
{
    RT_CHECK(link_count >= 0 && link_count <= IO_LINK_MAX);
    struct io_links *links = mem;
    memset(links, 0, sizeof *links);
    (void)lay_out(links, link_count, mem);
    (void)io_reactor_place(links->reactor);
    links->mode = mode;
    links->link_count = link_count;
    for (int i = 0; i < link_count; i++) {
        links->link[i].spec = specs[i];
        links->link[i].udp.fd = -1;
        links->link[i].sender = (struct io_mavlink_sender){
            .system_id = specs[i].system_id,
            .component_id = specs[i].component_id,
        };
        atomic_init(&links->link[i].safe_fd, -1);
    }
    return links;
}

static struct link *at(struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

static const struct link *look(const struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

/* One writer, so no locked instruction is needed. */
static void add(_Atomic uint64_t *counter, uint64_t count)
{
    const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + count, memory_order_relaxed);
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Set-up. */

static int refuse_address(const struct link *link, const char *key, const char *text, char *error)
{
    (void)snprintf(error, IO_ERROR_MAX,
                   "links.%s.%s: \"%s\" is not an IPv4 address and port like 127.0.0.1:14560",
                   link->spec.name, key, text);
    return -EINVAL;
}

static int refuse_bind(const struct link *link, struct io_address listen, int status, char *error)
{
    const char *name = link->spec.name;
    if (status == -EADDRINUSE)
        (void)snprintf(error, IO_ERROR_MAX,
                       "links.%s.listen: port %u is in use (another run?); choose another "
                       "links.%s.listen",
                       name, listen.port, name);
    else if (status == -EADDRNOTAVAIL)
        (void)snprintf(error, IO_ERROR_MAX,
                       "links.%s.listen: %s is not an address of this machine; 0.0.0.0 listens on "
                       "all of them",
                       name, link->spec.listen);
    else
        (void)snprintf(error, IO_ERROR_MAX, "links.%s.listen: cannot listen on %s: %s", name,
                       link->spec.listen, strerror(-status));
    return status;
}

static void prepare_safe(struct link *link)
{
    struct io_mavlink_message message;
    struct io_mavlink_sender sender = link->sender;
    io_mavlink_from_status(IO_MAVLINK_EMERGENCY, &message);
    link->safe_size = io_mavlink_encode(&sender, &message, link->safe);
    atomic_store(&link->safe_fd, link->udp.fd);
}

static int open_link(struct link *link, char *error)
{
    struct io_address listen, peer = {0};
    if (io_address_parse(link->spec.listen, &listen) < 0)
        return refuse_address(link, "listen", link->spec.listen, error);
    link->fixed_peer = link->spec.peer[0] != '\0';
    if (link->fixed_peer && (io_address_parse(link->spec.peer, &peer) < 0 || peer.port == 0))
        return refuse_address(link, "peer", link->spec.peer, error);
    const int status = io_udp_open(&link->udp, listen);
    if (status < 0)
        return refuse_bind(link, listen, status, error);
    atomic_store(&link->peer, io_address_pack(peer));
    prepare_safe(link);
    return 0;
}

static void close_links(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        atomic_store(&links->link[i].safe_fd, -1);
        io_udp_close(&links->link[i].udp);
    }
    if (links->mode == IO_LINK_THREADED)
        io_reactor_close(links->reactor);
    links->is_open = false;
}

static void take_packet(void *self, int index, const struct io_packet *packet);

static int open_reactor(struct io_links *links, char *error)
{
    struct io_udp *sockets[IO_LINK_MAX];
    const struct io_reactor_tasks tasks = {.self = links, .packet = take_packet};
    for (int i = 0; i < links->link_count; i++)
        sockets[i] = &links->link[i].udp;
    const int status = io_reactor_open_udp(links->reactor, sockets, links->link_count, &tasks);
    if (status < 0)
        (void)snprintf(error, IO_ERROR_MAX, "links: no descriptor to wake the I/O thread: %s",
                       strerror(-status));
    return status;
}

int io_links_open(struct io_links *links, char error[IO_ERROR_MAX])
{
    int status = 0;
    error[0] = '\0';
    for (int i = 0; i < links->link_count && status == 0; i++)
        status = open_link(&links->link[i], error);
    if (status == 0 && links->mode == IO_LINK_THREADED)
        status = open_reactor(links, error);
    rt_wall_map_sample(&links->wall);
    links->is_open = true;
    if (status < 0)
        close_links(links);
    return status;
}

const char *io_links_note(const struct io_links *links)
{
    return io_reactor_note(links->reactor);
}

uint16_t io_link_port(const struct io_links *links, int link)
{
    return io_udp_local(&look(links, link)->udp).port;
}

/* Safe. */

void io_links_safe(struct io_links *links)
{
    atomic_store(&links->safe, true);
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        const int fd = atomic_load(&link->safe_fd);
        const uint64_t peer = atomic_load(&link->peer);
        if (fd >= 0 && peer != 0)
            io_udp_shout(fd, io_address_unpack(peer), link->safe, link->safe_size);
    }
}

/* Out. */

static bool send_message(struct link *link, const struct io_mavlink_message *message, bool stamped)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const uint64_t peer = read_counter(&link->peer);
    if (peer == 0) {
        add(&link->tally.tx_dropped, 1);
        return false;
    }
    const size_t size = io_mavlink_encode(&link->sender, message, frame);
    if (io_udp_send(&link->udp, io_address_unpack(peer), frame, size, stamped) < 0) {
        add(&link->tally.tx_dropped, 1);
        return false;
    }
    add(&link->tally.tx, 1);
    add(&link->tally.tx_bytes, size);
    return true;
}

/* Stamps come from two clocks and one mapping between them, so a short part may come out a little
 * negative: it is 0 then. */
static uint64_t span(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void record_latency(struct link *link, uint64_t sent_ns)
{
    const struct departure *left = &link->departure;
    const struct io_trace *trace = &left->trace;
    const uint64_t part[IO_PART_COUNT] = {
        [IO_PART_WIRE_IN] = span(trace->rx_ns, trace->ready_ns),
        [IO_PART_GRID_WAIT] = span(trace->ready_ns, trace->latch_ns),
        [IO_PART_STEP] = span(trace->latch_ns, trace->step_ns),
        [IO_PART_HOLD] = span(trace->step_ns, left->handed_ns),
        [IO_PART_WIRE_OUT] = span(left->handed_ns, sent_ns),
    };
    uint64_t sum = 0;
    for (int i = 0; i < IO_PART_SUM; i++)
        sum += part[i];
    for (int i = 0; i < IO_PART_COUNT; i++) {
        const uint64_t value = i == IO_PART_SUM ? sum : part[i];
        rt_histogram_add(&link->latency.part[i], value, left->frame);
        atomic_store_explicit(&link->latency.last[i], value, memory_order_relaxed);
    }
    link->departure.open = false;
}

/* A kernel stamp on our clock; outside [floor, ceiling] the wall clock was set meanwhile, and the
 * time that we saw ourselves has to do. */
static uint64_t on_our_clock(const struct io_links *links, uint64_t stamp_ns, uint64_t floor_ns,
                             uint64_t ceiling_ns, uint64_t seen_ns)
{
    const uint64_t ns = rt_wall_map_to_monotonic(&links->wall, stamp_ns);
    return stamp_ns == 0 || ns < floor_ns || ns > ceiling_ns ? seen_ns : ns;
}

/* Look for the kernel's stamp of the last traced sample. */
static void settle(struct io_links *links, struct link *link)
{
    uint64_t stamp_ns;
    if (!link->departure.open || !io_udp_sent(&link->udp, &stamp_ns))
        return;
    const struct departure *left = &link->departure;
    record_latency(link, on_our_clock(links, stamp_ns, left->handed_ns - STAMP_SLACK_NS,
                                      rt_now_ns() + STAMP_SLACK_NS, left->sent_ns));
}

static void depart(struct io_links *links, struct link *link, const struct io_sample *sample,
                   uint64_t handed_ns)
{
    if (link->departure.open)
        record_latency(link, link->departure.sent_ns); /* its stamp never came */
    link->departure = (struct departure){
        .open = true,
        .frame = sample->frame,
        .handed_ns = handed_ns,
        .sent_ns = rt_now_ns(),
        .trace = sample->trace,
    };
    if (link->udp.stamps_sent)
        settle(links, link);
    else
        record_latency(link, link->departure.sent_ns);
}

static uint64_t unix_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void send_time(struct link *link, const struct io_sample *sample)
{
    const struct io_mavlink_message message = {
        .kind = IO_MAVLINK_TIME,
        .time = {.unix_us = unix_us(), .boot_ms = (uint32_t)(sample->sim_us / 1000u)},
    };
    (void)send_message(link, &message, false);
}

static void send_status(struct link *link, enum io_mavlink_status status)
{
    struct io_mavlink_message message;
    io_mavlink_from_status(status, &message);
    (void)send_message(link, &message, false);
}

static bool send_part(struct link *link, const struct io_sample *sample, enum io_mavlink_kind kind,
                      bool stamped)
{
    struct io_mavlink_message message;
    io_mavlink_from_sample(sample, kind, &message);
    return send_message(link, &message, stamped);
}

/* HIL_SENSOR moves the clock of a board in lockstep, so it is the last message of a sample. */
static void send_sample(struct io_links *links, struct link *link, const struct io_sample *sample,
                        uint64_t handed_ns)
{
    const bool traced = sample->trace.rx_ns != 0;
    if (sample->due & IO_SEND_HEARTBEAT)
        send_status(link, IO_MAVLINK_ACTIVE);
    if (sample->due & IO_SEND_TIME)
        send_time(link, sample);
    if (sample->due & IO_SEND_GPS)
        (void)send_part(link, sample, IO_MAVLINK_GPS, false);
    if (sample->due & IO_SEND_STATE)
        (void)send_part(link, sample, IO_MAVLINK_STATE, false);
    if (sample->due & IO_SEND_SENSOR && send_part(link, sample, IO_MAVLINK_SENSOR, traced) &&
        traced)
        depart(links, link, sample, handed_ns);
}

static uint64_t count_due(const struct io_sample *sample)
{
    return (uint64_t)__builtin_popcount(sample->due);
}

static void send_waiting(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        const struct letter *letter;
        while ((letter = rt_ring_front(link->samples)) != NULL) {
            if (atomic_load_explicit(&links->safe, memory_order_relaxed))
                add(&link->tally.tx_dropped, count_due(&letter->sample));
            else
                send_sample(links, link, &letter->sample, letter->handed_ns);
            rt_ring_pop(link->samples);
        }
        settle(links, link);
    }
}

/* In. */

static bool silent(const struct link *link, uint64_t since_ns, uint64_t now_ns)
{
    const uint64_t limit_ns = link->spec.lost_after_ns;
    return limit_ns != 0 && now_ns > since_ns && now_ns - since_ns > limit_ns;
}

/* The first to say something sound is the peer.  Others are foreign, until it has been silent for
 * so long that its place is free. */
static bool may_speak(const struct link *link, uint64_t from, uint64_t now_ns)
{
    const uint64_t peer = read_counter(&link->peer);
    if (peer == from)
        return true;
    if (link->fixed_peer)
        return false;
    return peer == 0 || silent(link, read_counter(&link->heard_ns), now_ns);
}

static void wake_waiter(struct link *link)
{
    (void)syscall(SYS_futex, &link->arrived, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* `arrived` and `awaited` are both sequentially consistent here and in io_link_await(): either this
 * side sees that somebody waits, or that side sees what arrived.  The futex compares `arrived` once
 * more inside the kernel, so nothing is lost between the look and the sleep. */
static void take_command(struct link *link, uint64_t rx_ns,
                         const struct io_mavlink_message *message)
{
    struct io_command *command = rt_mailbox_back(link->commands);
    const uint64_t ready_ns = rt_now_ns();
    io_mavlink_to_command(message, command);
    command->rx_ns = rx_ns;
    command->ready_ns = ready_ns;
    command->sequence = ++link->sequence;
    rt_mailbox_publish(link->commands);
    atomic_store_explicit(&link->command_ns, ready_ns, memory_order_relaxed);
    add(&link->tally.commands, 1);
    link->lost = false;
    atomic_store(&link->arrived, link->sequence);
    if (atomic_load(&link->awaited))
        wake_waiter(link);
}

static bool asks_us(const struct link *link, const struct io_mavlink_timesync *timesync)
{
    return timesync->tc1 == 0 &&
           (timesync->target_system == 0 || timesync->target_system == link->spec.system_id) &&
           (timesync->target_component == 0 ||
            timesync->target_component == link->spec.component_id);
}

static void answer(struct link *link, const struct io_mavlink_message *request)
{
    struct io_mavlink_message message;
    io_mavlink_answer(request, rt_now_ns(), &message);
    (void)send_message(link, &message, false);
}

static void take_message(struct link *link, uint64_t from, uint64_t rx_ns, uint64_t now_ns,
                         const struct io_mavlink_message *message)
{
    atomic_store(&link->peer, from);
    atomic_store_explicit(&link->heard_ns, now_ns, memory_order_relaxed);
    if (message->kind == IO_MAVLINK_CONTROLS)
        take_command(link, rx_ns, message);
    else if (message->kind == IO_MAVLINK_TIMESYNC && asks_us(link, &message->timesync))
        answer(link, message);
}

static void publish_counters(struct link *link)
{
    const struct io_mavlink_counters *in = io_mavlink_counted(link->parser);
    struct tally *tally = &link->tally;
    atomic_store_explicit(&tally->rx, in->messages, memory_order_relaxed);
    atomic_store_explicit(&tally->rx_lost, in->lost, memory_order_relaxed);
    atomic_store_explicit(&tally->rx_bad, in->bad_crc + in->bad_length + in->bad_header,
                          memory_order_relaxed);
}

static void take_packet(void *self, int index, const struct io_packet *packet)
{
    struct io_links *links = self;
    struct link *link = &links->link[index];
    const uint64_t from = io_address_pack(packet->from);
    const uint64_t now_ns = rt_now_ns();
    add(&link->tally.rx_bytes, packet->size);
    if (!packet->whole || !may_speak(link, from, now_ns)) {
        add(&link->tally.refused, 1);
        return;
    }
    if (from != read_counter(&link->peer))
        io_mavlink_forget(link->parser);
    const uint64_t rx_ns =
        on_our_clock(links, packet->stamp_ns, now_ns - STAMP_TRUST_NS, now_ns, now_ns);
    for (size_t used = 0; used < packet->size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(link->parser, packet->bytes + used, packet->size - used, &message);
        if (message.kind > IO_MAVLINK_UNKNOWN)
            take_message(link, from, rx_ns, now_ns, &message);
    }
    io_mavlink_end(link->parser);
    publish_counters(link);
}

static void receive(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        struct io_packet packet;
        const _Atomic uint64_t *refused = &links->link[i].tally.refused;
        for (int k = 0; k < STRANGERS_PER_PEER * DATAGRAMS_PER_POLL; k++) {
            const uint64_t before = read_counter(refused);
            if (io_udp_receive(&links->link[i].udp, &packet) <= 0)
                break;
            take_packet(links, i, &packet);
            if (read_counter(refused) == before)
                k += STRANGERS_PER_PEER - 1;
        }
    }
}

/* The slow pulse: every 20 ms, in whichever thread does the sending. */

static void notice_loss(struct link *link, uint64_t now_ns)
{
    const uint64_t command_ns = read_counter(&link->command_ns);
    if (command_ns == 0 || link->lost || !silent(link, command_ns, now_ns))
        return;
    link->lost = true;
    add(&link->tally.losses, 1);
}

/* A board may wait to be spoken to; one whose address is known is. */
static void greet(struct link *link)
{
    if (link->fixed_peer && read_counter(&link->heard_ns) == 0 && link->ticks++ % HELLO_TICKS == 0)
        send_status(link, IO_MAVLINK_ACTIVE);
}

static uint64_t thread_faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static void tick(struct io_links *links, uint64_t now_ns)
{
    links->next_tick_ns = now_ns + TICK_NS;
    rt_wall_map_sample(&links->wall);
    for (int i = 0; i < links->link_count; i++) {
        notice_loss(&links->link[i], now_ns);
        greet(&links->link[i]);
    }
}

static void guard(struct io_links *links, uint64_t now_ns)
{
    const bool barks = links->watchdog && rt_watchdog_bark(links->watchdog, now_ns);
    if (barks || atomic_load_explicit(&links->safe, memory_order_relaxed))
        io_links_safe(links); /* again and again: a datagram may get lost */
    atomic_store_explicit(&links->faults, thread_faults() - links->faults_at_entry,
                          memory_order_relaxed);
}

/* The I/O thread. */

static bool has_work(struct io_links *links)
{
    if (atomic_load_explicit(&links->stop, memory_order_relaxed))
        return true;
    for (int i = 0; i < links->link_count; i++)
        if (rt_ring_front(links->link[i].samples))
            return true;
    return false;
}

/*
 * Sleep, unless there is work.  The frame thread pushes and then exchanges `sleeping` (rouse());
 * this thread exchanges it and then looks at the rings.  One exchange comes first:
 *
 *   ours first     theirs returns true, so the frame thread writes to the wake-up descriptor
 *   theirs first   ours reads what theirs wrote; theirs released, ours acquires: the push is
 * visible
 *
 * Either way the sample goes out, and a thread that is awake costs the frame no system call.
 */
static void doze(struct io_links *links, uint64_t timeout_ns)
{
    (void)atomic_exchange_explicit(&links->sleeping, true, memory_order_acq_rel);
    if (!has_work(links))
        io_reactor_wait(links->reactor, timeout_ns);
    atomic_store_explicit(&links->sleeping, false, memory_order_relaxed);
}

static void rouse(struct io_links *links)
{
    if (atomic_exchange_explicit(&links->sleeping, false, memory_order_acq_rel))
        io_reactor_wake(links->reactor);
}

static void run(void *self)
{
    struct io_links *links = self;
    if (!links->polls)
        io_reactor_enter(links->reactor);
    rt_alloc_watch();
    links->faults_at_entry = thread_faults();
    while (!atomic_load_explicit(&links->stop, memory_order_relaxed)) {
        const uint64_t now_ns = rt_now_ns();
        if (now_ns >= links->next_tick_ns) {
            tick(links, now_ns);
            guard(links, now_ns);
        }
        if (links->polls)
            receive(links);
        else
            doze(links, span(now_ns, links->next_tick_ns));
        send_waiting(links);
    }
    send_waiting(links);
    guard(links, rt_now_ns());
    rt_alloc_unwatch();
}

int io_links_start(struct io_links *links, const struct rt_thread_spec *spec, bool polls,
                   struct rt_watchdog *watchdog, struct rt_thread *thread)
{
    RT_CHECK(links->is_open);
    if (links->mode == IO_LINK_INLINE)
        return 0;
    links->polls = polls;
    links->watchdog = watchdog;
    const int status = rt_thread_start(thread, spec, run, links);
    links->thread = status < 0 ? NULL : thread;
    return status;
}

void io_links_stop(struct io_links *links)
{
    if (!links->is_open)
        return;
    if (links->thread) {
        atomic_store(&links->stop, true);
        rouse(links);
        rt_thread_join(links->thread);
        links->thread = NULL;
    }
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        if (link->departure.open)
            record_latency(link, link->departure.sent_ns);
        if (read_counter(&link->peer) != 0)
            send_status(link, IO_MAVLINK_POWEROFF);
    }
    close_links(links);
}

/* The frame thread. */

void io_links_poll(struct io_links *links)
{
    if (links->mode != IO_LINK_INLINE)
        return;
    const uint64_t now_ns = rt_now_ns();
    if (now_ns >= links->next_tick_ns)
        tick(links, now_ns);
    receive(links);
    for (int i = 0; i < links->link_count; i++)
        settle(links, &links->link[i]);
}

bool io_link_latch(struct io_links *links, int link, struct io_command *command)
{
    struct link *from = at(links, link);
    bool fresh;
    *command = *(const struct io_command *)rt_mailbox_take(from->commands, &fresh);
    from->latched = command->sequence;
    return fresh;
}

void io_link_commit(struct io_links *links, int link, const struct io_sample *sample)
{
    struct link *to = at(links, link);
    const uint64_t handed_ns = rt_now_ns();
    const bool is_inline = links->mode == IO_LINK_INLINE;
    const bool safe = atomic_load_explicit(&links->safe, memory_order_relaxed);
    struct letter *letter = safe || is_inline ? NULL : rt_ring_claim(to->samples);
    if (is_inline && !safe) {
        send_sample(links, to, sample, handed_ns);
        return;
    }
    if (!letter) {
        add(&to->not_taken, count_due(sample));
        return;
    }
    letter->sample = *sample;
    letter->handed_ns = handed_ns;
    rt_ring_push(to->samples);
    rouse(links);
}

/* The sequence is published a moment after the letter, so the latch may be ahead of it. */
static bool has_fresh(const struct link *link, uint32_t arrived)
{
    return (int32_t)(arrived - link->latched) > 0;
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / 1000000000u),
        .tv_nsec = (long)(ns % 1000000000u),
    };
}

static bool await_thread(struct link *link, uint64_t deadline_ns)
{
    const struct timespec deadline = to_timespec(deadline_ns);
    uint32_t arrived;
    atomic_store(&link->awaited, true);
    while (arrived = atomic_load(&link->arrived), !has_fresh(link, arrived)) {
        const long status = syscall(SYS_futex, &link->arrived, FUTEX_WAIT_BITSET_PRIVATE, arrived,
                                    &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
        if (status < 0 && errno == ETIMEDOUT)
            break;
    }
    atomic_store(&link->awaited, false);
    return has_fresh(link, atomic_load(&link->arrived));
}

static bool await_inline(struct io_links *links, struct link *link, uint64_t deadline_ns)
{
    for (;;) {
        io_links_poll(links);
        if (has_fresh(link, atomic_load(&link->arrived)))
            return true;
        const uint64_t now_ns = rt_now_ns();
        if (now_ns >= deadline_ns)
            return false;
        const struct timespec left = to_timespec(deadline_ns - now_ns);
        struct pollfd watch = {.fd = link->udp.fd, .events = POLLIN};
        (void)ppoll(&watch, 1, &left, NULL);
    }
}

bool io_link_await(struct io_links *links, int link, uint64_t sim_us, uint64_t limit_ns)
{
    struct link *from = at(links, link);
    (void)sim_us;
    if (has_fresh(from, atomic_load(&from->arrived)))
        return true;
    const uint64_t deadline_ns = rt_now_ns() + limit_ns;
    return links->mode == IO_LINK_INLINE ? await_inline(links, from, deadline_ns)
                                         : await_thread(from, deadline_ns);
}

/* Any thread. */

bool io_link_alive(const struct io_links *links, int link, uint64_t now_ns)
{
    const struct link *from = look(links, link);
    const uint64_t command_ns = read_counter(&from->command_ns);
    return command_ns != 0 && !silent(from, command_ns, now_ns);
}

bool io_link_has_peer(const struct io_links *links, int link)
{
    return read_counter(&look(links, link)->heard_ns) != 0;
}

void io_link_counters(const struct io_links *links, int link, struct io_counters *counters)
{
    const struct link *of = look(links, link);
    const struct tally *tally = &of->tally;
    *counters = (struct io_counters){
        .rx = read_counter(&tally->rx),
        .tx = read_counter(&tally->tx),
        .rx_bytes = read_counter(&tally->rx_bytes),
        .tx_bytes = read_counter(&tally->tx_bytes),
        .rx_bad = read_counter(&tally->rx_bad) + read_counter(&tally->refused),
        .rx_lost = read_counter(&tally->rx_lost),
        .tx_dropped = read_counter(&tally->tx_dropped) + read_counter(&of->not_taken),
        .commands = read_counter(&tally->commands),
        .losses = read_counter(&tally->losses),
    };
}

const struct io_latency *io_link_latency(const struct io_links *links, int link)
{
    return &look(links, link)->latency;
}

uint64_t io_links_page_faults(const struct io_links *links)
{
    return read_counter(&links->faults);
}
