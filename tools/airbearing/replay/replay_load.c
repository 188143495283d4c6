#include "tools/airbearing/replay/replay_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "config/yaml/isa.h"
#include "rt/executive/state/digest.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/replay/replay_input.h"

int replay_refuse(const struct replay *replay, const char *what)
{
    fprintf(stderr, "%s: %s\n", replay->path, what);
    return EXIT_BAD_INPUT;
}

/* The states are identical only with the same instruction set. */
static int find_isa(const struct replay *replay, struct io_mcap_reader *reader, enum dyn_isa *isa)
{
    const char *name = io_mcap_metadata(reader, "airbearing", "isa");
    char what[CFG_ERROR_MAX];
    if (!name)
        return replay_refuse(replay,
                             "the log does not name the instruction set that it was recorded with");
    if (cfg_isa_named(name, isa) && dyn_isa_runs(*isa))
        return 0;
    snprintf(
        what, sizeof what,
        "recorded with the instruction set %s, which does not run here; replay it on a machine "
        "that has it",
        cfg_quote(name).text);
    return replay_refuse(replay, what);
}

static const void *find_file(void *reader, const char *name, size_t *size)
{
    return io_mcap_attachment(reader, name, size);
}

/* Keep the recorded --set values; a continued run needs them. */
static int load_overrides(struct replay *replay, struct io_mcap_reader *reader)
{
    for (char key[16]; replay->override_count < RUN_OVERRIDE_MAX; replay->override_count++) {
        char *text = replay->override_text[replay->override_count];
        const size_t room = sizeof replay->override_text[0];
        snprintf(key, sizeof key, "set.%d", replay->override_count);
        const char *set = io_mcap_metadata(reader, "airbearing", key);
        if (!set)
            break;
        if ((size_t)snprintf(text, room, "%s", set) >= room)
            return -1;
        replay->overrides[replay->override_count] = text;
    }
    return 0;
}

int replay_load_scenario(struct replay *replay, struct io_mcap_reader *reader)
{
    size_t size;
    const char *text = io_mcap_attachment(reader, "scenario.yaml", &size);
    if (!text)
        return replay_refuse(
            replay, "the log holds no scenario.yaml; only logs of airbearing run can be replayed");
    enum dyn_isa isa;
    const int code = find_isa(replay, reader, &isa);
    if (code)
        return code;

    if (load_overrides(replay, reader))
        return replay_refuse(replay, "a recorded --set value is too long");
    char error[CFG_ERROR_MAX];
    const struct cfg_file_source files = {find_file, reader};
    if (cfg_scenario_load_logged("scenario.yaml", text, size, replay->overrides,
                                 replay->override_count, &files, &replay->scenario, error)) {
        fprintf(stderr, "%s: %s\n", replay->path, error);
        return EXIT_BAD_INPUT;
    }
    replay->scenario->spec.isa = isa;
    const char *lasted = io_mcap_metadata(reader, "airbearing", "seconds");
    const double seconds = lasted ? strtod(lasted, NULL) : 0.0;
    if (seconds > 0.0 && seconds < 1e7)
        replay->scenario->spec.seconds = seconds; /* --seconds is not a --set */
    return 0;
}

/* A state of another layout would differ at once and say nothing.  Logs that were written before
 * layouts had a number are compared all the same. */
static int check_layout(const struct replay *replay, struct io_mcap_reader *reader)
{
    const char *recorded = io_mcap_metadata(reader, "airbearing", "state_layout");
    const char *version = io_mcap_metadata(reader, "airbearing", "version");
    char ours[SIM_DIGEST_TEXT_SIZE], what[CFG_ERROR_MAX];
    sim_digest_text(sim_run_state_layout(replay->sim->vehicle), ours);
    if (!recorded || strcmp(recorded, ours) == 0)
        return 0;
    snprintf(what, sizeof what,
             "the log was recorded with another layout of the run state (%.32s, and this program "
             "has %s); replay it with the program that recorded it, version %.32s",
             recorded, ours, version ? version : "unknown");
    return replay_refuse(replay, what);
}

int replay_load_inputs(struct replay *replay, struct io_mcap_reader *reader)
{
    const int code = check_layout(replay, reader);
    if (code)
        return code;
    struct io_mcap_message message;
    char error[256], problem[REPLAY_PROBLEM_MAX];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1)
        if (!replay_append_message(replay, &message, problem))
            return replay_refuse(replay, problem);
    if (more < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (!replay_has_all_states(replay))
        return replay_refuse(
            replay, "a restored state is missing, so the run cannot be repeated beyond it");
    return 0;
}
