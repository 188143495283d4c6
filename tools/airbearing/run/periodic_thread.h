/*
 * A thread that calls the same function every 20 ms.  The function may wait for a disk or a
 * terminal, so that no other thread has to.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt/thread.h"

struct periodic_thread {
    struct rt_thread thread;
    void (*work)(void *self);
    void *self;
    bool started;
    atomic_bool stop; /* set by periodic_thread_stop() */
    atomic_bool left; /* set there, too, when the wait was too long */
    atomic_bool over; /* by the thread, last */
};

/* 0 or -errno.  name: at most 15 characters; cpu -1: anywhere.  Context: setup. */
int periodic_thread_start(struct periodic_thread *worker, const char *name, int cpu,
                          void (*work)(void *self), void *self);
/* End the thread after one more round.  False: it hangs in a call for longer than limit_ns and is
 * left; it starts no other round, but the data of this one must stay valid.  True also where it
 * was never started.  Context: after the run. */
bool periodic_thread_stop(struct periodic_thread *worker, uint64_t limit_ns);
