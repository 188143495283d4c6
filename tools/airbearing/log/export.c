/*
 * airbearing log export: the numbers of a log for other people's tools.
 *
 * Tested by tests/scenario/log/test_log_synthetic.py.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/log/ros2msg.h"
#include "rt/executive/output/records.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/log/log.h"
#include "tools/airbearing/timing/percentiles.h"

static const char usage[] =
    "usage: airbearing log export LOG --csv FOLDER [--channel TOPIC]...\n"
    "       airbearing log export LOG --csv FILE --channel TOPIC\n"
    "       airbearing log export LOG --hgrm FILE [--of start-error|busy]\n"
    "\n"
    "  --csv PATH        one file per channel, /device/gyro as device.gyro.csv; its first line "
    "has\n"
    "                    names and units, floating numbers have 17 digits.  PATH is a folder,\n"
    "                    which is made if it is missing, or the file of a single channel\n"
    "  --channel TOPIC   only this one; may be given many times\n"
    "  --hgrm FILE       start errors, or busy times of a run without real pace, in the\n"
    "                    percentile text of HdrHistogram, microseconds\n"
    "  --of QUANTITY     start-error or busy instead\n"
    "\n"
    "Logs that were cut off or damaged are read as far as they can be.\n"
    "Exit: 0 done, and no record is known to be lost; 1 done, and some are; 2 the log cannot be\n"
    "read, has no such channel, or a file cannot be written; 64 usage.\n";

enum { CHANNEL_MAX = 64, FIELD_MAX = 512, CDR_HEADER_SIZE = 4, PATH_SIZE = 4096 };

struct export_options {
    const char *log, *csv, *hgrm, *of;
    const char *channel[CHANNEL_MAX];
    int channel_count;
};

/* One table that is being written. */
struct table {
    FILE *out;
    struct io_ros2msg_field field[FIELD_MAX];
    int field_count;
    size_t payload_size;
};

struct export
{
    const struct export_options *options;
    struct io_mcap_recover *recovery;
    struct channel_counts counts;
    struct table *table[LOG_CHANNEL_MAX]; /* by channel id */
    uint64_t left_out;                    /* messages too short for their fields */
};

static int print_error(const char *path, const char *why)
{
    fprintf(stderr, "airbearing log export: %s: %s\n", path, why);
    return EXIT_BAD_INPUT;
}

/* ---- tables ---- */

/* The file name of a topic: /device/gyro becomes device.gyro.csv.  A topic cannot lead out of the
 * folder. */
static void name_file(const char *folder, const char *topic, char path[PATH_SIZE])
{
    int at = snprintf(path, PATH_SIZE, "%s/", folder);
    topic += strspn(topic, "/.");
    for (; *topic != '\0' && at < PATH_SIZE - 8; topic++) {
        const bool plain =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *topic) !=
            NULL;
        path[at++] = plain ? *topic : *topic == '/' ? '.' : '_';
    }
    strcpy(path + at, ".csv");
}

/* False when the schema has fields other than numbers of fixed size. */
static bool read_fields(struct table *table, const char *definition)
{
    struct io_ros2msg schema = io_ros2msg_begin(definition);
    struct io_ros2msg_field field;
    while (io_ros2msg_next(&schema, &field)) {
        if (table->field_count == FIELD_MAX)
            return false;
        table->field[table->field_count++] = field;
        table->payload_size = schema.offset;
    }
    return !schema.bad && table->field_count > 0;
}

static void print_head(const struct table *table)
{
    fputs("log_time (ns),sequence", table->out);
    for (int i = 0; i < table->field_count; i++) {
        const struct io_ros2msg_field *field = &table->field[i];
        for (uint32_t k = 0; k < field->count; k++) {
            fprintf(table->out, ",%s", field->name);
            if (field->is_array)
                fprintf(table->out, "[%u]", k);
            if (field->unit[0] != '\0')
                fprintf(table->out, " (%s)", field->unit);
        }
    }
    putc('\n', table->out);
}

static void print_row(const struct table *table, const struct io_mcap_message *message)
{
    const unsigned char *payload = message->data + CDR_HEADER_SIZE;
    fprintf(table->out, "%" PRIu64 ",%" PRIu32, message->log_time_ns, message->sequence);
    for (int i = 0; i < table->field_count; i++) {
        char text[32];
        for (uint32_t k = 0; k < table->field[i].count; k++) {
            io_ros2msg_print(&table->field[i], k, payload, text);
            fprintf(table->out, ",%s", text);
        }
    }
    putc('\n', table->out);
}

static bool is_wanted(const struct export_options *options, const char *topic)
{
    for (int i = 0; i < options->channel_count; i++)
        if (strcmp(options->channel[i], topic) == 0)
            return true;
    return options->channel_count == 0;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int open_table(struct export *export, const struct io_mcap_recover_channel *channel)
{
    char path[PATH_SIZE];
    const char *csv = export->options->csv;
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return print_error(csv, "no memory");
    export->table[channel->id] = table;
    if (!channel->definition || !io_slice_is(channel->encoding, "cdr") ||
        !read_fields(table, channel->definition))
        return print_error(channel->topic,
                           "its schema is not known or not of numbers of fixed size");
    if (is_folder(csv))
        name_file(csv, channel->topic, path);
    else
        snprintf(path, sizeof path, "%s", csv);
    table->out = fopen(path, "we");
    if (!table->out)
        return print_error(path, strerror(errno));
    print_head(table);
    return 0;
}

static int open_tables(struct export *export)
{
    const struct export_options *options = export->options;
    struct io_mcap_recover_channel channel;
    int opened = 0, code = 0;
    if (options->channel_count != 1 && !is_folder(options->csv) && mkdir(options->csv, 0777) != 0)
        return print_error(options->csv, strerror(errno));
    for (unsigned id = 0; code == 0 && io_mcap_recover_channel(export->recovery, id, &channel);
         id = channel.id + 1u) {
        if (!is_wanted(options, channel.topic))
            continue;
        opened++;
        code = open_table(export, &channel);
    }
    if (code == 0 && opened < options->channel_count)
        return print_error(options->log, "the log lacks a requested channel; airbearing log info "
                                         "lists them");
    return code;
}

static int close_tables(struct export *export, int code)
{
    for (int id = 0; id < LOG_CHANNEL_MAX; id++) {
        struct table *table = export->table[id];
        if (!table)
            continue;
        if (table->out) {
            const bool is_lost = ferror(table->out) != 0;
            if ((fclose(table->out) != 0 || is_lost) && code == 0)
                code = print_error(export->options->csv, "cannot be written");
        }
        free(table);
    }
    return code;
}

static int write_tables(struct export *export)
{
    struct io_mcap_message message;
    int code = open_tables(export);
    while (code == 0 && io_mcap_recover_next(export->recovery, &message)) {
        const struct table *table = export->table[message.channel];
        channel_counts_add(&export->counts, &message);
        if (!table)
            continue;
        if (message.size < CDR_HEADER_SIZE + table->payload_size)
            export->left_out++;
        else
            print_row(table, &message);
    }
    return close_tables(export, code);
}

/* ---- percentiles ---- */

static bool wants_busy(const struct export *export)
{
    struct io_mcap_recover_metadata pair;
    if (export->options->of)
        return strcmp(export->options->of, "busy") == 0;
    for (size_t i = 0; io_mcap_recover_metadata(export->recovery, i, &pair); i++)
        if (io_slice_is(pair.key, "pace"))
            return !io_slice_is(pair.value, "real");
    return false;
}

static bool add_frame(struct export *export, struct percentiles *percentiles, bool busy,
                      const struct io_mcap_message *message)
{
    struct sim_record_frame frame;
    if (message->size < CDR_HEADER_SIZE + SIM_RECORD_FRAME_SIZE) {
        export->left_out++;
        return true;
    }
    memcpy(&frame, message->data + CDR_HEADER_SIZE, SIM_RECORD_FRAME_SIZE);
    const uint64_t from = busy ? frame.start_ns : frame.release_ns;
    const uint64_t to = busy ? frame.end_ns : frame.start_ns;
    return percentiles_add(percentiles, to > from ? to - from : 0, frame.frame);
}

static int write_percentiles(struct export *export)
{
    const char *path = export->options->hgrm;
    const bool busy = wants_busy(export);
    struct percentiles percentiles = {0};
    struct io_mcap_message message;
    bool fits = true;
    while (io_mcap_recover_next(export->recovery, &message)) {
        channel_counts_add(&export->counts, &message);
        if (fits && strcmp(message.topic, "/frame") == 0)
            fits = add_frame(export, &percentiles, busy, &message);
    }
    int code = 0;
    FILE *out = NULL;
    if (!fits)
        code = print_error(path, "no memory");
    else if (percentiles.count == 0)
        code = print_error(export->options->log, "no /frame record inside");
    else if (!(out = fopen(path, "we")))
        code = print_error(path, strerror(errno));
    if (out) {
        percentiles_sort(&percentiles);
        percentiles_print_hgrm(&percentiles, out);
        const bool is_lost = ferror(out) != 0;
        if (fclose(out) != 0 || is_lost)
            code = print_error(path, "cannot be written");
    }
    percentiles_free(&percentiles);
    return code;
}

/* ---- all ---- */

static int write_outputs(struct export *export)
{
    int code = export->options->csv ? write_tables(export) : write_percentiles(export);
    if (code)
        return code;
    const struct io_mcap_recover_losses *losses = io_mcap_recover_losses(export->recovery);
    const uint64_t missing = channel_counts_missing_all(&export->counts);
    log_print_losses(losses, missing, stdout);
    if (export->left_out > 0)
        printf("lost: %" PRIu64 " records too short for their fields\n", export->left_out);
    return export->left_out > 0 ? EXIT_VERDICT_NO : log_verdict(losses, missing);
}

static int export_log(const struct export_options *options)
{
    char error[256];
    static struct export export;
    export =
        (struct export){.options = options, .recovery = io_mcap_recover_open(options->log, error)};
    if (!export.recovery || !channel_counts_open(&export.counts, export.recovery)) {
        fprintf(stderr, "%s\n", export.recovery ? "airbearing log: no memory" : error);
        io_mcap_recover_close(export.recovery);
        return EXIT_BAD_INPUT;
    }
    const int code = write_outputs(&export);
    channel_counts_free(&export.counts);
    io_mcap_recover_close(export.recovery);
    return code;
}

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing log export: %s%s; see airbearing log export --help\n", what, value);
    return EXIT_USAGE;
}

static int take_option(struct export_options *options, int option, const char *value)
{
    switch (option) {
    case 'c':
        options->csv = value;
        return 0;
    case 'g':
        options->hgrm = value;
        return 0;
    case 'o':
        options->of = value;
        return strcmp(value, "busy") == 0 || strcmp(value, "start-error") == 0
                   ? 0
                   : usage_error("--of is start-error or busy, not ", value);
    case 't':
        if (options->channel_count == CHANNEL_MAX)
            return usage_error("too many --channel, at ", value);
        options->channel[options->channel_count++] = value;
        return 0;
    default:
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
}

int log_export(int argc, char **argv)
{
    static const struct option table[] = {
        {"help", no_argument, NULL, 'h'},          {"csv", required_argument, NULL, 'c'},
        {"hgrm", required_argument, NULL, 'g'},    {"of", required_argument, NULL, 'o'},
        {"channel", required_argument, NULL, 't'}, {0}};
    struct export_options options = {0};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        const int code = take_option(&options, option, optarg);
        if (code)
            return code;
    }
    if (optind != argc - 1 || !options.csv == !options.hgrm)
        return usage_error("give one log, and --csv or --hgrm", "");
    if ((options.hgrm && options.channel_count > 0) || (options.csv && options.of))
        return usage_error("--channel needs --csv, --of needs --hgrm", "");
    options.log = argv[optind];
    return export_log(&options);
}
