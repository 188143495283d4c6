/*
 * An axis of a hand controller: from the deflection of the stick to the control value.
 *
 *      out  scale |                     /      Inside the dead band the output is 0.
 *                 |                   /        From its edge on the output starts at 0,
 *                 |               __/          so there is no step; full deflection is the scale,
 *               0 |___________.--              exactly, whatever expo does in between.
 *                 0      dead band       1  in
 *
 * The curve is odd, continuous, and never decreases with the deflection, to the last bit.
 */
#pragma once

#include <stdbool.h>

struct io_stick_axis_spec {
    double dead_band; /* fraction of the deflection, 0 to below 1 */
    double expo;      /* 0: straight, 1: the cube; fine near the centre */
    double scale;     /* at full deflection */
    bool invert;
};

/* where: -1 to 1; beyond that is full deflection, and NaN is the centre.  Context: frame. */
double io_stick_axis_shape(const struct io_stick_axis_spec *spec, double where);
