/*
 * Joints that each move inertia but together have a singular mass matrix: two massless hinges in
 * one line, four about one point.  Their mass matrix is singular in every pose, so such a model
 * cannot move.
 */
#pragma once

#include "dynamics/model.h"

/* Bytes of scratch for dyn_model_singular_joint(), 64-byte aligned.  Context: setup. */
size_t dyn_model_singular_size(const struct dyn_model *model);

/* The body whose joint, with the joints further out free, moves no inertia beyond rounding, in
 * each of a few arbitrary poses; -1: there is none.  Where joints mimic others or bodies bend the
 * whole mass matrix is tried, up to 1500 velocities; otherwise O(bodies).  Context: setup. */
int dyn_model_singular_joint(const struct dyn_model *model, void *mem);
