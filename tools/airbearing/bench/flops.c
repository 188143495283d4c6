/*
 * Floating-point operations of one state's forward dynamics, counted while they are done.
 *
 *      bench_flops NAME made
 *      bench_flops FILE fixed|free|unsaid
 *
 * prints multiplications, additions, divisions, pairs of sine and cosine, and tanhs.  For
 * `airbearing bench`, which runs this program where the build had a C++ compiler for it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/bench/counting.h"
#include "tools/airbearing/bench/subject.h"
#include "tools/airbearing/command.h"

enum { STATES = 2 }; /* room for two answers */

/* The first state of the pool, its answer in the first nv numbers of a. */
static struct counting_tally count(const struct subject *subject)
{
    struct dyn_batch one = subject->rows;
    one.count = 1;
    dyn_batch_run(&counting_kernel, subject->tree, &one, subject->batch_work, subject->a);
    for (int k = 0; k < subject->nv; k++)
        subject->a[k] = subject->a[(size_t)k * one.stride];
    return counting_take();
}

/* A count of the wrong sum would be worth nothing. */
static void check_answer(const struct subject *subject)
{
    struct subject again = *subject;
    double largest = 0.0, error = 0.0;
    again.a += subject->nv;
    subject_forward(&again, 0);
    for (int k = 0; k < subject->nv; k++) {
        largest = fmax(largest, fabs(again.a[k]));
        error = fmax(error, fabs(again.a[k] - subject->a[k]));
    }
    RT_CHECK(error <= 1e-6 * largest);
}

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
    char error[CFG_ERROR_MAX] = "some joint of the model mimics another";
    if (read_source(argc, argv, &source)) {
        fputs("usage: bench_flops NAME made | bench_flops FILE fixed|free|unsaid\n", stderr);
        return EXIT_USAGE;
    }
    if (subject_open(&subject, &source, STATES, error) || subject.batch_work == NULL) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    const struct counting_tally tally = count(&subject);
    check_answer(&subject);
    printf("%lld %lld %lld %lld %lld\n", tally.mul, tally.add, tally.div, tally.sine_cosine,
           tally.tanhs);
    subject_close(&subject);
    return EXIT_OK;
}
