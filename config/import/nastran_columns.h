/*
 * Text in columns, as on punched cards: lines one by one, and numbers in NASTRAN's format.
 *
 * A tab counts as the blanks up to the next multiple of eight columns, as in NASTRAN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CFG_LINE_MAX = 255 }; /* columns kept of a line */

struct cfg_columns {
    const char *at, *end;
    int line; /* of the last line returned */
};

struct cfg_line {
    int number, size;
    bool cut; /* the file's line is longer */
    char text[CFG_LINE_MAX + 1];
};

/* The next line without its end; false: there is none.  Context: setup. */
bool cfg_columns_next(struct cfg_columns *columns, struct cfg_line *line);

/* All of text as a number: `1.5`, `1.5-3`, `1.5E-3`, `1.5D-3`.  false: it is not a number, or too
 * large for a double.  Context: setup. */
bool cfg_columns_real(const char *text, double *real);

/* All of text as a whole number of at most nine digits; false: it is not one.  Context: setup. */
bool cfg_columns_whole(const char *text, int *whole);
