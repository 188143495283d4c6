/*
 * The modes of links, from the modes of the specs.  Private to dynamics/ and tests/.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"

/* Nodes that are links of their own: those of a body that bends.  Context: setup. */
int dyn_modal_nodes(const struct dyn_body_spec *spec);

/* The room for the modes and nodes of all bodies, as dyn_layout_cut.  Context: setup. */
void dyn_modal_lay_out(struct dyn_model *model, const struct dyn_body_spec *specs, void *mem,
                       size_t *at);

/* Fill in their numbers, once the axes of the links are final.  Context: setup. */
void dyn_modal_place(struct dyn_model *model);
