/*
 * The I/O thread, the tick that it runs every 20 ms, and the poll that does the same work in the
 * frame thread in inline mode.
 *
 * Tested by every tests/io/link/test_link*.c, threaded, polling and inline.
 */
#include "io/link/link_private.h"

#include <sys/resource.h>

#include "rt/alloc.h"
#include "rt/estop.h"

enum {
    NEWCOMER_SILENT_NS = 1000000000, /* a connection that has sent nothing may be replaced then */
    GREETING_TICKS = 10,             /* between two greetings of a named peer that is silent */
    QUERY_LIMIT_NS = 500000000,      /* a query of the board's time is repeated after this */
};

static const uint64_t SILENT_NS = 5000000000; /* one that has fallen silent may be replaced then */

/* The tick: every 20 ms, in the sending thread. */

static void detect_loss(struct link *link, uint64_t now_ns)
{
    const uint64_t command_ns = read_counter(&link->command_ns);
    if (command_ns == 0 || link->lost || !io_link_lacks_command(link, command_ns, now_ns))
        return;
    link->lost = true;
    add_to_counter(&link->tally.losses, 1);
    if (link->estop)
        (void)rt_estop_raise(link->estop, RT_ESTOP_OPERATOR_LOST, now_ns);
}

/* A board may wait for a first message; send one when its address is configured. */
static void send_greeting(struct link *link)
{
    if (link->fixed_peer && read_counter(&link->heard_ns) == 0 &&
        link->ticks++ % GREETING_TICKS == 0)
        io_link_send_status(link, IO_STATUS_ACTIVE);
}

/* Query the time of a board that has sent a message.  A query without a reply is given up after a
 * while. */
static void query_time(struct link *link, uint64_t now_ns)
{
    if (!link->spec.queries_time || read_counter(&link->heard_ns) == 0 ||
        now_ns < link->next_query_ns)
        return;
    link->next_query_ns = now_ns + QUERY_LIMIT_NS;
    io_protocol_query_time(link->protocol, rt_now_ns(), &link->port);
}

/* A connection that has sent no valid message keeps its place for a moment, in which a newcomer
 * waits.  One that has sent some keeps it until it has been silent for long, because a PX4 that
 * boots leaves dozens of samples unanswered. */
static enum io_bus_newcomer_policy newcomer_policy(struct link *link, uint64_t now_ns)
{
    const uint64_t connects = read_counter(&link->bus.tally.connects);
    const uint64_t limit_ns = link->spec.lost_after_ns;
    if (link->connects_seen != connects) {
        link->connects_seen = connects;
        link->connected_since_ns = now_ns;
    }
    if (!link->peer_has_spoken || link->connects != connects)
        return elapsed_ns(link->connected_since_ns, now_ns) > NEWCOMER_SILENT_NS
                   ? IO_BUS_REPLACE_PEER
                   : IO_BUS_DEFER_NEWCOMER;
    const bool gone = limit_ns != 0 && elapsed_ns(read_counter(&link->heard_ns), now_ns) >
                                           (limit_ns > SILENT_NS ? limit_ns : SILENT_NS);
    return gone ? IO_BUS_REPLACE_PEER : IO_BUS_REFUSE_NEWCOMER;
}

static void tick_links(struct io_links *links, uint64_t now_ns)
{
    links->next_tick_ns = now_ns + IO_LINK_TICK_NS;
    rt_wall_map_sample(&links->wall);
    for (int i = 0; i < links->link_count; i++) {
        io_bus_newcomer_policy(&links->link[i].bus, newcomer_policy(&links->link[i], now_ns));
        io_bus_tick(&links->link[i].bus, now_ns);
        detect_loss(&links->link[i], now_ns);
        send_greeting(&links->link[i]);
        query_time(&links->link[i], now_ns);
        io_link_forward_frames(&links->link[i], now_ns);
    }
}

/* Inline mode. */

void io_links_poll_at(struct io_links *links, uint64_t now_ns, uint64_t poll_began_ns)
{
    links->poll_began_ns = poll_began_ns;
    if (now_ns >= links->next_tick_ns)
        tick_links(links, now_ns);
    io_links_receive_all(links);
    for (int i = 0; i < links->link_count; i++)
        io_link_collect_tx_stamp(links, &links->link[i]);
}

void io_links_poll(struct io_links *links)
{
    const uint64_t now_ns = rt_now_ns();
    if (links->mode == IO_LINK_INLINE)
        io_links_poll_at(links, now_ns, now_ns);
}

/* The I/O thread. */

static uint64_t thread_faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static void check_watchdog(struct io_links *links, uint64_t now_ns)
{
    const bool expired = links->watchdog && rt_watchdog_expired(links->watchdog, now_ns);
    if (expired || atomic_load_explicit(&links->invalid, memory_order_relaxed))
        io_links_invalidate_outputs(links); /* repeated, because a datagram may get lost */
    atomic_store_explicit(&links->faults, thread_faults() - links->faults_at_entry,
                          memory_order_relaxed);
}

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
 * Sleep, unless there is work.  The frame thread pushes a sample and then exchanges `sleeping`
 * (io_links_wake_thread()); this thread exchanges it and then checks the rings.  One exchange comes
 * first:
 *
 *   ours first     theirs returns true, so the frame thread writes to the wake-up descriptor
 *   theirs first   ours reads what theirs wrote; theirs released, ours acquires: the push is
 *                  visible
 *
 * Either way the sample goes out, and a thread that is awake costs the frame no system call.
 */
static void wait_for_work(struct io_links *links, uint64_t timeout_ns)
{
    (void)atomic_exchange_explicit(&links->sleeping, true, memory_order_acq_rel);
    if (!has_work(links))
        io_reactor_wait(links->reactor, timeout_ns);
    atomic_store_explicit(&links->sleeping, false, memory_order_relaxed);
}

void io_links_wake_thread(struct io_links *links)
{
    if (atomic_exchange_explicit(&links->sleeping, false, memory_order_acq_rel))
        io_reactor_wake(links->reactor);
}

static void io_thread_main(void *self)
{
    struct io_links *links = self;
    if (!links->polls)
        io_reactor_enter(links->reactor);
    rt_alloc_watch();
    links->faults_at_entry = thread_faults();
    while (!atomic_load_explicit(&links->stop, memory_order_relaxed)) {
        const uint64_t now_ns = rt_now_ns();
        if (now_ns >= links->next_tick_ns) {
            tick_links(links, now_ns);
            check_watchdog(links, now_ns);
        }
        if (links->polls)
            io_links_receive_all(links);
        else
            wait_for_work(links, elapsed_ns(now_ns, links->next_tick_ns));
        io_links_send_waiting(links);
    }
    io_links_send_waiting(links);
    check_watchdog(links, rt_now_ns());
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
    const int status = rt_thread_start(thread, spec, io_thread_main, links);
    links->thread = status < 0 ? NULL : thread;
    return status;
}

uint64_t io_links_page_faults(const struct io_links *links)
{
    return read_counter(&links->faults);
}
