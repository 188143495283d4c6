#include <stdarg.h>
#include <stdio.h>

#include "rt/check.h"
#include "rt/machine/machine.h"

struct notes {
    char (*line)[RT_NOTE_SIZE];
    int count;
};

static void add_note(struct notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_note(struct notes *notes, const char *format, ...)
{
    va_list list;
    RT_CHECK(notes->count < RT_NOTE_MAX);
    va_start(list, format);
    vsnprintf(notes->line[notes->count++], RT_NOTE_SIZE, format, list);
    va_end(list);
}

static bool is_frame_isolated(const struct rt_machine *machine, const struct rt_core_plan *plan)
{
    return plan->frame_cpu >= 0 && machine->isolated[plan->frame_cpu];
}

static void note_kernel(const struct rt_machine *machine, struct notes *notes)
{
    if (!machine->kernel_rt)
        add_note(
            notes,
            "Kernel %s is not PREEMPT_RT: kernel code can delay a frame by milliseconds; install a "
            "real-time kernel (Debian: linux-image-rt-amd64).",
            machine->kernel);
    if (!machine->tsc_clocksource)
        add_note(notes,
                 "The clock source is not tsc: reading the time is slow and may step; boot with "
                 "tsc=reliable if the processor's counter is invariant.");
    if (machine->hypervisor)
        add_note(notes,
                 "This is a virtual machine: the hypervisor can take the core away at any time; "
                 "pin its virtual cores on the host, or use bare metal.");
}

static void note_cores(const struct rt_machine *machine, const struct rt_core_plan *plan,
                       struct notes *notes)
{
    if (machine->cpu_count == 1)
        add_note(notes,
                 "There is one core: every other program delays the frame; give this process "
                 "at least two, better three.");
    else if (machine->cpu_count == 2)
        add_note(notes,
                 "There are two cores: I/O blocks instead of polling, and each message pays a "
                 "wake-up; give this process three cores.");
    if (machine->cpu_count > 1 && !is_frame_isolated(machine, plan))
        add_note(notes,
                 "The frame's core %d is not isolated: other tasks run on it; boot with "
                 "isolcpus=domain,managed_irq,%d, or start this program in a cgroup v2 cpuset with "
                 "cpuset.cpus.partition = isolated.",
                 plan->frame_cpu, plan->frame_cpu);
    if (machine->smt)
        add_note(notes, "Hyper-threading is on: whatever runs on the frame core's twin slows the "
                        "frame; boot with nosmt, or take the twin offline.");
    if (machine->managed_irqs && !is_frame_isolated(machine, plan))
        add_note(notes,
                 "Some disk interrupts are managed and cannot be moved off the frame's core by "
                 "/proc/irq: each costs microseconds; boot with isolcpus=managed_irq for "
                 "that core.");
}

static void note_scheduling(const struct rt_machine *machine, const struct rt_core_plan *plan,
                            struct notes *notes)
{
    if (machine->rt_runtime_us > 0)
        add_note(
            notes,
            "Real-time throttling is on (sched_rt_runtime_us = %ld): a FIFO thread that spins all "
            "the time%s is stopped for the rest of each period; write -1 to "
            "/proc/sys/kernel/sched_rt_runtime_us.",
            machine->rt_runtime_us, plan->io_polls ? ", as the polling I/O does," : "");
    if (machine->fair_server && !is_frame_isolated(machine, plan))
        add_note(
            notes,
            "Kernel %s has the fair server: ordinary tasks on the frame's core may preempt a "
            "spinning FIFO thread for up to 50 ms a second; keep them off that core, or write 0 to "
            "/sys/kernel/debug/sched/fair_server/cpuN/runtime.",
            machine->kernel);
    if (machine->rt_group_budget_missing)
        add_note(notes,
                 "This process's cgroup has no real-time budget: SCHED_FIFO will be refused; write "
                 "950000 to %s/cpu.rt_runtime_us, or start it in the root cgroup.",
                 machine->rt_group);
    if (!machine->cap_sys_nice)
        add_note(notes,
                 "There is no CAP_SYS_NICE: SCHED_FIFO depends on `ulimit -r`, and without it "
                 "any task can delay the frame; run as root, or give the user `rtprio 99` in "
                 "/etc/security/limits.conf.");
}

static void note_memory(const struct rt_machine *machine, struct notes *notes)
{
    if (machine->cap_ipc_lock || machine->memlock_limit >= RT_MEMLOCK_ENOUGH)
        return;
    add_note(
        notes,
        "Only %llu KiB may be locked (ulimit -l) and there is no CAP_IPC_LOCK: a page that was "
        "taken away costs a frame; run as root, or give the user `memlock unlimited` in "
        "/etc/security/limits.conf.",
        (unsigned long long)(machine->memlock_limit / 1024));
    if (!machine->cap_sys_resource)
        add_note(notes,
                 "There is no CAP_SYS_RESOURCE either: this program cannot raise the limit on "
                 "locked memory itself; raise it before the start.");
}

int rt_machine_notes(const struct rt_machine *machine, const struct rt_core_plan *plan,
                     char lines[RT_NOTE_MAX][RT_NOTE_SIZE])
{
    struct notes notes = {.line = lines};
    note_kernel(machine, &notes);
    note_cores(machine, plan, &notes);
    note_scheduling(machine, plan, &notes);
    note_memory(machine, &notes);
    return notes.count;
}
