/*
 * The loop latency of a link, in parts, from the last byte of a command to the sample that shows
 * its effect.
 */
#include "io/link/link_private.h"

enum { STAMP_SLACK_NS = 1000000 }; /* a generous bound of the error of the clock mapping */

const char *const io_latency_part_name[IO_LATENCY_COUNT] = {"wire_in", "grid_wait", "step",
                                                            "hold",    "wire_out",  "sum"};

void io_link_record_latency(const struct io_links *links, struct link *link, uint64_t sent_ns)
{
    const struct departure *left = &link->departure;
    const struct io_trace *trace = &left->trace;
    const uint64_t part[IO_LATENCY_COUNT] = {
        [IO_LATENCY_WIRE_IN] = elapsed_ns(trace->rx_ns, trace->ready_ns),
        [IO_LATENCY_GRID_WAIT] = elapsed_ns(trace->ready_ns, trace->latch_ns),
        [IO_LATENCY_STEP] = elapsed_ns(trace->latch_ns, trace->step_ns),
        [IO_LATENCY_HOLD] = elapsed_ns(trace->step_ns, left->handed_ns),
        [IO_LATENCY_WIRE_OUT] = elapsed_ns(left->handed_ns, sent_ns),
    };
    uint64_t sum = 0;
    for (int i = 0; i < IO_LATENCY_SUM; i++)
        sum += part[i];
    for (int i = 0; i < IO_LATENCY_COUNT; i++) {
        const uint64_t value = i == IO_LATENCY_SUM ? sum : part[i];
        rt_histogram_add(&link->latency.part[i], value, left->frame);
        atomic_store_explicit(&link->latency.last[i], value, memory_order_relaxed);
    }
    if (links->observer.observe != NULL)
        links->observer.observe(links->observer.self, (int)(link - links->link), left->frame,
                                trace->rx_ns, part);
    link->departure.open = false;
}

void io_link_fetch_tx_stamp(struct io_links *links, struct link *link)
{
    uint64_t stamp_ns;
    if (!io_bus_tx_timestamp(&link->bus, &stamp_ns))
        return;
    const struct departure *left = &link->departure;
    io_link_record_latency(links, link,
                           io_link_stamp_to_monotonic(links, stamp_ns,
                                                      left->handed_ns - STAMP_SLACK_NS,
                                                      rt_now_ns() + STAMP_SLACK_NS, left->sent_ns));
}

void io_link_record_motion_latency(const struct io_links *links, struct link *link,
                                   const struct io_sample *sample, uint64_t handed_ns)
{
    link->departure =
        (struct departure){.frame = sample->frame, .handed_ns = handed_ns, .trace = sample->trace};
    io_link_record_latency(links, link, handed_ns);
}

void io_links_observe_latency(struct io_links *links, struct io_latency_observer observer)
{
    RT_CHECK(links->thread == NULL);
    links->observer = observer;
}

const struct io_latency *io_link_latency(const struct io_links *links, int link)
{
    return &const_link_at(links, link)->latency;
}
