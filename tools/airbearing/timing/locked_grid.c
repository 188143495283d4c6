/*
 * The releases of a run that followed the board's clock: which slot of the grid each one is, and by
 * how much the grid had been moved until then.
 */
#include "tools/airbearing/timing/figures.h"

#include <math.h>
#include <stdlib.h>

/* A phase lock moves a release by at most its limit over the time of the two frames before it,
 * plus rounding; a release further away is not on the grid. */
static bool fits(const struct evidence *evidence, int64_t extra_ns, uint64_t last_slots,
                 uint64_t slots)
{
    const double h = (double)evidence->period_ns;
    const double most_ns = evidence->lock_ppm * 1e-6 * h * (double)(last_slots + slots) + 1.0;
    return fabs((double)extra_ns) <= most_ns;
}

bool figures_walk_grid(struct figures *figures)
{
    const struct evidence *evidence = figures->evidence;
    const struct sim_record_frame *frame = evidence->frame;
    const uint64_t h = evidence->period_ns;
    uint64_t last_slots = 1;
    int64_t corrected_ns = 0;
    figures->corrected_ns = calloc(evidence->frame_count, sizeof *figures->corrected_ns);
    if (!figures->corrected_ns)
        return false;
    for (size_t i = 1; i < evidence->frame_count; i++) {
        const int64_t step_ns = (int64_t)(frame[i].release_ns - frame[i - 1].release_ns);
        const uint64_t slots = step_ns > 0 ? ((uint64_t)step_ns + h / 2) / h : 0;
        const int64_t extra_ns = step_ns - (int64_t)(slots * h);
        figures->off_grid += slots < frame[i].frame - frame[i - 1].frame ||
                             !fits(evidence, extra_ns, last_slots, slots);
        figures->slots += slots;
        figures->corrected_ns[i] = corrected_ns += extra_ns;
        last_slots = slots;
    }
    return true;
}
