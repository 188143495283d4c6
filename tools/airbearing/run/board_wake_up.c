/*
 * Before frame 0 of a board that speaks only when spoken to.
 *
 * PX4's clock stands still until the first HIL_SENSOR, and its first reply comes dozens of messages
 * later.  Nobody can know how many, so the run does not begin with them: the vehicle stays where it
 * starts, and frame 0 is the first one that the board has a reply for.  What happens from there on
 * depends on the replies alone, not on how long the board took to wake up.
 */

#include "tools/airbearing/run/run.h"

/* At first longer than a loaded machine keeps an awake board from answering, mostly; a board that
 * is still asleep then is woken at the pace of the clock. */
enum { PATIENT_MESSAGES = 50 };
static const uint64_t PATIENCE_NS = 40000000;

/* What the sensors say at the start, with nothing of the simulation changed.  They have been on for
 * longer than their delays, at rest. */
static void first_sample(struct sim *sim, int link, struct io_sample *sample)
{
    struct sim_trial trial;
    sim_trial_begin(sim, &trial);
    for (int k = 0; k < IO_THREE_AXIS_SENSOR_DELAY_MAX; k++)
        sim_sample_all_sensors(sim);
    *sample = sim->scratch.sample[link];
    sim_trial_end(sim, &trial);
}

bool board_wake_up(struct run *run, int link)
{
    struct sim *sim = run->sim;
    const struct sim_link *spec = &run->scenario->spec.links[link];
    const uint32_t every = spec->every[SIM_MESSAGE_SENSOR] ? spec->every[SIM_MESSAGE_SENSOR] : 1;
    const uint64_t step_us = every * run->scenario->spec.period_ns / 1000;
    struct io_sample sample;
    first_sample(sim, link, &sample);
    sim->epoch_us[link] += step_us;
    run->link[link].board_wake_up++;
    sample.sim_us = sim->epoch_us[link];
    const bool radio = spec->every[SIM_MESSAGE_RC] && spec->sticks_from == 0.0;
    sample.due = IO_SEND_SENSOR | (radio ? IO_SEND_RC : 0);
    io_link_commit(run->links, link, &sample);
    const bool patient = run->link[link].board_wake_up <= PATIENT_MESSAGES;
    return io_link_await(run->links, link, sample.sim_us, patient ? PATIENCE_NS : step_us * 1000);
}
