/*
 * Built-in models: those that bench measures when none is given, and chains of any length.
 *
 *      arm7             seven hinges, fixed base
 *      chain30          so many hinges one after the other; any number from 1 to BUILTIN_CHAIN_MAX
 *      spacecraft22     a free body with 22 hinges in nine appendages
 *      ruthless16x4     sixteen beams of four modes, hinged one to the tip of the other; 1 to
 *                       BUILTIN_CHAIN_MAX of 1 to BUILTIN_MODES_MAX
 *      consistent16x4   the same at another fidelity; inconsistent16x4; rigid16x4
 *      ruthless16x4mixed   with modes that are mixtures of a beam's own: every matrix is full
 */
#pragma once

#include <stdbool.h>

#include "config/yaml/load_arena.h"
#include "dynamics/model.h"

enum { BUILTIN_CHAIN_MAX = 100000, BUILTIN_MODES_MAX = 16 };

struct builtin_model {
    struct dyn_body_spec *specs;
    int body_count;
    struct cfg_load_arena pool; /* of all their parts */
};

/* A model by name, always the same; false: there is none of that name.  Context: setup. */
bool builtin_model_create(const char *name, struct builtin_model *made);

/* Free the model and its parts.  Context: setup. */
void builtin_model_free(struct builtin_model *made);
