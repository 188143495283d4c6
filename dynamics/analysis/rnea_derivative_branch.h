/*
 * The derivatives of the forces by pairs of velocities: of one velocity, and of each velocity
 * between its link and the root.  Private to rnea_derivative.c.
 * Tested by tests/dynamics/analysis/test_linearize.c.
 */
#pragma once

#include "dynamics/analysis/rnea_derivative_parts.h"

/* Velocity j of the joint of link i.  The composites of link i are complete.  Context: frame. */
void dyn_rnea_derivative_fill_joint(const struct dyn_model *model,
                                    const struct dyn_rnea_derivative_work *work, int i, int j,
                                    const struct dyn_rnea_derivative_full *derivative);

/* All modes of a flexible link.  Context: frame. */
void dyn_rnea_derivative_fill_modes(const struct dyn_model *model,
                                    const struct dyn_rnea_derivative_work *work,
                                    const struct dyn_modal_link *modal,
                                    const struct dyn_rnea_derivative_full *derivative);
