/*
 * Several measurements of one thing: what is typical, and what it costs when nothing disturbs.
 */
#pragma once

struct median {
    double median, lowest;
};

/* Sorts the values.  Context: setup. */
struct median median_of(double *values, int count);

/* CPU time of the calling thread, ns.  Context: any. */
double median_cpu_ns(void);
