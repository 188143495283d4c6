/*
 * The instruction set that the user chooses: AIRBEARING_ISA=sse2, avx2 or avx512, else the best
 * that this processor runs.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "dynamics/kernel/isa.h"

/* false where there is no set of that name.  Context: setup. */
bool cfg_isa_named(const char *name, enum dyn_isa *isa);

/* false, with exactly one line in error, for a set that is unknown or that does not run here.
 * Context: setup. */
bool cfg_isa(enum dyn_isa *isa, char error[CFG_ERROR_MAX]);
