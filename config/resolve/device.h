/*
 * Resolves devices one by one: a sensor or an effector.
 */
#pragma once

#include "config/resolve/resolve.h"

/* The next sensor or effector of the scenario.  false with the complaint in report.
 * Context: setup. */
bool cfg_resolve_sensor(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys);
bool cfg_resolve_effector(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys);
