/*
 * The real-time properties of this machine, as facts and as sentences.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/machine/sysroot.h"

enum { RT_CPU_MAX = RT_LIST_MAX, RT_NOTE_MAX = 16, RT_NOTE_SIZE = 512 };

/* Below this a lock of all memory cannot be relied on: code, libraries, stacks and arena. */
#define RT_MEMLOCK_ENOUGH ((uint64_t)256 << 20)

struct rt_machine {
    int cpu_count;                /* usable by this process: its affinity mask and isolated cores */
    int cpus[RT_CPU_MAX];         /* their numbers, ascending */
    bool isolated[RT_CPU_MAX];    /* by number: isolcpus or an isolated cpuset partition */
    int isolated_count;           /* of the usable ones */
    bool smt;                     /* some cores are two hardware threads of one */
    bool kernel_rt;               /* PREEMPT_RT */
    char kernel[64];              /* release */
    bool fair_server;             /* kernel 6.12 or later: a spinning FIFO thread is preempted */
    long rt_runtime_us;           /* sched_rt_runtime_us; -1: throttling off, 0: unknown */
    bool rt_group_budget_missing; /* RT_GROUP_SCHED and this cgroup has no budget */
    char rt_group[256];           /* that cgroup's directory */
    bool managed_irqs;            /* some interrupts are known not to be movable */
    bool cap_sys_nice, cap_ipc_lock, cap_sys_resource;
    uint64_t memlock_limit; /* bytes, UINT64_MAX: unlimited */
    int numa_nodes;
    bool tsc_clocksource;
    bool hypervisor;
};

/* Read the facts; never fails, unknown facts keep the cautious value.  Context: setup. */
void rt_machine_read(struct rt_machine *machine);

/* The same from another root than "", such as a copy of another machine's /proc and /sys.
 * Context: setup. */
void rt_machine_read_from(const char *root, struct rt_machine *machine);

/* Which core each thread gets.  io polls only when it has a core of its own; nothing ever spins on
 * the last housekeeping core. */
struct rt_core_plan {
    int frame_cpu;        /* -1: not pinned */
    int io_cpu;           /* -1: not pinned, or no thread of its own */
    int housekeeping_cpu; /* telemetry, main */
    bool io_polls;
    bool shared; /* frame and others share a core */
    char reason[RT_NOTE_SIZE];
};

/* frame_cpu / io_cpu >= 0 are the scenario's own choice; -1 lets the plan choose.  0, or -EINVAL
 * with the reason in plan->why when a chosen core is not usable.  Context: setup. */
int rt_core_plan(const struct rt_machine *machine, int frame_cpu, int io_cpu, bool threaded,
                 struct rt_core_plan *plan);

/* Sentences the user can act on: each names the fact, what it costs, and the remedy.  Returns how
 * many were written.  Context: setup. */
int rt_machine_notes(const struct rt_machine *machine, const struct rt_core_plan *plan,
                     char notes[RT_NOTE_MAX][RT_NOTE_SIZE]);
