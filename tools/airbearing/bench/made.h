/*
 * Models that need no file: what bench measures when none is given, and chains of any length.
 *
 *      arm7           seven hinges, fixed base
 *      chain30        so many hinges one after the other; any number from 1 to MADE_CHAIN_MAX
 *      spacecraft22   a free body with 22 hinges in nine appendages
 */
#pragma once

#include "dynamics/model.h"

enum { MADE_CHAIN_MAX = 100000 };

/* The bodies of a model by name, always the same; NULL: there is none of that name.  The caller
 * frees them.  Context: setup. */
struct dyn_body_spec *made_model(const char *name, int *body_count);
