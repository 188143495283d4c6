/*
 * The actuators whose effective latency a log can show, and the files of its scenario.  Separate
 * from the rest of the evidence because it needs the compiled scenario.
 */
#include <jansson.h>
#include <stdio.h>

#include "config/scenario.h"
#include "rt/executive/state/digest.h"
#include "tools/airbearing/timing/log_evidence.h"

static const void *find_file(void *reader, const char *name, size_t *size)
{
    return io_mcap_attachment(reader, name, size);
}

void evidence_name_drives(struct evidence *evidence, struct io_mcap_reader *reader)
{
    size_t size;
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario = NULL;
    const char *text = io_mcap_attachment(reader, "scenario.yaml", &size);
    const char *overrides[64];
    int count = 0;
    for (char key[16]; count < 64; count++) {
        snprintf(key, sizeof key, "set.%d", count);
        overrides[count] = io_mcap_metadata(reader, "airbearing", key);
        if (!overrides[count])
            break;
    }
    const struct cfg_file_source shelf = {find_file, reader};
    if (!text || cfg_scenario_load_logged("scenario.yaml", text, size, overrides, count, &shelf,
                                          &scenario, error))
        return;
    for (int i = 0; i < scenario->spec.drive_count && evidence->drive_count < EVIDENCE_DRIVE_MAX;
         i++) {
        struct evidence_drive *drive = &evidence->drive[evidence->drive_count++];
        evidence_copy_text(drive->name, sizeof drive->name, scenario->spec.effectors[i].name);
        drive->link = scenario->spec.effectors[i].link;
        drive->control = scenario->spec.effectors[i].control;
    }
    evidence->files = json_object();
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next) {
        char hash[SIM_DIGEST_TEXT_SIZE];
        json_object_set_new(
            evidence->files, file->name,
            json_string(sim_digest_text(sim_digest_bytes(file->text, file->size), hash)));
    }
    cfg_scenario_free(scenario);
}
