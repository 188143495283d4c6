/*
 * Models that several tests of this room share, with memory and a state to try them on.
 */
#pragma once

#include <stdint.h>

#include "dynamics/plant.h"
#include "dynamics/state.h"

/* How many a long test takes; a sanitizer has seen all lines in fewer. */
#ifdef __SANITIZE_ADDRESS__
enum { TREES_MANY = 1000 };
#else
enum { TREES_MANY = 10000 };
#endif

enum { TREE_BODY_MAX = 128, TREE_NV_MAX = 7 * TREE_BODY_MAX };

struct tree {
    int body_count;
    struct dyn_body_spec spec[TREE_BODY_MAX];
    const struct dyn_model *model; /* after tree_build() */
    struct dyn_work *work;
    double q[TREE_NV_MAX], v[TREE_NV_MAX], tau[TREE_NV_MAX], a[TREE_NV_MAX];
    struct dyn_vec6 force[TREE_BODY_MAX]; /* on each body at its origin, body axes */
    struct dyn_load load[TREE_BODY_MAX];  /* the same, after tree_input() */
    double gravity[3];
    _Alignas(64) unsigned char model_mem[1 << 20];
    _Alignas(64) unsigned char work_mem[1 << 21];
};

/* An empty tree; then a unit-mass body with unit inertia per call, to be changed through spec[]. */
void tree_begin(struct tree *tree);
int tree_add(struct tree *tree, int parent, enum dyn_joint_type joint, double ax, double ay,
             double az);
/* Fails the test on a flaw; lays out model and work; unit quaternions into q, the rest zero. */
void tree_build(struct tree *tree);

/* A random vehicle of so many bodies: parents, joints of every type, places, inertias, laws,
 * rotors, and a random state, forces and gravity.  With free_base its first body is free. */
void tree_random(struct tree *tree, int body_count, int free_base, uint64_t seed);

/* Another random state, forces and gravity of the same vehicle. */
void tree_random_state(struct tree *tree);

/* The same vehicle without limits, which no finite difference survives. */
void tree_unlimit(struct tree *tree);
/* The same vehicle without dry friction, which a plant has by a step and not by its law. */
void tree_unrub(struct tree *tree);
/* The same vehicle with nothing that acts on its base by itself. */
void tree_unlaw_base(struct tree *tree);

/* Uniform in [-1, 1), of the generator that tree_random() seeds. */
double tree_noise(void);
void tree_noise_seed(uint64_t seed);

/* a = dyn_aba() of the tree's state and forces, with a work full of NaN. */
void tree_forward(struct tree *tree);
void tree_poison(struct tree *tree);

struct dyn_state tree_state(const struct tree *tree);
struct dyn_input tree_input(struct tree *tree);
