/*
 * Files that a scenario names, such as FE models: from disk, or from a log that contains them.
 */
#pragma once

#include "config/resolve/resolve.h"

/* The file of this name, kept with the scenario and read only once. A relative name is relative to
 * the scenario's folder.  NULL with one line in error.  Context: setup. */
const struct cfg_file *cfg_file_source_take(const struct cfg_resolve *resolve, const char *name,
                                            const char *what, size_t max,
                                            char error[CFG_ERROR_MAX]);
