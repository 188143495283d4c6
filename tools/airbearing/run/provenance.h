/*
 * Where a log comes from: which program, which scenario and files, which machine.
 */
#pragma once

#include <stdbool.h>

#include "rt/executive/state/digest.h"

struct run;

enum { PROVENANCE_PAIR_COUNT = 3 };

struct provenance {
    char scenario_hash[SIM_DIGEST_TEXT_SIZE]; /* of its text */
    char model_hash[SIM_DIGEST_TEXT_SIZE]; /* of the files that it names; of nothing where none */
    char *machine;                         /* the doctor's findings as JSON; NULL: no memory */
};

/* Read settings, measure nothing.  Context: setup, before the first frame, by no real-time thread.
 */
void provenance_collect(struct provenance *provenance, const struct run *run);
/* The pairs for the log's metadata: so many strings are put at pairs. */
int provenance_pairs(const struct provenance *provenance, const char **pairs);
void provenance_free(struct provenance *provenance);
