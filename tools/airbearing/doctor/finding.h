/*
 * The doctor's findings: one for each property that affects punctuality.
 *
 * An essential property counts as missing when it is bad or unknown: a machine is never called
 * fit on a guess.
 */
#pragma once

#include <stdbool.h>

#include "rt/machine/audit.h"
#include "rt/machine/baseline.h"
#include "rt/machine/machine.h"

enum doctor_state { DOCTOR_BAD, DOCTOR_UNKNOWN, DOCTOR_WARN, DOCTOR_OK, DOCTOR_STATE_COUNT };

extern const char *const doctor_state_name[DOCTOR_STATE_COUNT];

enum { DOCTOR_FINDING_MAX = 40, DOCTOR_TEXT_SIZE = 512 };

struct doctor_finding {
    const char *name;
    bool essential;
    enum doctor_state state;
    const char *why; /* it matters */
    char seen[DOCTOR_TEXT_SIZE];
    char remedy[DOCTOR_TEXT_SIZE]; /* "" when there is nothing to be done */
};

struct doctor_findings {
    int count;
    struct doctor_finding finding[DOCTOR_FINDING_MAX];
};

/* The gap in the spin that makes a machine unfit, and the one that gives a warning: a whole frame
 * at 1 kHz, and a whole frame at 10 kHz. */
enum { DOCTOR_GAP_BAD_NS = 1000 * 1000, DOCTOR_GAP_WARN_NS = 100 * 1000 };

/* Default priority of the frame thread. */
enum { DOCTOR_PRIORITY = 90 };

/* What the kernel's io_uring can do for the links. */
struct doctor_uring {
    int error;      /* errno of the simplest ring; 0: it works */
    bool defer;     /* completions wait for the thread that wants them (6.1) */
    bool multishot; /* one request receives any number of datagrams (6.0) */
};

/* Everything the findings are made of. */
struct doctor_facts {
    struct rt_machine machine;
    struct rt_core_plan plan;
    struct rt_audit audit;
    struct doctor_uring uring;
    struct rt_core_counters before, after; /* before and after the baseline, or both the same */
    bool measured;
    struct rt_baseline baseline;
};

/* Read the settings of the machine under root ("": this one) and of the core (-1: the one that a
 * run would take).  0, or -1 with the reason in facts->plan.why.  Context: setup. */
int doctor_read(const char *root, int cpu, struct doctor_facts *facts);
/* Then measure that core; 0 s: only what is counted.  Context: setup. */
void doctor_measure(const char *root, double seconds, struct doctor_facts *facts);
/* Both for the machine and the cores of a run, and the findings as JSON text, which the caller
 * frees.  Context: setup, or after the run. */
char *doctor_findings_json(const struct rt_machine *machine, const struct rt_core_plan *plan,
                           double seconds);

/* All findings, in order of importance.  Pure.  Context: setup. */
void doctor_examine(const struct doctor_facts *facts, struct doctor_findings *findings);

/* The number of essential findings, and of those that are bad or unknown.  Context: setup. */
int doctor_essential(const struct doctor_findings *findings);
int doctor_missing(const struct doctor_findings *findings);

/* The parts of doctor_examine().  Context: setup. */
void doctor_examine_kernel(const struct doctor_facts *facts, struct doctor_findings *findings);
void doctor_examine_core(const struct doctor_facts *facts, struct doctor_findings *findings);
void doctor_examine_memory(const struct doctor_facts *facts, struct doctor_findings *findings);
void doctor_examine_time(const struct doctor_facts *facts, struct doctor_findings *findings);
void doctor_examine_measured(const struct doctor_facts *facts, struct doctor_findings *findings);

enum doctor_weight { DOCTOR_HELPFUL, DOCTOR_ESSENTIAL };

/* Add a finding; it is unknown until doctor_seen().  Context: setup. */
struct doctor_finding *doctor_begin(struct doctor_findings *findings, const char *name,
                                    enum doctor_weight weight, const char *why);

/* Context: setup. */
void doctor_seen(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_remedy(struct doctor_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True when the frame's core is isolated.  Context: setup. */
bool doctor_isolated(const struct doctor_facts *facts);

/* Try the features of io_uring that the links need.  Context: setup. */
void doctor_try_uring(struct doctor_uring *uring);
