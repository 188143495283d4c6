#include "io/link/wait_budget.h"

enum { SLICES = 16, SLICE_NS_MIN = 1000000, SLICE_NS_MAX = 20000000 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A short limit is cut finely, so that one hold-up does not use it up. */
void io_patience_begin(struct io_patience *patience, uint64_t limit_ns, uint64_t now_ns)
{
    const uint64_t slice_ns = least(limit_ns / SLICES, SLICE_NS_MAX);
    *patience = (struct io_patience){.left_ns = limit_ns,
                                     .slice_ns = slice_ns > SLICE_NS_MIN ? slice_ns : SLICE_NS_MIN,
                                     .looked_ns = now_ns};
}

uint64_t io_patience_spend(struct io_patience *patience, uint64_t now_ns)
{
    const uint64_t passed_ns = now_ns > patience->looked_ns ? now_ns - patience->looked_ns : 0;
    const uint64_t spent_ns = least(least(passed_ns, patience->slice_ns), patience->left_ns);
    patience->looked_ns = now_ns;
    patience->left_ns -= spent_ns;
    return spent_ns;
}

uint64_t io_patience_wake_ns(const struct io_patience *patience)
{
    return patience->looked_ns + least(patience->slice_ns, patience->left_ns);
}
