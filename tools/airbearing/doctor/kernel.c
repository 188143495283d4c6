/*
 * Findings about the kernel and this process's rights.
 *
 * Tested by tests/tools/doctor/test_doctor.c.
 */
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "tools/airbearing/doctor/finding.h"

static void examine_preempt(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    struct doctor_finding *finding =
        doctor_begin(findings, "preempt-rt", DOCTOR_ESSENTIAL,
                     "other kernels finish their own work first, for milliseconds");
    const char *kernel = facts->machine.kernel;
    if (facts->machine.kernel_rt)
        doctor_seen(finding, DOCTOR_OK, "%s is PREEMPT_RT", kernel);
    else if (kernel[0] == '\0')
        doctor_seen(finding, DOCTOR_UNKNOWN, "the kernel does not report its release");
    else
        doctor_seen(finding, DOCTOR_BAD, "%s is not PREEMPT_RT", kernel);
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "boot a real-time kernel (Debian: linux-image-rt-amd64)");
}

/*
 * Where ordinary kernels have the fair server, throttling serves cgroups only.  Elsewhere a thread
 * that polls all the time is stopped in each period; one that sleeps every frame is not.
 */
static void examine_throttling(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const long runtime_us = facts->audit.rt_runtime_us;
    struct doctor_finding *finding =
        doctor_begin(findings, "throttling", DOCTOR_ESSENTIAL,
                     "a FIFO thread that never sleeps is stopped for the rest of each second");
    if (runtime_us == LONG_MIN)
        doctor_seen(finding, DOCTOR_UNKNOWN, "sched_rt_runtime_us cannot be read");
    else if (runtime_us < 0)
        doctor_seen(finding, DOCTOR_OK, "off");
    else if (runtime_us == 0)
        doctor_seen(finding, DOCTOR_BAD, "sched_rt_runtime_us = 0: no real-time at all");
    else if (facts->plan.io_polls)
        doctor_seen(finding, DOCTOR_BAD, "sched_rt_runtime_us = %ld, and the I/O thread polls",
                    runtime_us);
    else
        doctor_seen(finding, DOCTOR_WARN, "sched_rt_runtime_us = %ld", runtime_us);
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "doctor --tune --apply, or write -1 to "
                               "/proc/sys/kernel/sched_rt_runtime_us");
}

/* It serves only tasks that starve, so an isolated core with slack in every frame never sees it. */
static void examine_fair_server(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    struct doctor_finding *finding =
        doctor_begin(findings, "fair-server", DOCTOR_HELPFUL,
                     "ordinary tasks that starve may preempt FIFO for 50 ms a second");
    if (!facts->machine.fair_server || facts->audit.fair_server_runtime == 0)
        doctor_seen(finding, DOCTOR_OK, "%s",
                    facts->audit.fair_server_runtime == 0 ? "off" : "none");
    else if (doctor_isolated(facts))
        doctor_seen(finding, DOCTOR_OK, "on, with nothing to serve on the isolated core %d",
                    facts->audit.cpu);
    else
        doctor_seen(finding, DOCTOR_WARN, "on for core %d%s", facts->audit.cpu,
                    facts->audit.fair_server_runtime < 0 ? ", as far as can be seen" : "");
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding,
                      "keep other tasks off the core, or %swrite 0 to "
                      "/sys/kernel/debug/sched/fair_server/cpu%d/runtime",
                      facts->audit.fair_server_runtime < 0 ? "mount debugfs and "
                                                           : "doctor --tune --apply, or ",
                      facts->audit.cpu);
}

static void examine_group(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    struct doctor_finding *finding =
        doctor_begin(findings, "rt-group", DOCTOR_ESSENTIAL,
                     "in a cgroup without a budget SCHED_FIFO is refused");
    const struct rt_machine *machine = &facts->machine;
    if (machine->rt_group_budget_missing) {
        doctor_seen(finding, DOCTOR_BAD, "%s has no real-time budget", machine->rt_group);
        doctor_remedy(finding, "write 950000 to %s/cpu.rt_runtime_us, or start in the root cgroup",
                      machine->rt_group);
    } else if (machine->rt_group[0] != '\0') {
        doctor_seen(finding, DOCTOR_OK, "%s has a budget", machine->rt_group);
    } else {
        doctor_seen(finding, DOCTOR_OK, "cgroups have no real-time budgets");
    }
}

/* The policy that a thread really got counts more than the rights. */
static void examine_nice(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const long limit = facts->audit.priority_limit;
    struct doctor_finding *finding =
        doctor_begin(findings, "cap-sys-nice", DOCTOR_ESSENTIAL,
                     "without SCHED_FIFO any task can delay the frame");
    if (facts->measured && facts->baseline.thread.policy != SCHED_FIFO)
        doctor_seen(finding, DOCTOR_BAD, "SCHED_FIFO was tried and refused");
    else if (facts->machine.cap_sys_nice)
        doctor_seen(finding, DOCTOR_OK, "CAP_SYS_NICE is given");
    else if (limit >= DOCTOR_PRIORITY)
        doctor_seen(finding, DOCTOR_OK, "no CAP_SYS_NICE, but ulimit -r allows priority %d",
                    DOCTOR_PRIORITY);
    else if (limit < 0)
        doctor_seen(finding, DOCTOR_UNKNOWN, "no CAP_SYS_NICE, and the limit cannot be read");
    else
        doctor_seen(finding, DOCTOR_BAD, "no CAP_SYS_NICE, and ulimit -r is %ld", limit);
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "run as root, or give the user `rtprio 99` in "
                               "/etc/security/limits.conf; a container needs CAP_SYS_NICE");
}

static void examine_workqueues(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int cpu = facts->audit.cpu;
    struct doctor_finding *finding = doctor_begin(findings, "workqueues", DOCTOR_HELPFUL,
                                                  "kernel work lands on the frame's core");
    if (facts->audit.workqueues == RT_NO)
        doctor_seen(finding, DOCTOR_OK, "unbound kernel work stays off core %d", cpu);
    else if (facts->audit.workqueues == RT_YES)
        doctor_seen(finding, DOCTOR_WARN, "unbound kernel work may run on core %d", cpu);
    else
        doctor_seen(finding, DOCTOR_UNKNOWN, "/sys/devices/virtual/workqueue cannot be read");
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "doctor --tune --apply, or write a mask without it to "
                               "/sys/devices/virtual/workqueue/cpumask");
}

static void examine_uring(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct doctor_uring *uring = &facts->uring;
    struct doctor_finding *finding =
        doctor_begin(findings, "io-uring", DOCTOR_HELPFUL, "links and logs are slower without it");
    if (uring->error != 0 || facts->audit.io_uring_disabled == 2) {
        doctor_seen(finding, DOCTOR_WARN, "refused (%s)",
                    uring->error != 0 ? strerror(uring->error) : "io_uring_disabled = 2");
        doctor_remedy(finding, "write 0 to /proc/sys/kernel/io_uring_disabled; a container's "
                               "filter must allow it");
    } else if (!uring->defer || !uring->multishot) {
        doctor_seen(finding, DOCTOR_WARN, "works, without %s%s%s",
                    uring->defer ? "" : "deferred completions (6.1)",
                    uring->defer || uring->multishot ? "" : " and ",
                    uring->multishot ? "" : "multishot receive (6.0)");
        doctor_remedy(finding, "use Linux 6.1 or later");
    } else {
        doctor_seen(finding, DOCTOR_OK, "deferred completions, multishot receive");
    }
}

void doctor_examine_kernel(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    examine_preempt(facts, findings);
    examine_throttling(facts, findings);
    examine_fair_server(facts, findings);
    examine_group(facts, findings);
    examine_nice(facts, findings);
    examine_workqueues(facts, findings);
    examine_uring(facts, findings);
}
