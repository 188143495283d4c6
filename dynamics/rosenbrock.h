/*
 * ROS2: a two-stage L-stable integrator for stiff modes.  Private to dynamics/ and tests/.
 *
 * ROS2 (Verwer, Spee, Blom and Hundsdorfer 1999), a W-method: of second order whatever A is, so A
 * need only hold what is stiff, the springs and dampers of the modes:
 *
 *      (1 - s A) k1 = f(x)                           s = gamma h, gamma = 1 - 1 / sqrt(2)
 *      (1 - s A) k2 = f(x + h k1) - 2 k1
 *      x(t + h) = x + 3/2 h k1 + 1/2 h k2
 *
 * With this gamma it is L-stable: a mode much faster than the step goes to its equilibrium, one
 * much slower is followed with an error of h^3 a step.  On the way a mode of frequency w loses
 * 0.0037 (w h)^4 of its amplitude a step: 0.3 % at w h = 1, 10 % at 3, half at 9.  A mode that
 * should ring must be slower than that.
 *
 * The rows of the modes times M read (M + s C + s^2 K) eta'' = ..., which the kernel eliminates as
 * it does M (dyn_input.modal_implicit_step); everything else has A = 0, and Heun's rule is left.
 */
#pragma once

#include "dynamics/plant_rate.h"

/* x(t) -> x(t + h), in place, but for the length of quaternions.  Context: frame. */
void dyn_rosenbrock(const struct dyn_plant *plant, const struct dyn_plant_input *plant_input,
                    double h, struct dyn_plant_work *work, double *x);
