/*
 * Checks whether a flexible body is within the validity of its model.
 *
 *      rate         it turns, on average over its mass, faster than a tenth of its lowest
 *                   frequency, and its fidelity or its
 *                   psi2 has no geometric stiffness (Padilla and von Flotow 1989), or it has rotary
 *                   inertia, which does not turn with the modes
 *      deflection   some point of it may have moved by more than a tenth of its length
 *      stiffness    acceleration, spin and loads through its nodes have taken half of the stiffness
 *                   of a mode, or doubled it where the model does not include that: it is about
 *                   to buckle, or stiffer than simulated
 *      inertia      its modes are a tenth of the way to where a consistent body's kinetic energy
 *                   ceases to be positive (modal_bound.h); what is missing grows with the square of
 *                   the way, so that is 1 % of a modal mass, and as much as the tenth of a rate is
 *                   of a stiffness
 */
#pragma once

#include "dynamics/plant.h"
#include "dynamics/state.h"

/* The limits of validity, as an index. */
enum dyn_validity {
    DYN_VALIDITY_RATE,
    DYN_VALIDITY_DEFLECTION,
    DYN_VALIDITY_STIFFNESS,
    DYN_VALIDITY_INERTIA,
    DYN_VALIDITY_COUNT
};

/* The same as a set. */
enum dyn_invalid {
    DYN_INVALID_RATE = 1 << DYN_VALIDITY_RATE,
    DYN_INVALID_DEFLECTION = 1 << DYN_VALIDITY_DEFLECTION,
    DYN_INVALID_STIFFNESS = 1 << DYN_VALIDITY_STIFFNESS,
    DYN_INVALID_INERTIA = 1 << DYN_VALIDITY_INERTIA,
};

/* The limits that body `body`, with the accelerations of the last dyn_aba(), exceeds, as a set of
 * limits; 0: none, or the body does not bend.  Context: frame. */
unsigned dyn_body_validity(const struct dyn_model *model, const struct dyn_state *state,
                           const struct dyn_work *work, int body);

/* Of all bodies together, after dyn_plant_solve() with this x; *first is the first body outside
 * its limits, unchanged when there is none.  Context: frame. */
unsigned dyn_plant_validity(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                            const double *x, int *first);
