/*
 * airbearing log info: the contents of a log, and its losses.
 *
 * Tested by tests/scenario/log/test_log_synthetic.py.
 */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "tools/airbearing/command.h"
#include "tools/airbearing/log/log.h"

static const char usage[] =
    "usage: airbearing log info LOG [--json]\n"
    "\n"
    "Print channels, times, metadata and attachments of a log, complete, cut off or damaged, and "
    "its\n"
    "known losses.\n"
    "\n"
    "Exit: 0 nothing is known to be lost (a log that was cut off ends early); 1 records or bytes\n"
    "are lost; 2 the log cannot be read; 64 usage.\n";

enum { TEXT_MAX = 4096 };

/* ---- for people ---- */

static void print_pairs(const struct io_mcap_recover *recovery)
{
    char record[64], key[128], value[TEXT_MAX];
    struct io_mcap_recover_metadata pair;
    for (size_t i = 0; io_mcap_recover_metadata(recovery, i, &pair); i++)
        printf("  %s.%-20s %s\n", log_text(pair.record, record, sizeof record),
               log_text(pair.key, key, sizeof key), log_text(pair.value, value, sizeof value));
}

static void print_units(const struct io_mcap_recover_channel *channel)
{
    struct io_byte_reader map = io_byte_reader_of(channel->metadata);
    while (map.left > 0 && !map.bad) {
        char key[128], value[64];
        log_text(io_get_string(&map), key, sizeof key);
        log_text(io_get_string(&map), value, sizeof value);
        printf("  %s: %s", key, value);
    }
    putchar('\n');
}

static void print_channels(const struct io_mcap_recover *recovery,
                           const struct channel_counts *counts)
{
    struct io_mcap_recover_channel channel;
    printf("  %-28s %10s %8s %12s %12s\n", "channel", "records", "missing", "first, s", "last, s");
    for (unsigned id = 0; io_mcap_recover_channel(recovery, id, &channel); id = channel.id + 1u) {
        const struct log_channel *seen = &counts->channel[channel.id];
        char topic[128];
        const struct io_slice text = {(const unsigned char *)channel.topic, strlen(channel.topic)};
        printf("  %-28s %10" PRIu64 " %8" PRIu64 " %12.6f %12.6f",
               log_text(text, topic, sizeof topic), seen->records, channel_counts_missing(seen),
               (double)seen->first_ns * 1e-9, (double)seen->last_ns * 1e-9);
        print_units(&channel);
    }
}

static void print_attachments(const struct io_mcap_recover *recovery)
{
    char name[256], type[128];
    struct io_mcap_recover_attachment attachment;
    for (size_t i = 0; io_mcap_recover_attachment(recovery, i, &attachment); i++)
        printf("  %-28s %10zu bytes  %s\n", log_text(attachment.name, name, sizeof name),
               attachment.bytes.size, log_text(attachment.media_type, type, sizeof type));
}

/* A damaged log may have its end and still be incomplete. */
static const char *condition(const struct io_mcap_recover_losses *losses)
{
    if (!losses->complete)
        return "cut off";
    return io_mcap_recover_damaged(losses) ? "damaged" : "complete";
}

static void print_all(const char *path, const struct io_mcap_recover *recovery,
                      const struct channel_counts *counts)
{
    const struct io_mcap_recover_losses *losses = io_mcap_recover_losses(recovery);
    printf("%s: %s, %" PRIu64 " records in %" PRIu64 " chunks, sim time %.6f to %.6f s\n", path,
           condition(losses), counts->records, losses->chunks, (double)counts->first_ns * 1e-9,
           (double)counts->last_ns * 1e-9);
    printf("metadata\n");
    print_pairs(recovery);
    printf("channels\n");
    print_channels(recovery, counts);
    printf("attachments\n");
    print_attachments(recovery);
    log_print_losses(losses, channel_counts_missing_all(counts), stdout);
}

/* ---- for programs ---- */

/* A text of the file; bytes that are not UTF-8 are left out. */
static json_t *text_json(struct io_slice slice)
{
    json_t *text = json_stringn((const char *)slice.data, slice.size);
    return text ? text : json_null();
}

static json_t *map_json(struct io_slice slice)
{
    json_t *object = json_object();
    struct io_byte_reader map = io_byte_reader_of(slice);
    while (map.left > 0 && !map.bad) {
        char key[256];
        log_text(io_get_string(&map), key, sizeof key);
        json_object_set_new(object, key, text_json(io_get_string(&map)));
    }
    return object;
}

static json_t *channels_json(const struct io_mcap_recover *recovery,
                             const struct channel_counts *counts)
{
    json_t *list = json_array();
    struct io_mcap_recover_channel channel;
    for (unsigned id = 0; io_mcap_recover_channel(recovery, id, &channel); id = channel.id + 1u) {
        const struct log_channel *seen = &counts->channel[channel.id];
        const struct io_slice topic = {(const unsigned char *)channel.topic, strlen(channel.topic)};
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:i, s:o}", "topic", text_json(topic),
                      "schema", text_json(channel.schema_name), "records",
                      (json_int_t)seen->records, "missing",
                      (json_int_t)channel_counts_missing(seen), "first_ns",
                      (json_int_t)seen->first_ns, "last_ns", (json_int_t)seen->last_ns, "every",
                      seen->every ? (int)seen->every : 1, "metadata", map_json(channel.metadata)));
    }
    return list;
}

static json_t *attachments_json(const struct io_mcap_recover *recovery)
{
    json_t *list = json_array();
    struct io_mcap_recover_attachment attachment;
    for (size_t i = 0; io_mcap_recover_attachment(recovery, i, &attachment); i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:I}", "name", text_json(attachment.name),
                                              "media_type", text_json(attachment.media_type),
                                              "bytes", (json_int_t)attachment.bytes.size));
    return list;
}

static json_t *metadata_json(const struct io_mcap_recover *recovery)
{
    json_t *object = json_object();
    struct io_mcap_recover_metadata pair;
    for (size_t i = 0; io_mcap_recover_metadata(recovery, i, &pair); i++) {
        char record[128], key[128];
        log_text(pair.record, record, sizeof record);
        json_t *inner = json_object_get(object, record);
        if (!inner) {
            inner = json_object();
            json_object_set_new(object, record, inner);
        }
        json_object_set_new(inner, log_text(pair.key, key, sizeof key), text_json(pair.value));
    }
    return object;
}

static json_t *losses_json(const struct io_mcap_recover_losses *losses, uint64_t missing)
{
    return json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "data_crc_bad", losses->data_bad,
        "missing_records", (json_int_t)missing, "chunks_bad", (json_int_t)losses->chunks_bad,
        "gaps", (json_int_t)losses->gaps, "bytes_skipped", (json_int_t)losses->bytes_skipped,
        "tail_bytes", (json_int_t)losses->tail, "attachments_bad",
        (json_int_t)losses->attachments_bad, "contradictions", (json_int_t)losses->contradictions,
        "nameless_records", (json_int_t)losses->without_channel);
}

static void print_json(const struct io_mcap_recover *recovery, const struct channel_counts *counts)
{
    const struct io_mcap_recover_losses *losses = io_mcap_recover_losses(recovery);
    json_t *object =
        json_pack("{s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "complete", losses->complete,
                  "records", (json_int_t)counts->records, "chunks", (json_int_t)losses->chunks,
                  "first_ns", (json_int_t)counts->first_ns, "last_ns", (json_int_t)counts->last_ns,
                  "metadata", metadata_json(recovery), "channels", channels_json(recovery, counts),
                  "attachments", attachments_json(recovery), "lost",
                  losses_json(losses, channel_counts_missing_all(counts)));
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

static int print_log(const char *path, bool json)
{
    char error[256];
    struct io_mcap_recover *recovery = io_mcap_recover_open(path, error);
    struct channel_counts counts = {0};
    struct io_mcap_message message;
    if (!recovery || !channel_counts_open(&counts, recovery)) {
        fprintf(stderr, "%s\n", recovery ? "airbearing log: no memory" : error);
        io_mcap_recover_close(recovery);
        return EXIT_BAD_INPUT;
    }
    while (io_mcap_recover_next(recovery, &message))
        channel_counts_add(&counts, &message);
    if (json)
        print_json(recovery, &counts);
    else
        print_all(path, recovery, &counts);
    const int code =
        log_verdict(io_mcap_recover_losses(recovery), channel_counts_missing_all(&counts));
    channel_counts_free(&counts);
    io_mcap_recover_close(recovery);
    return code;
}

int log_info(int argc, char **argv)
{
    static const struct option table[] = {
        {"help", no_argument, NULL, 'h'}, {"json", no_argument, NULL, 'j'}, {0}};
    bool json = false;
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        json |= option == 'j';
        if (option == 'j')
            continue;
        fputs(usage, option == 'h' ? stdout : stderr);
        return option == 'h' ? EXIT_OK : EXIT_USAGE;
    }
    if (optind == argc - 1)
        return print_log(argv[optind], json);
    fputs(usage, stderr);
    return EXIT_USAGE;
}
