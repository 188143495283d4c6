/*
 * Floating-point operations of one call of the forward dynamics, by both algorithms: articulated
 * bodies as in dyn_aba(), and composite bodies as in dyn_crba_forward().  They are counted and not
 * estimated, for any tree, flexible bodies included; number.h defines what counts.
 *
 * Sines differ: those of the kernel are sums and products and are counted, those of the other are
 * library calls and are not.
 */
#pragma once

#include "tools/count/flops.h"

struct dyn_model;

/* A state without zeros, or what they would have cost is not counted. */
struct count_call {
    const double *q, *v, *tau;
    double gravity[3];
};

enum count_part {
    COUNT_BIAS,   /* inverse dynamics without accelerations */
    COUNT_MATRIX, /* the mass matrix */
    COUNT_FACTOR, /* L' D L */
    COUNT_SOLVE,
    COUNT_PARTS
};

#ifdef __cplusplus
extern "C" {
#endif

/* a: dv/dt, nv values.  0, or -ENOMEM.  Of composite bodies the model has no mimicking joint.
 * Context: setup. */
int count_articulated(const struct dyn_model *model, const struct count_call *call, double *a,
                      struct flop_count *count);
int count_composite(const struct dyn_model *model, const struct count_call *call, double *a,
                    struct flop_count parts[COUNT_PARTS]);

#ifdef __cplusplus
}
#endif
