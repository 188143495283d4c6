/*
 * Gravity as the command line gives it: X,Y,Z in m/s^2.
 */
#pragma once

#include <stdbool.h>

/* false: text is not three finite numbers with commas between.  Context: setup. */
bool gravity_option_parse(const char *text, double gravity[3]);
