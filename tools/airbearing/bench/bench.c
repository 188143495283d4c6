/*
 * airbearing bench: the speed of the dynamics, their operation counts, and the overhead of the
 * executive.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "config/yaml/isa.h"
#include "dynamics/analysis/crba.h"
#include "rt/machine/machine.h"
#include "tools/airbearing/arguments.h"
#include "tools/airbearing/bench/beams.h"
#include "tools/airbearing/bench/builtin_models.h"
#include "tools/airbearing/bench/count.h"
#include "tools/airbearing/bench/frame_overhead.h"
#include "tools/airbearing/bench/loop_floor.h"
#include "tools/airbearing/bench/speed.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing bench [--model MODEL] [--base fixed|free] [--json]\n"
    "       airbearing bench --beams NxM [--json]\n"
    "\n"
    "Nanoseconds of one call of the forward dynamics and of one state in a batch, for every\n"
    "instruction set that this processor has; instructions (callgrind) and floating-point\n"
    "operations (a counting build) per call; the executive's own frame; the shortest loop with a\n"
    "board; the cost of flexible bodies beside rigid ones.  Times are CPU time of one thread, in\n"
    "turns: median, and lowest in brackets.\n"
    "\n"
    "  --model MODEL      a URDF or a scenario; without it an arm, two chains and a spacecraft\n"
    "                     that are built in\n"
    "  --base BASE        of a URDF: fixed (default) or free\n"
    "  --made NAME        one of the built-in models: arm7, spacecraft22, chain1 to chain100000,\n"
    "                     rigid16x4, ruthless16x4, consistent16x4 of any N x M\n"
    "  --beams NxM        N flexible beams with M modes each beside as many rigid ones, and\n"
    "                     nothing else; without it 16x4 at the end\n"
    "  --isa NAME         sse2, avx2 or avx512 and no other\n"
    "  --json             one JSON object instead of the table\n"
    "  --calls N          make N calls of the forward dynamics and nothing else, for a profiler\n"
    "  --composite        make them by composite bodies\n"
    "\n"
    "Exit: 0 ok, 2 one line file:line:column: what is wrong, 64 usage.\n";

enum { SUBJECTS_MAX = 4 };

struct bench_options {
    struct subject_source source; /* name NULL: the built-in models */
    int isa;                      /* enum dyn_isa; -1: all that run */
    bool json;
    long calls; /* 0: measure */
    bool composite;
    int beams, modes; /* 0: not asked for */
};

/* ---- options --------------------------------------------------------------------------- */

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing bench: %s \"%s\"; see airbearing bench --help\n", what, value);
    return EXIT_USAGE;
}

static int take_source(struct bench_options *options, const char *name, bool is_made)
{
    if (options->source.name != NULL)
        return usage_error("one model at a time, not also", name);
    options->source.name = name;
    options->source.is_made = is_made;
    return 0;
}

static int take_base(struct bench_options *options, const char *value)
{
    options->source.base = strcmp(value, "fixed") == 0  ? CFG_BASE_FIXED
                           : strcmp(value, "free") == 0 ? CFG_BASE_FREE
                                                        : CFG_BASE_UNSAID;
    return options->source.base != CFG_BASE_UNSAID
               ? 0
               : usage_error("--base is fixed or free, not", value);
}

static int take_isa(struct bench_options *options, const char *value)
{
    enum dyn_isa isa;
    if (!cfg_isa_named(value, &isa))
        return usage_error("--isa is sse2, avx2 or avx512, not", value);
    options->isa = (int)isa;
    return dyn_isa_runs(isa) ? 0 : usage_error("this processor does not run", value);
}

static int take_calls(struct bench_options *options, const char *value)
{
    char *end;
    errno = 0;
    options->calls = strtol(value, &end, 10);
    const bool is_good = errno == 0 && *end == '\0' && options->calls > 0;
    return is_good ? 0 : usage_error("--calls needs a number, not", value);
}

static int take_beams(struct bench_options *options, const char *value)
{
    int length = 0;
    const bool is_good =
        sscanf(value, "%4dx%2d%n", &options->beams, &options->modes, &length) == 2 &&
        value[length] == '\0' && options->beams > 0 && options->modes > 0 &&
        options->modes <= BUILTIN_MODES_MAX;
    return is_good ? 0 : usage_error("--beams needs a form like 16x4, not", value);
}

static int take_option(void *self, int option, char *value)
{
    struct bench_options *options = self;
    switch (option) {
    case 'm':
        return take_source(options, value, false);
    case 'M':
        return take_source(options, value, true);
    case 'b':
        return take_base(options, value);
    case 'i':
        return take_isa(options, value);
    case 'c':
        return take_calls(options, value);
    case 'B':
        return take_beams(options, value);
    case 'j':
        options->json = true;
        return 0;
    case 'C':
        options->composite = true;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

static int check_options(const struct bench_options *options)
{
    const struct subject_source *source = &options->source;
    if (source->base != CFG_BASE_UNSAID && (source->name == NULL || source->is_made))
        return usage_error("--base is for a URDF: name it with", "--model");
    if (options->calls > 0 && source->name == NULL)
        return usage_error("--calls needs", "--model or --made");
    if (options->composite && options->calls == 0)
        return usage_error("--composite needs", "--calls");
    if (options->beams > 0 && source->name != NULL)
        return usage_error("--beams makes its own, not", source->name);
    return 0;
}

/* 0 to continue, else the exit code; *done is set by --help. */
static int read_options(int argc, char **argv, struct bench_options *options, bool *done)
{
    static const struct option table[] = {
        {"model", required_argument, NULL, 'm'}, {"made", required_argument, NULL, 'M'},
        {"base", required_argument, NULL, 'b'},  {"isa", required_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},        {"calls", required_argument, NULL, 'c'},
        {"beams", required_argument, NULL, 'B'}, {"composite", no_argument, NULL, 'C'},
        {"help", no_argument, NULL, 'h'},        {0},
    };
    *options = (struct bench_options){.isa = -1};
    const int code = arguments_read(argc, argv, table, usage, take_option, options, done);
    if (code || *done)
        return code;
    return optind == argc ? check_options(options)
                          : usage_error("a model is named with --model, not with", argv[optind]);
}

/* ---- measuring ------------------------------------------------------------------------- */

/* One model and what was found about it. */
struct finding {
    struct subject subject; /* open */
    enum dyn_isa isa;       /* that a run would use */
    struct speed speed[SPEED_ISA_COUNT];
    struct operation_count count;
};

static void measure_model(const struct subject_source *source, int only, struct finding *finding)
{
    if (only >= 0)
        dyn_model_use_isa(finding->subject.tree, (enum dyn_isa)only);
    finding->isa = dyn_model_isa(finding->subject.tree);
    speed_measure(&finding->subject, only, finding->speed);
    count_measure(source, finding->isa, &finding->count);
}

/* The processor's name, from the system. */
static void read_processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    (void)snprintf(name, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", 10) != 0 || strchr(line, ':') == NULL)
            continue;
        const char *text = strchr(line, ':') + 1;
        text += strspn(text, " ");
        (void)snprintf(name, size, "%.*s", (int)strcspn(text, "\n"), text);
        break;
    }
    if (file != NULL)
        fclose(file);
}

/* ---- as a table ------------------------------------------------------------------------ */

static void print_machine(const struct rt_machine *machine, const char *processor)
{
    printf("%s, %d core%s, Linux %s%s\n", processor, machine->cpu_count,
           machine->cpu_count == 1 ? "" : "s", machine->kernel,
           machine->hypervisor ? ", virtual machine" : "");
    printf(
        "CPU time of one thread: median of %d turns, lowest in brackets; * is what a run uses\n\n"
        "%-14s %5s %6s  %-8s %18s %9s %18s %7s\n",
        SPEED_SEGMENTS, "model", "dof", "links", "isa", "forward ns", "per link", "batch ns/state",
        "gain");
}

static void print_speed(const struct finding *finding, int isa)
{
    const struct speed *speed = &finding->speed[isa];
    const struct subject *subject = &finding->subject;
    printf("%-7s%c %9.0f (%6.0f) %9.1f ", dyn_isa_name((enum dyn_isa)isa),
           isa == (int)finding->isa ? '*' : ' ', speed->forward_ns.median, speed->forward_ns.lowest,
           subject->link_count > 0 ? speed->forward_ns.median / subject->link_count : 0.0);
    if (subject->batch_work != NULL)
        printf("%9.0f (%6.0f) %7.2f\n", speed->batch_ns.median, speed->batch_ns.lowest,
               speed->forward_ns.median / speed->batch_ns.median);
    else
        printf("%18s\n", "no batch: joints mimic or bodies bend");
}

static void print_count(const struct finding *finding)
{
    const struct operation_count *count = &finding->count;
    const struct subject *subject = &finding->subject;
    const int links = subject->link_count > 0 ? subject->link_count : 1;
    const int dof = subject->nv > 0 ? subject->nv : 1;
    if (count->has_instructions)
        printf("    instructions a call %.0f, a link %.1f (%s, callgrind)\n", count->instructions,
               count->instructions / links, dyn_isa_name(count->isa));
    else
        printf("    instructions not counted: %s\n", count->no_instructions);
    if (count->has_flops)
        printf("    flops a state %.0f, a dof %.1f (%.0f mul, %.0f add, %.0f div in the batch; "
               "beside them %.0f sines with cosines and tanhs)\n",
               count_sum(count), count_sum(count) / dof, count->mul, count->add, count->div,
               count->functions);
    else
        printf("    flops not counted: %s\n", count->no_flops);
}

static void print_finding(const struct finding *finding)
{
    bool first = true;
    for (int isa = 0; isa < SPEED_ISA_COUNT; isa++) {
        if (!finding->speed[isa].is_measured)
            continue;
        if (first)
            printf("%-14s %5d %6d  ", finding->subject.name, finding->subject.nv,
                   finding->subject.link_count);
        else
            printf("%-29s", "");
        print_speed(finding, isa);
        first = false;
    }
    print_count(finding);
    (void)fflush(stdout);
}

static void print_executive(struct median frame_ns, const struct loop_floor *loop)
{
    printf("\nflops of articulated bodies elsewhere: 250 mul + 220 add a hinge (Brandl et al., as "
           "quoted by Lilly and Orin 1989)\n\n");
    printf("frame overhead      %8.0f ns (%.0f)  commit, latch, jobs, stamps of a frame in which "
           "nothing moves;\n"
           "%37s no wait, no log, no link\n",
           frame_ns.median, frame_ns.lowest, "");
    if (!loop->is_measured) {
        printf("loop latency floor  not measured: %s\n", loop->why_not);
        return;
    }
    printf("loop latency floor  %8.0f ns (%.0f)  command in to sample out over loopback UDP, "
           "lockstep, empty plant,\n"
           "%37s I/O thread %s; there and back with the board %.0f ns (%.0f)\n",
           loop->latency_ns.median, loop->latency_ns.lowest, "",
           loop->io_polls ? "polls" : "blocks", loop->round_trip_ns.median,
           loop->round_trip_ns.lowest);
}

/* ---- as JSON --------------------------------------------------------------------------- */

static void set_number(json_t *object, const char *key, bool is_known, double value)
{
    json_object_set_new(object, key, is_known ? json_real(value) : json_null());
}

static void set_spread(json_t *object, const char *key, bool is_known, struct median spread)
{
    char lowest[64];
    (void)snprintf(lowest, sizeof lowest, "%s_min", key);
    set_number(object, key, is_known, spread.median);
    set_number(object, lowest, is_known, spread.lowest);
}

static void set_speed(json_t *object, const struct finding *finding, int isa)
{
    const bool is_batched = finding->subject.batch_work != NULL;
    set_spread(object, "forward_ns", true, finding->speed[isa].forward_ns);
    set_spread(object, "batch_ns", is_batched, finding->speed[isa].batch_ns);
}

static void set_count(json_t *object, const struct operation_count *count)
{
    set_number(object, "instructions", count->has_instructions, count->instructions);
    json_object_set_new(object, "instructions_isa",
                        count->has_instructions ? json_string(dyn_isa_name(count->isa))
                                                : json_null());
    set_number(object, "flops", count->has_flops, count_sum(count));
    if (count->has_flops)
        json_object_set_new(object, "flops_parts",
                            json_pack("{s:f,s:f,s:f,s:f}", "mul", count->mul, "add", count->add,
                                      "div", count->div, "functions", count->functions));
}

static json_t *finding_json(const struct finding *finding)
{
    json_t *per_isa = json_object();
    json_t *object = json_pack("{s:s,s:i,s:i}", "name", finding->subject.name, "nv",
                               finding->subject.nv, "links", finding->subject.link_count);
    set_speed(object, finding, (int)finding->isa);
    for (int isa = 0; isa < SPEED_ISA_COUNT; isa++) {
        json_t *speed;
        if (!finding->speed[isa].is_measured)
            continue;
        speed = json_object();
        set_speed(speed, finding, isa);
        json_object_set_new(per_isa, dyn_isa_name((enum dyn_isa)isa), speed);
    }
    json_object_set_new(object, "per_isa", per_isa);
    set_count(object, &finding->count);
    return object;
}

static json_t *machine_json(const struct rt_machine *machine, const char *processor)
{
    return json_pack("{s:s,s:i,s:s,s:b}", "processor", processor, "cores", machine->cpu_count,
                     "kernel", machine->kernel, "virtual", machine->hypervisor);
}

static void print_json(const json_t *report)
{
    json_dumpf(report, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
}

/* ---- the command ----------------------------------------------------------------------- */

static const struct subject_source made_here[SUBJECTS_MAX] = {
    {.name = "arm7", .is_made = true},
    {.name = "chain30", .is_made = true},
    {.name = "chain100", .is_made = true},
    {.name = "spacecraft22", .is_made = true},
};

/* Print table rows as they come, which also shows progress on a terminal. */
static void take_model(const struct bench_options *options, const struct subject_source *source,
                       const struct subject *subject, json_t *report)
{
    struct finding finding = {.subject = *subject};
    measure_model(source, options->isa, &finding);
    json_object_set_new(report, "isa", json_string(dyn_isa_name(finding.isa)));
    json_array_append_new(json_object_get(report, "models"), finding_json(&finding));
    if (options->source.name != NULL)
        set_speed(report, &finding, (int)finding.isa);
    if (!options->json)
        print_finding(&finding);
}

static void take_executive(const struct bench_options *options, json_t *report)
{
    struct loop_floor loop;
    const struct median frame_ns = overhead_measure();
    loop_measure(&loop);
    set_spread(report, "frame_overhead_ns", true, frame_ns);
    set_spread(report, "loop_latency_floor_ns", loop.is_measured, loop.latency_ns);
    set_spread(report, "loop_round_trip_ns", loop.is_measured, loop.round_trip_ns);
    if (!options->json)
        print_executive(frame_ns, &loop);
}

static json_t *begin_report(const struct bench_options *options)
{
    static struct rt_machine machine;
    char processor[128];
    rt_machine_read(&machine);
    read_processor(processor, sizeof processor);
    if (!options->json)
        print_machine(&machine, processor);
    return json_pack("{s:o,s:[]}", "machine", machine_json(&machine, processor), "models");
}

static int take_beams_row(const struct bench_options *options, int count, int modes, json_t *report)
{
    static struct beams beams;
    char error[CFG_ERROR_MAX];
    if (beams_measure(count, modes, options->isa, &beams, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    json_object_set_new(report, "beams", beams_json(&beams));
    if (!options->json)
        beams_print(&beams);
    return EXIT_OK;
}

/* Prints nothing else. */
static int measure_beams(const struct bench_options *options)
{
    json_t *report = json_object();
    const int code = take_beams_row(options, options->beams, options->modes, report);
    if (code == EXIT_OK && options->json)
        print_json(report);
    json_decref(report);
    return code;
}

/* A model that cannot be read is reported before anything is printed. */
static int measure_subject(const struct bench_options *options)
{
    const bool is_one = options->source.name != NULL;
    const struct subject_source *sources = is_one ? &options->source : made_here;
    struct subject subject;
    char error[CFG_ERROR_MAX];
    json_t *report = NULL;

    for (int i = 0; i < (is_one ? 1 : SUBJECTS_MAX); i++) {
        if (subject_open(&subject, &sources[i], SUBJECT_STATES, error)) {
            fprintf(stderr, "%s\n", error);
            return EXIT_BAD_INPUT; /* only a user's model can fail: the built-in ones are valid */
        }
        if (report == NULL)
            report = begin_report(options);
        take_model(options, &sources[i], &subject, report);
        subject_close(&subject);
    }
    take_executive(options, report);
    const int code = is_one ? EXIT_OK : take_beams_row(options, 16, 4, report);
    if (options->json && code == EXIT_OK)
        print_json(report);
    json_decref(report);
    return code;
}

static void make_composite_calls(const struct bench_options *options, const struct subject *subject)
{
    void *mem = subject_room(dyn_crba_work_size(subject->tree));
    struct dyn_crba_work *work = dyn_crba_work_place(subject->tree, mem);
    for (long i = 0; i < options->calls; i++)
        subject_composite(subject, (int)(i % subject->state_count), work);
    free(mem);
}

static int make_calls(const struct bench_options *options)
{
    const int states = options->calls < SUBJECT_STATES ? (int)options->calls : SUBJECT_STATES;
    struct subject subject;
    char error[CFG_ERROR_MAX];
    if (subject_open(&subject, &options->source, states, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (options->isa >= 0)
        dyn_model_use_isa(subject.tree, (enum dyn_isa)options->isa);
    if (options->composite)
        make_composite_calls(options, &subject);
    for (long i = 0; i < options->calls && !options->composite; i++)
        subject_forward(&subject, (int)(i % states));
    subject_close(&subject);
    return EXIT_OK;
}

int command_bench(int argc, char **argv)
{
    struct bench_options options;
    bool done = false;
    const int code = read_options(argc, argv, &options, &done);
    if (code || done)
        return code;
    return options.calls > 0   ? make_calls(&options)
           : options.beams > 0 ? measure_beams(&options)
                               : measure_subject(&options);
}
