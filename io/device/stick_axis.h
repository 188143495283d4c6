/*
 * An axis of a hand controller: from where the stick stands to what the operator means by it.
 *
 *      out  scale |                     /      Inside the dead band a hand that rests means
 *                 |                   /        nothing.  From its edge on the way out begins at 0,
 *                 |               __/          so there is no step; full deflection is the scale,
 *               0 |___________.--              exactly, whatever expo does to the way between.
 *                 0      dead band       1  in
 *
 * The curve is odd, continuous, and never falls while the stick goes out, to the last bit.
 */
#pragma once

#include <stdbool.h>

struct io_stick_axis_spec {
    double dead_band; /* share of the way, 0 to below 1 */
    double expo;      /* 0: straight, 1: the cube; fine near the centre */
    double scale;     /* at full deflection */
    bool invert;
};

/* where: -1 to 1; beyond that is full deflection, and NAN is the centre.  Context: frame. */
double io_stick_axis_shape(const struct io_stick_axis_spec *spec, double where);
