/*
 * Accelerations caused by unit forces, from the factors that dyn_aba_solve() leaves in its work.
 * Private to dynamics/ and tests/.
 *
 * The kernel eliminates velocities one after the other, from the leaves to the root.  That is a
 * factorisation M^-1 = T' T: a force F on the joints, carried to the root, leaves u at each pivot
 * D, and T F is D^-1/2 u.  So
 *
 *      F_i' M^-1 F_j = (T F_i)' (T F_j),     M^-1 F = T' (T F)
 *
 * and nothing has to be factored again.  T F is not zero only between the point where the force
 * acts and the root.  Held joints do not accelerate.  Not for models in which joints mimic others:
 * the kernel has only parts of their factorisation.
 */
#pragma once

#include "dynamics/kernel/work.h"

struct dyn_response {
    const struct dyn_model *model;
    const unsigned char *held; /* of the last solve; NULL: none */
    const struct dyn_work *kernel;
    int first, last;      /* velocities, the last not among them, beyond which all w are zero */
    int *link_of;         /* by velocity of a joint: its link */
    unsigned char *known; /* by link: its pivots have been found */
    unsigned char *moves; /* by link: its acceleration is not zero; moves[-1]: 0 */
    double **pivot;       /* by link: D^-1/2 by velocity, or L of a free link's inertia */
    double **four; /* by modal link: L of four modes each, and behind them their acceleration */
    double *f;     /* a row of forces on modes */
    struct dyn_vec6
        *a; /* by link, the acceleration of its origin, world axes; a[-1] is the world's */
};

/* Bytes, and the scratch laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_response_size(const struct dyn_model *model);
struct dyn_response *dyn_response_place(const struct dyn_model *model, void *mem);

/* Use the factors of the kernel, which was solved with `held`.  Context: frame. */
void dyn_response_begin(const unsigned char *held, const struct dyn_work *kernel,
                        struct dyn_response *response);

/* w = T F, nv values: of a unit force along the velocity v of a joint that is not held; of a force
 * at a link's origin, world axes.  Context: frame. */
void dyn_response_of_joint_force(struct dyn_response *response, int v, double *w);
void dyn_response_of_link_force(struct dyn_response *response, int link,
                                const struct dyn_vec6 *force, double *w);

/* a += T' w.  Context: frame. */
void dyn_response_add_acceleration(struct dyn_response *response, const double *w, double *a);
