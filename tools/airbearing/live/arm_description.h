/*
 * How an arm is flown, for pages: joints and limits, modes and buttons, payloads and poses.
 */
#pragma once

#include "config/scenario.h"

/* In JSON; NULL: there is no arm.  To be freed.  Context: setup. */
char *arm_description(const struct cfg_scenario *scenario);
