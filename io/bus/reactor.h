/*
 * The reactor: one thread sleeps until a packet comes, another thread wakes it, or time is up.
 *
 * It sits in io_uring.  A UDP bus has one multishot receive into a ring of shared buffers, so that
 * a datagram costs no system call of its own.  Other buses have a poll on each descriptor, which is
 * posted again, without a system call of its own, after what came was received; descriptors come
 * and go with the generation of their bus.  A bus without descriptors (shared memory, tape) cannot
 * wake anybody: while there is one, the reactor looks at it every 200 us.  The baseline is Linux
 * 6.1; features are probed, not guessed from a version.  Where io_uring is refused (many
 * containers) or too old, the same promise is kept by poll(2), and io_reactor_note() says so.
 *
 * A thread with a core of its own needs no reactor: spinning on recvmsg is the quicker loop (4.1
 * against 6.3 us a round trip, medians on a 2.8 GHz virtual machine).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/bus.h"

enum { IO_REACTOR_BUS_MAX = 8, IO_REACTOR_NOTE_MAX = 160 };

struct io_reactor_tasks {
    void *self;
    void (*packet)(void *self, int bus, const struct io_packet *packet);
};

struct io_reactor;

/* Context: setup. */
size_t io_reactor_size(void);
struct io_reactor *io_reactor_place(void *mem);

/* The buses are open and stay the caller's.  0 or -errno.  Context: setup. */
int io_reactor_open(struct io_reactor *reactor, struct io_bus *const *buses, int bus_count,
                    const struct io_reactor_tasks *tasks);
/* Once no thread waits any more.  Context: after the run. */
void io_reactor_close(struct io_reactor *reactor);
/* Empty, or one sentence on what this machine refused.  Context: any, after open. */
const char *io_reactor_note(const struct io_reactor *reactor);

/* From here on the calling thread, and no other, waits.  Context: setup, the I/O thread. */
void io_reactor_enter(struct io_reactor *reactor);
/* Hand what came to tasks, at most a bounded number per bus; returns after the first batch, a wake
 * or timeout_ns.  Ticks a bus when a new peer knocks.  Context: the I/O thread. */
void io_reactor_wait(struct io_reactor *reactor, uint64_t timeout_ns);
/* Make a wait return, the running one or else the next.  Async-signal-safe.  Context: any. */
void io_reactor_wake(struct io_reactor *reactor);
