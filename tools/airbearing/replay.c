/*
 * airbearing replay: the recorded inputs run again through the same frame, every hash compared.
 */
#include "tools/airbearing/replay.h"
#include "config/scenario.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/yaml/isa.h"
#include "rt/check.h"
#include "rt/estop.h"
#include "tools/airbearing/arguments.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing replay LOG [options]\n"
    "\n"
    "Run the inputs recorded in LOG again and compare the state hash of every frame.  The first "
    "frame\n"
    "that differs is named, with the job and the variable as far as the log holds them.\n"
    "\n"
    "  --until WHEN         stop before this frame (1500), or at this time (1.5s); print what is "
    "there\n"
    "  --step               read what to do from standard input: step [N], go WHEN, print, quit; "
    "an\n"
    "                       empty line is a step\n"
    "  --continue-at WHEN   go on from there as a new run without its board: what if?\n"
    "    --inputs held|safe   the board's last commands, or none (default: held)\n"
    "    --seconds S          simulated seconds from there (default: to the end of the scenario)\n"
    "    --pace real|fast     (default: fast)\n"
    "    --log FILE.mcap      a log of its own, which can be replayed by itself\n"
    "    --report FILE.json\n"
    "    --act TIME:WHAT      as for airbearing run; TIME counts from there\n"
    "\n"
    "Exit: 0 identical, 1 a frame differs (it is named), 2 the log cannot be replayed, 64 usage;\n"
    "of a run that goes on, its own.\n";

/* What the command line asks for. */
struct replay_options {
    const char *until, *continue_at;
    bool steps, safe;
    struct run_options run;
};

int replay_refuse(const struct replay *replay, const char *what)
{
    fprintf(stderr, "%s: %s\n", replay->path, what);
    return EXIT_BAD_INPUT;
}

/* ---- what the log holds ---------------------------------------------------------------- */

/* The same bits come out of the same instructions only. */
static int find_isa(const struct replay *replay, struct io_mcap_reader *reader, enum dyn_isa *isa)
{
    const char *name = io_mcap_metadata(reader, "airbearing", "isa");
    char what[CFG_ERROR_MAX];
    if (!name)
        return replay_refuse(replay, "it does not say which instruction set it was recorded with");
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

/* Kept, for a run that goes on from here. */
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

static int load_scenario(struct replay *replay, struct io_mcap_reader *reader)
{
    size_t size;
    const char *text = io_mcap_attachment(reader, "scenario.yaml", &size);
    if (!text)
        return replay_refuse(
            replay, "no scenario.yaml inside; only logs of airbearing run can be replayed");
    enum dyn_isa isa;
    const int code = find_isa(replay, reader, &isa);
    if (code)
        return code;

    if (load_overrides(replay, reader))
        return replay_refuse(replay, "one of its --set is too long");
    char error[CFG_ERROR_MAX];
    const struct cfg_file_source shelf = {find_file, reader};
    if (cfg_scenario_load_logged("scenario.yaml", text, size, replay->overrides,
                                 replay->override_count, &shelf, &replay->scenario, error)) {
        fprintf(stderr, "%s: %s\n", replay->path, error);
        return EXIT_BAD_INPUT;
    }
    replay->scenario->spec.isa = isa;
    const char *lasted = io_mcap_metadata(reader, "airbearing", "seconds");
    const double seconds = lasted ? strtod(lasted, NULL) : 0.0;
    if (seconds > 0.0 && seconds < 1e7)
        replay->scenario->spec.seconds = seconds; /* --seconds is no --set */
    return 0;
}

/* Room for one more of size bytes; NULL: no memory. */
static void *grow_array(void *items, size_t size, size_t count, size_t *room)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 64;
    return realloc(items, *room * size);
}

static bool append_input(struct replay *replay, const struct io_mcap_message *message)
{
    if (message->size < REPLAY_CDR_HEADER + SIM_RECORD_INPUT_SIZE)
        return false;
    void *grown = grow_array(replay->inputs, sizeof *replay->inputs, replay->input_count,
                             &replay->input_room);
    if (!grown)
        return false;
    replay->inputs = grown;
    struct sim_record_input *input = &replay->inputs[replay->input_count];
    memcpy(input, message->data + REPLAY_CDR_HEADER, SIM_RECORD_INPUT_SIZE);
    if (input->link >= replay->scenario->spec.link_count || input->ordinal != replay->input_count)
        return false;
    replay->input_count++;
    return true;
}

/* Is it an act that this scenario bears? */
static bool is_valid_act(const struct cfg_scenario *scenario, const struct sim_record_act *act)
{
    if (act->act == SIM_ACT_FAULT)
        return act->index < (uint32_t)scenario->spec.fault_count;
    if (act->act == SIM_ACT_RESTORE)
        return act->index <= 1;
    if (act->act == SIM_ACT_STOP_ARM)
        return scenario->spec.arm.joint_count > 0 && act->index < RT_ESTOP_CAUSE_COUNT;
    if (act->act != SIM_ACT_TUNE)
        return act->act < SIM_ACT_COUNT;
    if (act->index >= (uint32_t)scenario->spec.parameter_count)
        return false;
    const struct sim_parameter *parameter = &scenario->spec.parameters[act->index];
    return act->value >= parameter->low && act->value <= parameter->high;
}

static bool append_act(struct replay *replay, const struct io_mcap_message *message)
{
    if (message->size < REPLAY_CDR_HEADER + SIM_RECORD_ACT_SIZE)
        return false;
    void *grown =
        grow_array(replay->acts, sizeof *replay->acts, replay->act_count, &replay->act_room);
    if (!grown)
        return false;
    replay->acts = grown;
    struct sim_record_act *act = &replay->acts[replay->act_count];
    memcpy(act, message->data + REPLAY_CDR_HEADER, SIM_RECORD_ACT_SIZE);
    if (act->ordinal != replay->act_count || !is_valid_act(replay->scenario, act))
        return false;
    replay->act_count++;
    return true;
}

static bool append_state(struct replay *replay, const struct io_mcap_message *message)
{
    const size_t size = replay->sim->layout.state_size;
    if (message->size != REPLAY_CDR_HEADER + size ||
        sim_run_state_problem(replay->sim->vehicle,
                              message->data + REPLAY_CDR_HEADER + sizeof(struct sim_record_state)))
        return false;
    void *grown = grow_array(replay->states, size, replay->state_count, &replay->state_room);
    if (!grown)
        return false;
    replay->states = grown;
    memcpy(replay->states + replay->state_count++ * size, message->data + REPLAY_CDR_HEADER, size);
    return true;
}

/* What replay needs, by topic. */
static const struct {
    const char *topic, *what;
    bool (*keep)(struct replay *replay, const struct io_mcap_message *message);
} needed[] = {
    {"/input", "input", append_input},
    {"/operator", "act of the operator", append_act},
    {"/state", "restored state", append_state},
};

static int append_message(struct replay *replay, const struct io_mcap_message *message)
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (strcmp(message->topic, needed[i].topic) != 0 || needed[i].keep(replay, message))
            continue;
        char what[160];
        const size_t count[] = {replay->input_count, replay->act_count, replay->state_count};
        snprintf(what, sizeof what,
                 "%s %zu is missing or malformed, so the run cannot be repeated beyond it",
                 needed[i].what, count[i]);
        return replay_refuse(replay, what);
    }
    return 0;
}

/* Every restore has its state, and no state is left over. */
static int check_states(const struct replay *replay)
{
    size_t next = 0;
    for (size_t i = 0; i < replay->act_count; i++) {
        if (replay->acts[i].act != SIM_ACT_RESTORE)
            continue;
        struct sim_record_state head;
        if (next < replay->state_count)
            memcpy(&head, replay->states + next * replay->sim->layout.state_size, sizeof head);
        if (next >= replay->state_count || head.ordinal != replay->acts[i].ordinal)
            return replay_refuse(replay, "a restored state is missing, so the run cannot be "
                                         "repeated beyond it");
        next++;
    }
    return 0;
}

static int load_inputs(struct replay *replay, struct io_mcap_reader *reader)
{
    struct io_mcap_message message;
    char error[256];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        const int code = append_message(replay, &message);
        if (code)
            return code;
    }
    if (more < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    return check_states(replay);
}

/* ---- running it again ------------------------------------------------------------------ */

static void read_inputs(void *self, struct sim *sim, uint64_t frame)
{
    struct replay *replay = self;
    while (replay->input_next < replay->input_count &&
           replay->inputs[replay->input_next].frame == frame) {
        struct sim_record_input input = replay->inputs[replay->input_next++];
        sim_apply_input(sim, &input);
    }
}

static void create_sim(struct replay *replay)
{
    replay->sim = sim_create(&replay->scenario->spec);
    replay->sim->source = (struct sim_input){.self = replay, .read_inputs = read_inputs};
    replay->sim->reading =
        calloc((size_t)replay->scenario->spec.sensor_count + 1, sizeof *replay->sim->reading);
    RT_CHECK(replay->sim->reading);
}

static void apply_recorded_acts(struct replay *replay)
{
    while (replay->act_next < replay->act_count &&
           replay->acts[replay->act_next].frame == replay->next_frame) {
        struct sim_record_act again = replay->acts[replay->act_next++];
        struct sim_snapshot snapshot = {0};
        if (again.act == SIM_ACT_RESTORE) {
            const unsigned char *state =
                replay->states + replay->state_next++ * replay->sim->layout.state_size;
            struct sim_record_state head;
            memcpy(&head, state, sizeof head);
            snapshot = (struct sim_snapshot){state + sizeof head, head.hash};
        }
        sim_apply_act(replay->sim, &again, &snapshot);
    }
}

static void run_frame(struct replay *replay)
{
    const struct rt_frame_tasks tasks = sim_tasks(replay->sim);
    apply_recorded_acts(replay);
    tasks.latch(tasks.self, replay->next_frame, false);
    rt_schedule_run(replay->sim->schedule, replay->next_frame);
    tasks.commit(tasks.self, replay->next_frame);
    replay->next_frame++;
}

/* 0 to go on, else the exit code: a frame differs. */
static int compare_frame(struct replay *replay, const struct sim_record_frame *recorded)
{
    replay->compared++;
    if (replay->sim->scratch.hash == recorded->state_hash)
        return 0;
    printf("replay: frame %" PRIu64 " differs: recorded hash %016" PRIx64 ", replayed %016" PRIx64
           "\n",
           recorded->frame, recorded->state_hash, replay->sim->scratch.hash);
    replay_print_divergence(replay, recorded->frame);
    return EXIT_VERDICT_NO;
}

/* What a log claims decides how many frames are run before the next comparison, so it must be what
 * a run of this scenario can have written.  Records are lost while a disk stands still; ten minutes
 * without any are no such gap. */
static int check_record(const struct replay *replay, uint64_t log_ns)
{
    const double gap_seconds_max = 600.0;
    const struct cfg_scenario *scenario = replay->scenario;
    const uint64_t frame = replay->pending.frame;
    const double total = round(scenario->spec.seconds * scenario->spec.rate_hz);
    const double gap_max = gap_seconds_max * scenario->spec.rate_hz;
    char what[192];
    if (frame < replay->next_frame)
        return replay_refuse(replay, "the /frame records are not in order");
    if ((double)frame >= total)
        snprintf(what, sizeof what,
                 "it has a record of frame %" PRIu64 ", and the run had %.0f frames", frame, total);
    else if (log_ns != frame * scenario->spec.period_ns)
        snprintf(what, sizeof what,
                 "the record of frame %" PRIu64 " has the time %" PRIu64
                 " ns, which is another frame's",
                 frame, log_ns);
    else if ((double)(frame - replay->next_frame) > gap_max)
        snprintf(what, sizeof what,
                 "between frame %" PRIu64 " and frame %" PRIu64
                 " nothing is recorded, which is too much to be repeated unseen",
                 replay->next_frame, frame);
    else
        return 0;
    return replay_refuse(replay, what);
}

/* The next /frame record into pending, or the end.  0, or the exit code. */
static int read_record(struct replay *replay, struct io_mcap_reader *reader)
{
    struct io_mcap_message message;
    char error[256];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        if (strcmp(message.topic, "/frame") != 0)
            continue;
        if (message.size < REPLAY_CDR_HEADER + SIM_RECORD_FRAME_SIZE)
            return replay_refuse(replay, "a /frame record is too short");
        memcpy(&replay->pending, message.data + REPLAY_CDR_HEADER, SIM_RECORD_FRAME_SIZE);
        replay->has_pending = true;
        return check_record(replay, message.log_time_ns);
    }
    replay->ended = true;
    if (more == 0)
        return 0;
    fprintf(stderr, "%s\n", error);
    return EXIT_BAD_INPUT;
}

/* Run and compare all frames before `until` that the log has.  0, or the exit code. */
static int run_until(struct replay *replay, struct io_mcap_reader *reader, uint64_t until)
{
    while (replay->next_frame < until) {
        if (!replay->has_pending) {
            const int code = read_record(replay, reader);
            if (code || replay->ended)
                return code;
        }
        run_frame(replay);
        if (replay->next_frame <= replay->pending.frame)
            continue;
        replay->has_pending = false;
        const int code = compare_frame(replay, &replay->pending);
        if (code)
            return code;
    }
    return 0;
}

static int print_identical(const struct replay *replay, struct io_mcap_reader *reader)
{
    if (replay->compared == 0)
        return replay_refuse(replay, "no /frame record inside");
    printf("replay: %" PRIu64 " of %" PRIu64 " frames compared, all identical; hash %016" PRIx64
           "%s\n",
           replay->compared, replay->next_frame, replay->sim->scratch.hash,
           !replay->ended             ? "; stopped there"
           : io_mcap_complete(reader) ? ""
                                      : "; the log was cut off after that");
    return EXIT_OK;
}

static int compare_all(struct replay *replay, struct io_mcap_reader *reader,
                       const struct replay_options *wish)
{
    (void)wish;
    const int code = run_until(replay, reader, UINT64_MAX);
    return code ? code : print_identical(replay, reader);
}

/* ---- stopping on the way --------------------------------------------------------------- */

/* "1500": a frame; "1.5s": a time.  False: neither. */
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
                         const struct replay_options *wish)
{
    uint64_t until;
    if (!read_when(replay, wish->until, &until))
        return replay_refuse(replay, "--until wants a frame, as 1500, or a time, as 1.5s");
    int code = run_until(replay, reader, until);
    if (code == 0)
        code = print_identical(replay, reader);
    if (code == 0)
        replay_print_state(replay);
    return code;
}

/* One command of --step; false: quit. */
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
    *code = run_until(replay, reader, until);
    if (*code == 0)
        printf("next frame %" PRIu64 ", hash %016" PRIx64 "%s\n", replay->next_frame,
               replay->sim->scratch.hash, replay->ended ? ", the end" : "");
    return *code == 0;
}

static int step_interactively(struct replay *replay, struct io_mcap_reader *reader,
                              const struct replay_options *wish)
{
    char line[128];
    int code = 0;
    const bool asks = isatty(STDIN_FILENO);
    (void)wish;
    for (bool more = true; more;) {
        if (asks)
            printf("> ");
        fflush(stdout);
        more = fgets(line, sizeof line, stdin) != NULL &&
               run_step_command(replay, reader, line, &code);
    }
    return code ? code : replay->compared > 0 ? print_identical(replay, reader) : EXIT_OK;
}

/* ---- what if ----------------------------------------------------------------------------- */

static void zero_controls(const struct replay *replay)
{
    for (int i = 0; i < replay->scenario->spec.link_count; i++) {
        struct sim_link_state *link = &replay->sim->vehicle->link[i];
        memset(link->control, 0, sizeof link->control);
        link->lost = 1;
    }
}

static int go_on(struct replay *replay, struct io_mcap_reader *reader,
                 const struct replay_options *wish)
{
    uint64_t from;
    if (!read_when(replay, wish->continue_at, &from))
        return replay_refuse(replay, "--continue-at wants a frame, as 1500, or a time, as 1.5s");
    const int code = run_until(replay, reader, from);
    if (code)
        return code;
    if (replay->next_frame < from)
        return replay_refuse(replay, "the log ends before that");
    apply_recorded_acts(replay); /* what was done before that frame is of the past, too */
    if (wish->safe)
        zero_controls(replay);
    printf("replay: identical up to frame %" PRIu64 ", hash %016" PRIx64
           "; from there on without a board, its inputs %s\n",
           from, replay->sim->scratch.hash, wish->safe ? "safe" : "held");
    fflush(stdout);
    struct run_options options = wish->run;
    memcpy(options.overrides, replay->overrides, sizeof options.overrides);
    options.override_count = replay->override_count;
    if (options.seconds == 0.0) {
        const double left =
            replay->scenario->spec.seconds - (double)from / replay->scenario->spec.rate_hz;
        options.seconds = left > 0.0 ? left : 0.0;
    }
    const struct sim_snapshot snapshot = {replay->sim->vehicle->state, replay->sim->scratch.hash};
    struct cfg_scenario *scenario = replay->scenario;
    replay->scenario = NULL; /* the run's, from here on */
    return run_from_snapshot(scenario, &options, &snapshot);
}

/* ---- the command -------------------------------------------------------------------------- */

/* Open the log and hand it to one pass over it. */
static int with_log(struct replay *replay, int (*over)(struct replay *, struct io_mcap_reader *))
{
    char error[256];
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    if (!reader) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const int code = over(replay, reader);
    io_mcap_close(reader);
    return code;
}

static int replay_log(struct replay *replay, const struct replay_options *wish)
{
    char error[256];
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    if (!reader) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const int code = (wish->continue_at ? go_on
                      : wish->steps     ? step_interactively
                      : wish->until     ? compare_until
                                        : compare_all)(replay, reader, wish);
    io_mcap_close(reader);
    return code;
}

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing replay: %s \"%s\"; airbearing replay --help tells more\n", what,
            value);
    return EXIT_USAGE;
}

static int take_option(void *self, int option, char *value)
{
    struct replay_options *wish = self;
    char *rest;
    struct run_options *run = &wish->run;
    switch (option) {
    case 'u':
        wish->until = value;
        return 0;
    case 'n':
        wish->steps = true;
        return 0;
    case 'c':
        wish->continue_at = value;
        return 0;
    case 'i':
        wish->safe = strcmp(value, "safe") == 0;
        return wish->safe || strcmp(value, "held") == 0
                   ? 0
                   : usage_error("--inputs is held or safe, not", value);
    case 's':
        run->seconds = strtod(value, &rest);
        return *rest == '\0' && run->seconds > 0.0 && run->seconds < 1e7
                   ? 0
                   : usage_error("--seconds wants a positive number, not", value);
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

static int read_options(int argc, char **argv, struct replay_options *wish, bool *done)
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
    const int code = arguments_read(argc, argv, table, usage, take_option, wish, done);
    if (code || *done)
        return code;
    const struct run_options *run = &wish->run;
    if (!wish->continue_at && (run->seconds > 0.0 || run->log || run->report || run->act_count > 0))
        return usage_error("that goes with", "--continue-at");
    if ((wish->until != NULL) + wish->steps + (wish->continue_at != NULL) > 1)
        return usage_error("only one at a time:", "--until, --step, --continue-at");
    if (optind == argc - 1)
        return 0;
    fputs(usage, stderr);
    return EXIT_USAGE;
}

int command_replay(int argc, char **argv)
{
    static struct replay replay;
    static struct replay_options wish = {.run = {.pace = RT_PACE_FAST}};
    bool done = false;
    int code = read_options(argc, argv, &wish, &done);
    if (code || done)
        return code;
    replay.path = wish.run.scenario = argv[optind];
    code = with_log(&replay, load_scenario);
    if (code == 0) {
        create_sim(&replay);
        code = with_log(&replay, load_inputs);
    }
    if (code == 0)
        code = replay_log(&replay, &wish);
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
