/*
 * The figures as one page: the verdict on top, then the plots, then the numbers.  The page is
 * complete: it loads nothing and runs no script.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/airbearing/time_text.h"
#include "tools/airbearing/timing/frame_steps.h"
#include "tools/airbearing/timing/html_tables.h"
#include "tools/airbearing/timing/show.h"
#include "tools/airbearing/timing/svg_plot.h"

enum { WIDE = 1240, HALF = 604, TALL = 340 };

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#1b1f24;--dim:#5c6570;"
    "--line:#dcd9d1;--a:#1c6e8c;--b:#b8651b;--good:#1d7a46;--bad:#b3261e;--stolen:#7a5bc0;"
    "--switch:#c98a00;--fault:#0f8a8a;--io:#3566c4;--own:#b3261e;--unknown:#7d7f85}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2024;--ink:#eceae4;"
    "--dim:#9aa3ad;--line:#343a40;--a:#5cb8d6;--b:#f0a45a;--good:#5fcf8c;--bad:#ff7a70;"
    "--stolen:#b39bf0;--switch:#f2c14e;--fault:#4fd1d1;--io:#7fa6ff;--own:#ff7a70;"
    "--unknown:#b9bcc2}}\n"
    "body{margin:0;background:var(--bg);color:var(--ink);font:19px/1.45 system-ui,sans-serif}\n"
    "main{max-width:1280px;margin:0 auto;padding:36px 20px 60px}\n"
    "h1{font-size:46px;line-height:1.15;margin:0 0 10px;letter-spacing:-.5px}\n"
    "h2{font-size:24px;margin:0 0 4px}.kept{color:var(--good)}.broken{color:var(--bad)}\n"
    ".say{font-size:29px;line-height:1.3;margin:0 0 14px}.dim,figcaption{color:var(--dim)}\n"
    "ul{margin:0 0 14px;padding-left:24px}figcaption{margin-bottom:8px;font-size:17px}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:16px;"
    "margin:22px 0}\n"
    ".tile,figure{background:var(--card);border:1px solid var(--line);border-radius:12px;"
    "padding:16px 20px;margin:0}\n"
    ".tile b{display:block;font-size:31px;line-height:1.25;font-weight:650;white-space:nowrap}\n"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:16px}\n"
    "figure{margin-bottom:16px}svg{width:100%;height:auto;display:block}\n"
    "svg text{fill:var(--ink);font:17px system-ui,sans-serif}svg .name{fill:var(--dim)}\n"
    "svg .grid{stroke:var(--line)}svg .axis{stroke:var(--dim);fill:none;stroke-width:1.5}\n"
    "svg .a{fill:var(--a)}svg .b{fill:var(--b)}svg .line{fill:none;stroke-width:3}\n"
    "svg .line.a{stroke:var(--a)}svg .line.b{stroke:var(--b)}\n"
    "svg .limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:7 6}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:right;padding:7px 10px;border-bottom:1px solid var(--line)}\n"
    "th:first-child,td:first-child{text-align:left}th{color:var(--dim);font-weight:500}\n"
    ".scroll{overflow-x:auto}.key{display:inline-block;margin-right:20px}\n"
    ".key i{display:inline-block;width:16px;height:16px;border-radius:4px;margin-right:7px;"
    "vertical-align:-2px}\n"
    ".stolen{fill:var(--stolen);background:var(--stolen)}.switch{fill:var(--switch);"
    "background:var(--switch)}.fault{fill:var(--fault);background:var(--fault)}.io{fill:var(--io);"
    "background:var(--io)}.own{fill:var(--own);background:var(--own)}.unknown{fill:var(--unknown);"
    "background:var(--unknown)}\n";

static bool is_real(const struct figures *figures)
{
    return figures->evidence->pace == RT_PACE_REAL;
}

/* ---- how values are written on axes ---------------------------------------------------- */

static const char *short_time(double ns, char *text)
{
    const double size = fabs(ns);
    const double unit = size >= 1e9 ? 1e9 : size >= 1e6 ? 1e6 : size >= 1e3 ? 1e3 : 1.0;
    snprintf(text, 24, "%.4g %s", ns / unit,
             unit >= 1e9   ? "s"
             : unit >= 1e6 ? "ms"
             : unit >= 1e3 ? "us"
                           : "ns");
    return text;
}

static const char *share(double fraction, char *text)
{
    static const char *const power[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const double decades_down = fmin(9.0, round(-log10(fraction)));
    if (fraction >= 0.00999)
        snprintf(text, 24, "%.3g %%", fraction * 100.0);
    else
        snprintf(text, 24, "10⁻%s", power[(int)decades_down]);
    return text;
}

static const char *count(double value, char *text)
{
    snprintf(text, 24, "%.0f", value);
    return text;
}

static const char *seconds(double value, char *text)
{
    snprintf(text, 24, "%.4g s", value);
    return text;
}

/* Powers of ten around all values. */
static struct plot_axis decades(double low, double high)
{
    return (struct plot_axis){pow(10.0, floor(log10(fmax(low, 1.0)))),
                              pow(10.0, ceil(log10(fmax(high, 10.0)) + 1e-9)), true};
}

/* ---- pictures -------------------------------------------------------------------------- */

static void open_figure(const char *title, const char *caption, FILE *out)
{
    fprintf(out, "<figure><h2>%s</h2><figcaption>%s</figcaption>\n", title, caption);
}

static void limit_line(const struct plot *plot, double ns)
{
    const double x = plot_x(plot, ns);
    if (ns > plot->x.low && ns < plot->x.high)
        fprintf(plot->out,
                "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">period</text>\n",
                x, x, plot->top, plot->bottom, x - 6, plot->top + 18);
}

/* Ten bars to a decade, counted on a log scale: one frame in a million can still be seen. */
static void histogram(const struct figures *figures, const struct percentiles *percentiles,
                      const char *title, const char *class, FILE *out)
{
    enum { PER_DECADE = 10 };
    struct plot plot;
    if (percentiles->count == 0)
        return;
    open_figure(title, "frames per bin; both scales logarithmic", out);
    const struct plot_axis x = decades((double)percentiles->value[0], (double)percentiles->max);
    plot_open(
        &plot, out, HALF, TALL, x,
        (struct plot_axis){0.5, pow(10.0, ceil(log10((double)percentiles->count + 1.0))), true},
        title);
    plot_x_ticks(&plot, short_time);
    plot_y_ticks(&plot, count);
    const int bins = (int)lround(log10(x.high / x.low) * PER_DECADE);
    for (int i = 0; i < bins; i++) {
        const double low = x.low * pow(10.0, (double)i / PER_DECADE);
        const double high = x.low * pow(10.0, (double)(i + 1) / PER_DECADE);
        const size_t above =
            i == 0 ? percentiles->count : percentiles_above(percentiles, (uint64_t)low);
        const size_t in = above - percentiles_above(percentiles, (uint64_t)high);
        char from[24], to[24];
        if (in == 0)
            continue;
        const double left = plot_x(&plot, low) + 1, right = plot_x(&plot, high) - 1;
        const double top = plot_y(&plot, (double)in);
        fprintf(out,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>%s to %s: %zu frames</title></rect>\n",
                class, left, top, right - left, plot.bottom - top, short_time(low, from),
                short_time(high, to), in);
    }
    limit_line(&plot, (double)figures->evidence->period_ns);
    plot_names(&plot, "", "frames");
    plot_close(&plot);
    fputs("</figure>\n", out);
}

/* The share of frames above each value, on a log scale. */
static void exceedance_line(const struct plot *plot, const struct percentiles *percentiles,
                            const char *class)
{
    enum { POINTS = 400 };
    fprintf(plot->out, "<path class=\"line %s\" d=\"", class);
    bool begun = false;
    for (int i = 0; i <= POINTS; i++) {
        const double ns = plot->x.low * pow(plot->x.high / plot->x.low, (double)i / (double)POINTS);
        const double above =
            (double)percentiles_above(percentiles, (uint64_t)ns) / (double)percentiles->count;
        if (above <= 0.0)
            break;
        fprintf(plot->out, "%c%.1f %.1f", begun ? 'L' : 'M', plot_x(plot, ns), plot_y(plot, above));
        begun = true;
    }
    if (begun)
        fprintf(plot->out, "V%.1f", plot->bottom);
    fputs("\"/>\n", plot->out);
}

static void exceedance(const struct figures *figures, FILE *out)
{
    struct plot plot;
    const struct percentiles *start = &figures->start_error, *busy = &figures->busy;
    const double low = start->count ? fmin((double)start->value[0], (double)busy->value[0])
                                    : (double)busy->value[0];
    const double high = fmax((double)start->max, (double)busy->max);
    open_figure("How often is it worse than that?",
                "share of frames above each time; where a line ends no frame was worse", out);
    plot_open(&plot, out, WIDE, 400, decades(low, high),
              (struct plot_axis){pow(10.0, -ceil(log10((double)busy->count + 1.0))), 1.0, true},
              "exceedance");
    plot_x_ticks(&plot, short_time);
    plot_y_ticks(&plot, share);
    limit_line(&plot, (double)figures->evidence->period_ns);
    exceedance_line(&plot, busy, "b");
    if (start->count)
        exceedance_line(&plot, start, "a");
    plot_names(&plot, "", "share of frames above");
    plot_close(&plot);
    fputs("<span class=\"key\"><i style=\"background:var(--a)\"></i>start error</span>"
          "<span class=\"key\"><i style=\"background:var(--b)\"></i>busy</span></figure>\n",
          out);
}

/* The worst response of each column of the strip. */
static void draw_response(const struct plot *plot, const struct evidence *evidence)
{
    enum { COLUMNS = 1000 };
    const size_t columns = evidence->frame_count < COLUMNS ? evidence->frame_count : COLUMNS;
    for (size_t c = 0; c < columns; c++) {
        const size_t from = c * evidence->frame_count / columns;
        const size_t to = (c + 1) * evidence->frame_count / columns;
        uint64_t worst = 0;
        for (size_t i = from; i < to; i++) {
            const uint64_t response = evidence->frame[i].end_ns - evidence->frame[i].release_ns;
            worst = response > worst ? response : worst;
        }
        const double at =
            (double)(evidence->frame[from].release_ns - evidence->frame[0].release_ns) * 1e-9;
        const double y = plot_y(plot, (double)worst);
        fprintf(plot->out,
                "<rect class=\"a\" x=\"%.1f\" y=\"%.1f\" width=\"1.4\" height=\"%.1f\"/>",
                plot_x(plot, at), y, plot->bottom - y);
    }
    fputc('\n', plot->out);
}

static void draw_late(const struct plot *plot, const struct figures *figures)
{
    enum { MARKS_MAX = 4000 };
    const struct evidence *evidence = figures->evidence;
    for (size_t i = 0; i < figures->late_count && i < MARKS_MAX; i++) {
        const struct late_frame *late = &figures->late[i];
        const struct sim_record_frame *frame =
            &evidence->frame[evidence_find(evidence, late->frame)];
        const double at = (double)(frame->release_ns - evidence->frame[0].release_ns) * 1e-9;
        const double ns = (double)(late->over_ns + evidence->period_ns);
        char text[24];
        fprintf(plot->out,
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"><title>frame %" PRIu64
                ": %s, %s late, in ",
                rt_cause_name[late->cause], plot_x(plot, at), plot_y(plot, ns), late->frame,
                rt_cause_name[late->cause], time_text((double)late->over_ns, text));
        html_escape(figures_phase_name(figures, late->running), plot->out);
        fputs("</title></circle>\n", plot->out);
    }
}

static void timeline(const struct figures *figures, FILE *out)
{
    struct plot plot;
    const struct evidence *evidence = figures->evidence;
    uint64_t median = 1;
    (void)percentiles_at(&figures->response, 0.5, &median);
    if (!is_real(figures))
        return;
    open_figure("When was it late?",
                "release to end of the slowest frame at each moment; a dot is a late frame, its "
                "colour the cause",
                out);
    plot_open(&plot, out, WIDE, 360, (struct plot_axis){0.0, figures->seconds_wall, false},
              decades((double)median / 2.0,
                      fmax((double)figures->response.max, (double)evidence->period_ns * 1.01)),
              "timeline");
    plot_x_ticks(&plot, seconds);
    plot_y_ticks(&plot, short_time);
    draw_response(&plot, evidence);
    const double y = plot_y(&plot, (double)evidence->period_ns);
    fprintf(out, "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
            plot.left, plot.right, y, y);
    draw_late(&plot, figures);
    plot_names(&plot, "wall time since the first release", "response; dashed: the period");
    plot_close(&plot);
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++)
        fprintf(out, "<span class=\"key\"><i class=\"%s\"></i>%s %" PRIu64 "</span>",
                rt_cause_name[i], rt_cause_name[i], figures->causes[i]);
    fputs("</figure>\n", out);
}

static void drift_range(const struct figures *figures, double *low, double *high)
{
    *low = *high = figures->raw_point[0].y;
    for (size_t i = 0; i < figures->point_count; i++) {
        *low = fmin(*low, figures->raw_point[i].y);
        *high = fmax(*high, figures->raw_point[i].y);
    }
    const double room = fmax(100.0, (*high - *low) * 0.1);
    *low -= room;
    *high += room;
}

static void drift(const struct figures *figures, FILE *out)
{
    enum { DOTS_MAX = 1500 };
    struct plot plot;
    double low, high;
    char caption[200];
    if (!figures->raw.known)
        return;
    const struct drift_fit *fit = &figures->raw.fit;
    snprintf(caption, sizeof caption,
             "sim time less the raw clock, lost releases left out; slope %+.4f ppm, 95 %% within "
             "±%.4f ppm",
             figures->raw.ppm, figures->raw.half_width_ppm);
    open_figure("Does it drift?", caption, out);
    drift_range(figures, &low, &high);
    plot_open(&plot, out, WIDE, 320,
              (struct plot_axis){0.0, fmax(figures->seconds_wall, 1e-9), false},
              (struct plot_axis){low, high, false}, "drift");
    plot_x_ticks(&plot, seconds);
    plot_y_ticks(&plot, short_time);
    const size_t stride = figures->point_count / DOTS_MAX + 1;
    for (size_t i = 0; i < figures->point_count; i += stride)
        fprintf(out, "<circle class=\"a\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                plot_x(&plot, figures->raw_point[i].x), plot_y(&plot, figures->raw_point[i].y));
    fprintf(out, "\n<path class=\"line b\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", plot.left,
            plot_y(&plot, fit->intercept), plot.right,
            plot_y(&plot, fit->intercept + fit->slope * plot.x.high));
    plot_names(&plot, "wall time since the first release", "sim ahead of the clock");
    plot_close(&plot);
    fputs("</figure>\n", out);
}

static double known_or(const struct percentiles *percentiles, double fraction, double otherwise)
{
    uint64_t value;
    return percentiles_at(percentiles, fraction, &value) ? (double)value : otherwise;
}

/* A job: the bar is its median, the whisker goes to its worst, the mark is what was predicted. */
static void job_bar(const struct plot *plot, const struct figures *figures, int job, double y)
{
    const struct percentiles *percentiles = &figures->job[job];
    const double median = known_or(percentiles, 0.5, (double)percentiles->max);
    char text[24];
    fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", plot->left - 10, y + 15);
    html_escape(figures->evidence->job_name[job], plot->out);
    fprintf(plot->out,
            "</text><rect class=\"a\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"18\"/>"
            "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
            "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            plot->left, y, plot_x(plot, median) - plot->left, plot_x(plot, median),
            plot_x(plot, (double)percentiles->max), y + 9, y + 9,
            plot_x(plot, (double)percentiles->max) + 8, y + 15,
            short_time((double)percentiles->max, text));
    if (figures->predicted_ns[job])
        fprintf(plot->out, "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"24\"/>\n",
                plot_x(plot, (double)figures->predicted_ns[job]) - 2, y - 3);
}

static void job_bars(const struct figures *figures, FILE *out)
{
    const struct evidence *evidence = figures->evidence;
    struct plot plot;
    double worst = 10.0;
    if (evidence->job_count == 0)
        return;
    for (int j = 0; j < evidence->job_count; j++)
        worst = fmax(worst, (double)figures->job[j].max);
    open_figure("What did the jobs take?",
                "bar: median; line: to the worst; mark: what the rehearsal predicted", out);
    plot_open(&plot, out, WIDE, 110 + 30.0 * evidence->job_count, decades(10.0, worst * 3.0),
              (struct plot_axis){0.0, 1.0, false}, "jobs");
    plot.left = 190;
    plot_x_ticks(&plot, short_time);
    for (int j = 0; j < evidence->job_count; j++) {
        if (figures->job[j].count > 0)
            job_bar(&plot, figures, j, plot.top + 10 + 30.0 * j);
    }
    plot_close(&plot);
    fputs("<span class=\"key\"><i style=\"background:var(--a)\"></i>median</span>"
          "<span class=\"key\"><i style=\"background:var(--b)\"></i>predicted</span></figure>\n",
          out);
}

/* ---- the latest frame ------------------------------------------------------------------ */

static void step_bar(const struct plot *plot, const struct frame_step *step, uint64_t release_ns,
                     double y)
{
    const double from = plot_x(plot, (double)(int64_t)(step->from_ns - release_ns));
    const double to = plot_x(plot, (double)(int64_t)(step->to_ns - release_ns));
    char text[24];
    fprintf(plot->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", plot->left - 10, y + 17);
    html_escape(step->name, plot->out);
    fprintf(plot->out,
            "</text><rect class=\"a\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"20\">"
            "<title>%s</title></rect>\n",
            from, y, fmax(to - from, 1.5), time_text((double)(step->to_ns - step->from_ns), text));
}

/* The steps of the latest late frame over time, from top to bottom, by the flight recorder. */
static void latest_frame(const struct figures *figures, FILE *out)
{
    const struct rt_flight_recorder_row *row = frame_steps_worst(figures);
    struct frame_step steps[FRAME_STEPS_MAX];
    struct plot plot;
    char title[64];
    if (!row)
        return;
    const int count = frame_steps_of(figures->evidence, row, steps);
    snprintf(title, sizeof title, "The latest frame, %" PRIu64 ": what ran when?", row->frame);
    open_figure(title, "from its release; the dashed line is the next one", out);
    plot_open(&plot, out, WIDE, 110 + 30.0 * count,
              (struct plot_axis){0.0, (double)(row->recorded_ns - row->release_ns), false},
              (struct plot_axis){0.0, 1.0, false}, "steps of the latest frame");
    plot.left = 190;
    plot_x_ticks(&plot, short_time);
    for (int i = 0; i < count; i++)
        step_bar(&plot, &steps[i], row->release_ns, plot.top + 10 + 30.0 * i);
    limit_line(&plot, (double)figures->evidence->period_ns);
    plot_close(&plot);
    fputs("</figure>\n", out);
}

/* ---- the top of the page --------------------------------------------------------------- */

static void tile(const char *name, const char *value, FILE *out)
{
    fprintf(out, "<div class=\"tile\"><span class=\"dim\">%s</span><b>%s</b></div>\n", name, value);
}

static void tiles(const struct figures *figures, FILE *out)
{
    char text[64], time[24];
    fputs("<div class=\"tiles\">\n", out);
    snprintf(text, sizeof text, "%zu", figures->evidence->frame_count);
    tile("frames", text, out);
    if (is_real(figures)) {
        tile(
            "start error, median",
            time_text(known_or(&figures->start_error, 0.5, (double)figures->start_error.max), time),
            out);
        tile("start error, worst", time_text((double)figures->start_error.max, time), out);
        snprintf(text, sizeof text, "%zu", figures->late_count);
        tile("late frames", text, out);
        tile("sim lags wall by", time_text((double)figures->lag_ns, time), out);
    }
    tile("busy, median", time_text(known_or(&figures->busy, 0.5, (double)figures->busy.max), time),
         out);
    fputs("</div>\n", out);
}

static void top(const struct figures *figures, FILE *out)
{
    const struct evidence *evidence = figures->evidence;
    fprintf(out, "<h1 class=\"%s\">%s</h1><p class=\"say\">", figures->kept ? "kept" : "broken",
            !is_real(figures) ? "Not paced by a wall clock"
            : figures->kept   ? "The run kept time"
                              : "The run did not keep time");
    html_escape(figures->verdict, out);
    fputs(".</p>\n", out);
    if (figures->reason_count > 0)
        fputs("<ul>", out);
    for (int i = 0; i < figures->reason_count; i++) {
        fputs("<li>", out);
        html_escape(figures->reason[i], out);
        fputs("</li>", out);
    }
    fputs(figures->reason_count > 0 ? "</ul>\n<p class=\"dim\">" : "<p class=\"dim\">", out);
    html_escape(evidence->scenario, out);
    fprintf(out, " · %g Hz · %s pace · airbearing ", 1e9 / (double)evidence->period_ns,
            evidence->pace_name);
    html_escape(evidence->version, out);
    fputs("</p>\n", out);
    tiles(figures, out);
}

void show_page(const struct figures *figures, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
          "<title>Timing of a run</title>\n<style>\n",
          out);
    fputs(style, out);
    fputs("</style></head>\n<body><main>\n", out);
    top(figures, out);
    timeline(figures, out);
    fputs("<div class=\"two\">\n", out);
    histogram(figures, &figures->start_error, "Start error", "a", out);
    histogram(figures, &figures->busy, "Busy", "b", out);
    fputs("</div>\n", out);
    exceedance(figures, out);
    drift(figures, out);
    latest_frame(figures, out);
    show_external_clock_page(figures, out);
    job_bars(figures, out);
    html_table(figures, out);
    html_effective_table(figures, out);
    html_late_table(figures, out);
    fputs("</main></body></html>\n", out);
}
