/*
 * The rewritten log has the readable records in their old order with their old numbers, under new
 * channel ids, and its own indexes and CRCs.
 *
 * Tested by tests/scenario/log/test_log_synthetic.py.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/log/mcap_writer.h"
#include "tools/airbearing/log/log.h"

enum { CDR_HEADER_SIZE = 4, PAIR_MAX = 256 };

static const unsigned char cdr_header[CDR_HEADER_SIZE] = {0x00, 0x01, 0x00, 0x00};

struct rewrite {
    struct io_channel_spec channels[IO_CHANNEL_MAX];
    int channel_count;
    int number[LOG_CHANNEL_MAX]; /* of a channel id, from 1 on; 0: not kept */
    const char *metadata[2 * PAIR_MAX + 1];
    struct io_blob *blobs;
    int blob_count;
    char **texts; /* all strings that were copied */
    size_t text_count;
    bool no_memory;
};

/* A copy that ends with a NUL and lives until the rewriting ends. */
static const char *copy_record(struct rewrite *rewrite, struct io_slice slice)
{
    char **texts = realloc(rewrite->texts, (rewrite->text_count + 1) * sizeof *texts);
    if (texts)
        rewrite->texts = texts;
    char *text = texts ? malloc(slice.size + 1) : NULL;
    if (!text) {
        rewrite->no_memory = true;
        return "";
    }
    rewrite->texts[rewrite->text_count++] = text;
    if (slice.size > 0)
        memcpy(text, slice.data, slice.size);
    text[slice.size] = '\0';
    return text;
}

/* key, value ... NULL of a channel, which outlive the spec. */
static const char *const *copy_metadata_map(struct rewrite *rewrite, struct io_slice slice)
{
    const char *pairs[2 * PAIR_MAX + 1];
    size_t count = 0;
    struct io_byte_reader map = io_byte_reader_of(slice);
    while (map.left > 0 && !map.bad && count < 2 * PAIR_MAX) {
        const struct io_slice key = io_get_string(&map), value = io_get_string(&map);
        if (map.bad)
            break;
        pairs[count++] = copy_record(rewrite, key);
        pairs[count++] = copy_record(rewrite, value);
    }
    pairs[count++] = NULL;
    return (const char *const *)(const void *)copy_record(
        rewrite, (struct io_slice){(const unsigned char *)pairs, count * sizeof *pairs});
}

static void copy_channel(struct rewrite *rewrite, const struct io_mcap_recover_channel *channel)
{
    struct io_channel_spec *spec = &rewrite->channels[rewrite->channel_count];
    if (rewrite->channel_count == IO_CHANNEL_MAX || strlen(channel->topic) >= IO_TOPIC_MAX ||
        channel->schema_name.size >= IO_TOPIC_MAX || !channel->definition ||
        !io_slice_is(channel->encoding, "cdr") || !io_slice_is(channel->schema_encoding, "ros2msg"))
        return;
    *spec = (struct io_channel_spec){.definition = channel->definition,
                                     .metadata = copy_metadata_map(rewrite, channel->metadata)};
    strcpy(spec->topic, channel->topic);
    log_text(channel->schema_name, spec->schema, sizeof spec->schema);
    rewrite->number[channel->id] = ++rewrite->channel_count;
}

static void copy_metadata(struct rewrite *rewrite, const struct io_mcap_recover *recovery)
{
    size_t count = 0;
    struct io_mcap_recover_metadata pair;
    for (size_t i = 0; io_mcap_recover_metadata(recovery, i, &pair) && count < PAIR_MAX; i++) {
        if (!io_slice_is(pair.record, "airbearing"))
            continue;
        rewrite->metadata[2 * count] = copy_record(rewrite, pair.key);
        rewrite->metadata[2 * count + 1] = copy_record(rewrite, pair.value);
        count++;
    }
}

static void copy_attachments(struct rewrite *rewrite, const struct io_mcap_recover *recovery)
{
    struct io_mcap_recover_attachment attachment;
    for (size_t i = 0; io_mcap_recover_attachment(recovery, i, &attachment); i++) {
        struct io_blob *blobs =
            realloc(rewrite->blobs, ((size_t)rewrite->blob_count + 1) * sizeof *blobs);
        if (!blobs) {
            rewrite->no_memory = true;
            return;
        }
        rewrite->blobs = blobs;
        rewrite->blobs[rewrite->blob_count++] =
            (struct io_blob){.name = copy_record(rewrite, attachment.name),
                             .media_type = copy_record(rewrite, attachment.media_type),
                             .bytes = attachment.bytes.data,
                             .size = attachment.bytes.size};
    }
}

static void copy_messages(const struct rewrite *rewrite, struct io_mcap_recover *recovery,
                          struct io_mcap_writer *writer, struct channel_counts *counts,
                          struct log_kept *kept)
{
    struct io_mcap_message message;
    while (io_mcap_recover_next(recovery, &message)) {
        const int number = rewrite->number[message.channel];
        channel_counts_add(counts, &message);
        if (number == 0 || message.size <= CDR_HEADER_SIZE ||
            memcmp(message.data, cdr_header, CDR_HEADER_SIZE) != 0) {
            kept->foreign++;
            continue;
        }
        io_mcap_writer_add(writer, &(struct io_mcap_chunk_message){
                                       .channel = number - 1,
                                       .sequence = message.sequence,
                                       .log_ns = message.log_time_ns,
                                       .payload = message.data + CDR_HEADER_SIZE,
                                       .size = message.size - CDR_HEADER_SIZE,
                                   });
        io_mcap_writer_poll(writer);
    }
}

/* Store the losses in the new log as well. */
static void close_writer(struct io_mcap_writer *writer, const struct io_mcap_recover *recovery,
                         const struct channel_counts *counts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        log_print_losses(io_mcap_recover_losses(recovery), channel_counts_missing_all(counts), out);
        fclose(out);
    }
    const struct io_blob blob = {
        .name = "recovery.txt", .media_type = "text/plain", .bytes = text, .size = size};
    io_mcap_writer_close(writer, &blob, text && size > 0 ? 1 : 0);
    free(text);
}

static void write_all(const struct rewrite *rewrite, struct io_mcap_recover *recovery,
                      const char *path, struct channel_counts *counts, struct log_kept *kept)
{
    struct io_mcap_writer *writer = calloc(1, sizeof *writer);
    kept->error = writer && !rewrite->no_memory
                      ? io_mcap_writer_open(writer, path, rewrite->channels, rewrite->channel_count,
                                            rewrite->metadata, rewrite->blobs, rewrite->blob_count)
                      : -ENOMEM;
    kept->begun = kept->error == 0;
    if (kept->begun) {
        copy_messages(rewrite, recovery, writer, counts, kept);
        close_writer(writer, recovery, counts);
        kept->error = writer->error;
        kept->records = writer->statistics.messages;
        kept->bytes = writer->whole;
    }
    free(writer);
}

void log_rewrite(struct io_mcap_recover *recovery, const char *path, struct channel_counts *counts,
                 struct log_kept *kept)
{
    struct rewrite *rewrite = calloc(1, sizeof *rewrite);
    struct io_mcap_recover_channel channel;
    *kept = (struct log_kept){.error = -ENOMEM};
    if (!rewrite)
        return;
    for (unsigned id = 0; io_mcap_recover_channel(recovery, id, &channel); id = channel.id + 1u)
        copy_channel(rewrite, &channel);
    copy_metadata(rewrite, recovery);
    copy_attachments(rewrite, recovery);
    write_all(rewrite, recovery, path, counts, kept);
    kept->channels = rewrite->channel_count;
    kept->attachments = rewrite->blob_count;
    for (size_t i = 0; i < rewrite->text_count; i++)
        free(rewrite->texts[i]);
    free(rewrite->texts);
    free(rewrite->blobs);
    free(rewrite);
}
