#include "tools/airbearing/timing/svg_plot.h"

#include <math.h>

static double map_axis(const struct plot_axis *axis, double value)
{
    const double low = axis->log ? log10(axis->low) : axis->low;
    const double high = axis->log ? log10(axis->high) : axis->high;
    const double at = axis->log ? log10(fmax(value, axis->low)) : value;
    const double share = high > low ? (at - low) / (high - low) : 0.0;
    return fmin(fmax(share, 0.0), 1.0);
}

double plot_x(const struct plot *plot, double x)
{
    return plot->left + map_axis(&plot->x, x) * (plot->right - plot->left);
}

double plot_y(const struct plot *plot, double y)
{
    return plot->bottom - map_axis(&plot->y, y) * (plot->bottom - plot->top);
}

void plot_open(struct plot *plot, FILE *out, double width, double height, struct plot_axis x,
               struct plot_axis y, const char *label)
{
    *plot = (struct plot){.out = out,
                          .width = width,
                          .height = height,
                          .left = 92,
                          .right = width - 40,
                          .top = 34,
                          .bottom = height - 62,
                          .x = x,
                          .y = y};
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", width, height,
            label);
}

/* A step of 1, 2 or 5 times a power of ten, for about five ticks. */
static double step_of(const struct plot_axis *axis)
{
    const double rough = (axis->high - axis->low) / 5.0;
    const double power = pow(10.0, floor(log10(rough)));
    const double digit = rough / power;
    return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

/* The i-th tick; false after the last. */
static bool tick(const struct plot_axis *axis, int i, double *value)
{
    enum { TICKS_MAX = 40 };
    if (axis->log) {
        *value = pow(10.0, ceil(log10(axis->low) - 1e-9) + i);
        return i < TICKS_MAX && *value <= axis->high * (1.0 + 1e-9);
    }
    const double step = step_of(axis);
    if (!(step > 0.0) || !isfinite(step))
        return false;
    *value = (ceil(axis->low / step - 1e-9) + i) * step;
    return i < TICKS_MAX && *value <= axis->high + 1e-9 * step;
}

void plot_x_ticks(const struct plot *plot, const char *(*text)(double, char *))
{
    char buffer[24];
    double value;
    for (int i = 0; tick(&plot->x, i, &value); i++) {
        const double x = plot_x(plot, value);
        fprintf(plot->out,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                x, x, plot->top, plot->bottom, x, plot->bottom + 24, text(value, buffer));
    }
}

void plot_y_ticks(const struct plot *plot, const char *(*text)(double, char *))
{
    char buffer[24];
    double value;
    for (int i = 0; tick(&plot->y, i, &value); i++) {
        const double y = plot_y(plot, value);
        fprintf(plot->out,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                plot->left, plot->right, y, y, plot->left - 10, y + 6, text(value, buffer));
    }
}

void plot_names(const struct plot *plot, const char *x, const char *y)
{
    fprintf(plot->out,
            "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>"
            "<text class=\"name\" x=\"0\" y=\"16\">%s</text>\n",
            plot->right, plot->height - 8, x, y);
}

void plot_close(const struct plot *plot)
{
    fprintf(plot->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n</svg>\n", plot->left,
            plot->top, plot->bottom, plot->right);
}
