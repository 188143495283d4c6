/*
 * How long somebody may still be waited for, on a machine that may stand still.
 *
 * A far end on the same machine stands still with it, so a wall clock that ran on meanwhile says
 * nothing about it.  The wait is cut into slices, and each counts for what it was meant to take at
 * most:
 *
 *      looked at    0    20    40                      2040   2060
 *      counts            20    20    stood still          20     20
 */
#pragma once

#include <stdint.h>

struct io_wait_budget {
    uint64_t left_ns;
    uint64_t slice_ns;
    uint64_t checked_ns; /* when it was last looked at */
};

/* Context: any, and of the others the same thread. */
void io_wait_budget_begin(struct io_wait_budget *budget, uint64_t limit_ns, uint64_t now_ns);
/* What passed since the last look, as far as it counts. */
uint64_t io_wait_budget_spend(struct io_wait_budget *budget, uint64_t now_ns);
/* When to look again at the latest: the end of the slice, or of all that is left. */
uint64_t io_wait_budget_wake_ns(const struct io_wait_budget *budget);
