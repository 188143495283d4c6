/*
 * Selects the records of a channel that are written to the log: all, or every n-th, and all around
 * a trigger.
 *
 * A record is chosen by its sequence number, the last of every n, so that a reader who knows
 * `every` also knows which records should be there, and so that the times are round.  The records
 * between them wait in a bounded memory; a trigger at t writes those of the last before_ns late,
 * after newer ones of their channel, and all records until t + after_ns.
 */
#pragma once

#include <stdint.h>

#include "io/log/log_spec.h"
#include "io/log/mcap_writer.h"

struct io_decimate_channel {
    unsigned char *items; /* `hold` records; NULL: none is held */
    size_t item_size;
    uint32_t every, hold, first, count;
};

struct io_decimate {
    const struct io_channel_spec *specs;
    int channel_count;
    struct io_decimate_channel channel[IO_CHANNEL_MAX];
    struct io_log_trigger trigger;
    uint64_t until_ns;  /* all records before this time are written */
    uint64_t decimated; /* records left out so far */
};

/* 0 or -ENOMEM.  specs must outlive it.  Context: setup. */
int io_decimate_open(struct io_decimate *decimate, const struct io_channel_spec *specs,
                     int channel_count, const struct io_log_trigger *trigger);
/* Write the message, hold it back or drop it.  Context: telemetry thread. */
void io_decimate_message(struct io_decimate *decimate, struct io_mcap_writer *writer,
                         const struct io_mcap_chunk_message *message);
/* The count stays readable.  Context: after the run. */
void io_decimate_close(struct io_decimate *decimate);
