/*
 * Dry friction of a plant over one step: of joints, feet on the ground and wheel bearings.
 * Private to dynamics/ and tests/.
 *
 * A force that depends only on the sign of the velocity cannot be evaluated at the beginning of a
 * step: it would drive what it should stop.  So it is evaluated at the end.  Once a step, before
 * its stages, the forces are found (coulomb_step.h) that bring the velocity v + h dv/dt to one
 * that satisfies Coulomb's law, with the inertia of the whole vehicle; they are then held over the
 * step, whatever the integrator.
 *
 *      sticks     the slip at the end of the step is zero and the force what that takes: where
 *                 nothing else changes, all rates are zero, and nothing creeps
 *      slips      the force is the whole of the bound, and constant
 *      stops      the force is the part of the bound that stops it within the step
 *
 * Semi-implicit Euler ends at that velocity, and the kinetic energy there is the least that
 * friction can leave: friction removes energy at any step size.  The others end there but for what
 * their stages see of other forces that change within the step, of the order h^2, which the next
 * step takes up. The history of Adams-Bashforth has the rates without friction, because a force
 * that jumps is not smooth.
 *
 * Nothing is kept from step to step but W of one configuration: a frame that solves for the
 * accelerations then steps from the same configuration.  A joint that is held has the smooth
 * friction of model.h, because its velocity is given.
 */
#pragma once

#include "dynamics/analysis/crba_work.h"
#include "dynamics/coulomb_step.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/kernel/response.h"
#include "dynamics/plant_spec.h"

enum dyn_friction_kind { DYN_FRICTION_JOINT, DYN_FRICTION_WHEEL, DYN_FRICTION_CONTACT };

/* The joint or effector whose friction a pair is. */
struct dyn_friction_source {
    enum dyn_friction_kind kind;
    int of;                     /* of model->force_entry, or effector */
    struct dyn_mimic_row along; /* joint: the velocity along which it slips */
};

struct dyn_friction {
    int row_max;    /* 0: no dry friction is possible, and the members below are not set */
    int pair_count; /* pairs that slip or stick in this step */
    int row_count;  /* the number of their directions */
    struct dyn_friction_source *source; /* by pair */
    struct dyn_coulomb_pair *pair;
    double *dry;   /* by model->force_entry: the force that is held over the step */
    double *force; /* by row */
    double *slip;  /* by row: at the end of the step without friction, then with it */
    double *W;     /* by row, nv: T J' of what it slips by (response.h), or L^-1 J' */
    double *w;     /* nv: of all forces */
    double *A;     /* row_count^2 */
    double *b;
    double *scratch;  /* 4 by row */
    double *jacobian; /* 6 x nv, of a foot */
    struct dyn_crba_work
        *mass; /* its tree pose for feet and wheels; all of it where joints mimic others */
    struct dyn_response *response;

    /* the configuration of W, where only joints have friction */
    int cached; /* pairs; 0: nothing is kept */
    double cached_implicit_step;
    int *cached_source;
    double *cached_q;
    unsigned char *cached_held; /* nv */
};

struct dyn_plant_work;

/* Bytes, and the work laid out in mem, 64-byte aligned and owned by the caller.  Context: setup. */
size_t dyn_friction_size(const struct dyn_plant *plant);
struct dyn_friction *dyn_friction_place(const struct dyn_plant *plant, void *mem);

/* No friction but that of held joints, for the rates at x that dyn_friction_solve() starts from;
 * no effect where no dry friction is possible.  Context: frame. */
void dyn_friction_clear(const struct dyn_plant *plant, const double *x,
                        struct dyn_friction *friction);
static inline void dyn_friction_begin(const struct dyn_plant *plant, const double *x,
                                      struct dyn_friction *friction)
{
    if (friction->row_max > 0)
        dyn_friction_clear(plant, x, friction);
}

/* Find the friction of a step h from x, where all other forces make x change by `rate`, which was
 * found with modal_implicit_step.  dyn_plant_rate() then includes it.  Context: frame. */
void dyn_friction_solve(const struct dyn_plant *plant, double h, double modal_implicit_step,
                        const double *rate, const double *x, struct dyn_plant_work *work);

/* Add the effect of the friction to rate.  Context: frame. */
void dyn_friction_add_rate(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                           double *rate);

/* Add the friction of wheels and feet as loads on their bodies and rates of their states.
 * Context: frame. */
void dyn_friction_add_loads(const struct dyn_plant *plant, struct dyn_plant_work *work);
