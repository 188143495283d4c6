/*
 * The shape of a flexible link: the integrals of flex.h and the nodes at its modal coordinates.
 * Private to dynamics/ and tests/.
 *
 * In link axes and mode by mode, for the algorithms that check the kernel or run seldom.  A link
 * without deformation (`ruthless`) stays in its first shape; only its nodes have a rate.
 */
#pragma once

#include "dynamics/kernel/link_tree.h"
#include "dynamics/kernel/work.h"

/* Coordinates and rates of all modes, to eta and xi of the work.  Context: frame. */
void dyn_modal_shape_load(const struct dyn_model *model, const double *q, const double *v,
                          struct dyn_work *work);

/* P_p and W_p of mode p, and H_p with the rotary part.  Context: frame. */
struct dyn_vec3 dyn_modal_shape_P(const struct dyn_modal_link *modal, const double *eta, int p);
struct dyn_mat3 dyn_modal_shape_W(const struct dyn_modal_link *modal, const double *eta, int p);
struct dyn_vec3 dyn_modal_shape_H(const struct dyn_modal_link *modal, const double *eta, int p);

/* The inertia of the deformed link, about its origin; `straight` is the undeformed one.  Context:
 * frame. */
struct dyn_inertia dyn_modal_shape_inertia(const struct dyn_modal_link *modal, const double *eta,
                                           const struct dyn_inertia *straight);

/* Of any link, flexible or not.  Context: frame. */
struct dyn_inertia dyn_modal_shape_link_inertia(const struct dyn_model *model,
                                                const struct dyn_work *work, int link);

/* A pair of modes of a table that begins with its first: components 0, 1 and 2 of mode p, by q.
 * Context: any. */
static inline struct dyn_vec3 dyn_modal_shape_pair(const double *table, int lanes, int p, int q)
{
    const double *e = table + q * 3 * lanes + p;
    return (struct dyn_vec3){e[0], e[lanes], e[2 * lanes]};
}

/* The same of nine components, a matrix by rows.  Context: any. */
static inline struct dyn_mat3 dyn_modal_shape_pair_matrix(const double *table, int lanes, int p,
                                                          int q)
{
    struct dyn_mat3 m;
    for (int r = 0; r < 3; r++)
        m.row[r] = dyn_modal_shape_pair(table + 3 * r * lanes, lanes, p, 3 * q);
    return m;
}

/* The sum of the vectors of mode p, each times by_q.  Context: any. */
struct dyn_vec3 dyn_modal_shape_sum(const struct dyn_modal_link *modal, const double *table, int p,
                                    const double *by);

/* tr(W) 1 - W.  Context: any. */
static inline struct dyn_mat3 dyn_modal_shape_inertia_of_W(const struct dyn_mat3 *W)
{
    const double trace = W->row[0].x + W->row[1].y + W->row[2].z;
    struct dyn_mat3 m = {
        {dyn_scale(-1.0, W->row[0]), dyn_scale(-1.0, W->row[1]), dyn_scale(-1.0, W->row[2])}};
    m.row[0].x += trace;
    m.row[1].y += trace;
    m.row[2].z += trace;
    return m;
}

/* The displacement and motion of a node on its link, in the axes of that link. */
struct dyn_modal_shape_node {
    struct dyn_vec3 theta, u;     /* twice the Gibbs vector of its turn, and its travel */
    struct dyn_vec3 w, travel;    /* angular velocity and velocity */
    struct dyn_vec3 alpha, accel; /* their rates without the part of the second derivative of eta */
};

/* xi NULL: at rest.  Context: frame. */
struct dyn_modal_shape_node dyn_modal_shape_node(const struct dyn_model *model, int node,
                                                 const double *eta, const double *xi);

/* The motion of the node for a unit rate of mode p.  Context: frame. */
struct dyn_vec6 dyn_modal_shape_column(const struct dyn_model *model, int node, const double *eta,
                                       const struct dyn_modal_shape_node *at, int p);

/* The modes that move a link which is a node; NULL: the link is not a node.  Context: any. */
static inline const struct dyn_modal_link *dyn_modal_shape_of_node(const struct dyn_model *model,
                                                                   const struct dyn_tree_link *link)
{
    return link->node >= 0 ? &model->modal[model->node[link->node].modal] : NULL;
}
