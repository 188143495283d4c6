/*
 * What the frame thread does, observed where the frame loop, the simulation and the operator call
 * each other.
 */
#include <string.h>

#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"
#include "rt/frame.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/watch.h"
#include "tests/seeded/wraps.h"

enum { ACT_MAX = 8192 };

static struct rt_frame *frame;
static bool is_over;
static struct act acts[ACT_MAX];
static int act_count;
static uint64_t frames;

static const char *const act_names[SIM_ACT_COUNT] = {
    "pause", "resume", "step", "reset", "checkpoint", "restore", "fault", "tune", "safe"};

int watch_acts(struct act **list)
{
    *list = acts;
    return act_count;
}

uint64_t watch_frames(void)
{
    return frames;
}

bool watch_is_over(void)
{
    return is_over;
}

struct rt_frame *watch_frame(void)
{
    return frame;
}

void __wrap_rt_frame_run(struct rt_frame *self)
{
    frame = self;
    seeded_trace("the frames begin");
    workload_begin();
    __real_rt_frame_run(self);
    is_over = true;
    seeded_trace("the frames are over");
}

void __wrap_rt_schedule_run(struct rt_schedule *schedule, uint64_t k)
{
    if (frame && seeded_is("frame")) {
        frames++;
        seeded_shared->frames++;
        invariants_boundary(true);
    }
    __real_rt_schedule_run(schedule, k);
}

void __wrap_sim_send_heartbeats(struct sim *sim, uint64_t releases)
{
    invariants_boundary(false);
    __real_sim_send_heartbeats(sim, releases);
}

void __wrap_sim_apply_act(struct sim *sim, struct sim_record_act *act,
                          const struct sim_snapshot *snapshot)
{
    if (!seeded_self()) { /* a replay */
        __real_sim_apply_act(sim, act, snapshot);
        return;
    }
    if (act_count == ACT_MAX)
        seeded_fail("more than %d acts", ACT_MAX);
    const uint64_t hash = snapshot ? snapshot->hash : sim->scratch.hash;
    acts[act_count++] = (struct act){.act = act->act, .frame = act->frame, .hash = hash};
    seeded_trace("%s before frame %llu, state %016llx", act_names[act->act],
                 (unsigned long long)act->frame, (unsigned long long)hash);
    seeded_shared->checkpoints += act->act == SIM_ACT_CHECKPOINT;
    seeded_shared->restores += act->act == SIM_ACT_RESTORE;
    invariants_act(act->act == SIM_ACT_STOP_ARM);
    __real_sim_apply_act(sim, act, snapshot);
}
