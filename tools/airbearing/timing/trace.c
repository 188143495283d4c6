/*
 * Chrome's trace format: a track for the frames, one for their steps, one for late frames, one
 * for the flight recorder's rows around those.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#include <inttypes.h>
#include <jansson.h>

#include "tools/airbearing/timing/frame_steps.h"
#include "tools/airbearing/timing/show.h"

enum {
    FRAMES_MAX = 20000, /* frames from the start, as far as there is room */
    AROUND = 20,        /* frames on each side of a late one */
    TRACK_FRAME = 1,
    TRACK_JOB = 2,
    TRACK_LATE = 3,
    TRACK_RECORDER = 4,
    TRACK_LOOP = 5, /* and one more for each link */
};

struct trace {
    FILE *out;
    uint64_t origin_ns;
    bool any;
};

static void print_name(const char *name, FILE *out)
{
    json_t *text = json_string(name);
    if (!text || json_dumpf(text, out, JSON_ENCODE_ANY))
        fputs("\"?\"", out);
    json_decref(text);
}

static void begin_event(struct trace *trace)
{
    fputs(trace->any ? ",\n" : "\n", trace->out);
    trace->any = true;
}

static void slice(struct trace *trace, int track, const char *name, uint64_t from_ns,
                  uint64_t spent_ns, uint64_t frame)
{
    begin_event(trace);
    fputs("{\"ph\":\"X\",\"pid\":1,\"name\":", trace->out);
    print_name(name, trace->out);
    fprintf(trace->out, ",\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"frame\":%" PRIu64 "}}",
            track, (double)(int64_t)(from_ns - trace->origin_ns) * 1e-3, (double)spent_ns * 1e-3,
            frame);
}

static void name_track(struct trace *trace, int track, const char *name)
{
    begin_event(trace);
    fprintf(
        trace->out,
        "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
        track, name);
}

static void trace_jobs(struct trace *trace, const struct figures *figures,
                       const struct sim_record_frame *frame)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_job *jobs = evidence_jobs_of(evidence, frame->frame);
    if (!jobs || jobs->begin_ns < frame->start_ns)
        return;
    uint64_t at_ns = jobs->begin_ns;
    slice(trace, TRACK_JOB, "commit, latch", frame->start_ns, at_ns - frame->start_ns,
          frame->frame);
    for (int j = 0; j < evidence->job_count; j++) {
        if (!(jobs->due >> j & 1))
            continue;
        slice(trace, TRACK_JOB, evidence->job_name[j], at_ns, jobs->spent_ns[j], frame->frame);
        at_ns += jobs->spent_ns[j];
    }
}

static void trace_frame(struct trace *trace, const struct figures *figures,
                        const struct sim_record_frame *frame)
{
    const uint64_t period_ns = figures->evidence->period_ns;
    slice(trace, TRACK_FRAME, frame->held ? "frame (held)" : "frame", frame->start_ns,
          frame->end_ns - frame->start_ns, frame->frame);
    trace_jobs(trace, figures, frame);
    if (figures->evidence->pace == RT_PACE_REAL && frame->end_ns - frame->release_ns > period_ns)
        slice(trace, TRACK_LATE, rt_cause_name[frame->cause], frame->release_ns + period_ns,
              frame->end_ns - frame->release_ns - period_ns, frame->frame);
}

static bool is_near_late(const struct figures *figures, uint64_t frame, size_t *next)
{
    while (*next < figures->late_count && figures->late[*next].frame + AROUND < frame)
        (*next)++;
    return *next < figures->late_count && frame + AROUND >= figures->late[*next].frame;
}

/* After a late frame the next one is released while it still runs: its wake-up is shown from the
 * end of the late one, because slices of one track must not overlap. */
static void trace_rows(struct trace *trace, const struct evidence *evidence)
{
    struct frame_step steps[FRAME_STEPS_MAX];
    uint64_t at_ns = 0;
    for (size_t i = 0; i < evidence->row_count && i < FRAMES_MAX; i++) {
        const int count = frame_steps_of(evidence, &evidence->row[i], steps);
        for (int s = 0; s < count; s++) {
            const uint64_t from_ns = steps[s].from_ns > at_ns ? steps[s].from_ns : at_ns;
            if (steps[s].to_ns <= from_ns)
                continue;
            slice(trace, TRACK_RECORDER, steps[s].name, from_ns, steps[s].to_ns - from_ns,
                  evidence->row[i].frame);
            at_ns = steps[s].to_ns;
        }
    }
}

/* Commands from arrival to latch, as far as their frames are shown. */
static void trace_loops(struct trace *trace, const struct evidence *evidence, uint64_t last_frame)
{
    for (size_t i = 0; i < evidence->latency_count; i++) {
        const struct sim_record_latency *latency = &evidence->latency[i];
        uint64_t sum_ns = 0;
        for (int p = 0; p < IO_LATENCY_SUM; p++)
            sum_ns += latency->part_ns[p];
        if (latency->frame <= last_frame)
            slice(trace, TRACK_LOOP + latency->link, "loop", latency->rx_ns, sum_ns,
                  latency->frame);
    }
}

void show_trace(const struct figures *figures, FILE *out)
{
    const struct evidence *evidence = figures->evidence;
    struct trace trace = {.out = out, .origin_ns = evidence->frame[0].release_ns};
    size_t shown = 0, next = 0;
    const size_t first = evidence->frame_count < FRAMES_MAX ? evidence->frame_count
                         : figures->late_count * (2 * AROUND + 1) < FRAMES_MAX - 1000
                             ? FRAMES_MAX - figures->late_count * (2 * AROUND + 1)
                             : 1000;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    name_track(&trace, TRACK_FRAME, "frames");
    name_track(&trace, TRACK_JOB, "jobs");
    name_track(&trace, TRACK_LATE, "late, by cause");
    name_track(&trace, TRACK_RECORDER, "flight recorder");
    name_track(&trace, TRACK_LOOP, "loop latency");
    for (size_t i = 0; i < evidence->frame_count && shown < FRAMES_MAX; i++) {
        if (i >= first && !is_near_late(figures, evidence->frame[i].frame, &next))
            continue;
        trace_frame(&trace, figures, &evidence->frame[i]);
        shown++;
    }
    trace_rows(&trace, evidence);
    trace_loops(&trace, evidence, evidence->frame[first - 1].frame);
    fputs("\n]}\n", out);
}
