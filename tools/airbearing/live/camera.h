/*
 * The cameras of a scenario, for viewers.
 */
#pragma once

#include "config/scenario.h"

/* [{"name", "body", "at", "look", "up", "field"}, ...] as JSON: vectors in body axes, field in
 * degrees, body "world" for a fixed camera.  NULL: the scenario has none.  The caller frees it.
 * Context: setup. */
char *camera_json(const struct cfg_scenario *scenario);
