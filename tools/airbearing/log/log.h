/*
 * The parts of airbearing log: show a recorded run, repair it, export it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "io/log/mcap_recover.h"

enum { LOG_CHANNEL_MAX = 65536 };

/* The counts of one channel. */
struct log_channel {
    uint64_t records;
    uint64_t chosen;       /* of these, those that `every` keeps */
    uint64_t sequence_max; /* continued beyond 32 bits */
    uint64_t first_ns, last_ns;
    uint32_t every; /* 1: all records are logged */
};

struct channel_counts {
    struct log_channel *channel; /* by id */
    int id_end;                  /* above the largest one seen */
    uint64_t records;
    uint64_t first_ns, last_ns;
};

/* False when memory ran out.  Context: setup. */
bool channel_counts_open(struct channel_counts *counts, const struct io_mcap_recover *recovery);
void channel_counts_add(struct channel_counts *counts, const struct io_mcap_message *message);
/* Records missing between 0 and the last one of a channel, lost by the recorder or by damage. */
uint64_t channel_counts_missing(const struct log_channel *channel);
uint64_t channel_counts_missing_all(const struct channel_counts *counts);
void channel_counts_free(struct channel_counts *counts);

/* Print one line for each kind of loss. */
void log_print_losses(const struct io_mcap_recover_losses *losses, uint64_t missing, FILE *out);
/* EXIT_OK, or EXIT_VERDICT_NO when records are known to be lost. */
int log_verdict(const struct io_mcap_recover_losses *losses, uint64_t missing);
/* A piece of the file as text: one line, printable. */
const char *log_text(struct io_slice slice, char *text, size_t room);

/* The result of a rewritten log. */
struct log_kept {
    uint64_t records;
    uint64_t foreign; /* messages that are not CDR with its header, or of too long a topic */
    int channels, attachments;
    uint64_t bytes;
    int error;  /* 0 or -errno of writing */
    bool begun; /* the new log was opened: the old contents of its file are lost */
};

/* Write everything that can be read into a new, complete, indexed log, and count it in counts.
 * Context: setup. */
void log_rewrite(struct io_mcap_recover *recovery, const char *path, struct channel_counts *counts,
                 struct log_kept *kept);

/* The subcommands; each gets its own argc and argv. */
int log_info(int argc, char **argv);
int log_recover(int argc, char **argv);
int log_export(int argc, char **argv);
