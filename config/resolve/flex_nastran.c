/*
 * Modes of an FE model: their selection, the point of the joint, and the grid points with names.
 *
 * Tested by tests/config/resolve/test_flex.c.
 */
#include <math.h>
#include <string.h>

#include "config/import/nastran.h"
#include "config/resolve/file_source.h"
#include "config/resolve/flex.h"

/* ---- which modes ---- */

static bool fill_numbers(const struct cfg_flex_draft *draft, struct cfg_nastran_choice *choice)
{
    const struct cfg_numbers *pick = &draft->keys->pick;
    int *numbers = cfg_load_arena_take(draft->scratch, (size_t)pick->count * sizeof *numbers);
    for (int i = 0; i < pick->count; i++) {
        const double number = pick->items[i];
        if (!(number >= 1.0 && number <= 1e8 && number == floor(number)))
            return cfg_fail_at(draft->resolve->report, pick->node, NULL,
                               "modes wants whole numbers from 1 on, e.g. 7 8 10; here is %.10g",
                               number);
        numbers[i] = (int)number;
    }
    choice->modes = pick->count;
    choice->numbers = numbers;
    return true;
}

static bool fill_choice(const struct cfg_flex_draft *draft, struct cfg_nastran_choice *choice)
{
    const struct cfg_keys_flex *keys = draft->keys;
    *choice = (struct cfg_nastran_choice){.modes = (int)keys->count,
                                          .slowest = keys->slowest,
                                          .length = keys->length_unit,
                                          .mass = keys->mass_unit,
                                          .tolerance = keys->tolerance};
    if ((keys->pick.node != NULL) == (keys->count > 0))
        return cfg_fail_at(draft->resolve->report, keys->node, NULL,
                           "a NASTRAN model needs \"modes\", which ones, or \"count\", how many; "
                           "one of the two");
    return keys->count > 0 || fill_numbers(draft, choice);
}

/* ---- the files ---- */

/* One of the two files; NULL with the complaint in report. */
static const struct cfg_file *read_model_file(const struct cfg_flex_draft *draft, const char *key,
                                              const char *name, const char *what)
{
    char error[CFG_ERROR_MAX] = "";
    const struct cfg_file *file =
        cfg_file_source_take(draft->resolve, name, what, CFG_NASTRAN_TEXT_MAX, error);
    if (file == NULL)
        cfg_fail_at(draft->resolve->report, draft->keys->node, key, "%.400s", error);
    return file;
}

static const struct cfg_nastran *load(const struct cfg_flex_draft *draft,
                                      const struct cfg_nastran_choice *choice)
{
    const struct cfg_file *bulk = read_model_file(draft, "bulk", draft->keys->bulk, "bulk data");
    const struct cfg_file *punch =
        bulk != NULL ? read_model_file(draft, "punch", draft->keys->punch, "punch") : NULL;
    if (punch == NULL)
        return NULL;
    char error[CFG_ERROR_MAX] = "";
    const struct cfg_nastran_text texts[2] = {{bulk->path, bulk->text, bulk->size},
                                              {punch->path, punch->text, punch->size}};
    const struct cfg_nastran *body =
        cfg_nastran_parse(draft->scratch, &texts[0], &texts[1], choice, error);
    const bool in_bulk = strncmp(error, bulk->path, strlen(bulk->path)) == 0;
    if (body == NULL)
        cfg_fail_at(draft->resolve->report, draft->keys->node, in_bulk ? "bulk" : "punch", "%.400s",
                    error);
    return body;
}

static const struct dyn_node *find_grid_node(const struct cfg_flex_draft *draft,
                                             const struct cfg_nastran *body,
                                             const struct cfg_node *place, const char *key,
                                             int64_t grid)
{
    const struct dyn_node *node = cfg_nastran_find(body, (int)grid);
    if (node == NULL)
        cfg_fail_at(draft->resolve->report, place, key,
                    "the punch file has no grid point %d; name one that it has", (int)grid);
    return node;
}

/* ---- shapes ---- */

/* A copy of numbers that can be changed; NULL for NULL. */
static double *copy_numbers(struct cfg_load_arena *pool, const double *numbers, int count)
{
    double *own = cfg_take_numbers(pool, count);
    if (numbers != NULL)
        memcpy(own, numbers, (size_t)count * sizeof *own);
    return own;
}

/* The point of the joint becomes the origin, and the shapes are zero there. */
static void rebase(const struct cfg_flex_draft *draft, const struct dyn_node *joint,
                   struct cfg_load_arena *pool, struct dyn_node *node)
{
    const int n = draft->modes;
    double *psi = copy_numbers(pool, node->psi, 3 * n),
           *theta = copy_numbers(pool, node->theta, 3 * n);
    *node =
        (struct dyn_node){.r = {node->r[0], node->r[1], node->r[2]}, .psi = psi, .theta = theta};
    if (joint == NULL)
        return;
    double *psi2 = cfg_take_numbers(pool, 3 * n * n), *theta2 = cfg_take_numbers(pool, 3 * n * n);
    dyn_modal_clamp(joint, n, node->r, psi, theta, psi2, theta2);
    node->psi2 = psi2;
    node->theta2 = theta2;
    for (int k = 0; k < 3; k++)
        node->r[k] -= joint->r[k];
}

static void fill_stations(struct cfg_flex_draft *draft, const struct cfg_nastran *body,
                          const struct dyn_node *joint)
{
    const size_t count = (size_t)body->station_count;
    draft->station_count = body->station_count;
    draft->stations = cfg_load_arena_take(draft->scratch, count * sizeof *draft->stations);
    for (int i = 0; i < body->station_count; i++) {
        struct dyn_station *station = &draft->stations[i];
        *station = body->stations[i];
        struct dyn_node at = {.psi = station->psi, .theta = station->theta};
        memcpy(at.r, station->r, sizeof at.r);
        rebase(draft, joint, draft->scratch, &at);
        memcpy(station->r, at.r, sizeof at.r);
        station->psi = at.psi;
        station->theta = at.theta;
        station->psi2 = at.psi2;
    }
}

static bool fill_nodes(struct cfg_flex_draft *draft, const struct cfg_nastran *body,
                       const struct dyn_node *joint)
{
    const struct cfg_keys_node *keys = draft->keys->nodes.items;
    cfg_draft_nodes(draft, draft->keys->nodes.count);
    for (int i = 0; i < draft->node_count; i++) {
        const struct dyn_node *found =
            find_grid_node(draft, body, keys[i].node, "grid", keys[i].grid);
        if (found == NULL)
            return false;
        draft->nodes[i].node = *found;
        rebase(draft, joint, draft->kept, &draft->nodes[i].node);
        cfg_draft_name(draft, i, keys[i].name, keys[i].node);
    }
    return true;
}

bool cfg_draft_nastran(struct cfg_flex_draft *draft)
{
    struct cfg_nastran_choice choice;
    const struct dyn_node *joint = NULL;
    if (!fill_choice(draft, &choice))
        return false;
    const struct cfg_nastran *body = load(draft, &choice);
    if (body == NULL)
        return false;
    if (draft->keys->grid > 0 && (joint = find_grid_node(draft, body, draft->keys->node, "joint",
                                                         draft->keys->grid)) == NULL)
        return false;
    cfg_draft_modes(draft, body->mode_count);
    if (!cfg_draft_check_ratios(draft))
        return false;
    for (int p = 0; p < draft->modes; p++)
        cfg_draft_tune(draft, p, body->modes[p].mass, sqrt(body->modes[p].eigenvalue),
                       cfg_draft_ratio(draft, p));
    fill_stations(draft, body, joint);
    return fill_nodes(draft, body, joint);
}
