/*
 * The batch kernel's own source, compiled with a number that counts what is done to it.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "dynamics/batch_kernel.h"

struct counting_tally {
    long long mul, add, div;      /* add: and subtract; a change of sign is free */
    long long sine_cosine, tanhs; /* calls, what is done inside not counted */
};

/* One state at a time.  Context: setup. */
extern const struct dyn_batch_kernel counting_kernel;

/* What was done since the last call.  Context: setup. */
struct counting_tally counting_take(void);

#ifdef __cplusplus
}
#endif
