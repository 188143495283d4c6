#include "config/import/sort_bodies.h"

#include <stdbool.h>
#include <stdlib.h>

#include "rt/check.h"

int cfg_sort_parents_first(const int *parent, int count, int *order)
{
    bool *listed = calloc((size_t)count + 1, sizeof *listed);
    int placed = 0, circle = -1;
    RT_CHECK(listed != NULL);
    for (int i = 0; i < count && circle < 0; i++) {
        int waiting = 0; /* i and its ancestors that are not listed yet */
        for (int up = i; up >= 0 && !listed[up] && circle < 0; up = parent[up])
            circle = ++waiting > count - placed ? up : -1;
        placed += waiting;
        for (int up = i, at = placed; circle < 0 && waiting > 0; waiting--, up = parent[up]) {
            order[--at] = up;
            listed[up] = true;
        }
    }
    free(listed);
    return circle;
}
