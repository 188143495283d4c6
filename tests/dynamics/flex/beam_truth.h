/*
 * Uniform clamped-free Euler-Bernoulli beams along x, from the clamp at the origin: closed forms,
 * and lumps at the points of a quadrature rule.  Modes are mass-normalised and begin upward.
 */
#pragma once

#include "tests/dynamics/flex/lumps.h"

struct beam {
    double length, density, stiffness; /* m, kg/m, EI or EA */
};

/* In which direction and of which order, from 1. */
enum beam_way { BEAM_STRETCH, BEAM_Y, BEAM_Z };
struct beam_mode {
    enum beam_way way;
    int order;
};

/* Gauss-Legendre on [0, length], n at most LUMPS_MAX. */
void beam_points(int n, double length, double *at, double *weight);

/* rad/s */
double beam_frequency(const struct beam *beam, struct beam_mode mode);

double beam_shape(const struct beam *beam, struct beam_mode mode, double x);
double beam_slope(const struct beam *beam, struct beam_mode mode, double x);

/* int_0^x slope_a slope_b of two bending modes: what they draw in; zero across planes. */
double beam_drawn(const struct beam *beam, struct beam_mode a, struct beam_mode b, double x);

/* So many modes, at most LUMPS_MODES_MAX, springs by their frequencies, and the tip as a node. */
void beam_lumps(const struct beam *beam, int modes, const struct beam_mode *mode,
                struct lumps *lumps);
