/*
 * A complaint about a scenario, in one line: `file:line:column: what`, or `--set key=value: what`.
 * The first complaint is kept; later ones usually follow from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CFG_ERROR_MAX = 512, CFG_PHRASE_MAX = 384 };

struct cfg_mark { /* a position in the file, from 1; line 0: no position */
    int line, column;
};

struct cfg_complaint {
    const char *path; /* the text before the colon */
    char *line;       /* CFG_ERROR_MAX bytes, "" while nothing is wrong */
};

/* Complain about a position; origin is the override that it is in, or NULL for the file.
 * Always false, so that a reader can `return cfg_fail(...)`.  Context: setup. */
bool cfg_fail(struct cfg_complaint *report, const char *origin, struct cfg_mark mark,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Append to a text; what does not fit is cut.  Context: setup. */
struct cfg_phrase {
    size_t size;
    char text[CFG_PHRASE_MAX];
};
void cfg_phrase_add(struct cfg_phrase *phrase, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A user's text for a message: quoted, and cut to about forty characters. */
struct cfg_quote {
    char text[64];
};
struct cfg_quote cfg_quote(const char *text);
