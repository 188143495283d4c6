/*
 * Reads a model and states with agreed accelerations from standard input, prints the largest
 * relative error of forward dynamics and of dyn_rnea(), each against the largest number of its
 * state.
 *
 *      agree aba|crba
 *
 *      bodies N            then N lines: parent joint axis[3] xyz[3] quat[4] mass center[3]
 *                          inertia[6]
 *      states N gx gy gz   then N lines: q[nq] v[nv] tau[nv] a[nv]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/crba.h"
#include "dynamics/rnea.h"

struct answer {
    double *q, *v, *tau, *a;
};

static void stop(const char *why)
{
    fprintf(stderr, "agree: %s\n", why);
    exit(2);
}

static void *take(size_t size)
{
    void *mem = aligned_alloc(64, (size + 63) / 64 * 64);
    if (mem == NULL)
        stop("no memory");
    return mem;
}

static void read_numbers(int count, double *e)
{
    for (int k = 0; k < count; k++)
        if (scanf("%lf", &e[k]) != 1)
            stop("a number is missing");
}

static void read_body(struct dyn_body_spec *spec)
{
    int parent, joint;
    if (scanf("%d %d", &parent, &joint) != 2)
        stop("a body is missing");
    *spec = (struct dyn_body_spec){.parent = parent, .joint = (enum dyn_joint_type)joint};
    read_numbers(3, spec->axis);
    read_numbers(3, spec->place_xyz);
    read_numbers(4, spec->place_quat);
    read_numbers(1, &spec->mass);
    read_numbers(3, spec->center);
    read_numbers(6, spec->inertia);
}

static struct dyn_model *read_model(void)
{
    int count, body;
    if (scanf(" bodies %d", &count) != 1 || count < 1)
        stop("bodies expected");
    struct dyn_body_spec *specs = take((size_t)count * sizeof *specs);
    for (int i = 0; i < count; i++)
        read_body(&specs[i]);
    const char *flaw = dyn_model_flaw(specs, count, &body);
    if (flaw != NULL)
        stop(flaw);
    struct dyn_model *model = dyn_model_place(specs, count, take(dyn_model_size(specs, count)));
    free(specs);
    return model;
}

static double relative_error(int count, const double *want, const double *got)
{
    double scale = 0.0, error = 0.0;
    for (int k = 0; k < count; k++) {
        scale = fmax(scale, fabs(want[k]));
        error = isfinite(got[k]) ? fmax(error, fabs(want[k] - got[k])) : (double)INFINITY;
    }
    return error / scale;
}

static int use_crba(int argc, char **argv)
{
    const int crba = argc == 2 && strcmp(argv[1], "crba") == 0;
    if (!crba && (argc != 2 || strcmp(argv[1], "aba") != 0))
        stop("aba or crba expected");
    return crba;
}

int main(int argc, char **argv)
{
    const int crba = use_crba(argc, argv);
    struct dyn_model *model = read_model();
    struct dyn_work *work = dyn_work_place(model, take(dyn_work_size(model)));
    struct dyn_crba_work *mass = dyn_crba_work_place(model, take(dyn_crba_work_size(model)));
    const size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    struct answer is = {take(nq * 8), take(nv * 8), take(nv * 8), take(nv * 8)};
    struct dyn_output output = {take(nv * 8)};
    struct dyn_input input = {.tau = is.tau};
    double forward = 0.0, backward = 0.0, *tau = take(nv * 8);
    int states;

    if (scanf(" states %d", &states) != 1 || states < 1)
        stop("states expected");
    read_numbers(3, input.gravity);
    for (int k = 0; k < states; k++) {
        const struct dyn_state state = {is.q, is.v};
        read_numbers((int)nq, is.q);
        read_numbers((int)nv, is.v);
        read_numbers((int)nv, is.tau);
        read_numbers((int)nv, is.a);
        if (crba)
            dyn_crba_forward(model, &state, &input, mass, &output);
        else
            dyn_aba(model, &state, &input, work, &output);
        dyn_rnea(model, &state, is.a, &input, work, tau);
        forward = fmax(forward, relative_error((int)nv, is.a, output.a));
        backward = fmax(backward, relative_error((int)nv, is.tau, tau));
    }
    printf("%.3g %.3g\n", forward, backward);
    free(model), free(work), free(is.q), free(is.v), free(is.tau), free(is.a), free(output.a);
    free(tau), free(mass);
    return 0;
}
