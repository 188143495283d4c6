#include "tools/airbearing/timing/figures.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- frames ---------------------------------------------------------------------------- */

static bool is_real(const struct figures *figures)
{
    return figures->evidence->pace == RT_PACE_REAL;
}

/* Simulated time is behind wall time by the start error and by all lost releases, without those
 * of a pause. */
static void follow(struct figures *figures, const struct sim_record_frame *frame)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_frame *first = &evidence->frame[0];
    const uint64_t sim_ns = (frame->frame - first->frame + figures->paused) * evidence->period_ns;
    const uint64_t wall_ns = frame->start_ns - first->release_ns;
    const uint64_t behind_ns = wall_ns > sim_ns ? wall_ns - sim_ns : 0;
    const uint64_t on_grid_ns = frame->release_ns - first->release_ns;
    if (!figures->corrected_ns)
        figures->off_grid += on_grid_ns % evidence->period_ns != 0 || on_grid_ns < sim_ns;
    if (behind_ns > figures->follow_ns) {
        figures->follow_ns = behind_ns;
        figures->follow_frame = frame->frame;
    }
}

static bool add_frame(struct figures *figures, const struct sim_record_frame *frame)
{
    const uint64_t response_ns = frame->end_ns - frame->release_ns;
    const int64_t margin_ns = (int64_t)(figures->evidence->period_ns - response_ns);
    if (!percentiles_add(&figures->busy, frame->end_ns - frame->start_ns, frame->frame))
        return false;
    if (!is_real(figures))
        return true;
    if (figures->response.count == 0 || margin_ns < figures->margin_min_ns) {
        figures->margin_min_ns = margin_ns;
        figures->margin_min_frame = frame->frame;
    }
    figures->caught_up += frame->held != 0;
    follow(figures, frame);
    return percentiles_add(&figures->start_error, frame->start_ns - frame->release_ns,
                           frame->frame) &&
           percentiles_add(&figures->response, response_ns, frame->frame);
}

static bool add_frames(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_frame *first = &evidence->frame[0];
    const struct sim_record_frame *last = &evidence->frame[evidence->frame_count - 1];
    if (is_real(figures) && evidence->lock_ppm > 0.0 && !figures_walk_grid(figures))
        return false;
    for (size_t i = 0; i < evidence->frame_count; i++) {
        figures->paused += i > 0 ? evidence->frame[i].paused : 0;
        if (!add_frame(figures, &evidence->frame[i]))
            return false;
    }
    percentiles_sort(&figures->busy);
    percentiles_sort(&figures->start_error);
    percentiles_sort(&figures->response);
    const uint64_t frames = last->frame - first->frame + 1;
    const uint64_t wall_ns = last->release_ns - first->release_ns + evidence->period_ns;
    figures->seconds_simulated = (double)frames * (double)evidence->period_ns * 1e-9;
    figures->seconds_wall = (double)wall_ns * 1e-9;
    const uint64_t passed = frames + figures->paused;
    const uint64_t releases =
        figures->corrected_ns ? figures->slots + 1 : wall_ns / evidence->period_ns;
    if (is_real(figures) && releases > passed)
        figures->missed = releases - passed;
    figures->lag_ns = figures->missed * evidence->period_ns;
    return true;
}

/* ---- jobs ------------------------------------------------------------------------------ */

static void take_predictions(struct figures *figures)
{
    size_t at;
    json_t *entry;
    json_array_foreach(json_object_get(figures->evidence->report, "jobs"), at, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const json_int_t ns = json_integer_value(json_object_get(entry, "predicted_ns"));
        if (at < (size_t)figures->evidence->job_count && ns > 0 && name &&
            strcmp(name, figures->evidence->job_name[at]) == 0)
            figures->predicted_ns[at] = (uint64_t)ns;
    }
}

/* The time of a frame before its first job and after its last. */
static bool add_edges(struct figures *figures, const struct sim_record_job *record)
{
    const struct evidence *evidence = figures->evidence;
    const size_t at = evidence_find(evidence, record->frame);
    const struct sim_record_frame *frame = &evidence->frame[at];
    if (at == evidence->frame_count || frame->frame != record->frame ||
        record->begin_ns < frame->start_ns)
        return true;
    const uint64_t jobs_end_ns = figures_jobs_end_ns(record, evidence->job_count);
    return percentiles_add(&figures->latch, record->begin_ns - frame->start_ns, record->frame) &&
           (jobs_end_ns > frame->end_ns ||
            percentiles_add(&figures->after, frame->end_ns - jobs_end_ns, record->frame));
}

static bool add_jobs(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    for (size_t i = 0; i < evidence->job_records; i++) {
        const struct sim_record_job *record = &evidence->job[i];
        if (!add_edges(figures, record))
            return false;
        for (int j = 0; j < evidence->job_count; j++) {
            if (record->due >> j & 1 &&
                !percentiles_add(&figures->job[j], record->spent_ns[j], record->frame))
                return false;
        }
    }
    percentiles_sort(&figures->latch);
    percentiles_sort(&figures->after);
    for (int j = 0; j < evidence->job_count; j++)
        percentiles_sort(&figures->job[j]);
    take_predictions(figures);
    return true;
}

const char *figures_phase_name(const struct figures *figures, int phase)
{
    if (phase >= 0 && phase < figures->evidence->job_count)
        return figures->evidence->job_name[phase];
    return phase == PHASE_WAKE    ? "wake-up"
           : phase == PHASE_LATCH ? "commit, latch"
           : phase == PHASE_AFTER ? "after the jobs"
                                  : "not recorded";
}

uint64_t figures_jobs_end_ns(const struct sim_record_job *job, int job_count)
{
    uint64_t end_ns = job->begin_ns;
    for (int j = 0; j < job_count; j++)
        end_ns += job->due >> j & 1 ? job->spent_ns[j] : 0;
    return end_ns;
}

/* ---- late frames ----------------------------------------------------------------------- */

/* The phase that was running at the next release. */
static int running_at(const struct evidence *evidence, const struct sim_record_frame *frame,
                      const struct sim_record_job *jobs)
{
    const uint64_t deadline_ns = frame->release_ns + evidence->period_ns;
    if (frame->start_ns > deadline_ns)
        return PHASE_WAKE;
    if (!jobs)
        return PHASE_UNKNOWN;
    uint64_t at_ns = jobs->begin_ns;
    if (at_ns > deadline_ns)
        return PHASE_LATCH;
    for (int j = 0; j < evidence->job_count; j++) {
        at_ns += jobs->due >> j & 1 ? jobs->spent_ns[j] : 0;
        if (at_ns > deadline_ns)
            return j;
    }
    return PHASE_AFTER;
}

static uint64_t median(const struct percentiles *percentiles)
{
    uint64_t value = 0;
    (void)percentiles_at(percentiles, 0.5, &value);
    return value;
}

static void suspect(struct late_frame *late, int phase, uint64_t spent_ns,
                    const struct percentiles *usual)
{
    const uint64_t usual_ns = median(usual);
    if (spent_ns <= usual_ns || spent_ns - usual_ns <= late->slowest_job_ns)
        return;
    late->slowest_job = phase;
    late->slowest_job_ns = spent_ns - usual_ns;
}

static void find_growth(const struct figures *figures, const struct sim_record_frame *frame,
                        const struct sim_record_job *jobs, struct late_frame *late)
{
    late->slowest_job = PHASE_UNKNOWN;
    suspect(late, PHASE_WAKE, late->start_error_ns, &figures->start_error);
    if (!jobs || jobs->begin_ns < frame->start_ns)
        return;
    suspect(late, PHASE_LATCH, jobs->begin_ns - frame->start_ns, &figures->latch);
    for (int j = 0; j < figures->evidence->job_count; j++) {
        if (jobs->due >> j & 1)
            suspect(late, j, jobs->spent_ns[j], &figures->job[j]);
    }
    const uint64_t jobs_end_ns = figures_jobs_end_ns(jobs, figures->evidence->job_count);
    if (jobs_end_ns < frame->end_ns)
        suspect(late, PHASE_AFTER, frame->end_ns - jobs_end_ns, &figures->after);
}

static bool add_late(struct figures *figures, size_t index)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_frame *frame = &evidence->frame[index];
    const struct sim_record_job *jobs = evidence_jobs_of(evidence, frame->frame);
    struct late_frame late = {
        .frame = frame->frame,
        .cause = frame->cause == RT_CAUSE_NONE ? RT_CAUSE_UNKNOWN : (enum rt_cause)frame->cause,
        .over_ns = frame->end_ns - frame->release_ns - evidence->period_ns,
        .start_error_ns = frame->start_ns - frame->release_ns,
        .busy_ns = frame->end_ns - frame->start_ns,
        .running = running_at(evidence, frame, jobs),
        .held = frame->held != 0,
    };
    find_growth(figures, frame, jobs, &late);
    if (index + 1 < evidence->frame_count)
        late.cost = frame[1].missed;
    if (figures->late_count == figures->late_room) {
        figures->late_room = figures->late_room ? 2 * figures->late_room : 64;
        void *grown = realloc(figures->late, figures->late_room * sizeof late);
        if (!grown)
            return false;
        figures->late = grown;
    }
    figures->late[figures->late_count++] = late;
    figures->causes[late.cause]++;
    return true;
}

static bool memory_is_locked(const struct evidence *evidence)
{
    const json_t *realtime = json_object_get(evidence->report, "realtime");
    return json_is_true(json_object_get(realtime, "memory_locked"));
}

/* Count late frames by the machine, by our own work, and of unknown cause. */
static void share_blame(struct figures *figures)
{
    const uint64_t *causes = figures->causes;
    const bool locked = memory_is_locked(figures->evidence);
    figures->machine = causes[RT_CAUSE_SWITCH] + causes[RT_CAUSE_STOLEN];
    figures->ours = causes[RT_CAUSE_OWN] + causes[RT_CAUSE_IO];
    *(locked ? &figures->ours : &figures->machine) += causes[RT_CAUSE_FAULT];
    figures->unexplained = causes[RT_CAUSE_UNKNOWN];
}

static bool add_lates(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    for (size_t i = 0; is_real(figures) && i < evidence->frame_count; i++) {
        const struct sim_record_frame *frame = &evidence->frame[i];
        if (frame->end_ns - frame->release_ns > evidence->period_ns && !add_late(figures, i))
            return false;
    }
    share_blame(figures);
    return true;
}

/* ---- loop latency ---------------------------------------------------------------------- */

static bool add_latency(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    for (size_t i = 0; i < evidence->latency_count; i++) {
        const struct sim_record_latency *latency = &evidence->latency[i];
        struct percentiles *part = figures->part[latency->link];
        uint64_t sum = 0;
        for (int p = 0; p < IO_LATENCY_SUM; p++) {
            sum += latency->part_ns[p];
            if (!percentiles_add(&part[p], latency->part_ns[p], latency->frame))
                return false;
        }
        if (!percentiles_add(&part[IO_LATENCY_SUM], sum, latency->frame))
            return false;
    }
    for (int link = 0; link < IO_LINK_MAX; link++) {
        for (int p = 0; p < IO_LATENCY_COUNT; p++)
            percentiles_sort(&figures->part[link][p]);
    }
    return true;
}

/* ---- drift ----------------------------------------------------------------------------- */

/* The other clock at a time of the frame's clock, interpolated between clock samples. */
static double other_clock(const struct evidence *evidence, bool wall, uint64_t at_ns, size_t *hint)
{
    const struct sim_record_clock *clock = evidence->clock;
    while (*hint + 2 < evidence->clock_count && clock[*hint + 1].monotonic_ns < at_ns)
        (*hint)++;
    const struct sim_record_clock *a = &clock[*hint], *b = &clock[*hint + 1];
    const uint64_t other_a = wall ? a->realtime_ns : a->raw_ns;
    const uint64_t other_b = wall ? b->realtime_ns : b->raw_ns;
    const uint64_t other_first = wall ? clock[0].realtime_ns : clock[0].raw_ns;
    const double share =
        (double)(int64_t)(at_ns - a->monotonic_ns) / (double)(b->monotonic_ns - a->monotonic_ns);
    const double ahead_a = (double)((int64_t)(other_a - other_first) -
                                    (int64_t)(a->monotonic_ns - clock[0].monotonic_ns));
    const double ahead_b = (double)((int64_t)(other_b - other_first) -
                                    (int64_t)(b->monotonic_ns - clock[0].monotonic_ns));
    return ahead_a + share * (ahead_b - ahead_a);
}

/* The most punctual frame of every block is a point: a late wake-up tells nothing about drift. */
static const struct sim_record_frame *most_punctual(const struct evidence *evidence, size_t from,
                                                    size_t to)
{
    const struct sim_record_frame *best = NULL;
    for (size_t i = from; i < to; i++) {
        const struct sim_record_frame *frame = &evidence->frame[i];
        if (!frame->held &&
            (!best || frame->start_ns - frame->release_ns < best->start_ns - best->release_ns))
            best = frame;
    }
    return best;
}

static void add_point(struct figures *figures, const struct sim_record_frame *frame,
                      size_t *raw_hint, size_t *wall_hint)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_frame *first = &evidence->frame[0];
    const double seconds = (double)(frame->release_ns - first->release_ns) * 1e-9;
    /* A grid that was moved is ahead of simulated time by that amount. */
    const double behind_ns =
        (double)(frame->start_ns - frame->release_ns) +
        (figures->corrected_ns ? (double)figures->corrected_ns[frame - first] : 0.0);
    double raw_ahead = 0.0, wall_ahead = 0.0;
    if (evidence->clock_count >= 2) {
        raw_ahead = other_clock(evidence, false, frame->start_ns, raw_hint);
        wall_ahead = other_clock(evidence, true, frame->start_ns, wall_hint);
    }
    /* Lost releases are added to simulated time, so that both continue together over a miss: the
     * rest of sim - clock is the start error and the difference of the clocks. */
    const size_t at = figures->point_count++;
    figures->raw_point[at] = (struct fit_point){seconds, -behind_ns - raw_ahead};
    figures->wall_point[at] = (struct fit_point){seconds, -behind_ns - wall_ahead};
}

static void fit_drift(const struct figures *figures, const struct fit_point *points,
                      struct drift_figure *drift)
{
    drift->known = drift_fit_line(points, figures->point_count, &drift->fit);
    drift->ppm = drift->fit.slope * 1e-3; /* ns in a second */
    drift->half_width_ppm = drift->fit.half_width * 1e-3;
}

static bool add_drift(struct figures *figures)
{
    enum { BLOCK = 64 };
    static const double SET_NS =
        1e6; /* no time daemon makes a clock deviate that far from a line */
    const struct evidence *evidence = figures->evidence;
    const size_t blocks = evidence->frame_count / BLOCK + 1;
    size_t raw_hint = 0, wall_hint = 0;
    if (!is_real(figures))
        return true;
    figures->raw_point = calloc(blocks, sizeof *figures->raw_point);
    figures->wall_point = calloc(blocks, sizeof *figures->wall_point);
    if (!figures->raw_point || !figures->wall_point)
        return false;
    for (size_t from = 0; from < evidence->frame_count; from += BLOCK) {
        const size_t to =
            from + BLOCK < evidence->frame_count ? from + BLOCK : evidence->frame_count;
        const struct sim_record_frame *best = most_punctual(evidence, from, to);
        if (best)
            add_point(figures, best, &raw_hint, &wall_hint);
    }
    fit_drift(figures, figures->raw_point, &figures->raw);
    if (evidence->clock_count >= 2)
        fit_drift(figures, figures->wall_point, &figures->wall);
    figures->wall_was_set = figures->wall.known && figures->wall.fit.residual_max > SET_NS;
    return true;
}

/* ---- effective latency ----------------------------------------------------------------- */

/* The time at which the sample of this frame was sent; 0: not known. */
static uint64_t left_ns(const struct evidence *evidence, uint64_t frame)
{
    const uint64_t shown = evidence->commits_early ? frame : frame + 1;
    const size_t at = evidence_find(evidence, shown);
    if (at == evidence->frame_count || evidence->frame[at].frame != shown)
        return 0;
    return evidence->commits_early ? evidence->frame[at].end_ns : evidence->frame[at].start_ns;
}

static size_t list_asked(const struct evidence *evidence, const struct evidence_drive *drive,
                         struct delay_sample *asked)
{
    const uint64_t origin_ns = evidence->frame[0].release_ns;
    size_t count = 0;
    for (size_t i = 0; i < evidence->input_count; i++) {
        const struct sim_record_input *input = &evidence->input[i];
        const double value = (double)input->command.controls[drive->control];
        const double seconds = (double)(int64_t)(input->command.rx_ns - origin_ns) * 1e-9;
        if (input->command.link != drive->link || !isfinite(value) ||
            (count > 0 && seconds < asked[count - 1].seconds))
            continue;
        asked[count++] = (struct delay_sample){seconds, value};
    }
    return count;
}

static size_t list_done(const struct evidence *evidence, const struct evidence_drive *drive,
                        struct delay_sample *done)
{
    enum { POINTS_MAX = 20000 }; /* only the newest are used: enough for any fit */
    const uint64_t origin_ns = evidence->frame[0].release_ns;
    size_t count = 0;
    for (size_t i = drive->count > POINTS_MAX ? drive->count - POINTS_MAX : 0; i < drive->count;
         i++) {
        const uint64_t at_ns = left_ns(evidence, drive->point[i].frame);
        if (at_ns != 0)
            done[count++] = (struct delay_sample){(double)(int64_t)(at_ns - origin_ns) * 1e-9,
                                                  drive->point[i].value};
    }
    return count;
}

static bool fit_effective(const struct figures *figures, const struct evidence_drive *drive,
                          struct effective *effective)
{
    static const double LIMIT_S = 0.25;
    const struct evidence *evidence = figures->evidence;
    struct delay_sample *asked = calloc(evidence->input_count + 1, sizeof *asked);
    struct delay_sample *done = calloc(drive->count + 1, sizeof *done);
    if (asked && done)
        effective->known = delay_fit(
            asked, list_asked(evidence, drive, asked), done, list_done(evidence, drive, done),
            LIMIT_S, fmax(1e-4, (double)evidence->period_ns * 0.5e-9), &effective->delay);
    const bool room = asked && done;
    free(asked);
    free(done);
    return room;
}

static bool add_effective(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    bool any = false;
    for (int i = 0; i < evidence->drive_count; i++) {
        struct effective *effective = &figures->effective[figures->effective_count];
        const struct evidence_drive *drive = &evidence->drive[i];
        if (drive->link < 0 || drive->control < 0 || drive->control >= IO_CONTROL_MAX)
            continue;
        effective->name = drive->name;
        if (!fit_effective(figures, drive, effective))
            return false;
        any = any || effective->known;
        figures->effective_count++;
    }
    figures->effective_why = any                          ? NULL
                             : evidence->input_count == 0 ? "no command was recorded"
                             : figures->effective_count == 0
                                 ? "the log has no actuator that a link commands"
                                 : "no actuator moved enough, or as commanded";
    return true;
}

/* -------------------------------------------------------------------------------------------- */

bool figures_compute(struct figures *figures, const struct evidence *evidence,
                     const struct figures_limits *limits)
{
    *figures = (struct figures){.evidence = evidence};
    if (!add_frames(figures) || !add_jobs(figures) || !add_lates(figures) ||
        !add_latency(figures) || !add_drift(figures) || !add_effective(figures))
        return false;
    figures_judge(figures, limits);
    return true;
}

void figures_free(struct figures *figures)
{
    percentiles_free(&figures->start_error);
    percentiles_free(&figures->busy);
    percentiles_free(&figures->response);
    percentiles_free(&figures->latch);
    percentiles_free(&figures->after);
    for (int j = 0; j < RT_JOB_MAX; j++)
        percentiles_free(&figures->job[j]);
    for (int link = 0; link < IO_LINK_MAX; link++) {
        for (int p = 0; p < IO_LATENCY_COUNT; p++)
            percentiles_free(&figures->part[link][p]);
    }
    free(figures->corrected_ns);
    free(figures->late);
    free(figures->raw_point);
    free(figures->wall_point);
    *figures = (struct figures){0};
}
