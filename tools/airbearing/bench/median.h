/*
 * Several measurements of one quantity: the median, and the least.
 */
#pragma once

struct median {
    double median, lowest;
};

/* Sorts the values.  Context: setup. */
struct median median_of(double *values, int count);

/* CPU time of the calling thread, ns.  Context: any. */
double median_cpu_ns(void);
