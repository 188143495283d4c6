/*
 * Findings about the core of the frame thread.
 *
 * Tested by tests/tools/doctor/test_doctor.c.
 */
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/doctor/finding.h"

/* A longer exit latency of an idle state shows in the start error. */
enum { IDLE_EXIT_FINE_US = 10, NAMES_SIZE = 320 };

static void examine_cores(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int count = facts->machine.cpu_count;
    struct doctor_finding *finding =
        doctor_begin(findings, "cores", DOCTOR_ESSENTIAL, "what shares the frame's core delays it");
    if (count == 1)
        doctor_seen(finding, DOCTOR_BAD, "one core for everything");
    else if (count == 2)
        doctor_seen(finding, DOCTOR_WARN, "two cores: I/O blocks, and pays a wake-up a message");
    else
        doctor_seen(finding, DOCTOR_OK, "%d cores", count);
    if (count < 3)
        doctor_remedy(finding, "give this process three cores");
}

static void examine_isolation(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int cpu = facts->audit.cpu;
    struct doctor_finding *finding =
        doctor_begin(findings, "isolated", DOCTOR_ESSENTIAL, "other tasks run on the frame's core");
    if (doctor_isolated(facts)) {
        doctor_seen(finding, DOCTOR_OK, "core %d", cpu);
        return;
    }
    doctor_seen(finding, DOCTOR_BAD, "core %d is not isolated", cpu);
    doctor_remedy(finding,
                  "boot with isolcpus=domain,managed_irq,%d; without a reboot doctor --tune makes "
                  "a cpuset partition where cgroup v2 has cpusets",
                  cpu);
}

static void examine_nohz(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int cpu = facts->audit.cpu;
    struct doctor_finding *finding = doctor_begin(findings, "nohz-full", DOCTOR_HELPFUL,
                                                  "each tick costs a running frame microseconds");
    if (facts->audit.nohz_full == RT_YES)
        doctor_seen(finding, DOCTOR_OK, "core %d", cpu);
    else if (facts->audit.nohz_full == RT_NO)
        doctor_seen(finding, DOCTOR_WARN, "core %d ticks while it works", cpu);
    else
        doctor_seen(finding, DOCTOR_UNKNOWN, "/sys/devices/system/cpu cannot be read");
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "boot with nohz_full=%d", cpu);
}

static void examine_rcu(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int cpu = facts->audit.cpu;
    struct doctor_finding *finding = doctor_begin(findings, "rcu-nocbs", DOCTOR_HELPFUL,
                                                  "the kernel frees memory on the frame's core");
    if (facts->audit.rcu_nocbs == RT_YES)
        doctor_seen(finding, DOCTOR_OK, "core %d", cpu);
    else if (facts->audit.rcu_nocbs == RT_NO)
        doctor_seen(finding, DOCTOR_WARN, "RCU callbacks run on core %d", cpu);
    else
        doctor_seen(finding, DOCTOR_UNKNOWN, "the boot line cannot be read");
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "boot with rcu_nocbs=%d", cpu);
}

/* Lists interrupts, "26 ttyS0 x17, 38 virtio2-input.0 x2185", as far as there is room. */
static void name_interrupts(const struct rt_interrupts *interrupts, bool managed,
                            char names[NAMES_SIZE])
{
    int used = 0, left = 0;
    names[0] = '\0';
    for (int i = 0; i < interrupts->count; i++) {
        const struct rt_irq *irq = &interrupts->irq[i];
        if (irq->managed != managed)
            continue;
        if (used > NAMES_SIZE - 2 * RT_IRQ_NAME_SIZE) {
            left++;
            continue;
        }
        used +=
            snprintf(names + used, (size_t)(NAMES_SIZE - used), "%s%d %s x%llu",
                     used > 0 ? ", " : "", irq->number, irq->name, (unsigned long long)irq->count);
    }
    if (left > 0)
        snprintf(names + used, (size_t)(NAMES_SIZE - used), " and %d more", left);
}

static void examine_interrupts(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_interrupts *interrupts = &facts->audit.interrupts;
    const int cpu = facts->audit.cpu;
    const int movable = interrupts->total - interrupts->managed_count;
    char names[NAMES_SIZE];
    struct doctor_finding *finding =
        doctor_begin(findings, "interrupts", DOCTOR_HELPFUL, "each costs the frame microseconds");
    name_interrupts(interrupts, false, names);
    if (!interrupts->known) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/irq cannot be read");
    } else if (movable == 0) {
        doctor_seen(finding, DOCTOR_OK, "no movable ones on core %d", cpu);
    } else {
        doctor_seen(finding, DOCTOR_WARN, "%d movable on core %d: %s", movable, cpu, names);
        doctor_remedy(finding, "doctor --tune --apply, or boot with irqaffinity= the other cores");
    }
}

static void examine_managed(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_interrupts *interrupts = &facts->audit.interrupts;
    const int cpu = facts->audit.cpu;
    char names[NAMES_SIZE];
    struct doctor_finding *finding = doctor_begin(findings, "managed-interrupts", DOCTOR_HELPFUL,
                                                  "nothing moves them while the system runs");
    name_interrupts(interrupts, true, names);
    if (!interrupts->known) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/irq cannot be read");
    } else if (interrupts->managed_count == 0) {
        doctor_seen(finding, DOCTOR_OK, "none known on core %d", cpu);
    } else {
        doctor_seen(finding, DOCTOR_WARN, "%d on core %d: %s", interrupts->managed_count, cpu,
                    names);
        doctor_remedy(finding, "boot with isolcpus=managed_irq,%d, and leave its disk alone", cpu);
    }
}

static void examine_governor(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const char *governor = facts->audit.governor;
    struct doctor_finding *finding = doctor_begin(
        findings, "governor", DOCTOR_HELPFUL, "a core that slowed down starts the frame slowly");
    if (strcmp(governor, "performance") == 0)
        doctor_seen(finding, DOCTOR_OK, "performance");
    else if (governor[0] != '\0')
        doctor_seen(finding, DOCTOR_WARN, "%s on core %d", governor, facts->audit.cpu);
    else
        doctor_seen(finding, DOCTOR_UNKNOWN, "no frequency scaling is visible: %s decides",
                    facts->machine.hypervisor ? "the host" : "the firmware");
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding,
                      "doctor --tune --apply, or write performance to "
                      "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
                      facts->audit.cpu);
}

static void examine_idle(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    struct doctor_finding *finding =
        doctor_begin(findings, "c-states", DOCTOR_HELPFUL, "a core that sleeps deeply wakes late");
    if (!audit->idle_states_known)
        doctor_seen(finding, DOCTOR_UNKNOWN, "no idle states are visible");
    else if (audit->idle_exit_us <= IDLE_EXIT_FINE_US)
        doctor_seen(finding, DOCTOR_OK, "at most %ld us to wake", audit->idle_exit_us);
    else if (audit->dma_latency == RT_YES)
        doctor_seen(finding, DOCTOR_OK, "%s takes %ld us to wake; a run holds it off",
                    audit->idle_state, audit->idle_exit_us);
    else
        doctor_seen(finding, DOCTOR_WARN, "%s takes %ld us to wake, and a run cannot hold it off",
                    audit->idle_state, audit->idle_exit_us);
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "let this user write /dev/cpu_dma_latency, or boot with "
                               "processor.max_cstate=1 intel_idle.max_cstate=0");
}

static void examine_smt(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    struct doctor_finding *finding = doctor_begin(
        findings, "smt", DOCTOR_HELPFUL, "what runs on the twin slows the frame, and unevenly");
    if (!audit->siblings_known)
        doctor_seen(finding, DOCTOR_UNKNOWN, "the twins of core %d cannot be read", audit->cpu);
    else if (audit->siblings[0] == '\0')
        doctor_seen(finding, DOCTOR_OK, "core %d has no twin", audit->cpu);
    else if (audit->siblings_isolated == RT_YES)
        doctor_seen(finding, DOCTOR_OK, "core %d has the twin %s, isolated too; leave it idle",
                    audit->cpu, audit->siblings);
    else
        doctor_seen(finding, DOCTOR_WARN, "core %d has the twin %s", audit->cpu, audit->siblings);
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding,
                      "boot with nosmt, or write 0 to "
                      "/sys/devices/system/cpu/cpu%s/online",
                      audit->siblings);
}

void doctor_examine_core(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    examine_cores(facts, findings);
    examine_isolation(facts, findings);
    examine_nohz(facts, findings);
    examine_rcu(facts, findings);
    examine_interrupts(facts, findings);
    examine_managed(facts, findings);
    examine_governor(facts, findings);
    examine_idle(facts, findings);
    examine_smt(facts, findings);
}
