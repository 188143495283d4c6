/*
 * SUBJECT: a model that our kernel and another engine are both asked about, and states of it.
 */
#pragma once

#include "dynamics/state.h"
#include "tests/peers/engine.h"

struct subject {
    const struct dyn_model *tree;
    struct dyn_work *work;
    struct engine_model engine; /* the same for an engine */
};

struct subject_state {
    double *q, *v, *tau;
};

/* From DIR/NAME.urdf.  0, or 1 where there is no such file.  Context: setup. */
int subject_load(struct subject *subject, const char *dir, const char *name, int free_base);
/* From specs without a flaw.  Context: setup. */
void subject_make(struct subject *subject, const struct dyn_body_spec *specs, int body_count);
void subject_close(struct subject *subject);

/* Memory for a state, and the state of that number: the same on every machine.  Context: setup. */
void subject_state_open(const struct subject *subject, struct subject_state *state);
void subject_state_random(const struct subject *subject, int number, struct subject_state *state);
void subject_state_close(struct subject_state *state);

/* Our answers; the inverse does not read state->tau.  Context: any. */
void subject_forward(const struct subject *subject, const struct subject_state *state, double *a);
void subject_inverse(const struct subject *subject, const struct subject_state *state,
                     const double *a, double *tau);

/* max |a - b| / max |b|; infinite when a number is not finite.  Context: any. */
double subject_error(const struct subject *subject, const double *a, const double *b);
