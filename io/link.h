/*
 * A link is a bus with a protocol on it: commands in, samples out.
 *
 *   threaded   the I/O thread owns the sockets and sits in io_uring (or polls, with a core of its
 *              own); the frame meets it only through a mailbox (commands, the newest wins) and a
 *              ring (samples, none lost while the thread is less than eight frames late)
 *   inline     the frame thread polls the sockets itself, bounded work per frame
 *
 * Nothing here blocks, locks or allocates after io_links_start().
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"
#include "rt/histogram.h"
#include "rt/thread.h"
#include "rt/watchdog.h"

enum { IO_LINK_MAX = 4, IO_ADDRESS_MAX = 64, IO_ERROR_MAX = 256 };
enum io_link_mode { IO_LINK_THREADED, IO_LINK_INLINE };

struct io_link_spec {
    const char *name;            /* kept, not copied */
    char listen[IO_ADDRESS_MAX]; /* "127.0.0.1:14560": bind here, learn the peer from its first
                                    valid message */
    char peer[IO_ADDRESS_MAX]; /* "": learned; else only this address is heard and it is sent to at
                                  once */
    uint64_t lost_after_ns;    /* no command for this long: the link counts as lost; 0: never */
    uint8_t system_id, component_id;
};

struct io_counters {
    uint64_t rx, tx; /* messages */
    uint64_t rx_bytes, tx_bytes;
    uint64_t rx_bad;     /* CRC, length, unknown magic, foreign sender */
    uint64_t rx_lost;    /* gaps in the far end's sequence numbers */
    uint64_t tx_dropped; /* kernel refused, no peer yet, I/O thread too late, after safe */
    uint64_t commands;   /* HIL_ACTUATOR_CONTROLS heard */
    uint64_t losses;     /* times the link was lost */
};

/* Parts of the loop latency, in the order of the data flow. */
enum io_part {
    IO_PART_WIRE_IN,
    IO_PART_GRID_WAIT,
    IO_PART_STEP,
    IO_PART_HOLD,
    IO_PART_WIRE_OUT,
    IO_PART_SUM,
    IO_PART_COUNT
};
extern const char *const io_part_name[IO_PART_COUNT];

/* The histograms belong to the sending thread until io_links_stop(). */
struct io_latency {
    struct rt_histogram part[IO_PART_COUNT];
    _Atomic uint64_t last[IO_PART_COUNT]; /* of the newest command; any thread may look */
};

struct io_links;

/* The specs are copied.  Context: setup. */
size_t io_links_size(int link_count);
struct io_links *io_links_place(const struct io_link_spec *specs, int link_count,
                                enum io_link_mode mode, void *mem);

/* Open the sockets and the ring; 0 or -errno with one line in error, which names the link and what
 * to do. Context: setup. */
int io_links_open(struct io_links *links, char error[IO_ERROR_MAX]);
/* Empty, or one sentence on what this machine refused (io_uring).  Context: any, after open. */
const char *io_links_note(const struct io_links *links);
/* The port that was bound, which listen "...:0" leaves to the kernel.  Context: any, after open. */
uint16_t io_link_port(const struct io_links *links, int link);

/* Start the I/O thread; nothing in inline mode.  polls: the thread has a core of its own and may
 * spin. The thread looks at the watchdog (may be NULL) and sends safe when it barks.  Context:
 * setup. */
int io_links_start(struct io_links *links, const struct rt_thread_spec *spec, bool polls,
                   struct rt_watchdog *watchdog, struct rt_thread *thread);
/* Joins the thread, last messages out (HEARTBEAT, MAV_STATE_POWEROFF), sockets closed.  Context:
 * after the run. */
void io_links_stop(struct io_links *links);

/* Inline mode: receive what is there, at most a bounded number of messages.  Nothing in threaded
 * mode.  Context: frame. */
void io_links_poll(struct io_links *links);
/* The newest command; true when it came since the last latch.  Context: frame. */
bool io_link_latch(struct io_links *links, int link, struct io_command *command);
/* Hand the sample over; it leaves at once.  Context: frame. */
void io_link_commit(struct io_links *links, int link, const struct io_sample *sample);
/* Lockstep: wait until a command arrives that came after the last latch, at most limit_ns. Context:
 * frame. */
bool io_link_await(struct io_links *links, int link, uint64_t limit_ns);
/* True while commands come in time.  False before the first.  Context: any. */
bool io_link_alive(const struct io_links *links, int link, uint64_t now_ns);
/* A peer has spoken (any valid message).  Context: any. */
bool io_link_has_peer(const struct io_links *links, int link);
/* Tell every far end that the simulation is no longer valid (HEARTBEAT, MAV_STATE_EMERGENCY).  From
 * here on no sample leaves; the I/O thread repeats the message until the stop.  Async-signal-safe.
 * Context: any. */
void io_links_safe(struct io_links *links);

/* Context: any; exact after io_links_stop(). */
void io_link_counters(const struct io_links *links, int link, struct io_counters *counters);
const struct io_latency *io_link_latency(const struct io_links *links, int link);
/* Page faults of the I/O thread since it entered its loop; exact after io_links_stop(). */
uint64_t io_links_page_faults(const struct io_links *links);
