/*
 * What the I/O thread and the inline mode do is the same code; they differ in who calls it:
 *
 *      threaded   run(): doze() in the reactor, or receive() when it polls; then send_waiting()
 *      inline     io_links_poll(): receive(); io_link_commit(): send_sample()
 *
 * Everything of a link belongs to the sending thread (the I/O thread, or the frame thread in inline
 * mode), except what is atomic and what stands under "frame thread".
 */
#include "io/link/link.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/bus.h"
#include "io/bus/reactor.h"
#include "io/link/frame_queue.h"
#include "io/link/wait_budget.h"
#include "io/protocol/protocol.h"
#include "rt/alloc.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/mailbox.h"
#include "rt/ring.h"

enum {
    SAMPLES_WAITING_MAX = 8,  /* how many frames late the I/O thread may be without losing one */
    DATAGRAMS_PER_POLL = 8,   /* of the peer */
    REFUSED_PER_ACCEPTED = 4, /* so many of strangers cost a poll as much as one of the peer */
    TICK_NS = 20000000,
    NEWCOMER_SILENT_NS =
        1000000000,      /* a connection that has said nothing yields its place after this */
    GREETING_TICKS = 10, /* between two greetings of a named peer that has not spoken */
    STAMP_TRUST_NS = 1000000000, /* a datagram that lay longer in the kernel has a wrong stamp */
    STAMP_SLACK_NS = 1000000,    /* error of the clock mapping, generously */
    GROUND_PERIOD_NS = 2000000,  /* ground stations are listened to no more often */
    GROUND_DATAGRAMS = 4,        /* of each, at a time */
    FORWARDED_FRAMES = 16,       /* each way, behind one sample */
    BACKLOG_SMALL = 64,          /* bytes waiting on the wire: a forwarded frame may join them */
    QUERY_PERIOD_NS = 40000000,  /* between two questions for the board's time */
    QUERY_LIMIT_NS = 500000000,  /* one without an answer is asked again after this */
    SPIN_NS = 200000,            /* an await in inline mode looks so long before it sleeps */
    CLOCK_VOTES = 3,             /* replies with times we sent: the board has our clock */
    COUNT_MISSES = 2,            /* replies missed in a row: the count starts anew */
    CLOCK_MISSES = 8,            /* replies with too old times in a row: it has not our clock */
};

static const uint64_t SILENT_NS = 5000000000; /* and one that has fallen silent, after this */

const char *const io_latency_part_name[IO_LATENCY_COUNT] = {"wire_in", "grid_wait", "step",
                                                            "hold",    "wire_out",  "sum"};

/* Written by one thread, read by any. */
struct tally {
    _Atomic uint64_t rx, rx_bytes, rx_bad, rx_lost, refused;
    _Atomic uint64_t tx, tx_bytes, tx_dropped;
    _Atomic uint64_t commands, losses, late, duplicates;
    _Atomic uint64_t forwarded, forward_dropped, ground_bad;
};

/* A sample on its way to the I/O thread. */
struct sample_out {
    struct io_sample sample;
    uint64_t handed_ns;
};

/* A sample that has left and whose kernel stamp has not come yet. */
struct departure {
    bool open;
    uint64_t frame, handed_ns, sent_ns;
    struct io_trace trace;
};

/* The packet that is being read; look_ns as in struct io_links. */
struct arrival {
    uint64_t from, rx_ns, now_ns, poll_began_ns;
};

/* The sample that is being sent. */
struct sending {
    bool traced; /* its last message is worth a stamp */
    bool closed; /* that message has left */
};

/* Does the board live on the time we send? */
struct board_clock_check {
    uint64_t first_us, last_us; /* times sent so far; 0: none */
    int votes;                  /* replies that named such a time; -1: one did not */
};

struct ground_peer {
    struct io_udp udp;
    struct io_address address;
};

/* A fault of the wire, one way. */
struct wire_fault {
    const struct io_fault_spec *spec;
    int index; /* among those of the link */
    struct io_fault_state state;
};

/* When a fault acts, as whoever runs the frames wants it now. */
struct window {
    _Atomic uint64_t first_frame, last_frame;
};

struct link {
    struct io_link_spec spec;
    const struct io_protocol_traits *traits;
    struct io_bus bus;
    struct io_protocol *protocol;
    struct io_protocol_port port;
    struct departure departure;
    struct arrival arrival;
    struct sending sending;
    struct board_clock_check clock;
    uint64_t gap_from_ns;      /* last byte of the newest command of this far end; 0: none */
    bool addressed;            /* the bus has many possible peers, told apart by address */
    bool fixed_peer;           /* named by the spec, not learned */
    uint16_t peer_listen_port; /* port of a far end that speaks from others; 0: as it speaks */
    bool lost;
    uint32_t sequence; /* of the newest command */
    uint32_t ticks;    /* while nobody has spoken */
    uint64_t buttons;  /* flags of the newest command */
    uint32_t stop_buttons;
    struct rt_estop *estop; /* raised by them, and by the loss of the link; NULL: by neither */

    _Atomic uint64_t peer;               /* packed address; 0: not known yet */
    _Atomic uint64_t heard_ns;           /* newest sound message of the peer; 0: none yet */
    _Atomic uint64_t command_ns;         /* newest command; 0: none yet */
    _Atomic uint64_t loss_timer_from_ns; /* until then nobody asked it for commands */
    _Atomic uint64_t gap_ns_max;
    _Atomic uint64_t replied_us; /* board time of the newest command */
    atomic_bool on_sim_time;     /* and that time is the simulation's */
    _Atomic uint32_t arrived;    /* its sequence: the word on which io_link_await() sleeps */
    _Atomic uint32_t board;
    struct tally tally;
    struct rt_mailbox *commands;      /* to the frame */
    struct rt_mailbox *clock_samples; /* to the frame, of struct io_clock_sample */
    uint64_t next_query_ns;
    struct rt_ring *samples; /* from the frame, of struct letter */
    struct io_latency latency;

    struct io_protocol_port ground_port;
    int ground_count;
    uint64_t next_ground_ns;
    struct ground_peer ground[IO_LINK_GROUND_MAX];
    struct io_frame_queue to_board, to_ground;
    struct io_ground_station *station; /* our own ground station */
    struct io_udp station_udp;         /* its line; closed where it shares the board's */
    struct io_address station_peer;
    int station_status; /* 0, or why its line could not be had */

    _Atomic uint64_t frame; /* of the run, by which faults come and go */
    bool peer_has_spoken;   /* the far end of this connection has said something sound */
    uint64_t connects;      /* of the bus, when a packet last came */
    uint64_t connects_seen; /* the same, when it was last looked at, and since when it is so */
    uint64_t connected_since_ns;
    int faults_out, faults_in;
    struct wire_fault fault_out[IO_LINK_FAULT_MAX], fault_in[IO_LINK_FAULT_MAX];
    struct window window[IO_LINK_FAULT_MAX];
    unsigned char faulted_out[IO_PROTOCOL_FRAME_MAX], faulted_in[IO_DATAGRAM_MAX];

    /* Written before the run, for io_links_invalidate_outputs() in whatever thread or signal
     * handler. */
    atomic_bool can_send_emergency;
    size_t invalid_size;
    unsigned char invalid[IO_PROTOCOL_INVALID_MAX];

    /* frame thread */
    _Alignas(RT_CACHE_LINE) atomic_bool awaited;
    uint32_t latched;            /* sequence of the command that was latched last */
    uint32_t sequence_at_send;   /* sequence of the newest command when the last sample left */
    uint32_t needed;             /* sequence of the command that answers the last sample */
    bool awaits_reply;           /* a sample that wants an answer was handed over */
    bool clock_distrusted;       /* its clock proved not to be ours after all */
    uint32_t misses;             /* awaits in vain, in a row */
    uint32_t stale;              /* of those, the ones in which only old times came */
    _Atomic uint32_t waited_at;  /* sequence of the newest command when the waiting began */
    _Atomic uint64_t waited_ns;  /* for a newer one, as far as it counts */
    _Atomic uint64_t not_queued; /* messages of samples that found the ring full */
};

struct io_links {
    enum io_link_mode mode;
    int link_count;
    bool is_open, polls, spins;
    struct link *link;
    struct io_reactor *reactor;
    struct rt_watchdog *watchdog;
    struct io_await_hook hook; /* of whoever awaits */
    struct io_latency_observer observer;
    struct rt_thread *thread; /* NULL: not running */
    struct rt_wall_map wall;
    uint64_t next_tick_ns;
    uint64_t poll_began_ns; /* inline: when the frame began to look, 0 while it waits for a reply */
    uint64_t faults_at_entry;
    _Atomic uint64_t faults;
    atomic_bool stop;
    atomic_bool invalid;     /* no sample leaves any more */
    atomic_bool interrupted; /* nobody is to wait any more */
    _Alignas(RT_CACHE_LINE) atomic_bool sleeping;
};

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

/* One layout answers size and placement. */
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
        void *samples =
            rt_layout_cut(mem, &at, rt_ring_size(sizeof(struct sample_out), SAMPLES_WAITING_MAX));
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
            rt_ring_place(sizeof(struct sample_out), SAMPLES_WAITING_MAX, samples);
    }
    return at;
}

size_t io_links_size(int link_count)
{
    struct io_links links;
    return place_links(&links, link_count, NULL);
}

static void place_link(struct link *link, const struct io_link_spec *spec);

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

static struct link *at(struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

static const struct link *const_link_at(const struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

/* One writer, so no locked instruction is needed. */
static void add_to_counter(_Atomic uint64_t *counter, uint64_t count)
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

static void prepare_invalid_message(struct link *link)
{
    link->invalid_size = io_protocol_invalid_message(link->protocol, link->invalid);
    atomic_store(&link->can_send_emergency, true);
}

static int open_ground_peer(struct link *link, const char *text, char *error)
{
    enum { LOOPBACK = 127 };
    struct ground_peer *ground = &link->ground[link->ground_count];
    if (io_address_parse(text, &ground->address) < 0 || ground->address.port == 0)
        return refuse_address(link, "ground", text, error);
    /* Nobody else's network has to see a port of ours that serves this machine alone. */
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
                       "links.%s.ground: %s carries nothing for ground stations; they connect to "
                       "the controller itself",
                       link->spec.name, link->traits->name);
        return -EINVAL;
    }
    for (int i = 0; i < IO_LINK_GROUND_MAX && link->spec.ground[i][0] != '\0' && status == 0; i++)
        status = open_ground_peer(link, link->spec.ground[i], error);
    return status;
}

/* The line of our own ground station, where it has one.  Another ground station may have taken it:
 * that is no reason not to fly, and io_link_ground_line_status() tells. */
static int open_station(struct link *link, char *error)
{
    struct io_address at;
    const char *text = link->spec.ground_line;
    if (link->spec.script.step_count == 0 || text[0] == '\0')
        return 0;
    if (io_address_parse(text, &at) < 0)
        return refuse_address(link, "ground_line", text, error);
    link->station_status = io_udp_open(&link->station_udp, at);
    return 0;
}

static int open_link(struct link *link, char *error)
{
    _Static_assert((int)IO_BUS_ERROR_MAX <= (int)IO_ERROR_MAX,
                   "a bus says it in one line of a link");
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
    const int grounds = open_ground_peers(link, error);
    return grounds < 0 ? grounds : open_station(link, error);
}

static void close_links(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        atomic_store(&links->link[i].can_send_emergency, false);
        io_bus_close(&links->link[i].bus);
        for (int k = 0; k < links->link[i].ground_count; k++)
            io_udp_close(&links->link[i].ground[k].udp);
        links->link[i].ground_count = 0;
        if (links->link[i].station_udp.fd >= 0)
            io_udp_close(&links->link[i].station_udp);
    }
    if (links->mode == IO_LINK_THREADED)
        io_reactor_close(links->reactor);
    links->is_open = false;
}

static void receive_packet(void *self, int index, const struct io_packet *packet);

static int open_reactor(struct io_links *links, char *error)
{
    struct io_bus *buses[IO_LINK_MAX];
    const struct io_reactor_tasks tasks = {.self = links, .packet = receive_packet};
    for (int i = 0; i < links->link_count; i++)
        buses[i] = &links->link[i].bus;
    const int status = io_reactor_open(links->reactor, buses, links->link_count, &tasks);
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
    return io_bus_local(&const_link_at(links, link)->bus).port;
}

int io_link_cockpit_sender(const struct io_links *links, int link)
{
    return io_bus_cockpit_sender(&const_link_at(links, link)->bus);
}

/* Safe. */

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

/* Out. */

/* One fault on one message, within the window of now. */
static size_t apply_fault(struct link *link, struct wire_fault *fault, uint64_t frame,
                          unsigned char *bytes, size_t size)
{
    const struct window *window = &link->window[fault->index];
    io_fault_move(&fault->state, read_counter(&window->first_frame),
                  read_counter(&window->last_frame));
    return io_fault_frame(fault->spec, &fault->state, frame, bytes, size);
}

/* Faults of the wire, on whatever leaves for the board: bytes then point at a changed copy; the
 * size that is returned goes out, 0 swallows the message. */
static size_t apply_faults_out(struct link *link, const void **bytes, size_t size)
{
    const uint64_t frame = read_counter(&link->frame);
    if (link->faults_out == 0 || size > sizeof link->faulted_out)
        return size;
    memcpy(link->faulted_out, *bytes, size);
    *bytes = link->faulted_out;
    for (int i = 0; i < link->faults_out && size > 0; i++)
        size = apply_fault(link, &link->fault_out[i], frame, link->faulted_out, size);
    return size;
}

/* Whom to send to; port 0: nobody yet.  A bus with one far end needs no address. */
static struct io_address destination(const struct link *link)
{
    if (link->addressed)
        return io_address_unpack(read_counter(&link->peer));
    return io_bus_connected(&link->bus) ? io_address_far_end : (struct io_address){0};
}

static bool transmit(struct link *link, const void *bytes, size_t size, enum io_destination target,
                     bool stamped)
{
    struct io_address peer = destination(link);
    if (peer.port == 0)
        return false;
    size = apply_faults_out(link, &bytes, size);
    peer.port = (uint16_t)(peer.port + target);
    if (size > 0 && io_bus_send(&link->bus, peer, bytes, size, stamped) < 0)
        return false;
    add_to_counter(&link->tally.tx, 1);
    add_to_counter(&link->tally.tx_bytes, size);
    return true;
}

static void send_message(void *self, const void *bytes, size_t size, enum io_destination target,
                         bool stamped)
{
    struct link *link = self;
    if (!transmit(link, bytes, size, target, stamped && link->sending.traced))
        add_to_counter(&link->tally.tx_dropped, 1);
    else if (stamped)
        link->sending.closed = true;
}

/* Between the board and its ground stations. */

static bool has_station(const struct link *link)
{
    return link->spec.script.step_count > 0;
}

/* The board's own. */
static bool shares_board_line(const struct link *link)
{
    return link->spec.ground_line[0] == '\0';
}

static void queue_for_ground(void *self, const void *bytes, size_t size)
{
    struct link *link = self;
    if (has_station(link) && shares_board_line(link))
        io_ground_station_receive(link->station, bytes, size, read_counter(&link->frame));
    if (link->ground_count > 0)
        add_to_counter(&link->tally.forward_dropped,
                       io_frame_queue_push(&link->to_ground, bytes, size));
}

static void queue_for_board(void *self, const void *bytes, size_t size)
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

/* Called when all waiting samples have left, so that nothing forwarded is ever ahead of one, and by
 * the slow pulse, so that a link without samples forwards too. */
static void forward_frames(struct link *link, uint64_t now_ns)
{
    const struct io_queued_frame *frame;
    if (link->ground_count == 0)
        return;
    if (now_ns >= link->next_ground_ns) {
        link->next_ground_ns = now_ns + GROUND_PERIOD_NS;
        for (int i = 0; i < link->ground_count; i++)
            receive_from_ground(link, &link->ground[i]);
    }
    for (int i = 0; i < FORWARDED_FRAMES && io_bus_backlog(&link->bus) <= BACKLOG_SMALL &&
                    (frame = io_frame_queue_front(&link->to_board)) != NULL;
         i++) {
        count_forwarded(link,
                        transmit(link, frame->bytes, frame->size, IO_DESTINATION_PEER, false));
        io_frame_queue_pop(&link->to_board);
    }
    for (int i = 0;
         i < FORWARDED_FRAMES && (frame = io_frame_queue_front(&link->to_ground)) != NULL; i++) {
        count_forwarded(link, send_to_grounds(link, frame));
        io_frame_queue_pop(&link->to_ground);
    }
}

/* Our own ground station. */

static void station_send(void *self, const void *bytes, size_t size)
{
    struct link *link = self;
    if (shares_board_line(link))
        (void)transmit(link, bytes, size, IO_DESTINATION_PEER, false);
    else if (link->station_peer.port != 0)
        (void)io_udp_send(&link->station_udp, link->station_peer, bytes, size, false);
}

/* Ahead of the sample: a board in lockstep has heard the command when its clock moves. */
static void update_station(struct link *link, uint64_t frame)
{
    enum { DATAGRAMS = 16 };
    const struct io_ground_station_port port = {.self = link, .send = station_send};
    struct io_packet packet;
    if (!has_station(link))
        return;
    for (int i = 0; link->station_udp.fd >= 0 && i < DATAGRAMS &&
                    io_udp_receive(&link->station_udp, &packet) > 0;
         i++) {
        link->station_peer = packet.from;
        io_ground_station_receive(link->station, packet.bytes, packet.size, frame);
    }
    io_ground_station_update(link->station, frame, &port);
}

/* Samples out. */

/* Stamps come from two clocks and one mapping between them, so a short part may come out a little
 * negative: it is 0 then. */
static uint64_t elapsed_ns(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void sim_record_latency(const struct io_links *links, struct link *link, uint64_t sent_ns)
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

/* A kernel stamp on our clock; outside [floor, ceiling] the wall clock was set meanwhile, and the
 * time that we saw ourselves has to do. */
static uint64_t plausible_stamp(uint64_t stamp_ns, uint64_t floor_ns, uint64_t ceiling_ns,
                                uint64_t seen_ns)
{
    return stamp_ns == 0 || stamp_ns < floor_ns || stamp_ns > ceiling_ns ? seen_ns : stamp_ns;
}

static uint64_t stamp_to_monotonic(const struct io_links *links, uint64_t stamp_ns,
                                   uint64_t floor_ns, uint64_t ceiling_ns, uint64_t seen_ns)
{
    const uint64_t ns = stamp_ns ? rt_wall_map_to_monotonic(&links->wall, stamp_ns) : 0;
    return plausible_stamp(ns, floor_ns, ceiling_ns, seen_ns);
}

/* Look for the kernel's stamp of the last traced sample. */
static void collect_tx_stamp(struct io_links *links, struct link *link)
{
    uint64_t stamp_ns;
    if (!link->departure.open || !io_bus_tx_timestamp(&link->bus, &stamp_ns))
        return;
    const struct departure *left = &link->departure;
    sim_record_latency(links, link,
                       stamp_to_monotonic(links, stamp_ns, left->handed_ns - STAMP_SLACK_NS,
                                          rt_now_ns() + STAMP_SLACK_NS, left->sent_ns));
}

static void note_departure(struct io_links *links, struct link *link,
                           const struct io_sample *sample, uint64_t handed_ns)
{
    if (link->departure.open)
        sim_record_latency(links, link, link->departure.sent_ns); /* its stamp never came */
    link->departure = (struct departure){
        .open = true,
        .frame = sample->frame,
        .handed_ns = handed_ns,
        .sent_ns = rt_now_ns(),
        .trace = sample->trace,
    };
    if (io_bus_has_tx_timestamp(&link->bus))
        collect_tx_stamp(links, link);
    else
        sim_record_latency(links, link, link->departure.sent_ns);
}

static uint64_t unix_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void send_status(struct link *link, enum io_status status)
{
    io_protocol_send_status(link->protocol, status, &link->port);
}

/* Hands hear nothing: of them the loop ends where the motion that they made is known. */
static void record_motion_latency(const struct io_links *links, struct link *link,
                                  const struct io_sample *sample, uint64_t handed_ns)
{
    link->departure =
        (struct departure){.frame = sample->frame, .handed_ns = handed_ns, .trace = sample->trace};
    sim_record_latency(links, link, handed_ns);
}

static void send_sample(struct io_links *links, struct link *link, const struct io_sample *sample,
                        uint64_t handed_ns)
{
    if (link->traits->hands) {
        record_motion_latency(links, link, sample, handed_ns);
        return;
    }
    update_station(link, sample->frame);
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

static void send_waiting(struct io_links *links)
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
        collect_tx_stamp(links, link);
        if (sent)
            forward_frames(link, rt_now_ns());
    }
}

/* In. */

/* Hands that rest say nothing, and are there as long as their device is, where the bus sees it. */
static bool presence_is_known(const struct link *link)
{
    return link->traits->hands && io_bus_kind_detects_peer(link->bus.spec.kind);
}

static bool silent(const struct link *link, uint64_t since_ns, uint64_t now_ns)
{
    const uint64_t limit_ns = link->spec.lost_after_ns;
    if (presence_is_known(link))
        return !io_bus_connected(&link->bus);
    return limit_ns != 0 && now_ns > since_ns && now_ns - since_ns > limit_ns;
}

/* For a command newer than the newest. */
static uint64_t waited_ns(const struct link *link)
{
    const uint32_t arrived = atomic_load_explicit(&link->arrived, memory_order_relaxed);
    const uint32_t since = atomic_load_explicit(&link->waited_at, memory_order_relaxed);
    return arrived == since ? read_counter(&link->waited_ns) : 0;
}

/* In a pause a board that answers samples has nothing to answer. */
static bool lacks_command(const struct link *link, uint64_t command_ns, uint64_t now_ns)
{
    const uint64_t limit_ns = link->spec.lost_after_ns;
    if (link->spec.awaited)
        return limit_ns != 0 && waited_ns(link) > limit_ns;
    const uint64_t loss_timer_from_ns = read_counter(&link->loss_timer_from_ns);
    return silent(link, command_ns > loss_timer_from_ns ? command_ns : loss_timer_from_ns, now_ns);
}

/* The first to say something sound is the peer.  Others are foreign, until it has been silent for
 * so long that its place is free. */
static bool is_accepted_sender(const struct link *link, uint64_t from, uint64_t now_ns)
{
    const uint64_t peer = read_counter(&link->peer);
    if (peer == from || !link->addressed)
        return true; /* a bus that has one far end sees to it itself */
    if (link->fixed_peer)
        return false;
    return peer == 0 || silent(link, read_counter(&link->heard_ns), now_ns);
}

static void wake_waiter(struct link *link)
{
    (void)syscall(SYS_futex, &link->arrived, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Replies that name times which we sent come from a board that lives on them. */
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

/* A frame that does its own I/O fetches at its release what has been lying in the kernel since it
 * came: that was the wait for the grid, and only the fetching is the wire's. */
static uint64_t latchable_ns(const struct arrival *arrival, uint64_t now_ns)
{
    if (arrival->poll_began_ns <= arrival->rx_ns)
        return now_ns;
    return arrival->rx_ns + elapsed_ns(arrival->poll_began_ns, now_ns);
}

/* By edge and by count of presses: a quick one may be over when it is heard. */
static void check_stop_buttons(struct link *link, const struct io_command *said)
{
    const uint64_t before = link->buttons;
    const uint32_t pressed =
        (uint32_t)(said->flags >> 32 ^ before >> 32) | ((uint32_t)said->flags & ~(uint32_t)before);
    link->buttons = said->flags;
    if (link->estop && link->sequence > 1 && (pressed & link->stop_buttons) != 0)
        (void)rt_estop_raise(link->estop, RT_ESTOP_BUTTON, rt_now_ns());
}

/* `arrived` and `awaited` are both sequentially consistent here and in io_link_await(): either this
 * side sees that somebody waits, or that side sees what arrived.  The futex compares `arrived` once
 * more inside the kernel, so nothing is lost between the look and the sleep. */
static bool receive_command(void *self, const struct io_command *said)
{
    struct link *link = self;
    struct io_command *command = rt_mailbox_back(link->commands);
    const uint64_t ready_ns = latchable_ns(&link->arrival, rt_now_ns());
    *command = *said;
    command->rx_ns = link->arrival.rx_ns;
    command->ready_ns = ready_ns;
    command->sequence = ++link->sequence;
    const bool met = rt_mailbox_publish(link->commands);
    check_stop_buttons(link, said);
    update_gap(link, link->arrival.rx_ns);
    check_board_clock(link, said->board_us);
    atomic_store_explicit(&link->command_ns, ready_ns, memory_order_relaxed);
    add_to_counter(&link->tally.commands, 1);
    link->lost = false;
    atomic_store(&link->replied_us, said->board_us);
    atomic_store(&link->arrived, link->sequence);
    if (atomic_load(&link->awaited))
        wake_waiter(link);
    return met;
}

static void receive_clock_reply(void *self, uint64_t asked_ns, uint64_t board_ns)
{
    struct link *link = self;
    struct io_clock_sample *clock_sample = rt_mailbox_back(link->clock_samples);
    const uint64_t delay_ns = elapsed_ns(asked_ns, link->arrival.rx_ns);
    *clock_sample = (struct io_clock_sample){asked_ns + delay_ns / 2, board_ns, delay_ns};
    (void)rt_mailbox_publish(link->clock_samples);
    link->next_query_ns = asked_ns + QUERY_PERIOD_NS;
}

static void note_peer(void *self)
{
    struct link *link = self;
    link->peer_has_spoken = true;
    atomic_store(&link->peer, link->arrival.from);
    atomic_store_explicit(&link->heard_ns, link->arrival.now_ns, memory_order_relaxed);
}

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

/* Who it is that sent this; one that speaks from many ports is known by the one it hears at. */
static uint64_t sender_key(const struct link *link, struct io_address from)
{
    if (link->peer_listen_port != 0)
        from.port = link->peer_listen_port;
    return io_address_pack(from);
}

/* A stream has one far end from each connection to the next; a datagram is whoever's it is. */
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

/* Faults of the wire, on whatever comes from the board: the bytes then point at a changed copy;
 * false swallows them.  Of a stream a piece counts as one message. */
static bool apply_faults_in(struct link *link, struct io_packet *packet)
{
    const uint64_t frame = read_counter(&link->frame);
    if (link->faults_in == 0 || packet->size > sizeof link->faulted_in)
        return true;
    memcpy(link->faulted_in, packet->bytes, packet->size);
    packet->bytes = link->faulted_in;
    for (int i = 0; i < link->faults_in && packet->size > 0; i++)
        packet->size = apply_fault(link, &link->fault_in[i], frame, link->faulted_in, packet->size);
    return packet->size > 0;
}

/* When the last byte of it was in. */
static uint64_t arrival_ns(const struct io_links *links, const struct io_packet *packet,
                           uint64_t now_ns)
{
    const uint64_t floor_ns = now_ns - STAMP_TRUST_NS;
    return packet->monotonic
               ? plausible_stamp(packet->stamp_ns, floor_ns, now_ns, now_ns)
               : stamp_to_monotonic(links, packet->stamp_ns, floor_ns, now_ns, now_ns);
}

static void receive_packet(void *self, int index, const struct io_packet *arrived)
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
    if (!apply_faults_in(link, &packet))
        return;
    if (is_new_peer(link, from))
        reset_peer(link);
    link->arrival = (struct arrival){
        .from = from,
        .rx_ns = arrival_ns(links, &packet, now_ns),
        .now_ns = now_ns,
        .poll_began_ns = links->poll_began_ns,
    };
    io_protocol_receive(link->protocol, packet.bytes, packet.size, now_ns, &link->port);
    publish_counters(link);
}

/* Set-up again, now that the ports can be named. */

static void place_faults(struct link *link)
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
    place_faults(link);
    link->traits = io_protocol_traits(spec->protocol);
    link->station = io_ground_station_place(&spec->script, link->station);
    link->protocol = io_protocol_place(&protocol, link->protocol);
    link->port = (struct io_protocol_port){
        .self = link,
        .heard = note_peer,
        .command = receive_command,
        .send = send_message,
        .clock = receive_clock_reply,
        .forward = queue_for_ground,
    };
    link->ground_port = link->port;
    link->ground_port.forward = queue_for_board;
    atomic_init(&link->can_send_emergency, false);
}

static void receive_all(struct io_links *links)
{
    for (int i = 0; i < links->link_count; i++) {
        struct io_packet packet;
        const _Atomic uint64_t *refused = &links->link[i].tally.refused;
        for (int k = 0; k < REFUSED_PER_ACCEPTED * DATAGRAMS_PER_POLL; k++) {
            const uint64_t before = read_counter(refused);
            if (io_bus_receive(&links->link[i].bus, &packet) <= 0)
                break;
            receive_packet(links, i, &packet);
            if (read_counter(refused) == before)
                k += REFUSED_PER_ACCEPTED - 1;
        }
    }
}

/* The slow pulse: every 20 ms, in whichever thread does the sending. */

static void detect_loss(struct link *link, uint64_t now_ns)
{
    const uint64_t command_ns = read_counter(&link->command_ns);
    if (command_ns == 0 || link->lost || !lacks_command(link, command_ns, now_ns))
        return;
    link->lost = true;
    add_to_counter(&link->tally.losses, 1);
    if (link->estop)
        (void)rt_estop_raise(link->estop, RT_ESTOP_OPERATOR_LOST, now_ns);
}

/* A board may wait to be spoken to; one whose address is known is. */
static void send_greeting(struct link *link)
{
    if (link->fixed_peer && read_counter(&link->heard_ns) == 0 &&
        link->ticks++ % GREETING_TICKS == 0)
        send_status(link, IO_STATUS_ACTIVE);
}

/* Once it has spoken.  A question that stays open is given up after a while. */
static void query_time(struct link *link, uint64_t now_ns)
{
    if (!link->spec.queries_time || read_counter(&link->heard_ns) == 0 ||
        now_ns < link->next_query_ns)
        return;
    link->next_query_ns = now_ns + QUERY_LIMIT_NS;
    io_protocol_query_time(link->protocol, rt_now_ns(), &link->port);
}

/* Of a connection.  One that has said nothing sound holds its place for a moment, in which others
 * wait; one that has, keeps it until it has been silent for long: a PX4 that wakes up leaves dozens
 * of samples unanswered. */
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

static uint64_t thread_faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static void tick_links(struct io_links *links, uint64_t now_ns)
{
    links->next_tick_ns = now_ns + TICK_NS;
    rt_wall_map_sample(&links->wall);
    for (int i = 0; i < links->link_count; i++) {
        io_bus_newcomer_policy(&links->link[i].bus, newcomer_policy(&links->link[i], now_ns));
        io_bus_tick(&links->link[i].bus, now_ns);
        detect_loss(&links->link[i], now_ns);
        send_greeting(&links->link[i]);
        query_time(&links->link[i], now_ns);
        forward_frames(&links->link[i], now_ns);
    }
}

static void check_watchdog(struct io_links *links, uint64_t now_ns)
{
    const bool barks = links->watchdog && rt_watchdog_expired(links->watchdog, now_ns);
    if (barks || atomic_load_explicit(&links->invalid, memory_order_relaxed))
        io_links_invalidate_outputs(links); /* again and again: a datagram may get lost */
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
static void wait_for_work(struct io_links *links, uint64_t timeout_ns)
{
    (void)atomic_exchange_explicit(&links->sleeping, true, memory_order_acq_rel);
    if (!has_work(links))
        io_reactor_wait(links->reactor, timeout_ns);
    atomic_store_explicit(&links->sleeping, false, memory_order_relaxed);
}

static void wake_io_thread(struct io_links *links)
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
            receive_all(links);
        else
            wait_for_work(links, elapsed_ns(now_ns, links->next_tick_ns));
        send_waiting(links);
    }
    send_waiting(links);
    check_watchdog(links, rt_now_ns());
    rt_alloc_unwatch();
}

void io_links_observe_latency(struct io_links *links, struct io_latency_observer observer)
{
    RT_CHECK(links->thread == NULL);
    links->observer = observer;
}

void io_links_observe_ground(struct io_links *links, struct io_ground_observer observer)
{
    RT_CHECK(links->thread == NULL);
    for (observer.link = 0; observer.link < links->link_count; observer.link++)
        io_ground_station_observe(links->link[observer.link].station, observer);
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

void io_links_stop(struct io_links *links)
{
    if (!links->is_open)
        return;
    if (links->thread) {
        atomic_store(&links->stop, true);
        wake_io_thread(links);
        rt_thread_join(links->thread);
        links->thread = NULL;
    }
    for (int i = 0; i < links->link_count; i++) {
        struct link *link = &links->link[i];
        if (link->departure.open)
            sim_record_latency(links, link, link->departure.sent_ns);
        if (read_counter(&link->peer) != 0)
            send_status(link, IO_STATUS_POWEROFF);
    }
    close_links(links);
}

/* The frame thread. */

void io_links_allow_spin(struct io_links *links, bool may)
{
    links->spins = may;
}

static void poll_links(struct io_links *links, uint64_t now_ns, uint64_t poll_began_ns)
{
    links->poll_began_ns = poll_began_ns;
    if (now_ns >= links->next_tick_ns)
        tick_links(links, now_ns);
    receive_all(links);
    for (int i = 0; i < links->link_count; i++)
        collect_tx_stamp(links, &links->link[i]);
}

void io_links_poll(struct io_links *links)
{
    const uint64_t now_ns = rt_now_ns();
    if (links->mode == IO_LINK_INLINE)
        poll_links(links, now_ns, now_ns);
}

bool io_link_latch(struct io_links *links, int link, struct io_command *command)
{
    struct link *from = at(links, link);
    bool fresh;
    *command = *(const struct io_command *)rt_mailbox_take(from->commands, &fresh);
    from->latched = command->sequence;
    return fresh;
}

bool io_link_clock(struct io_links *links, int link, struct io_clock_sample *clock_sample)
{
    bool fresh;
    *clock_sample =
        *(const struct io_clock_sample *)rt_mailbox_take(at(links, link)->clock_samples, &fresh);
    return fresh;
}

/* One reply more than have come, or than are still owed.  Before the first reply nothing is owed: a
 * board that wakes up leaves dozens of samples unanswered.  Nor after some misses in a row: a reply
 * that was lost looks like one that is late, and must not cost every reply from then on. */
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
    struct link *to = at(links, link);
    const uint64_t handed_ns = rt_now_ns();
    const bool is_inline = links->mode == IO_LINK_INLINE;
    const bool invalid = atomic_load_explicit(&links->invalid, memory_order_relaxed);
    atomic_store_explicit(&to->frame, sample->frame, memory_order_relaxed);
    if (to->traits->hands && sample->trace.rx_ns == 0)
        return; /* nothing to measure, and nobody to tell */
    struct sample_out *sample_out = invalid || is_inline ? NULL : rt_ring_claim(to->samples);
    if (sample->due & IO_SEND_SENSOR && (sample_out || (is_inline && !invalid)))
        expect_reply(to);
    if (is_inline && !invalid) {
        send_sample(links, to, sample, handed_ns);
        forward_frames(to, handed_ns);
        return;
    }
    if (!sample_out) {
        add_to_counter(&to->not_queued, count_due(sample));
        return;
    }
    sample_out->sample = *sample;
    sample_out->handed_ns = handed_ns;
    rt_ring_push(to->samples);
    wake_io_thread(links);
}

/* The sequence is published a moment after the letter, so the latch may be ahead of it. */
static bool has_new_command(const struct link *link, uint32_t arrived)
{
    return (int32_t)(arrived - link->latched) > 0;
}

static bool uses_board_clock(const struct link *link)
{
    return !link->clock_distrusted && atomic_load(&link->on_sim_time);
}

static bool is_answered(const struct link *link, uint64_t sim_us)
{
    const uint32_t arrived = atomic_load(&link->arrived);
    if (!link->awaits_reply || !link->traits->stamps_commands)
        return has_new_command(link, arrived);
    if (uses_board_clock(link))
        return atomic_load(&link->replied_us) >= sim_us;
    return (int32_t)(arrived - link->needed) >= 0;
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / 1000000000u),
        .tv_nsec = (long)(ns % 1000000000u),
    };
}

void io_links_set_await_hook(struct io_links *links, struct io_await_hook hook)
{
    links->hook = hook;
}

void io_links_estop(struct io_links *links, int link, uint32_t buttons, struct rt_estop *estop)
{
    struct link *of = at(links, link);
    of->stop_buttons = buttons;
    of->estop = estop;
}

static void call_await_hook(const struct io_links *links)
{
    if (links->hook.hook)
        links->hook.hook(links->hook.self);
}

/* True when nobody is waited for any longer.  What was waited adds up until a command comes. */
static bool budget_is_spent(const struct io_links *links, struct link *link,
                            struct io_wait_budget *budget, uint64_t now_ns)
{
    const uint32_t arrived = atomic_load(&link->arrived);
    const uint64_t before_ns = waited_ns(link);
    const uint64_t spent_ns = io_wait_budget_spend(budget, now_ns);
    atomic_store_explicit(&link->waited_ns, before_ns + spent_ns, memory_order_relaxed);
    atomic_store_explicit(&link->waited_at, arrived, memory_order_relaxed);
    return budget->left_ns == 0 || atomic_load(&links->interrupted);
}

static bool await_thread(const struct io_links *links, struct link *link, uint64_t sim_us,
                         struct io_wait_budget *budget)
{
    uint32_t arrived;
    atomic_store(&link->awaited, true);
    while (arrived = atomic_load(&link->arrived), !is_answered(link, sim_us)) {
        call_await_hook(links);
        const struct timespec wake = to_timespec(io_wait_budget_wake_ns(budget));
        (void)syscall(SYS_futex, &link->arrived, FUTEX_WAIT_BITSET_PRIVATE, arrived, &wake, NULL,
                      FUTEX_BITSET_MATCH_ANY);
        if (budget_is_spent(links, link, budget, rt_now_ns()))
            break; /* woken, but not by an answer */
    }
    atomic_store(&link->awaited, false);
    return is_answered(link, sim_us);
}

/* Until something may have come; not beyond the next tick, at which a peer may be let in. */
static void sleep_until_readable(const struct link *link, uint64_t limit_ns)
{
    enum { POLL_PERIOD_NS = 100000 };
    struct io_bus_watch on[IO_BUS_WATCH_MAX];
    const int count = io_bus_watches(&link->bus, on);
    struct pollfd watch[IO_BUS_WATCH_MAX] = {0};
    for (int i = 0; i < count; i++)
        watch[i] = (struct pollfd){.fd = on[i].fd, .events = POLLIN};
    const uint64_t most_ns =
        count > 0 && !io_bus_needs_polling(&link->bus) ? TICK_NS : POLL_PERIOD_NS;
    const struct timespec left = to_timespec(limit_ns < most_ns ? limit_ns : most_ns);
    (void)ppoll(watch, (nfds_t)count, &left, NULL);
}

/* To be woken takes longer than everything else on the wire, so at first it looks again and again,
 * where the core is its own. */
static bool await_inline(struct io_links *links, struct link *link, uint64_t sim_us,
                         struct io_wait_budget *budget)
{
    uint64_t now_ns = rt_now_ns();
    const uint64_t sleep_ns = links->spins ? now_ns + SPIN_NS : now_ns;
    for (;; now_ns = rt_now_ns()) {
        poll_links(links, now_ns, 0);
        if (is_answered(link, sim_us))
            return true;
        if (budget_is_spent(links, link, budget, now_ns))
            return false;
        call_await_hook(links);
        if (now_ns >= sleep_ns)
            sleep_until_readable(link, elapsed_ns(now_ns, io_wait_budget_wake_ns(budget)));
    }
}

/* A clock may look like ours by accident: one that stays behind while replies come is not. */
static void note_missed_reply(struct link *link)
{
    const bool replies_came = atomic_load(&link->arrived) != link->sequence_at_send;
    link->misses++;
    link->stale = replies_came ? link->stale + 1 : 0;
    if (uses_board_clock(link) && link->stale >= CLOCK_MISSES)
        link->clock_distrusted = true;
}

bool io_link_await(struct io_links *links, int link, uint64_t sim_us, uint64_t limit_ns)
{
    struct link *from = at(links, link);
    struct io_wait_budget budget;
    io_wait_budget_begin(&budget, limit_ns, rt_now_ns());
    bool answered = is_answered(from, sim_us);
    if (!answered && links->mode == IO_LINK_INLINE)
        answered = await_inline(links, from, sim_us, &budget);
    else if (!answered)
        answered = await_thread(links, from, sim_us, &budget);
    if (answered)
        from->misses = from->stale = 0;
    else
        note_missed_reply(from);
    return answered;
}

/* Any thread. */

void io_links_interrupt(struct io_links *links)
{
    atomic_store(&links->interrupted, true);
    for (int i = 0; i < links->link_count; i++)
        wake_waiter(&links->link[i]);
}

bool io_link_alive(const struct io_links *links, int link, uint64_t now_ns)
{
    const struct link *from = const_link_at(links, link);
    const uint64_t command_ns = read_counter(&from->command_ns);
    return command_ns != 0 && !lacks_command(from, command_ns, now_ns);
}

bool io_link_has_peer(const struct io_links *links, int link)
{
    return read_counter(&const_link_at(links, link)->heard_ns) != 0;
}

enum io_board_state io_link_board_state(const struct io_links *links, int link)
{
    const struct link *of = const_link_at(links, link);
    const uint64_t heard_ns = read_counter(&of->heard_ns);
    if (heard_ns == 0 || silent(of, heard_ns, rt_now_ns()))
        return IO_BOARD_SILENT;
    return (enum io_board_state)atomic_load_explicit(&of->board, memory_order_relaxed);
}

void io_link_cadence(const struct io_links *links, int link, uint64_t now_ns,
                     struct io_cadence *pulse)
{
    const struct link *of = const_link_at(links, link);
    const uint64_t command_ns = read_counter(&of->command_ns);
    *pulse = (struct io_cadence){
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

const struct io_latency *io_link_latency(const struct io_links *links, int link)
{
    return &const_link_at(links, link)->latency;
}

void io_links_restart_loss_timers(struct io_links *links, uint64_t now_ns)
{
    for (int i = 0; i < links->link_count; i++)
        if (!links->link[i].traits->hands)
            atomic_store_explicit(&links->link[i].loss_timer_from_ns, now_ns, memory_order_relaxed);
}

/* Relaxed, and the end first: the thread that talks may see one half for a message or two, and then
 * the fault is not yet there. */
void io_link_fault_move(struct io_links *links, int link, int fault, uint64_t first_frame,
                        uint64_t last_frame)
{
    struct window *window = &links->link[link].window[fault];
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

struct io_ground_result io_link_ground_result(const struct io_links *links, int link, int step)
{
    return *io_ground_result(const_link_at(links, link)->station, step);
}

int io_link_ground_line_status(const struct io_links *links, int link)
{
    return const_link_at(links, link)->station_status;
}

uint64_t io_links_page_faults(const struct io_links *links)
{
    return read_counter(&links->faults);
}
