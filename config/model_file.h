/*
 * MODEL of the command line: a tree of bodies from a URDF or from a scenario, ready for the kernel.
 *
 * The coordinates of a model file are in this order: base first, then the joints in the order of
 * the file, then the modes body by body.  The kernel has its bodies parent before child, with their
 * modes among them.  q_at and v_at map the first order to the second.
 *
 * Tested by tests/config/import/test_robot.c.
 */
#pragma once

#include <stdbool.h>

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/model.h"

/* The joint between a URDF's root and the world. A scenario has its own. */
enum cfg_base { CFG_BASE_UNSAID, CFG_BASE_FIXED, CFG_BASE_FREE }; /* not given: fixed */

/* The start of a joint in a scenario; for a URDF the zero pose, with nothing held. */
struct cfg_model_start {
    double q[7];
    bool held[DYN_JOINT_DOF_MAX];                      /* locked, or with a prescribed motion */
    double v[DYN_JOINT_DOF_MAX], a[DYN_JOINT_DOF_MAX]; /* of a held joint; else zero */
    const double *eta;                                 /* of its body's modes; NULL: none */
};

struct cfg_model_joint {
    const char *name; /* of the joint; of its body in a scenario, and for a free base */
    int body;
    int q_first, v_first; /* in the order of the file; as many as dyn_joint_nq() and _nv() say */
    int modes;            /* of its body */
    int mode_first;       /* the first of their rates: after those of all joints, body by body */
    double lower, upper, effort, velocity; /* infinite where the file sets no bound */
    double friction;                       /* Coulomb; kept, not part of the dynamics */
    struct cfg_model_start start;
};

struct cfg_model {
    int body_count;
    struct dyn_body_spec *specs; /* parent before child */
    const char **body_names;
    struct dyn_model *tree;
    int joint_count;
    /* joints that move or whose body is flexible: free joints on the world first, then the others
     * in file order; a joint that mimics another is included and has no coordinate */
    struct cfg_model_joint *joints;
    int nq, nv;
    int *q_at, *v_at;  /* the kernel's index of each coordinate of the file */
    double gravity[3]; /* of the scenario; for a URDF 0 0 -9.81 */
    struct cfg_load_arena pool;
    struct cfg_load_arena kept; /* memory that the specs of flexible bodies point to */
};

/* A file that begins with `<` is a URDF, any other a scenario.  Of a scenario only the bodies are
 * used, with the rotors of its wheels locked; the caller reads which joints are held and holds
 * them.  The kernel is that of AIRBEARING_ISA, else the best that runs.  0, or -EINVAL (-errno for
 * an unreadable file) with exactly one line in error. Context: setup. */
int cfg_model_load(const char *path, enum cfg_base base, struct cfg_model **model,
                   char error[CFG_ERROR_MAX]);
/* The same from memory, with NUL at the end of the text; messages call it `name`.
 * Context: setup. */
int cfg_model_load_text(const char *name, const char *text, size_t size, enum cfg_base base,
                        struct cfg_model **model, char error[CFG_ERROR_MAX]);
void cfg_model_free(struct cfg_model *model);
