/*
 * A file of a few bytes, written at once.
 */
#pragma once

#include <stddef.h>

/* These bytes are what the file holds.  When this has returned 0 they survive a loss of power, and
 * so does its name.  0 or -errno.  Context: any but frame. */
int io_write_file(const char *path, const void *bytes, size_t size);
