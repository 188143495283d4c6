/*
 * What airbearing log does with a recorded run, whole or not: show it, save it, hand it on.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "io/log/mcap_recover.h"

enum { LOG_CHANNEL_MAX = 65536 };

/* What was read of one channel. */
struct log_channel {
    uint64_t records;
    uint64_t chosen;       /* of them those that `every` lets through */
    uint64_t sequence_max; /* counted on beyond 32 bits */
    uint64_t first_ns, last_ns;
    uint32_t every; /* 1: all records were to be there */
};

struct channel_counts {
    struct log_channel *channel; /* by id */
    int id_end;                  /* above all that were seen */
    uint64_t records;
    uint64_t first_ns, last_ns;
};

/* False when memory ran out.  Context: setup. */
bool channel_counts_open(struct channel_counts *tally, const struct io_mcap_recover *recovery);
void channel_counts_add(struct channel_counts *tally, const struct io_mcap_message *message);
/* Records that a channel should have had between 0 and its last; the recorder or the damage took
 * them. */
uint64_t channel_counts_missing(const struct log_channel *channel);
uint64_t channel_counts_missing_all(const struct channel_counts *tally);
void channel_counts_free(struct channel_counts *tally);

/* One line for each kind of loss; none when nothing is known to be lost. */
void log_print_losses(const struct io_mcap_recover_losses *losses, uint64_t missing, FILE *out);
/* EXIT_OK, or EXIT_VERDICT_NO when records are known to be gone. */
int log_verdict(const struct io_mcap_recover_losses *losses, uint64_t missing);
/* A piece of the file as text: one line, printable. */
const char *log_text(struct io_slice slice, char *text, size_t room);

/* What became of a rewritten log. */
struct log_kept {
    uint64_t records;
    uint64_t foreign; /* messages that are not CDR with its header, or of too long a topic */
    int channels, attachments;
    uint64_t bytes;
    int error;  /* 0 or -errno of writing */
    bool begun; /* the new log was opened, and what was there before is gone */
};

/* Write all that can be read into a new, whole, indexed log.  tally counts along.  Context: setup.
 */
void log_rewrite(struct io_mcap_recover *recovery, const char *path, struct channel_counts *tally,
                 struct log_kept *kept);

/* The subcommands; each gets its own argc and argv. */
int log_info(int argc, char **argv);
int log_recover(int argc, char **argv);
int log_export(int argc, char **argv);
