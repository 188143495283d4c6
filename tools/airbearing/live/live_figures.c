#include "tools/airbearing/live/live_figures.h"
#include "config/scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_NS = 100000000, STATUS_EVERY_NS = 1000000000, TOLD_MAX = 5, TEXT_MAX = 192 };

const char live_text[] =
    "# How the run goes: of the last tenth of a second, and counts since the start.\n"
    "uint64 frame\n"
    "float64 seconds # simulated\n"
    "float64 rate_hz # frames by wall time\n"
    "float64 start_error_us # median\n"
    "float64 start_error_us_max\n"
    "float64 busy_us # median\n"
    "float64 busy_us_max\n"
    "float64 margin_us # median\n"
    "float64 margin_us_min\n"
    "uint64 overruns\n"
    "uint64 missed # releases\n"
    "uint64[7] cause # of overruns: none fault switch io stolen own unknown\n"
    "uint64 inputs # commands, losses and new beginnings that frames latched\n"
    "uint8[4] link # 0 silent so far 1 heard 2 lost\n";
_Static_assert(RT_CAUSE_COUNT == 7 && IO_LINK_MAX == 4, "as the text above says");

void live_figures_open(struct live_figures *live, const struct cfg_scenario *scenario,
                       struct live_sink sink)
{
    *live = (struct live_figures){.scenario = scenario, .sink = sink, .arm.braked = true};
}

__attribute__((format(printf, 4, 5))) static void log_event(struct live_figures *live,
                                                            uint64_t log_ns, enum live_level level,
                                                            const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    live->sink.event(live->sink.self, log_ns, level, text);
}

/* ---- frames ---------------------------------------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void fill_times(struct live_figures *live)
{
    struct live_image *image = &live->image;
    const size_t count = (size_t)live->count;
    qsort(live->start_ns, count, sizeof *live->start_ns, compare_u32);
    qsort(live->busy_ns, count, sizeof *live->busy_ns, compare_u32);
    qsort(live->margin_ns, count, sizeof *live->margin_ns, compare_i64);
    image->start_error_us = live->start_ns[count / 2] * 1e-3;
    image->start_error_us_max = live->start_ns[count - 1] * 1e-3;
    image->busy_us = live->busy_ns[count / 2] * 1e-3;
    image->busy_us_max = live->busy_ns[count - 1] * 1e-3;
    image->margin_us = (double)live->margin_ns[count / 2] * 1e-3;
    image->margin_us_min = (double)live->margin_ns[0] * 1e-3;
}

static void log_overruns(struct live_figures *live, uint64_t log_ns, uint64_t now_ns)
{
    const struct live_image *image = &live->image;
    if (live->unreported > 0)
        log_event(live, log_ns, LIVE_WARNING, "and %llu more frames overran",
                  (unsigned long long)live->unreported);
    live->told = 0;
    live->unreported = 0;
    if (image->overruns == live->reported_overruns || now_ns - live->told_ns < STATUS_EVERY_NS)
        return;
    live->reported_overruns = image->overruns;
    live->told_ns = now_ns;
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%llu frames overran and %llu releases were missed so far",
             (unsigned long long)image->overruns, (unsigned long long)image->missed);
    live->sink.status(live->sink.self, "overruns", IO_FOXGLOVE_WARNING, text);
}

static void close_window(struct live_figures *live, const struct sim_record_frame *frame,
                         uint64_t log_ns, uint64_t now_ns)
{
    struct live_image *image = &live->image;
    const uint64_t passed_ns = frame->release_ns - live->window_release_ns;
    fill_times(live);
    image->frame = frame->frame;
    image->seconds = (double)log_ns * 1e-9;
    image->rate_hz = passed_ns > 0 ? (live->count - 1) * 1e9 / (double)passed_ns : 0.0;
    live->sink.figures(live->sink.self, log_ns, image);
    log_overruns(live, log_ns, now_ns);
    live->count = 0;
    live->window_ns = now_ns;
}

static void log_overrun(struct live_figures *live, const struct sim_record_frame *frame,
                        uint64_t log_ns, int64_t margin_ns)
{
    if (++live->told > TOLD_MAX) {
        live->unreported++;
        return;
    }
    log_event(live, log_ns, LIVE_WARNING, "frame %llu overran by %.1f us: %s",
              (unsigned long long)frame->frame, (double)-margin_ns * 1e-3,
              rt_cause_name[frame->cause]);
}

static uint32_t clamp(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

void live_figures_frame(struct live_figures *live, const struct sim_record_frame *frame,
                        uint64_t log_ns, uint64_t now_ns)
{
    const int64_t margin_ns =
        (int64_t)(frame->release_ns + live->scenario->spec.period_ns - frame->end_ns);
    if (live->count == 0)
        live->window_release_ns = frame->release_ns;
    live->start_ns[live->count] = clamp(frame->start_ns - frame->release_ns);
    live->busy_ns[live->count] = clamp(frame->end_ns - frame->start_ns);
    live->margin_ns[live->count] = margin_ns;
    live->count++;
    live->image.missed += frame->missed;
    if (frame->cause > 0 && frame->cause < RT_CAUSE_COUNT) {
        live->image.overruns++;
        live->image.cause[frame->cause]++;
        log_overrun(live, frame, log_ns, margin_ns);
    }
    if (now_ns - live->window_ns >= WINDOW_NS || live->count == LIVE_WINDOW_MAX)
        close_window(live, frame, log_ns, now_ns);
}

/* ---- links ----------------------------------------------------------------------------- */

static void mark_link_lost(struct live_figures *live, int link, uint64_t log_ns)
{
    const char *name = live->scenario->spec.links[link].name;
    char id[SIM_NAME_MAX + 8], text[TEXT_MAX];
    live->image.link[link] = LIVE_LINK_LOST;
    log_event(live, log_ns, LIVE_ERROR, "link %s is lost", name);
    snprintf(id, sizeof id, "link.%s", name);
    snprintf(text, sizeof text, "link %s is lost since %.3f s", name, (double)log_ns * 1e-9);
    live->sink.status(live->sink.self, id, IO_FOXGLOVE_WARNING, text);
}

static void mark_link_heard(struct live_figures *live, int link, uint64_t log_ns)
{
    const char *name = live->scenario->spec.links[link].name;
    char id[SIM_NAME_MAX + 8];
    const bool was_lost = live->image.link[link] == LIVE_LINK_LOST;
    if (live->image.link[link] == LIVE_LINK_HEARD)
        return;
    live->image.link[link] = LIVE_LINK_HEARD;
    log_event(live, log_ns, LIVE_INFO, "link %s is heard%s", name, was_lost ? " again" : "");
    snprintf(id, sizeof id, "link.%s", name);
    if (was_lost)
        live->sink.status(live->sink.self, id, IO_FOXGLOVE_INFO, NULL);
}

void live_figures_input(struct live_figures *live, const struct sim_record_input *input,
                        uint64_t log_ns)
{
    live->image.inputs++;
    if (input->command.link >= live->scenario->spec.link_count)
        return;
    switch ((enum io_command_kind)input->command.kind) {
    case IO_COMMAND_CONTROLS:
        mark_link_heard(live, input->command.link, log_ns);
        break;
    case IO_COMMAND_LOSS:
        mark_link_lost(live, input->command.link, log_ns);
        break;
    case IO_COMMAND_RESET:
        log_event(live, log_ns, LIVE_INFO, "the board on link %s began anew",
                  live->scenario->spec.links[input->command.link].name);
        break;
    default:
        break;
    }
}

/* A repeated step is one event for each answer, not for each try. */
void live_figures_ground(struct live_figures *live, const struct sim_record_ground *ground,
                         uint64_t log_ns)
{
    char text[IO_GROUND_TEXT_MAX];
    if (ground->link >= live->scenario->spec.link_count || ground->event == IO_GROUND_SENT)
        return;
    const struct sim_link *link = &live->scenario->spec.links[ground->link];
    if (ground->step >= link->spec.script.step_count)
        return;
    const int answer = ground->answer == SIM_RECORD_NO_ANSWER ? -1 : ground->answer;
    log_event(live, log_ns,
              ground->event == IO_GROUND_ACCEPTED   ? LIVE_INFO
              : ground->event == IO_GROUND_ANSWERED ? LIVE_WARNING
                                                    : LIVE_ERROR,
              "%s: ground %s: %s%s", link->name,
              io_ground_step_text(&link->spec.script.step[ground->step], text),
              ground->event == IO_GROUND_GAVE_UP ? "given up, " : "",
              io_ground_answer_name(answer));
}

/* ---- the arm --------------------------------------------------------------------------- */

static const char *payload_name(const struct live_figures *live, uint8_t payload)
{
    const struct sim_arm *arm = &live->scenario->spec.arm;
    return payload > 0 && payload <= arm->payload_count
               ? live->scenario->spec.bodies[arm->payload[payload - 1].body].name
               : "nothing";
}

/* True when a count has grown; after a reset or a restore it may be smaller. */
static bool counter_advanced(uint8_t before, uint8_t now)
{
    const uint8_t way = (uint8_t)(now - before);
    return way != 0 && way < 128;
}

void live_figures_arm(struct live_figures *live, const void *image, uint64_t log_ns)
{
    const struct sim_arm_summary now =
        sim_arm_record_read(live->scenario->spec.arm.joint_count, image);
    const struct sim_arm_summary before = live->arm;
    live->arm = now;
    if (now.flags & ~before.flags & SIM_ARM_STOPPED)
        log_event(live, log_ns, LIVE_ERROR, "the arm is safed; choose a mode to go on");
    if (now.mode != before.mode && now.mode < IO_ARM_PANEL_MODE_COUNT)
        log_event(live, log_ns, LIVE_INFO, "mode %s", io_arm_panel_mode_name[now.mode]);
    if (now.braked != before.braked)
        log_event(live, log_ns, LIVE_INFO, "brakes %s", now.braked ? "on" : "off");
    if (counter_advanced(before.grapples, now.grapples))
        log_event(live, log_ns, LIVE_INFO, "grappled %s; the blow took %.3g J",
                  payload_name(live, now.payload), now.blow);
    if (counter_advanced(before.releases, now.releases))
        log_event(live, log_ns, LIVE_INFO, "released %s%s", payload_name(live, before.payload),
                  now.latched & ~before.latched ? " into its berth, which latched" : "");
    if (counter_advanced(before.refused, now.refused))
        log_event(live, log_ns, LIVE_WARNING, "no grapple: %s",
                  before.payload != 0 ? "the hand has something already"
                  : now.reach < 0.0   ? "no fixture is in reach"
                                      : "no fixture is inside the capture envelope");
}
