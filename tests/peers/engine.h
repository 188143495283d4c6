/*
 * ENGINE: the forward dynamics of another project, asked in our conventions.
 *
 * Two of the engines are C++ and our headers are not, so a model crosses in the plain structs
 * below. A joint is a row of simple motions, one after another, in the axes of the joint:
 *
 *      parent --place--> motion[0] --> motion[1] --> ... --> body
 *
 * so that a joint type of ours needs no counterpart in the engine.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum engine_motion_type {
    ENGINE_TURN,
    ENGINE_SLIDE,
    ENGINE_BALL, /* q = w x y z, v in body axes */
    ENGINE_FREE, /* q = x y z  w x y z, v = angular, linear in body axes; on the world, no place */
};

enum { ENGINE_MOTION_MAX = 3 };

struct engine_motion {
    enum engine_motion_type type;
    double axis[3]; /* unit; turn and slide */
    int q, v;       /* where its numbers begin in q and in v, tau, a */
};

struct engine_body {
    int parent; /* index, lower than its own; -1: the world */
    double place_xyz[3], place_quat[4];
    int motion_count; /* 0: fixed to its parent */
    struct engine_motion motions[ENGINE_MOTION_MAX];
    double mass;
    double center[3];
    double inertia[6]; /* about the mass centre, body axes: xx yy zz xy xz yz */
};

struct engine_model {
    int body_count;
    const struct engine_body *bodies;
    int nq, nv;
    double gravity[3];
};

/* States wait in slots in the engine's own convention, so that a benchmark times the engine and not
 * the conversion. */
struct engine {
    const char *name;
    int serial_only; /* knows only chains of turns and slides */
    void *(*open)(const struct engine_model *model, int slot_count); /* NULL: it cannot */
    void (*put)(void *self, int slot, const double *q, const double *v, const double *tau);
    void (*run)(void *self, int slot);            /* sets the state and finds the acceleration */
    void (*get)(void *self, int slot, double *a); /* of the run() just done */
    void (*close)(void *self);
};

/* By name, or NULL when this build has no such engine.  Context: setup. */
const struct engine *engine_find(const char *name);

extern const struct engine engine_mujoco, engine_simbody, engine_kdl;

#ifdef __cplusplus
}
#endif
