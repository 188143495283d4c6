/*
 * airbearing log: show recorded runs, repair damaged ones, export their numbers.
 */
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/command.h"
#include "tools/airbearing/log/log.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"info", log_info, "the contents and losses of a log"},
    {"recover", log_recover, "a complete log from one that was cut off or damaged"},
    {"export", log_export, "its numbers as CSV, its times as percentiles"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fprintf(out, "usage: airbearing log COMMAND LOG ...\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\nSee airbearing log COMMAND --help.\n");
}

int command_log(int argc, char **argv)
{
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return EXIT_OK;
    }
    for (int i = 0; argc >= 2 && i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (argc >= 2)
        fprintf(stderr, "airbearing log: there is no command \"%s\"\n", argv[1]);
    print_help(stderr);
    return EXIT_USAGE;
}
