/*
 * Before frame 0 of a board that speaks only when spoken to.
 *
 * PX4's clock stands still until the first HIL_SENSOR, and its first reply comes dozens of messages
 * later.  Nobody can know how many, so the run does not begin with them: the vehicle stays where it
 * starts, and frame 0 is the first one that the board has a reply for.  What happens from there on
 * depends on the replies alone, not on how long the board took to wake up.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/run/run.h"

/* At first longer than a loaded machine keeps an awake board from answering, mostly; a board that
 * is still asleep then is woken at the pace of the clock. */
enum { PATIENT_MESSAGES = 50 };
static const uint64_t PATIENCE_NS = 40000000;

/* What the instruments say at the start, with nothing in the rig or its state changed.  They have
 * been on for longer than their delays, at rest. */
static void first_sample(struct rig *rig, int link, struct io_sample *sample)
{
    void *state = malloc(rig->cfg->state_size);
    RT_CHECK(state);
    memcpy(state, rig->cfg->state, rig->cfg->state_size);
    const struct rig before = *rig;
    rig->telemetry = NULL;
    rig->live = NULL;
    rig->links = NULL;
    for (int k = 0; k < IO_THREE_AXIS_SENSOR_DELAY_MAX; k++)
        rig_sense(rig);
    *sample = rig->sample[link];
    *rig = before;
    memcpy(rig->cfg->state, state, rig->cfg->state_size);
    free(state);
}

bool freewheel(struct run *run, int link)
{
    struct rig *rig = run->rig;
    const struct cfg_link *spec = &run->scenario->links[link];
    const uint32_t every = spec->every[CFG_SEND_SENSOR] ? spec->every[CFG_SEND_SENSOR] : 1;
    const uint64_t step_us = every * run->scenario->period_ns / 1000;
    struct io_sample sample;
    first_sample(rig, link, &sample);
    rig->epoch_us[link] += step_us;
    run->link[link].freewheel++;
    sample.sim_us = rig->epoch_us[link];
    const bool radio = spec->every[CFG_SEND_RC] && spec->sticks_from == 0.0;
    sample.due = IO_SEND_SENSOR | (radio ? IO_SEND_RC : 0);
    io_link_commit(run->links, link, &sample);
    const bool patient = run->link[link].freewheel <= PATIENT_MESSAGES;
    return io_link_await(run->links, link, sample.sim_us, patient ? PATIENCE_NS : step_us * 1000);
}
