#include "io/device/sticks.h"

#include <string.h>

#include "rt/check.h"

void io_sticks_at(const struct io_sticks_script *script, double time,
                  double channel[IO_STICKS_CHANNEL_COUNT])
{
    RT_CHECK(script->step_count >= 1 && script->step_count <= IO_STICKS_STEP_MAX);
    const struct io_sticks_step *now = script->step, *end = now + script->step_count;
    while (now + 1 < end && now[1].time <= time)
        now++;
    memcpy(channel, now->channel, sizeof now->channel);

    const struct io_sticks_step *next = now + 1;
    if (next == end || !next->ramp || !(time > now->time))
        return;
    const double share = (time - now->time) / (next->time - now->time);
    for (int i = 0; i < IO_STICKS_CHANNEL_COUNT; i++)
        channel[i] += share * (next->channel[i] - now->channel[i]);
}
