#include "config/import/nastran_bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/import/nastran_card.h"

enum { UNSAID = -2, BASIC = 0, FROM_ORIGIN = -1 };

/* The common part of every card; it is the first member of all structs that are sorted. */
struct tag {
    int id;
    struct cfg_mark mark;
};

/* Cards as they are written; references to other cards are resolved when all are read. */
struct raw_system {
    struct tag tag;
    int base;
    struct cfg_mark base_mark;
    struct dyn_vec3 a, b, c; /* origin, a point on z, a point in the plane x z */
};

struct raw_grid {
    struct tag tag;
    int place, turn; /* systems of its coordinates and of its displacements */
    struct cfg_mark place_mark, turn_mark;
    struct dyn_vec3 x;
};

struct raw_lump {
    struct tag tag;
    int grid, system;
    struct cfg_mark grid_mark, system_mark;
    double mass;
    struct dyn_vec3 x;
    struct dyn_sym3 inertia;
};

struct reader {
    struct cfg_load_arena *pool;
    struct cfg_complaint *report;
    int system_count, grid_count, lump_count;
    struct raw_system *systems;
    struct raw_grid *grids;
    struct raw_lump *lumps;
    int default_place, default_turn; /* of GRDSET */
    struct cfg_mark grdset;          /* line 0: none yet */
    double mass_factor;              /* of PARAM,WTMASS */
    struct cfg_bulk *bulk;
};

/* ---- cards ---- */

static bool read_vector(const struct reader *reader, const struct cfg_card *card, int field,
                        const char *const names[3], struct dyn_vec3 *out)
{
    double e[3];
    for (int k = 0; k < 3; k++)
        if (!cfg_card_real(card, field + k, names[k], &e[k], reader->report))
            return false;
    *out = dyn_vec3_load(e);
    return true;
}

/* The number of a coordinate system, which may be left out. */
static bool read_system_id(const struct reader *reader, const struct cfg_card *card, int field,
                           const char *name, int least, int unsaid, int *id)
{
    *id = unsaid;
    return !cfg_card_has(card, field) ||
           cfg_card_whole(card, field, name, least, id, reader->report);
}

static bool read_grdset(struct reader *reader, const struct cfg_card *card)
{
    if (reader->grdset.line > 0)
        return cfg_fail(reader->report, NULL, card->mark,
                        "a second GRDSET; the first is in line %d, remove one",
                        reader->grdset.line);
    reader->grdset = card->mark;
    return read_system_id(reader, card, 1, "CP", 0, BASIC, &reader->default_place) &&
           read_system_id(reader, card, 5, "CD", 0, BASIC, &reader->default_turn);
}

static bool read_param(struct reader *reader, const struct cfg_card *card)
{
    if (strcasecmp(card->field[0].text, "WTMASS") != 0)
        return true;
    if (!cfg_card_real(card, 1, "WTMASS", &reader->mass_factor, reader->report))
        return false;
    return reader->mass_factor > 0.0 ||
           cfg_fail(reader->report, NULL, card->field[1].mark, "WTMASS of PARAM must be positive");
}

static bool read_system(struct reader *reader, const struct cfg_card *card)
{
    static const char *const a[] = {"A1", "A2", "A3"}, *const b[] = {"B1", "B2", "B3"},
                             *const c[] = {"C1", "C2", "C3"};
    struct raw_system *system = &reader->systems[reader->system_count++];
    system->tag.mark = card->mark;
    system->base_mark = card->field[1].mark;
    return cfg_card_whole(card, 0, "CID", 1, &system->tag.id, reader->report) &&
           read_system_id(reader, card, 1, "RID", 0, BASIC, &system->base) &&
           read_vector(reader, card, 2, a, &system->a) &&
           read_vector(reader, card, 5, b, &system->b) &&
           read_vector(reader, card, 8, c, &system->c);
}

static bool read_grid(struct reader *reader, const struct cfg_card *card)
{
    static const char *const x[] = {"X1", "X2", "X3"};
    struct raw_grid *grid = &reader->grids[reader->grid_count++];
    grid->tag.mark = card->mark;
    grid->place_mark = card->field[1].mark;
    grid->turn_mark = card->field[5].mark;
    return cfg_card_whole(card, 0, "ID", 1, &grid->tag.id, reader->report) &&
           read_system_id(reader, card, 1, "CP", 0, UNSAID, &grid->place) &&
           read_vector(reader, card, 2, x, &grid->x) &&
           read_system_id(reader, card, 5, "CD", 0, UNSAID, &grid->turn);
}

/* Products of inertia that are impossible would lead to modes without mass. */
static bool check_lump(const struct reader *reader, const struct cfg_card *card,
                       const struct raw_lump *lump)
{
    const double slack = 1.0 + 1e-6;
    const struct dyn_sym3 *I = &lump->inertia;
    if (lump->mass < 0.0)
        return cfg_fail(reader->report, NULL, card->field[3].mark,
                        "M of CONM2 must not be negative; here is %.10g", lump->mass);
    if (I->xx < 0.0 || I->yy < 0.0 || I->zz < 0.0 || I->xy * I->xy > slack * I->xx * I->yy ||
        I->xz * I->xz > slack * I->xx * I->zz || I->yz * I->yz > slack * I->yy * I->zz)
        return cfg_fail(reader->report, NULL, card->mark,
                        "no mass has the inertia of this CONM2: moments are not negative, a "
                        "product's square is at most that of its two moments; check I11 to I33");
    return true;
}

/* Products of inertia are written as int x y dm; the tensor has them with a minus sign. */
static bool read_inertia(const struct reader *reader, const struct cfg_card *card,
                         struct dyn_sym3 *inertia)
{
    static const char *const names[] = {"I11", "I21", "I22", "I31", "I32", "I33"};
    double e[6];
    for (int k = 0; k < 6; k++)
        if (!cfg_card_real(card, 8 + k, names[k], &e[k], reader->report))
            return false;
    *inertia = (struct dyn_sym3){
        .xx = e[0], .yy = e[2], .zz = e[5], .xy = -e[1], .xz = -e[3], .yz = -e[4]};
    return true;
}

static bool read_lump(struct reader *reader, const struct cfg_card *card)
{
    static const char *const x[] = {"X1", "X2", "X3"};
    struct raw_lump *lump = &reader->lumps[reader->lump_count++];
    lump->tag.mark = card->mark;
    lump->grid_mark = card->field[1].mark;
    lump->system_mark = card->field[2].mark;
    return cfg_card_whole(card, 0, "EID", 1, &lump->tag.id, reader->report) &&
           cfg_card_whole(card, 1, "G", 1, &lump->grid, reader->report) &&
           read_system_id(reader, card, 2, "CID", FROM_ORIGIN, BASIC, &lump->system) &&
           cfg_card_real(card, 3, "M", &lump->mass, reader->report) &&
           read_vector(reader, card, 4, x, &lump->x) &&
           read_inertia(reader, card, &lump->inertia) && check_lump(reader, card, lump);
}

static const char *const card_names[] = {"GRID", "CONM2", "CORD2R", "GRDSET", "PARAM", NULL};

static bool read_card(struct reader *reader, const struct cfg_card *card)
{
    static bool (*const reads[])(struct reader *, const struct cfg_card *) = {
        read_grid, read_lump, read_system, read_grdset, read_param};
    int k = 0;
    while (strcmp(card_names[k], card->name) != 0)
        k++;
    return reads[k](reader, card);
}

static bool read_cards(struct reader *reader, const char *text, size_t size)
{
    struct cfg_deck deck;
    struct cfg_card card;
    cfg_deck_open(&deck, text, size, card_names, reader->report);
    while (cfg_deck_next(&deck, &card))
        if (!read_card(reader, &card))
            return false;
    return reader->report->line[0] == '\0';
}

/* ---- memory ---- */

static bool count_cards(const struct reader *reader, const char *text, size_t size, int counts[3])
{
    static const int max[3] = {CFG_BULK_GRIDS_MAX, CFG_BULK_LUMPS_MAX, CFG_BULK_SYSTEMS_MAX};
    struct cfg_deck deck;
    struct cfg_card card;
    cfg_deck_open(&deck, text, size, card_names, reader->report);
    while (cfg_deck_next(&deck, &card))
        for (int k = 0; k < 3; k++)
            if (strcmp(card.name, card_names[k]) == 0 && ++counts[k] > max[k])
                return cfg_fail(reader->report, NULL, card.mark,
                                "more than %d %s cards; take a smaller model", max[k], card.name);
    return reader->report->line[0] == '\0';
}

static bool alloc_cards(struct reader *reader, const char *text, size_t size)
{
    int counts[3] = {0};
    if (!count_cards(reader, text, size, counts))
        return false;
    reader->grids = cfg_load_arena_take(reader->pool, (size_t)counts[0] * sizeof *reader->grids);
    reader->lumps = cfg_load_arena_take(reader->pool, (size_t)counts[1] * sizeof *reader->lumps);
    reader->systems =
        cfg_load_arena_take(reader->pool, (size_t)counts[2] * sizeof *reader->systems);
    return true;
}

/* ---- ids ---- */

/* All structs above begin with their id. */
static int compare_ids(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int find_id(int id, const void *first, int count, size_t size)
{
    const char *found = count > 0 ? bsearch(&id, first, (size_t)count, size, compare_ids) : NULL;
    return found != NULL ? (int)((size_t)(found - (const char *)first) / size) : -1;
}

static bool sort_ids(const struct reader *reader, void *items, int count, size_t size,
                     const char *what)
{
    qsort(items, (size_t)count, size, compare_ids);
    for (int i = 1; i < count; i++) {
        const struct tag *a = (const void *)((const char *)items + (size_t)(i - 1) * size);
        const struct tag *b = (const void *)((const char *)items + (size_t)i * size);
        const bool in_order = a->mark.line < b->mark.line;
        if (a->id == b->id)
            return cfg_fail(reader->report, NULL, in_order ? b->mark : a->mark,
                            "there is already a %s %d in line %d; remove one", what, a->id,
                            in_order ? a->mark.line : b->mark.line);
    }
    return true;
}

static bool sort_cards(struct reader *reader)
{
    return sort_ids(reader, reader->systems, reader->system_count, sizeof *reader->systems,
                    "CORD2R") &&
           sort_ids(reader, reader->grids, reader->grid_count, sizeof *reader->grids, "GRID") &&
           sort_ids(reader, reader->lumps, reader->lump_count, sizeof *reader->lumps, "CONM2");
}

static bool find_system(const struct reader *reader, int id, struct cfg_mark mark, int *index)
{
    const struct cfg_bulk *bulk = reader->bulk;
    *index = find_id(id, bulk->systems, bulk->system_count, sizeof *bulk->systems);
    return *index >= 0 ||
           cfg_fail(reader->report, NULL, mark,
                    "there is no CORD2R %d; other coordinate systems are not read", id);
}

/* ---- coordinate systems ---- */

static struct dyn_vec3 to_basic(const struct cfg_bulk_system *system, struct dyn_vec3 x)
{
    return dyn_add(system->origin, dyn_mul_t(&system->axes, x));
}

static bool resolve_system(const struct reader *reader, const struct raw_system *raw,
                           const struct cfg_bulk_system *base, struct cfg_bulk_system *out)
{
    const double least = 1e-9;
    const struct dyn_vec3 along = dyn_sub(raw->b, raw->a), beside = dyn_sub(raw->c, raw->a);
    const struct dyn_vec3 across = dyn_cross(along, beside);
    if (!(dyn_norm(across) > least * dyn_norm(along) * dyn_norm(beside)) ||
        !isfinite(dyn_norm(across)))
        return cfg_fail(reader->report, NULL, raw->tag.mark,
                        "the three points of CORD2R %d lie on one line; move C off the z axis",
                        raw->tag.id);
    const struct dyn_vec3 z = dyn_scale(1.0 / dyn_norm(along), along);
    const struct dyn_vec3 y = dyn_scale(1.0 / dyn_norm(across), across);
    const struct dyn_mat3 own = {{dyn_cross(y, z), y, z}};
    *out = (struct cfg_bulk_system){
        .id = raw->tag.id,
        .mark = raw->tag.mark,
        .origin = to_basic(base, raw->a),
        .axes = dyn_mat3_mul(&own, &base->axes),
    };
    return true;
}

static bool refuse_base(const struct reader *reader, const struct raw_system *raw)
{
    const bool exists =
        find_id(raw->base, reader->systems, reader->system_count, sizeof *reader->systems) >= 0;
    return cfg_fail(reader->report, NULL, raw->base_mark,
                    exists ? "CORD2R %d, by its RID %d, hangs on itself; let one RID be blank"
                           : "CORD2R %d: there is no CORD2R %d; other coordinate systems are not "
                             "read",
                    raw->tag.id, raw->base);
}

/* The base of a system, or NULL while the base is not resolved itself. */
static const struct cfg_bulk_system *base_of(const struct reader *reader,
                                             const struct raw_system *raw)
{
    const struct cfg_bulk_system *systems = reader->bulk->systems;
    if (raw->base == BASIC)
        return &systems[0];
    const int at =
        find_id(raw->base, reader->systems, reader->system_count, sizeof *reader->systems);
    return at >= 0 && systems[at + 1].id != 0 ? &systems[at + 1] : NULL;
}

/* One round: resolve the systems whose base is known. *open is the index of an unresolved one, else
 * -1. */
static bool resolve_round(const struct reader *reader, int *open, int *done)
{
    *open = -1;
    *done = 0;
    for (int i = 0; i < reader->system_count; i++) {
        const struct raw_system *raw = &reader->systems[i];
        struct cfg_bulk_system *system = &reader->bulk->systems[i + 1];
        const struct cfg_bulk_system *base = base_of(reader, raw);
        if (system->id != 0)
            continue;
        if (base == NULL)
            *open = i;
        else if (!resolve_system(reader, raw, base, system))
            return false;
        else
            ++*done;
    }
    return true;
}

static bool resolve_systems(struct reader *reader)
{
    const struct dyn_mat3 unit = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    struct cfg_bulk *bulk = reader->bulk;
    bulk->system_count = reader->system_count + 1;
    bulk->systems =
        cfg_load_arena_take(reader->pool, (size_t)bulk->system_count * sizeof *bulk->systems);
    bulk->systems[0].axes = unit;
    int open, done;
    do {
        if (!resolve_round(reader, &open, &done))
            return false;
    } while (open >= 0 && done > 0);
    return open < 0 || refuse_base(reader, &reader->systems[open]);
}

/* ---- grids and lumps ---- */

static bool resolve_grid(const struct reader *reader, const struct raw_grid *raw,
                         struct cfg_bulk_grid *grid)
{
    const bool place_said = raw->place != UNSAID, turn_said = raw->turn != UNSAID;
    int place;
    if (!find_system(reader, place_said ? raw->place : reader->default_place,
                     place_said ? raw->place_mark : reader->grdset, &place) ||
        !find_system(reader, turn_said ? raw->turn : reader->default_turn,
                     turn_said ? raw->turn_mark : reader->grdset, &grid->system))
        return false;
    grid->id = raw->tag.id;
    grid->mark = raw->tag.mark;
    grid->r = to_basic(&reader->bulk->systems[place], raw->x);
    return isfinite(dyn_norm(grid->r)) ||
           cfg_fail(reader->report, NULL, raw->tag.mark,
                    "grid %d lies too far away for a number; check its coordinates", raw->tag.id);
}

static bool resolve_grids(struct reader *reader)
{
    struct cfg_bulk *bulk = reader->bulk;
    bulk->grids =
        cfg_load_arena_take(reader->pool, (size_t)reader->grid_count * sizeof *bulk->grids);
    for (int i = 0; i < reader->grid_count; i++)
        if (!resolve_grid(reader, &reader->grids[i], &bulk->grids[i]))
            return false;
    bulk->grid_count = reader->grid_count;
    return true;
}

static bool resolve_lump(const struct reader *reader, const struct raw_lump *raw,
                         struct cfg_bulk_lump *lump)
{
    const struct cfg_bulk *bulk = reader->bulk;
    const bool from_origin = raw->system == FROM_ORIGIN;
    int system;
    if (!find_system(reader, from_origin ? BASIC : raw->system, raw->system_mark, &system))
        return false;
    lump->grid = cfg_bulk_find_grid(bulk, raw->grid);
    if (lump->grid < 0)
        return cfg_fail(reader->report, NULL, raw->grid_mark,
                        "CONM2 %d sits on grid %d, which has no GRID card", raw->tag.id, raw->grid);
    const struct dyn_mat3 *axes = &bulk->systems[system].axes;
    const struct dyn_sym3 I = dyn_sym3_to_parent(&raw->inertia, axes);
    const double f = reader->mass_factor;
    lump->id = raw->tag.id;
    lump->mark = raw->tag.mark;
    lump->mass = f * raw->mass;
    lump->offset =
        from_origin ? dyn_sub(raw->x, bulk->grids[lump->grid].r) : dyn_mul_t(axes, raw->x);
    lump->inertia = (struct dyn_sym3){f * I.xx, f * I.yy, f * I.zz, f * I.xy, f * I.xz, f * I.yz};
    return true;
}

static bool resolve_lumps(struct reader *reader)
{
    struct cfg_bulk *bulk = reader->bulk;
    bulk->lumps =
        cfg_load_arena_take(reader->pool, (size_t)reader->lump_count * sizeof *bulk->lumps);
    for (int i = 0; i < reader->lump_count; i++)
        if (!resolve_lump(reader, &reader->lumps[i], &bulk->lumps[i]))
            return false;
    bulk->lump_count = reader->lump_count;
    return true;
}

int cfg_bulk_find_grid(const struct cfg_bulk *bulk, int id)
{
    return find_id(id, bulk->grids, bulk->grid_count, sizeof *bulk->grids);
}

const struct cfg_bulk *cfg_bulk_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                      struct cfg_complaint *report)
{
    struct reader reader = {
        .pool = pool,
        .report = report,
        .mass_factor = 1.0,
        .bulk = cfg_load_arena_take(pool, sizeof *reader.bulk),
    };
    const bool is_good = alloc_cards(&reader, text, size) && read_cards(&reader, text, size) &&
                         sort_cards(&reader) && resolve_systems(&reader) &&
                         resolve_grids(&reader) && resolve_lumps(&reader);
    return is_good ? reader.bulk : NULL;
}
