/*
 * Injected faults of the wire: messages that are lost, cut or changed on purpose, in both
 * directions.  The engine is io/device/fault.c.  Tested by tests/scenario/run/test_faults.py.
 */
#include "io/link/link_private.h"

#include <string.h>

void io_link_place_faults(struct link *link)
{
    enum { STREAM_OUT = 5000, STREAM_IN = 6000 };
    for (int i = 0; i < link->spec.fault_count; i++) {
        const struct io_link_fault *fault = &link->spec.fault[i];
        struct wire_fault *out = &link->fault_out[link->faults_out];
        struct wire_fault *in = &link->fault_in[link->faults_in];
        atomic_init(&link->window[i].first_frame, fault->spec.first_frame);
        atomic_init(&link->window[i].last_frame, fault->spec.last_frame);
        if (fault->out) {
            out->spec = &fault->spec;
            out->index = i;
            io_fault_begin(out->spec, link->spec.seed, STREAM_OUT + (uint64_t)i, &out->state);
            link->faults_out++;
        }
        if (fault->in) {
            in->spec = &fault->spec;
            in->index = i;
            io_fault_begin(in->spec, link->spec.seed, STREAM_IN + (uint64_t)i, &in->state);
            link->faults_in++;
        }
    }
}

/* Apply one fault to one message, if the frame is within its window of now. */
static size_t apply_fault(struct link *link, struct wire_fault *fault, uint64_t frame,
                          unsigned char *bytes, size_t size)
{
    const struct fault_window *window = &link->window[fault->index];
    io_fault_move(&fault->state, read_counter(&window->first_frame),
                  read_counter(&window->last_frame));
    return io_fault_frame(fault->spec, &fault->state, frame, bytes, size);
}

size_t io_link_apply_faults_out(struct link *link, const void **bytes, size_t size)
{
    const uint64_t frame = read_counter(&link->frame);
    if (size > sizeof link->faulted_out)
        return size;
    memcpy(link->faulted_out, *bytes, size);
    *bytes = link->faulted_out;
    for (int i = 0; i < link->faults_out && size > 0; i++)
        size = apply_fault(link, &link->fault_out[i], frame, link->faulted_out, size);
    return size;
}

bool io_link_apply_faults_in(struct link *link, struct io_packet *packet)
{
    const uint64_t frame = read_counter(&link->frame);
    if (packet->size > sizeof link->faulted_in)
        return true;
    memcpy(link->faulted_in, packet->bytes, packet->size);
    packet->bytes = link->faulted_in;
    for (int i = 0; i < link->faults_in && packet->size > 0; i++)
        packet->size = apply_fault(link, &link->fault_in[i], frame, link->faulted_in, packet->size);
    return packet->size > 0;
}

/* The stores are relaxed and the end comes first: the sending thread may see one half for a message
 * or two, and the fault then does not act yet. */
void io_link_fault_move(struct io_links *links, int link, int fault, uint64_t first_frame,
                        uint64_t last_frame)
{
    struct fault_window *window = &links->link[link].window[fault];
    atomic_store_explicit(&window->last_frame, last_frame, memory_order_relaxed);
    atomic_store_explicit(&window->first_frame, first_frame, memory_order_relaxed);
}

uint64_t io_link_fault_hits(const struct io_links *links, int link, int fault)
{
    const struct link *of = const_link_at(links, link);
    uint64_t hits = 0;
    for (int i = 0; i < of->faults_out; i++)
        hits +=
            of->fault_out[i].spec == &of->spec.fault[fault].spec ? of->fault_out[i].state.hits : 0;
    for (int i = 0; i < of->faults_in; i++)
        hits +=
            of->fault_in[i].spec == &of->spec.fault[fault].spec ? of->fault_in[i].state.hits : 0;
    return hits;
}
