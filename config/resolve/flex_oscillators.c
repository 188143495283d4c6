/*
 * Masses on springs: each is a station that only its own mode moves, and a node where it has a
 * name.
 */
#include <math.h>
#include <string.h>

#include "config/resolve/flex.h"

static bool check_kind(const struct cfg_flex_draft *draft, const struct cfg_keys_oscillator *keys)
{
    if (isnan(keys->mass) && isnan(keys->inertia))
        return cfg_fail_at(draft->resolve->report, keys->node, NULL,
                           "an oscillator needs \"mass\", which swings along the axis, or "
                           "\"inertia\", which swings about it; write e.g. mass: 2 kg");
    return isnan(keys->mass) || isnan(keys->inertia) ||
           cfg_fail_at(draft->resolve->report, keys->node, "inertia",
                       "an oscillator has a mass or an inertia; make two of it");
}

/* J a a': the inertia about the axis only. */
static void set_inertia(double J, const double a[3], double inertia[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++)
        inertia[k] = J * a[row[k]] * a[column[k]];
}

static void fill(struct cfg_flex_draft *draft, const struct cfg_keys_oscillator *keys, int p)
{
    struct dyn_station *station = &draft->stations[p];
    double *psi = cfg_take_numbers(draft->kept, 3 * draft->modes);
    double *theta = cfg_take_numbers(draft->kept, 3 * draft->modes);
    const bool slides = isnan(keys->inertia);
    memcpy((slides ? psi : theta) + 3 * p, keys->axis, sizeof keys->axis);
    *station = (struct dyn_station){.psi = psi, .theta = theta, .mass = slides ? keys->mass : 0.0};
    memcpy(station->r, keys->at, sizeof station->r);
    if (!slides)
        set_inertia(keys->inertia, keys->axis, station->inertia);
    cfg_draft_tune(draft, p, slides ? keys->mass : keys->inertia, cfg_omega(keys->frequency),
                   keys->damping);
    if (keys->name == NULL)
        return;
    struct dyn_node *node = &draft->nodes[draft->node_count].node;
    *node = (struct dyn_node){.psi = psi, .theta = theta};
    memcpy(node->r, keys->at, sizeof node->r);
    cfg_draft_name(draft, draft->node_count++, keys->name, keys->node);
}

bool cfg_draft_oscillators(struct cfg_flex_draft *draft)
{
    const struct cfg_list *list = &draft->keys->oscillators;
    const struct cfg_keys_oscillator *oscillators = list->items;
    cfg_draft_modes(draft, list->count);
    cfg_draft_nodes(draft, list->count);
    draft->node_count = 0; /* masses without a name are not nodes */
    draft->station_count = list->count;
    draft->stations =
        cfg_load_arena_take(draft->scratch, (size_t)list->count * sizeof *draft->stations);
    for (int p = 0; p < list->count; p++) {
        if (!check_kind(draft, &oscillators[p]))
            return false;
        fill(draft, &oscillators[p], p);
    }
    return true;
}
