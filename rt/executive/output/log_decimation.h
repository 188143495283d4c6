/*
 * A scenario's log section as the telemetry sees it: which channels are thinned, and what makes
 * them whole for a while.
 */
#pragma once

#include "rt/executive/output/records.h"
#include "rt/executive/spec.h"

struct sim_log_decimation {
    const struct sim_spec *spec;
    int frame_channel;
    struct io_log_trigger trigger;
};

/* Fill every and hold of the specs, and the trigger, which looks at the records of /frame. Context:
 * setup; thinning must stay where it is. */
void sim_log_decimation_apply(struct sim_log_decimation *decimation, const struct sim_spec *spec,
                              const struct sim_record_layout *layout,
                              struct io_channel_spec *channels);
