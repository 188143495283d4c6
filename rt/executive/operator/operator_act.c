/*
 * What an act of the operator does to a simulation: reset, restore, fault, tune, stop of the arm.
 *
 * Tested by tests/rt/executive/operator/test_operator.c and test_estop.c.
 */
#include <string.h>

#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/executive/operator/acts.h"
#include "rt/executive/sim_private.h"

/* Release: a thread that sees a fault triggered sees it on, or over. */
void sim_publish_faults(struct sim *sim, uint64_t counted)
{
    uint32_t on = 0;
    for (int i = 0; i < sim->spec->fault_count; i++)
        on |= (uint32_t)io_fault_active(&sim->vehicle->fault[i], counted) << i;
    if (on == sim->scratch.faults_on)
        return;
    sim->scratch.faults_on = on;
    atomic_store_explicit(&sim->shown->on, on, memory_order_relaxed);
    atomic_fetch_or_explicit(&sim->shown->triggered, on, memory_order_release);
}

uint32_t sim_take_fault_flags(struct sim_fault_flags *shown, uint32_t *triggered)
{
    *triggered = atomic_exchange_explicit(&shown->triggered, 0, memory_order_acquire);
    return atomic_load_explicit(&shown->on, memory_order_relaxed);
}

/* On the executive's count; what lies before its first frame begins with that. */
static uint64_t to_executive_frame(const struct sim *sim, uint64_t frame)
{
    const uint64_t frame_offset = sim->schedule->frame_offset;
    if (frame == UINT64_MAX)
        return frame;
    return (int64_t)(frame - frame_offset) < 0 ? 0 : frame - frame_offset;
}

/* Faults of the wire act in the links, which count with the executive. */
static void move_link_fault_windows(struct sim *sim)
{
    for (int i = 0; sim->links && i < sim->spec->fault_count; i++) {
        const struct sim_fault *fault = &sim->spec->faults[i];
        const struct io_fault_state *state = &sim->vehicle->fault[i];
        if (fault->link >= 0 && fault->spec.kind != IO_FAULT_DELAY)
            io_link_fault_move(sim->links, fault->link, fault->link_fault_index,
                               to_executive_frame(sim, state->first_frame),
                               to_executive_frame(sim, state->last_frame));
    }
}

void sim_load_state(struct sim *sim, uint64_t frame, const void *state, uint64_t hash)
{
    memcpy(sim->vehicle->state, state, sim->vehicle->state_size);
    sim->scratch.hash = hash;
    sim->schedule->frame_offset = sim->vehicle->schedule->frame - frame;
    sim_vehicle_apply_state(sim->vehicle);
}

bool sim_is_operator_link(const struct sim_spec *spec, int link)
{
    return io_protocol_traits(spec->links[link].spec.protocol)->hands;
}

static void log_state(struct sim *sim, const struct sim_record_act *act,
                      const struct sim_snapshot *snapshot)
{
    unsigned char *record =
        io_telemetry_claim(sim->telemetry, sim->layout.state, act->frame * sim->spec->period_ns);
    if (!record)
        return;
    const struct sim_record_state head = {act->frame, act->ordinal, snapshot->hash};
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, snapshot->state, sim->vehicle->state_size);
    io_telemetry_push(sim->telemetry, sim->layout.state);
}

static void log_act(struct sim *sim, const struct sim_record_act *act,
                    const struct sim_snapshot *snapshot)
{
    if (!sim->telemetry)
        return;
    if (snapshot)
        log_state(sim, act, snapshot);
    void *record =
        io_telemetry_claim(sim->telemetry, sim->layout.act, act->frame * sim->spec->period_ns);
    if (!record)
        return;
    memcpy(record, act, SIM_RECORD_ACT_SIZE);
    io_telemetry_push(sim->telemetry, sim->layout.act);
}

bool sim_has_room_for_act(const struct sim *sim)
{
    return !sim->telemetry || (2 * io_telemetry_room(sim->telemetry, sim->layout.act) >
                                   io_telemetry_depth(sim->telemetry, sim->layout.act) &&
                               io_telemetry_room(sim->telemetry, sim->layout.state) > 0);
}

void sim_apply_act(struct sim *sim, struct sim_record_act *act, const struct sim_snapshot *snapshot)
{
    act->ordinal = sim->scratch.acts++;
    sim_act_apply(sim, act, snapshot);
    sim->scratch.plausibility.begun = false; /* whatever it was, it is no work of the motion's */
    move_link_fault_windows(sim);
    act->counted = sim->vehicle->schedule->frame;
    sim_publish_faults(sim, act->counted);
    log_act(sim, act, snapshot);
}

void sim_send_heartbeats(struct sim *sim, uint64_t releases)
{
    for (int i = 0; sim->links && i < sim->spec->link_count; i++) {
        const uint32_t every = sim->spec->links[i].every[IO_MESSAGE_HEARTBEAT];
        if (every == 0 || releases % every != 0)
            continue;
        struct io_sample sample = sim->scratch.sample[i];
        sample.due = IO_SEND_HEARTBEAT;
        sample.trace = (struct io_trace){0};
        io_link_commit(sim->links, i, &sample);
    }
    sim->scratch.idle_ns = rt_now_ns();
    if (!sim->links)
        return;
    io_links_poll(sim->links);
    io_links_restart_loss_timers(sim->links, sim->scratch.idle_ns);
}
