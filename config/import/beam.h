/*
 * A uniform Euler-Bernoulli beam as modes, stations and nodes of a flexible body.
 *
 * In its own frame the beam lies along +x, from the root at the origin.  Its modes are natural ones
 * in four families; a rigid body at the tip is part of the beam and of its modes.  With v, w the
 * deflections along y and z, phi the twist and u the stretch, a point at x moves, to second order,
 *
 *      to      (u - 1/2 int (v'^2 + w'^2), v, w)
 *      turned  (phi + 1/2 int (v' w'' - w' v''), -w' + 1/2 v' phi + w' u', v' + 1/2 w' phi - v' u')
 *
 * integrals from 0 to x, the turn being twice Gibbs' vector: the section stays across the beam, the
 * beam keeps its length but for u', and turns about itself by phi' alone.
 */
#pragma once

#include <stdbool.h>

#include "config/import/beam_modes.h"
#include "config/yaml/load_arena.h"
#include "dynamics/flex/modal.h"
#include "dynamics/math/spatial.h"

/* The order of the modes; within a family by frequency. */
enum cfg_beam_family {
    CFG_BEAM_BEND_Y, /* deflection along y */
    CFG_BEAM_BEND_Z,
    CFG_BEAM_TWIST,
    CFG_BEAM_STRETCH,
    CFG_BEAM_FAMILIES
};

struct cfg_beam {
    struct dyn_pose pose; /* of the beam's frame in the body */
    double length;
    double mass;                         /* without the tip */
    double polar;                        /* kg m^2, of the whole beam about its own axis */
    double stiffness[CFG_BEAM_FAMILIES]; /* EI in N m^2, EI, GJ, EA in N */
    enum cfg_beam_root root;
    double tip_mass;
    double tip_inertia[3]; /* about the tip, kg m^2, along the beam's x y z */
    int modes[CFG_BEAM_FAMILIES];
    bool floats; /* the root may move in the shapes, under a free joint; else the body frame is
                    fixed to the root, by dyn_modal_clamp, and M is full */
};

struct cfg_beam_mode {
    enum cfg_beam_family family;
    double rate; /* rad/s */
    double size; /* of the wave, for unit modal mass */
    struct cfg_beam_wave wave;
};

/* The modes and the stations, to be integrated by dyn_modal_integrate. */
struct cfg_beam_form {
    struct cfg_beam beam;
    int modes;
    struct cfg_beam_mode *mode;
    int stations; /* Gauss points, ascending, and the tip's body if there is one */
    struct dyn_station *station;
    struct dyn_node root; /* before the frame was fixed to it */
};

/* The problem with the numbers as a text; NULL: none.  Context: setup. */
const char *cfg_beam_problem(const struct cfg_beam *beam);

/* Compute the modes and stations of a beam without a problem; all memory is the pool's.  Context:
 * setup. */
void cfg_beam_shape(struct cfg_load_arena *pool, const struct cfg_beam *beam,
                    struct cfg_beam_form *form);

/* A node at x, metres from the root, with all of its shapes.  Context: setup. */
void cfg_beam_node(struct cfg_load_arena *pool, const struct cfg_beam_form *form, double x,
                   struct dyn_node *node);
