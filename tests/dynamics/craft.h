/*
 * A tree made into a plant with a state, ready to be stepped.
 */
#pragma once

#include "dynamics/analysis/monitor.h"
#include "tests/dynamics/tree.h"

enum { CRAFT_EFFECTOR_MAX = 16, CRAFT_X_MAX = 2 * TREE_NV_MAX };

struct craft {
    struct tree tree;
    struct dyn_effector effectors[CRAFT_EFFECTOR_MAX];
    double commands[CRAFT_EFFECTOR_MAX];
    struct dyn_plant plant; /* after craft_build() */
    struct dyn_plant_work *work;
    struct dyn_monitor_work *monitor;
    int x_count;
    double x[CRAFT_X_MAX];
    _Alignas(64) unsigned char work_mem[1 << 18];
    _Alignas(64) unsigned char monitor_mem[1 << 14];
};

/* An effector more; which one it is. */
int craft_add(struct craft *craft, const struct dyn_effector *effector);

/* A wheel with an ideal motor on a body. */
void craft_add_wheel(struct craft *craft, int body, double ax, double ay, double az,
                     double inertia);

/* Where the states of an effector are. */
double *craft_states(struct craft *craft, int effector);

/* The plant of the tree (built before), RK4, with the tree's q, v and gravity; wheels at rest. */
void craft_build(struct craft *craft);

/* Change to another integrator, with nothing behind it; x goes on from where it is. */
void craft_use(struct craft *craft, enum dyn_integrator integrator);

/* A bus of 100 kg with two hinged, sprung panels and three wheels with friction; turning. */
void craft_satellite(struct craft *craft);

/* So many steps of h with the commands held; fails the test when a step does. */
void craft_run(struct craft *craft, int steps, double h);

struct dyn_monitor craft_monitor(struct craft *craft);
void craft_poison(struct craft *craft);
