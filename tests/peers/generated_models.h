/*
 * Models by formula, so that a comparison says something where the reference is absent.  The same
 * arguments give the same model on every machine.
 */
#pragma once

#include "dynamics/model.h"

enum { GENERATED_SPACECRAFT_BODIES = 1 + 22 };

/* All are the caller's to free.  Context: setup. */
struct dyn_body_spec *generated_chain(int body_count); /* revolute, axes x y z in turn */
struct dyn_body_spec *generated_spacecraft(void);      /* a free bus, nine appendages, 22 hinges */
/* Every joint type, in any order; a free base or none. */
struct dyn_body_spec *generated_tree(int body_count, int free_base, unsigned seed);
