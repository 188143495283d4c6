#include "config/import/mimic.h"

#include <stdlib.h>

#include "config/import/sort_bodies.h"
#include "rt/check.h"

int cfg_mimic_resolve(struct cfg_mimic *mimics, int count)
{
    int *leader = calloc((size_t)count + 1, sizeof *leader);
    int *order = calloc((size_t)count + 1, sizeof *order);
    RT_CHECK(leader != NULL && order != NULL);
    for (int i = 0; i < count; i++)
        leader[i] = mimics[i].leader;
    const int circle = cfg_sort_parents_first(leader, count, order);
    for (int k = 0; k < count && circle < 0; k++) { /* the leader's own leader is resolved before */
        struct cfg_mimic *own = &mimics[order[k]];
        const struct cfg_mimic *next = own->leader >= 0 ? &mimics[own->leader] : NULL;
        if (next == NULL || next->leader < 0)
            continue;
        own->offset += own->ratio * next->offset;
        own->ratio *= next->ratio;
        own->leader = next->leader;
    }
    free(order);
    free(leader);
    return circle;
}
