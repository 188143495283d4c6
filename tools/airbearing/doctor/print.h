/*
 * Findings for people and for programs.
 *
 * Tested by tests/scenario/commands/test_doctor_texts.py.
 */
#pragma once

#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/doctor/tune.h"

/* Print the verdict, then the findings: bad, unknown, warnings, good.  Context: setup. */
void print_findings(const struct doctor_facts *facts, const struct doctor_findings *findings,
                    const char *boot_line);
struct json_t;
/* The same as an object, which the caller owns; boot_line may be NULL.  Context: setup. */
struct json_t *findings_object(const struct doctor_facts *facts,
                               const struct doctor_findings *findings, const char *boot_line);
/* Context: setup. */
void print_findings_json(const struct doctor_facts *facts, const struct doctor_findings *findings,
                         const char *boot_line);

/* The result of the changes. */
struct print_tuned {
    bool applied;
    const char *undo_file; /* NULL: none was written */
    const char *stays;     /* interrupts that could not be moved */
    const char *boot_line;
};

/* Context: setup. */
void print_tune(const struct tune *tune, const struct print_tuned *tuned);
void print_tune_json(const struct tune *tune, const struct print_tuned *tuned, int cpu);
