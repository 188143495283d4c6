#include "rt/executive/output/log_decimation.h"

#include <math.h>
#include <string.h>

/* Between two looks at /frame more than `before` may have come in. */
enum { HOLD_SLACK = 16 };

static bool begins_fault(const struct sim_spec *spec, uint64_t frame)
{
    for (int i = 0; i < spec->fault_count; i++)
        if (spec->faults[i].spec.first_frame == frame)
            return true;
    return false;
}

static bool is_trigger(void *self, int channel, const void *payload)
{
    const struct sim_log_decimation *decimation = self;
    struct sim_record_frame frame;
    if (channel != decimation->frame_channel)
        return false;
    memcpy(&frame, payload, SIM_RECORD_FRAME_SIZE);
    const struct sim_log_spec *log = &decimation->spec->log;
    return (log->on_overrun && (frame.cause != 0 || frame.missed > 0)) ||
           (log->on_fault && begins_fault(decimation->spec, frame.frame));
}

void sim_log_decimation_apply(struct sim_log_decimation *decimation, const struct sim_spec *spec,
                              const struct sim_record_layout *layout,
                              struct io_channel_spec *channels)
{
    const struct sim_log_spec *log = &spec->log;
    *decimation = (struct sim_log_decimation){.spec = spec, .frame_channel = layout->frame};
    for (int i = 0; i < log->channel_count; i++) {
        const struct sim_log_channel *thinned = &log->channel[i];
        const uint32_t own =
            thinned->sensor >= 0 ? spec->sensors[thinned->sensor].every : spec->log_every;
        const int channel = thinned->sensor >= 0  ? layout->sensor + thinned->sensor
                            : thinned->drive >= 0 ? layout->drive + thinned->drive
                                                  : layout->plant;
        const double rate_hz = spec->rate_hz / own;
        channels[channel].every = thinned->every;
        channels[channel].hold =
            HOLD_SLACK + (uint32_t)ceil((double)log->before_ns * 1e-9 * rate_hz);
    }
    decimation->trigger = (struct io_log_trigger){
        .seen = log->on_overrun || log->on_fault ? is_trigger : NULL,
        .self = decimation,
        .before_ns = log->before_ns,
        .after_ns = log->after_ns,
    };
}
