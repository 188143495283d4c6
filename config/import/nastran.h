/*
 * The modes of one flexible body from NASTRAN: bulk data say where its points are and what they
 * weigh, a punch file how the modes move them.
 *
 * Mass comes from CONM2 cards alone, so the model is to be lumped on them.  That this is the mass
 * the modes were computed with is checked: modes scaled to a modal mass of one (NORM=MASS) must
 * have it of the lumps too, and modes must not share momentum.  Modes whose greatest component is 1
 * are taken as scaled to that (NORM=MAX); then the lumps say the modal mass.
 *
 * Everything is in the file's basic coordinates and given in SI.  There is no second-order part
 * (psi2): such files have none.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "dynamics/flex/modal.h"

enum { CFG_NASTRAN_TEXT_MAX = 256 << 20 }; /* bytes of a file */

/* What the files leave to the user; all numbers positive. */
struct cfg_nastran_choice {
    int modes;          /* how many, 1 to DYN_MODES_MAX */
    const int *numbers; /* which, as the file counts them; NULL: the first that are not rigid */
    double slowest;     /* Hz: below that a mode is one of the rigid body */
    double length;      /* m that one unit of the files is */
    double mass;        /* kg the same, after PARAM,WTMASS */
    double tolerance;   /* of modal masses, as a share */
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

/* A file in memory; name stands for it in messages. */
struct cfg_nastran_text {
    const char *name, *text;
    size_t size;
};

/* The body lives in the pool.  NULL with one line in error.  Context: setup. */
const struct cfg_nastran *cfg_nastran_parse(struct cfg_load_arena *pool,
                                            const struct cfg_nastran_text *bulk,
                                            const struct cfg_nastran_text *punch,
                                            const struct cfg_nastran_choice *choice,
                                            char error[CFG_ERROR_MAX]);

/* The node at a grid; NULL: the punch file has none of that id.  Context: setup. */
const struct dyn_node *cfg_nastran_find(const struct cfg_nastran *body, int grid);
