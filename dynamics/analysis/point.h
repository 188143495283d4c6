/*
 * Points of the bodies, and the tree at one state, in which they are found.
 */
#pragma once

#include "dynamics/state.h"

struct dyn_point {
    int body;
    double at[3]; /* body axes */
};

struct dyn_tree_pose; /* opaque; its fields are in dynamics/analysis/tree_pose.h */

/* Bytes for a tree pose, and the tree pose laid out in mem, 64-byte aligned and owned by the
 * caller. Context: setup. */
size_t dyn_tree_pose_size(const struct dyn_model *model);
struct dyn_tree_pose *dyn_tree_pose_place(const struct dyn_model *model, void *mem);

/* Take the state; the functions of jacobian.h then read any number of points, until the next
 * update. Context: frame. */
void dyn_tree_pose_update(const struct dyn_model *model, const struct dyn_state *state,
                          struct dyn_tree_pose *tree_pose);
