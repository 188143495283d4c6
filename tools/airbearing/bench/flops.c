/*
 * Floating-point operations of one state's forward dynamics, counted while they are done.
 *
 *      bench_flops NAME made [composite]
 *      bench_flops FILE fixed|free|unsaid [composite]
 *
 * prints multiplications, additions, divisions, and sines with their cosines and tanhs: of a state
 * in a batch, or of one call where batches refuse the model.  With `composite` that of one call in
 * any case, and then the same four numbers by composite bodies, part by part: bias
 * force, mass matrix, its factors, and the solution.  For `airbearing bench` and tools/bench-flex,
 * which run this program where the build had a C++ compiler for it.
 */
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "dynamics/kernel/link_tree.h"
#include "tools/airbearing/bench/subject.h"
#include "tools/airbearing/command.h"
#include "tools/count/flops.h"
#include "tools/count/tree.h"

static int read_source(int argc, char **argv, struct subject_source *source)
{
    static const char *const base[] = {
        [CFG_BASE_UNSAID] = "unsaid", [CFG_BASE_FIXED] = "fixed", [CFG_BASE_FREE] = "free"};
    if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "composite") != 0))
        return EXIT_USAGE;
    *source = (struct subject_source){.name = argv[1], .is_made = strcmp(argv[2], "made") == 0};
    for (int k = CFG_BASE_UNSAID; k <= CFG_BASE_FREE && !source->is_made; k++) {
        source->base = (enum cfg_base)k;
        if (strcmp(argv[2], base[k]) == 0)
            return EXIT_OK;
    }
    return source->is_made ? EXIT_OK : EXIT_USAGE;
}

static void print_flops(const struct flop_count *count)
{
    printf("%ld %ld %ld %ld\n", count->multiplications, count->additions, count->divisions,
           count->functions);
}

/* The reason why the count is not valid, or NULL.  Where the answers are not finite, neither are
 * the operands, and zeros are not recognized. */
static const char *run_counting(const struct subject *subject, bool is_composite)
{
    const struct count_call call = {subject->q, subject->v, subject->tau, {0.0, 0.0, -9.81}};
    struct flop_count own, parts[COUNT_PARTS];
    const bool is_batch = !is_composite && subject->batch_work != NULL;

    if (subject->tree->mimic_joint_count > 0)
        return "a joint mimics another";
    if (is_batch ? count_flops(subject->tree, &own)
                 : count_articulated(subject->tree, &call, subject->a, &own))
        return "no memory";
    if (!is_batch && !subject_is_finite(subject))
        return "the model does not survive the state";
    if (is_composite && count_composite(subject->tree, &call, subject->a, parts))
        return "no memory";
    print_flops(&own);
    for (int k = 0; is_composite && k < COUNT_PARTS; k++)
        print_flops(&parts[k]);
    return NULL;
}

int main(int argc, char **argv)
{
    struct subject_source source;
    struct subject subject;
    char error[CFG_ERROR_MAX];
    if (read_source(argc, argv, &source)) {
        fputs("usage: bench_flops NAME made | bench_flops FILE fixed|free|unsaid [composite]\n",
              stderr);
        return EXIT_USAGE;
    }
    if (subject_open(&subject, &source, 1, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const char *obstacle = run_counting(&subject, argc == 4);
    if (obstacle != NULL)
        fprintf(stderr, "%s\n", obstacle);
    subject_close(&subject);
    return obstacle == NULL ? EXIT_OK : EXIT_BAD_INPUT;
}
