/*
 * The outward velocity pass of flexible links and their nodes: a part of the kernel (aba_kernel.h).
 * It finds W(eta), and with it the deformed inertia and B, f of the link; and X of each node.
 * Tested by tests/dynamics/flex/test_flex.c.
 */
#pragma once

#include "dynamics/kernel/aba_bent.h"
#include "dynamics/kernel/aba_slender.h"

/* In place of move_inertia. */
static void move_flexible(const struct dyn_model *model, const struct dyn_tree_link *link,
                          struct dyn_tree_link_work *L, struct dyn_modal_work *work)
{
    const struct dyn_modal_link *modal = &model->modal[link->modal];
    (!modal->deforms     ? move_straight
     : modal->is_slender ? move_slender
                         : move_bent)(model, link, L, work);
}

DYN_APART void move_node(const struct dyn_model *model, const struct dyn_tree_link *link,
                         const struct dyn_work *work, const struct dyn_tree_link_work *on,
                         struct dyn_tree_link_work *L)
{
    const struct dyn_modal_node *node = &model->node[link->node];
    const struct dyn_modal_link *modal = &model->modal[node->modal];
    const struct dyn_modal_work *modes = &work->modal[node->modal];
    double *X = work->node[link->node];

    if (modal->is_slender && modal->lanes == 4)
        move_slender_node(&node->slender, 4, modes, X, on, L);
    else if (modal->is_slender)
        move_slender_node(&node->slender, modal->lanes, modes, X, on, L);
    else if (modal->deforms && modal->lanes == 4)
        move_bent_node(link, node, 4, 4, modes, X, on, L);
    else if (modal->deforms && modal->lanes == 8)
        move_bent_node(link, node, modal->modes, 8, modes, X, on, L);
    else if (modal->deforms)
        move_bent_node(link, node, modal->modes, modal->lanes, modes, X, on, L);
    else if (modal->lanes == 4)
        move_straight_node(link, node, 4, modes, X, on, L);
    else
        move_straight_node(link, node, modal->lanes, modes, X, on, L);
}

static inline void find_node_columns(const struct dyn_modal_link *modal,
                                     const struct dyn_slender_node *node,
                                     const struct dyn_modal_work *modes, double *X,
                                     struct dyn_tree_link_work *N)
{
    if (modal->lanes == 4)
        take_slender_node(node, 4, 4, modes, X, N);
    else
        take_slender_node(node, modal->modes, modal->lanes, modes, X, N);
}

/* Load the coordinates and rates of all modes, and find the displacements of the nodes of slender
 * links. */
DYN_APART void take_shapes(const struct dyn_model *model, const double *q, const double *v,
                           const struct dyn_work *work)
{
    for (int m = 0; m < model->modal_count; m++)
        load_modal_state(&model->modal[m], q, v, &work->modal[m]);
    for (int n = 0; n < model->node_count; n++) {
        const struct dyn_modal_node *node = &model->node[n];
        const struct dyn_modal_link *modal = &model->modal[node->modal];
        const struct dyn_modal_work modes = work->modal[node->modal]; /* no store changes it */
        if (modal->is_slender)
            find_node_columns(modal, &node->slender, &modes, work->node[n],
                              &work->link[model->node_link[n]]);
    }
}
