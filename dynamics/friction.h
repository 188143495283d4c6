/*
 * Dry friction of a plant over one step: of joints, of feet on the ground and of wheels in their
 * bearings.  Private to dynamics/ and tests/.
 *
 * A force that has a sign but no slope cannot be followed by small steps: taken at the beginning of
 * a step it drives what it should stop.  So it is taken at the end.  Once a step, before its
 * stages, the forces are found (stick.h) that would bring the velocity v + h dv/dt to what
 * Coulomb's law asks for, with the inertia of the whole vehicle; they are then held over the step,
 * whatever the integrator.
 *
 *      sticks     the slip at the end of the step is zero and the force what that takes: where
 *                 nothing else changes, all rates are zero, and nothing creeps
 *      slips      the force is the whole of the bound, and constant
 *      stops      the force is the part of the bound that stops it within the step
 *
 * Semi-implicit Euler ends at that velocity, and the kinetic energy there is the least that
 * friction can leave: friction takes energy at any step.  The others end there but for what their
 * stages see of other forces that change within the step, of the order h^2, which the next step
 * takes up. Adams-Bashforth looks back at the rates without friction, for a force that jumps has no
 * history.
 *
 * Nothing is remembered from step to step, but for the answers to forces at one configuration: a
 * frame that looks at the accelerations steps from where it looked.  A joint that is held has its
 * friction by the law as written (model.h), for its velocity is given.
 */
#pragma once

#include "dynamics/analysis/crba_work.h"
#include "dynamics/coulomb_step.h"
#include "dynamics/kernel/mimic.h"
#include "dynamics/kernel/response.h"
#include "dynamics/plant_spec.h"

enum dyn_friction_kind { DYN_FRICTION_JOINT, DYN_FRICTION_WHEEL, DYN_FRICTION_CONTACT };

/* Whose friction the pairs of the same index are. */
struct dyn_friction_source {
    enum dyn_friction_kind kind;
    int of;                     /* of model->lawful, or effector */
    struct dyn_mimic_row along; /* joint: which velocity it slips by */
};

struct dyn_friction {
    int row_max;                        /* 0: nothing can rub, and nothing below is there */
    int pair_count;                     /* that rub in this step */
    int row_count;                      /* and in how many directions */
    struct dyn_friction_source *source; /* by pair */
    struct dyn_coulomb_pair *pair;
    double *dry;   /* by model->lawful: the force that is held over the step */
    double *force; /* by row */
    double *slip;  /* by row: at the end of the step without friction, then with it */
    double *W;     /* by row, nv: T J' of what it slips by (response.h), or L^-1 J' */
    double *w;     /* nv: of all forces */
    double *A;     /* row_count^2 */
    double *b;
    double *scratch;            /* 4 by row */
    double *jacobian;           /* 6 x nv, of a foot */
    struct dyn_crba_work *mass; /* its scene for feet and wheels; all of it where joints follow */
    struct dyn_response *response;

    /* what W was found for last, where only joints rub */
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
 * where nothing can rub there never is any.  Context: frame. */
void dyn_friction_clear(const struct dyn_plant *plant, const double *x,
                        struct dyn_friction *friction);
static inline void dyn_friction_begin(const struct dyn_plant *plant, const double *x,
                                      struct dyn_friction *friction)
{
    if (friction->row_max > 0)
        dyn_friction_clear(plant, x, friction);
}

/* What acts for h from x on, where everything else makes x change by `rate`; modal_implicit_step:
 * as the rate was found with.  From now on dyn_plant_rate() has it.  Context: frame. */
void dyn_friction_solve(const struct dyn_plant *plant, double h, double modal_implicit_step,
                        const double *rate, const double *x, struct dyn_plant_work *work);

/* rate += what the friction that was found does to it.  Context: frame. */
void dyn_friction_add_rate(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                           double *rate);

/* Of wheels and feet, as loads on their bodies and rates of their states.  Context: frame. */
void dyn_friction_add_loads(const struct dyn_plant *plant, struct dyn_plant_work *work);
