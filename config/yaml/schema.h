/*
 * The reader that the tables of config/yaml/table.h drive.
 *
 * Tested by tests/config/yaml/test_mistakes_values.c.
 */
#pragma once

#include "config/yaml/table.h"
#include "config/yaml/value.h"

/* Fill the struct of table from the mapping at node.  false with the complaint in report.
 * Context: setup. */
bool cfg_schema_read(const struct cfg_table *table, const struct cfg_node *node, void *out,
                     struct cfg_load_arena *pool, struct cfg_complaint *report);

/* The key of that name, of the table or of one of its variants (variant -1: of any); NULL: none.
 * Context: setup. */
const struct cfg_key *cfg_table_find(const struct cfg_table *table, int variant, const char *name);

/* "did you mean ..." or "it takes ..." for a key that is not there.  Context: setup. */
void cfg_table_advise(const struct cfg_table *table, int variant, const char *name,
                      struct cfg_phrase *phrase);
