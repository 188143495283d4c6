#include "tests/peers/engine.h"

#include <stddef.h>
#include <string.h>

/* The build says which libraries it found. */
static const struct engine *const engines[] = {
#ifdef ENGINE_MUJOCO
    &engine_mujoco,
#endif
#ifdef ENGINE_SIMBODY
    &engine_simbody,
#endif
#ifdef ENGINE_KDL
    &engine_kdl,
#endif
    NULL,
};

const struct engine *engine_find(const char *name)
{
    for (int i = 0; engines[i]; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
