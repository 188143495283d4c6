#include "tools/airbearing/bench/count.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tools/airbearing/bench/child_process.h"

enum { CALLS = SUBJECT_STATES, OUTPUT_SIZE = 16384 };

static const char *base_name(enum cfg_base base)
{
    return base == CFG_BASE_FREE ? "free" : base == CFG_BASE_FIXED ? "fixed" : "unsaid";
}

/* Valgrind has no AVX-512, and reports that to the child. */
static enum dyn_isa known_isa(enum dyn_isa isa)
{
    return isa == DYN_ISA_AVX512 ? DYN_ISA_AVX2 : isa;
}

/* Only dyn_aba() is counted, so that nothing has to be subtracted. */
static void run_callgrind(const struct subject_source *source, struct operation_count *count)
{
    char self[PATH_MAX], isa[32], calls[16], output[OUTPUT_SIZE];
    const char *argv[20] = {"env",
                            isa,
                            "valgrind",
                            "--tool=callgrind",
                            "--callgrind-out-file=/dev/null",
                            "--toggle-collect=dyn_aba"};
    int argc = 6;
    (void)snprintf(isa, sizeof isa, "AIRBEARING_ISA=%s", dyn_isa_name(count->isa));
    (void)snprintf(calls, sizeof calls, "%d", CALLS);
    (void)snprintf(count->no_instructions, sizeof count->no_instructions,
                   "valgrind is missing or does not run here");
    if (child_self(self, sizeof self) != 0)
        return;
    argv[argc++] = self;
    argv[argc++] = "bench";
    argv[argc++] = source->is_made ? "--made" : "--model";
    argv[argc++] = source->name;
    if (source->base != CFG_BASE_UNSAID) {
        argv[argc++] = "--base";
        argv[argc++] = base_name(source->base);
    }
    argv[argc++] = "--calls";
    argv[argc++] = calls;
    if (child_run((char *const *)argv, output, sizeof output) != 0)
        return;
    const char *at = strstr(output, "Collected : ");
    count->has_instructions =
        at != NULL && sscanf(at, "Collected : %lf", &count->instructions) == 1;
    count->instructions /= CALLS;
}

static void run_counting(const struct subject_source *source, struct operation_count *count)
{
    char program[PATH_MAX], output[OUTPUT_SIZE];
    if (child_beside("bench_flops", program, sizeof program) != 0) {
        (void)snprintf(count->no_flops, sizeof count->no_flops,
                       "bench_flops is not there: it is built where there is a C++ compiler");
        return;
    }
    const char *argv[] = {program, source->name, source->is_made ? "made" : base_name(source->base),
                          NULL};
    const int code = child_run((char *const *)argv, output, sizeof output);
    count->has_flops = code == 0 && sscanf(output, "%lf %lf %lf %lf", &count->mul, &count->add,
                                           &count->div, &count->functions) == 4;
    output[strcspn(output, "\n")] = '\0';
    if (!count->has_flops)
        (void)snprintf(count->no_flops, sizeof count->no_flops, "%.79s", output);
}

void count_measure(const struct subject_source *source, enum dyn_isa isa,
                   struct operation_count *count)
{
    *count = (struct operation_count){.isa = known_isa(isa)};
    run_callgrind(source, count);
    run_counting(source, count);
}

double count_sum(const struct operation_count *count)
{
    return count->mul + count->add + count->div;
}
