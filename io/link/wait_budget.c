#include "io/link/wait_budget.h"

enum { SLICES = 16, SLICE_NS_MIN = 1000000, SLICE_NS_MAX = 20000000 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A short limit has short slices, so that one stall does not use it up. */
void io_wait_budget_begin(struct io_wait_budget *budget, uint64_t limit_ns, uint64_t now_ns)
{
    const uint64_t slice_ns = least(limit_ns / SLICES, SLICE_NS_MAX);
    *budget = (struct io_wait_budget){.left_ns = limit_ns,
                                      .slice_ns = slice_ns > SLICE_NS_MIN ? slice_ns : SLICE_NS_MIN,
                                      .checked_ns = now_ns};
}

uint64_t io_wait_budget_spend(struct io_wait_budget *budget, uint64_t now_ns)
{
    const uint64_t passed_ns = now_ns > budget->checked_ns ? now_ns - budget->checked_ns : 0;
    const uint64_t spent_ns = least(least(passed_ns, budget->slice_ns), budget->left_ns);
    budget->checked_ns = now_ns;
    budget->left_ns -= spent_ns;
    return spent_ns;
}

uint64_t io_wait_budget_wake_ns(const struct io_wait_budget *budget)
{
    return budget->checked_ns + least(budget->slice_ns, budget->left_ns);
}
