/*
 * Reads a whole text file.
 */
#pragma once

#include <stddef.h>

#include "config/yaml/complaint.h"

/* The text of a file, which ends with NUL; max + 1 bytes when the file is larger, so that its
 * reader notices. `what` is the kind of file in the complaint.  0, or -errno with one line in
 * error.  The caller frees the text.  Context: setup. */
int cfg_file_read(const char *path, const char *what, size_t max, char **text, size_t *size,
                  char error[CFG_ERROR_MAX]);
