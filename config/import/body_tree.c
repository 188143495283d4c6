#include "config/import/body_tree.h"

#include <stdlib.h>

#include "dynamics/model_singular.h"
#include "rt/check.h"

enum { CACHE_LINE = 64 };

static void *alloc_aligned(size_t size)
{
    void *mem = aligned_alloc(CACHE_LINE, (size / CACHE_LINE + 1) * CACHE_LINE);
    RT_CHECK(mem != NULL);
    return mem;
}

struct dyn_model *cfg_tree_place(const struct dyn_body_spec *specs, int body_count)
{
    return dyn_model_place(specs, body_count, alloc_aligned(dyn_model_size(specs, body_count)));
}

const char *cfg_tree_problem(const struct dyn_body_spec *specs, int body_count, int *body)
{
    const char *problem = dyn_model_problem(specs, body_count, body);
    if (problem != NULL)
        return problem;
    struct dyn_model *model = cfg_tree_place(specs, body_count);
    void *mem = alloc_aligned(dyn_model_singular_size(model));
    *body = dyn_model_singular_joint(model, mem);
    free(mem);
    free(model);
    return *body >= 0 ? "its joint and those further out can move without moving any mass" : NULL;
}
