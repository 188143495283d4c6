/*
 * Several measurements of one thing: what is typical, and what it costs when nothing disturbs.
 */
#pragma once

struct spread {
    double median, lowest;
};

/* Sorts the values.  Context: setup. */
struct spread spread_of(double *values, int count);

/* CPU time of the calling thread, ns.  Context: any. */
double spread_cpu_ns(void);
