/*
 * The deflection at which a consistent body's kinetic energy stops being positive.  Private to
 * dynamics/ and tests/.
 *
 * The kinetic energy is cut off after the second order of eta, with a constant modal mass.  At a
 * large deflection the couplings exceed that mass, and the energy is no longer positive: the
 * equations then diverge, whatever the step (Padilla and von Flotow saw the same).  This happens
 * first to modes that move nearly all of the mass that a joint moves, such as many modes on a free
 * hinge.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* The eta at which mode p, bent alone to either side, makes the energy of its link stop being
 * positive, with the joint free and the parent at rest; at most `most`.  `straight` is the inertia
 * of the link.  Context: setup. */
double dyn_modal_bound(const struct dyn_modal_link *modal, const struct dyn_tree_link *link,
                       const struct dyn_inertia *straight, int p, double most);
