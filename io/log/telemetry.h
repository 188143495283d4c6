/*
 * The telemetry thread: the frame thread copies fixed-size records into rings, and the telemetry
 * thread, never real-time, writes them to an MCAP log.  Records that find their ring full are
 * dropped and counted.
 *
 * A payload is the CDR image of its message after the 4-byte header: little endian, natural
 * alignment, fixed-size arrays only, so a C struct is a memcpy.  The schema is ros2msg text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/log_spec.h"
#include "rt/thread.h"

struct io_log_result {
    uint64_t records, dropped, bytes;
    uint64_t decimated; /* left out because of their channel's `every` */
    int error; /* 0, or -errno of the first failed write: the log ends with the last chunk before it
                */
};

/* Called with every record that is taken from its ring, with or without a log; the payload is
 * valid during the call.  Context: telemetry thread. */
struct io_record_observer {
    void *self;
    void (*observe)(void *self, int channel, uint64_t log_ns, const void *payload);
};

struct io_telemetry;

/* Context: setup. */
size_t io_telemetry_size(const struct io_channel_spec *channels, int channel_count);
struct io_telemetry *io_telemetry_place(const struct io_channel_spec *channels, int channel_count,
                                        void *mem);

/* Room for the next record of a channel, or NULL when the ring is full (counted).  log_time is sim
 * time. Context: frame. */
void *io_telemetry_claim(struct io_telemetry *telemetry, int channel, uint64_t log_time_ns);
/* The claimed record is complete.  Context: frame. */
void io_telemetry_push(struct io_telemetry *telemetry, int channel);
/* True when a claim would succeed.  A run that is not paced by the wall clock waits for this
 * instead of dropping records.  Context: frame, the channel's producer. */
bool io_telemetry_has_room(const struct io_telemetry *telemetry, int channel);

/* The number of records that could be claimed now, and the size of the ring in records.
 * Context: as above. */
uint64_t io_telemetry_room(const struct io_telemetry *telemetry, int channel);
uint64_t io_telemetry_depth(const struct io_telemetry *telemetry, int channel);

/* The channels as given at placement.  Context: any. */
const struct io_channel_spec *io_telemetry_channels(const struct io_telemetry *telemetry,
                                                    int *count);
/* Set the observer before the start; observe NULL: none.  Context: setup. */
void io_telemetry_observe(struct io_telemetry *telemetry, struct io_record_observer observer);
/* Set the trigger that makes channels with `every` write all their records.  The telemetry
 * thread calls its seen() for each record.  Context: setup, before the start. */
void io_telemetry_trigger(struct io_telemetry *telemetry, const struct io_log_trigger *trigger);

/* Create the file, write header, schemas, channels, metadata (key, value, ...  NULL; or NULL for
 * none) and attachments, start the thread.  0 or -errno.  From here on the process ignores
 * SIGXFSZ.  With path NULL the thread drains the rings without writing, so that the frame does
 * the same work with and without a log.  Context: setup. */
int io_telemetry_start(struct io_telemetry *telemetry, const char *path,
                       const struct rt_thread_spec *spec, const char *const *metadata,
                       const struct io_blob *attachments, int attachment_count);
/* Drain, write the summary, close, join.  extra: attachments known only now (the report). Context:
 * after the run. */
void io_telemetry_stop(struct io_telemetry *telemetry, const struct io_blob *extra, int extra_count,
                       struct io_log_result *result);
/* The result so far.  Context: any. */
void io_telemetry_result(const struct io_telemetry *telemetry, struct io_log_result *result);
