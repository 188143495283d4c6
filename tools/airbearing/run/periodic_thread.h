/*
 * A thread that does the same small work every 20 ms, and may wait for a disk or a terminal in it,
 * so that nobody else has to.
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
    atomic_bool stop; /* by whoever ends it */
    atomic_bool left; /* the same: it was waited for in vain */
    atomic_bool over; /* by the thread, last */
};

/* 0 or -errno.  name: at most 15 characters; cpu -1: anywhere.  Context: setup. */
int periodic_thread_start(struct periodic_thread *worker, const char *name, int cpu,
                          void (*work)(void *self), void *self);
/* Let it do its work once more and end.  False: it hangs in a call for longer than limit_ns and is
 * left behind; it begins no other work, but what this work looks at must not go away.  True also
 * where it was never started.  Context: after the run. */
bool periodic_thread_stop(struct periodic_thread *worker, uint64_t limit_ns);
