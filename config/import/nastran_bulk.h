/*
 * A NASTRAN model from its bulk data: the positions of its points and the masses on them.
 *
 * Read are GRID, GRDSET, CORD2R, CONM2 and PARAM,WTMASS.  Elements, materials and all other cards
 * are ignored, so the mass is known only from CONM2 cards.  Units are those of the file.
 *
 * Tested by tests/config/import/test_nastran.c.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/math/spatial.h"

enum {
    CFG_BULK_GRIDS_MAX = 1 << 20,
    CFG_BULK_LUMPS_MAX = 1 << 20,
    CFG_BULK_SYSTEMS_MAX = 4096,
};

/* A coordinate system. The first is the basic system, 0. */
struct cfg_bulk_system {
    int id;
    struct cfg_mark mark;
    struct dyn_vec3 origin; /* in basic coordinates */
    struct dyn_mat3 axes;   /* each row an axis, in basic coordinates */
};

struct cfg_bulk_grid {
    int id;
    struct cfg_mark mark;
    struct dyn_vec3 r; /* in basic coordinates */
    int system;        /* index of the system of its displacements */
};

struct cfg_bulk_lump { /* a CONM2 card */
    int id;
    struct cfg_mark mark;
    int grid; /* index */
    double mass;
    struct dyn_vec3 offset;  /* mass centre relative to the grid, basic axes */
    struct dyn_sym3 inertia; /* about the mass centre, basic axes */
};

struct cfg_bulk {
    int system_count, grid_count, lump_count;
    struct cfg_bulk_system *systems; /* all three by id */
    struct cfg_bulk_grid *grids;
    struct cfg_bulk_lump *lumps;
};

/* Read and check a text.  The model is allocated from the pool.  NULL with the complaint in report.
 * Context: setup. */
const struct cfg_bulk *cfg_bulk_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                      struct cfg_complaint *report);

/* The index of a grid; -1: there is none.  Context: setup. */
int cfg_bulk_find_grid(const struct cfg_bulk *bulk, int id);
