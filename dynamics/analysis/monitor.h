/*
 * Quantities that physics conserves, as a check of the kernel.
 *
 * Coded without the kernel: sums over bodies in world axes, from the author's specs, with
 * kinematics of its own.  The rotors of wheels, of propellers and of geared joints count, and so
 * do modes; of a body whose fidelity is `ruthless` their rates do, but not where they put its
 * mass.
 */
#pragma once

#include <stddef.h>

#include "dynamics/plant.h"

struct dyn_monitor {
    double kinetic;             /* J */
    double potential;           /* J: gravity (zero at the world origin; in orbit far away, and as
                                   if nothing bent), joint springs and limits, and what bends */
    double mass;                /* kg */
    double speed;               /* m/s, of the fastest body's origin in the world */
    int fastest;                /* which that is */
    double center[3];           /* mass centre, world, m */
    double linear_momentum[3];  /* world, kg m/s */
    double angular_momentum[3]; /* about the world origin, world axes, kg m^2/s */
};

struct dyn_monitor_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_monitor_work_size(const struct dyn_plant *plant);
size_t dyn_monitor_work_bytes(int body_count); /* the same before there is a plant */
struct dyn_monitor_work *dyn_monitor_work_place(const struct dyn_plant *plant, void *mem);

/* Context: frame. */
void dyn_monitor_compute(const struct dyn_plant *plant, const double *x,
                         struct dyn_monitor_work *work, struct dyn_monitor *monitor);
