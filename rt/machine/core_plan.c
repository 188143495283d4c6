#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "rt/machine/machine.h"

static bool is_usable_core(const struct rt_machine *machine, int cpu)
{
    for (int i = 0; i < machine->cpu_count; i++)
        if (machine->cpus[i] == cpu)
            return true;
    return false;
}

/* The lowest core that is not chosen yet, an ordinary one if there is one: interrupts and kernel
 * threads are on the low cores anyway. */
static int pick_housekeeping_core(const struct rt_machine *machine, int frame_cpu, int io_cpu)
{
    for (int isolated = 0; isolated <= 1; isolated++)
        for (int i = 0; i < machine->cpu_count; i++) {
            const int cpu = machine->cpus[i];
            if (machine->isolated[cpu] == isolated && cpu != frame_cpu && cpu != io_cpu)
                return cpu;
        }
    /* All cores are chosen: share the core of the I/O, which then blocks, or else that of the
     * frame. */
    return io_cpu >= 0 ? io_cpu : frame_cpu;
}

/* The highest core that is not one of the two, an isolated one if there is one; -1 for none. */
static int pick_dedicated_core(const struct rt_machine *machine, int not_this, int nor_this)
{
    for (int isolated = 1; isolated >= 0; isolated--)
        for (int i = machine->cpu_count - 1; i >= 0; i--) {
            const int cpu = machine->cpus[i];
            if (machine->isolated[cpu] == isolated && cpu != not_this && cpu != nor_this)
                return cpu;
        }
    return -1;
}

static void place_io_thread(const struct rt_machine *machine, int io_cpu, struct rt_core_plan *plan)
{
    plan->io_cpu = io_cpu;
    if (io_cpu < 0)
        plan->io_cpu = pick_dedicated_core(machine, plan->housekeeping_cpu, plan->frame_cpu);
    if (plan->io_cpu < 0 && machine->cpu_count > 1)
        plan->io_cpu = plan->housekeeping_cpu;
    plan->io_polls = plan->io_cpu >= 0 && plan->io_cpu != plan->housekeeping_cpu &&
                     plan->io_cpu != plan->frame_cpu;
}

static const char *core_kind(const struct rt_machine *machine, int cpu)
{
    return machine->isolated[cpu] ? "isolated core" : "core";
}

static int explain_frame(const struct rt_machine *machine, const struct rt_core_plan *plan,
                         char *at, size_t size)
{
    if (plan->frame_cpu < 0)
        return snprintf(at, size, "There is one core, so the frame shares it and nothing spins");
    return snprintf(at, size, "The frame %s %s %d", plan->shared ? "shares" : "has",
                    core_kind(machine, plan->frame_cpu), plan->frame_cpu);
}

static int explain_io(const struct rt_machine *machine, const struct rt_core_plan *plan,
                      bool threaded, char *at, size_t size)
{
    if (!threaded)
        return snprintf(at, size, "; I/O is polled inside the frame");
    if (plan->io_polls)
        return snprintf(at, size, "; I/O polls on %s %d of its own",
                        core_kind(machine, plan->io_cpu), plan->io_cpu);
    if (plan->io_cpu < 0)
        return snprintf(at, size, "; I/O blocks");
    return snprintf(at, size,
                    "; I/O blocks on core %d, because it shares that core and must not spin",
                    plan->io_cpu);
}

static void explain_plan(const struct rt_machine *machine, bool threaded, struct rt_core_plan *plan)
{
    char *at = plan->reason;
    char *const end = plan->reason + sizeof plan->reason;
    at += explain_frame(machine, plan, at, (size_t)(end - at));
    at += explain_io(machine, plan, threaded, at, (size_t)(end - at));
    at +=
        snprintf(at, (size_t)(end - at), "; core %d is for housekeeping.", plan->housekeeping_cpu);
    RT_CHECK(at < end);
}

/* The housekeeping core is chosen first, and threads on the remaining cores may spin: with one
 * core there are none, with two the frame has its own, with three the I/O as well. */
int rt_core_plan(const struct rt_machine *machine, int frame_cpu, int io_cpu, bool threaded,
                 struct rt_core_plan *plan)
{
    const int chosen[] = {frame_cpu, io_cpu};
    RT_CHECK(machine->cpu_count > 0);
    memset(plan, 0, sizeof *plan);
    for (int i = 0; i < 2; i++)
        if (chosen[i] >= 0 && !is_usable_core(machine, chosen[i])) {
            snprintf(plan->reason, sizeof plan->reason,
                     "core %d is not online or not allowed to this process", chosen[i]);
            return -EINVAL;
        }
    if (!threaded)
        io_cpu = -1;

    plan->housekeeping_cpu = pick_housekeeping_core(machine, frame_cpu, io_cpu);
    plan->frame_cpu = frame_cpu;
    if (frame_cpu < 0)
        plan->frame_cpu = pick_dedicated_core(machine, plan->housekeeping_cpu, io_cpu);
    if (plan->frame_cpu < 0 && machine->cpu_count > 1) {
        /* Two cores, one of them chosen for the I/O: the frame's own core matters most. */
        plan->frame_cpu = plan->housekeeping_cpu;
        plan->housekeeping_cpu = io_cpu;
    }
    plan->io_cpu = -1;
    if (threaded)
        place_io_thread(machine, io_cpu, plan);
    plan->shared = plan->frame_cpu < 0 || plan->frame_cpu == plan->io_cpu ||
                   plan->frame_cpu == plan->housekeeping_cpu;
    explain_plan(machine, threaded, plan);
    return 0;
}
