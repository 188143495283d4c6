/*
 * Findings about memory: locking, NUMA node, paging.
 */
#include <string.h>

#include "tools/airbearing/doctor/finding.h"

static void examine_lock(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_machine *machine = &facts->machine;
    struct doctor_finding *finding = doctor_begin(findings, "memory-lock", DOCTOR_ESSENTIAL,
                                                  "a page that was taken away costs a frame");
    if (machine->memlock_limit == UINT64_MAX)
        doctor_seen(finding, DOCTOR_OK, "unlimited");
    else if (machine->cap_ipc_lock)
        doctor_seen(finding, DOCTOR_OK, "CAP_IPC_LOCK outweighs the limit of %llu KiB",
                    (unsigned long long)(machine->memlock_limit >> 10));
    else
        doctor_seen(finding, machine->memlock_limit >= RT_MEMLOCK_ENOUGH ? DOCTOR_OK : DOCTOR_BAD,
                    "at most %llu KiB", (unsigned long long)(machine->memlock_limit >> 10));
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "give the user `memlock unlimited` in /etc/security/limits.conf, "
                               "or run as root");
}

static void examine_capability(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_machine *machine = &facts->machine;
    struct doctor_finding *finding =
        doctor_begin(findings, "cap-ipc-lock", DOCTOR_HELPFUL,
                     "without it the limit on locked memory counts, and reserves of huge pages "
                     "may be refused");
    if (machine->cap_ipc_lock) {
        doctor_seen(finding, DOCTOR_OK, "CAP_IPC_LOCK is there");
        return;
    }
    doctor_seen(finding, DOCTOR_WARN, "no CAP_IPC_LOCK%s",
                machine->cap_sys_resource ? "" : ", nor CAP_SYS_RESOURCE to raise the limit");
    doctor_remedy(finding, "run as root, or setcap cap_sys_nice,cap_ipc_lock+ep on the program");
}

/* The arena uses pages of the frame's own node; pages that the kernel moves later cost faults. */
static void examine_numa(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const int nodes = facts->machine.numa_nodes;
    struct doctor_finding *finding = doctor_begin(
        findings, "numa", DOCTOR_HELPFUL, "far memory is slow, and moved pages fault in the frame");
    if (nodes == 1) {
        doctor_seen(finding, DOCTOR_OK, "one node");
    } else if (facts->audit.node < 0) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "%d nodes, and that of core %d cannot be read", nodes,
                    facts->audit.cpu);
    } else if (facts->audit.numa_balancing > 0) {
        doctor_seen(finding, DOCTOR_WARN, "%d nodes, and the kernel moves pages between them",
                    nodes);
        doctor_remedy(finding,
                      "doctor --tune --apply, or write 0 to /proc/sys/kernel/numa_balancing");
    } else {
        doctor_seen(finding, DOCTOR_OK, "%d nodes; core %d and its memory are on node %d", nodes,
                    facts->audit.cpu, facts->audit.node);
    }
}

static void examine_huge(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    struct doctor_finding *finding = doctor_begin(findings, "huge-pages", DOCTOR_HELPFUL,
                                                  "small pages miss the translation cache more");
    if (audit->huge_free < 0 || audit->huge_kb < 0) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/meminfo does not report it");
    } else if (audit->huge_free > 0) {
        doctor_seen(finding, DOCTOR_OK, "%ld of %ld KiB free", audit->huge_free, audit->huge_kb);
    } else {
        doctor_seen(finding, DOCTOR_WARN, "none reserved");
        doctor_remedy(finding, "write 64 to /proc/sys/vm/nr_hugepages, best at boot");
    }
}

static void examine_thp(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const char *thp = facts->audit.thp;
    struct doctor_finding *finding = doctor_begin(
        findings, "thp", DOCTOR_HELPFUL,
        "the kernel merges pages without being asked, and stops the program while it does");
    if (thp[0] == '\0')
        doctor_seen(finding, DOCTOR_UNKNOWN, "transparent huge pages are not to be seen");
    else
        doctor_seen(finding, strcmp(thp, "always") == 0 ? DOCTOR_WARN : DOCTOR_OK, "%s", thp);
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "doctor --tune --apply, or write never to "
                               "/sys/kernel/mm/transparent_hugepage/enabled");
}

static void examine_swap(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    struct doctor_finding *finding =
        doctor_begin(findings, "swap", DOCTOR_HELPFUL,
                     "the log and the other programs stall while pages come back");
    if (facts->audit.swaps < 0) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/swaps cannot be read");
    } else if (facts->audit.swaps == 0) {
        doctor_seen(finding, DOCTOR_OK, "none");
    } else {
        doctor_seen(finding, DOCTOR_WARN, "on: %s%s", facts->audit.swap,
                    facts->audit.swaps > 1 ? " and more" : "");
        doctor_remedy(finding, "swapoff -a, and take it out of /etc/fstab");
    }
}

void doctor_examine_memory(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    examine_lock(facts, findings);
    examine_capability(facts, findings);
    examine_numa(facts, findings);
    examine_huge(facts, findings);
    examine_thp(facts, findings);
    examine_swap(facts, findings);
}
