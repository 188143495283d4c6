/*
 * Gravity in orbit: at the base of the vehicle, and its difference at each body.  Private to
 * dynamics/ and tests/.
 *
 * The kernel has one uniform gravity, that of the base (the origin of the first link).  The
 * difference at the mass centre of a body is a force on it, and the gradient over the body a
 * torque:
 *
 *      force  = m (g(r) - g(base))
 *      torque = 3 mu / r^3  u x (I u)          u = r / |r|, I about the mass centre
 *
 * The torque is that of a spherical Earth: J2 would add a thousandth.  A flexible body counts as
 * if it did not bend.
 */
#pragma once

#include "dynamics/kernel/work.h"
#include "dynamics/plant_spec.h"

/* By body, in body axes. */
struct dyn_orbital_gravity_body {
    double mass;
    struct dyn_vec3 center;
    struct dyn_sym3 inertia; /* about the mass centre, with the rotors of wheels */
};

/* Fill in the constants of the bodies.  Context: setup. */
void dyn_orbital_gravity_place(const struct dyn_plant *plant,
                               struct dyn_orbital_gravity_body *gravity_body);

/* Where the kernel's gravity is taken; after dyn_aba_velocity_pass().  Context: frame. */
struct dyn_vec3 dyn_orbital_gravity_base(const struct dyn_work *work);

/* Gravity at r, and the difference of gravity at r + d and at r: exact for the sphere, and without
 * loss of digits where d is small.  Context: frame. */
struct dyn_vec3 dyn_orbital_gravity_at(const struct dyn_environment *environment,
                                       struct dyn_vec3 r);
struct dyn_vec3 dyn_orbital_gravity_difference(const struct dyn_environment *environment,
                                               struct dyn_vec3 r, struct dyn_vec3 d);

/* The load on every body, after dyn_aba_velocity_pass().  Context: frame. */
void dyn_orbital_gravity_loads(const struct dyn_plant *plant,
                               const struct dyn_orbital_gravity_body *gravity_body,
                               const struct dyn_work *work, struct dyn_load *load);
