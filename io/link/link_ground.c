/*
 * The ground stations of a link: those of people, between which and the board frames are forwarded,
 * and the one that a script of the scenario drives.
 */
#include "io/link/link_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    GROUND_PERIOD_NS = 2000000, /* at least this long between two receives from ground stations */
    GROUND_DATAGRAMS = 4,       /* of each station, per receive */
    FORWARDED_FRAMES = 16,      /* in each direction, behind one sample */
    BACKLOG_SMALL = 64,         /* a frame is forwarded while no more bytes wait on the wire */
};

/* Set-up. */

static int refuse_address(const struct link *link, const char *key, const char *text, char *error)
{
    (void)snprintf(error, IO_ERROR_MAX,
                   "links.%s.%s: \"%s\" is not an IPv4 address and port like 127.0.0.1:14560",
                   link->spec.name, key, text);
    return -EINVAL;
}

static int open_ground_peer(struct link *link, const char *text, char *error)
{
    enum { LOOPBACK = 127 };
    struct ground_peer *ground = &link->ground[link->ground_count];
    if (io_address_parse(text, &ground->address) < 0 || ground->address.port == 0)
        return refuse_address(link, "ground", text, error);
    /* The socket is bound to loopback when the ground station is local, so that its port is not
     * visible on the network. */
    const bool local = ground->address.ip >> 24 == LOOPBACK;
    const struct io_address any = {.ip = local ? ground->address.ip : 0};
    const int status = io_udp_open(&ground->udp, any);
    if (status < 0)
        (void)snprintf(error, IO_ERROR_MAX, "links.%s.ground: no socket for %s: %s",
                       link->spec.name, text, strerror(-status));
    else
        link->ground_count++;
    return status;
}

static int open_ground_peers(struct link *link, char *error)
{
    int status = 0;
    if (link->spec.ground[0][0] != '\0' && !link->traits->forwards) {
        (void)snprintf(error, IO_ERROR_MAX,
                       "links.%s.ground: the protocol %s does not forward to ground stations; "
                       "connect them to the controller itself",
                       link->spec.name, link->traits->name);
        return -EINVAL;
    }
    for (int i = 0; i < IO_LINK_GROUND_MAX && link->spec.ground[i][0] != '\0' && status == 0; i++)
        status = open_ground_peer(link, link->spec.ground[i], error);
    return status;
}

/* Open the line of the scripted station, where it has its own.  Another ground station may hold the
 * port already: the run starts all the same, and io_link_ground_line_status() reports it. */
static int open_station(struct link *link, char *error)
{
    struct io_address at;
    const char *text = link->spec.ground_line;
    if (!io_link_has_station(link) || text[0] == '\0')
        return 0;
    if (io_address_parse(text, &at) < 0)
        return refuse_address(link, "ground_line", text, error);
    link->station_status = io_udp_open(&link->station_udp, at);
    return 0;
}

int io_link_open_ground(struct link *link, char *error)
{
    const int status = open_ground_peers(link, error);
    return status < 0 ? status : open_station(link, error);
}

void io_link_close_ground(struct link *link)
{
    for (int i = 0; i < link->ground_count; i++)
        io_udp_close(&link->ground[i].udp);
    link->ground_count = 0;
    if (link->station_udp.fd >= 0)
        io_udp_close(&link->station_udp);
}

void io_links_observe_ground(struct io_links *links, struct io_ground_observer observer)
{
    RT_CHECK(links->thread == NULL);
    for (observer.link = 0; observer.link < links->link_count; observer.link++)
        io_ground_station_observe(links->link[observer.link].station, observer);
}

/* Between the board and the ground stations of people. */

/* The scripted station has no line of its own and uses that of the board. */
static bool shares_board_line(const struct link *link)
{
    return link->spec.ground_line[0] == '\0';
}

void io_link_queue_for_ground(void *self, const void *bytes, size_t size)
{
    struct link *link = self;
    if (io_link_has_station(link) && shares_board_line(link))
        io_ground_station_receive(link->station, bytes, size, read_counter(&link->frame));
    if (link->ground_count > 0)
        add_to_counter(&link->tally.forward_dropped,
                       io_frame_queue_push(&link->to_ground, bytes, size));
}

void io_link_queue_for_board(void *self, const void *bytes, size_t size)
{
    struct link *link = self;
    add_to_counter(&link->tally.forward_dropped, io_frame_queue_push(&link->to_board, bytes, size));
}

static void receive_from_ground(struct link *link, struct ground_peer *ground)
{
    struct io_packet packet;
    for (int i = 0; i < GROUND_DATAGRAMS && io_udp_receive(&ground->udp, &packet) > 0; i++) {
        const uint64_t from = io_address_pack(packet.from);
        if (packet.whole && from == io_address_pack(ground->address))
            io_protocol_receive_ground(link->protocol, packet.bytes, packet.size,
                                       &link->ground_port);
        else
            add_to_counter(&link->tally.forward_dropped, 1);
    }
    atomic_store_explicit(&link->tally.ground_bad,
                          io_protocol_get_counters(link->protocol).ground_bad,
                          memory_order_relaxed);
}

static bool send_to_grounds(struct link *link, const struct io_queued_frame *frame)
{
    bool sent = false;
    for (int i = 0; i < link->ground_count; i++) {
        struct ground_peer *ground = &link->ground[i];
        sent |= io_udp_send(&ground->udp, ground->address, frame->bytes, frame->size, false) == 0;
    }
    return sent;
}

static void count_forwarded(struct link *link, bool sent)
{
    add_to_counter(sent ? &link->tally.forwarded : &link->tally.forward_dropped, 1);
}

void io_link_exchange_frames(struct link *link, uint64_t now_ns)
{
    const struct io_queued_frame *frame;
    if (now_ns >= link->next_ground_ns) {
        link->next_ground_ns = now_ns + GROUND_PERIOD_NS;
        for (int i = 0; i < link->ground_count; i++)
            receive_from_ground(link, &link->ground[i]);
    }
    for (int i = 0; i < FORWARDED_FRAMES && io_bus_backlog(&link->bus) <= BACKLOG_SMALL &&
                    (frame = io_frame_queue_front(&link->to_board)) != NULL;
         i++) {
        count_forwarded(
            link, io_link_transmit(link, frame->bytes, frame->size, IO_DESTINATION_PEER, false));
        io_frame_queue_pop(&link->to_board);
    }
    for (int i = 0;
         i < FORWARDED_FRAMES && (frame = io_frame_queue_front(&link->to_ground)) != NULL; i++) {
        count_forwarded(link, send_to_grounds(link, frame));
        io_frame_queue_pop(&link->to_ground);
    }
}

/* The scripted station. */

static void station_send(void *self, const void *bytes, size_t size)
{
    struct link *link = self;
    if (shares_board_line(link))
        (void)io_link_transmit(link, bytes, size, IO_DESTINATION_PEER, false);
    else if (link->station_peer.port != 0)
        (void)io_udp_send(&link->station_udp, link->station_peer, bytes, size, false);
}

void io_link_run_station(struct link *link, uint64_t frame)
{
    enum { DATAGRAMS = 16 };
    const struct io_ground_station_port port = {.self = link, .send = station_send};
    struct io_packet packet;
    for (int i = 0; link->station_udp.fd >= 0 && i < DATAGRAMS &&
                    io_udp_receive(&link->station_udp, &packet) > 0;
         i++) {
        link->station_peer = packet.from;
        io_ground_station_receive(link->station, packet.bytes, packet.size, frame);
    }
    io_ground_station_update(link->station, frame, &port);
}

struct io_ground_result io_link_ground_result(const struct io_links *links, int link, int step)
{
    return *io_ground_result(const_link_at(links, link)->station, step);
}

int io_link_ground_line_status(const struct io_links *links, int link)
{
    return const_link_at(links, link)->station_status;
}
