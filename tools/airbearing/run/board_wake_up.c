/*
 * Wake-up of a board that sends only in reply to a sensor message.
 *
 * PX4's clock stands still until the first HIL_SENSOR, and its first reply comes dozens of messages
 * later.  The number of these messages is not known in advance, so the run does not start with
 * them: the vehicle stays at its start, and frame 0 is the first one that the board has a reply
 * for.  The run then depends on the replies alone, not on how long the board took to wake up.
 */
#include "tools/airbearing/run/board_wake_up.h"

/* The first waits are longer than a loaded machine usually delays the answer of an awake board; a
 * board that still does not answer is sent messages at the pace of the clock. */
enum { PATIENT_MESSAGES = 50 };
static const uint64_t PATIENCE_NS = 40000000;

/* The sensor readings at the start, without a change of the simulation or its state.  The sensors
 * have been on, at rest, for longer than their delays. */
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
    const uint32_t every = spec->every[IO_MESSAGE_SENSOR] ? spec->every[IO_MESSAGE_SENSOR] : 1;
    const uint64_t step_us = every * run->scenario->spec.period_ns / 1000;
    struct io_sample sample;
    first_sample(sim, link, &sample);
    sim->epoch_us[link] += step_us;
    run->link[link].wake_up_messages++;
    sample.sim_us = sim->epoch_us[link];
    const bool radio = spec->every[IO_MESSAGE_RC] && spec->sticks_from == 0.0;
    sample.due = IO_SEND_SENSOR | (radio ? IO_SEND_RC : 0);
    io_link_commit(run->links, link, &sample);
    const bool patient = run->link[link].wake_up_messages <= PATIENT_MESSAGES;
    return io_link_await(run->links, link, sample.sim_us, patient ? PATIENCE_NS : step_us * 1000);
}
