/*
 * The origin of a log: its program, its scenario and files, its machine.
 */
#pragma once

#include "config/scenario.h"
#include "rt/executive/state/digest.h"
#include "rt/machine/machine.h"

enum { PROVENANCE_PAIR_COUNT = 3 };

struct provenance {
    char scenario_hash[SIM_DIGEST_TEXT_SIZE]; /* of the scenario's text */
    char model_hash[SIM_DIGEST_TEXT_SIZE];    /* of the files that the scenario names */
    char *machine;                            /* the doctor's findings as JSON; NULL: no memory */
};

/* Read settings; nothing is measured.  Context: setup, before the first frame, not on a real-time
 * thread. */
void provenance_collect(struct provenance *provenance, const struct cfg_scenario *scenario,
                        const struct rt_machine *machine, const struct rt_core_plan *plan);
/* Write the pairs for the log's metadata to pairs; returns the number of strings. */
int provenance_pairs(const struct provenance *provenance, const char **pairs);
void provenance_free(struct provenance *provenance);
