/*
 * Packets in: which sender is the peer, and what becomes of its commands and clock replies.
 */
#include "io/link/link_private.h"

#include <string.h>

#include "rt/estop.h"

enum {
    DATAGRAMS_PER_POLL = 8,      /* of the peer */
    REFUSED_PER_ACCEPTED = 4,    /* so many foreign ones cost a poll as much as one of the peer */
    STAMP_TRUST_NS = 1000000000, /* a stamp that is older than this when it is read is wrong */
    QUERY_PERIOD_NS = 40000000,  /* between two queries of the board's time */
    CLOCK_VOTES = 3,             /* replies with times we sent: the board has our clock */
};

/* Is the peer there? */

/* A hand controller sends nothing at rest.  Where the bus detects its device, it is present as long
 * as the device is. */
static bool presence_is_known(const struct link *link)
{
    return link->traits->hands && io_bus_kind_detects_peer(link->bus.spec.kind);
}

bool io_link_is_silent(const struct link *link, uint64_t since_ns, uint64_t now_ns)
{
    const uint64_t limit_ns = link->spec.lost_after_ns;
    if (presence_is_known(link))
        return !io_bus_connected(&link->bus);
    return limit_ns != 0 && now_ns > since_ns && now_ns - since_ns > limit_ns;
}

/* During a pause no samples leave, so a board that only replies to samples is not lost. */
bool io_link_lacks_command(const struct link *link, uint64_t command_ns, uint64_t now_ns)
{
    const uint64_t limit_ns = link->spec.lost_after_ns;
    if (link->spec.awaited)
        return limit_ns != 0 && io_link_waited_ns(link) > limit_ns;
    const uint64_t loss_timer_from_ns = read_counter(&link->loss_timer_from_ns);
    return io_link_is_silent(
        link, command_ns > loss_timer_from_ns ? command_ns : loss_timer_from_ns, now_ns);
}

/* The first sender of a valid message becomes the peer.  Other senders are refused until the peer
 * has been silent for long enough to count as lost. */
static bool is_accepted_sender(const struct link *link, uint64_t from, uint64_t now_ns)
{
    const uint64_t peer = read_counter(&link->peer);
    if (peer == from || !link->addressed)
        return true; /* a bus with one far end chooses its peer itself */
    if (link->fixed_peer)
        return false;
    return peer == 0 || io_link_is_silent(link, read_counter(&link->heard_ns), now_ns);
}

/* The key of the sender; a peer that sends from several ports is identified by its listening
 * port. */
static uint64_t sender_key(const struct link *link, struct io_address from)
{
    if (link->peer_listen_port != 0)
        from.port = link->peer_listen_port;
    return io_address_pack(from);
}

/* On a connected bus the peer changes with each connection; of a datagram the address decides. */
static bool is_new_peer(struct link *link, uint64_t from)
{
    const uint64_t connects = read_counter(&link->bus.tally.connects);
    if (link->addressed)
        return from != read_counter(&link->peer);
    const bool anew = connects != link->connects;
    link->connects = connects;
    return anew;
}

static void reset_peer(struct link *link)
{
    io_protocol_new_peer(link->protocol);
    link->peer_has_spoken = false;
    link->clock.votes = 0;
    link->gap_from_ns = 0;
}

void io_link_note_peer(void *self)
{
    struct link *link = self;
    link->peer_has_spoken = true;
    atomic_store(&link->peer, link->arrival.from);
    atomic_store_explicit(&link->heard_ns, link->arrival.now_ns, memory_order_relaxed);
}

/* Commands. */

/* A board whose replies carry times that we sent runs on simulated time. */
static void check_board_clock(struct link *link, uint64_t board_us)
{
    struct board_clock_check *clock = &link->clock;
    if (clock->first_us == 0)
        return;
    if (board_us < clock->first_us || board_us > clock->last_us)
        clock->votes = -1;
    else if (clock->votes >= 0 && clock->votes < CLOCK_VOTES)
        clock->votes++;
    atomic_store(&link->on_sim_time, clock->votes == CLOCK_VOTES);
}

static void update_gap(struct link *link, uint64_t rx_ns)
{
    const uint64_t gap_ns = link->gap_from_ns ? elapsed_ns(link->gap_from_ns, rx_ns) : 0;
    link->gap_from_ns = rx_ns;
    if (gap_ns > read_counter(&link->gap_ns_max))
        atomic_store_explicit(&link->gap_ns_max, gap_ns, memory_order_relaxed);
    if (link->spec.late_after_ns != 0 && gap_ns > link->spec.late_after_ns)
        add_to_counter(&link->tally.late, 1);
}

/* A frame that does its own I/O fetches, at its release, a command that may have been in the kernel
 * for a while.  That while is the wait for the grid; only the time of the fetch counts as wire. */
static uint64_t latchable_ns(const struct arrival *arrival, uint64_t now_ns)
{
    if (arrival->poll_began_ns <= arrival->rx_ns)
        return now_ns;
    return arrival->rx_ns + elapsed_ns(arrival->poll_began_ns, now_ns);
}

/* A press is found by its edge and by the count of presses, because a short one may be over when
 * the report arrives. */
static void check_stop_buttons(struct link *link, const struct io_command *received)
{
    const uint64_t before = link->buttons;
    const uint32_t pressed = (uint32_t)(received->flags >> 32 ^ before >> 32) |
                             ((uint32_t)received->flags & ~(uint32_t)before);
    link->buttons = received->flags;
    if (link->estop && link->sequence > 1 && (pressed & link->stop_buttons) != 0)
        (void)rt_estop_raise(link->estop, RT_ESTOP_BUTTON, rt_now_ns());
}

/* `arrived` and `awaited` are both sequentially consistent here and in io_link_await(): either this
 * side sees that the frame waits, or that side sees what arrived.  The futex compares `arrived`
 * once more inside the kernel, so nothing is lost between the check and the sleep. */
bool io_link_receive_command(void *self, const struct io_command *received)
{
    struct link *link = self;
    struct io_command *command = rt_mailbox_back(link->commands);
    const uint64_t ready_ns = latchable_ns(&link->arrival, rt_now_ns());
    *command = *received;
    command->rx_ns = link->arrival.rx_ns;
    command->ready_ns = ready_ns;
    command->sequence = ++link->sequence;
    const bool met = rt_mailbox_publish(link->commands);
    check_stop_buttons(link, received);
    update_gap(link, link->arrival.rx_ns);
    check_board_clock(link, received->board_us);
    atomic_store_explicit(&link->command_ns, ready_ns, memory_order_relaxed);
    add_to_counter(&link->tally.commands, 1);
    link->lost = false;
    atomic_store(&link->replied_us, received->board_us);
    atomic_store(&link->arrived, link->sequence);
    if (atomic_load(&link->awaited))
        io_link_wake_waiter(link);
    return met;
}

void io_link_receive_clock_reply(void *self, uint64_t asked_ns, uint64_t board_ns)
{
    struct link *link = self;
    struct io_clock_sample *clock_sample = rt_mailbox_back(link->clock_samples);
    const uint64_t delay_ns = elapsed_ns(asked_ns, link->arrival.rx_ns);
    *clock_sample = (struct io_clock_sample){asked_ns + delay_ns / 2, board_ns, delay_ns};
    (void)rt_mailbox_publish(link->clock_samples);
    link->next_query_ns = asked_ns + QUERY_PERIOD_NS;
}

/* Packets. */

static void publish_counters(struct link *link)
{
    const struct io_protocol_counters in = io_protocol_get_counters(link->protocol);
    const struct io_protocol_facts *facts = io_protocol_facts(link->protocol);
    struct tally *tally = &link->tally;
    atomic_store_explicit(&tally->rx, in.rx, memory_order_relaxed);
    atomic_store_explicit(&tally->rx_lost, in.rx_lost, memory_order_relaxed);
    atomic_store_explicit(&tally->rx_bad, in.rx_bad, memory_order_relaxed);
    atomic_store_explicit(&tally->duplicates, in.duplicates, memory_order_relaxed);
    atomic_store_explicit(&link->board, (uint32_t)facts->board, memory_order_relaxed);
}

/* The time at which the last byte of the packet was in. */
static uint64_t arrival_ns(const struct io_links *links, const struct io_packet *packet,
                           uint64_t now_ns)
{
    const uint64_t floor_ns = now_ns - STAMP_TRUST_NS;
    return packet->monotonic
               ? io_link_plausible_stamp(packet->stamp_ns, floor_ns, now_ns, now_ns)
               : io_link_stamp_to_monotonic(links, packet->stamp_ns, floor_ns, now_ns, now_ns);
}

void io_link_receive_packet(void *self, int index, const struct io_packet *arrived)
{
    struct io_links *links = self;
    struct link *link = &links->link[index];
    struct io_packet packet = *arrived;
    const uint64_t from = sender_key(link, packet.from);
    const uint64_t now_ns = rt_now_ns();
    add_to_counter(&link->tally.rx_bytes, packet.size);
    if (!packet.whole || !is_accepted_sender(link, from, now_ns)) {
        add_to_counter(&link->tally.refused, 1);
        return;
    }
    if (link->faults_in > 0 && !io_link_apply_faults_in(link, &packet))
        return;
    if (is_new_peer(link, from))
        reset_peer(link);
    link->arrival = (struct arrival){
        .from = from,
        .rx_ns = arrival_ns(links, &packet, now_ns),
        .now_ns = now_ns,
        .poll_began_ns = links->poll_began_ns,
    };
    link->protocol->ops->receive(link->protocol, packet.bytes, packet.size, now_ns, &link->port);
    publish_counters(link);
}

void io_links_receive_all(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        struct io_packet packet;
        const _Atomic uint64_t *refused = &links->link[i].tally.refused;
        for (int k = 0; k < REFUSED_PER_ACCEPTED * DATAGRAMS_PER_POLL; k++) {
            const uint64_t before = read_counter(refused);
            if (io_bus_receive(&links->link[i].bus, &packet) <= 0)
                break;
            io_link_receive_packet(links, i, &packet);
            if (read_counter(refused) == before)
                k += REFUSED_PER_ACCEPTED - 1;
        }
    }
}

/* To the frame thread. */

bool io_link_latch(struct io_links *links, int link, struct io_command *command)
{
    struct link *from = link_at(links, link);
    bool fresh;
    *command = *(const struct io_command *)rt_mailbox_take(from->commands, &fresh);
    from->latched = command->sequence;
    return fresh;
}

bool io_link_clock(struct io_links *links, int link, struct io_clock_sample *clock_sample)
{
    bool fresh;
    *clock_sample = *(const struct io_clock_sample *)rt_mailbox_take(
        link_at(links, link)->clock_samples, &fresh);
    return fresh;
}
