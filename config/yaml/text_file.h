/*
 * A whole text file, or why there is none.
 */
#pragma once

#include <stddef.h>

#include "config/yaml/complaint.h"

/* The text of a file, NUL behind it; one byte more than max when the file is larger, so that its
 * reader sees it.  what names the kind of file for the complaint.  0, or -errno with one line in
 * error.  The caller frees the text.  Context: setup. */
int cfg_file_read(const char *path, const char *what, size_t max, char **text, size_t *size,
                  char error[CFG_ERROR_MAX]);
