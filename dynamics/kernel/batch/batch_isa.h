/*
 * The data of the batch kernels: their form of the tree, and their scratch.  Private to batch*.c
 * and tests/.
 *
 * The links are in depth-first order and in axes of their own.  A link's z axis stays that of its
 * joint, but about z its axes are free, and are chosen so that the transformation to the next link
 * is a turn about z and a tilt about x and no more:
 *
 *      link  --turn about z by q and a constant-->  joint  --tilt about x-->
 *      tilted axes  --skew about z-->  parent
 *
 * Both turns cost a fraction of a full change of axes.  The skew is needed only by links that are
 * not their parent's heir, which is the child with most links beyond it.
 *
 * A hinge's origin is free along its axis.  It is slid to where the arm from the parent's origin
 * has no z in joint axes: such a hinge is level.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

struct dyn_batch; /* batch.h */

enum {
    DYN_BATCH_WIDTH_MAX = 8,
    /* numbers per state */
    DYN_BATCH_LINK_WIDES = 19,
    DYN_BATCH_ROUND_WIDES = 24,
    DYN_BATCH_SUM_WIDES = 27,
};

/* Most robots have axes along or across each other. */
enum dyn_batch_tilt { DYN_BATCH_TILT_NONE, DYN_BATCH_TILT_QUARTER, DYN_BATCH_TILT_ANY };

/* How a link is computed; the first two are the fast methods. */
enum dyn_batch_method {
    DYN_BATCH_HINGE, /* level, without a rotor */
    DYN_BATCH_LEAF,  /* the same, with nothing beyond it */
    DYN_BATCH_AXIAL, /* all else that has one velocity */
    DYN_BATCH_ROUND, /* ball and free */
};

struct dyn_batch_link {
    _Alignas(64) int parent; /* -1: the world */
    enum dyn_tree_link_kind kind;
    enum dyn_batch_method method;
    int nth; /* leaves are counted, and round links */
    int q_at, v_at;
    int sum; /* where the inertia of what it carries is gathered */
    int is_leaf;
    int is_first; /* of its siblings to be gathered */
    int is_fork;  /* carries more than one */
    int is_skewed;
    enum dyn_batch_tilt tilt;
    int has_rotor, is_coupled; /* the rotor's spin acts on the parent */
    double turn_sine,
        turn_cosine; /* of the constant about z; ball and free: of their joint's place */
    double tilt_sine, tilt_cosine;
    double skew_sine, skew_cosine;
    double r[3]; /* origin, from the parent's; joint axes at q = 0 */
    double pitch;
    double mass, mc[3];
    double I[6]; /* xx yy zz xy xz yz, about the origin; link axes as all of the inertia */
    double rotor, rotor_spin[3]; /* parent axes */
};

/*
 * The elimination of a leaf does not depend on the state.  The part of its inertia that is
 * symmetric about the axis and does not resist a turn about it is moved to the parent, which makes
 * no difference: the leaf keeps no mass, no mc.z and no I.yy.  Its x axis is towards its mass
 * centre, so it has no mc.y either.
 */
struct dyn_batch_leaf {
    double D_inv, gx, gy, g; /* D^-1, and D^-1 U: angular x and y, linear y */
};

struct dyn_batch_branch;

struct dyn_batch_work {
    struct dyn_batch_link *link; /* written once */
    struct dyn_batch_leaf *leaf; /* likewise */
    int *turning;                /* links that turn by q */
    int turning_count;
    int *force_spec; /* by velocity: index into the model's, -1: none */

    /* scratch, a number of every state of the group in a row */
    double *moving;                  /* DYN_BATCH_LINK_WIDES by link and first for the world */
    double *round;                   /* DYN_BATCH_ROUND_WIDES by ball or free link */
    double *sums;                    /* DYN_BATCH_SUM_WIDES by sum */
    double *q, *v, *tau, *a;         /* of a group that is not full */
    struct dyn_batch_branch *branch; /* of the placement */
};

/* As many states as the kernel has lanes.  Rows as in struct dyn_batch. */
struct dyn_batch_group {
    size_t stride;
    const double *q, *v, *tau;
    double *a;
    double gravity[3];
};

struct dyn_batch_kernel {
    int width;
    void (*run)(const struct dyn_model *model, const struct dyn_batch_group *group,
                struct dyn_batch_work *work);
};

extern const struct dyn_batch_kernel dyn_batch_sse2, dyn_batch_avx2, dyn_batch_avx512;

/* dyn_aba_batch() with a given kernel.  Context: frame. */
void dyn_batch_run(const struct dyn_batch_kernel *kernel, const struct dyn_model *model,
                   const struct dyn_batch *batch, struct dyn_batch_work *work, double *a);
