/*
 * Findings about clocks and timers.
 */
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/doctor/finding.h"

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* A counter of the processor is read in nanoseconds, a device on a bus in microseconds; jiffies
 * are too coarse for frames. */
static void examine_source(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    static const char *const good[] = {"tsc", "arch_sys_counter", NULL};
    static const char *const none[] = {"jiffies", "refined-jiffies", NULL};
    const char *source = facts->audit.clocksource;
    struct doctor_finding *finding = doctor_begin(findings, "clock-source", DOCTOR_ESSENTIAL,
                                                  "every frame reads the clock several times");
    if (source[0] == '\0')
        doctor_seen(finding, DOCTOR_UNKNOWN, "the clock source cannot be read");
    else if (is_one_of(source, good))
        doctor_seen(finding, DOCTOR_OK, "%s", source);
    else
        doctor_seen(finding, is_one_of(source, none) ? DOCTOR_BAD : DOCTOR_WARN, "%s", source);
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding, "write tsc to "
                               "/sys/devices/system/clocksource/clocksource0/current_clocksource, "
                               "or boot with tsc=reliable if the counter is constant");
}

static void examine_tsc(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    struct doctor_finding *finding = doctor_begin(
        findings, "tsc", DOCTOR_HELPFUL, "a counter that changes its rate cannot time a spin");
    if (audit->constant_tsc == RT_UNKNOWN) {
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc/cpuinfo shows no flags");
    } else if (audit->constant_tsc == RT_NO || audit->nonstop_tsc == RT_NO) {
        doctor_seen(finding, DOCTOR_WARN, "not%s%s",
                    audit->constant_tsc == RT_NO ? " constant" : "",
                    audit->nonstop_tsc == RT_NO ? " nonstop" : "");
        doctor_remedy(finding, "%s",
                      facts->machine.hypervisor ? "let the host pass its counter through (invtsc)"
                                                : "none but a newer processor");
    } else if (audit->reliable_tsc != RT_YES) {
        doctor_seen(finding, DOCTOR_OK, "constant, nonstop; the kernel keeps watching it");
    } else {
        doctor_seen(finding, DOCTOR_OK, "constant, nonstop, reliable");
    }
}

/* Only cores without a tick migrate their timers. */
static void examine_migration(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    struct doctor_finding *finding =
        doctor_begin(findings, "timer-migration", DOCTOR_ESSENTIAL,
                     "with nohz_full the frame's timer fires on a housekeeping core, which then "
                     "has to wake it");
    if (audit->timer_migration == 0)
        doctor_seen(finding, DOCTOR_OK, "off");
    else if (audit->nohz_full == RT_NO)
        doctor_seen(finding, DOCTOR_OK, "core %d has its tick, and keeps its timers", audit->cpu);
    else if (audit->timer_migration < 0 || audit->nohz_full == RT_UNKNOWN)
        doctor_seen(finding, DOCTOR_UNKNOWN,
                    "the kernel does not report where core %d arms its timers", audit->cpu);
    else
        doctor_seen(finding, DOCTOR_BAD, "kernel.timer_migration = %ld, and core %d is nohz_full",
                    audit->timer_migration, audit->cpu);
    if (finding->state != DOCTOR_OK)
        doctor_remedy(finding,
                      "doctor --tune --apply, or write 0 to /proc/sys/kernel/timer_migration");
}

/* ptp4l sets the card's clock, and phc2sys the system's from it: both are needed. */
static bool steers_system_clock(const char *name)
{
    return strcmp(name, "ptp4l") != 0 && strcmp(name, "timemaster") != 0;
}

static void examine_daemons(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    const struct rt_audit *audit = &facts->audit;
    char names[DOCTOR_TEXT_SIZE / 2] = "";
    int steering = 0, used = 0;
    struct doctor_finding *finding = doctor_begin(findings, "time-daemons", DOCTOR_HELPFUL,
                                                  "two that steer one clock fight over its rate");
    for (int i = 0; i < audit->daemon_count; i++) {
        steering += steers_system_clock(audit->daemon[i]);
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%.20s", i > 0 ? ", " : "",
                         audit->daemon[i]);
    }
    if (!audit->processes_known)
        doctor_seen(finding, DOCTOR_UNKNOWN, "/proc shows no processes");
    else
        doctor_seen(finding, steering > 1 ? DOCTOR_WARN : DOCTOR_OK, "%s; %d PTP clock%s",
                    used > 0 ? names : "none", audit->ptp_clocks,
                    audit->ptp_clocks == 1 ? "" : "s");
    if (finding->state == DOCTOR_WARN)
        doctor_remedy(finding, "leave one of them running");
}

void doctor_examine_time(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    examine_source(facts, findings);
    examine_tsc(facts, findings);
    examine_migration(facts, findings);
    examine_daemons(facts, findings);
}
