/*
 * Tables of the keys that a scenario may contain.
 *
 * A table describes a mapping and the struct that it fills.  From it come the checks, the units,
 * the defaults, the suggestions, the paths of --set and the printed reference, so that they always
 * agree.  Every struct that a table fills begins with `const struct cfg_node *node`: its node, or
 * NULL when the file leaves it out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/yaml/document.h"

enum cfg_type {
    CFG_NAME,     /* const char *: letter, then letters, digits, _ and - */
    CFG_TEXT,     /* const char * */
    CFG_TEXTS,    /* struct cfg_list of const char * */
    CFG_INTEGER,  /* int64_t */
    CFG_QUANTITY, /* double, SI; NAN when left out without a default */
    CFG_VECTOR,   /* double[size]; a symmetric tensor (size 6) may be its diagonal alone */
    CFG_NUMBERS,  /* struct cfg_numbers: as many as there are, at most size */
    CFG_ROWS,     /* struct cfg_rows: of size numbers each, 0: as many as the first has */
    CFG_AXIS,     /* double[3], made unit */
    CFG_ATTITUDE, /* double[4], unit quaternion w x y z */
    CFG_COLOR,    /* double[3], red green blue, 0 to 1; the first NAN when left out */
    CFG_CHOICE,   /* int, index into choices; -1 when left out without a default */
    CFG_MAP,      /* the struct of its table */
    CFG_LIST,     /* struct cfg_list of the structs of its table */
};

enum cfg_limit { CFG_ANY, CFG_POSITIVE, CFG_NOT_NEGATIVE, CFG_BETWEEN };

/* Whether an operator may change the number during a run, in the order in which messages list them.
 */
enum cfg_tunable { CFG_FIXED, CFG_TUNABLE_FIRST, CFG_TUNABLE };

struct cfg_table;

struct cfg_key {
    const char *name;
    enum cfg_type type;
    size_t offset; /* in the struct of the table */
    bool required;
    const char *unless; /* then not required where this key is given */
    int size;           /* numbers of a vector or row; most items of a list, 0: any */
    const char *unit;   /* SI unit of the value, NULL: a plain number */
    enum cfg_limit limit;
    double min, max;              /* SI, both included */
    const char *word;             /* a word that means -1 (integer) or 0 (quantity) */
    const char *const *choices;   /* ends with NULL */
    const char *(*choice)(int i); /* instead of the list: the i-th; NULL: there are no more */
    const struct cfg_table *table;
    const char *fallback;  /* default, as it is written in a file */
    const char *otherwise; /* text of the default, where it depends on other keys */
    const char *example;
    const char *help;
    enum cfg_tunable tunable;
};

struct cfg_table {
    const char *what;      /* "a body": its name in messages */
    size_t size;           /* of its struct */
    const char *shorthand; /* the key of a single word or number in place of the mapping */
    int key_count;
    const struct cfg_key *keys;
    const char *like; /* text of the reference instead of all keys after the first `shown` */
    int shown;
    int variant_count; /* further keys by `type`: variants[i] belongs to choice i */
    const struct cfg_table *variants;
};

/* The i-th choice of the key; NULL: there are no more.  Context: any. */
static inline const char *cfg_choice(const struct cfg_key *key, int i)
{
    return key->choice != NULL ? key->choice(i) : key->choices[i];
}

/* For sources that define tables; AT() is an offset in the struct. */
#define CFG_COUNT(array)     ((int)(sizeof(array) / sizeof((array)[0])))
#define CFG_KEYS(name, list) .what = name, .key_count = CFG_COUNT(list), .keys = list
#define CFG_TYPE_KEY(list, text)                                                                   \
    {                                                                                              \
        "type", CFG_CHOICE, AT(type), .required = true, .choices = list, .example = text,          \
                                      .help = "decides which further keys there are"               \
    }

struct cfg_list {
    int count;
    void *items;
};

struct cfg_numbers {
    const struct cfg_node *node; /* NULL: left out */
    int count;
    double *items;
};

struct cfg_rows {
    const struct cfg_node *node; /* NULL: left out */
    int count, columns;
    double *items; /* row by row */
};
