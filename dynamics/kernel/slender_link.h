/*
 * Detects a slender link (struct dyn_slender_link): a flexible link that only bends.  Tested by
 * tests/dynamics/flex/test_flex.c.  Private to dynamics/.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* From the tables of the link and of its nodes, all of which must be filled.  Rounding errors in
 * the entries that are zero for a slender link are dropped.  Context: setup. */
void dyn_slender_link_place(const struct dyn_model *model, struct dyn_modal_link *modal);
