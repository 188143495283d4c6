/*
 * Models that need no file: what bench measures when none is given, and chains of any length.
 *
 *      arm7             seven hinges, fixed base
 *      chain30          so many hinges one after the other; any number from 1 to MADE_CHAIN_MAX
 *      spacecraft22     a free body with 22 hinges in nine appendages
 *      ruthless16x4     sixteen beams of four modes, hinged one to the tip of the other; 1 to
 *                       MADE_CHAIN_MAX of 1 to MADE_MODES_MAX
 *      consistent16x4   the same at another fidelity; inconsistent16x4; rigid16x4
 *      ruthless16x4mixed   with modes that are mixtures of a beam's own: every matrix is full
 */
#pragma once

#include <stdbool.h>

#include "config/yaml/load_arena.h"
#include "dynamics/model.h"

enum { MADE_CHAIN_MAX = 100000, MADE_MODES_MAX = 16 };

struct made {
    struct dyn_body_spec *specs;
    int body_count;
    struct cfg_pool pool; /* of all that they are made of */
};

/* A model by name, always the same; false: there is none of that name.  Context: setup. */
bool made_model(const char *name, struct made *made);

/* Gives back all that the model is made of.  Context: setup. */
void made_free(struct made *made);
