/*
 * airbearing replay: run the recorded inputs again through the same frame and compare every hash.
 *
 * Tested by tests/scenario/replay/test_replay_synthetic.py and test_replay.py.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/scenario.h"
#include "tools/airbearing/arguments.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/replay/replay_compare.h"
#include "tools/airbearing/replay/replay_divergence.h"
#include "tools/airbearing/replay/replay_input.h"
#include "tools/airbearing/replay/replay_load.h"
#include "tools/airbearing/run/run_command.h"

static const char usage[] =
    "usage: airbearing replay LOG [options]\n"
    "\n"
    "Run the inputs recorded in LOG again and compare the state hash of every frame.  The first "
    "frame\n"
    "that differs is named, with the job and the variable as far as the log holds them.\n"
    "\n"
    "  --until WHEN         stop before this frame (1500), or at this time (1.5s), and print the "
    "state\n"
    "  --step               read commands from standard input: step [N], go WHEN, print, quit; an\n"
    "                       empty line is a step\n"
    "  --continue-at WHEN   continue from there as a new run without its board\n"
    "    --inputs held|safe   keep the board's last commands, or zero them (default: held)\n"
    "    --seconds S          simulated seconds from there (default: to the end of the scenario)\n"
    "    --pace real|fast     (default: fast)\n"
    "    --log FILE.mcap      the log of the new run, which can be replayed by itself\n"
    "    --report FILE.json\n"
    "    --act TIME:WHAT      as for airbearing run; TIME counts from there\n"
    "\n"
    "Exit: 0 identical, 1 a frame differs (it is named), 2 the log cannot be replayed, 64 usage;\n"
    "with --continue-at, the exit code of the new run.\n";

/* The options of the command line. */
struct replay_options {
    const char *until, *continue_at;
    bool steps, safe;
    struct run_options run;
};

static int compare_all(struct replay *replay, struct io_mcap_reader *reader,
                       const struct replay_options *options)
{
    (void)options;
    const int code = replay_run_until(replay, reader, UINT64_MAX);
    return code ? code : replay_print_identical(replay, reader);
}

/* Read a frame, "1500", or a time, "1.5s".  False: neither. */
static bool read_when(const struct replay *replay, const char *text, uint64_t *frame)
{
    char *end;
    const double number = strtod(text, &end);
    const bool seconds = strcmp(end, "s") == 0 || strcmp(end, " s") == 0;
    if (end == text || (*end != '\0' && !seconds) || !(number >= 0.0 && number < 1e15))
        return false;
    *frame = (uint64_t)llround(seconds ? number * replay->scenario->spec.rate_hz : number);
    return true;
}

static int compare_until(struct replay *replay, struct io_mcap_reader *reader,
                         const struct replay_options *options)
{
    uint64_t until;
    if (!read_when(replay, options->until, &until))
        return replay_refuse(replay, "--until needs a frame, e.g. 1500, or a time, e.g. 1.5s");
    int code = replay_run_until(replay, reader, until);
    if (code == 0)
        code = replay_print_identical(replay, reader);
    if (code == 0)
        replay_print_state(replay);
    return code;
}

/* Run one command of --step; false: quit. */
static bool run_step_command(struct replay *replay, struct io_mcap_reader *reader, char *line,
                             int *code)
{
    uint64_t until = replay->next_frame + 1;
    line[strcspn(line, "\r\n")] = '\0';
    if (strcmp(line, "quit") == 0 || strcmp(line, "q") == 0)
        return false;
    if (strcmp(line, "print") == 0 || strcmp(line, "p") == 0) {
        replay_print_state(replay);
        return true;
    }
    uint64_t count = 0;
    const bool goes = strncmp(line, "go ", 3) == 0 && read_when(replay, line + 3, &until);
    const bool counts = strncmp(line, "step ", 5) == 0 && read_when(replay, line + 5, &count);
    if (counts)
        until = replay->next_frame + count;
    if (!goes && !counts && *line != '\0' && strcmp(line, "step") != 0) {
        printf("step [N], go WHEN, print, quit\n");
        return true;
    }
    *code = replay_run_until(replay, reader, until);
    if (*code == 0)
        printf("next frame %" PRIu64 ", hash %016" PRIx64 "%s\n", replay->next_frame,
               replay->sim->scratch.hash, replay->ended ? ", the end" : "");
    return *code == 0;
}

static int step_interactively(struct replay *replay, struct io_mcap_reader *reader,
                              const struct replay_options *options)
{
    char line[128];
    int code = 0;
    const bool asks = isatty(STDIN_FILENO);
    (void)options;
    for (bool more = true; more;) {
        if (asks)
            printf("> ");
        fflush(stdout);
        more = fgets(line, sizeof line, stdin) != NULL &&
               run_step_command(replay, reader, line, &code);
    }
    return code ? code : replay->compared > 0 ? replay_print_identical(replay, reader) : EXIT_OK;
}

static void zero_controls(const struct replay *replay)
{
    for (int i = 0; i < replay->scenario->spec.link_count; i++) {
        struct sim_link_state *link = &replay->sim->vehicle->link[i];
        memset(link->control, 0, sizeof link->control);
        link->lost = 1;
    }
}

static int continue_run(struct replay *replay, struct io_mcap_reader *reader,
                        const struct replay_options *options)
{
    uint64_t from;
    if (!read_when(replay, options->continue_at, &from))
        return replay_refuse(replay,
                             "--continue-at needs a frame, e.g. 1500, or a time, e.g. 1.5s");
    const int code = replay_run_until(replay, reader, from);
    if (code)
        return code;
    if (replay->next_frame < from)
        return replay_refuse(replay, "the log ends before --continue-at");
    replay_apply_acts(replay); /* acts before that frame belong to the recorded run */
    if (options->safe)
        zero_controls(replay);
    printf("replay: identical up to frame %" PRIu64 ", hash %016" PRIx64
           "; from there on without a board, its inputs %s\n",
           from, replay->sim->scratch.hash, options->safe ? "safe" : "held");
    fflush(stdout);
    struct run_options run_options = options->run;
    memcpy(run_options.overrides, replay->overrides, sizeof run_options.overrides);
    run_options.override_count = replay->override_count;
    if (run_options.seconds == 0.0) {
        const double left =
            replay->scenario->spec.seconds - (double)from / replay->scenario->spec.rate_hz;
        run_options.seconds = left > 0.0 ? left : 0.0;
    }
    const struct sim_snapshot snapshot = {replay->sim->vehicle->state, replay->sim->scratch.hash};
    struct cfg_scenario *scenario = replay->scenario;
    replay->scenario = NULL; /* the run owns it now */
    return run_from_snapshot(scenario, &run_options, &snapshot);
}

/* Open the log for one pass over it. */
static int with_log(struct replay *replay, int (*read)(struct replay *, struct io_mcap_reader *))
{
    char error[256];
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    if (!reader) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const int code = read(replay, reader);
    io_mcap_close(reader);
    return code;
}

static int replay_log(struct replay *replay, const struct replay_options *options)
{
    char error[256];
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    if (!reader) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const int code = (options->continue_at ? continue_run
                      : options->steps     ? step_interactively
                      : options->until     ? compare_until
                                           : compare_all)(replay, reader, options);
    io_mcap_close(reader);
    return code;
}

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing replay: %s \"%s\"; see airbearing replay --help\n", what, value);
    return EXIT_USAGE;
}

static int take_option(void *self, int option, char *value)
{
    struct replay_options *options = self;
    char *rest;
    struct run_options *run = &options->run;
    switch (option) {
    case 'u':
        options->until = value;
        return 0;
    case 'n':
        options->steps = true;
        return 0;
    case 'c':
        options->continue_at = value;
        return 0;
    case 'i':
        options->safe = strcmp(value, "safe") == 0;
        return options->safe || strcmp(value, "held") == 0
                   ? 0
                   : usage_error("--inputs is held or safe, not", value);
    case 's':
        run->seconds = strtod(value, &rest);
        return *rest == '\0' && run->seconds > 0.0 && run->seconds < 1e7
                   ? 0
                   : usage_error("--seconds needs a positive number, not", value);
    case 'p':
        run->pace = strcmp(value, "real") == 0 ? RT_PACE_REAL : RT_PACE_FAST;
        return run->pace == RT_PACE_REAL || strcmp(value, "fast") == 0
                   ? 0
                   : usage_error("--pace is real or fast, not", value);
    case 'l':
        run->log = value;
        return 0;
    case 'r':
        run->report = value;
        return 0;
    case 'a':
        if (run->act_count == SIM_OPERATOR_SCRIPT_MAX)
            return usage_error("too many --act, at", value);
        run->acts[run->act_count++] = value;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int read_options(int argc, char **argv, struct replay_options *options, bool *done)
{
    static const struct option table[] = {
        {"until", required_argument, NULL, 'u'},
        {"step", no_argument, NULL, 'n'},
        {"continue-at", required_argument, NULL, 'c'},
        {"inputs", required_argument, NULL, 'i'},
        {"seconds", required_argument, NULL, 's'},
        {"pace", required_argument, NULL, 'p'},
        {"log", required_argument, NULL, 'l'},
        {"report", required_argument, NULL, 'r'},
        {"act", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const int code = arguments_read(argc, argv, table, usage, take_option, options, done);
    if (code || *done)
        return code;
    const struct run_options *run = &options->run;
    if (!options->continue_at &&
        (run->seconds > 0.0 || run->log || run->report || run->act_count > 0))
        return usage_error("this option needs", "--continue-at");
    if ((options->until != NULL) + options->steps + (options->continue_at != NULL) > 1)
        return usage_error("give only one of", "--until, --step, --continue-at");
    if (optind == argc - 1)
        return 0;
    fputs(usage, stderr);
    return EXIT_USAGE;
}

int command_replay(int argc, char **argv)
{
    static struct replay replay;
    static struct replay_options options = {.run = {.pace = RT_PACE_FAST}};
    bool done = false;
    int code = read_options(argc, argv, &options, &done);
    if (code || done)
        return code;
    replay.path = options.run.scenario = argv[optind];
    code = with_log(&replay, replay_load_scenario);
    if (code == 0) {
        replay_create_sim(&replay);
        code = with_log(&replay, replay_load_inputs);
    }
    if (code == 0)
        code = replay_log(&replay, &options);
    free(replay.inputs);
    free(replay.acts);
    free(replay.states);
    if (replay.sim)
        free(replay.sim->reading);
    free(replay.sim);
    if (replay.scenario)
        cfg_scenario_free(replay.scenario);
    return code;
}
