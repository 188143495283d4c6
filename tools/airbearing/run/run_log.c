#include "tools/airbearing/run/run_log.h"

#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "rt/executive/state/digest.h"
#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/report/report_json.h"
#include "tools/airbearing/run/output_files.h"

/* The log's attachments: the scenario and the files that it names, which is all that a replay
 * needs, and the audit of the machine.  The caller frees the array. */
static struct io_blob *log_attachments(const struct run *run, int *count)
{
    const struct cfg_scenario *scenario = run->scenario;
    const char *machine = run->provenance.machine;
    int files = 1;
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        files++;
    struct io_blob *blobs = calloc((size_t)files + 1, sizeof *blobs);
    RT_CHECK(blobs != NULL);
    *count = 0;
    blobs[(*count)++] = (struct io_blob){.name = "scenario.yaml",
                                         .media_type = "application/yaml",
                                         .bytes = scenario->text,
                                         .size = scenario->text_size};
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        blobs[(*count)++] = (struct io_blob){.name = file->name,
                                             .media_type = "text/plain",
                                             .bytes = file->text,
                                             .size = file->size};
    if (machine)
        blobs[(*count)++] = (struct io_blob){.name = "audit.json",
                                             .media_type = "application/json",
                                             .bytes = machine,
                                             .size = strlen(machine)};
    return blobs;
}

/* The digest of the running program; "" when it cannot be read. */
static void name_binary(char text[SIM_DIGEST_TEXT_SIZE])
{
    uint64_t hash, size;
    text[0] = '\0';
    if (sim_digest_file("/proc/self/exe", &hash, &size))
        sim_digest_text(hash, text);
}

int run_log_start(struct run *run)
{
    static const char *const overrun_name[] = {"skip", "catch-up", "stop"};
    const struct cfg_scenario *scenario = run->scenario;
    char lock_ppm[32], seed[32], rate[32], seconds[32], period[32], set_key[RUN_OVERRIDE_MAX][16];
    char binary[SIM_DIGEST_TEXT_SIZE], layout[SIM_DIGEST_TEXT_SIZE];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)scenario->spec.seed);
    snprintf(rate, sizeof rate, "%.17g", scenario->spec.rate_hz);
    snprintf(seconds, sizeof seconds, "%.17g", scenario->spec.seconds);
    snprintf(period, sizeof period, "%llu", (unsigned long long)scenario->spec.period_ns);
    snprintf(lock_ppm, sizeof lock_ppm, "%.17g",
             scenario->spec.lock.link >= 0 ? scenario->spec.lock.spec.limit_ppm : 0.0);
    name_binary(binary);
    sim_digest_text(sim_run_state_layout(run->sim->vehicle), layout);
    enum { FIXED_PAIRS = 14 };
    const char *pairs[2 * (RUN_OVERRIDE_MAX + FIXED_PAIRS + PROVENANCE_PAIR_COUNT) + 1] = {
        "version",
        AIRBEARING_VERSION,
        "scenario",
        scenario->path,
        "seed",
        seed,
        "rate_hz",
        rate,
        "seconds",
        seconds,
        "isa",
        dyn_isa_name(scenario->spec.isa),
        "pace",
        options_pace_name[scenario->spec.pace],
        "period_ns",
        period,
        "overrun",
        overrun_name[scenario->spec.overrun],
        "commit",
        scenario->spec.commit == RT_COMMIT_EARLY ? "early" : "grid",
        "require_realtime",
        scenario->require_realtime ? "yes" : "no",
        "binary_hash",
        binary,
        "lock_ppm",
        lock_ppm,
        "state_layout",
        layout};
    int count = 2 * FIXED_PAIRS;
    count += provenance_pairs(&run->provenance, pairs + count);
    for (int i = 0; i < run->options.override_count; i++) {
        snprintf(set_key[i], sizeof set_key[i], "set.%d", i);
        pairs[count++] = set_key[i];
        pairs[count++] = run->options.overrides[i];
    }
    int blob_count;
    struct io_blob *blobs = log_attachments(run, &blob_count);
    const struct rt_thread_spec spec = {
        .name = "telemetry", .policy = SCHED_OTHER, .cpu = run->plan.housekeeping_cpu};
    const int failure =
        io_telemetry_start(run->telemetry, run->options.log, &spec, pairs, blobs, blob_count);
    free(blobs);
    provenance_free(&run->provenance);
    run->log_started = failure == 0;
    if (failure == 0)
        return 0;
    return output_files_refuse("--log", run->options.log ? run->options.log : "(none)",
                               output_files_log_problem(failure));
}

/* The measurement of the frame's core after a run: a hundred wake-ups, and 67 ms of watching for
 * gaps.
 */
static const double baseline_seconds = 0.1;

/* The doctor's findings on the machine of a run in real pace, with a measurement of the frame's
 * core right after the run.  NULL: not measured; a stuck frame thread would spoil the measurement.
 */
static char *measure_machine_json(const struct run *run)
{
    if (!run->options.log || run->scenario->spec.pace != RT_PACE_REAL || run->stuck)
        return NULL;
    return doctor_findings_json(&run->machine, &run->plan, baseline_seconds);
}

static struct io_blob json_blob(const char *name, const char *text)
{
    return (struct io_blob){.name = name,
                            .media_type = "application/json",
                            .bytes = text,
                            .size = text ? strlen(text) : 0};
}

void run_log_finish(struct run *run)
{
    io_telemetry_result(run->telemetry, &run->log);
    json_t *report = report_json(run);
    char *text = json_dumps(report, JSON_INDENT(2));
    char *machine = measure_machine_json(run);
    const struct io_blob blobs[] = {json_blob("report.json", text),
                                    json_blob("machine.json", machine)};
    io_telemetry_stop(run->telemetry, blobs, machine ? 2 : 1, &run->log);
    free(machine);
    free(text);
    json_decref(report);
}
