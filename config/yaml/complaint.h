/*
 * What is wrong with a scenario, in one line: `file:line:column: what`, or `--set key=value: what`.
 * The first complaint wins; later ones are usually its echo.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CFG_ERROR_MAX = 512, CFG_PHRASE_MAX = 384 };

struct cfg_mark { /* where a thing stands in the file, from 1; line 0: nowhere in particular */
    int line, column;
};

struct cfg_complaint {
    const char *path; /* what stands before the colon */
    char *line;       /* CFG_ERROR_MAX bytes, "" while nothing is wrong */
};

/* Complain about a place; origin is the override that the place came from, or NULL for the file.
 * Always false, so that a reader can `return cfg_fail(...)`.  Context: setup. */
bool cfg_fail(struct cfg_complaint *report, const char *origin, struct cfg_mark mark,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A piece of a sentence that grows; what does not fit is cut.  Context: setup. */
struct cfg_phrase {
    size_t size;
    char text[CFG_PHRASE_MAX];
};
void cfg_phrase_add(struct cfg_phrase *phrase, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* User text made fit for a message: quoted and at most some forty characters. */
struct cfg_quote {
    char text[64];
};
struct cfg_quote cfg_quote(const char *text);
