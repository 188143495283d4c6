/*
 * The scan of an MCAP file at open: it goes from record to record, without opening chunks, and
 * finds how far the file is whole, its attachments, metadata and definitions.
 */
#pragma once

#include "io/log/mcap_reader_state.h"

/* Check the magic and the header.  0, or -1. */
int io_mcap_check_header(struct io_mcap_reader *reader);
/* Scan all records; at a fault the scan ends, and reader->fault is set. */
void io_mcap_scan(struct io_mcap_reader *reader);
