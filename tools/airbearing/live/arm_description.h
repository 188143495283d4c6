/*
 * The description of an arm for viewers: joints and limits, modes and buttons, payloads and
 * poses.
 */
#pragma once

#include "config/scenario.h"

/* As JSON; NULL: there is no arm.  The caller frees it.  Context: setup. */
char *arm_description(const struct cfg_scenario *scenario);
