/*
 * The kernel's scratch, arrays by link.  Private to dynamics/ and tests/.
 *
 * Accelerations are classical: of the material point at the link origin, as an accelerometer there
 * would measure it, not the spatial accelerations of Featherstone.  So no force depends on linear
 * velocity, and a vehicle at orbital speed loses no digits to v x (m v).
 */
#pragma once

#include "dynamics/kernel/link_tree.h"
#include "dynamics/state.h"

/*
 * Forward dynamics, all in world axes and about the link's own origin.  Only axes are the world's:
 * every arm begins at the parent's origin, so a vehicle far from the world's loses no digits, and
 * nothing has to be turned from link to link.
 */
struct dyn_tree_link_work {
    struct dyn_row R[3];     /* the link's axes */
    struct dyn_row r;        /* from the parent's origin */
    struct dyn_row w;        /* angular velocity */
    struct dyn_row travel;   /* of the origin in the parent; not of a link that only turns */
    struct dyn_row ca, cl;   /* acceleration that the velocities alone cause across the joint */
    struct dyn_row I[3];     /* articulated inertia [ I H ; H' M ]: columns of I */
    struct dyn_row H[3];     /* rows of H */
    struct dyn_row M[3];     /* columns of M */
    struct dyn_row pa, pl;   /* articulated bias force */
    struct dyn_row ga, gl;   /* one-dof links: D^-1 U, moved to the parent's origin; of a node with
                                a lone hinge ga is the arm to the hinge */
    struct dyn_row keep[2];  /* U at the parent's origin */
    struct dyn_row alpha, a; /* acceleration minus gravity */
    double ud;               /* D^-1 u */
};

/* One of several velocities eliminated in one link. */
struct dyn_column_work {
    struct dyn_row ga, gl; /* D^-1 U at the link's own origin */
    double ud;
    double D_inv;
};

/*
 * The modes of a link beside its articulated inertia A and bias p, in world axes.  Until they are
 * eliminated
 *
 *      [ A   B ] [ a      ]   [ p ]
 *      [ B'  D ] [ eta'' ]  + [ f ]
 *
 * are the forces that the joint and the modes have to bear.  Rows over modes, as in
 * dyn_modal_link.
 *
 * They are eliminated four by four.  Then the four rows of D hold how these modes depend on the
 * link and on the modes behind them: in the place of the four themselves D^-1 B', the angular half
 * with D^-1 f behind it, and behind that D^-1 D; the linear half is in Z.  D of the four at the
 * time of their elimination is in F.
 */
struct dyn_modal_work {
    double *eta, *xi; /* of the state, and zeros in the empty lanes */
    double *B;        /* 6 rows, angular first */
    double *D;        /* a row by mode */
    double *f;
    double *Z, *F;     /* 4 each, a row by mode */
    double *a;         /* eta'' */
    struct dyn_row *R; /* a slender link's own axes */
};

/* Scratch of mimic.h; empty where no joint mimics another.  Full coordinates. */
struct dyn_mimic_work {
    double *q, *v;             /* the state of all links */
    double *a, *tau;           /* of all links */
    unsigned char *held;       /* with every leader and mimicking joint */
    double *held_a, *held_tau; /* of all links */
    double *still;             /* velocities at rest */
    double *unit;              /* one leader accelerates */
    double *need;              /* the holding forces, projected on the leaders */
    double *inertia;           /* Lambda, by rows */
    double *y;                 /* by leader: its acceleration */
    int *leader;               /* its velocity */
};

struct dyn_work {
    /* computed by dyn_aba_velocity_pass and dyn_aba_solve; link[-1] is the world */
    struct dyn_tree_link_work *link;
    struct dyn_column_work *column; /* by velocity; ball and free links */
    double *sine, *cosine;          /* by link, of its angle; zero and one where there is none */
    double *tau;                    /* by velocity: the given forces plus the joints' own */
    struct dyn_modal_work *modal;
    double **node; /* by node: 6 rows over the modes, how they move its origin, world axes */

    /* computed by dyn_kinematics, in link axes */
    struct dyn_transform *X; /* parent to link */
    struct dyn_vec6 *v;
    struct dyn_vec6 *c; /* as ca, cl */

    /* computed by dyn_rnea, in link axes */
    struct dyn_vec6 *f; /* force through the joint */
    struct dyn_vec6 *a; /* acceleration minus gravity */

    struct dyn_mimic_work mimic;
};
