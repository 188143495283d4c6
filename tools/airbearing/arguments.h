/*
 * Reads the options of a subcommand.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

/* Calls take for each option; take returns 0 to continue or the exit code ('?': getopt has
 * printed an error).  -h prints the usage and sets *done.  Returns 0 or the exit code; optind is
 * then at the first argument that is not an option.  Context: setup. */
int arguments_read(int argc, char **argv, const struct option *table, const char *usage,
                   int (*take)(void *self, int option, char *value), void *self, bool *done);
