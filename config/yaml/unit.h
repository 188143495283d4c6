/*
 * Units in a scenario: `deg/s`, `N m/rad`, `kg m^2`, `deg/s/sqrt(Hz)`, `uT`, `rpm`.
 *
 *      unit   = factor { [ "*" ] factor | "/" factor }       a slash takes one factor: a/b c =
 * (a/b) c factor = ( name | "sqrt(" unit ")" | "(" unit ")" ) [ "^" integer ]
 *
 * An angle is a dimension of its own, so that 5 Hz cannot be mistaken for 5 rad/s.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/yaml/complaint.h"

enum cfg_dimension { CFG_MASS, CFG_LENGTH, CFG_TIME, CFG_CURRENT, CFG_ANGLE, CFG_DIMENSION_COUNT };

struct cfg_unit {
    double factor;                   /* to SI */
    int halves[CFG_DIMENSION_COUNT]; /* powers in halves: 1/s has -2 of time, 1/sqrt(s) has -1 */
};

/* "" is the plain number.  false with what is wrong in problem.  Context: setup. */
bool cfg_unit_parse(const char *text, struct cfg_unit *unit, struct cfg_phrase *problem);
bool cfg_unit_same_dimension(const struct cfg_unit *a, const struct cfg_unit *b);

/* The number that text begins with: decimal, independent of the locale.  Returns what follows
 * it without blanks, or NULL when there is no number.  Too large for a double gives infinity.
 * Context: setup. */
const char *cfg_number_parse(const char *text, double *number);

/* All units by name, for the key reference.  Context: setup. */
const char *cfg_unit_name(int index); /* NULL after the last */
