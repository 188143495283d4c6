/*
 * Writes a small file in one call, durably.
 */
#pragma once

#include <stddef.h>

/* Replace the contents of the file.  When this has returned 0, the contents and the name survive
 * a power loss.  0 or -errno.  Context: any but frame. */
int io_write_file(const char *path, const void *bytes, size_t size);
