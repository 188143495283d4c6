/*
 * Is a flexible link slender, as struct dyn_slender_link has it: does it bend and do nothing else?
 * Private to dynamics/.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* From the tables of the link and of its nodes, all of which must be there.  What rounding left
 * where a slender link has nothing is dropped.  Context: setup. */
void dyn_slender_link_place(const struct dyn_model *model, struct dyn_modal_link *modal);
