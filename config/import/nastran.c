#include "config/import/nastran.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/nastran_bulk.h"
#include "config/import/nastran_punch.h"
#include "rt/check.h"

static const double pi = 3.14159265358979323846;

struct reader {
    struct cfg_load_arena *pool;
    struct cfg_nastran_choice choice;
    struct cfg_complaint bulk_report, punch_report; /* one line between them */
    const struct cfg_bulk *bulk;
    const struct cfg_punch *punch;
    const struct cfg_punch_mode **taken; /* by mode of the body */
    struct cfg_punch_row *rows;          /* of one mode at a time */
    bool *by_peak;                       /* true: the largest component of the mode is 1 */
    double *psi, *theta;                 /* of the nodes, x modes x 3 */
    struct cfg_nastran *body;
};

/* ---- which modes ---- */

static double hertz(double eigenvalue)
{
    return copysign(sqrt(fabs(eigenvalue)) / (2.0 * pi), eigenvalue);
}

static bool check_sign(struct reader *reader, const struct cfg_punch_mode *mode)
{
    return hertz(mode->eigenvalue) > -reader->choice.slowest ||
           cfg_fail(&reader->punch_report, NULL, mode->mark,
                    "mode %d has the eigenvalue %.6g: no model at rest has a negative one",
                    mode->number, mode->eigenvalue);
}

static bool take_first(struct reader *reader)
{
    const struct cfg_punch *punch = reader->punch;
    int count = 0;
    for (int i = 0; i < punch->mode_count && count < reader->choice.modes; i++) {
        if (!check_sign(reader, &punch->modes[i]))
            return false;
        if (hertz(punch->modes[i].eigenvalue) >= reader->choice.slowest)
            reader->taken[count++] = &punch->modes[i];
    }
    return count == reader->choice.modes ||
           cfg_fail(&reader->punch_report, NULL, (struct cfg_mark){0, 0},
                    "%d mode%s wanted; of the %d in this file %d %s not below %.6g Hz",
                    reader->choice.modes, reader->choice.modes > 1 ? "s are" : " is",
                    punch->mode_count, count, count == 1 ? "is" : "are", reader->choice.slowest);
}

static bool take_listed(struct reader *reader)
{
    const struct cfg_punch *punch = reader->punch;
    for (int p = 0; p < reader->choice.modes; p++) {
        const int number = reader->choice.numbers[p], at = cfg_punch_find(punch, number);
        for (int q = 0; q < p; q++)
            if (reader->choice.numbers[q] == number)
                return cfg_fail(&reader->punch_report, NULL, (struct cfg_mark){0, 0},
                                "mode %d is wanted twice; name each once", number);
        if (at < 0)
            return cfg_fail(&reader->punch_report, NULL, (struct cfg_mark){0, 0},
                            "there is no mode %d; this file has %d, from %d to %d", number,
                            punch->mode_count, punch->modes[0].number,
                            punch->modes[punch->mode_count - 1].number);
        reader->taken[p] = &punch->modes[at];
        if (!check_sign(reader, reader->taken[p]))
            return false;
        if (hertz(reader->taken[p]->eigenvalue) < reader->choice.slowest)
            return cfg_fail(&reader->punch_report, NULL, reader->taken[p]->mark,
                            "mode %d has %.6g Hz: below %.6g Hz it counts as one of the rigid "
                            "body; leave it out",
                            number, hertz(reader->taken[p]->eigenvalue), reader->choice.slowest);
    }
    return true;
}

/* ---- nodes ---- */

static bool check_grids(struct reader *reader, const struct cfg_punch_mode *first)
{
    if (first->row_count == 0)
        return cfg_fail(&reader->punch_report, NULL, first->mark,
                        "mode %d moves no grid; punch all of them", first->number);
    for (int i = 0; i < first->row_count; i++)
        if (cfg_bulk_find_grid(reader->bulk, reader->rows[i].grid) < 0)
            return cfg_fail(&reader->punch_report, NULL, reader->rows[i].mark,
                            "grid %d has no GRID card in %.100s; do the files belong together?",
                            reader->rows[i].grid, reader->bulk_report.path);
    return true;
}

/* The nodes are the grids of the first mode; the other modes must have the same grids. */
static bool make_nodes(struct reader *reader)
{
    struct cfg_nastran *body = reader->body;
    const struct cfg_punch_mode *first = reader->taken[0];
    const size_t count = (size_t)first->row_count, shape = 3 * (size_t)body->mode_count;
    reader->rows = cfg_load_arena_take(reader->pool, count * sizeof *reader->rows);
    if (!cfg_punch_read(reader->punch, first, reader->rows, &reader->punch_report) ||
        !check_grids(reader, first))
        return false;
    body->node_count = first->row_count;
    body->nodes = cfg_load_arena_take(reader->pool, count * sizeof *body->nodes);
    reader->psi = cfg_load_arena_take(reader->pool, count * shape * sizeof(double));
    reader->theta = cfg_load_arena_take(reader->pool, count * shape * sizeof(double));
    for (int i = 0; i < body->node_count; i++) {
        const int grid = cfg_bulk_find_grid(reader->bulk, reader->rows[i].grid);
        struct dyn_node *node = &body->nodes[i].node;
        body->nodes[i].grid = reader->rows[i].grid;
        node->psi = reader->psi + (size_t)i * shape;
        node->theta = reader->theta + (size_t)i * shape;
        dyn_vec3_store(dyn_scale(reader->choice.length, reader->bulk->grids[grid].r), node->r);
    }
    return true;
}

static bool refuse_count(struct reader *reader, const struct cfg_punch_mode *mode)
{
    return cfg_fail(&reader->punch_report, NULL, mode->mark,
                    "mode %d has %d grids, mode %d has %d; punch the same for all", mode->number,
                    mode->row_count, reader->taken[0]->number, reader->taken[0]->row_count);
}

/* Rotations are per unit of displacement, so their unit is one over a length. */
static void place_row(struct reader *reader, int mode, int node)
{
    const struct cfg_punch_row *row = &reader->rows[node];
    const int grid = cfg_bulk_find_grid(reader->bulk, row->grid);
    const struct dyn_mat3 *axes = &reader->bulk->systems[reader->bulk->grids[grid].system].axes;
    const size_t at = 3 * ((size_t)node * (size_t)reader->body->mode_count + (size_t)mode);
    const struct dyn_vec3 theta = dyn_mul_t(axes, dyn_vec3_load(row->shape + 3));
    dyn_vec3_store(dyn_mul_t(axes, dyn_vec3_load(row->shape)), reader->psi + at);
    dyn_vec3_store(dyn_scale(1.0 / reader->choice.length, theta), reader->theta + at);
}

static bool read_shape(struct reader *reader, int p)
{
    const double digits = 1e-5; /* of a punch file */
    const struct cfg_punch_mode *mode = reader->taken[p];
    double peak = 0.0;
    if (mode->row_count != reader->body->node_count)
        return refuse_count(reader, mode);
    if (!cfg_punch_read(reader->punch, mode, reader->rows, &reader->punch_report))
        return false;
    for (int i = 0; i < mode->row_count; i++) {
        if (reader->rows[i].grid != reader->body->nodes[i].grid)
            return cfg_fail(&reader->punch_report, NULL, reader->rows[i].mark,
                            "mode %d lacks grid %d or has a grid %d that mode %d lacks; punch the "
                            "same for all",
                            mode->number, reader->body->nodes[i].grid, reader->rows[i].grid,
                            reader->taken[0]->number);
        for (int k = 0; k < 6; k++)
            peak = fmax(peak, fabs(reader->rows[i].shape[k]));
        place_row(reader, p, i);
    }
    reader->by_peak[p] = fabs(peak - 1.0) <= digits;
    return true;
}

/* ---- stations ---- */

static int compare_nodes(const void *a, const void *b)
{
    const struct cfg_nastran_node *x = a, *y = b;
    return x->grid < y->grid ? -1 : x->grid > y->grid;
}

const struct dyn_node *cfg_nastran_find(const struct cfg_nastran *body, int grid)
{
    const struct cfg_nastran_node key = {.grid = grid};
    const struct cfg_nastran_node *found =
        bsearch(&key, body->nodes, (size_t)body->node_count, sizeof *body->nodes, compare_nodes);
    return found != NULL ? &found->node : NULL;
}

/* psi + theta x offset: a lump is stiff between its grid and its mass centre. */
static void fill_station(struct reader *reader, const struct cfg_bulk_lump *lump,
                         const struct dyn_node *node, struct dyn_station *station)
{
    const double length = reader->choice.length, mass = reader->choice.mass;
    const double f = mass * length * length;
    const struct dyn_vec3 offset = dyn_scale(length, lump->offset);
    const struct dyn_sym3 *I = &lump->inertia;
    const double inertia[6] = {f * I->xx, f * I->yy, f * I->zz, f * I->xy, f * I->xz, f * I->yz};
    const int modes = reader->body->mode_count;
    double *psi = cfg_load_arena_take(reader->pool, 3 * (size_t)modes * sizeof *psi);
    double *theta = cfg_load_arena_take(reader->pool, 3 * (size_t)modes * sizeof *theta);
    for (int p = 0; p < modes; p++) {
        const struct dyn_vec3 turn = dyn_vec3_load(node->theta + 3 * p);
        const struct dyn_vec3 travel = dyn_vec3_load(node->psi + 3 * p);
        dyn_vec3_store(dyn_add(travel, dyn_cross(turn, offset)), psi + 3 * p);
        dyn_vec3_store(turn, theta + 3 * p);
    }
    *station = (struct dyn_station){.mass = mass * lump->mass, .psi = psi, .theta = theta};
    dyn_vec3_store(dyn_add(dyn_vec3_load(node->r), offset), station->r);
    memcpy(station->inertia, inertia, sizeof inertia);
}

static bool make_stations(struct reader *reader)
{
    const struct cfg_bulk *bulk = reader->bulk;
    struct cfg_nastran *body = reader->body;
    body->stations =
        cfg_load_arena_take(reader->pool, (size_t)bulk->lump_count * sizeof *body->stations);
    for (int i = 0; i < bulk->lump_count; i++) {
        const struct cfg_bulk_lump *lump = &bulk->lumps[i];
        const int grid = bulk->grids[lump->grid].id;
        const struct dyn_node *node = cfg_nastran_find(body, grid);
        if (node == NULL)
            return cfg_fail(&reader->bulk_report, NULL, lump->mark,
                            "CONM2 %d sits on grid %d, which has no rows in %.100s; punch all "
                            "grids with mass",
                            lump->id, grid, reader->punch_report.path);
        fill_station(reader, lump, node, &body->stations[i]);
    }
    body->station_count = bulk->lump_count;
    return true;
}

/* ---- modal mass ---- */

/* sum m psi_p . psi_q + theta_p . I theta_q */
static double modal_mass(const struct cfg_nastran *body, int p, int q)
{
    double sum = 0.0;
    for (int i = 0; i < body->station_count; i++) {
        const struct dyn_station *station = &body->stations[i];
        const struct dyn_sym3 I = dyn_sym3_load(station->inertia);
        const struct dyn_vec3 turn = dyn_sym3_mul(&I, dyn_vec3_load(station->theta + 3 * q));
        sum += station->mass * dyn_dot(dyn_vec3_load(station->psi + 3 * p),
                                       dyn_vec3_load(station->psi + 3 * q)) +
               dyn_dot(dyn_vec3_load(station->theta + 3 * p), turn);
    }
    return sum;
}

static bool check_mass(struct reader *reader, int p, double mass)
{
    const struct cfg_punch_mode *mode = reader->taken[p];
    if (!(mass > 0.0) || !isfinite(mass * mode->eigenvalue))
        return cfg_fail(&reader->punch_report, NULL, mode->mark,
                        "mode %d moves none of the mass of the CONM2 cards, or the numbers are too "
                        "large; check both files",
                        mode->number);
    const double share = mass / reader->choice.mass;
    return reader->by_peak[p] || fabs(share - 1.0) <= reader->choice.tolerance ||
           cfg_fail(&reader->punch_report, NULL, mode->mark,
                    "mode %d has a modal mass of %.4g by the CONM2 cards, and 1 by its scale; "
                    "lump the whole mass on CONM2 cards, scale modes with NORM=MASS",
                    mode->number, share);
}

/* Modes that were computed with this mass have no common momentum; modes of another mass have. */
static bool check_shared(struct reader *reader, int p, int q, double mass)
{
    const struct cfg_nastran_mode *a = &reader->body->modes[p], *b = &reader->body->modes[q];
    const double share = fabs(mass) / sqrt(a->mass) / sqrt(b->mass);
    return share <= reader->choice.tolerance ||
           cfg_fail(&reader->punch_report, NULL, a->mark,
                    "modes %d and %d share %.4g of their mass by the CONM2 cards; lump the whole "
                    "mass on CONM2 cards",
                    b->number, a->number, share);
}

static bool weigh_modes(struct reader *reader)
{
    struct cfg_nastran *body = reader->body;
    for (int p = 0; p < body->mode_count; p++) {
        struct cfg_nastran_mode *mode = &body->modes[p];
        *mode = (struct cfg_nastran_mode){reader->taken[p]->number, reader->taken[p]->mark,
                                          reader->taken[p]->eigenvalue, modal_mass(body, p, p)};
        if (!check_mass(reader, p, mode->mass))
            return false;
        for (int q = 0; q < p; q++)
            if (!check_shared(reader, p, q, modal_mass(body, p, q)))
                return false;
    }
    return true;
}

/* ---- the whole body ---- */

static bool check_size(const struct cfg_nastran_text *text, struct cfg_complaint *report)
{
    return text->size <= CFG_NASTRAN_TEXT_MAX ||
           cfg_fail(report, NULL, (struct cfg_mark){0, 0},
                    "more than %d bytes; punch fewer modes or grids", CFG_NASTRAN_TEXT_MAX);
}

static bool read_texts(struct reader *reader, const struct cfg_nastran_text *bulk,
                       const struct cfg_nastran_text *punch)
{
    if (!check_size(bulk, &reader->bulk_report) || !check_size(punch, &reader->punch_report))
        return false;
    reader->bulk = cfg_bulk_parse(reader->pool, bulk->text, bulk->size, &reader->bulk_report);
    if (reader->bulk == NULL)
        return false;
    if (reader->bulk->lump_count == 0)
        return cfg_fail(&reader->bulk_report, NULL, (struct cfg_mark){0, 0},
                        "no CONM2 card in this file; lump the model's mass on its grids");
    reader->punch = cfg_punch_scan(reader->pool, punch->text, punch->size, &reader->punch_report);
    return reader->punch != NULL;
}

static bool make_body(struct reader *reader)
{
    struct cfg_nastran *body = reader->body;
    const size_t count = (size_t)reader->choice.modes;
    body->mode_count = reader->choice.modes;
    body->modes = cfg_load_arena_take(reader->pool, count * sizeof *body->modes);
    reader->taken = cfg_load_arena_take(reader->pool, count * sizeof *reader->taken);
    reader->by_peak = cfg_load_arena_take(reader->pool, count * sizeof *reader->by_peak);
    if (!(reader->choice.numbers != NULL ? take_listed : take_first)(reader) || !make_nodes(reader))
        return false;
    for (int p = 0; p < body->mode_count; p++)
        if (!read_shape(reader, p))
            return false;
    return make_stations(reader) && weigh_modes(reader);
}

const struct cfg_nastran *cfg_nastran_parse(struct cfg_load_arena *pool,
                                            const struct cfg_nastran_text *bulk,
                                            const struct cfg_nastran_text *punch,
                                            const struct cfg_nastran_choice *choice,
                                            char error[CFG_ERROR_MAX])
{
    RT_CHECK(choice->modes >= 1 && choice->modes <= DYN_MODES_MAX);
    RT_CHECK(choice->slowest > 0.0 && choice->length > 0.0);
    RT_CHECK(choice->mass > 0.0 && choice->tolerance > 0.0);
    struct reader reader = {
        .pool = pool,
        .choice = *choice,
        .bulk_report = {.path = bulk->name, .line = error},
        .punch_report = {.path = punch->name, .line = error},
        .body = cfg_load_arena_take(pool, sizeof *reader.body),
    };
    error[0] = '\0';
    return read_texts(&reader, bulk, punch) && make_body(&reader) ? reader.body : NULL;
}
