/*
 * Floating-point operations of forward dynamics, counted and not estimated: the batch kernel is
 * compiled once more, with a number that counts what is done to it.
 */
#pragma once

struct dyn_model;

/* Of one state.  A fused multiply-add is one of each. */
struct flop_count {
    long multiplications;
    long additions; /* and subtractions */
    long divisions;
    long functions; /* sines with their cosines, and hyperbolic tangents */
};

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -ENOMEM.  The model has no mimicking joint.  Context: setup. */
int count_flops(const struct dyn_model *model, struct flop_count *count);

#ifdef __cplusplus
}
#endif
