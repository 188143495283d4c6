/*
 * The options of a subcommand, one after the other.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>

/* Each option goes to take, which gives 0 to go on or the exit code ('?': getopt has complained).
 * -h prints the usage and sets *done.  0, or the exit code; optind is at what is no option.
 * Context: setup. */
int arguments_read(int argc, char **argv, const struct option *table, const char *usage,
                   int (*take)(void *self, int option, char *value), void *self, bool *done);
