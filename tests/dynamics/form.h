/*
 * Closed forms are written in axes of their own; the model is then turned away from them, so that
 * no zero or one of a formula is one in the kernel.
 */
#pragma once

#include "tests/dynamics/tree.h"
#include "tests/dynamics/vec.h"

/* Uniform between both, of tree_noise(). */
double form_some(double low, double high);

/* A direction of so many components; one across another. */
void form_unit(double *e, int count);
void form_across(const double axis[3], double out[3]);

/* A body with principal inertias about its mass centre, and one of any shape. */
void form_box(struct dyn_body_spec *spec, double mass, const double center[3],
              const double principal[3]);
void form_lump(struct dyn_body_spec *spec);

/* A tree of so many bodies on joints of every type, under some gravity, not built; the first joint
 * moves, freely if asked.  No laws, rotors or mimics. */
void form_tree(struct tree *tree, int count, int free_base, uint64_t seed);

/* Turn every frame of the tree by one rotation and the world by another, build it, and turn the
 * gravity along.  Coordinates and velocities keep their meaning, those of quaternions excepted. */
void form_mount(struct tree *tree, const double gravity[3]);

/* A vector of the formula's axes, in body axes and in the world of the tree mounted last. */
void form_to_body(const double e[3], double out[3]);
void form_to_world(const double e[3], double out[3]);

/* Coordinates, velocities and forces at random; unit quaternions where they are. */
void form_stir(struct tree *tree);

enum { FORM_NV_MAX = 8 };

/* The tree's accelerations are the n solutions of M a = forces. */
void form_assert(struct tree *tree, int n, const double *M, const double *forces);

/* Of n answers, relative to the largest. */
void form_assert_same(int n, const double *truth, const double *is);
