#include "tools/airbearing/doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include "rt/check.h"

const char *const doctor_state_name[DOCTOR_STATE_COUNT] = {"bad", "unknown", "warn", "ok"};

struct doctor_finding *doctor_begin(struct doctor_findings *findings, const char *name,
                                    enum doctor_weight weight, const char *why)
{
    RT_CHECK(findings->count < DOCTOR_FINDING_MAX);
    struct doctor_finding *finding = &findings->finding[findings->count++];
    *finding = (struct doctor_finding){
        .name = name, .essential = weight == DOCTOR_ESSENTIAL, .state = DOCTOR_UNKNOWN, .why = why};
    return finding;
}

void doctor_seen(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
{
    va_list list;
    finding->state = state;
    va_start(list, format);
    vsnprintf(finding->seen, sizeof finding->seen, format, list);
    va_end(list);
}

void doctor_remedy(struct doctor_finding *finding, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(finding->remedy, sizeof finding->remedy, format, list);
    va_end(list);
}

bool doctor_isolated(const struct doctor_facts *facts)
{
    return facts->machine.isolated[facts->audit.cpu];
}

void doctor_examine(const struct doctor_facts *facts, struct doctor_findings *findings)
{
    findings->count = 0;
    doctor_examine_kernel(facts, findings);
    doctor_examine_core(facts, findings);
    doctor_examine_memory(facts, findings);
    doctor_examine_time(facts, findings);
    doctor_examine_measured(facts, findings);
}

int doctor_essential(const struct doctor_findings *findings)
{
    int count = 0;
    for (int i = 0; i < findings->count; i++)
        count += findings->finding[i].essential;
    return count;
}

int doctor_missing(const struct doctor_findings *findings)
{
    int count = 0;
    for (int i = 0; i < findings->count; i++)
        count += findings->finding[i].essential && (findings->finding[i].state == DOCTOR_BAD ||
                                                    findings->finding[i].state == DOCTOR_UNKNOWN);
    return count;
}
