#include "tools/airbearing/run/periodic_thread.h"

#include <sched.h>

#include "rt/clock.h"
#include "tools/airbearing/run/sleep_ms.h"

enum { ROUND_MS = 20 };

static void thread_main(void *self)
{
    struct periodic_thread *worker = self;
    /* Acquire: work that was queued before the stop is visible to the last round. */
    while (!atomic_load_explicit(&worker->stop, memory_order_acquire)) {
        worker->work(worker->self);
        sleep_ms(ROUND_MS);
    }
    if (!atomic_load_explicit(&worker->left, memory_order_acquire))
        worker->work(worker->self);
    /* Release: a reader of `over` sees the results of the last round. */
    atomic_store_explicit(&worker->over, true, memory_order_release);
}

int periodic_thread_start(struct periodic_thread *worker, const char *name, int cpu,
                          void (*work)(void *self), void *self)
{
    const struct rt_thread_spec spec = {.name = name, .policy = SCHED_OTHER, .cpu = cpu};
    worker->work = work;
    worker->self = self;
    const int failure = rt_thread_start(&worker->thread, &spec, thread_main, worker);
    worker->started = failure == 0;
    return failure;
}

bool periodic_thread_stop(struct periodic_thread *worker, uint64_t limit_ns)
{
    if (!worker->started)
        return true;
    const uint64_t end_ns = rt_now_ns() + limit_ns;
    atomic_store_explicit(&worker->stop, true, memory_order_release);
    while (!atomic_load_explicit(&worker->over, memory_order_acquire)) {
        if (rt_now_ns() >= end_ns) {
            atomic_store_explicit(&worker->left, true, memory_order_release);
            return false;
        }
        sleep_ms(1);
    }
    rt_thread_join(&worker->thread);
    worker->started = false;
    return true;
}
