/*
 * Gravity in the form of the command line: X,Y,Z in m/s^2.
 */
#pragma once

#include <stdbool.h>

/* False when the text is not three finite numbers with commas between.  Context: setup. */
bool gravity_option_parse(const char *text, double gravity[3]);
