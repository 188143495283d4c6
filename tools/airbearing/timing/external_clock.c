#include "tools/airbearing/timing/external_clock.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char external_clock_title[] = "# airbearing stopwatch 1";
const char external_clock_columns[] = "sequence,frame,sim_ns,sent_ns,stamp_ns,kernel";

enum { COLUMNS = 6 };
static const uint64_t NUMBER_MAX = (uint64_t)1 << 62;

/* ---- the file -------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
    size_t line;
    const char *begin; /* of the line */
    char *error;
};

static int complain(const struct cursor *cursor, const char *what)
{
    snprintf(cursor->error, EVIDENCE_ERROR_MAX, "%zu:%td: %s", cursor->line,
             cursor->at - cursor->begin + 1, what);
    return -1;
}

static void next_line(struct cursor *cursor)
{
    cursor->line++;
    cursor->begin = cursor->at;
}

static int match_text(struct cursor *cursor, const char *text, const char *what)
{
    const size_t size = strlen(text);
    if ((size_t)(cursor->end - cursor->at) <= size || memcmp(cursor->at, text, size) != 0 ||
        cursor->at[size] != '\n')
        return complain(cursor, what);
    cursor->at += size + 1;
    next_line(cursor);
    return 0;
}

static int parse_number(struct cursor *cursor, uint64_t *number)
{
    const char *from = cursor->at;
    *number = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        *number = *number * 10 + (uint64_t)(*cursor->at - '0');
        cursor->at++;
        if (*number > NUMBER_MAX) {
            cursor->at = from;
            return complain(cursor, "this number is too large");
        }
    }
    return cursor->at > from ? 0 : complain(cursor, "a whole number is expected here");
}

static int parse_row(struct cursor *cursor, uint64_t column[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        const char after = i + 1 < COLUMNS ? ',' : '\n';
        if (parse_number(cursor, &column[i]))
            return -1;
        if (cursor->at == cursor->end || *cursor->at != after)
            return complain(cursor,
                            after == ',' ? "a comma is expected here" : "the line should end here");
        cursor->at++;
    }
    return 0;
}

/* Drop pulses that came twice or were overtaken. */
static bool append_stamp(struct external_clock *external, const uint64_t column[COLUMNS])
{
    if (external->count > 0 && column[0] <= external->stamp[external->count - 1].sequence) {
        external->duplicates++;
        return true;
    }
    if (external->count == external->room) {
        const size_t room = external->room ? 2 * external->room : 1024;
        struct external_clock_stamp *grown = realloc(external->stamp, room * sizeof *grown);
        if (!grown)
            return false;
        external->stamp = grown;
        external->room = room;
    }
    external->stamp[external->count++] = (struct external_clock_stamp){
        column[0], column[1], column[2], column[3], column[4], column[5]};
    return true;
}

int external_clock_parse(struct external_clock *external, const char *text, size_t size,
                         char error[EVIDENCE_ERROR_MAX])
{
    struct cursor cursor = {text, text + size, 1, text, error};
    if (match_text(&cursor, external_clock_title,
                   "the file was not written by airbearing stopwatch") ||
        match_text(&cursor, external_clock_columns,
                   "these are not the columns of a stopwatch's file"))
        return -1;
    while (cursor.at < cursor.end) {
        uint64_t column[COLUMNS];
        if (parse_row(&cursor, column))
            return -1;
        if (!append_stamp(external, column))
            return complain(&cursor, "no memory for so many pulses");
        next_line(&cursor);
    }
    return 0;
}

void external_clock_free(struct external_clock *external)
{
    free(external->stamp);
    free(external->point);
    percentiles_free(&external->jitter);
    *external = (struct external_clock){0};
}

/* ---- the comparison -------------------------------------------------------------------- */

/* The frame that was running when the pulse left; NULL: none, so the pulse belongs to another
 * run. */
static const struct sim_record_frame *frame_of(const struct evidence *evidence,
                                               const struct external_clock_stamp *stamp)
{
    const size_t at = evidence_find(evidence, stamp->frame);
    if (at == evidence->frame_count)
        return NULL;
    const struct sim_record_frame *frame = &evidence->frame[at];
    const bool ours = frame->frame == stamp->frame && stamp->sent_ns >= frame->start_ns &&
                      stamp->sent_ns <= frame->end_ns;
    return ours ? frame : NULL;
}

/* Keep the stamps of this run, each with its frame at the same index. */
static const struct sim_record_frame **match(struct external_clock *external,
                                             const struct evidence *evidence)
{
    const struct sim_record_frame **frames = calloc(external->count + 1, sizeof *frames);
    if (!frames)
        return NULL;
    for (size_t i = 0; i < external->count; i++) {
        const struct sim_record_frame *frame = frame_of(evidence, &external->stamp[i]);
        if (!frame) {
            external->foreign++;
            continue;
        }
        frames[external->matched] = frame;
        external->stamp[external->matched++] = external->stamp[i];
        external->by_kernel += external->stamp[i].kernel != 0;
    }
    return frames;
}

/* The report has the number of pulses sent; the log of a run that was cut off has none, and then
 * only gaps are known. */
static void count_lost(struct external_clock *external, const struct evidence *evidence)
{
    const json_t *sent = json_object_get(json_object_get(evidence->report, "pulse"), "sent");
    const uint64_t known =
        json_is_integer(sent) && json_integer_value(sent) >= 0
            ? (uint64_t)json_integer_value(sent)
            : external->stamp[external->matched - 1].sequence - external->stamp[0].sequence + 1;
    external->lost = known > external->matched ? known - external->matched : 0;
}

static double residual(const struct drift_fit *fit, const struct fit_point *point)
{
    return point->y - fit->intercept - fit->slope * point->x;
}

/* Take the fastest pulse of every block: a delayed one tells nothing about the clocks. */
static size_t select_fastest(const struct external_clock *external, struct fit_point *picked)
{
    enum { BLOCKS = 16, BLOCK_MAX = 64 };
    const size_t share = external->matched / BLOCKS;
    const size_t block = share < 1 ? 1 : share > BLOCK_MAX ? BLOCK_MAX : share;
    size_t count = 0;
    for (size_t from = 0; from < external->matched; from += block) {
        const size_t to = from + block < external->matched ? from + block : external->matched;
        size_t best = from;
        for (size_t i = from; i < to; i++)
            if (residual(&external->fit, &external->point[i]) >
                residual(&external->fit, &external->point[best]))
                best = i;
        picked[count++] = external->point[best];
    }
    return count;
}

/* Fit first through all pulses, then through the fastest of each block. */
static bool fit_clocks(struct external_clock *external)
{
    struct fit_point *picked = calloc(external->matched, sizeof *picked);
    if (!picked)
        return false;
    external->known = drift_fit_line(external->point, external->matched, &external->fit);
    if (external->known) {
        struct drift_fit fastest;
        if (drift_fit_line(picked, select_fastest(external, picked), &fastest))
            external->fit = fastest;
    }
    external->ppm = external->fit.slope * 1e-3; /* ns in a second */
    external->half_width_ppm = external->fit.half_width * 1e-3;
    free(picked);
    return true;
}

static bool add_points(struct external_clock *external, const struct sim_record_frame *const *frame)
{
    const struct external_clock_stamp *first = &external->stamp[0];
    external->point = calloc(external->matched, sizeof *external->point);
    if (!external->point)
        return false;
    for (size_t i = 0; i < external->matched; i++) {
        const int64_t by_watch_ns = (int64_t)(external->stamp[i].stamp_ns - first->stamp_ns);
        const int64_t by_grid_ns = (int64_t)(frame[i]->release_ns - frame[0]->release_ns);
        external->point[i] =
            (struct fit_point){(double)by_watch_ns * 1e-9, (double)(by_grid_ns - by_watch_ns)};
    }
    const size_t last = external->matched - 1;
    const int64_t sim_ns = (int64_t)(external->stamp[last].sim_ns - first->sim_ns);
    external->span_s = external->point[last].x;
    external->behind_ns = (int64_t)(external->stamp[last].stamp_ns - first->stamp_ns) - sim_ns;
    external->log_behind_ns = (int64_t)(frame[last]->release_ns - frame[0]->release_ns) - sim_ns;
    return true;
}

static bool add_jitter(struct external_clock *external)
{
    double fastest = residual(&external->fit, &external->point[0]);
    for (size_t i = 1; i < external->matched; i++)
        fastest = fmax(fastest, residual(&external->fit, &external->point[i]));
    for (size_t i = 0; i < external->matched; i++) {
        const double late_ns =
            fmin(fastest - residual(&external->fit, &external->point[i]), 0x1p62);
        if (!percentiles_add(&external->jitter, (uint64_t)late_ns, external->stamp[i].frame))
            return false;
    }
    percentiles_sort(&external->jitter);
    return true;
}

/* With both clocks on one machine this is the delay of the fastest pulse. */
static void add_offset(struct external_clock *external, const struct evidence *evidence,
                       const struct sim_record_frame *first)
{
    if (evidence->clock_count == 0)
        return;
    const struct sim_record_clock *clock = &evidence->clock[0];
    const uint64_t wall_ns = first->release_ns + clock->realtime_ns - clock->monotonic_ns;
    external->has_offset = true;
    external->offset_ns =
        (int64_t)(external->stamp[0].stamp_ns - wall_ns) - llround(external->fit.intercept);
}

bool external_clock_compare(struct external_clock *external, const struct evidence *evidence,
                            char error[EVIDENCE_ERROR_MAX])
{
    const struct sim_record_frame **frames = match(external, evidence);
    snprintf(error, EVIDENCE_ERROR_MAX, "no memory for its pulses");
    bool good = frames != NULL;
    if (good && external->matched == 0) {
        snprintf(error, EVIDENCE_ERROR_MAX, "none of the %zu pulses belongs to this run",
                 external->count);
        good = false;
    }
    if (good) {
        count_lost(external, evidence);
        good = add_points(external, frames) && fit_clocks(external) && add_jitter(external);
        add_offset(external, evidence, frames[0]);
    }
    free(frames);
    return good;
}
