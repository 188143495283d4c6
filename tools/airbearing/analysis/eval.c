/*
 * airbearing eval: dynamics of a model at given states, one JSON line in and one out.
 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/model_file.h"
#include "config/scenario.h"
#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "rt/check.h"
#include "tools/airbearing/analysis/gravity_option.h"
#include "tools/airbearing/arguments.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing eval MODEL [options] < STATES\n"
    "\n"
    "Forward dynamics of a URDF or of a scenario's bodies: a line {\"q\":[],\"v\":[],\"tau\":[]} "
    "in,\n"
    "a line {\"a\":[]} out, with 17 significant digits.  Other keys are passed over.\n"
    "\n"
    "  --algorithm NAME   aba (articulated bodies, the default) or crba (composite-body mass\n"
    "                     matrix, factored)\n"
    "  --gravity X,Y,Z    m/s^2, world axes (default: a scenario's own, none in orbit; of a URDF\n"
    "                     0,0,-9.81)\n"
    "  --base BASE        of a URDF: fixed (default) welds the root link to the world, free lets\n"
    "                     it fly\n"
    "  --inverse          inverse dynamics: {\"q\",\"v\",\"a\"} in, {\"tau\"} out\n"
    "\n"
    "Coordinates: a free base first, q = x y z qw qx qy qz and v = wx wy wz vx vy vz in base "
    "axes,\n"
    "then the joints that move, in the order of the file; one that mimics another has none; then\n"
    "the modes of flexible bodies, body by body, with their modal forces in tau.  Of\n"
    "a URDF damping counts, friction and limits do not; of a scenario all that acts in a joint\n"
    "counts, nothing is held, and wheels are locked.  AIRBEARING_ISA=sse2, avx2 or avx512 asks "
    "for\n"
    "a kernel.\n"
    "Exit: 0 ok, 2 one line <stdin>:line:column: what is wrong, 64 usage.\n";

/* ---- options --------------------------------------------------------------------------- */

struct eval_options {
    const char *model;
    enum cfg_base base;
    double gravity[3];
    bool gravity_given;
    bool inverse, crba;
};

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing eval: %s \"%s\"; see airbearing eval --help\n", what, value);
    return EXIT_USAGE;
}

static int take_option(void *self, int option, char *value)
{
    struct eval_options *options = self;
    switch (option) {
    case 'a':
        options->crba = strcmp(value, "crba") == 0;
        return options->crba || strcmp(value, "aba") == 0
                   ? 0
                   : usage_error("--algorithm is aba or crba, not", value);
    case 'g':
        options->gravity_given = true;
        return gravity_option_parse(value, options->gravity)
                   ? 0
                   : usage_error("--gravity needs three numbers x,y,z, not", value);
    case 'b':
        options->base = strcmp(value, "fixed") == 0  ? CFG_BASE_FIXED
                        : strcmp(value, "free") == 0 ? CFG_BASE_FREE
                                                     : CFG_BASE_UNSAID;
        return options->base != CFG_BASE_UNSAID
                   ? 0
                   : usage_error("--base is fixed or free, not", value);
    case 'i':
        options->inverse = true;
        return 0;
    default:
        return EXIT_USAGE;
    }
}

/* 0 to continue, else the exit code; *done is set by --help. */
static int read_options(int argc, char **argv, struct eval_options *options, bool *done)
{
    static const struct option table[] = {
        {"algorithm", required_argument, NULL, 'a'},
        {"gravity", required_argument, NULL, 'g'},
        {"base", required_argument, NULL, 'b'},
        {"inverse", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    *options = (struct eval_options){0};
    const int code = arguments_read(argc, argv, table, usage, take_option, options, done);
    if (code || *done)
        return code;
    if (optind != argc - 1) {
        fputs(optind == argc ? "airbearing eval: which model? Name a URDF or a scenario\n"
                             : "airbearing eval: one model at a time\n",
              stderr);
        return EXIT_USAGE;
    }
    options->model = argv[optind];
    return 0;
}

/* ---- one state ------------------------------------------------------------------------- */

/* The kernel's side of the model: its order of coordinates, its scratch. */
struct eval_model {
    const struct cfg_model *model;
    struct dyn_input input;
    struct dyn_work *work;
    struct dyn_crba_work *crba;     /* NULL: articulated bodies */
    double *q, *v, *given, *answer; /* given, answer: tau and a, or with --inverse a and tau */
};

static int place_error(long line, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int place_error(long line, int column, const char *format, ...)
{
    char what[CFG_ERROR_MAX], error[CFG_ERROR_MAX] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    cfg_fail(&(struct cfg_complaint){"<stdin>", error}, NULL, (struct cfg_mark){(int)line, column},
             "%s", what);
    fprintf(stderr, "%s\n", error);
    return EXIT_BAD_INPUT;
}

/* Read the numbers of a key into the kernel's order. */
static int read_numbers(long line, const json_t *state, const char *key, const int *at, int count,
                        double *out)
{
    const json_t *row = json_object_get(state, key);
    if (row == NULL)
        return place_error(line, 1, "there is no \"%s\"", key);
    if (!json_is_array(row))
        return place_error(line, 1, "\"%s\" needs an array of %d numbers", key, count);
    if (json_array_size(row) != (size_t)count)
        return place_error(line, 1, "\"%s\" has %zu numbers, this model needs %d", key,
                           json_array_size(row), count);
    for (int k = 0; k < count; k++) {
        const json_t *number = json_array_get(row, (size_t)k);
        if (!json_is_number(number))
            return place_error(line, 1, "element %d of \"%s\" is not a number", k + 1, key);
        out[at[k]] = json_number_value(number);
    }
    return EXIT_OK;
}

/* The kernel normalizes quaternions; one that is far from unit length is an error. */
static int check_quaternions(long line, const struct eval_model *bench)
{
    const struct cfg_model *model = bench->model;
    for (int k = 0; k < model->joint_count; k++) {
        const struct cfg_model_joint *joint = &model->joints[k];
        const enum dyn_joint_type type = model->specs[joint->body].joint;
        if (type != DYN_JOINT_FREE && type != DYN_JOINT_SPHERICAL)
            continue;
        const int first = joint->q_first + (type == DYN_JOINT_FREE ? 3 : 0);
        const double length = sqrt(dyn_quat_square(dyn_quat_load(bench->q + model->q_at[first])));
        if (!(fabs(length - 1.0) <= 1e-6))
            return place_error(line, 1,
                               "the quaternion of \"%s\" (numbers %d to %d of \"q\") has length "
                               "%.9g, not 1",
                               joint->name, first + 1, first + 4, length);
    }
    return EXIT_OK;
}

static int print_answer(long line, const struct eval_model *bench, const char *key)
{
    const struct cfg_model *model = bench->model;
    for (int k = 0; k < model->nv; k++)
        if (!isfinite(bench->answer[k]))
            return place_error(line, 1, "the answer is too large for a number; check the state");
    printf("{\"%s\":[", key);
    for (int k = 0; k < model->nv; k++)
        printf("%s%.17g", k > 0 ? "," : "", bench->answer[model->v_at[k]]);
    puts("]}");
    return EXIT_OK;
}

/* Run the chosen algorithm. */
static void run_dynamics(struct eval_model *bench, bool inverse)
{
    const struct dyn_model *tree = bench->model->tree;
    const struct dyn_state state = {bench->q, bench->v};
    struct dyn_output output = {.a = bench->answer};
    if (inverse) {
        dyn_rnea(tree, &state, bench->given, &bench->input, bench->work, bench->answer);
        return;
    }
    bench->input.tau = bench->given;
    if (bench->crba != NULL)
        dyn_crba_forward(tree, &state, &bench->input, bench->crba, &output);
    else
        dyn_aba(tree, &state, &bench->input, bench->work, &output);
}

static int answer_state(long line, const json_t *state, bool inverse, struct eval_model *bench)
{
    const struct cfg_model *model = bench->model;
    int code = read_numbers(line, state, "q", model->q_at, model->nq, bench->q);
    if (!code)
        code = read_numbers(line, state, "v", model->v_at, model->nv, bench->v);
    if (!code)
        code =
            read_numbers(line, state, inverse ? "a" : "tau", model->v_at, model->nv, bench->given);
    if (!code)
        code = check_quaternions(line, bench);
    if (code)
        return code;
    run_dynamics(bench, inverse);
    return print_answer(line, bench, inverse ? "tau" : "a");
}

/* ---- all of them ----------------------------------------------------------------------- */

static int answer_line(long line, const char *text, size_t size, bool inverse,
                       struct eval_model *bench)
{
    json_error_t error;
    json_t *state =
        json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (state == NULL)
        return place_error(line, error.column > 0 ? error.column : 1, "JSON: %s", error.text);
    const int code = json_is_object(state)
                         ? answer_state(line, state, inverse, bench)
                         : place_error(line, 1, "a state is an object, {\"q\":[],\"v\":[],...}");
    json_decref(state);
    return code;
}

/* Flush line by line, so that a program on the other end of two pipes gets its answers. */
static int answer_all(bool inverse, struct eval_model *bench)
{
    char *text = NULL;
    size_t room = 0;
    int code = EXIT_OK;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (long line = 1; code == EXIT_OK; line++) {
        const ssize_t size = getline(&text, &room, stdin);
        if (size < 0)
            break;
        if (strspn(text, " \t\r\n") < (size_t)size)
            code = answer_line(line, text, (size_t)size, inverse, bench);
    }
    if (ferror(stdin)) {
        fputs("<stdin>: cannot be read\n", stderr);
        code = EXIT_BAD_INPUT;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("airbearing eval: the answers cannot be written\n", stderr);
        code = EXIT_BAD_INPUT;
    }
    free(text);
    return code;
}

static void *alloc_aligned(size_t size)
{
    void *mem = aligned_alloc(64, (size + 64) / 64 * 64);
    if (mem == NULL) {
        fprintf(stderr,
                "airbearing eval: no memory for %zu MiB; close other programs, or use "
                "--algorithm aba\n",
                size >> 20);
        exit(EXIT_BAD_INPUT);
    }
    return mem;
}

static int eval(const struct eval_options *options, const struct cfg_model *model)
{
    const size_t nq = (size_t)model->nq * sizeof(double), nv = (size_t)model->nv * sizeof(double);
    struct eval_model bench = {
        .model = model,
        .work = dyn_work_place(model->tree, alloc_aligned(dyn_work_size(model->tree))),
        .q = alloc_aligned(nq),
        .v = alloc_aligned(nv),
        .given = alloc_aligned(nv),
        .answer = alloc_aligned(nv),
    };
    if (options->crba)
        bench.crba =
            dyn_crba_work_place(model->tree, alloc_aligned(dyn_crba_work_size(model->tree)));
    memcpy(bench.input.gravity, options->gravity_given ? options->gravity : model->gravity,
           sizeof bench.input.gravity);
    const int code = answer_all(options->inverse, &bench);
    free(bench.work);
    free(bench.crba);
    free(bench.q);
    free(bench.v);
    free(bench.given);
    free(bench.answer);
    return code;
}

int command_eval(int argc, char **argv)
{
    struct eval_options options;
    struct cfg_model *model;
    char error[CFG_ERROR_MAX];
    bool done = false;
    int code = read_options(argc, argv, &options, &done);
    if (code || done)
        return code;
    if (cfg_model_load(options.model, options.base, &model, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    code = eval(&options, model);
    cfg_model_free(model);
    return code;
}
