/*
 * airbearing timing: did simulated time follow wall time, and if not, whose fault was it?
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "config/yaml/text_file.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/timing/certificate.h"
#include "tools/airbearing/timing/show.h"

static const char usage[] =
    "usage: airbearing timing LOG [options]\n"
    "\n"
    "Compare simulated time with wall time in a recorded run: late frames and their causes.\n"
    "\n"
    "  --json               the figures as JSON instead of text\n"
    "  --html FILE          one HTML page with plots, without dependencies\n"
    "  --hgrm FILE          start errors in the percentile text of HdrHistogram\n"
    "  --trace FILE         frames, jobs and late frames for Perfetto or chrome://tracing\n"
    "  --certificate FILE   figures, the machine's guarantees, the doctor's findings right after "
    "the\n"
    "                       run, and hashes of log, scenario, model files and program\n"
    "  --verify FILE        make that certificate again from LOG and compare\n"
    "  --truth FILE         compare with FILE of airbearing stopwatch\n"
    "  --allow CAUSE=N      allow so many late frames of this cause (own, io, fault, unknown; "
    "default\n"
    "                       none); of switch and stolen, allow the time that so many took; may be\n"
    "                       given many times\n"
    "\n"
    "Time was kept when no frame was late by its own work, by waiting for a reply, by a page "
    "fault\n"
    "in locked memory or for no known reason; when simulated time did not fall behind wall time "
    "by\n"
    "more than 1 % of the run, or 50 ms where that is more, for whatever reason; when require:\n"
    "realtime was met, if given; when the run did not hang; and when the log proves it (it has "
    "every\n"
    "frame, its releases are on the grid, it agrees with its own report).  A percentile that the "
    "run\n"
    "is too short for is not shown.\n"
    "\n"
    "Exit: 0 kept (or verified); 1 not kept, or the certificate does not match; 2 the log or the\n"
    "certificate cannot be read; 64 usage.  A log that was cut off is read as far as it goes.\n";

enum { TRUTH_MAX = 1 << 29 }; /* bytes: weeks at ten pulses a second */

struct timing_options {
    const char *path, *html, *hgrm, *trace, *certificate, *verify, *external;
    bool json;
    struct figures_limits limits;
};

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing timing: %s \"%s\"; see airbearing timing --help\n", what, value);
    return EXIT_USAGE;
}

static int allow(struct timing_options *options, const char *value)
{
    const char *equals = strchr(value, '=');
    char *rest;
    for (int i = RT_CAUSE_NONE + 1; equals && i < RT_CAUSE_COUNT; i++) {
        const size_t size = strlen(rt_cause_name[i]);
        if ((size_t)(equals - value) != size || strncmp(value, rt_cause_name[i], size) != 0)
            continue;
        const long long count = strtoll(equals + 1, &rest, 10);
        if (*rest == '\0' && rest > equals + 1 && count >= 0) {
            options->limits.allowed[i] = (uint64_t)count;
            return 0;
        }
    }
    return usage_error("--allow needs a cause and a number, as in own=2, not", value);
}

static int take_option(struct timing_options *options, int option, const char *value)
{
    switch (option) {
    case 'j':
        options->json = true;
        return 0;
    case 'w':
        options->html = value;
        return 0;
    case 'g':
        options->hgrm = value;
        return 0;
    case 't':
        options->trace = value;
        return 0;
    case 'c':
        options->certificate = value;
        return 0;
    case 'v':
        options->verify = value;
        return 0;
    case 'x':
        options->external = value;
        return 0;
    case 'a':
        return allow(options, value);
    default:
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
}

static int read_options(int argc, char **argv, struct timing_options *options, bool *done)
{
    static const struct option table[] = {
        {"help", no_argument, NULL, 'h'},         {"json", no_argument, NULL, 'j'},
        {"html", required_argument, NULL, 'w'},   {"hgrm", required_argument, NULL, 'g'},
        {"trace", required_argument, NULL, 't'},  {"certificate", required_argument, NULL, 'c'},
        {"verify", required_argument, NULL, 'v'}, {"truth", required_argument, NULL, 'x'},
        {"allow", required_argument, NULL, 'a'},  {0}};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return EXIT_OK;
        }
        const int code = take_option(options, option, optarg);
        if (code)
            return code;
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    options->path = argv[optind];
    return EXIT_OK;
}

/* ---- files ----------------------------------------------------------------------------- */

static void print_hgrm(const struct figures *figures, FILE *out)
{
    percentiles_print_hgrm(
        figures->evidence->pace == RT_PACE_REAL ? &figures->start_error : &figures->busy, out);
}

static int refuse_file(const char *path, const char *why)
{
    fprintf(stderr, "airbearing timing: %s: %s\n", path, why);
    return EXIT_BAD_INPUT;
}

static int write_file(const char *path, const struct figures *figures,
                      void (*print)(const struct figures *, FILE *))
{
    if (!path)
        return 0;
    FILE *out = fopen(path, "we");
    if (!out)
        return refuse_file(path, strerror(errno));
    print(figures, out);
    const bool is_lost = ferror(out) != 0;
    return fclose(out) != 0 || is_lost ? refuse_file(path, "cannot be written") : 0;
}

static int write_certificate(const struct timing_options *options, const struct figures *figures,
                             struct io_mcap_reader *reader)
{
    if (!options->certificate)
        return 0;
    json_t *certificate = certificate_make(figures, reader, options->path, &options->limits);
    const int failure = certificate ? json_dump_file(certificate, options->certificate,
                                                     JSON_INDENT(2) | JSON_REAL_PRECISION(17))
                                    : -1;
    json_decref(certificate);
    return failure ? refuse_file(options->certificate, "the certificate cannot be written") : 0;
}

static int verify(const struct timing_options *options, const struct figures *figures,
                  struct io_mcap_reader *reader, json_t *given)
{
    json_t *made = certificate_make(figures, reader, options->path, &options->limits);
    if (!made)
        return refuse_file(options->path, strerror(errno));
    const int differences = certificate_compare(given, made);
    json_decref(made);
    if (differences > 0) {
        printf("verify: NO, %d things differ; this certificate is not of this log\n", differences);
        return EXIT_VERDICT_NO;
    }
    printf("verify: the certificate matches the log: %s: %s\n", figures->kept ? "kept" : "not kept",
           figures->verdict);
    return EXIT_OK;
}

static void print_figures(const struct timing_options *options, const struct figures *figures)
{
    if (!options->json) {
        show_text(figures, stdout);
        return;
    }
    json_t *object = show_json(figures);
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(object);
}

static int write_results(const struct timing_options *options, const struct figures *figures,
                         struct io_mcap_reader *reader, json_t *given)
{
    if (given)
        return verify(options, figures, reader, given);
    print_figures(options, figures);
    int code = write_file(options->html, figures, show_page);
    if (code == 0)
        code = write_file(options->hgrm, figures, print_hgrm);
    if (code == 0)
        code = write_file(options->trace, figures, show_trace);
    if (code == 0)
        code = write_certificate(options, figures, reader);
    return code ? code : figures->kept ? EXIT_OK : EXIT_VERDICT_NO;
}

/* ---- the stopwatch --------------------------------------------------------------------- */

static int read_truth(const char *path, struct external_clock *external)
{
    char line[CFG_ERROR_MAX], error[EVIDENCE_ERROR_MAX];
    char *text;
    size_t size;
    if (cfg_file_read(path, "stopwatch's file", TRUTH_MAX, &text, &size, line)) {
        fprintf(stderr, "%s\n", line);
        return EXIT_BAD_INPUT;
    }
    const int failure = size > TRUTH_MAX ? -1 : external_clock_parse(external, text, size, error);
    if (size > TRUTH_MAX)
        fprintf(stderr, "%s:1:1: larger than any stopwatch's file\n", path);
    else if (failure)
        fprintf(stderr, "%s:%s\n", path, error);
    free(text);
    return failure ? EXIT_BAD_INPUT : 0;
}

static int add_truth(const struct timing_options *options, struct figures *figures,
                     struct external_clock *external)
{
    char error[EVIDENCE_ERROR_MAX];
    if (!options->external)
        return 0;
    if (figures->evidence->pace != RT_PACE_REAL)
        return refuse_file(options->external,
                           "the run had no real pace; there is nothing to compare");
    const int code = read_truth(options->external, external);
    if (code)
        return code;
    if (!external_clock_compare(external, figures->evidence, error))
        return refuse_file(options->external, error);
    figures->external = external;
    return 0;
}

/* ---- the log --------------------------------------------------------------------------- */

static int judge(const struct timing_options *options, struct io_mcap_reader *reader, json_t *given)
{
    static struct evidence evidence;
    static struct figures figures;
    static struct external_clock external;
    char error[EVIDENCE_ERROR_MAX];
    int code;
    evidence_name_drives(&evidence, reader);
    const int failure = evidence_read(&evidence, reader, error);
    if (failure == -2) {
        fprintf(stderr, "%s\n", error);
        code = EXIT_BAD_INPUT;
    } else if (failure) {
        fprintf(stderr, "%s: %s\n", options->path, error);
        code = EXIT_BAD_INPUT;
    } else if (!figures_compute(&figures, &evidence, &options->limits)) {
        code = refuse_file(options->path, "no memory for its figures");
    } else {
        code = add_truth(options, &figures, &external);
        if (code == 0)
            code = write_results(options, &figures, reader, given);
    }
    figures_free(&figures);
    external_clock_free(&external);
    evidence_free(&evidence);
    return code;
}

/* A certificate also has the late frames that were allowed when it was made. */
static int read_certificate(struct timing_options *options, json_t **given)
{
    json_error_t error;
    if (!options->verify)
        return 0;
    *given = json_load_file(options->verify, 0, &error);
    if (!*given) {
        fprintf(stderr, "%s:%d:%d: %s\n", options->verify, error.line, error.column, error.text);
        return EXIT_BAD_INPUT;
    }
    return certificate_limits(*given, &options->limits)
               ? 0
               : refuse_file(options->verify, "the file is not a certificate of airbearing timing");
}

int command_timing(int argc, char **argv)
{
    struct timing_options options = {0};
    json_t *given = NULL;
    char error[EVIDENCE_ERROR_MAX];
    bool done = false;
    int code = read_options(argc, argv, &options, &done);
    if (code || done)
        return code;
    code = read_certificate(&options, &given);
    if (code == 0) {
        struct io_mcap_reader *reader = io_mcap_open(options.path, error);
        if (!reader)
            fprintf(stderr, "%s\n", error);
        code = reader ? judge(&options, reader, given) : EXIT_BAD_INPUT;
        if (reader)
            io_mcap_close(reader);
    }
    json_decref(given);
    return code;
}
