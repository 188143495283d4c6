#include <jansson.h>

#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/doctor/print.h"

/* Facts that need the core plan. */
static void read_rest(const char *root, struct doctor_facts *facts)
{
    const int cpu = facts->plan.frame_cpu >= 0 ? facts->plan.frame_cpu : facts->machine.cpus[0];
    rt_audit_read(root, &facts->machine, cpu, &facts->audit);
    doctor_try_uring(&facts->uring);
}

int doctor_read(const char *root, int cpu, struct doctor_facts *facts)
{
    rt_machine_read_from(root, &facts->machine);
    if (rt_core_plan(&facts->machine, cpu, -1, true, &facts->plan) != 0)
        return -1;
    read_rest(root, facts);
    return 0;
}

void doctor_measure(const char *root, double seconds, struct doctor_facts *facts)
{
    const int cpu = facts->audit.cpu;
    rt_core_counters_read(root, cpu, &facts->before);
    if (seconds > 0.0)
        facts->measured = rt_baseline_measure(cpu, DOCTOR_PRIORITY, seconds, &facts->baseline) == 0;
    rt_core_counters_read(root, cpu, &facts->after);
}

char *doctor_findings_json(const struct rt_machine *machine, const struct rt_core_plan *plan,
                           double seconds)
{
    static struct doctor_facts facts;
    static struct doctor_findings findings;
    facts = (struct doctor_facts){.machine = *machine, .plan = *plan};
    read_rest("", &facts);
    doctor_measure("", seconds, &facts);
    doctor_examine(&facts, &findings);
    json_t *object = findings_object(&facts, &findings, NULL);
    char *text = json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    return text;
}
