/*
 * Findings about what takes the core away from the frame, counted and measured.
 */
#include "tools/airbearing/doctor/finding.h"

enum { MS_PER_TICK = 10 };

static void examine_virtual(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    struct doctor_finding *finding = doctor_begin(findings, "virtualization", DOCTOR_HELPFUL,
                                                  "a hypervisor takes the core at any time");
    if (!facts->machine.hypervisor) {
        doctor_seen(finding, DOCTOR_OK, "no hypervisor is reported");
        return;
    }
    doctor_seen(finding, DOCTOR_WARN, "a virtual machine");
    doctor_remedy(finding, "pin its virtual cores on the host, or use bare metal");
}

/* Without a measurement only the count since boot is known, which does not show whether time is
 * stolen now. */
static void examine_steal(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const long long total = facts->after.steal_ticks;
    const long long taken = total - facts->before.steal_ticks;
    struct doctor_finding *finding =
        doctor_begin(findings, "steal", DOCTOR_ESSENTIAL, "time that the host gave to others");
    if (facts->before.steal_ticks < 0 || total < 0)
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/stat does not report it");
    else if (facts->measured && taken > 0)
        doctor_seen(finding, DOCTOR_BAD, "%lld ms while measuring, %lld ms since boot",
                    taken * MS_PER_TICK, total * MS_PER_TICK);
    else
        doctor_seen(finding, total > 0 ? DOCTOR_WARN : DOCTOR_OK, "%lld ms since boot%s",
                    total * MS_PER_TICK, facts->measured ? ", none while measuring" : "");
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "give the virtual cores physical ones of their own on the host");
}

static void examine_smi(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const long long total = facts->after.smi_count;
    const long long taken = total - facts->before.smi_count;
    struct doctor_finding *finding =
        doctor_begin(findings, "smi", DOCTOR_HELPFUL, "firmware stops all cores, unseen by Linux");
    if (facts->before.smi_count < 0 || total < 0) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "the count cannot be read");
        doctor_remedy(finding, "modprobe msr, and run as root on an Intel processor");
    } else if (facts->measured && taken > 0) {
        doctor_seen(finding, DOCTOR_WARN, "%lld while measuring, %lld since boot", taken, total);
        doctor_remedy(finding, "in the firmware set-up, switch off USB legacy support, power "
                               "management and hardware monitoring");
    } else {
        doctor_seen(finding, DOCTOR_OK, "%lld since boot%s", total,
                    facts->measured ? ", none while measuring" : "");
    }
}

/* For information: a late timer may have many reasons, and each has its own finding. */
static void examine_timer(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_histogram *wake_latency = &facts->baseline.wake_latency;
    struct doctor_finding *finding =
        doctor_begin(findings, "timer", DOCTOR_HELPFUL, "so late would frames start");
    doctor_seen(finding, wake_latency->max > DOCTOR_GAP_BAD_NS ? DOCTOR_WARN : DOCTOR_OK,
                "%llu wake-ups: min %.1f, median %.1f, p99 %.1f, max %.1f us late",
                (unsigned long long)wake_latency->count, (double)wake_latency->min / 1e3,
                (double)rt_histogram_quantile(wake_latency, 0.5) / 1e3,
                (double)rt_histogram_quantile(wake_latency, 0.99) / 1e3,
                (double)wake_latency->max / 1e3);
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "mend what is bad first, then measure longer: doctor --seconds 60");
}

static void examine_gaps(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_baseline *baseline = &facts->baseline;
    struct doctor_finding *finding =
        doctor_begin(findings, "gaps", DOCTOR_ESSENTIAL,
                     "gone while a FIFO thread spun; above 1 ms a frame at 1 kHz is lost");
    const enum doctor_state state = baseline->gap_ns_max > DOCTOR_GAP_BAD_NS    ? DOCTOR_BAD
                                    : baseline->gap_ns_max > DOCTOR_GAP_WARN_NS ? DOCTOR_WARN
                                                                                : DOCTOR_OK;
    if (baseline->thread.cpu != facts->audit.cpu) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "core %d was refused to the measurement",
                    facts->audit.cpu);
        doctor_remedy(finding, "choose a core of this process's cpuset with --cpu");
        return;
    }
    doctor_seen(finding, state,
                "%llu over 10 us in %.2f s: longest %.3f ms, together %.3f ms, %llu by other tasks",
                (unsigned long long)baseline->gap_count, (double)baseline->spun_ns / 1e9,
                (double)baseline->gap_ns_max / 1e6, (double)baseline->gap_ns_total / 1e6,
                (unsigned long long)baseline->switches);
    if (state != DOCTOR_OK)
        doctor_remedy(finding, "%s",
                      facts->machine.hypervisor
                          ? "use bare metal, or pin the virtual cores on the host"
                          : "isolate the core, then look for SMIs in the firmware set-up");
}

void doctor_examine_measured(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    examine_virtual(facts, findings);
    examine_steal(facts, findings);
    examine_smi(facts, findings);
    if (!facts->measured)
        return;
    examine_timer(facts, findings);
    examine_gaps(facts, findings);
}
