/*
 * Further facts about a machine, once the core of the frame is chosen: facts only, each read from
 * a file under a root; tools/airbearing/doctor interprets them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/machine/interrupts.h"
#include "rt/machine/machine.h"

/* Zero is the cautious value. */
enum rt_tristate { RT_UNKNOWN, RT_NO, RT_YES };

enum { RT_WORD_SIZE = 64, RT_LIST_SIZE = 256, RT_DAEMON_MAX = 8 };

struct rt_audit {
    int cpu; /* the frame's core */
    bool online[RT_CPU_MAX];

    /* the core */
    enum rt_tristate nohz_full;
    enum rt_tristate rcu_nocbs;
    enum rt_tristate workqueues; /* unbound kernel work may run on it */
    char governor[RT_WORD_SIZE]; /* "": no frequency scaling to be seen */
    bool idle_states_known;
    long idle_exit_us;             /* of its deepest enabled idle state */
    char idle_state[RT_WORD_SIZE]; /* that state's name */
    enum rt_tristate dma_latency;  /* /dev/cpu_dma_latency may be held */
    char siblings[RT_LIST_SIZE];   /* other online hardware threads of the same core; "": none */
    enum rt_tristate siblings_isolated; /* all of them */
    bool siblings_known;
    int node;                 /* -1: unknown */
    long fair_server_runtime; /* ns, on this core; -1: unknown */
    struct rt_interrupts interrupts;

    /* the kernel */
    long rt_runtime_us;      /* -1: throttling off; LONG_MIN: unknown */
    long timer_migration;    /* -1: unknown */
    long numa_balancing;     /* -1: unknown, or not built */
    long io_uring_disabled;  /* -1: a kernel that cannot disable it */
    long priority_limit;     /* ulimit -r; -1: unknown, LONG_MAX: unlimited */
    char thp[RT_WORD_SIZE];  /* transparent huge pages: always, madvise, never, none; "": unknown */
    long huge_free, huge_kb; /* reserved huge pages; -1: unknown */
    int swaps;               /* -1: unknown */
    char swap[RT_LIST_SIZE]; /* the first of them */

    /* time */
    char clocksource[RT_WORD_SIZE];
    enum rt_tristate constant_tsc, nonstop_tsc, reliable_tsc;
    int daemon_count; /* programs that steer the clock */
    char daemon[RT_DAEMON_MAX][RT_WORD_SIZE];
    int ptp_clocks;
    bool processes_known;

    char cmdline[RT_LINE_SIZE];
};

/* Read the facts about a core of a machine.  Never fails.  Context: setup. */
void rt_audit_read(const char *root, const struct rt_machine *machine, int cpu,
                   struct rt_audit *audit);

/* Counters of the core, read before and after a measurement; -1: not readable. */
struct rt_core_counters {
    int64_t steal_ticks; /* of 10 ms, taken by a hypervisor */
    int64_t smi_count;   /* system management interrupts */
};

/* Context: setup. */
void rt_core_counters_read(const char *root, int cpu, struct rt_core_counters *taken);
