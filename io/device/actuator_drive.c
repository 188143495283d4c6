#include "io/device/actuator_drive.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

void io_actuator_drive_begin(const struct io_actuator_drive_spec *spec,
                             struct io_actuator_drive_state *state)
{
    RT_CHECK(spec->delay < IO_ACTUATOR_DRIVE_DELAY_MAX);
    memset(state, 0, sizeof *state);
}

static double convert(const struct io_actuator_drive_spec *spec, double control)
{
    if (spec->quantum > 0.0)
        control = spec->quantum * rint(control / spec->quantum);
    const double lower = spec->one_sided ? 0.0 : -1.0;
    control = control > 1.0 ? 1.0 : control < lower ? lower : control;
    return fabs(control) < spec->min_duty ? 0.0 : control;
}

void io_actuator_drive_update(const struct io_actuator_drive_spec *spec, double control,
                              struct io_actuator_drive_state *state)
{
    if (isfinite(control))
        state->good = convert(spec, control);
    else
        state->rejected++;

    /* The delay line starts with zeros, which are the output until the first control has passed
     * it. */
    state->line[state->frames % IO_ACTUATOR_DRIVE_DELAY_MAX] = state->good;
    state->out =
        spec->gain * state->line[(state->frames - spec->delay) % IO_ACTUATOR_DRIVE_DELAY_MAX];
    state->frames++;
}
