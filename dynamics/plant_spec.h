/*
 * The parts of a plant: the tree, its effectors, the environment and the integrator.
 */
#pragma once

#include "dynamics/effector/effector.h"
#include "dynamics/model.h"
#include "dynamics/world/environment.h"

/*
 * Semi-implicit Euler is of first order, the others of the order in their name.  RK2 (midpoint)
 * evaluates the forces twice a step, RK4 four times, the rest once.  ROS2 evaluates them twice and
 * stays stable when a mode of a flexible body is faster than the step (rosenbrock.h).
 *
 * Adams-Bashforth also uses the rates of the one to three steps before, which make up the history:
 * every step must have the same length, and x changed by hand needs dyn_plant_restart().  Its first
 * steps, until the history is full, are steps of RK4 and cost as much.  It takes the rates to be
 * smooth: a command that jumps overshoots at first and in the end has acted half a step too early,
 * an error of first order; so is what it makes of dry friction (friction.h).
 */
enum dyn_integrator {
    DYN_SEMI_IMPLICIT_EULER,
    DYN_RK2,
    DYN_RK4,
    DYN_AB2,
    DYN_AB3,
    DYN_AB4,
    DYN_ROS2,
};

struct dyn_plant {
    const struct dyn_model *model;
    int effector_count;
    const struct dyn_effector *effectors;
    struct dyn_environment environment;
    enum dyn_integrator integrator;
    int substeps;              /* integrator steps per frame, >= 1 */
    double step;               /* s, of the integrator: what dyn_plant_solve() takes dry friction
                                  over (friction.h); 0: 1 ms */
    const unsigned char *held; /* nv, 1: the acceleration is given, not found; NULL: none */
    const double *held_a;      /* nv, read where held; NULL: zero, locked */
};

/* The battery at one instant; without a battery voltage and current are zero, and ratio is 1. */
struct dyn_supply {
    double power;   /* W, of all rotors against the air */
    double voltage; /* V; 0 without a battery */
    double current; /* A */
    double ratio;   /* of the full voltage */
};

/* Where the states of an effector begin in x.  Context: setup. */
int dyn_plant_effector_index(const struct dyn_plant *plant, int effector);
