/*
 * A certificate: the figures of a run, the machine's guarantees, and hashes of the log, the
 * scenario and the program, in one JSON object that can be made again from the log and compared.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#pragma once

#include <stdbool.h>

#include "tools/airbearing/timing/figures.h"

struct json_t;

/* NULL when the log cannot be read again.  The caller owns it. */
struct json_t *certificate_make(const struct figures *figures, struct io_mcap_reader *reader,
                                const char *path, const struct figures_limits *limits);
/* The late frames that a certificate allowed; false when the object is not a certificate. */
bool certificate_limits(const struct json_t *certificate, struct figures_limits *limits);
/* The number of differences; each is printed with its place. */
int certificate_compare(struct json_t *given, struct json_t *made);
