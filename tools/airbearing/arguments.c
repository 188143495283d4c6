#include "tools/airbearing/arguments.h"

#include <stdio.h>

int arguments_read(int argc, char **argv, const struct option *table, const char *usage,
                   int (*take)(void *self, int option, char *value), void *self, bool *done)
{
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return 0;
        }
        const int code = take(self, option, optarg);
        if (code)
            return code;
    }
    return 0;
}
