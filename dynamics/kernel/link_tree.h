/*
 * The fields of struct dyn_model.  Private to dynamics/, tests/ and the parts of tools/ that count
 * links.  Tested by tests/dynamics/test_model.c.
 *
 * The bodies of the specs become links, and the kernel works on links only.  A link moves against
 * its parent by a turn about its z axis, a slide along it, both at once, a ball, or freely: a
 * joint of several screws is as many links, without mass but for the last, and a body that is
 * bolted to another is no link of its own.  A flexible body that is bolted is a link nevertheless,
 * for its modes need one; and so is each of its nodes that carries something.  Links are in the
 * order of their depth, so that neighbours do not depend on each other; a parent still comes
 * before its child.
 */
#pragma once

#include "dynamics/model.h"

enum dyn_tree_link_kind {
    DYN_TREE_LINK_REVOLUTE,  /* about z by q */
    DYN_TREE_LINK_PRISMATIC, /* along z by q */
    DYN_TREE_LINK_HELICAL,   /* both: about z by q, along z by pitch q */
    DYN_TREE_LINK_SPHERICAL, /* q is a quaternion, v in link axes */
    DYN_TREE_LINK_FREE,      /* q is x y z and a quaternion, v angular first in link axes */
    DYN_TREE_LINK_FIXED,     /* not at all, or as a node by the modes of its parent */
};

/* How the inward and outward pass treat a link, unless joints are held. */
enum dyn_tree_link_pass {
    DYN_PASS_REVOLUTE,      /* a joint that turns */
    DYN_PASS_LONE_REVOLUTE, /* the only link on its node: treated together with the node */
    DYN_PASS_FREE,          /* a free link */
    DYN_PASS_OTHER,
    DYN_PASS_LONE_NODE,  /* the node of such a joint: not treated by itself */
    DYN_PASS_EMPTY_NODE, /* a node that carries nothing */
};

/* A three-vector that fills four lanes; the last is zero. */
struct dyn_row {
    _Alignas(32) double e[4];
};

struct dyn_tree_link {
    _Alignas(64) int parent; /* -1: the world */
    enum dyn_tree_link_kind kind;
    enum dyn_tree_link_pass pass;
    int q_at, v_at;
    struct dyn_mat3 E;      /* axes of the parent to those of this link, but for its offset */
    struct dyn_vec3 origin; /* at q = 0, parent axes */
    double pitch;           /* travel along z per q */
    double offset;          /* about z, on top of q; not included in E and q */
    int axial;              /* 1: E is a turn about x */
    int massless;           /* 1: no inertia of its own at all */
    double mass;
    struct dyn_vec3 mc; /* mass times mass centre, link axes */
    struct dyn_vec3
        root[2]; /* I = sphere 1 + root[0] root[0]' + root[1] root[1]', about the origin */
    double sphere;
    double rotor;               /* ratio^2 inertia of the joint's rotor */
    struct dyn_vec3 rotor_spin; /* ratio inertia axis, parent axes; zero: not coupled */
    int has_rotor;
    int body;                                    /* whose joint or node this is */
    int modal;                                   /* its modes; -1: rigid */
    int node;                                    /* of its parent, by whose modes it moves; -1 */
    struct dyn_row sphere_rows[3], mass_rows[3]; /* the same two on a diagonal */
    struct dyn_row E_rows[3], origin_row;        /* E and origin in lanes */
};

/*
 * A link that only bends: its tables once more, in axes of its own, with x on the line from which
 * it bends.  Shapes of first order have no x there and those of second order nothing else, so two
 * thirds of the tables are zero; these are the rest.  J = tr(W) 1 - W, the symmetric part, is what
 * a mode adds to the inertia, and H the axial vector of W, with S.
 */
struct dyn_slender_link {
    struct dyn_mat3 E;     /* axes of the link to its own */
    struct dyn_row own[3]; /* undeformed: xx yy zz yz, xy xz of I and y z of mc, x of mc */
    double *across;        /* 6: Jxy Jxz Hy Hz Py Pz, which no mode changes */
    double *along;         /* by q, 6: d/deta_q of Jxx Jyy Jzz Jyz Hx Px */
    struct dyn_row *drift; /* by mode: 2 Jxy, 2 Jxz, Py, Pz */
};

/* The same of a node. */
struct dyn_slender_node {
    struct dyn_mat3 E;      /* axes of the slender link to those of the node's */
    struct dyn_vec3 origin; /* undeformed */
    double *across;         /* 4: y z of theta, y z of psi */
    double *along;          /* by q, 2: x of theta1 and of psi1 */
    struct dyn_row *drift;  /* across, by mode */
};

/*
 * The modes of a link: the integrals of flex.h about the link's origin, in link axes.  Mode by mode
 * in lanes: element c of mode p is at [c * lanes + p], and what depends on a second mode q begins
 * at [q * components * lanes].  Lanes beyond the last mode are empty: zero, with a mass of one.
 */
struct dyn_modal_link {
    int link;
    int q_at, v_at;
    int modes;
    int lanes;            /* modes, rounded up to whole vectors */
    int first_node;       /* index of its first node, whether or not it has any */
    int nodes;            /* the number of its nodes */
    int deforms;          /* 0: ruthless, the tables by q are not used */
    int has_second_order; /* 1: deforms, and P1 or G1 is not zero */
    int stiffens; /* 1: P1 and G1 include the geometric stiffness of the body's own bending */
    int rotary;   /* S is not zero */
    int has_diagonal_stiffness; /* K and C couple no modes */
    int is_slender;             /* 1: deforms, and the kernel reads `slender` instead of P to G1 */
    double slowest;             /* rad/s, the lowest frequency of a mode by itself */
    double length;              /* m, of the body; 0: not known */
    double *reach;              /* how far a mode moves any point of the body at most */
    double *inverse_bound;      /* 1 / eta at the bound of modal_bound.h */
    double *P;                  /* 3 */
    double *L;                  /* 9, by rows */
    double *S;                  /* 3 */
    double *Z0;                 /* 6: xx yy zz of L, xy xz yz of L + L' */
    double *P1;                 /* by q, 3: dP_p / deta_q = P2_pq */
    double *W1;                 /* by q, 9: dW_p / deta_q = N_pq + L2_pq */
    double *Y1;                 /* by q, 3: int psi_q x psi_p dm, the axial vector of N_pq */
    double *G1;                 /* by q, 3: int r x psi2_pq dm, that of L2_pq */
    double *M, *K, *C;          /* by q */
    double *k, *c;              /* 1: the diagonals of K and C */
    struct dyn_slender_link slender;
};

/* A node of a modal link: how its modes p move the origin and turn the axes, in the axes of that
 * link.  The link of the node has the rest. */
struct dyn_modal_node {
    int modal;
    int has_psi1;   /* 1: psi1 is used */
    int has_theta1; /* 1: theta1 is used */
    double *psi;    /* 3 */
    double *theta;  /* 3 */
    double *psi1;   /* by q, 3: dpsi_p / deta_q = psi2_pq */
    double *theta1; /* by q, 3 */
    struct dyn_slender_node slender;
};

/* A velocity along which the joint has passive forces. */
struct dyn_joint_force_entry {
    int v_at;
    int q_at; /* -1: a quaternion's, which has no coordinate */
    struct dyn_joint_force_spec force_spec;
};

/* A joint that mimics another.  Indices are into the full coordinates. */
struct dyn_mimic_joint {
    int q_at, v_at;
    int q_of, v_of; /* the leader's */
    double ratio, offset;
};

struct dyn_model {
    enum dyn_isa isa;
    int body_count;
    int link_count;
    int nq; /* coordinates of the specs; without mimicking joints they are also the links' */
    int nv;
    int full_nq; /* the links' */
    int full_nv;
    int force_entry_count;
    int mimic_joint_count;
    int modal_count;
    int node_count;

    struct dyn_tree_link *link;
    struct dyn_inertia *inertia; /* by link, about its origin, link axes */
    struct dyn_pose *place;      /* by link, at q = 0, in its parent */
    int *angle_at;       /* by link: q_at where it turns with its coordinate, else -1; three more */
    double *offset_sine; /* by link, of its offset, and a few lanes more */
    double *offset_cosine;
    struct dyn_joint_force_entry *force_entry;
    struct dyn_mimic_joint *mimic_joint;
    struct dyn_modal_link *modal;
    struct dyn_modal_node *node;
    int *node_link; /* by node */

    /* by body */
    struct dyn_body_spec *spec; /* axes and quaternions made unit to rounding */
    int *q_index;
    int *v_index;
    int *body_link;                       /* -1: bolted to the world */
    int *body_node;                       /* index of its first node, whether or not it has any */
    struct dyn_pose *body_in_link;        /* the body's frame in its link's */
    struct dyn_transform *link_from_body; /* the same as a transform */
};

/* Velocities and coordinates of a link's joint, its modes not counted.  Context: any. */
static inline int dyn_tree_link_nv(const struct dyn_tree_link *link)
{
    static const int count[] = {
        [DYN_TREE_LINK_REVOLUTE] = 1,  [DYN_TREE_LINK_PRISMATIC] = 1, [DYN_TREE_LINK_HELICAL] = 1,
        [DYN_TREE_LINK_SPHERICAL] = 3, [DYN_TREE_LINK_FREE] = 6,      [DYN_TREE_LINK_FIXED] = 0};
    return count[link->kind];
}

static inline int dyn_tree_link_nq(const struct dyn_tree_link *link)
{
    const int has_quat = link->kind == DYN_TREE_LINK_SPHERICAL || link->kind == DYN_TREE_LINK_FREE;
    return dyn_tree_link_nv(link) + has_quat;
}

/* 1 where the link turns with its one coordinate.  Context: any. */
static inline int dyn_tree_link_turns(const struct dyn_tree_link *link)
{
    return link->kind == DYN_TREE_LINK_REVOLUTE || link->kind == DYN_TREE_LINK_HELICAL;
}
