#include "rt/machine/baseline.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "rt/clock.h"

/* A cycle sleeps 60 times a millisecond, then spins for 40: four tenths of the core. */
enum { WAKES = 60, WAKE_NS = 1000 * 1000, SPIN_NS = 40 * 1000 * 1000 };

struct measurement {
    struct rt_baseline *baseline;
    uint64_t wake_count;
};

static uint64_t involuntary_switches(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nivcsw;
}

/* Each deadline counts from now, so that a late wake does not make the next one late. */
static void measure_wake(const struct rt_clock *plain, struct rt_baseline *baseline)
{
    const uint64_t due_ns = rt_now_ns() + WAKE_NS;
    plain->wait_until_ns(plain->self, due_ns);
    rt_histogram_add(&baseline->wake_latency, rt_now_ns() - due_ns, baseline->wake_latency.count);
}

/* The lead of this clock is longer than the wait, so that all of it is spun. */
static void measure_gaps(const struct rt_clock *spinning, struct rt_clock_real *real,
                         struct rt_baseline *baseline)
{
    const uint64_t switches = involuntary_switches();
    const uint64_t begin_ns = rt_now_ns();
    spinning->wait_until_ns(spinning->self, begin_ns + SPIN_NS);
    baseline->spun_ns += rt_now_ns() - begin_ns;
    baseline->switches += involuntary_switches() - switches;
    if (real->gap_ns > baseline->gap_ns_max)
        baseline->gap_ns_max = real->gap_ns;
}

static void baseline_thread(void *self)
{
    const struct measurement *measurement = self;
    struct rt_baseline *baseline = measurement->baseline;
    struct rt_clock_real sleeping, watching;
    rt_clock_real_open(&sleeping, RT_WAIT_PLAIN, 0, 0);
    rt_clock_real_open(&watching, RT_WAIT_HYBRID, 2 * (uint64_t)SPIN_NS, 2 * (uint64_t)SPIN_NS);
    const struct rt_clock plain = rt_clock_real_interface(&sleeping);
    const struct rt_clock spinning = rt_clock_real_interface(&watching);

    while (baseline->wake_latency.count < measurement->wake_count) {
        for (int i = 0; i < WAKES && baseline->wake_latency.count < measurement->wake_count; i++)
            measure_wake(&plain, baseline);
        measure_gaps(&spinning, &watching, baseline);
    }
    baseline->tsc = watching.tsc;
    baseline->gap_count = watching.gap_count;
    baseline->gap_ns_total = watching.gap_ns_total;
}

int rt_baseline_measure(int cpu, int priority, double seconds, struct rt_baseline *baseline)
{
    struct measurement measurement = {.baseline = baseline};
    const struct rt_thread_spec spec = {
        .name = "baseline", .policy = SCHED_FIFO, .priority = priority, .cpu = cpu};
    struct rt_thread thread;
    memset(baseline, 0, sizeof *baseline);
    measurement.wake_count = (uint64_t)(seconds * 1e9 / WAKE_NS);
    const int status = rt_thread_start(&thread, &spec, baseline_thread, &measurement);
    if (status != 0)
        return status;
    rt_thread_join(&thread);
    baseline->thread = thread;
    return 0;
}
