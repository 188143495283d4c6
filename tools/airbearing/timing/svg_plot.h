/*
 * Plots in SVG: axes, and the drawing between them.  Colours come from the page's style, by
 * class, so that one drawing serves light and dark.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct plot_axis {
    double low, high;
    bool log;
};

struct plot {
    FILE *out;
    double width, height;            /* of the picture */
    double left, right, top, bottom; /* of the frame, in it */
    struct plot_axis x, y;
};

/* Open the drawing surface with its frame; label is for screen readers. */
void plot_open(struct plot *plot, FILE *out, double width, double height, struct plot_axis x,
               struct plot_axis y, const char *label);
double plot_x(const struct plot *plot, double x);
double plot_y(const struct plot *plot, double y);
/* Grid lines with their values: powers of ten on a log axis; text writes a value. */
void plot_x_ticks(const struct plot *plot, const char *(*text)(double, char *));
void plot_y_ticks(const struct plot *plot, const char *(*text)(double, char *));
/* Text below the x axis, and above the y axis. */
void plot_names(const struct plot *plot, const char *x, const char *y);
void plot_close(const struct plot *plot);
