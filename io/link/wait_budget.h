/*
 * A time limit for a wait that does not count time in which the machine was stalled.
 *
 * A far end on the same machine is stalled with it, so the wall clock says nothing about it.  The
 * wait is cut into slices, and each counts at most for its nominal length:
 *
 *      checked at   0    20    40                      2040   2060
 *      counts            20    20    stalled              20     20
 */
#pragma once

#include <stdint.h>

struct io_wait_budget {
    uint64_t left_ns;
    uint64_t slice_ns;
    uint64_t checked_ns; /* the time of the last check */
};

/* Context: any; the other functions in the same thread. */
void io_wait_budget_begin(struct io_wait_budget *budget, uint64_t limit_ns, uint64_t now_ns);
/* Check the clock; returns the time since the last check, as far as it counts. */
uint64_t io_wait_budget_spend(struct io_wait_budget *budget, uint64_t now_ns);
/* The time of the next check at the latest: the end of the slice, or of the budget. */
uint64_t io_wait_budget_wake_ns(const struct io_wait_budget *budget);
