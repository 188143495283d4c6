/*
 * The modes of one flexible body from NASTRAN: bulk data have the positions and masses of its
 * points, a punch file has the shapes of the modes.
 *
 * Mass comes from CONM2 cards alone, so the model must be lumped on them.  That this is the mass
 * the modes were computed with is checked: modes scaled to a modal mass of one (NORM=MASS) must
 * have it with the lumps, too, and modes must not have a common momentum.  Modes whose greatest
 * component is 1 are taken as scaled to that (NORM=MAX); then the modal mass is computed from the
 * lumps.
 *
 * Everything is in the file's basic coordinates and given in SI.  There is no second-order part
 * (psi2), because such files have none.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/flex/modal.h"

enum { CFG_NASTRAN_TEXT_MAX = 256 << 20 }; /* bytes of a file */

/* The options that are not in the files; all numbers are positive. */
struct cfg_nastran_choice {
    int modes;          /* number of modes, 1 to DYN_MODES_MAX */
    const int *numbers; /* their numbers in the file; NULL: the first modes that are not rigid */
    double slowest;     /* Hz: a mode below it is a rigid-body mode */
    double length;      /* m of one unit of length of the files */
    double mass;        /* kg of one unit of mass of the files, after PARAM,WTMASS */
    double tolerance;   /* largest deviation of modal masses, as a share */
};

struct cfg_nastran_mode {
    int number;
    struct cfg_mark mark; /* in the punch file */
    double eigenvalue;    /* rad^2/s^2 */
    double mass;          /* kg, of the stations */
};

struct cfg_nastran_node {
    int grid;
    struct dyn_node node;
};

struct cfg_nastran {
    int mode_count, station_count, node_count;
    struct cfg_nastran_mode *modes;
    struct dyn_station *stations;   /* one for each CONM2, by its EID */
    struct cfg_nastran_node *nodes; /* all grids of the punch file, by id */
};

/* A file in memory; messages call it `name`. */
struct cfg_nastran_text {
    const char *name, *text;
    size_t size;
};

/* The body is allocated from the pool.  NULL with one line in error.  Context: setup. */
const struct cfg_nastran *cfg_nastran_parse(struct cfg_load_arena *pool,
                                            const struct cfg_nastran_text *bulk,
                                            const struct cfg_nastran_text *punch,
                                            const struct cfg_nastran_choice *choice,
                                            char error[CFG_ERROR_MAX]);

/* The node at a grid; NULL: the punch file has none of that id.  Context: setup. */
const struct dyn_node *cfg_nastran_find(const struct cfg_nastran *body, int grid);
