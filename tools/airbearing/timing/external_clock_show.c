/*
 * The stopwatch's view of a run as text, JSON and a picture.
 *
 * Tested by tests/scenario/timing/test_timing_synthetic.py.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "tools/airbearing/time_text.h"
#include "tools/airbearing/timing/external_clock.h"
#include "tools/airbearing/timing/show.h"
#include "tools/airbearing/timing/svg_plot.h"

static const char *stamped_by(const struct external_clock *external)
{
    return external->by_kernel == external->matched ? "kernel"
           : external->by_kernel == 0               ? "program"
                                                    : "both";
}

static const char *stamped_by_words(const struct external_clock *external)
{
    return external->by_kernel == external->matched ? "kernel"
           : external->by_kernel == 0               ? "program that read them"
                                                    : "kernel or by the program that read them";
}

static void print_jitter(const struct external_clock *external, FILE *out)
{
    uint64_t value;
    char text[24];
    fprintf(out, "    later than the fastest:");
    for (int i = 0; i < PERCENTILE_COUNT; i++)
        if (percentiles_at(&external->jitter, percentile_fraction[i], &value))
            fprintf(out, " %s %s,", percentile_header[i], time_text((double)value, text));
    fprintf(out, " worst %s (frame %" PRIu64 ")\n", time_text((double)external->jitter.max, text),
            external->jitter.max_frame);
}

void show_external_clock_text(const struct figures *figures, FILE *out)
{
    const struct external_clock *external = figures->external;
    char behind[24], log[24], offset[24];
    if (!external)
        return;
    fprintf(out, "  stopwatch: %zu pulses in %.3f s, stamped by the %s; %" PRIu64 " lost",
            external->matched, external->span_s, stamped_by_words(external), external->lost);
    if (external->foreign > 0)
        fprintf(out, ", %zu of another run", external->foreign);
    fprintf(out, "\n");
    if (external->known)
        fprintf(out, "    the grid against it %+.4f ppm, 95 %% within +-%.4f ppm\n", external->ppm,
                external->half_width_ppm);
    else
        fprintf(out, "    the grid against it: too few pulses for a slope\n");
    if (external->has_offset)
        fprintf(out,
                "    it shows %s more than the run's wall clock (delay of the pulse included)\n",
                time_text((double)external->offset_ns, offset));
    print_jitter(external, out);
    fprintf(out, "    sim time fell behind by %s by the stopwatch, by %s by the log\n",
            time_text((double)external->behind_ns, behind),
            time_text((double)external->log_behind_ns, log));
}

static json_t *jitter(const struct percentiles *percentiles)
{
    json_t *object = json_object();
    uint64_t value;
    for (int i = 0; i < PERCENTILE_COUNT; i++)
        json_object_set_new(object, percentile_name[i],
                            percentiles_at(percentiles, percentile_fraction[i], &value)
                                ? json_integer((json_int_t)value)
                                : json_null());
    json_object_set_new(object, "max", json_integer((json_int_t)percentiles->max));
    json_object_set_new(object, "max_frame", json_integer((json_int_t)percentiles->max_frame));
    json_object_set_new(object, "count", json_integer((json_int_t)percentiles->count));
    return object;
}

static json_t *real(double value, bool known)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

struct json_t *show_external_clock_json(const struct external_clock *external)
{
    json_t *object = json_object();
    const struct {
        const char *name;
        uint64_t value;
    } count[] = {{"pulses", external->matched},
                 {"lost", external->lost},
                 {"foreign", external->foreign},
                 {"doubled", external->duplicates}};
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        json_object_set_new(object, count[i].name, json_integer((json_int_t)count[i].value));
    json_object_set_new(object, "stamped_by", json_string(stamped_by(external)));
    json_object_set_new(object, "seconds", json_real(external->span_s));
    json_object_set_new(object, "ppm", real(external->ppm, external->known));
    json_object_set_new(object, "ppm_low",
                        real(external->ppm - external->half_width_ppm, external->known));
    json_object_set_new(object, "ppm_high",
                        real(external->ppm + external->half_width_ppm, external->known));
    json_object_set_new(object, "offset_ns",
                        external->has_offset ? json_integer((json_int_t)external->offset_ns)
                                             : json_null());
    json_object_set_new(object, "jitter_ns", jitter(&external->jitter));
    json_object_set_new(object, "behind_ns", json_integer((json_int_t)external->behind_ns));
    json_object_set_new(object, "log_behind_ns", json_integer((json_int_t)external->log_behind_ns));
    return object;
}

/* ---- the picture ----------------------------------------------------------------------- */

static const char *seconds(double value, char *text)
{
    snprintf(text, 24, "%.4g s", value);
    return text;
}

static const char *nanoseconds(double value, char *text)
{
    return time_text(value, text);
}

static void range(const struct external_clock *external, double *low, double *high)
{
    *low = *high = external->point[0].y;
    for (size_t i = 0; i < external->matched; i++) {
        *low = fmin(*low, external->point[i].y);
        *high = fmax(*high, external->point[i].y);
    }
    const double room = fmax(100.0, (*high - *low) * 0.1);
    *low -= room;
    *high += room;
}

void show_external_clock_page(const struct figures *figures, FILE *out)
{
    enum { WIDTH = 1240, HEIGHT = 320, DOTS_MAX = 1500 };
    const struct external_clock *external = figures->external;
    struct plot plot;
    double low, high;
    char worst[24];
    if (!external || !external->known || !(external->span_s > 0.0))
        return;
    fprintf(out,
            "<figure><h2>By another clock</h2><figcaption>the frame grid less a stopwatch that "
            "stamped %zu pulses (%" PRIu64 " lost); slope %+.4f ppm, 95 %% within ±%.4f ppm; the "
            "latest came %s after the fastest</figcaption>\n",
            external->matched, external->lost, external->ppm, external->half_width_ppm,
            time_text((double)external->jitter.max, worst));
    range(external, &low, &high);
    plot_open(&plot, out, WIDTH, HEIGHT, (struct plot_axis){0.0, external->span_s, false},
              (struct plot_axis){low, high, false}, "stopwatch");
    plot_x_ticks(&plot, seconds);
    plot_y_ticks(&plot, nanoseconds);
    const size_t stride = external->matched / DOTS_MAX + 1;
    for (size_t i = 0; i < external->matched; i += stride)
        fprintf(out, "<circle class=\"a\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                plot_x(&plot, external->point[i].x), plot_y(&plot, external->point[i].y));
    fprintf(out, "\n<path class=\"line b\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", plot.left,
            plot_y(&plot, external->fit.intercept), plot.right,
            plot_y(&plot, external->fit.intercept + external->fit.slope * external->span_s));
    plot_names(&plot, "time by the stopwatch", "grid ahead of the stopwatch");
    plot_close(&plot);
    fputs("</figure>\n", out);
}
