/*
 * A model under measurement: the tree, a pool of states, and the two calls that are measured.
 *
 * Tested by tests/scenario/commands/test_bench_figures.py.
 */
#pragma once

#include <stdbool.h>

#include "config/model_file.h"
#include "config/scenario.h"
#include "dynamics/analysis/crba.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/batch/batch.h"

/* Enough that no branch predictor learns them, and few enough to stay in the cache. */
enum { SUBJECT_STATES = 64, SUBJECT_NAME_MAX = 64 };

/* Where a model comes from. */
struct subject_source {
    const char *name; /* of builtin_models.h, or the path of a URDF or a scenario */
    bool is_made;
    enum cfg_base base; /* of a URDF */
};

struct subject {
    char name[SUBJECT_NAME_MAX];
    struct dyn_model *tree;
    int nq, nv, link_count;
    int state_count; /* in the pool */
    struct dyn_work *work;
    struct dyn_batch_work *batch_work; /* NULL: a joint mimics another, or a body bends,
                                          which batches refuse */

    struct cfg_model *file; /* NULL: made */
    double *q, *v, *tau;    /* of the pool, state after state */
    struct dyn_batch rows;  /* the same, coordinate after coordinate */
    double *a;              /* answers, of one state or of all */
};

/* Load a model with so many states, always the same ones.  0, or -EINVAL (-errno for an
 * unreadable file) with one line in error.  Context: setup. */
int subject_open(struct subject *subject, const struct subject_source *source, int state_count,
                 char error[CFG_ERROR_MAX]);
void subject_close(struct subject *subject);

/* Aligned, never NULL, to be freed.  Context: setup. */
void *subject_room(size_t size);

/* Forward dynamics of one state of the pool, and of all of them in one batch.  Context: frame. */
void subject_forward(const struct subject *subject, int state);
void subject_batch(const struct subject *subject);

/* True when the last single answer is finite.  Context: any. */
bool subject_is_finite(const struct subject *subject);

/* Forward dynamics of the first state by composite bodies.  Context: frame. */
void subject_composite(const struct subject *subject, int state, struct dyn_crba_work *work);
