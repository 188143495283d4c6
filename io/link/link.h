/*
 * A link is a bus with a protocol on it: commands in, samples out.
 *
 *   threaded   the I/O thread owns the sockets and waits in io_uring (or polls, with a core of its
 *              own); the frame thread shares only a mailbox with it (commands, the newest wins) and
 *              a ring (samples, none lost while the thread is less than eight frames late)
 *   inline     the frame thread polls the sockets itself, bounded work per frame
 *
 * Nothing here blocks, locks or allocates after io_links_start().
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/bus.h"
#include "io/command.h"
#include "io/device/fault.h"
#include "io/link/ground_station.h"
#include "io/protocol/protocol.h"
#include "rt/histogram.h"
#include "rt/thread.h"
#include "rt/watchdog.h"

enum {
    IO_LINK_MAX = 4,
    IO_LINK_GROUND_MAX = 4,
    IO_LINK_FAULT_MAX = 8,
    IO_ADDRESS_MAX = IO_BUS_ADDRESS_MAX,
    IO_ERROR_MAX = 256,
    IO_LINK_TIMESYNC_LOAD = 750, /* bytes per second that queries_time sends: 25 times 30 */
};
enum io_link_mode { IO_LINK_THREADED, IO_LINK_INLINE };

/* An injected fault of the wire, for messages out, messages in, or both. */
struct io_link_fault {
    struct io_fault_spec spec;
    bool out, in;
};

struct io_link_spec {
    const char *name;       /* kept, not copied */
    struct io_bus_spec bus; /* UDP without a peer learns it from the first valid message; with one,
                               only that address is accepted, and it is sent to at once */
    uint64_t lost_after_ns; /* no command for this long: the link counts as lost; 0: never.  A hand
                               controller sends nothing at rest: where the bus detects its device
                               (all but UDP and the cockpit), the link is lost only when the device
                               is gone */
    bool awaited;           /* lockstep: only the time spent waiting for a command counts */
    uint8_t system_id, component_id;
    enum io_protocol_kind protocol;
    bool virtual_gps; /* as in struct io_protocol_spec */
    enum io_betaflight_variant variant;
    bool queries_time; /* ask the board for its clock, some tens of times per second */
    struct io_hand_spec hand;
    uint64_t late_after_ns; /* a longer gap between two commands counts as late; 0: never */
    /* "127.0.0.1:14550": ground stations, "" ends the list.  Messages of the board other than
     * commands go to all of them; messages of any of them go to the board, behind the samples. */
    char ground[IO_LINK_GROUND_MAX][IO_ADDRESS_MAX];
    struct io_ground_script script;   /* of the scripted ground station */
    char ground_line[IO_ADDRESS_MAX]; /* the UDP address on which it listens; "": the line of the
                                         board */
    uint64_t seed;                    /* of the random numbers of the faults */
    int fault_count;
    struct io_link_fault fault[IO_LINK_FAULT_MAX];
};

struct io_link_counts {
    uint64_t rx, tx; /* messages */
    uint64_t rx_bytes, tx_bytes;
    uint64_t rx_bad;     /* CRC, length, unknown magic, foreign sender */
    uint64_t rx_lost;    /* gaps in the sequence numbers of the far end */
    uint64_t tx_dropped; /* kernel refused, no peer yet, I/O thread too late, outputs invalid */
    uint64_t commands;   /* received */
    uint64_t losses;     /* times the link was lost because commands stopped */
    uint64_t duplicates; /* repeated packets, which are not new commands */
    uint64_t forwarded;  /* frames between board and ground stations, both directions */
    uint64_t forward_dropped; /* frames that found no room or could not be sent */
};

/* A reply to a query of the board's clock. */
struct io_clock_sample {
    uint64_t local_ns, board_ns;
    uint64_t delay_ns; /* from the query to the reply */
};

/* The regularity of the commands, by the time of their last byte. */
struct io_cadence {
    uint64_t since_ns;   /* from the newest command to now; 0 before the first */
    uint64_t gap_ns_max; /* longest time between two commands of one far end */
    uint64_t late;       /* gaps longer than late_after_ns */
    uint64_t silent;     /* gaps longer than lost_after_ns, the current one included */
};

/* Parts of the loop latency, in the order of the data flow. */
enum io_latency_part {
    IO_LATENCY_WIRE_IN,
    IO_LATENCY_GRID_WAIT,
    IO_LATENCY_STEP,
    IO_LATENCY_HOLD,
    IO_LATENCY_WIRE_OUT,
    IO_LATENCY_SUM,
    IO_LATENCY_COUNT
};
extern const char *const io_latency_part_name[IO_LATENCY_COUNT];

/* The histograms belong to the sending thread until io_links_stop(). */
struct io_latency {
    struct rt_histogram part[IO_LATENCY_COUNT];
    _Atomic uint64_t last[IO_LATENCY_COUNT]; /* of the newest command; any thread may read it */
};

struct io_links;

/* Observer of every measured loop latency: gets its parts without the sum.  frame is that of the
 * sample, rx_ns identifies the command.  Context: the sending thread, under the rules of the
 * frame. */
struct io_latency_observer {
    void *self;
    void (*observe)(void *self, int link, uint64_t frame, uint64_t rx_ns,
                    const uint64_t part_ns[IO_LATENCY_SUM]);
};

/* The specs are copied.  Context: setup. */
size_t io_links_size(int link_count);
struct io_links *io_links_place(const struct io_link_spec *specs, int link_count,
                                enum io_link_mode mode, void *mem);

/* Open the sockets and the ring: 0, or -errno with one line in error, which names the link and what
 * to do.  Context: setup. */
int io_links_open(struct io_links *links, char error[IO_ERROR_MAX]);
/* Empty, or one sentence about what this machine refused (io_uring).  Context: any, after open. */
const char *io_links_note(const struct io_links *links);
/* The port that was bound; the kernel chooses it for listen "...:0".  Context: any, after open. */
uint16_t io_link_port(const struct io_links *links, int link);

/* The sending end of a link on the bus cockpit, which the caller closes; -1 for other buses.
 * Context: setup, after open. */
int io_link_cockpit_sender(const struct io_links *links, int link);

/* Call before the start; observe NULL: no observer.  Context: setup. */
void io_links_observe_latency(struct io_links *links, struct io_latency_observer observer);
/* Observe the steps of the scripted ground stations.  Call before the start.  Context: setup. */
void io_links_observe_ground(struct io_links *links, struct io_ground_observer observer);
/* A press of one of these buttons of a hand controller raises the stop as soon as it is received,
 * and so does the loss of the link.  A button that is held at the first report is not a press.
 * Context: setup, before the start. */
struct rt_estop;
void io_links_estop(struct io_links *links, int link, uint32_t buttons, struct rt_estop *estop);
/* Start the I/O thread; does nothing in inline mode.  polls: the thread has a core of its own and
 * may spin.  The thread checks the watchdog (may be NULL) and invalidates the outputs when it has
 * expired.  Context: setup. */
int io_links_start(struct io_links *links, const struct rt_thread_spec *spec, bool polls,
                   struct rt_watchdog *watchdog, struct rt_thread *thread);
/* Join the thread, send the last messages (MAVLink: HEARTBEAT, MAV_STATE_POWEROFF), and close the
 * sockets.  Context: after the run. */
void io_links_stop(struct io_links *links);

/* Inline mode: the frame thread has a core of its own, so an await may spin before it sleeps.
 * Context: setup. */
void io_links_allow_spin(struct io_links *links, bool may);
/* Inline mode: receive at most a bounded number of packets.  Does nothing in threaded mode.
 * Context: frame. */
void io_links_poll(struct io_links *links);
/* The newest command; true when it came since the last latch.  Context: frame. */
bool io_link_latch(struct io_links *links, int link, struct io_command *command);
/* The newest reading of the board's clock, with the local time in the middle between query and
 * reply.  True when it came since the last call.  Context: frame. */
bool io_link_clock(struct io_links *links, int link, struct io_clock_sample *clock_sample);
/* Hand over a sample, which leaves at once.  Context: frame. */
void io_link_commit(struct io_links *links, int link, const struct io_sample *sample);
/* Lockstep: wait for the reply to the sample of sim_us, the last one committed with IO_SEND_SENSOR,
 * at most limit_ns of waiting (io/link/wait_budget.h).  True when the reply is there.
 *
 * A board whose clock is the simulation's (its first replies carry times that were sent to it) has
 * answered when its time is sim_us or later.  Other boards are expected to send one reply per
 * message: the late reply to one message does not count for the next, and two misses in a row start
 * the count anew.  Where replies carry no time, and before the first sample, any command after the
 * last latch is a reply.  Before the first command a board may need dozens of samples to boot: do
 * not wait long.  Context: frame. */
bool io_link_await(struct io_links *links, int link, uint64_t sim_us, uint64_t limit_ns);
/* io_link_await() calls this hook before it sleeps and every 20 ms, so that a stop request is seen;
 * hook NULL: none.  Context: setup, or frame. */
struct io_await_hook {
    void *self;
    void (*hook)(void *self);
};
void io_links_set_await_hook(struct io_links *links, struct io_await_hook hook);
/* The run ends: every await, running or later, returns at once.  Context: any. */
void io_links_interrupt(struct io_links *links);
/* Restart the loss timers: the run is paused, no samples leave, and boards cannot reply.  A hand
 * controller does not reply to samples, so its timer goes on.  Context: frame. */
void io_links_restart_loss_timers(struct io_links *links, uint64_t now_ns);
/* True while commands come in time, or the device of a hand controller is there; false before the
 * first command.  Context: any. */
bool io_link_alive(const struct io_links *links, int link, uint64_t now_ns);
/* True after the first valid message of a peer.  Context: any. */
bool io_link_has_peer(const struct io_links *links, int link);
/* The state of the far end; IO_BOARD_SILENT also when no valid message came for lost_after_ns.
 * Context: any. */
enum io_board_state io_link_board_state(const struct io_links *links, int link);
/* Tell every far end that the simulation is no longer valid (MAVLink: HEARTBEAT,
 * MAV_STATE_EMERGENCY; other protocols have no such message).  From here on no sample leaves; the
 * I/O thread repeats the message until the stop.  Async-signal-safe.  Context: any. */
void io_links_invalidate_outputs(struct io_links *links);

/* Context: any; exact after io_links_stop(). */
void io_link_counters(const struct io_links *links, int link, struct io_link_counts *counters);
void io_link_cadence(const struct io_links *links, int link, uint64_t now_ns,
                     struct io_cadence *cadence);
const struct io_latency *io_link_latency(const struct io_links *links, int link);
/* Move the frames in which a fault of the spec acts (they are counted by io_sample.frame). Context:
 * any, but always the same thread. */
void io_link_fault_move(struct io_links *links, int link, int fault, uint64_t first_frame,
                        uint64_t last_frame);
/* The number of messages that a fault of the spec has changed or swallowed; exact after
 * io_links_stop(). */
uint64_t io_link_fault_hits(const struct io_links *links, int link, int fault);
/* The result of a step of the scripted ground station; exact after io_links_stop(). */
struct io_ground_result io_link_ground_result(const struct io_links *links, int link, int step);
/* 0, or -errno when the line of the scripted ground station could not be opened.  Context: any,
 * after open. */
int io_link_ground_line_status(const struct io_links *links, int link);
/* The page faults of the I/O thread since it entered its loop; exact after io_links_stop(). */
uint64_t io_links_page_faults(const struct io_links *links);
