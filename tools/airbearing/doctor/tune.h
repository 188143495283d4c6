/*
 * Changes that make a machine more punctual, without a reboot and with one.
 *
 * Tested by tests/tools/doctor/test_doctor.c.
 */
#pragma once

#include "tools/airbearing/doctor/change.h"
#include "tools/airbearing/doctor/finding.h"

enum { TUNE_SKIP_MAX = 16, TUNE_ADVICE_MAX = 8 };

/* Names of changes, for --skip. */
extern const char *const tune_name[];

struct tune_options {
    const char *skip[TUNE_SKIP_MAX];
    int skip_count;
};

struct tune {
    struct changes changes;
    int advice_count;
    char advice[TUNE_ADVICE_MAX][DOCTOR_TEXT_SIZE]; /* to be done by hand */
};

/* Collect the changes that this machine lacks.  Context: setup. */
void tune_plan(const char *root, const struct doctor_facts *facts,
               const struct tune_options *options, struct tune *tune);

/* The words that the boot line lacks; "" when it needs none.  Context: setup. */
void tune_boot_line(const struct doctor_facts *facts, char *line, size_t size);
