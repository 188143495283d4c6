/*
 * How far a consistent body may bend.  Private to dynamics/ and tests/.
 *
 * Its kinetic energy ends behind the second order of eta, with a constant modal mass.  Far enough
 * out the couplings outgrow that mass, and the energy is no longer positive: the equations then
 * blow up, whatever the step (Padilla and von Flotow saw the same).  Modes that take nearly all of
 * what a joint moves along, many modes on a free hinge, come there soonest.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* The eta at which mode p, bent alone to either side, ends the energy of its link that moves by its
 * joint while the parent stands; at most `most`.  `straight` is the inertia of the link.
 * Context: setup. */
double dyn_modal_bound(const struct dyn_modal_link *modal, const struct dyn_tree_link *link,
                       const struct dyn_inertia *straight, int p, double most);
