#include "tools/airbearing/run/run_load.h"

#include <stdio.h>

#include "config/scenario.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/act_script.h"

/* Read --act and --restore.  A checkpoint to start from is restored before frame 0. */
static int read_script(struct run *run)
{
    const struct run_options *options = &run->options;
    char error[CFG_ERROR_MAX];
    if (options->restore || run->start_state) {
        struct sim_scripted_act *first = &run->script[run->script_count++];
        first->text = "--restore";
        first->request = (struct sim_operator_request){
            .ticket = UINT64_MAX, .act = SIM_ACT_RESTORE, .index = run->start_state != NULL};
    }
    for (int i = 0; i < options->act_count; i++) {
        if (run->script_count == SIM_OPERATOR_SCRIPT_MAX ||
            act_script_read(options->acts[i], run->scenario, &run->script[run->script_count],
                            error)) {
            fprintf(stderr, "--act %s: %s\n", options->acts[i],
                    run->script_count == SIM_OPERATOR_SCRIPT_MAX ? "too many" : error);
            return EXIT_BAD_INPUT;
        }
        run->script_count++;
    }
    act_script_sort(run->script, run->script_count);
    if (!act_script_ends_paused(run->script, run->script_count) || options->serve.at)
        return 0; /* a viewer may end the pause */
    fprintf(stderr, "airbearing run: the last --act leaves the run paused with nobody to resume "
                    "it; add a resume\n");
    return EXIT_BAD_INPUT;
}

int run_load(struct run *run)
{
    char error[CFG_ERROR_MAX];
    const struct run_options *options = &run->options;
    if (!run->start_state && cfg_scenario_load(options->scenario, options->overrides,
                                               options->override_count, &run->scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    struct cfg_scenario *scenario = run->scenario;
    run->watchdog.limit_ns = scenario->spec.watchdog_ns; /* before any thread reads it */
    if (options->pace >= 0)
        scenario->spec.pace = (enum rt_pace)options->pace;
    if (options->seconds > 0.0)
        scenario->spec.seconds = options->seconds;
    if (!scenario->commit_given)
        scenario->spec.commit =
            scenario->spec.pace == RT_PACE_LOCKSTEP ? RT_COMMIT_EARLY : RT_COMMIT_GRID;
    if (!run->start_state && cfg_check_pace(scenario, scenario->spec.pace, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (scenario->spec.seconds * scenario->spec.rate_hz < 0.5) {
        fprintf(stderr, "airbearing run: --seconds %g is less than one frame of %g s\n",
                scenario->spec.seconds, 1.0 / scenario->spec.rate_hz);
        return EXIT_BAD_INPUT;
    }
    const int code = read_script(run);
    return code ? code : options_inject(options, scenario, &run->inject);
}
