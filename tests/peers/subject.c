#include "tests/peers/subject.h"
#include "config/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/model_file.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/kernel/aba.h"
#include "rt/check.h"
#include "tests/peers/noise.h"
#include "tests/peers/translate.h"

static void *aligned(size_t size)
{
    void *mem = aligned_alloc(64, (size + 63) / 64 * 64);
    RT_CHECK(mem);
    return mem;
}

void subject_make(struct subject *subject, const struct dyn_body_spec *specs, int body_count)
{
    int body;
    RT_CHECK(dyn_model_problem(specs, body_count, &body) == NULL);
    subject->tree = dyn_model_place(specs, body_count, aligned(dyn_model_size(specs, body_count)));
    subject->work = dyn_work_place(subject->tree, aligned(dyn_work_size(subject->tree)));
    translate_specs(specs, body_count, subject->tree, &subject->engine);
}

int subject_load(struct subject *subject, const char *dir, const char *name, int free_base)
{
    char path[4096], error[CFG_ERROR_MAX];
    (void)snprintf(path, sizeof path, "%s/%s.urdf", dir, name);
    if (access(path, R_OK) != 0)
        return 1;
    struct cfg_model *cfg;
    if (cfg_model_load(path, free_base ? CFG_BASE_FREE : CFG_BASE_FIXED, &cfg, error) != 0) {
        (void)fprintf(stderr, "%s\n", error);
        exit(1);
    }
    subject_make(subject, cfg->specs, cfg->body_count);
    cfg_model_free(cfg);
    return 0;
}

void subject_close(struct subject *subject)
{
    free((void *)subject->engine.bodies);
    free((void *)subject->tree);
    free(subject->work);
}

static double *numbers(int count)
{
    double *mem = calloc((size_t)count + 1, sizeof *mem);
    RT_CHECK(mem);
    return mem;
}

void subject_state_open(const struct subject *subject, struct subject_state *state)
{
    state->q = numbers(subject->engine.nq);
    state->v = numbers(subject->engine.nv);
    state->tau = numbers(subject->engine.nv);
}

void subject_state_close(struct subject_state *state)
{
    free(state->q);
    free(state->v);
    free(state->tau);
}

void subject_state_random(const struct subject *subject, int number, struct subject_state *state)
{
    const struct engine_model *model = &subject->engine;
    uint64_t rng = (uint64_t)number << 32;
    for (int k = 0; k < model->nq; k++)
        state->q[k] = 3.0 * noise(&rng);
    for (int k = 0; k < model->nv; k++) {
        state->v[k] = noise(&rng);
        state->tau[k] = 10.0 * noise(&rng);
    }
    for (int i = 0; i < model->body_count; i++)
        for (int k = 0; k < model->bodies[i].motion_count; k++) {
            const struct engine_motion *motion = &model->bodies[i].motions[k];
            if (motion->type == ENGINE_BALL)
                noise_unit(&rng, state->q + motion->q, 4);
            if (motion->type == ENGINE_FREE)
                noise_unit(&rng, state->q + motion->q + 3, 4);
        }
}

void subject_forward(const struct subject *subject, const struct subject_state *state, double *a)
{
    const double *gravity = subject->engine.gravity;
    const struct dyn_state at = {.q = state->q, .v = state->v};
    const struct dyn_input input = {.tau = state->tau,
                                    .gravity = {gravity[0], gravity[1], gravity[2]}};
    struct dyn_output output = {.a = a};
    dyn_aba(subject->tree, &at, &input, subject->work, &output);
}

void subject_inverse(const struct subject *subject, const struct subject_state *state,
                     const double *a, double *tau)
{
    const double *gravity = subject->engine.gravity;
    const struct dyn_state at = {.q = state->q, .v = state->v};
    const struct dyn_input input = {.gravity = {gravity[0], gravity[1], gravity[2]}};
    dyn_rnea(subject->tree, &at, a, &input, subject->work, tau);
}

double subject_error(const struct subject *subject, const double *a, const double *b)
{
    double apart = 0.0, size = 0.0;
    for (int k = 0; k < subject->engine.nv; k++) {
        if (!isfinite(a[k]) || !isfinite(b[k]))
            return (double)INFINITY;
        apart = fmax(apart, fabs(a[k] - b[k]));
        size = fmax(size, fabs(b[k]));
    }
    return apart / size;
}
