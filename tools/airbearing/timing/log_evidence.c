#include "tools/airbearing/timing/log_evidence.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CDR_HEADER_SIZE = 4 };

/* Times beyond this are invalid: a clock that starts at boot needs 73 years for it.  Below it no
 * sum or difference here can overflow. */
static const uint64_t TIME_MAX = UINT64_C(1) << 61;
static const uint64_t PERIOD_MAX = UINT64_C(60000000000);

__attribute__((format(printf, 2, 3))) static int set_error(char error[EVIDENCE_ERROR_MAX],
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, EVIDENCE_ERROR_MAX, format, arguments);
    va_end(arguments);
    return -1;
}

/* The array with one more item in it, or NULL when memory ran out. */
static void *append(void *array, size_t *count, size_t *room, const void *item, size_t item_size)
{
    if (*count == *room) {
        const size_t wanted = *room ? 2 * *room : 256;
        void *grown = realloc(array, wanted * item_size);
        if (!grown)
            return NULL;
        array = grown;
        *room = wanted;
    }
    memcpy((unsigned char *)array + *count * item_size, item, item_size);
    (*count)++;
    return array;
}

/* ---- what the log says of itself ------------------------------------------------------- */

void evidence_copy_text(char *to, size_t room, const char *from)
{
    snprintf(to, room, "%s", from ? from : "");
    for (; *to; to++) {
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = '?';
    }
}

static int read_pace(struct evidence *evidence, char error[EVIDENCE_ERROR_MAX])
{
    static const char *const pace_name[] = {
        [RT_PACE_REAL] = "real", [RT_PACE_FAST] = "fast", [RT_PACE_LOCKSTEP] = "lockstep"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(evidence->pace_name, pace_name[i]) == 0) {
            evidence->pace = (enum rt_pace)i;
            return 0;
        }
    }
    return set_error(error, "the log does not name its pace; only logs of airbearing run do");
}

static int read_period(struct evidence *evidence, struct io_mcap_reader *reader,
                       char error[EVIDENCE_ERROR_MAX])
{
    const char *period = io_mcap_metadata(reader, "airbearing", "period_ns");
    const char *rate = io_mcap_metadata(reader, "airbearing", "rate_hz");
    const double ns = period ? strtod(period, NULL) : rate ? round(1e9 / strtod(rate, NULL)) : 0.0;
    if (!(ns >= 1.0 && ns <= (double)PERIOD_MAX))
        return set_error(error, "the log does not name its rate; only logs of airbearing run do");
    evidence->period_ns = (uint64_t)ns;
    return 0;
}

/* A log from before there were phase locks has no such key. */
static double read_lock(struct io_mcap_reader *reader)
{
    const char *said = io_mcap_metadata(reader, "airbearing", "lock_ppm");
    const double ppm = said ? strtod(said, NULL) : 0.0;
    return ppm > 0.0 && ppm <= 1e4 ? ppm : 0.0;
}

static bool is_said(struct io_mcap_reader *reader, const char *key, const char *value)
{
    const char *said = io_mcap_metadata(reader, "airbearing", key);
    return said && strcmp(said, value) == 0;
}

static int read_metadata(struct evidence *evidence, struct io_mcap_reader *reader,
                         char error[EVIDENCE_ERROR_MAX])
{
    const struct {
        const char *key;
        char *to;
        size_t room;
    } text[] = {{"version", evidence->version, sizeof evidence->version},
                {"scenario", evidence->scenario, sizeof evidence->scenario},
                {"pace", evidence->pace_name, sizeof evidence->pace_name},
                {"overrun", evidence->overrun, sizeof evidence->overrun},
                {"binary_hash", evidence->binary_hash, sizeof evidence->binary_hash},
                {"isa", evidence->isa, sizeof evidence->isa}};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        evidence_copy_text(text[i].to, text[i].room,
                           io_mcap_metadata(reader, "airbearing", text[i].key));
    evidence->lock_ppm = read_lock(reader);
    evidence->commits_early = is_said(reader, "commit", "early");
    evidence->require_realtime = is_said(reader, "require_realtime", "yes");
    return read_pace(evidence, error) || read_period(evidence, reader, error) ? -1 : 0;
}

/* The lines `# job I NAME` of the schema, in their order. */
static void read_job_names(struct evidence *evidence, struct io_mcap_reader *reader)
{
    const char *at = io_mcap_schema(reader, "/job");
    while (at && evidence->job_count < RT_JOB_MAX) {
        char begin[24], line[EVIDENCE_NAME_MAX];
        const int size = snprintf(begin, sizeof begin, "# job %d ", evidence->job_count);
        at = strstr(at, begin);
        if (!at)
            break;
        at += size;
        const size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", length < sizeof line ? (int)length : (int)sizeof line,
                 at);
        evidence_copy_text(evidence->job_name[evidence->job_count++], EVIDENCE_NAME_MAX, line);
    }
}

/* ---- records --------------------------------------------------------------------------- */

static int keep_frame(struct evidence *evidence, const unsigned char *data, size_t size,
                      char error[EVIDENCE_ERROR_MAX])
{
    struct sim_record_frame frame = {0};
    if (size < SIM_RECORD_FRAME_SIZE)
        return set_error(error, "a /frame record is too short");
    memcpy(&frame, data, SIM_RECORD_FRAME_SIZE);
    const struct sim_record_frame *last =
        evidence->frame_count ? &evidence->frame[evidence->frame_count - 1] : NULL;
    if (frame.frame > TIME_MAX / evidence->period_ns || frame.release_ns > frame.start_ns ||
        frame.start_ns > frame.end_ns || frame.end_ns > TIME_MAX || frame.cause >= RT_CAUSE_COUNT)
        return set_error(error, "the record of frame %" PRIu64 " cannot be true", frame.frame);
    if (last && (frame.frame <= last->frame || frame.release_ns < last->release_ns))
        return set_error(error, "the record of frame %" PRIu64 " is out of order", frame.frame);
    if (last)
        evidence->lost += frame.frame - last->frame - 1;
    void *grown = append(evidence->frame, &evidence->frame_count, &evidence->frame_room, &frame,
                         sizeof frame);
    if (!grown)
        return set_error(error, "no memory for its frames");
    evidence->frame = grown;
    return 0;
}

static int keep_job(struct evidence *evidence, const unsigned char *data, size_t size,
                    char error[EVIDENCE_ERROR_MAX])
{
    struct sim_record_job job = {0};
    const size_t wanted =
        SIM_RECORD_JOB_HEAD + (size_t)evidence->job_count * sizeof job.spent_ns[0];
    if (size < wanted)
        return set_error(error, "a /job record is too short");
    memcpy(&job, data, wanted);
    if (evidence->job_count < RT_JOB_MAX)
        job.due &= (UINT64_C(1) << evidence->job_count) - 1;
    if (job.begin_ns > TIME_MAX ||
        (evidence->job_records && job.frame <= evidence->job[evidence->job_records - 1].frame))
        return set_error(error, "the /job record of frame %" PRIu64 " cannot be true", job.frame);
    void *grown =
        append(evidence->job, &evidence->job_records, &evidence->job_room, &job, sizeof job);
    if (!grown)
        return set_error(error, "no memory for its jobs");
    evidence->job = grown;
    return 0;
}

static bool is_row_sound(const struct rt_flight_recorder_row *row)
{
    return row->release_ns <= row->start_ns && row->start_ns <= row->jobs_ns &&
           row->jobs_ns <= row->end_ns && row->end_ns <= row->recorded_ns &&
           row->recorded_ns <= TIME_MAX && row->await_ns <= row->start_ns &&
           row->sent_ns <= row->end_ns && row->cause < RT_CAUSE_COUNT;
}

static int keep_row(struct evidence *evidence, const unsigned char *data, size_t size,
                    char error[EVIDENCE_ERROR_MAX])
{
    struct rt_flight_recorder_row row = {0};
    const size_t wanted =
        SIM_RECORD_EVENT_HEAD + (size_t)evidence->job_count * sizeof row.spent_ns[0];
    if (size < wanted)
        return set_error(error, "an /event record is too short");
    memcpy(&row, data, wanted);
    if (evidence->job_count < RT_JOB_MAX)
        row.due &= (UINT64_C(1) << evidence->job_count) - 1;
    if (!is_row_sound(&row) ||
        (evidence->row_count && row.frame <= evidence->row[evidence->row_count - 1].frame))
        return set_error(error, "the /event record of frame %" PRIu64 " cannot be true", row.frame);
    void *grown =
        append(evidence->row, &evidence->row_count, &evidence->row_room, &row, sizeof row);
    if (!grown)
        return set_error(error, "no memory for its events");
    evidence->row = grown;
    return 0;
}

static int keep_latency(struct evidence *evidence, const unsigned char *data, size_t size,
                        char error[EVIDENCE_ERROR_MAX])
{
    struct sim_record_latency latency = {0};
    if (size < SIM_RECORD_LATENCY_SIZE)
        return set_error(error, "a /latency record is too short");
    memcpy(&latency, data, SIM_RECORD_LATENCY_SIZE);
    bool sound = latency.link < IO_LINK_MAX;
    for (int i = 0; i < IO_LATENCY_SUM; i++)
        sound = sound && latency.part_ns[i] < TIME_MAX / 8;
    if (!sound)
        return set_error(error, "the /latency record of frame %" PRIu64 " cannot be true",
                         latency.frame);
    void *grown = append(evidence->latency, &evidence->latency_count, &evidence->latency_room,
                         &latency, sizeof latency);
    if (!grown)
        return set_error(error, "no memory for its latencies");
    evidence->latency = grown;
    return 0;
}

static int keep_clock(struct evidence *evidence, const unsigned char *data, size_t size,
                      char error[EVIDENCE_ERROR_MAX])
{
    struct sim_record_clock clock = {0};
    if (size < SIM_RECORD_CLOCK_SIZE)
        return set_error(error, "a /clock record is too short");
    memcpy(&clock, data, SIM_RECORD_CLOCK_SIZE);
    const bool sound =
        clock.monotonic_ns <= TIME_MAX && clock.raw_ns <= TIME_MAX &&
        clock.realtime_ns <= TIME_MAX &&
        (!evidence->clock_count ||
         clock.monotonic_ns > evidence->clock[evidence->clock_count - 1].monotonic_ns);
    if (!sound)
        return set_error(error, "a /clock record cannot be true");
    void *grown = append(evidence->clock, &evidence->clock_count, &evidence->clock_room, &clock,
                         sizeof clock);
    if (!grown)
        return set_error(error, "no memory for its clocks");
    evidence->clock = grown;
    return 0;
}

static int keep_input(struct evidence *evidence, const unsigned char *data, size_t size,
                      char error[EVIDENCE_ERROR_MAX])
{
    struct sim_record_input input = {0};
    if (size < SIM_RECORD_INPUT_SIZE)
        return set_error(error, "an /input record is too short");
    memcpy(&input, data, SIM_RECORD_INPUT_SIZE);
    if (input.command.rx_ns > TIME_MAX)
        return set_error(error, "the /input record %" PRIu64 " cannot be true", input.ordinal);
    if (input.command.kind != IO_COMMAND_CONTROLS)
        return 0;
    void *grown = append(evidence->input, &evidence->input_count, &evidence->input_room, &input,
                         sizeof input);
    if (!grown)
        return set_error(error, "no memory for its inputs");
    evidence->input = grown;
    return 0;
}

/* Keep a message of an actuator: its motion, by frame. */
static int keep_drive(struct evidence *evidence, const struct io_mcap_message *message,
                      char error[EVIDENCE_ERROR_MAX])
{
    const char *name = message->topic + strlen("/device/");
    for (int i = 0; i < evidence->drive_count; i++) {
        struct evidence_drive *drive = &evidence->drive[i];
        struct evidence_point point = {.frame = message->log_time_ns / evidence->period_ns - 1};
        if (strcmp(drive->name, name) != 0 || message->log_time_ns < evidence->period_ns ||
            message->size < CDR_HEADER_SIZE + sizeof point.value)
            continue;
        memcpy(&point.value, message->data + CDR_HEADER_SIZE, sizeof point.value);
        if (!isfinite(point.value))
            continue;
        void *grown = append(drive->point, &drive->count, &drive->room, &point, sizeof point);
        if (!grown)
            return set_error(error, "no memory for its actuators");
        drive->point = grown;
    }
    return 0;
}

static int keep(struct evidence *evidence, const struct io_mcap_message *message,
                char error[EVIDENCE_ERROR_MAX])
{
    static const struct {
        const char *topic;
        int (*keep)(struct evidence *, const unsigned char *, size_t, char *);
    } table[] = {{"/frame", keep_frame},     {"/job", keep_job},     {"/event", keep_row},
                 {"/latency", keep_latency}, {"/clock", keep_clock}, {"/input", keep_input}};
    if (strncmp(message->topic, "/device/", 8) == 0)
        return keep_drive(evidence, message, error);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(message->topic, table[i].topic) != 0)
            continue;
        if (message->size < CDR_HEADER_SIZE)
            return set_error(error, "a %s record is too short", table[i].topic);
        return table[i].keep(evidence, message->data + CDR_HEADER_SIZE,
                             message->size - CDR_HEADER_SIZE, error);
    }
    return 0;
}

/* NULL when it is missing or not JSON. */
static json_t *read_json(struct io_mcap_reader *reader, const char *name)
{
    size_t size;
    const char *text = io_mcap_attachment(reader, name, &size);
    return text ? json_loadb(text, size, 0, NULL) : NULL;
}

static int by_frame(const void *a, const void *b)
{
    const struct evidence_point *x = a, *y = b;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* In a decimated channel, the records around a trigger come after younger ones. */
static void sort_drives(struct evidence *evidence)
{
    for (int i = 0; i < evidence->drive_count; i++) {
        struct evidence_drive *drive = &evidence->drive[i];
        if (drive->count > 0)
            qsort(drive->point, drive->count, sizeof *drive->point, by_frame);
    }
}

int evidence_read(struct evidence *evidence, struct io_mcap_reader *reader,
                  char error[EVIDENCE_ERROR_MAX])
{
    struct io_mcap_message message;
    int more;
    if (read_metadata(evidence, reader, error))
        return -1;
    while ((more = io_mcap_next(reader, &message, error)) == 1) {
        if (evidence->job_count == 0 && strcmp(message.topic, "/job") == 0)
            read_job_names(evidence, reader);
        if (keep(evidence, &message, error))
            return -1;
    }
    if (more < 0)
        return -2;
    if (evidence->frame_count == 0)
        return set_error(error, "no /frame record inside");
    sort_drives(evidence);
    evidence->complete = io_mcap_complete(reader);
    evidence->report = read_json(reader, "report.json");
    evidence->machine = read_json(reader, "machine.json");
    return 0;
}

/* ---- looking things up ----------------------------------------------------------------- */

size_t evidence_find(const struct evidence *evidence, uint64_t frame)
{
    size_t low = 0, high = evidence->frame_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (evidence->frame[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sim_record_job *evidence_jobs_of(const struct evidence *evidence, uint64_t frame)
{
    size_t low = 0, high = evidence->job_records;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (evidence->job[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low < evidence->job_records && evidence->job[low].frame == frame ? &evidence->job[low]
                                                                            : NULL;
}

const struct rt_flight_recorder_row *evidence_row_of(const struct evidence *evidence,
                                                     uint64_t frame)
{
    size_t low = 0, high = evidence->row_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (evidence->row[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low < evidence->row_count && evidence->row[low].frame == frame ? &evidence->row[low]
                                                                          : NULL;
}

void evidence_free(struct evidence *evidence)
{
    for (int i = 0; i < evidence->drive_count; i++)
        free(evidence->drive[i].point);
    free(evidence->frame);
    free(evidence->job);
    free(evidence->row);
    free(evidence->latency);
    free(evidence->clock);
    free(evidence->input);
    json_decref(evidence->report);
    json_decref(evidence->machine);
    json_decref(evidence->files);
    *evidence = (struct evidence){0};
}
