/*
 * Whether bytes look like a record of an MCAP file: its fields must fill it exactly.
 */
#pragma once

#include "io/log/mcap_raw_record.h"

/* A record whose fields fill it exactly is at `at`.  Context: any. */
bool io_mcap_is_record(struct io_slice file, size_t at, struct io_mcap_raw_record *record);
/* The same for a place that was found by searching: short records and messages do not count,
 * because random bytes look like one too easily.  at < file.size.  Context: any. */
bool io_mcap_is_distinct_record(struct io_slice file, size_t at, struct io_mcap_raw_record *record);
