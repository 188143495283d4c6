/*
 * Before the first frame: the jobs run on the initial state, so that their times are known and code
 * and data are in the caches, and everything is put back as it was.
 *
 * Tested by tests/rt/executive/test_sim.c.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "rt/clock.h"
#include "rt/executive/sim_private.h"

void sim_sample_all_sensors(struct sim *sim)
{
    sim_job_solve(sim, 0);
    for (int i = 0; i < sim->spec->sensor_count; i++)
        sim_job_sensor(&sim->sensor[i], 0);
    for (int i = 0; i < sim->spec->link_count; i++) {
        sim_job_truth(&sim->link[i], 0);
        if (sim->spec->links[i].every[IO_MESSAGE_RC])
            sim_job_message_rc(&sim->message[i][IO_MESSAGE_RC], 0);
    }
}

/* As many frames as make a median, but nobody waits long for a vehicle of thousands of bodies. */
static void warm_up_frames(struct rt_schedule *schedule)
{
    enum { FRAMES_MIN = 20, FRAMES_MAX = 2000 };
    static const uint64_t LONG_NS = 500000000;
    const uint64_t wanted = schedule->pattern < FRAMES_MAX / 2 ? FRAMES_MAX : schedule->pattern;
    const uint64_t begin = rt_now_ns();

    for (uint64_t frame = 0; frame < wanted && frame < FRAMES_MAX; frame++) {
        if (frame >= FRAMES_MIN && rt_now_ns() - begin > LONG_NS)
            break;
        rt_schedule_run(schedule, frame);
    }
}

void sim_trial_begin(struct sim *sim, struct sim_trial *trial)
{
    *trial = (struct sim_trial){.scratch = sim->scratch,
                                .state = malloc(sim->vehicle->state_size),
                                .links = sim->links,
                                .telemetry = sim->telemetry,
                                .live = sim->live,
                                .inject = sim->inject.kind};
    RT_CHECK(trial->state);
    memcpy(trial->state, sim->vehicle->state, sim->vehicle->state_size);
    sim->links = NULL;
    sim->telemetry = NULL;
    sim->live = NULL;
    sim->inject.kind = SIM_INJECT_NONE;
    sim->warming_up = true;
}

void sim_trial_end(struct sim *sim, struct sim_trial *trial)
{
    sim->scratch = trial->scratch;
    sim->links = trial->links;
    sim->telemetry = trial->telemetry;
    sim->live = trial->live;
    sim->inject.kind = trial->inject;
    sim->warming_up = false;
    memcpy(sim->vehicle->state, trial->state, sim->vehicle->state_size);
    sim_vehicle_apply_state(sim->vehicle);
    free(trial->state);
}

void sim_warm_up(struct sim *sim)
{
    struct rt_schedule *schedule = sim->schedule;
    struct sim_trial trial;
    sim_trial_begin(sim, &trial);
    if (sim->vehicle->arm) { /* one that stands behind its brakes has nothing to do */
        sim->vehicle->arm->panel.mode = IO_ARM_PANEL_TOOL;
        sim->vehicle->arm->panel.brakes = 0;
    }
    warm_up_frames(schedule);
    for (int i = 0; i < schedule->job_count; i++) {
        schedule->job[i].predicted_ns = rt_histogram_quantile(&schedule->time[i], 0.5);
        schedule->time[i] = (struct rt_histogram){0};
    }
    sim_trial_end(sim, &trial);
}
