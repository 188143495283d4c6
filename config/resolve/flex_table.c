/*
 * Modes from a table: matrices, or frequencies; stations and nodes with their shapes.
 *
 * Tested by tests/config/resolve/test_flex.c.
 */
#include <math.h>
#include <string.h>

#include "config/resolve/flex.h"

/* ---- matrices ---- */

static bool check_square(const struct cfg_flex_draft *draft, const char *key,
                         const struct cfg_rows *rows)
{
    struct cfg_complaint *report = draft->resolve->report;
    if (rows->count != rows->columns)
        return cfg_fail_at(report, rows->node, NULL,
                           "%s has %d row%s of %d; a square matrix has as many rows as numbers in "
                           "each",
                           key, rows->count, rows->count == 1 ? "" : "s", rows->columns);
    if (rows->count > DYN_MODES_MAX)
        return cfg_fail_at(report, rows->node, NULL,
                           "%s is of %d modes; a body can have %d, leave the fastest out", key,
                           rows->count, DYN_MODES_MAX);
    return draft->modes == 0 || rows->count == draft->modes ||
           cfg_fail_at(report, rows->node, NULL,
                       "%s is of %d mode%s and there %s %d; give one row and column for each", key,
                       rows->count, rows->count == 1 ? "" : "s", draft->modes == 1 ? "is" : "are",
                       draft->modes);
}

static double largest(const double *items, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(items[i]));
    return most;
}

/* Numbers that are equal to six digits, or to the rounding of the largest, count as equal. */
static bool check_symmetric(const struct cfg_flex_draft *draft, const char *key,
                            const struct cfg_rows *rows)
{
    const int n = rows->count;
    const double rounding = 1e-12 * largest(rows->items, n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double a = rows->items[i * n + j], b = rows->items[j * n + i];
            if (fabs(a - b) > fmax(rounding, 1e-6 * fmax(fabs(a), fabs(b))))
                return cfg_fail_at(draft->resolve->report, cfg_rows_node(rows, i), NULL,
                                   "%s is not symmetric: row %d has %.10g in column %d, and row %d "
                                   "has %.10g in column %d",
                                   key, i + 1, a, j + 1, j + 1, b, i + 1);
        }
    return true;
}

/* A matrix of the keys, made exactly symmetric; zero where it is left out. */
static bool fill_matrix(const struct cfg_flex_draft *draft, const char *key,
                        const struct cfg_rows *rows, double *out)
{
    const int n = rows->count;
    if (rows->node == NULL)
        return true;
    if (!check_square(draft, key, rows) || !check_symmetric(draft, key, rows))
        return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i * n + j] = 0.5 * (rows->items[i * n + j] + rows->items[j * n + i]);
    return true;
}

/* ---- shapes ---- */

struct shape {
    double *psi, *theta, *psi2, *theta2;
};

static bool fill_rows(const struct cfg_flex_draft *draft, const char *key,
                      const struct cfg_rows *rows, double *out)
{
    if (rows->node == NULL)
        return true;
    if (rows->count != draft->modes)
        return cfg_fail_at(draft->resolve->report, rows->node, NULL,
                           "%s has %d row%s and there %s %d mode%s; give one row for each mode",
                           key, rows->count, rows->count == 1 ? "" : "s",
                           draft->modes == 1 ? "is" : "are", draft->modes,
                           draft->modes == 1 ? "" : "s");
    memcpy(out, rows->items, 3 * (size_t)rows->count * sizeof *out);
    return true;
}

/* Expand the upper triangle of pairs to all pairs; NULL where it is not given, unless memory is
 * needed anyway. */
static bool fill_pairs(const struct cfg_flex_draft *draft, const char *key,
                       const struct cfg_rows *rows, bool always, double **out)
{
    const int n = draft->modes, pairs = n * (n + 1) / 2;
    *out = rows->node != NULL || always ? cfg_take_numbers(draft->kept, 3 * n * n) : NULL;
    if (rows->node == NULL)
        return true;
    if (rows->count != pairs)
        return cfg_fail_at(
            draft->resolve->report, rows->node, NULL,
            "%s has %d row%s and there %s %d pair%s of modes; give one row for each, "
            "11 12 .. 22 23 ..",
            key, rows->count, rows->count == 1 ? "" : "s", pairs == 1 ? "is" : "are", pairs,
            pairs == 1 ? "" : "s");
    const double *row = rows->items;
    for (int p = 0; p < n; p++)
        for (int q = p; q < n; q++, row += 3) {
            memcpy(*out + 3 * (p * n + q), row, 3 * sizeof *row);
            memcpy(*out + 3 * (q * n + p), row, 3 * sizeof *row);
        }
    return true;
}

/* Subtracting the joint's shapes gives terms of second order, so memory for them is allocated then.
 */
static bool fill_shape(const struct cfg_flex_draft *draft, const struct cfg_keys_shape *keys,
                       struct shape *shape)
{
    const bool moves = draft->keys->joint.node != NULL;
    shape->psi = cfg_take_numbers(draft->kept, 3 * draft->modes);
    shape->theta = cfg_take_numbers(draft->kept, 3 * draft->modes);
    return fill_rows(draft, "psi", &keys->psi, shape->psi) &&
           fill_rows(draft, "theta", &keys->theta, shape->theta) &&
           fill_pairs(draft, "psi2", &keys->psi2, moves, &shape->psi2) &&
           fill_pairs(draft, "theta2", &keys->theta2, moves, &shape->theta2);
}

static bool fill_stations(struct cfg_flex_draft *draft, struct shape *shapes)
{
    const struct cfg_keys_station *keys = draft->keys->stations.items;
    const int count = draft->keys->stations.count;
    draft->station_count = count;
    draft->stations = cfg_load_arena_take(draft->scratch, (size_t)count * sizeof *draft->stations);
    for (int i = 0; i < count; i++) {
        struct dyn_station *station = &draft->stations[i];
        if (!fill_shape(draft, &keys[i].shape, &shapes[i]))
            return false;
        *station = (struct dyn_station){.mass = keys[i].mass,
                                        .psi = shapes[i].psi,
                                        .theta = shapes[i].theta,
                                        .psi2 = shapes[i].psi2};
        memcpy(station->r, keys[i].shape.at, sizeof station->r);
        memcpy(station->inertia, keys[i].inertia, sizeof station->inertia);
        if (!cfg_is_physical(station->inertia))
            return cfg_fail_at(draft->resolve->report, keys[i].node, "inertia",
                               "no station has this inertia: each principal moment is at most the "
                               "sum of the other two; check the numbers and their order");
    }
    return true;
}

static bool fill_nodes(struct cfg_flex_draft *draft, struct shape *shapes)
{
    const struct cfg_keys_node *keys = draft->keys->nodes.items;
    cfg_draft_nodes(draft, draft->keys->nodes.count);
    for (int i = 0; i < draft->node_count; i++) {
        struct dyn_node *node = &draft->nodes[i].node;
        if (!fill_shape(draft, &keys[i].shape, &shapes[i]))
            return false;
        *node = (struct dyn_node){.psi = shapes[i].psi,
                                  .theta = shapes[i].theta,
                                  .psi2 = shapes[i].psi2,
                                  .theta2 = shapes[i].theta2};
        memcpy(node->r, keys[i].shape.at, sizeof node->r);
        cfg_draft_name(draft, i, keys[i].name, keys[i].node);
    }
    return true;
}

/* True when terms of second order are given for a station with mass; those from subtracting the
 * joint's shapes do not count. */
static bool has_psi2(const struct cfg_keys_flex *keys)
{
    const struct cfg_keys_station *stations = keys->stations.items;
    const struct cfg_keys_node *nodes = keys->nodes.items;
    for (int i = 0; i < keys->stations.count; i++)
        if (stations[i].shape.psi2.node != NULL)
            return true;
    for (int i = 0; keys->stations.count == 0 && i < keys->nodes.count; i++)
        if (nodes[i].shape.psi2.node != NULL)
            return true;
    return false;
}

/* ---- modes ---- */

static bool count_modes(struct cfg_flex_draft *draft)
{
    const struct cfg_keys_flex *keys = draft->keys;
    struct cfg_complaint *report = draft->resolve->report;
    if (keys->modes.count == 0 && keys->stiffness_matrix.node == NULL)
        return cfg_fail_at(report, keys->node, NULL,
                           "a table of modes needs \"modes\", each by its frequency, or "
                           "\"stiffness\", a matrix; write e.g. modes: [{frequency: 0.5 Hz}]");
    if (keys->modes.count > 0 && keys->stiffness_matrix.node != NULL)
        return cfg_fail_at(report, keys->node, "stiffness",
                           "modes and stiffness both say how stiff it is; remove one");
    if (keys->modes.count > 0 && keys->damping_matrix.node != NULL)
        return cfg_fail_at(report, keys->node, "damping",
                           "each of the modes has its own damping; remove the matrix");
    if (keys->joint.node != NULL && keys->mass_matrix.node != NULL)
        return cfg_fail_at(report, keys->node, "mass",
                           "where the shapes of the joint are taken off, mass follows from the "
                           "stations; remove mass or joint");
    if (keys->stiffness_matrix.node != NULL &&
        !check_square(draft, "stiffness", &keys->stiffness_matrix))
        return false;
    cfg_draft_modes(draft,
                    keys->modes.count > 0 ? keys->modes.count : keys->stiffness_matrix.count);
    return true;
}

/* Modal masses of the shapes as they are given. */
static bool fill_modal_mass(struct cfg_flex_draft *draft, double *M)
{
    const int n = draft->modes;
    if (draft->keys->mass_matrix.node != NULL) {
        draft->M = M;
        return fill_matrix(draft, "mass", &draft->keys->mass_matrix, M);
    }
    if (draft->station_count == 0) {
        draft->M = M;
        for (int p = 0; p < n; p++)
            M[p * n + p] = 1.0;
        return true;
    }
    struct dyn_modal modal;
    double *room = cfg_load_arena_take(draft->scratch, dyn_modal_storage_count(n) * sizeof *room);
    dyn_modal_integrate(draft->stations, draft->station_count, n, room, &modal);
    memcpy(M, modal.flex.M, (size_t)(n * n) * sizeof *M);
    return true;
}

static bool fill_stiffness(struct cfg_flex_draft *draft, const double *M)
{
    const struct cfg_keys_mode *modes = draft->keys->modes.items;
    for (int p = 0; p < draft->keys->modes.count; p++)
        cfg_draft_tune(draft, p, M[p * draft->modes + p], cfg_omega(modes[p].frequency),
                       modes[p].damping);
    return fill_matrix(draft, "stiffness", &draft->keys->stiffness_matrix, draft->K) &&
           fill_matrix(draft, "damping", &draft->keys->damping_matrix, draft->C);
}

/* ---- shapes clamped at the joint ---- */

static bool clamp(struct cfg_flex_draft *draft, struct shape *stations, struct shape *nodes)
{
    struct shape own;
    if (draft->keys->joint.node == NULL)
        return true;
    if (!fill_shape(draft, &draft->keys->joint, &own))
        return false;
    const struct dyn_node root = {
        .psi = own.psi, .theta = own.theta, .psi2 = own.psi2, .theta2 = own.theta2};
    for (int i = 0; i < draft->station_count; i++)
        dyn_modal_clamp(&root, draft->modes, draft->stations[i].r, stations[i].psi,
                        stations[i].theta, stations[i].psi2, stations[i].theta2);
    for (int i = 0; i < draft->node_count; i++)
        dyn_modal_clamp(&root, draft->modes, draft->nodes[i].node.r, nodes[i].psi, nodes[i].theta,
                        nodes[i].psi2, nodes[i].theta2);
    return true;
}

bool cfg_draft_table(struct cfg_flex_draft *draft)
{
    if (!count_modes(draft))
        return false;
    const size_t station_count = (size_t)draft->keys->stations.count;
    const size_t node_count = (size_t)draft->keys->nodes.count;
    struct shape *stations = cfg_load_arena_take(draft->scratch, station_count * sizeof *stations);
    struct shape *nodes = cfg_load_arena_take(draft->scratch, node_count * sizeof *nodes);
    double *M = cfg_take_numbers(draft->kept, draft->modes * draft->modes);
    draft->stiffens = has_psi2(draft->keys);
    return fill_stations(draft, stations) && fill_nodes(draft, nodes) &&
           fill_modal_mass(draft, M) && fill_stiffness(draft, M) && clamp(draft, stations, nodes);
}
