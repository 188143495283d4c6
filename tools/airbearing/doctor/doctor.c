/*
 * airbearing doctor: checks whether this machine is fit for hard real time, and proposes changes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/airbearing/arguments.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/doctor/change.h"
#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/doctor/print.h"
#include "tools/airbearing/doctor/tune.h"

static const char usage[] =
    "usage: airbearing doctor [--json] [--seconds S] [--cpu N]\n"
    "       airbearing doctor --tune [--apply [--undo-file FILE]] [--skip NAME]... [--json]\n"
    "       airbearing doctor --undo FILE\n"
    "\n"
    "Check whether this machine is fit for hard real time.  Each finding has the observation, why "
    "it\n"
    "matters and a remedy.  The machine is fit when nothing essential is bad or unknown.\n"
    "\n"
    "  --json            {\"fit\", \"findings\": [{\"name\", \"state\", \"seen\", \"remedy\", "
    "...}],\n"
    "                    \"baseline\", \"cpu\", \"cmdline\"}; times in nanoseconds\n"
    "  --seconds S       measure this long (default 1): a FIFO thread wakes at 1 kHz, and between\n"
    "                    spins two thirds as long to find lost time.  Four results of this\n"
    "                    make the machine unfit: a gap above 1 ms, stolen time that the kernel\n"
    "                    counts meanwhile, a kernel that does not report stolen time, and a core\n"
    "                    on which the measurement is refused.  Late timers alone do not.\n"
    "                    0: settings only, nothing is measured\n"
    "  --cpu N           the frame's core (default: the one that a run would take)\n"
    "\n"
    "  --tune            print what can be changed without a reboot, and the boot line\n"
    "  --apply           make the changes, all or none; the old values are in the undo file "
    "before\n"
    "                    the first change\n"
    "  --undo-file FILE  its path (default: airbearing-undo.txt here); must not exist\n"
    "  --skip NAME       leave a change out: throttling, fair-server, timer-migration, thp, numa,\n"
    "                    governor, workqueues, interrupts, cpuset\n"
    "  --undo FILE       restore the old values, and remove FILE\n"
    "\n"
    "AIRBEARING_ROOT is for tests: a directory with a proc, sys and dev to use for this "
    "machine's.\n"
    "\n"
    "Exit: 0 fit, or done; 1 not fit, or not done; 2 bad input; 64 usage.\n";

#define SECONDS_MAX 86400.0

struct doctor_options {
    const char *root;
    bool json, tune, apply;
    double seconds;
    int cpu; /* -1: the plan's */
    const char *undo_file, *undo;
    struct tune_options tuning;
};

/* --- options ---------------------------------------------------------------------------------- */

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing doctor: %s%s%s%s; see airbearing doctor --help\n", what,
            value ? " \"" : "", value ? value : "", value ? "\"" : "");
    return EXIT_USAGE;
}

static int take_skip(struct doctor_options *options, const char *value)
{
    for (const char *const *name = tune_name; *name; name++) {
        if (strcmp(*name, value) != 0)
            continue;
        if (options->tuning.skip_count == TUNE_SKIP_MAX)
            return usage_error("too many --skip, at", value);
        options->tuning.skip[options->tuning.skip_count++] = *name;
        return 0;
    }
    return usage_error("there is no change called", value);
}

static int take_number(struct doctor_options *options, int option, const char *value)
{
    char *rest;
    if (option == 's') {
        options->seconds = strtod(value, &rest);
        if (rest == value || *rest != '\0' ||
            !(options->seconds >= 0.0 && options->seconds <= SECONDS_MAX))
            return usage_error("--seconds needs a number from 0 to 86400, not", value);
        return 0;
    }
    const long cpu = strtol(value, &rest, 10);
    if (rest == value || *rest != '\0' || cpu < 0 || cpu >= RT_CPU_MAX)
        return usage_error("--cpu needs the number of a core, not", value);
    options->cpu = (int)cpu;
    return 0;
}

static int take_option(void *self, int option, char *value)
{
    struct doctor_options *options = self;
    switch (option) {
    case 'j':
        options->json = true;
        return 0;
    case 't':
        options->tune = true;
        return 0;
    case 'a':
        options->apply = true;
        return 0;
    case 'f':
        options->undo_file = value;
        return 0;
    case 'u':
        options->undo = value;
        return 0;
    case 'k':
        return take_skip(options, value);
    case 's':
    case 'c':
        return take_number(options, option, value);
    default:
        return EXIT_USAGE;
    }
}

static int check_options(const struct doctor_options *options)
{
    if (options->undo && (options->tune || options->apply || options->undo_file || options->json))
        return usage_error("--undo takes no other option", NULL);
    if (options->apply && !options->tune)
        return usage_error("--apply needs --tune", NULL);
    if (options->undo_file && !options->apply)
        return usage_error("--undo-file needs --tune --apply", NULL);
    if (options->tuning.skip_count > 0 && !options->tune)
        return usage_error("--skip needs --tune", NULL);
    return 0;
}

static int read_options(int argc, char **argv, struct doctor_options *options, bool *done)
{
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'},       {"seconds", required_argument, NULL, 's'},
        {"cpu", required_argument, NULL, 'c'},  {"tune", no_argument, NULL, 't'},
        {"apply", no_argument, NULL, 'a'},      {"undo-file", required_argument, NULL, 'f'},
        {"skip", required_argument, NULL, 'k'}, {"undo", required_argument, NULL, 'u'},
        {"help", no_argument, NULL, 'h'},       {0},
    };
    *done = false;
    const int code = arguments_read(argc, argv, known, usage, take_option, options, done);
    if (code || *done)
        return code;
    if (optind < argc)
        return usage_error("nothing is expected at", argv[optind]);
    return check_options(options);
}

/* --- the examination -------------------------------------------------------------------------- */

static void measure_machine(const struct doctor_options *options, struct doctor_facts *facts)
{
    const bool shown = options->seconds > 0.0 && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    if (shown)
        fprintf(stderr, "measuring core %d for %.1f s ...", facts->audit.cpu,
                options->seconds * 5.0 / 3.0);
    doctor_measure(options->root, options->seconds, facts);
    if (shown)
        fputs("\r\033[K", stderr);
}

static int examine(const struct doctor_options *options, struct doctor_facts *facts)
{
    static struct doctor_findings findings;
    char boot_line[DOCTOR_TEXT_SIZE * 2];
    measure_machine(options, facts);
    doctor_examine(facts, &findings);
    tune_boot_line(facts, boot_line, sizeof boot_line);
    (options->json ? print_findings_json : print_findings)(facts, &findings, boot_line);
    return doctor_missing(&findings) == 0 ? EXIT_OK : EXIT_VERDICT_NO;
}

/* --- tuning ----------------------------------------------------------------------------------- */

/* The change that a reason refers to has the name for --skip. */
static int not_done(const char *why)
{
    fprintf(stderr,
            "airbearing doctor: %s; nothing was changed (needs root; --skip leaves a change out)\n",
            why);
    return EXIT_VERDICT_NO;
}

static int apply(const struct doctor_options *options, struct tune *tune, const char *undo_file,
                 char *stays, size_t stays_size)
{
    char why[CHANGE_WHY_SIZE] = "";
    if (changes_try(options->root, &tune->changes, stays, stays_size, why) != 0)
        return not_done(why);
    if (tune->changes.count == 0)
        return 0;
    const int status = changes_save(undo_file, &tune->changes);
    if (status != 0) {
        fprintf(stderr, "airbearing doctor: %s: %s; nothing was changed\n", undo_file,
                strerror(-status));
        return EXIT_BAD_INPUT;
    }
    if (changes_make(options->root, &tune->changes, why) == 0)
        return 0;
    if (strstr(why, "could not be taken back") == NULL) {
        unlink(undo_file);
        return not_done(why);
    }
    fprintf(stderr, "airbearing doctor: %s; %s has what was there before\n", why, undo_file);
    return EXIT_VERDICT_NO;
}

static int tune_machine(const struct doctor_options *options, const struct doctor_facts *facts)
{
    static struct tune tune;
    static char stays[RT_LINE_SIZE];
    char boot_line[DOCTOR_TEXT_SIZE * 2];
    const char *undo_file = options->undo_file ? options->undo_file : "airbearing-undo.txt";
    tune_plan(options->root, facts, &options->tuning, &tune);
    tune_boot_line(facts, boot_line, sizeof boot_line);
    if (options->apply) {
        const int code = apply(options, &tune, undo_file, stays, sizeof stays);
        if (code)
            return code;
    }
    const bool applied = options->apply && tune.changes.count > 0;
    const struct print_tuned tuned = {applied, applied ? undo_file : NULL, stays, boot_line};
    if (options->json)
        print_tune_json(&tune, &tuned, facts->audit.cpu);
    else
        print_tune(&tune, &tuned);
    return EXIT_OK;
}

static int undo(const struct doctor_options *options)
{
    static struct changes changes;
    char why[CHANGE_WHY_SIZE] = "";
    int line;
    const int status = changes_load(options->undo, &changes, &line);
    if (status != 0 && line > 0)
        fprintf(stderr, "%s:%d:1: not a line of an undo file\n", options->undo, line);
    else if (status != 0)
        fprintf(stderr, "%s: %s\n", options->undo, strerror(-status));
    if (status != 0)
        return EXIT_BAD_INPUT;
    if (changes_take_back(options->root, &changes, changes.count, why) != 0) {
        fprintf(stderr, "airbearing doctor: not all could be put back: %s; %s is kept\n", why,
                options->undo);
        return EXIT_VERDICT_NO;
    }
    unlink(options->undo);
    printf("%d settings put back\n", changes.count);
    return EXIT_OK;
}

int command_doctor(int argc, char **argv)
{
    static struct doctor_facts facts;
    const char *root = getenv("AIRBEARING_ROOT");
    struct doctor_options options = {.root = root ? root : "", .seconds = 1.0, .cpu = -1};
    bool done;
    int code = read_options(argc, argv, &options, &done);
    if (code || done)
        return code;
    if (options.undo)
        return undo(&options);
    if (doctor_read(options.root, options.cpu, &facts) != 0) {
        fprintf(stderr, "airbearing doctor: --cpu: %s\n", facts.plan.reason);
        return EXIT_BAD_INPUT;
    }
    return options.tune ? tune_machine(&options, &facts) : examine(&options, &facts);
}
