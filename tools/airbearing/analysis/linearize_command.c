/*
 * airbearing linearize: the linear model dx/dt = A x + B u, y = C x + D u about a point.
 *
 * Tested by tests/scenario/commands/test_linear.py and test_model_texts.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dynamics/analysis/linearize.h"
#include "tools/airbearing/analysis/operating_point.h"
#include "tools/airbearing/command.h"

static const char usage[] =
    "usage: airbearing linearize MODEL [options]\n"
    "\n"
    "The motion of a URDF or of a scenario's bodies near a point, exact to first order:\n"
    "dx/dt = A x + B u, y = C x + D u.\n"
    "\n"
    "  x  deviations of all coordinates, then of all velocities, from the motion through the "
    "point\n"
    "  u  deviations of the joint forces\n"
    "  y  x again, then the deviations of all accelerations dv/dt\n"
    "\n"
    "JOINT.q, .v, .tau and .a are a joint's coordinate, velocity, force and acceleration; a "
    "number\n"
    "after them counts those of a joint that has several.  Of a free base, all in its own axes:\n"
    "attitude error .rx .ry .rz (rad, small turns) and travel .x .y .z; velocities .wx .. .vz;\n"
    "moment and force .mx .. .fz; accelerations .dwx .. .dvz.  A ball has the turning half of "
    "them.\n"
    "BODY.eta1, .xi1, .force1 and .dxi1 are coordinate, rate, force and acceleration of the first\n"
    "mode of a flexible body.\n"
    "Friction and limits of a URDF do not count.  Effectors do nothing: wheels and rotors are "
    "locked,\nthere is no drag, thrust or ground contact; in orbit there is no gravity.\n";

/* All four matrices as one: [A B; C D]. */
struct model {
    int count, inputs, outputs; /* of x, u, y */
    struct matrix_label *x, *u, *y;
    double *A, *B, *C, *D;
    double *a; /* of the point itself */
};

static double *take_matrix(int rows, int columns)
{
    const size_t count = (size_t)rows * (size_t)columns;
    double *matrix = operating_point_alloc(count * sizeof *matrix);
    for (size_t k = 0; k < count; k++)
        matrix[k] = 0.0;
    return matrix;
}

static struct matrix_label *take_names(int count)
{
    return operating_point_alloc((size_t)count * sizeof(struct matrix_label));
}

/* Copy the rows and columns of the free velocities into a larger matrix. */
static void put_block(const struct operating_point *point, const double *from, double *to,
                      int stride, int row, int column)
{
    const size_t nv = (size_t)point->model->nv;
    for (int r = 0; r < point->count; r++)
        for (int c = 0; c < point->count; c++)
            to[(size_t)(row + r) * (size_t)stride + (size_t)(column + c)] =
                from[(size_t)operating_point_v_index(point, r) * nv +
                     (size_t)operating_point_v_index(point, c)];
}

static void put_ones(double *to, int count, int stride, int row, int column)
{
    for (int k = 0; k < count; k++)
        to[(size_t)(row + k) * (size_t)stride + (size_t)(column + k)] = 1.0;
}

static void name_all(const struct operating_point *point, struct model *model)
{
    const int n = point->count;
    for (int k = 0; k < n; k++) {
        model->x[k] = model->y[k] = operating_point_name(point, POINT_POSITION, k);
        model->x[n + k] = model->y[n + k] = operating_point_name(point, POINT_VELOCITY, k);
        model->u[k] = operating_point_name(point, POINT_FORCE, k);
        model->y[2 * n + k] = operating_point_name(point, POINT_ACCELERATION, k);
    }
}

static struct model take_model(const struct operating_point *point)
{
    const int n = point->count;
    struct model model = {
        .count = 2 * n,
        .inputs = n,
        .outputs = 3 * n,
        .x = take_names(2 * n),
        .u = take_names(n),
        .y = take_names(3 * n),
        .A = take_matrix(2 * n, 2 * n),
        .B = take_matrix(2 * n, n),
        .C = take_matrix(3 * n, 2 * n),
        .D = take_matrix(3 * n, n),
        .a = take_matrix(n, 1),
    };
    name_all(point, &model);
    return model;
}

static void free_model(struct model *model)
{
    void *each[] = {model->x, model->u, model->y, model->A, model->B, model->C, model->D, model->a};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++)
        free(each[k]);
}

/* A = [drift 1; a_q a_v], B = [0; a_tau], C = [1; a_q a_v], D = [0; a_tau] */
static void fill_model(const struct operating_point *point, const struct dyn_linear *linear,
                       const double *drift, struct model *model)
{
    const int n = point->count;
    put_block(point, drift, model->A, 2 * n, 0, 0);
    put_ones(model->A, n, 2 * n, 0, n);
    put_block(point, linear->a_q, model->A, 2 * n, n, 0);
    put_block(point, linear->a_v, model->A, 2 * n, n, n);
    put_block(point, linear->a_tau, model->B, n, n, 0);
    put_ones(model->C, 2 * n, 2 * n, 0, 0);
    put_block(point, linear->a_q, model->C, 2 * n, 2 * n, 0);
    put_block(point, linear->a_v, model->C, 2 * n, 2 * n, n);
    put_block(point, linear->a_tau, model->D, n, 2 * n, 0);
    for (int k = 0; k < n; k++)
        model->a[k] = linear->a[operating_point_v_index(point, k)];
}

static void solve(const struct operating_point *point, struct model *model)
{
    const struct dyn_model *tree = point->model->tree;
    const struct dyn_state state = operating_point_state(point);
    const int nv = point->model->nv;
    struct dyn_linear_work *work =
        dyn_linear_work_place(tree, operating_point_alloc(dyn_linear_work_size(tree)));
    struct dyn_linear linear = {take_matrix(nv, 1), take_matrix(nv, nv), take_matrix(nv, nv),
                                take_matrix(nv, nv)};
    double *drift = take_matrix(nv, nv);

    dyn_linearize(tree, &state, &point->input, work, &linear);
    dyn_linear_drift(tree, point->v, drift);
    fill_model(point, &linear, drift, model);
    void *each[] = {work, linear.a, linear.a_q, linear.a_v, linear.a_tau, drift};
    for (size_t k = 0; k < sizeof each / sizeof *each; k++)
        free(each[k]);
}

/* ---- output ------------------------------------------------------------------------------ */

static int largest(const double *list, int count)
{
    int at = 0;
    for (int k = 1; k < count; k++)
        at = fabs(list[k]) > fabs(list[at]) ? k : at;
    return at;
}

static bool is_finite(const struct model *model)
{
    double sum = 0.0; /* NaN or infinite when any entry is */
    for (int k = 0; k < model->outputs * model->count; k++)
        sum += 0.0 * model->C[k];
    for (int k = 0; k < model->outputs * model->inputs; k++)
        sum += 0.0 * model->D[k];
    for (int k = 0; k < model->inputs; k++)
        sum += 0.0 * model->a[k];
    return isfinite(sum);
}

static void print_json(const struct model *model, const struct table tables[4])
{
    static const char *const keys[] = {"A", "B", "C", "D"};
    putchar('{');
    for (int k = 0; k < 4; k++) {
        printf("\"%s\":", keys[k]);
        matrix_json(&tables[k]);
        putchar(',');
    }
    fputs("\"x\":", stdout);
    matrix_json_labels(model->x, model->count);
    fputs(",\"u\":", stdout);
    matrix_json_labels(model->u, model->inputs);
    fputs(",\"y\":", stdout);
    matrix_json_labels(model->y, model->outputs);
    fputs(",\"equilibrium\":{\"acceleration\":", stdout);
    matrix_json_row(model->a, model->inputs);
    printf(",\"largest\":%.17g}}\n",
           model->inputs > 0 ? fabs(model->a[largest(model->a, model->inputs)]) : 0.0);
}

static void print_tables(const struct model *model, const struct table tables[4])
{
    const int n = model->inputs;
    printf("%d states x, %d inputs u, %d outputs y\n", model->count, n, model->outputs);
    if (n > 0) {
        const int at = largest(model->a, n);
        printf("largest acceleration at the point: %.5g, %s\n", model->a[at],
               model->y[2 * n + at].text);
    }
    for (int k = 0; k < 4 && n > 0; k++) {
        puts("");
        matrix_print(&tables[k]);
    }
}

static int print(const struct operating_point_options *options, const struct model *model)
{
    const int n = model->count, inputs = model->inputs, outputs = model->outputs;
    const struct table tables[4] = {
        {"A: dx/dt from x", n, n, model->x, model->x, model->A},
        {"B: dx/dt from u", n, inputs, model->x, model->u, model->B},
        {"C: y from x", outputs, n, model->y, model->x, model->C},
        {"D: y from u", outputs, inputs, model->y, model->u, model->D},
    };
    if (!is_finite(model)) {
        fprintf(stderr, "%s: the answer is too large for a number; check the point\n",
                options->at != NULL ? options->at : options->model);
        return EXIT_BAD_INPUT;
    }
    (options->json ? print_json : print_tables)(model, tables);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("airbearing linearize: the answer cannot be written\n", stderr);
        return EXIT_BAD_INPUT;
    }
    return EXIT_OK;
}

int command_linearize(int argc, char **argv)
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
    struct model model = take_model(&point);
    solve(&point, &model);
    code = print(&options, &model);
    free_model(&model);
    operating_point_free(&point);
    return code;
}
