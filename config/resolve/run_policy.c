/*
 * Resolves how the frames run: rate, threads, pace.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <string.h>

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

/* Rates of the form 2^a 5^b have a period of whole nanoseconds; the nearest on either side. */
static void round_rates(double rate_hz, double *below, double *above)
{
    *below = 1.0;
    *above = 20000.0;
    for (int two = 1; two <= 512; two *= 2)
        for (int five = 1; five <= 20000; five *= 5) {
            const double candidate = (double)two * five;
            if (candidate <= rate_hz && candidate > *below)
                *below = candidate;
            if (candidate >= rate_hz && candidate < *above)
                *above = candidate;
        }
}

static bool resolve_rate(const struct cfg_resolve *resolve)
{
    const double rate_hz = resolve->keys->rate;
    const double period = 1e9 / rate_hz, whole = nearbyint(period);
    if (fabs(period - whole) > 1e-9 * whole) {
        double below, above;
        round_rates(rate_hz, &below, &above);
        return cfg_fail_at(
            resolve->report, resolve->keys->node, "rate",
            "rate of %.10g Hz has a period of %.3f ns, and the grid counts whole ones; "
            "the nearest round rates are %.10g Hz and %.10g Hz",
            rate_hz, period, below, above);
    }
    resolve->scenario->spec.period_ns = (uint64_t)whole;
    resolve->scenario->spec.rate_hz = 1e9 / whole;
    return true;
}

static bool resolve_length(const struct cfg_resolve *resolve)
{
    const double period = (double)resolve->scenario->spec.period_ns * 1e-9;
    resolve->scenario->spec.seconds = resolve->keys->seconds;
    if (resolve->keys->seconds >= period * (1 - 1e-9))
        return true;
    return cfg_fail_at(resolve->report, resolve->keys->node, "seconds",
                       "seconds of %.10g s is not even one frame of %.10g s; make it longer",
                       resolve->keys->seconds, period);
}

static bool check_threads(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_frame *frame = &resolve->keys->frame;
    const struct cfg_keys_io *io = &resolve->keys->io;
    if (io->mode == IO_LINK_INLINE)
        return true;
    if (frame->priority <= io->priority)
        return cfg_fail_at(resolve->report, frame->node != NULL ? frame->node : io->node,
                           "priority",
                           "the frame thread's priority (%d) must be above the I/O thread's (%d); "
                           "raise one or lower the other",
                           (int)frame->priority, (int)io->priority);
    if (frame->cpu >= 0 && frame->cpu == io->cpu)
        return cfg_fail_at(resolve->report, io->node, "cpu",
                           "the frame and I/O threads are both on core %d; give them two cores, or "
                           "io: inline",
                           (int)io->cpu);
    return true;
}

/* Whether the machine has the core is known only at the run, so the mark is kept until then; none
 * for an override. */
static struct cfg_mark mark_of(const struct cfg_node *map, const char *key)
{
    const struct cfg_node *node = map != NULL ? cfg_node_find(map, key) : NULL;
    return node != NULL && node->origin == NULL ? node->mark : (struct cfg_mark){0};
}

static bool resolve_threads(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_frame *frame = &resolve->keys->frame;
    const struct cfg_keys_io *io = &resolve->keys->io;
    struct cfg_scenario *scenario = resolve->scenario;
    scenario->spec.io_mode = (enum io_link_mode)io->mode;
    scenario->spec.io_cpu = (int)io->cpu;
    scenario->spec.io_priority = (int)io->priority;
    scenario->spec.frame_cpu = (int)frame->cpu;
    cfg_scenario_note(scenario, "frame", "cpu", mark_of(frame->node, "cpu"));
    cfg_scenario_note(scenario, "io", "cpu", mark_of(io->node, "cpu"));
    scenario->spec.frame_priority = (int)frame->priority;
    scenario->spec.wait = (enum rt_wait)frame->wait;
    scenario->spec.lead_ns = nanoseconds(frame->lead);
    scenario->spec.watchdog_ns = nanoseconds(frame->watchdog);

    const double period = (double)scenario->spec.period_ns * 1e-9;
    if (frame->lead >= period / 2)
        return cfg_fail_at(
            resolve->report, frame->node, "lead",
            "lead of %.10g s is not below half a period, %.10g s; shorten it or write "
            "auto",
            frame->lead, period / 2);
    if (scenario->spec.watchdog_ns < 2 * scenario->spec.period_ns)
        return cfg_fail_at(resolve->report, frame->node, "watchdog",
                           "watchdog of %.10g s would bark at healthy frames; give it at least two "
                           "periods, %.10g s",
                           frame->watchdog, 2 * period);
    return check_threads(resolve);
}

static void resolve_policies(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_scenario *keys = resolve->keys;
    struct cfg_scenario *scenario = resolve->scenario;
    strcpy(scenario->spec.name, keys->name);
    scenario->spec.seed = (uint64_t)keys->seed;
    scenario->spec.pace = (enum rt_pace)keys->pace;
    scenario->commit_given = keys->commit >= 0;
    scenario->spec.commit = scenario->commit_given ? (enum rt_commit)keys->commit : RT_COMMIT_GRID;
    scenario->spec.overrun = (enum rt_overrun)keys->overrun.policy;
    scenario->spec.max_catch_up = (uint32_t)keys->overrun.max_catch_up;
    scenario->require_realtime = keys->require.machine == 1;
    scenario->require = (struct cfg_require){.time = keys->require.time == 1,
                                             .link = keys->require.link == 1,
                                             .log = keys->require.log == 1,
                                             .expectations = keys->require.expectations == 1};
    scenario->spec.physics =
        (struct sim_physics_limits){keys->physics.max_speed, keys->physics.max_energy_growth};
    scenario->spec.log_every = (uint32_t)keys->log.every;
    scenario->spec.log_parts = keys->log.parts == 1;
    scenario->spec.integrator = (enum dyn_integrator)keys->integrator.method;
    scenario->spec.substeps = (int)keys->integrator.substeps;
}

bool cfg_resolve_run(const struct cfg_resolve *resolve)
{
    resolve_policies(resolve);
    return resolve_rate(resolve) && resolve_length(resolve) && resolve_threads(resolve) &&
           cfg_resolve_world(resolve);
}
