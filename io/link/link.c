/*
 * Links: set-up and stop, the invalidation of the outputs, and what any thread may read.  The work
 * of a frame is in the other files that io/link/link_private.h lists.
 */
#include "io/link/link_private.h"

#include <stdio.h>
#include <string.h>

/* Memory. */

/* The size of a link does not depend on its protocol. */
static size_t protocol_room(void)
{
    size_t room = 0;
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        const struct io_protocol_spec spec = {.kind = (enum io_protocol_kind)i};
        const size_t size = io_protocol_size(&spec);
        room = size > room ? size : room;
    }
    return room;
}

/* One layout gives the size and the places. */
static size_t place_links(struct io_links *links, int link_count, void *mem)
{
    size_t at = 0;
    (void)rt_layout_cut(mem, &at, sizeof *links);
    links->link = rt_layout_cut(mem, &at, (size_t)link_count * sizeof *links->link);
    links->reactor = rt_layout_cut(mem, &at, io_reactor_size());
    for (int i = 0; i < link_count; i++) {
        void *protocol = rt_layout_cut(mem, &at, protocol_room());
        void *commands = rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct io_command)));
        void *clock_samples =
            rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct io_clock_sample)));
        void *samples = rt_layout_cut(
            mem, &at, rt_ring_size(sizeof(struct sample_out), IO_LINK_QUEUED_SAMPLES));
        void *station = rt_layout_cut(mem, &at, io_ground_station_size());
        if (!mem)
            continue;
        memset(&links->link[i], 0, sizeof links->link[i]);
        links->link[i].protocol = protocol;
        links->link[i].station = station;
        links->link[i].station_udp.fd = -1;
        links->link[i].commands = rt_mailbox_place(sizeof(struct io_command), commands);
        links->link[i].clock_samples =
            rt_mailbox_place(sizeof(struct io_clock_sample), clock_samples);
        links->link[i].samples =
            rt_ring_place(sizeof(struct sample_out), IO_LINK_QUEUED_SAMPLES, samples);
    }
    return at;
}

size_t io_links_size(int link_count)
{
    struct io_links links;
    return place_links(&links, link_count, NULL);
}

static void place_link(struct link *link, const struct io_link_spec *spec)
{
    const struct io_protocol_spec protocol = {
        .kind = spec->protocol,
        .system_id = spec->system_id,
        .component_id = spec->component_id,
        .stream = io_bus_kind_is_stream(spec->bus.kind),
        .virtual_gps = spec->virtual_gps,
        .variant = spec->variant,
        .hand = spec->hand,
    };
    link->spec = *spec;
    link->addressed = io_bus_kind_is_addressed(spec->bus.kind);
    io_link_place_faults(link);
    link->traits = io_protocol_traits(spec->protocol);
    link->station = io_ground_station_place(&spec->script, link->station);
    link->protocol = io_protocol_place(&protocol, link->protocol);
    link->port = (struct io_protocol_port){
        .self = link,
        .heard = io_link_note_peer,
        .command = io_link_receive_command,
        .send = io_link_send_message,
        .clock = io_link_receive_clock_reply,
        .forward = io_link_queue_for_ground,
    };
    link->ground_port = link->port;
    link->ground_port.forward = io_link_queue_for_board;
    atomic_init(&link->can_send_emergency, false);
}

struct io_links *io_links_place(const struct io_link_spec *specs, int link_count,
                                enum io_link_mode mode, void *mem)
{
    RT_CHECK(link_count >= 0 && link_count <= IO_LINK_MAX);
    struct io_links *links = mem;
    memset(links, 0, sizeof *links);
    (void)place_links(links, link_count, mem);
    (void)io_reactor_place(links->reactor);
    links->mode = mode;
    links->link_count = link_count;
    for (int i = 0; i < link_count; i++)
        place_link(&links->link[i], &specs[i]);
    return links;
}

/* Opening and closing. */

static void prepare_invalid_message(struct link *link)
{
    link->invalid_size = io_protocol_invalid_message(link->protocol, link->invalid);
    atomic_store(&link->can_send_emergency, true);
}

static int open_link(struct link *link, char *error)
{
    _Static_assert((int)IO_BUS_ERROR_MAX <= (int)IO_ERROR_MAX,
                   "the error line of a bus fits that of a link");
    struct io_address peer = {0};
    link->spec.bus.name = link->spec.name;
    link->fixed_peer = link->addressed && link->spec.bus.peer[0] != '\0';
    const int status = io_bus_open(&link->bus, &link->spec.bus, error);
    if (status < 0)
        return status;
    if (link->fixed_peer)
        peer = io_bus_peer(&link->bus);
    if (link->traits->peer_port != 0)
        link->peer_listen_port = link->fixed_peer ? peer.port : link->traits->peer_port;
    atomic_store(&link->peer, io_address_pack(peer));
    prepare_invalid_message(link);
    return io_link_open_ground(link, error);
}

static void close_links(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        atomic_store(&links->link[i].can_send_emergency, false);
        io_bus_close(&links->link[i].bus);
        io_link_close_ground(&links->link[i]);
    }
    if (links->mode == IO_LINK_THREADED)
        io_reactor_close(links->reactor);
    links->is_open = false;
}

static int open_reactor(struct io_links *links, char *error)
{
    struct io_bus *buses[IO_LINK_MAX];
    const struct io_reactor_tasks tasks = {.self = links, .packet = io_link_receive_packet};
    for (int i = 0; i < links->link_count; i++)
        buses[i] = &links->link[i].bus;
    const int status = io_reactor_open(links->reactor, buses, links->link_count, &tasks);
    if (status < 0)
        (void)snprintf(error, IO_ERROR_MAX,
                       "links: no file descriptor for waking the I/O thread: %s",
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

void io_links_stop(struct io_links *links)
{
    if (!links->is_open)
        return;
    if (links->thread) {
        atomic_store(&links->stop, true);
        io_links_wake_thread(links);
        rt_thread_join(links->thread);
        links->thread = NULL;
    }
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        if (link->departure.open)
            io_link_record_latency(links, link, link->departure.sent_ns);
        if (read_counter(&link->peer) != 0)
            io_link_send_status(link, IO_STATUS_POWEROFF);
    }
    close_links(links);
}

/* What a run sets before it starts. */

void io_links_allow_spin(struct io_links *links, bool may)
{
    links->spins = may;
}

void io_links_estop(struct io_links *links, int link, uint32_t buttons, struct rt_estop *estop)
{
    struct link *of = link_at(links, link);
    of->stop_buttons = buttons;
    of->estop = estop;
}

uint16_t io_link_port(const struct io_links *links, int link)
{
    return io_bus_local(&const_link_at(links, link)->bus).port;
}

int io_link_cockpit_sender(const struct io_links *links, int link)
{
    return io_bus_cockpit_sender(&const_link_at(links, link)->bus);
}

/* Any thread. */

void io_links_invalidate_outputs(struct io_links *links)
{
    atomic_store(&links->invalid, true);
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        const uint64_t peer = atomic_load(&link->peer);
        if (atomic_load(&link->can_send_emergency) && peer != 0 && link->invalid_size > 0)
            io_bus_send_emergency(&link->bus, io_address_unpack(peer), link->invalid,
                                  link->invalid_size);
    }
}

const char *io_links_note(const struct io_links *links)
{
    return io_reactor_note(links->reactor);
}

bool io_link_alive(const struct io_links *links, int link, uint64_t now_ns)
{
    const struct link *from = const_link_at(links, link);
    const uint64_t command_ns = read_counter(&from->command_ns);
    return command_ns != 0 && !io_link_lacks_command(from, command_ns, now_ns);
}

bool io_link_has_peer(const struct io_links *links, int link)
{
    return read_counter(&const_link_at(links, link)->heard_ns) != 0;
}

enum io_board_state io_link_board_state(const struct io_links *links, int link)
{
    const struct link *of = const_link_at(links, link);
    const uint64_t heard_ns = read_counter(&of->heard_ns);
    if (heard_ns == 0 || io_link_is_silent(of, heard_ns, rt_now_ns()))
        return IO_BOARD_SILENT;
    return (enum io_board_state)atomic_load_explicit(&of->board, memory_order_relaxed);
}

void io_link_cadence(const struct io_links *links, int link, uint64_t now_ns,
                     struct io_cadence *cadence)
{
    const struct link *of = const_link_at(links, link);
    const uint64_t command_ns = read_counter(&of->command_ns);
    *cadence = (struct io_cadence){
        .since_ns = command_ns ? elapsed_ns(command_ns, now_ns) : 0,
        .gap_ns_max = read_counter(&of->gap_ns_max),
        .late = read_counter(&of->tally.late),
        .silent = read_counter(&of->tally.losses),
    };
}

void io_link_counters(const struct io_links *links, int link, struct io_link_counts *counters)
{
    const struct link *of = const_link_at(links, link);
    const struct tally *tally = &of->tally;
    *counters = (struct io_link_counts){
        .rx = read_counter(&tally->rx),
        .tx = read_counter(&tally->tx),
        .rx_bytes = read_counter(&tally->rx_bytes),
        .tx_bytes = read_counter(&tally->tx_bytes),
        .rx_bad = read_counter(&tally->rx_bad) + read_counter(&tally->refused),
        .rx_lost = read_counter(&tally->rx_lost),
        .tx_dropped = read_counter(&tally->tx_dropped) + read_counter(&of->not_queued),
        .commands = read_counter(&tally->commands),
        .losses = read_counter(&tally->losses),
        .duplicates = read_counter(&tally->duplicates),
        .forwarded = read_counter(&tally->forwarded),
        .forward_dropped = read_counter(&tally->forward_dropped) + read_counter(&tally->ground_bad),
    };
}

void io_links_restart_loss_timers(struct io_links *links, uint64_t now_ns)
{
    for (int i = 0; i < links->link_count; i++)
        if (!links->link[i].traits->hands)
            atomic_store_explicit(&links->link[i].loss_timer_from_ns, now_ns, memory_order_relaxed);
}
