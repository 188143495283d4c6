/*
 * airbearing replay: the recorded inputs run again through the same frame, every hash compared.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/isa.h"
#include "io/telemetry/mcap.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/rig.h"
#include "tools/airbearing/run.h"

static const char usage[] =
    "usage: airbearing replay LOG\n"
    "\n"
    "Run the inputs recorded in LOG again and compare the state hash of every frame.\n"
    "Exit: 0 identical, 1 a frame differs (it is named), 2 the log cannot be replayed, 64 usage.\n";

enum { CDR_HEADER_SIZE = 4 };

struct replay {
    const char *path;
    struct cfg_scenario *scenario;
    struct rig *rig;
    struct record_input *inputs; /* by frame, as recorded */
    size_t input_count, input_room, input_next;
    uint64_t next_frame; /* first frame not yet run */
    uint64_t compared;
};

static int refuse(const struct replay *replay, const char *what)
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
        return refuse(replay, "it does not say which instruction set it was recorded with");
    if (cfg_isa_named(name, isa) && dyn_isa_runs(*isa))
        return 0;
    snprintf(
        what, sizeof what,
        "recorded with the instruction set %s, which does not run here; replay it on a machine "
        "that has it",
        cfg_quote(name).text);
    return refuse(replay, what);
}

static const void *find_file(void *reader, const char *name, size_t *size)
{
    return io_mcap_attachment(reader, name, size);
}

static int load_scenario(struct replay *replay, struct io_mcap_reader *reader)
{
    size_t size;
    const char *text = io_mcap_attachment(reader, "scenario.yaml", &size);
    if (!text)
        return refuse(replay,
                      "no scenario.yaml inside; only logs of airbearing run can be replayed");
    enum dyn_isa isa;
    const int code = find_isa(replay, reader, &isa);
    if (code)
        return code;

    const char *overrides[RUN_OVERRIDE_MAX];
    int count = 0;
    for (char key[16]; count < RUN_OVERRIDE_MAX; count++) {
        snprintf(key, sizeof key, "set.%d", count);
        overrides[count] = io_mcap_metadata(reader, "airbearing", key);
        if (!overrides[count])
            break;
    }
    char error[CFG_ERROR_MAX];
    const struct cfg_shelf shelf = {find_file, reader};
    if (cfg_scenario_load_logged("scenario.yaml", text, size, overrides, count, &shelf,
                                 &replay->scenario, error)) {
        fprintf(stderr, "%s: %s\n", replay->path, error);
        return EXIT_BAD_INPUT;
    }
    replay->scenario->isa = isa;
    return 0;
}

static bool keep_input(struct replay *replay, const struct io_mcap_message *message)
{
    if (message->size < CDR_HEADER_SIZE + RECORD_INPUT_SIZE)
        return false;
    if (replay->input_count == replay->input_room) {
        replay->input_room = replay->input_room ? 2 * replay->input_room : 1024;
        replay->inputs = realloc(replay->inputs, replay->input_room * sizeof *replay->inputs);
        if (!replay->inputs)
            return false;
    }
    struct record_input *input = &replay->inputs[replay->input_count];
    memcpy(input, message->data + CDR_HEADER_SIZE, RECORD_INPUT_SIZE);
    if (input->link >= replay->scenario->link_count || input->ordinal != replay->input_count)
        return false;
    replay->input_count++;
    return true;
}

static int load_inputs(struct replay *replay, struct io_mcap_reader *reader)
{
    struct io_mcap_message message;
    char error[256];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        if (strcmp(message.topic, "/input") == 0 && !keep_input(replay, &message)) {
            snprintf(error, sizeof error,
                     "input %zu is missing or malformed, so the run cannot be repeated beyond it",
                     replay->input_count);
            return refuse(replay, error);
        }
    }
    if (more < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    return 0;
}

/* ---- running it again ------------------------------------------------------------------ */

static void gather(void *self, struct rig *rig, uint64_t frame)
{
    struct replay *replay = self;
    while (replay->input_next < replay->input_count &&
           replay->inputs[replay->input_next].frame == frame) {
        struct record_input input = replay->inputs[replay->input_next++];
        rig_apply(rig, &input);
    }
}

static void place(struct replay *replay)
{
    replay->rig = rig_on_heap(replay->scenario);
    replay->rig->source = (struct rig_source){.self = replay, .gather = gather};
}

static void run_frame(struct replay *replay)
{
    const struct rt_frame_tasks tasks = rig_tasks(replay->rig);
    tasks.latch(tasks.self, replay->next_frame, false);
    rt_schedule_run(replay->rig->schedule, replay->next_frame);
    tasks.commit(tasks.self, replay->next_frame);
    replay->next_frame++;
}

/* Which number of the plant is the first that differs in this frame, where the log has it. */
static void name_difference(const struct replay *replay, uint64_t frame)
{
    char error[256];
    struct io_mcap_message message;
    const uint64_t log_time_ns = (frame + 1) * replay->scenario->period_ns;
    const size_t count = replay->rig->layout.plant_size / sizeof(double) - 1;
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    while (reader && io_mcap_next(reader, &message, error) == 1) {
        if (message.log_time_ns != log_time_ns || strcmp(message.topic, "/plant") != 0 ||
            message.size != CDR_HEADER_SIZE + replay->rig->layout.plant_size)
            continue;
        for (size_t i = 0; i < count; i++) {
            double recorded;
            memcpy(&recorded, message.data + CDR_HEADER_SIZE + i * sizeof recorded,
                   sizeof recorded);
            if (memcmp(&recorded, &replay->rig->cfg->x[i], sizeof recorded) == 0)
                continue;
            printf("  plant state %zu: recorded %.17g, replayed %.17g\n", i, recorded,
                   replay->rig->cfg->x[i]);
            break;
        }
        break;
    }
    if (reader)
        io_mcap_close(reader);
}

/* 0 to go on, 1 at a frame that differs. */
static int compare_frame(struct replay *replay, const struct record_frame *recorded)
{
    while (replay->next_frame <= recorded->frame)
        run_frame(replay);
    replay->compared++;
    if (replay->rig->hash == recorded->state_hash)
        return 0;
    printf("replay: frame %" PRIu64 " differs: recorded hash %016" PRIx64 ", replayed %016" PRIx64
           "\n",
           recorded->frame, recorded->state_hash, replay->rig->hash);
    name_difference(replay, recorded->frame);
    return EXIT_VERDICT_NO;
}

static int compare_frames(struct replay *replay, struct io_mcap_reader *reader)
{
    struct io_mcap_message message;
    char error[256];
    int more;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        struct record_frame recorded;
        if (strcmp(message.topic, "/frame") != 0)
            continue;
        if (message.size < CDR_HEADER_SIZE + RECORD_FRAME_SIZE)
            return refuse(replay, "a /frame record is too short");
        memcpy(&recorded, message.data + CDR_HEADER_SIZE, RECORD_FRAME_SIZE);
        if (recorded.frame < replay->next_frame)
            return refuse(replay, "the /frame records are not in order");
        if (compare_frame(replay, &recorded))
            return EXIT_VERDICT_NO;
    }
    if (more < 0) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (replay->compared == 0)
        return refuse(replay, "no /frame record inside");
    printf("replay: %" PRIu64 " of %" PRIu64 " frames compared, all identical; hash %016" PRIx64
           "%s\n",
           replay->compared, replay->next_frame, replay->rig->hash,
           io_mcap_complete(reader) ? "" : "; the log was cut off after that");
    return EXIT_OK;
}

/* Open the log and hand it to one pass over it. */
static int pass(struct replay *replay, int (*over)(struct replay *, struct io_mcap_reader *))
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

int command_replay(int argc, char **argv)
{
    static const struct option table[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        fputs(usage, option == 'h' ? stdout : stderr);
        return option == 'h' ? EXIT_OK : EXIT_USAGE;
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    struct replay replay = {.path = argv[optind]};
    int code = pass(&replay, load_scenario);
    if (code == 0)
        code = pass(&replay, load_inputs);
    if (code == 0) {
        place(&replay);
        code = pass(&replay, compare_frames);
    }
    free(replay.inputs);
    free(replay.rig);
    if (replay.scenario)
        cfg_scenario_free(replay.scenario);
    return code;
}
