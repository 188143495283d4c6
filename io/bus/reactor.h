/*
 * The reactor: a thread sleeps until a packet comes, another thread wakes it, or a timeout expires.
 *
 * It waits in io_uring.  A UDP bus has one multishot receive into a ring of shared buffers, so that
 * a datagram costs no system call of its own.  Other buses have a poll on each descriptor, which is
 * posted again, without a system call of its own, after the packets were received; descriptors come
 * and go with the generation of their bus.  A bus without descriptors (shared memory, tape) cannot
 * wake the thread: while there is one, the reactor polls it every 200 us.  The baseline is Linux
 * 6.1; features are probed, not guessed from a version.  Where io_uring is refused (many
 * containers) or too old, the reactor waits in poll(2) instead, and io_reactor_note() reports it.
 *
 * A thread with a core of its own needs no reactor: polling with recvmsg is faster (4.1 against
 * 6.3 us for a round trip, medians on a 2.8 GHz virtual machine).
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

/* The buses are open and still belong to the caller.  0 or -errno.  Context: setup. */
int io_reactor_open(struct io_reactor *reactor, struct io_bus *const *buses, int bus_count,
                    const struct io_reactor_tasks *tasks);
/* No thread may wait any more.  Context: after the run. */
void io_reactor_close(struct io_reactor *reactor);
/* Empty, or one sentence on what this machine refused.  Context: any, after open. */
const char *io_reactor_note(const struct io_reactor *reactor);

/* From here on only the calling thread may wait.  Context: setup, the I/O thread. */
void io_reactor_enter(struct io_reactor *reactor);
/* Wait, and hand the packets that came to tasks, a bounded number per bus.  Returns after the first
 * batch, a wake or timeout_ns.  Ticks a bus at which a new connection waits.  Context: the I/O
 * thread. */
void io_reactor_wait(struct io_reactor *reactor, uint64_t timeout_ns);
/* Make a wait return, the running one or else the next.  Async-signal-safe.  Context: any. */
void io_reactor_wake(struct io_reactor *reactor);
