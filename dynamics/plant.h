/*
 * The whole vehicle: tree, effectors and environment, stepped together.
 *
 * All continuous state (q, v, effector states) lies in one flat array x, so a snapshot is a memcpy:
 *
 *      x = [ q (nq) | v (nv) | effectors, one after the other | history of the integrator ]
 *
 * Effectors are evaluated at every integrator stage.  A command is held over the step.
 */
#pragma once

#include <stddef.h>

#include "dynamics/plant_spec.h"

/* A work is placed for the model, the integrator, the kind of the world, type and body of every
 * effector, and whether anything may be held; what else changes does not matter to it. */
struct dyn_plant_work; /* scratch; means nothing between two calls, but solve and motion */

/* Doubles in x, history included.  Context: setup. */
int dyn_plant_state_count(const struct dyn_plant *plant);

/* x at rest in the zero pose (unit quaternion).  Context: setup. */
void dyn_plant_rest(const struct dyn_plant *plant, double *x);

/* x was changed by other means than a step: forget the rates of the steps before, which led to
 * another x.  A whole x put back, history included, needs no restart.  Context: frame. */
void dyn_plant_restart(const struct dyn_plant *plant, double *x);

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_plant_work_size(const struct dyn_plant *plant);
struct dyn_plant_work *dyn_plant_work_place(const struct dyn_plant *plant, void *mem);

/* x(t) -> x(t + h), in place, h positive; commands: one per effector, held; joint_tau: nv
 * generalized forces held over the step, may be NULL.  Never allocates, blocks or fails; a result
 * that is not finite leaves x as it was and returns 0, else 1.  Context: frame. */
int dyn_plant_step(const struct dyn_plant *plant, const double *commands, const double *joint_tau,
                   double h, struct dyn_plant_work *work, double *x);

/* dx/dt at this x, of q, v and the effectors' states, without dry friction but of held joints.
 * Context: frame. */
void dyn_plant_derivative(const struct dyn_plant *plant, const double *commands,
                          const double *joint_tau, const double *x, struct dyn_plant_work *work,
                          double *rate);

/* The motion of a device mounted on a body, at this x with these commands. */
struct dyn_motion {
    double position[3];       /* of the mounting point, world */
    double attitude[4];       /* body axes in world, w x y z */
    double velocity[3];       /* of the point, world */
    double rate[3];           /* body axes, rad/s */
    double specific_force[3]; /* body axes, m/s^2: acceleration of the point minus gravity */
    double magnetic_field[3]; /* body axes, tesla */
    double air_velocity[3];   /* body axes, m/s: of the point against the air */
};

/* Solve once for the accelerations at x; dyn_plant_motion() then reads any number of points, with
 * the same x and until the next step or solve.  Context: frame. */
void dyn_plant_solve(const struct dyn_plant *plant, const double *commands, const double *joint_tau,
                     const double *x, struct dyn_plant_work *work);
void dyn_plant_motion(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                      const double *x, int body, const double point[3], struct dyn_motion *motion);

/* The same, but of motion only position, attitude, velocity and rate.  Context: frame. */
void dyn_plant_kinematics(const struct dyn_plant *plant, const struct dyn_plant_work *work,
                          const double *x, int body, const double point[3],
                          struct dyn_motion *motion);

/* The battery at the last solve.  Context: any. */
struct dyn_supply dyn_plant_supply(const struct dyn_plant_work *work);

/* What is wrong with the parts together (each by itself: dyn_model_problem, dyn_effector_problem),
 * or NULL.  In orbit the first body is free, for gravity is taken at its origin; and semi-implicit
 * Euler, of first order, would add speed to a velocity of km/s in the axes of a body that turns.
 * Context: setup. */
const char *dyn_plant_problem(const struct dyn_plant *plant);

/* dv/dt of the last solve, nv values.  Context: any. */
const double *dyn_plant_acceleration(const struct dyn_plant_work *work);

/* The force that holding took at the last evaluation, of a step or a solve: nv values, zero where
 * nothing is held; NULL where nothing can be.  Context: any. */
const double *dyn_plant_held_force(const struct dyn_plant_work *work);
