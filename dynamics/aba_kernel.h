/*
 * The three passes, compiled once per instruction set.  Private to aba*.c.
 */
#pragma once

#include "dynamics/state.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"

struct dyn_aba_kernel {
    void (*move)(const struct dyn_model *model, const double *q, const double *v,
                 struct dyn_work *work);
    /* tau: all forces on the joints; the links' pa and pl have the loads taken off */
    void (*solve)(const struct dyn_model *model, const struct dyn_input *input, const double *tau,
                  struct dyn_work *work, double *a);
};

extern const struct dyn_aba_kernel dyn_aba_sse2, dyn_aba_avx2, dyn_aba_avx512;
