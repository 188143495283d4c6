#include "io/device/rc_script.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

enum { THROTTLE = 2 };

/* The gains of a careful pilot: a tenth of the stick for a metre of height, and for a metre per
 * second of climb. */
static double hold_height(const struct io_rc_script_step *step,
                          const struct io_rc_script_view *view, double throttle)
{
    static const double us_per_m = 100.0, us_per_m_s = 120.0, most_us = 200.0;
    const double wanted = us_per_m * (step->height - view->height) - us_per_m_s * view->climb;
    const double bounded = fmin(fmax(wanted, -most_us), most_us);
    return fmin(fmax(throttle + bounded, 1000.0), 2000.0);
}

void io_rc_script_channels(const struct io_rc_script *script, double time,
                           const struct io_rc_script_view *view,
                           double channel[IO_RC_SCRIPT_CHANNEL_COUNT])
{
    RT_CHECK(script->step_count >= 1 && script->step_count <= IO_RC_SCRIPT_STEP_MAX);
    const struct io_rc_script_step *now = script->step, *end = now + script->step_count;
    while (now + 1 < end && now[1].time <= time)
        now++;
    memcpy(channel, now->channel, sizeof now->channel);
    if (now->holds_height)
        channel[THROTTLE] = hold_height(now, view, channel[THROTTLE]);

    const struct io_rc_script_step *next = now + 1;
    if (next == end || !next->ramp || !(time > now->time))
        return;
    const double share = (time - now->time) / (next->time - now->time);
    for (int i = 0; i < IO_RC_SCRIPT_CHANNEL_COUNT; i++)
        channel[i] += share * (next->channel[i] - now->channel[i]);
}
