#include "tools/airbearing/run/provenance.h"
#include "config/scenario.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/doctor/print.h"
#include "tools/airbearing/revision.h"

/* Names and contents of all files, in the order in which they were read. */
static uint64_t hash_files(const struct cfg_scenario *scenario)
{
    uint64_t hash = 0;
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next) {
        const uint64_t part[3] = {hash, sim_digest_bytes(file->name, strlen(file->name)),
                                  sim_digest_bytes(file->text, file->size)};
        hash = sim_digest_bytes(part, sizeof part);
    }
    return hash;
}

/* The output of `airbearing doctor --seconds 0 --json`. */
static char *audit_machine(const struct rt_machine *machine, const struct rt_core_plan *plan)
{
    static struct doctor_facts facts;
    static struct doctor_findings findings;
    char boot_line[DOCTOR_TEXT_SIZE * 2];
    facts = (struct doctor_facts){.machine = *machine, .plan = *plan};
    findings = (struct doctor_findings){0};
    const int cpu = plan->frame_cpu >= 0 ? plan->frame_cpu : machine->cpus[0];
    rt_audit_read("", &facts.machine, cpu, &facts.audit);
    doctor_try_uring(&facts.uring);
    rt_core_counters_read("", cpu, &facts.before);
    facts.after = facts.before;
    doctor_examine(&facts, &findings);
    tune_boot_line(&facts, boot_line, sizeof boot_line);
    json_t *object = findings_object(&facts, &findings, boot_line);
    char *text = json_dumps(object, JSON_INDENT(2));
    json_decref(object);
    return text;
}

void provenance_collect(struct provenance *provenance, const struct cfg_scenario *scenario,
                        const struct rt_machine *machine, const struct rt_core_plan *plan)
{
    sim_digest_text(sim_digest_bytes(scenario->text, scenario->text_size),
                    provenance->scenario_hash);
    sim_digest_text(hash_files(scenario), provenance->model_hash);
    provenance->machine = audit_machine(machine, plan);
}

int provenance_pairs(const struct provenance *provenance, const char **pairs)
{
    const char *const all[2 * PROVENANCE_PAIR_COUNT] = {"revision",      AIRBEARING_REVISION,
                                                        "scenario_hash", provenance->scenario_hash,
                                                        "model_hash",    provenance->model_hash};
    memcpy(pairs, all, sizeof all);
    return 2 * PROVENANCE_PAIR_COUNT;
}

void provenance_free(struct provenance *provenance)
{
    free(provenance->machine);
    provenance->machine = NULL;
}
