/*
 * A robot from its URDF: its links, its joints and their tree.
 *
 * Read are link (inertial), joint (origin, axis, limit, dynamics, mimic) and the elements in them;
 * on request also the visuals of a link.  Collision geometry, meshes, transmissions and the
 * extensions of other programs are ignored, but a name that looks like a misspelt known one is
 * refused. Units are SI, as in URDF.
 */
#pragma once

#include "config/import/mimic.h"
#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/model.h"

struct cfg_element;

enum { CFG_URDF_LINKS_MAX = 16384 };

struct cfg_urdf_link {
    const char *name;
    struct cfg_mark mark;
    double mass;       /* 0 without an inertial element */
    double center[3];  /* mass centre in link axes */
    double inertia[6]; /* about the mass centre, link axes: xx yy zz xy xz yz */
    const struct cfg_element *element;
};

/* The limits of the joint; infinite where the file sets none. */
struct cfg_urdf_limit {
    double lower, upper; /* rad or m; infinite for continuous, planar and floating joints */
    double effort, velocity;
};

struct cfg_urdf_joint {
    const char *name;
    struct cfg_mark mark;
    enum dyn_joint_type type; /* fixed, revolute (also continuous), prismatic, planar, free */
    int parent, child;        /* link indices */
    double xyz[3], quat[4];   /* joint frame relative to the parent link */
    double axis[3];           /* unit, joint axes; of a planar joint the normal of its plane */
    double axis2[3];          /* planar: the first direction in which it slides, see README.md */
    struct cfg_urdf_limit limit;
    double damping;  /* N m s/rad or N s/m */
    double friction; /* N m or N, Coulomb; kept, not part of the dynamics */
};

/* True when the joint has one coordinate, which another joint can mimic.  Context: any. */
static inline bool cfg_urdf_is_single(const struct cfg_urdf_joint *joint)
{
    return joint->type == DYN_JOINT_REVOLUTE || joint->type == DYN_JOINT_PRISMATIC;
}

struct cfg_urdf {
    const char *name;
    int link_count, joint_count; /* a tree: one joint less than links */
    struct cfg_urdf_link *links; /* both in file order */
    struct cfg_urdf_joint *joints;
    struct cfg_mimic *mimics; /* by joint; a leader follows no other */
    int root;                 /* the link that is the child of no joint */
    int *order;               /* joint indices, parent before child, file order otherwise */
    const struct cfg_element *robot;
};

/* Read and check a text that ends with NUL. The robot is allocated from the pool.  NULL with the
 * complaint in report.  Context: setup. */
const struct cfg_urdf *cfg_urdf_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                      struct cfg_complaint *report);

/* Find root and order; false with a complaint where the joints are not a tree.  Context: setup. */
bool cfg_urdf_sort(struct cfg_urdf *urdf, struct cfg_load_arena *pool,
                   struct cfg_complaint *report);

/* One visual of a link that is a box, a cylinder or a sphere. */
enum cfg_urdf_form { CFG_URDF_BOX, CFG_URDF_CYLINDER, CFG_URDF_SPHERE };

struct cfg_urdf_visual {
    enum cfg_urdf_form form;
    double xyz[3], quat[4]; /* link axes */
    double size[3];         /* m: of a box; else radius, and length along z */
    bool painted;
    double rgba[4];
};

/* The visuals of a link without meshes. Returns their number, with *visuals in the pool; -1 with
 * the complaint in report.  Context: setup. */
int cfg_urdf_visuals(const struct cfg_urdf *urdf, int link, struct cfg_load_arena *pool,
                     struct cfg_complaint *report, struct cfg_urdf_visual **visuals);
