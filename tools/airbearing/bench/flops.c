/*
 * Floating-point operations of one state's forward dynamics, counted while they are done.
 *
 *      bench_flops NAME made
 *      bench_flops FILE fixed|free|unsaid
 *
 * prints multiplications, additions, divisions, and sines with their cosines and tanhs.  For
 * `airbearing bench`, which runs this program where the build had a C++ compiler for it.
 */
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/bench/subject.h"
#include "tools/airbearing/command.h"
#include "tools/count_flops.h"

static int read_source(int argc, char **argv, struct subject_source *source)
{
    static const char *const base[] = {
        [CFG_BASE_UNSAID] = "unsaid", [CFG_BASE_FIXED] = "fixed", [CFG_BASE_FREE] = "free"};
    if (argc != 3)
        return EXIT_USAGE;
    *source = (struct subject_source){.name = argv[1], .is_made = strcmp(argv[2], "made") == 0};
    for (int k = CFG_BASE_UNSAID; k <= CFG_BASE_FREE && !source->is_made; k++) {
        source->base = (enum cfg_base)k;
        if (strcmp(argv[2], base[k]) == 0)
            return EXIT_OK;
    }
    return source->is_made ? EXIT_OK : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct subject_source source;
    struct subject subject;
    struct flop_count count;
    char error[CFG_ERROR_MAX];
    if (read_source(argc, argv, &source)) {
        fputs("usage: bench_flops NAME made | bench_flops FILE fixed|free|unsaid\n", stderr);
        return EXIT_USAGE;
    }
    if (subject_open(&subject, &source, 1, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const bool can = subject.batch_work != NULL && count_flops(subject.tree, &count) == 0;
    if (can)
        printf("%ld %ld %ld %ld\n", count.multiplications, count.additions, count.divisions,
               count.functions);
    else
        fputs("a joint mimics another\n", stderr);
    subject_close(&subject);
    return can ? EXIT_OK : EXIT_BAD_INPUT;
}
