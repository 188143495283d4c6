/*
 * Eigenvectors in the format of a NASTRAN punch file:
 *
 *      $EIGENVECTOR                                                                   4
 *      $REAL OUTPUT                                                                   5
 *      $SUBCASE ID =           1                                                      6
 *      $EIGENVALUE =  0.1529862E+06  MODE =     1                                     7
 *               1       G      0.000000E+00      0.000000E+00      0.000000E+00       8
 *      -CONT-                  0.000000E+00      0.000000E+00      0.000000E+00       9
 *
 * Columns 73 to 80 number the lines and are not read, nor are blocks of other results, nor points
 * other than grids (G).
 *
 * Tested by tests/config/import/test_nastran.c.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"

enum {
    CFG_PUNCH_MODES_MAX = 4096,
    CFG_PUNCH_ROWS_MAX = 1 << 20, /* of one mode */
};

struct cfg_punch_mode {
    int number;
    struct cfg_mark mark; /* of the line with its number */
    double eigenvalue;    /* rad^2/s^2 */
    int row_count;
    struct cfg_mark start; /* of its first row */
    const char *text;      /* from there on */
};

struct cfg_punch_row {
    int grid;
    struct cfg_mark mark;
    double shape[6]; /* displacement, then rotation, in the grid's axes */
};

struct cfg_punch {
    const char *end; /* of the text */
    int mode_count;
    struct cfg_punch_mode *modes; /* by number */
};

/* The modes of a text, which must outlive them.  NULL with the complaint in report.
 * Context: setup. */
const struct cfg_punch *cfg_punch_scan(struct cfg_load_arena *pool, const char *text, size_t size,
                                       struct cfg_complaint *report);

/* The rows of one mode, row_count of them, by grid.  false with a complaint.  Context: setup. */
bool cfg_punch_read(const struct cfg_punch *punch, const struct cfg_punch_mode *mode,
                    struct cfg_punch_row *rows, struct cfg_complaint *report);

/* The index of a mode; -1: there is none.  Context: setup. */
int cfg_punch_find(const struct cfg_punch *punch, int number);
