/*
 * Natural modes of a uniform span in one direction: of bending (v'''' = beta^4 v), and of a rod
 * that twists or stretches (u'' = -beta^2 u).  Length, mass and stiffness of the span are one; the
 * coordinate s runs from 0, the root, to 1, the tip, which may carry a body.
 */
#pragma once

#include <stdbool.h>

enum cfg_beam_root {
    CFG_ROOT_CLAMPED,
    CFG_ROOT_FREE,
    CFG_ROOT_PINNED, /* free to turn in bending; a rod is clamped */
};

struct cfg_beam_span {
    enum cfg_beam_root root;
    double tip_mass;    /* per mass of the span; of a rod that twists, inertias */
    double tip_inertia; /* per mass times square of length; in bending only */
};

struct cfg_beam_wave {
    double beta;
    double rate; /* rad per unit of time: beta^2 in bending, beta of a rod */
    bool slow;   /* the set of functions, see beam_modes.c */
    double amount[4];
};

/* The elastic mode number k, from 0: rigid modes of a free or pinned span do not count.  Of unit
 * modal mass, tip included; positive at the root in its first derivative that does not vanish
 * there.  Context: setup. */
struct cfg_beam_wave cfg_beam_wave_bending(const struct cfg_beam_span *span, int k);
struct cfg_beam_wave cfg_beam_wave_rod(const struct cfg_beam_span *span, int k);

/* Deflection at s, slope and curvature.  Context: setup. */
void cfg_beam_wave_at(const struct cfg_beam_wave *wave, double s, double derivative[3]);

/* Points of a Gauss rule over the span that integrate products of two waves up to this beta to
 * rounding.  Context: setup. */
int cfg_beam_wave_points(double beta);
