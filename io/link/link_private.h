/*
 * The state of the links and what the files behind io/link/link.h share.  Only io/link/link*.c
 * include this.
 *
 *      link.c           set-up, the stop, and what any thread may read
 *      link_thread.c    the I/O thread, the tick of every 20 ms, the poll of the inline mode
 *      link_rx.c        packets in: which sender is the peer, commands, clock replies
 *      link_tx.c        samples out: the hand-over from the frame, the encoding, the queue
 *      link_await.c     the wait of a lockstep frame for a reply
 *      link_latency.c   the parts of the loop latency
 *      link_ground.c    ground stations: forwarding, and the station that a script drives
 *      link_faults.c    injected faults of the wire
 *
 * The I/O thread and the inline mode run the same code.  They differ in its caller:
 *
 *      threaded   the I/O thread receives in the reactor, or polls; then it sends what is queued
 *      inline     io_links_poll() receives, io_link_commit() sends
 *
 * A link belongs to the sending thread (the I/O thread, or the frame thread in inline mode), except
 * for the atomic members and those under "frame thread".
 */
#pragma once

#include "io/link/link.h"

#include "io/bus/bus.h"
#include "io/bus/reactor.h"
#include "io/link/frame_queue.h"
#include "io/protocol/protocol.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/mailbox.h"
#include "rt/ring.h"

enum {
    IO_LINK_QUEUED_SAMPLES = 8, /* frames that the I/O thread may be late without losing one */
    IO_LINK_TICK_NS = 20000000,
};

/* The counters of a link.  Written by one thread, read by any. */
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

/* The packet that is being read; poll_began_ns as in struct io_links. */
struct arrival {
    uint64_t from, rx_ns, now_ns, poll_began_ns;
};

/* The sample that is being sent. */
struct sending {
    bool traced; /* its last message asks for a stamp */
    bool closed; /* that message has left */
};

/* The evidence on whether the board runs on the time that we send. */
struct board_clock_check {
    uint64_t first_us, last_us; /* the range of the times sent so far; 0: none */
    int votes;                  /* replies with a time in that range; -1: one was outside */
};

/* A ground station of a person, and our socket towards it. */
struct ground_peer {
    struct io_udp udp;
    struct io_address address;
};

/* A fault of the wire in one direction. */
struct wire_fault {
    const struct io_fault_spec *spec;
    int index; /* among the faults of the link */
    struct io_fault_state state;
};

/* The frames in which a fault acts, as the frame thread wants them now. */
struct fault_window {
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
    uint64_t gap_from_ns;      /* last byte of the newest command of this peer; 0: none */
    bool addressed;            /* the bus has many possible peers, distinguished by their address */
    bool fixed_peer;           /* the spec names the peer; otherwise it is learned */
    uint16_t peer_listen_port; /* the port of a peer that sends from other ports; 0: the same */
    bool lost;
    uint32_t sequence; /* of the newest command */
    uint32_t ticks;    /* since the opening, as long as no message came */
    uint64_t buttons;  /* the flags of the newest command */
    uint32_t stop_buttons;
    struct rt_estop *estop; /* raised by these buttons and by the loss of the link; NULL: never */

    _Atomic uint64_t peer;               /* packed address; 0: not known yet */
    _Atomic uint64_t heard_ns;           /* newest valid message of the peer; 0: none yet */
    _Atomic uint64_t command_ns;         /* newest command; 0: none yet */
    _Atomic uint64_t loss_timer_from_ns; /* silence before this time does not count */
    _Atomic uint64_t gap_ns_max;
    _Atomic uint64_t replied_us; /* board time of the newest command */
    atomic_bool on_sim_time;     /* that time is the simulation's */
    _Atomic uint32_t arrived;    /* its sequence: the word on which io_link_await() sleeps */
    _Atomic uint32_t board;
    struct tally tally;
    struct rt_mailbox *commands;      /* to the frame */
    struct rt_mailbox *clock_samples; /* to the frame, of struct io_clock_sample */
    uint64_t next_query_ns;
    struct rt_ring *samples; /* from the frame, of struct sample_out */
    struct io_latency latency;

    struct io_protocol_port ground_port;
    int ground_count;
    uint64_t next_ground_ns;
    struct ground_peer ground[IO_LINK_GROUND_MAX];
    struct io_frame_queue to_board, to_ground;
    struct io_ground_station *station; /* the one that a script drives */
    struct io_udp station_udp;         /* its line; closed where it shares that of the board */
    struct io_address station_peer;
    int station_status; /* 0, or why its line could not be opened */

    _Atomic uint64_t frame;      /* of the run; faults begin and end by it */
    bool peer_has_spoken;        /* the peer of this connection has sent a valid message */
    uint64_t connects;           /* connections of the bus when a packet last came */
    uint64_t connects_seen;      /* the same at the last tick that saw it change ... */
    uint64_t connected_since_ns; /* ... and the time of that tick */
    int faults_out, faults_in;
    struct wire_fault fault_out[IO_LINK_FAULT_MAX], fault_in[IO_LINK_FAULT_MAX];
    struct fault_window window[IO_LINK_FAULT_MAX];
    unsigned char faulted_out[IO_PROTOCOL_FRAME_MAX], faulted_in[IO_DATAGRAM_MAX];

    /* Written before the run, because io_links_invalidate_outputs() reads it in any thread and in
     * signal handlers. */
    atomic_bool can_send_emergency;
    size_t invalid_size;
    unsigned char invalid[IO_PROTOCOL_INVALID_MAX];

    /* frame thread */
    _Alignas(RT_CACHE_LINE) atomic_bool awaited;
    uint32_t latched;            /* sequence of the command that was latched last */
    uint32_t sequence_at_send;   /* sequence of the newest command when the last sample left */
    uint32_t needed;             /* sequence of the command that answers the last sample */
    bool awaits_reply;           /* a sample that wants a reply was handed over */
    bool clock_distrusted;       /* the board's clock proved not to be the simulation's after all */
    uint32_t misses;             /* awaits without a reply, in a row */
    uint32_t stale;              /* of those, the ones in which only replies with old times came */
    _Atomic uint32_t waited_at;  /* sequence of the newest command when the wait began */
    _Atomic uint64_t waited_ns;  /* time spent waiting for a newer one, as far as it counts */
    _Atomic uint64_t not_queued; /* messages of samples that found the ring full */
};

struct io_links {
    enum io_link_mode mode;
    int link_count;
    bool is_open, polls, spins;
    struct link *link;
    struct io_reactor *reactor;
    struct rt_watchdog *watchdog;
    struct io_await_hook hook; /* of the thread that awaits */
    struct io_latency_observer observer;
    struct rt_thread *thread; /* NULL: not running */
    struct rt_wall_map wall;
    uint64_t next_tick_ns;
    uint64_t poll_began_ns; /* inline: when the frame began to poll; 0 while it awaits a reply */
    uint64_t faults_at_entry;
    _Atomic uint64_t faults;
    atomic_bool stop;
    atomic_bool invalid;     /* no sample leaves any more */
    atomic_bool interrupted; /* every await ends at once */
    _Alignas(RT_CACHE_LINE) atomic_bool sleeping;
};

static inline struct link *link_at(struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

static inline const struct link *const_link_at(const struct io_links *links, int link)
{
    RT_CHECK(link >= 0 && link < links->link_count);
    return &links->link[link];
}

/* A counter has one writer, so no locked instruction is needed. */
static inline void add_to_counter(_Atomic uint64_t *counter, uint64_t count)
{
    const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + count, memory_order_relaxed);
}

static inline uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Stamps come from two clocks and a mapping between them, so a short part may come out a little
 * negative; it then counts as 0. */
static inline uint64_t elapsed_ns(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* link_thread.c */

/* Let the I/O thread send what was pushed; costs a system call only when it sleeps. */
void io_links_wake_thread(struct io_links *links);
/* Tick when it is time, receive, and collect stamps; poll_began_ns as in struct io_links. */
void io_links_poll_at(struct io_links *links, uint64_t now_ns, uint64_t poll_began_ns);

/* link_rx.c */

/* One packet of the bus `index`; self is struct io_links. */
void io_link_receive_packet(void *self, int index, const struct io_packet *arrived);
/* A bounded number of packets of every bus. */
void io_links_receive_all(struct io_links *links);
/* Nothing since then for longer than the link may be silent, or a device that is gone. */
bool io_link_is_silent(const struct link *link, uint64_t since_ns, uint64_t now_ns);
/* The commands are overdue: the link counts as lost. */
bool io_link_lacks_command(const struct link *link, uint64_t command_ns, uint64_t now_ns);
/* Callbacks of the protocol; self is struct link. */
void io_link_note_peer(void *self);
bool io_link_receive_command(void *self, const struct io_command *received);
void io_link_receive_clock_reply(void *self, uint64_t asked_ns, uint64_t board_ns);

/* link_tx.c */

/* False: there is no peer yet, or the bus did not accept it. */
bool io_link_transmit(struct link *link, const void *bytes, size_t size, enum io_destination target,
                      bool stamped);
void io_link_send_status(struct link *link, enum io_status status);
/* Send all samples that the frame has queued, and forward what may follow them. */
void io_links_send_waiting(struct io_links *links);
/* Callback of the protocol; self is struct link. */
void io_link_send_message(void *self, const void *bytes, size_t size, enum io_destination target,
                          bool stamped);

/* link_await.c */

/* End the sleep of io_link_await(), which then checks its condition again. */
void io_link_wake_waiter(struct link *link);

/* The time spent waiting for a command newer than the newest. */
static inline uint64_t io_link_waited_ns(const struct link *link)
{
    const uint32_t arrived = atomic_load_explicit(&link->arrived, memory_order_relaxed);
    const uint32_t since = atomic_load_explicit(&link->waited_at, memory_order_relaxed);
    return arrived == since ? read_counter(&link->waited_ns) : 0;
}

/* link_latency.c */

/* The departure of the link is complete: its last message left at sent_ns. */
void io_link_record_latency(const struct io_links *links, struct link *link, uint64_t sent_ns);
/* Record the latency of a hand controller, to which nothing is sent: its loop ends when the motion
 * that it commanded is known. */
void io_link_record_motion_latency(const struct io_links *links, struct link *link,
                                   const struct io_sample *sample, uint64_t handed_ns);
/* Ask for the kernel's stamp of the open departure. */
void io_link_fetch_tx_stamp(struct io_links *links, struct link *link);

static inline void io_link_collect_tx_stamp(struct io_links *links, struct link *link)
{
    if (link->departure.open)
        io_link_fetch_tx_stamp(links, link);
}

/* A kernel stamp on our clock.  Outside [floor, ceiling] the wall clock was set in between, and the
 * time at which we saw the packet ourselves is used instead. */
static inline uint64_t io_link_plausible_stamp(uint64_t stamp_ns, uint64_t floor_ns,
                                               uint64_t ceiling_ns, uint64_t seen_ns)
{
    return stamp_ns == 0 || stamp_ns < floor_ns || stamp_ns > ceiling_ns ? seen_ns : stamp_ns;
}

static inline uint64_t io_link_stamp_to_monotonic(const struct io_links *links, uint64_t stamp_ns,
                                                  uint64_t floor_ns, uint64_t ceiling_ns,
                                                  uint64_t seen_ns)
{
    const uint64_t ns = stamp_ns ? rt_wall_map_to_monotonic(&links->wall, stamp_ns) : 0;
    return io_link_plausible_stamp(ns, floor_ns, ceiling_ns, seen_ns);
}

/* link_ground.c */

/* 0 or -errno with one line in error. */
int io_link_open_ground(struct link *link, char *error);
void io_link_close_ground(struct link *link);
/* Exchange frames with ground stations, of which there is at least one. */
void io_link_exchange_frames(struct link *link, uint64_t now_ns);
/* Receive for the scripted station, which exists, and let it send what is due in this frame. */
void io_link_run_station(struct link *link, uint64_t frame);
/* Callbacks of the protocol; self is struct link. */
void io_link_queue_for_ground(void *self, const void *bytes, size_t size);
void io_link_queue_for_board(void *self, const void *bytes, size_t size);

static inline bool io_link_has_station(const struct link *link)
{
    return link->spec.script.step_count > 0;
}

/* Called when all waiting samples have left, so that a forwarded frame is never ahead of one, and
 * by the tick, so that a link without samples forwards as well. */
static inline void io_link_forward_frames(struct link *link, uint64_t now_ns)
{
    if (link->ground_count > 0)
        io_link_exchange_frames(link, now_ns);
}

/* Called ahead of the sample, so that a board in lockstep has the command when its clock moves. */
static inline void io_link_update_station(struct link *link, uint64_t frame)
{
    if (io_link_has_station(link))
        io_link_run_station(link, frame);
}

/* link_faults.c */

void io_link_place_faults(struct link *link);
/* Apply the faults to a message that leaves: bytes then point at a changed copy.  The size that is
 * returned goes out; 0 swallows the message. */
size_t io_link_apply_faults_out(struct link *link, const void **bytes, size_t size);
/* The same for a packet of the board; false swallows it.  A piece of a stream counts as one
 * message. */
bool io_link_apply_faults_in(struct link *link, struct io_packet *packet);
