/*
 * airbearing modes: natural frequencies and damping of a model about a point.
 *
 * Tested by tests/scenario/commands/test_linear.py and test_model_texts.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/analysis/linearize.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "tools/airbearing/analysis/eigen.h"
#include "tools/airbearing/analysis/operating_point.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing modes MODEL [options]\n"
    "\n"
    "Modes of a URDF or of a scenario's bodies in the frozen geometry of a point: eigenvalues s "
    "of\n"
    "the matrix A that linearize prints, slowest first.\n"
    "\n"
    "  oscillating  natural frequency |s| / 2 pi in Hz and damping ratio -Re s / |s|\n"
    "  decaying     a real eigenvalue below zero, as of an overdamped joint: damping 1\n"
    "  growing      unstable; a real eigenvalue above zero has damping -1\n"
    "  rigid        zero eigenvalues: counted, not listed\n"
    "\n"
    "Without damping and at rest frequencies are good to rounding.  A base that turns has its\n"
    "deviation in axes that turn along, which shows its rate among the modes.  Names of the\n"
    "coordinates are those of linearize; shapes of a free-flying vehicle are in its free-falling "
    "frame.\n"
    "Away from an equilibrium the modes are those of the deviation from the motion that follows,\n"
    "while it is near the point.\n"
    "\n"
    "Flexible bodies bend, with the frequencies that a finite-element model has in the same\n"
    "geometry: locked joints clamp, others are free.  A body that starts bent returns;\n"
    "\"tau\": \"hold\" in --at keeps it there.\n";

enum { SHOWN_MAX = 4 }; /* components of a shape in a line */

/* ---- the equation --------------------------------------------------------------------------- */

static double *take_matrix(const struct operating_point *point)
{
    const size_t nv = (size_t)point->model->nv;
    return operating_point_alloc(nv * nv * sizeof(double));
}

/* Keep the rows and columns of the free velocities, in the order of the file. */
static double *free_part(const struct operating_point *point, const double *X)
{
    const size_t nv = (size_t)point->model->nv, n = (size_t)point->count;
    double *part = operating_point_alloc(n * n * sizeof *part);
    for (int r = 0; r < point->count; r++)
        for (int c = 0; c < point->count; c++)
            part[(size_t)r * n + (size_t)c] = X[(size_t)operating_point_v_index(point, r) * nv +
                                                (size_t)operating_point_v_index(point, c)];
    return part;
}

/* The forces whose derivative is K: those that hold the point, and those that accelerate it. */
static double *take_forces(const struct operating_point *point, const double *a, const double *M)
{
    const struct dyn_model *tree = point->model->tree;
    const struct dyn_state state = operating_point_state(point);
    const size_t nv = (size_t)point->model->nv;
    double *still = operating_point_alloc(nv * sizeof *still),
           *tau = operating_point_alloc(nv * sizeof *tau);
    double *force = operating_point_alloc((size_t)point->count * sizeof *force);
    struct dyn_work *work = dyn_work_place(tree, operating_point_alloc(dyn_work_size(tree)));

    for (size_t k = 0; k < nv; k++)
        still[k] = 0.0;
    dyn_rnea(tree, &state, still, &point->input, work, tau);
    for (int k = 0; k < point->count; k++) {
        const size_t at = (size_t)operating_point_v_index(point, k);
        force[k] = fabs(tau[at]);
        for (size_t c = 0; c < nv; c++)
            force[k] += fabs(M[at * nv + c] * a[c]);
    }
    free(still);
    free(tau);
    free(work);
    return force;
}

static double *take_acceleration(const struct operating_point *point)
{
    const struct dyn_model *tree = point->model->tree;
    const struct dyn_state state = operating_point_state(point);
    struct dyn_output output = {
        .a = operating_point_alloc((size_t)point->model->nv * sizeof(double))};
    struct dyn_work *work = dyn_work_place(tree, operating_point_alloc(dyn_work_size(tree)));
    dyn_aba(tree, &state, &point->input, work, &output);
    free(work);
    return output.a;
}

/* M, and the derivatives of inverse dynamics by coordinates and velocities. */
static void take_slopes(const struct operating_point *point, const double *a, double *M,
                        double *tau_q, double *tau_v)
{
    const struct dyn_model *tree = point->model->tree;
    const struct dyn_state state = operating_point_state(point);
    struct dyn_rnea_derivative slope = {tau_q, tau_v, M};
    struct dyn_linear_work *linear =
        dyn_linear_work_place(tree, operating_point_alloc(dyn_linear_work_size(tree)));
    dyn_rnea_differentiate(tree, &state, a, &point->input, linear, &slope);
    free(linear);
}

/* True when the velocity of this joint's body has no effect: it flies in the world, and no axis
 * is held. */
static bool is_adrift(const struct operating_point *point, const struct cfg_model_joint *joint)
{
    const struct dyn_body_spec *spec = &point->model->specs[joint->body];
    if (spec->joint != DYN_JOINT_FREE || spec->parent >= 0)
        return false;
    for (int k = 0; k < 6; k++)
        if (point->held[point->model->v_at[joint->v_first + k]])
            return false;
    return true;
}

/* True when nothing is fixed to the world: gravity accelerates all bodies equally. */
static bool all_adrift(const struct operating_point *point)
{
    const struct cfg_model *model = point->model;
    int roots = 0;
    for (int k = 0; k < model->body_count; k++)
        roots += model->specs[k].parent < 0;
    for (int j = 0; j < model->joint_count; j++)
        roots -= is_adrift(point, &model->joints[j]);
    return roots == 0;
}

/*
 * The same point in a frame that moves with the flying bodies, and falls freely where all of them
 * do.  No eigenvalue changes: v less the rotation of the travel replaces v, and gravity only
 * couples rotation to travel, on which nothing else depends.  Otherwise the rounding errors of
 * orbital speed and gravity would hide slow rates.
 */
static struct operating_point travel_along(const struct operating_point *point)
{
    const struct cfg_model *model = point->model;
    const size_t nv = (size_t)model->nv;
    struct operating_point along = *point;
    along.v = operating_point_alloc(nv * sizeof *along.v);
    memcpy(along.v, point->v, nv * sizeof *along.v);
    for (int j = 0; j < model->joint_count; j++)
        for (int k = 3; k < 6 && is_adrift(point, &model->joints[j]); k++)
            along.v[model->v_at[model->joints[j].v_first + k]] = 0.0;
    if (all_adrift(point))
        memset(along.input.gravity, 0, sizeof along.input.gravity);
    return along;
}

/* The matrix A of linearize, [W 1; a_q a_v], with a_q = -M^-1 tau_q and a_v = -M^-1 tau_v. */
static struct eigen_problem equation(const struct operating_point *point)
{
    const struct operating_point along = travel_along(point);
    double *M = take_matrix(point), *tau_q = take_matrix(point), *tau_v = take_matrix(point);
    double *W = take_matrix(point), *a = take_acceleration(&along);

    take_slopes(&along, a, M, tau_q, tau_v);
    dyn_linear_drift(point->model->tree, along.v, W);
    const struct eigen_problem problem = {
        .count = point->count,
        .M = free_part(point, M),
        .W = free_part(point, W),
        .C = free_part(point, tau_v),
        .K = free_part(point, tau_q),
        .force = take_forces(&along, a, M),
    };
    free(along.v);
    free(M);
    free(tau_q);
    free(tau_v);
    free(W);
    free(a);
    return problem;
}

/* ---- output -------------------------------------------------------------------------------- */

static double frequency_of(const struct eigen_mode *mode)
{
    return hypot(mode->re, mode->im) / (2.0 * M_PI);
}

static double damping_of(const struct eigen_mode *mode)
{
    return mode->re == 0.0 ? 0.0 : -mode->re / hypot(mode->re, mode->im);
}

/* True when the growth of a mode is beyond its rounding error. */
static bool is_growing(const struct eigen_mode *mode)
{
    return mode->re > mode->doubt;
}

static const char *kind_of(const struct eigen_mode *mode)
{
    return is_growing(mode) ? "growing" : mode->im > 0.0 ? "oscillating" : "decaying";
}

static int count_growing(const struct eigen *eigen)
{
    int count = 0;
    for (int k = 0; k < eigen->mode_count; k++)
        count += is_growing(&eigen->modes[k]);
    return count;
}

static double largest_free(const struct operating_point *point, const double *a)
{
    double most = 0.0;
    for (int k = 0; k < point->count; k++)
        most = fmax(most, fabs(a[operating_point_v_index(point, k)]));
    return most;
}

static void print_json(const struct operating_point *point, const struct eigen *eigen,
                       const double *a)
{
    struct matrix_label *names = operating_point_alloc((size_t)point->count * sizeof *names);
    for (int k = 0; k < point->count; k++)
        names[k] = operating_point_name(point, POINT_POSITION, k);
    fputs("{\"modes\":[", stdout);
    for (int m = 0; m < eigen->mode_count; m++) {
        const struct eigen_mode *mode = &eigen->modes[m];
        const double value[2] = {mode->re, mode->im};
        printf("%s{\"frequency_hz\":%.17g,\"damping\":%.17g,\"kind\":\"%s\",\"eigenvalue\":",
               m > 0 ? "," : "", frequency_of(mode), damping_of(mode), kind_of(mode));
        matrix_json_row(value, 2);
        fputs(",\"shape\":", stdout);
        const struct table shape = {NULL, point->count, 2, NULL, NULL, mode->shape};
        matrix_json(&shape);
        putchar('}');
    }
    printf("],\"rigid\":%d,\"zero_eigenvalues\":%d,\"growing\":%d,\"x\":", eigen->motions,
           eigen->zeros, count_growing(eigen));
    matrix_json_labels(names, point->count);
    printf(",\"equilibrium\":{\"largest\":%.17g}}\n", largest_free(point, a));
    free(names);
}

/* The largest component of a shape that is not printed yet; -1: the rest is negligible. */
static int next_component(const struct eigen_mode *mode, int count, double below)
{
    int best = -1;
    double most = 0.05;
    for (int k = 0; k < count; k++) {
        const double size = hypot(mode->shape[2 * k], mode->shape[2 * k + 1]);
        if (size < below && size > most) {
            most = size;
            best = k;
        }
    }
    return best;
}

/* With a sign: components that move against the first are negative. */
static void print_shape(const struct operating_point *point, const struct eigen_mode *mode)
{
    double below = HUGE_VAL;
    for (int shown = 0; shown < SHOWN_MAX; shown++) {
        const int k = next_component(mode, point->count, below);
        if (k < 0)
            break;
        below = hypot(mode->shape[2 * k], mode->shape[2 * k + 1]);
        printf("%s%s %.2f", shown > 0 ? ", " : "",
               operating_point_name(point, POINT_POSITION, k).text,
               mode->shape[2 * k] < 0.0 ? -below : below);
    }
    puts("");
}

static void print_table(const struct operating_point *point, const struct eigen *eigen,
                        const double *a)
{
    if (eigen->mode_count > 0)
        printf("%14s %10s  %-11s  %s\n", "frequency Hz", "damping", "kind", "what moves");
    for (int m = 0; m < eigen->mode_count; m++) {
        const struct eigen_mode *mode = &eigen->modes[m];
        const double damping = damping_of(mode); /* a rounding error would print as -0 */
        printf("%14.7g %10.5f  %-11s  ", frequency_of(mode), fabs(damping) < 5e-6 ? 0.0 : damping,
               kind_of(mode));
        print_shape(point, mode);
    }
    printf("%srigid-body motions: %d (%d zero eigenvalues)\n", eigen->mode_count > 0 ? "\n" : "",
           eigen->motions, eigen->zeros);
    printf("growing modes: %d%s\n", count_growing(eigen),
           count_growing(eigen) > 0 ? ", the point is unstable" : "");
    printf("largest acceleration at the point: %.5g\n", largest_free(point, a));
}

static bool is_finite(const struct eigen_problem *problem)
{
    const size_t entries = (size_t)problem->count * (size_t)problem->count;
    double sum = 0.0; /* NaN or infinite when any entry is */
    for (size_t k = 0; k < entries; k++)
        sum +=
            0.0 * problem->M[k] + 0.0 * problem->W[k] + 0.0 * problem->C[k] + 0.0 * problem->K[k];
    return isfinite(sum);
}

static int print_error_line(const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    return EXIT_BAD_INPUT;
}

static int modes(const struct operating_point_options *options, const struct operating_point *point)
{
    const char *where = options->at != NULL ? options->at : options->model;
    double *a = take_acceleration(point);
    struct eigen_problem problem = equation(point);
    struct eigen eigen = {0};
    const char *wrong = is_finite(&problem)
                            ? eigen_solve(&problem, &eigen)
                            : "the answer is too large for a number; check the point";
    int code = EXIT_OK;
    if (wrong != NULL)
        code = print_error_line(where, wrong);
    else
        (options->json ? print_json : print_table)(point, &eigen, a);
    if (fflush(stdout) != 0 || ferror(stdout))
        code = print_error_line("airbearing modes", "the answer cannot be written");
    eigen_free(&eigen);
    free(problem.M);
    free(problem.W);
    free(problem.C);
    free(problem.K);
    free(problem.force);
    free(a);
    return code;
}

int command_modes(int argc, char **argv)
{
    struct operating_point_options options;
    struct operating_point point;
    bool done;
    int code = operating_point_read_options(argc, argv, usage, &options, &done);
    if (code || done)
        return code;
    code = operating_point_load(&options, &point);
    if (code)
        return code;
    code = modes(&options, &point);
    operating_point_free(&point);
    return code;
}
