/*
 * Reads one value of a scenario by its key.
 */
#pragma once

#include "config/yaml/table.h"

struct cfg_reader {
    struct cfg_load_arena *pool;
    struct cfg_complaint *report;
};

/* A text of the values that the key accepts.  Context: setup. */
void cfg_describe(const struct cfg_key *key, struct cfg_phrase *phrase);

/* The general complaint: the values that the key accepts, and the text in the file.  Always
 * false.  Context: setup. */
bool cfg_fail_wants(const struct cfg_reader *reader, const struct cfg_key *key,
                    const struct cfg_node *node);

/* True for a valid name.  Context: setup. */
bool cfg_is_name(const char *text);

/* Convert a number in some unit ("": SI) to SI, when the unit and the size are valid for the key.
 * Context: setup. */
bool cfg_accept_quantity(const struct cfg_key *key, const char *unit, double *value,
                         struct cfg_phrase *problem);

/* A number with its unit, as a value of this key.  Used for texts that hold quantities (expect).
 * Context: setup. */
bool cfg_quantity_parse(const struct cfg_key *key, const char *text, double *value,
                        struct cfg_phrase *problem);

/* Scalars: name, text, integer, quantity, choice.  Context: setup. */
bool cfg_read_scalar(const struct cfg_reader *reader, const struct cfg_key *key,
                     const struct cfg_node *node, void *out);

/* Rows of numbers: vector, numbers, rows, axis, attitude.  Context: setup. */
bool cfg_read_row(const struct cfg_reader *reader, const struct cfg_key *key,
                  const struct cfg_node *node, void *out);

/* The node of row i; for a single row the whole value.  Context: setup. */
const struct cfg_node *cfg_rows_node(const struct cfg_rows *rows, int i);

/* A name or three numbers.  Context: setup. */
bool cfg_read_color(const struct cfg_reader *reader, const struct cfg_key *key,
                    const struct cfg_node *node, double out[3]);

/* The i-th color that has a name; NULL: there are no more.  Context: any. */
const char *cfg_color_name(int i);

/* A mapping of roll, pitch and yaw.  Context: setup. */
extern const struct cfg_table cfg_euler_table;
