/*
 * Frames turned about their own z axes so that most links need only a turn about x to get from the
 * parent's axes to theirs.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* Context: setup.  `first_child` is scratch, one per link. */
void dyn_model_align(struct dyn_model *model, int *first_child);
