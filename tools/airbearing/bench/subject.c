#include "tools/airbearing/bench/subject.h"
#include "config/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/isa.h"
#include "dynamics/kernel/link_tree.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "tools/airbearing/bench/builtin_models.h"
#include "tools/airbearing/bench/random.h"

static const double gravity = 9.81;

void *subject_room(size_t size)
{
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    return mem;
}

static double *take_numbers(const struct subject *subject, int rows)
{
    return subject_room((size_t)rows * (size_t)subject->state_count * sizeof(double));
}

/* ---- states ---- */

static void fill_quaternions(const struct dyn_model *tree, uint64_t *random, double *q)
{
    for (int i = 0; i < tree->body_count; i++) {
        const enum dyn_joint_type joint = tree->spec[i].joint;
        if (joint == DYN_JOINT_SPHERICAL)
            random_unit(random, q + tree->q_index[i], 4);
        if (joint == DYN_JOINT_FREE)
            random_unit(random, q + tree->q_index[i] + 3, 4);
    }
}

/* Deflections that are small for a beam: the highest of many modes has the shortest waves. */
static void fill_modes(const struct dyn_model *tree, uint64_t *random, double *q, double *v)
{
    for (int i = 0; i < tree->body_count; i++) {
        const int modes = dyn_model_modes(tree, i);
        for (int k = 0; k < modes; k++) {
            q[dyn_model_eta_index(tree, i) + k] = 0.02 / (modes * modes) * random_number(random);
            v[dyn_model_xi_index(tree, i) + k] = 0.2 / (modes * modes) * random_number(random);
        }
    }
}

static void fill_state(struct subject *subject, int state)
{
    uint64_t random = (uint64_t)state << 32;
    double *q = subject->q + state * subject->nq;
    double *v = subject->v + state * subject->nv, *tau = subject->tau + state * subject->nv;
    for (int k = 0; k < subject->nq; k++)
        q[k] = 3.0 * random_number(&random);
    for (int k = 0; k < subject->nv; k++) {
        v[k] = random_number(&random);
        tau[k] = 10.0 * random_number(&random);
    }
    fill_quaternions(subject->tree, &random, q);
    fill_modes(subject->tree, &random, q, v);
}

static double *turn_to_rows(const struct subject *subject, const double *states, int count)
{
    double *rows = take_numbers(subject, count);
    for (int state = 0; state < subject->state_count; state++)
        for (int k = 0; k < count; k++)
            rows[k * subject->state_count + state] = states[state * count + k];
    return rows;
}

static void fill_states(struct subject *subject)
{
    subject->q = take_numbers(subject, subject->nq);
    subject->v = take_numbers(subject, subject->nv);
    subject->tau = take_numbers(subject, subject->nv);
    subject->a = take_numbers(subject, subject->nv);
    for (int state = 0; state < subject->state_count; state++)
        fill_state(subject, state);
    subject->rows = (struct dyn_batch){
        .count = subject->state_count,
        .stride = (size_t)subject->state_count,
        .q = turn_to_rows(subject, subject->q, subject->nq),
        .v = turn_to_rows(subject, subject->v, subject->nv),
        .tau = turn_to_rows(subject, subject->tau, subject->nv),
        .gravity = {0.0, 0.0, -gravity},
    };
}

/* ---- set-up ---- */

static void open_tree(struct subject *subject, struct dyn_model *tree)
{
    subject->tree = tree;
    subject->nq = dyn_model_nq(tree);
    subject->nv = dyn_model_nv(tree);
    subject->link_count = tree->link_count;
    subject->work = dyn_work_place(tree, subject_room(dyn_work_size(tree)));
    subject->batch_work = NULL;
    if (tree->mimic_joint_count == 0 && tree->modal_count == 0)
        subject->batch_work = dyn_batch_work_place(tree, subject_room(dyn_batch_work_size(tree)));
    fill_states(subject);
}

/* The file's name without its folder and its suffix. */
static void copy_name(struct subject *subject, const char *path)
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(subject->name, sizeof subject->name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(subject->name, '.');
    if (dot != NULL && dot != subject->name)
        *dot = '\0';
}

static int load_model(struct subject *subject, const struct subject_source *source,
                      char error[CFG_ERROR_MAX])
{
    const int failure = cfg_model_load(source->name, source->base, &subject->file, error);
    if (failure)
        return failure;
    copy_name(subject, source->name);
    open_tree(subject, subject->file->tree);
    return 0;
}

static int make_builtin(struct subject *subject, const char *name, char error[CFG_ERROR_MAX])
{
    struct builtin_model made;
    enum dyn_isa isa;
    if (!cfg_isa(&isa, error))
        return -EINVAL;
    if (!builtin_model_create(name, &made)) {
        (void)snprintf(error, CFG_ERROR_MAX,
                       "there is no made model \"%s\"; there are arm7, spacecraft22, chain1 to "
                       "chain%d, and rigid16x4, ruthless16x4 and consistent16x4 of any number of "
                       "beams and 1 to %d modes",
                       name, BUILTIN_CHAIN_MAX, BUILTIN_MODES_MAX);
        return -EINVAL;
    }
    subject->file = NULL;
    (void)snprintf(subject->name, sizeof subject->name, "%s", name);
    open_tree(subject, dyn_model_place(made.specs, made.body_count,
                                       subject_room(dyn_model_size(made.specs, made.body_count))));
    dyn_model_use_isa(subject->tree, isa);
    builtin_model_free(&made);
    return 0;
}

int subject_open(struct subject *subject, const struct subject_source *source, int state_count,
                 char error[CFG_ERROR_MAX])
{
    subject->state_count = state_count;
    return source->is_made ? make_builtin(subject, source->name, error)
                           : load_model(subject, source, error);
}

void subject_close(struct subject *subject)
{
    free(subject->work);
    free(subject->batch_work);
    free(subject->q);
    free(subject->v);
    free(subject->tau);
    free(subject->a);
    free((void *)subject->rows.q);
    free((void *)subject->rows.v);
    free((void *)subject->rows.tau);
    if (subject->file != NULL)
        cfg_model_free(subject->file);
    else
        free(subject->tree);
}

/* ---- calls ---- */

static struct dyn_state state_of(const struct subject *subject, int state)
{
    return (struct dyn_state){.q = subject->q + state * subject->nq,
                              .v = subject->v + state * subject->nv};
}

static struct dyn_input input_of(const struct subject *subject, int state)
{
    return (struct dyn_input){.tau = subject->tau + state * subject->nv,
                              .gravity = {0.0, 0.0, -gravity}};
}

void subject_forward(const struct subject *subject, int state)
{
    const struct dyn_state at = state_of(subject, state);
    const struct dyn_input input = input_of(subject, state);
    struct dyn_output output = {.a = subject->a};
    dyn_aba(subject->tree, &at, &input, subject->work, &output);
}

void subject_composite(const struct subject *subject, int state, struct dyn_crba_work *work)
{
    const struct dyn_state at = state_of(subject, state);
    const struct dyn_input input = input_of(subject, state);
    struct dyn_output output = {.a = subject->a};
    dyn_crba_forward(subject->tree, &at, &input, work, &output);
}

bool subject_is_finite(const struct subject *subject)
{
    for (int k = 0; k < subject->nv; k++)
        if (!isfinite(subject->a[k]))
            return false;
    return true;
}

void subject_batch(const struct subject *subject)
{
    dyn_aba_batch(subject->tree, &subject->rows, subject->batch_work, subject->a);
}
