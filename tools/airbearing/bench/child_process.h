/*
 * Another program, run to its end.
 */
#pragma once

#include <stddef.h>

/* Starts argv[0] from PATH and keeps the beginning of what it prints, on either stream.  Its exit
 * code, or -1 when it did not start or did not end by itself.  Context: setup. */
int child_run(char *const argv[], char *output, size_t size);

/* The program's own file, or one beside it; 0, or -1 where there is none.  Context: setup. */
int child_self(char *path, size_t size);
int child_beside(const char *name, char *path, size_t size);
