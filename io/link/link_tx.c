/*
 * Samples out: the hand-over from the frame thread, the encoding, and the sending.
 */
#include "io/link/link_private.h"

#include <time.h>

enum { COUNT_MISSES = 2 }; /* replies missed in a row after which the count starts anew */

/* The address to send to; port 0: none is known yet.  A bus with one far end needs no address. */
static struct io_address destination(const struct link *link)
{
    if (link->addressed)
        return io_address_unpack(read_counter(&link->peer));
    return io_bus_connected(&link->bus) ? io_address_far_end : (struct io_address){0};
}

bool io_link_transmit(struct link *link, const void *bytes, size_t size, enum io_destination target,
                      bool stamped)
{
    struct io_address peer = destination(link);
    if (peer.port == 0)
        return false;
    if (link->faults_out > 0)
        size = io_link_apply_faults_out(link, &bytes, size);
    peer.port = (uint16_t)(peer.port + target);
    if (size > 0 && io_bus_send(&link->bus, peer, bytes, size, stamped) < 0)
        return false;
    add_to_counter(&link->tally.tx, 1);
    add_to_counter(&link->tally.tx_bytes, size);
    return true;
}

void io_link_send_message(void *self, const void *bytes, size_t size, enum io_destination target,
                          bool stamped)
{
    struct link *link = self;
    if (!io_link_transmit(link, bytes, size, target, stamped && link->sending.traced))
        add_to_counter(&link->tally.tx_dropped, 1);
    else if (stamped)
        link->sending.closed = true;
}

void io_link_send_status(struct link *link, enum io_status status)
{
    io_protocol_send_status(link->protocol, status, &link->port);
}

/* The sending thread. */

static uint64_t unix_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* A traced sample has left.  Its latency is recorded when the stamp of the kernel comes, or at once
 * where the bus has none. */
static void note_departure(struct io_links *links, struct link *link,
                           const struct io_sample *sample, uint64_t handed_ns)
{
    if (link->departure.open)
        io_link_record_latency(links, link, link->departure.sent_ns); /* its stamp never came */
    link->departure = (struct departure){
        .open = true,
        .frame = sample->frame,
        .handed_ns = handed_ns,
        .sent_ns = rt_now_ns(),
        .trace = sample->trace,
    };
    if (io_bus_has_tx_timestamp(&link->bus))
        io_link_fetch_tx_stamp(links, link);
    else
        io_link_record_latency(links, link, link->departure.sent_ns);
}

static void send_sample(struct io_links *links, struct link *link, const struct io_sample *sample,
                        uint64_t handed_ns)
{
    if (link->traits->hands) {
        io_link_record_motion_latency(links, link, sample, handed_ns);
        return;
    }
    io_link_update_station(link, sample->frame);
    const uint64_t wall_us = sample->due & IO_SEND_TIME ? unix_us() : 0;
    link->sending = (struct sending){.traced = sample->trace.rx_ns != 0};
    io_protocol_encode(link->protocol, sample, wall_us, &link->port);
    if (link->sending.closed) {
        link->clock.last_us = sample->sim_us;
        if (link->clock.first_us == 0)
            link->clock.first_us = sample->sim_us;
        if (link->sending.traced)
            note_departure(links, link, sample, handed_ns);
    }
    link->sending = (struct sending){0};
}

static uint64_t count_due(const struct io_sample *sample)
{
    return (uint64_t)__builtin_popcount(sample->due);
}

void io_links_send_waiting(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        const struct sample_out *sample_out;
        bool sent = false;
        while ((sample_out = rt_ring_front(link->samples)) != NULL) {
            if (atomic_load_explicit(&links->invalid, memory_order_relaxed))
                add_to_counter(&link->tally.tx_dropped, count_due(&sample_out->sample));
            else
                send_sample(links, link, &sample_out->sample, sample_out->handed_ns);
            rt_ring_pop(link->samples);
            sent = true;
        }
        io_link_collect_tx_stamp(links, link);
        if (sent)
            io_link_forward_frames(link, rt_now_ns());
    }
}

/* The frame thread. */

/* Expect one reply more than have come, or than are still owed.  Before the first reply nothing is
 * owed, because a board that boots leaves dozens of samples unanswered.  Nor is anything owed after
 * some misses in a row: a lost reply looks like a late one, and must not cost every later reply. */
static void expect_reply(struct link *link)
{
    const uint32_t arrived = atomic_load(&link->arrived);
    const bool starts_anew = arrived == 0 || link->misses >= COUNT_MISSES;
    if (starts_anew || (int32_t)(arrived - link->needed) > 0)
        link->needed = arrived;
    link->needed++;
    link->sequence_at_send = arrived;
    link->awaits_reply = true;
}

void io_link_commit(struct io_links *links, int link, const struct io_sample *sample)
{
    struct link *to = link_at(links, link);
    const uint64_t handed_ns = rt_now_ns();
    const bool is_inline = links->mode == IO_LINK_INLINE;
    const bool invalid = atomic_load_explicit(&links->invalid, memory_order_relaxed);
    atomic_store_explicit(&to->frame, sample->frame, memory_order_relaxed);
    if (to->traits->hands && sample->trace.rx_ns == 0)
        return; /* nothing is sent to a hand controller, and there is no latency to measure */
    struct sample_out *sample_out = invalid || is_inline ? NULL : rt_ring_claim(to->samples);
    if (sample->due & IO_SEND_SENSOR && (sample_out || (is_inline && !invalid)))
        expect_reply(to);
    if (is_inline && !invalid) {
        send_sample(links, to, sample, handed_ns);
        io_link_forward_frames(to, handed_ns);
        return;
    }
    if (!sample_out) {
        add_to_counter(&to->not_queued, count_due(sample));
        return;
    }
    sample_out->sample = *sample;
    sample_out->handed_ns = handed_ns;
    rt_ring_push(to->samples);
    io_links_wake_thread(links);
}
