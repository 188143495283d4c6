/*
 * What the hand of an arm has: configuration 0 is nothing, configuration 1 + i is payload i.  The
 * kernel has a model for each.
 */
#pragma once

#include "rt/executive/spec.h"

/* Context: any. */
int sim_arm_configuration_count(const struct sim_spec *spec);
int sim_arm_first_configuration(const struct sim_spec *spec);

/* The bodies, as many as the spec has, as the kernel sees them then.  Context: setup. */
void sim_arm_configuration_specs(const struct sim_spec *spec, int configuration,
                                 struct dyn_body_spec *specs);
