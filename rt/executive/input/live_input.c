#include "rt/executive/input/live_input.h"

#include <string.h>

#include "rt/clock.h"

/* ---- into the wire --------------------------------------------------------------------- */

/* A board that begins anew finds the vehicle at its start; what it did before the first command
 * that a frame heard does not count. */
static bool is_anew(struct live_source *source, int link, const struct io_command *command)
{
    const bool heard = source->first[link] != 0;
    const bool anew = heard && command->resets != source->resets[link];
    if (!heard)
        source->first[link] = command->sequence;
    source->resets[link] = command->resets;
    return anew;
}

static void put_command(struct live_source *source, struct rig *rig, int link, uint64_t frame,
                        const struct io_command *command)
{
    struct rig_letter letter = {.anew = is_anew(source, link, command)};
    letter.input = (struct record_input){
        .rx_ns = command->rx_ns,
        .ready_ns = command->ready_ns,
        .board_us = command->board_us,
        .flags = command->flags,
        .sequence = command->sequence - source->first[link] + 1, /* from 1 */
        .mode = command->mode,
        .kind = RECORD_COMMAND,
        .link = (uint8_t)link,
    };
    memcpy(letter.input.controls, command->controls, sizeof letter.input.controls);
    late_put(&rig->wire[link], frame, &letter);
}

/* The vehicle notices that nobody commands it any more when all that was under way has come, and
 * then as much later as the near end of the wire did: so the loss takes the same way. */
static void put_loss(struct rig *rig, int link, uint64_t frame)
{
    const struct rig_letter letter = {.input = {.kind = RECORD_LOSS, .link = (uint8_t)link}};
    late_put(&rig->wire[link], frame, &letter);
}

/* Is the vehicle without commands, or will it be when all that is under way has come? */
static bool knows_of_loss(const struct rig *rig, int link)
{
    const struct late *wire = &rig->wire[link];
    if (late_count(wire) == 0)
        return rig->cfg->link[link].lost;
    const struct rig_letter *newest = late_look(wire, late_count(wire) - 1, NULL);
    return newest->input.kind == RECORD_LOSS;
}

/* A link is lost when its commands stop; one that must not be lost, also when they never begin.  To
 * the cockpit a person comes later. */
static bool is_lost(const struct live_source *source, const struct rig *rig, int index,
                    uint64_t now_ns)
{
    const struct cfg_link *link = &rig->scenario->links[index];
    /* Where replies pace the frames, a machine that stood still has lost nothing. */
    const bool replies = !io_protocol_traits(link->spec.protocol)->hands;
    if (rig->scenario->pace != RT_PACE_REAL && replies && !rig->unanswered[index])
        return false;
    const uint64_t limit_ns = link->spec.lost_after_ns;
    const uint64_t since_ns = rig->idle_ns > source->begin_ns ? rig->idle_ns : source->begin_ns;
    if (source->first[index] != 0)
        return !io_link_alive(source->links, index, now_ns);
    if (link->spec.bus.kind == IO_BUS_COCKPIT)
        return false;
    return link->stop_on_loss && limit_ns && now_ns - since_ns > limit_ns;
}

/* What the frame learns of the board's clock; command: one that is new, or NULL. */
static void watch_clock(const struct live_source *source, const struct cfg_lock *lock,
                        const struct io_command *command)
{
    struct rt_phase_sample seen = {0};
    struct io_clock_sample told;
    bool fresh = command != NULL;
    if (lock->source == CFG_LOCK_ARRIVAL) {
        seen.local_ns = fresh ? command->rx_ns : 0;
    } else {
        fresh = io_link_clock(source->links, lock->link, &told);
        seen = (struct rt_phase_sample){told.local_ns, told.board_ns, told.delay_ns};
    }
    if (fresh)
        rt_phase_lock_observe(source->phase_lock, &seen);
}

/* What the near end of the wire sees in this frame. */
static void hear(struct live_source *source, struct rig *rig, int link, uint64_t frame,
                 uint64_t now_ns)
{
    struct io_command newest;
    const bool fresh = io_link_latch(source->links, link, &newest);
    if (source->phase_lock && link == rig->scenario->lock.link)
        watch_clock(source, &rig->scenario->lock, fresh ? &newest : NULL);
    const struct io_command *command =
        late_pass(&rig->late_in[link], frame + rig->schedule->frame_offset, fresh ? &newest : NULL);
    if (command)
        put_command(source, rig, link, frame, command);
    else if (!knows_of_loss(rig, link) && is_lost(source, rig, link, now_ns))
        put_loss(rig, link, frame);
}

/* ---- out of the wire ------------------------------------------------------------------- */

/* How a hand stood before the first frame, or in a pause, is no move that the motion could be late
 * for. */
static bool waited_for_run(const struct live_source *source, const struct rig *rig, int link,
                           uint64_t ready_ns)
{
    return io_protocol_traits(rig->scenario->links[link].spec.protocol)->hands &&
           (ready_ns < source->begin_ns || ready_ns < rig->idle_ns);
}

/* An arm's servos look at their hands less often than frames come. */
static bool is_looked_at(const struct rig *rig, int link, uint64_t frame)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    const bool moves_arm =
        arm->joint_count > 0 &&
        (link == arm->translation.link || link == arm->rotation.link || link == arm->button_link);
    return !moves_arm || (frame + rig->schedule->frame_offset) % arm->every == 0;
}

/* The way of a command to the motion: it is over with the step of the frame that looked at it.  Of
 * several that come between two looks the first has waited longest, and counts. */
static void trace(struct live_source *source, struct rig *rig, int link, uint64_t frame,
                  uint64_t now_ns)
{
    const struct io_trace unseen = source->unseen[link];
    if (unseen.ready_ns == 0 || !is_looked_at(rig, link, frame))
        return;
    if (!waited_for_run(source, rig, link, unseen.ready_ns))
        rig->trace[link] = (struct io_trace){
            .rx_ns = unseen.rx_ns, .ready_ns = unseen.ready_ns, .latch_ns = now_ns};
    source->unseen[link] = (struct io_trace){0};
}

/* A link that was lost and is heard again is taken up: both are events. */
static void note_outage(struct source_outages *outages, const struct record_input *input,
                        bool was_lost, uint64_t frame)
{
    if (input->kind == RECORD_LOSS) {
        if (outages->count < SOURCE_OUTAGE_MAX)
            outages->kept[outages->count] = (struct source_outage){frame, UINT64_MAX};
        outages->count++;
    } else if (input->kind == RECORD_COMMAND && was_lost) {
        if (outages->count > 0 && outages->count <= SOURCE_OUTAGE_MAX)
            outages->kept[outages->count - 1].last_frame = frame;
        outages->returns++;
    }
}

static void deliver(struct live_source *source, struct rig *rig, uint64_t frame,
                    const struct rig_letter *letter)
{
    const struct record_input *input = &letter->input;
    struct io_trace *unseen = &source->unseen[input->link];
    if (input->kind == RECORD_COMMAND && unseen->ready_ns == 0)
        *unseen = (struct io_trace){.rx_ns = input->rx_ns, .ready_ns = input->ready_ns};
    note_outage(&source->outages[input->link], input, rig->cfg->link[input->link].lost, frame);
    rig_apply_letter(rig, letter, frame);
    if (input->kind == RECORD_LOSS && rig->scenario->links[input->link].stop_on_loss) {
        atomic_store_explicit(&source->link_lost, true, memory_order_relaxed);
        atomic_store_explicit(source->stop, true, memory_order_relaxed);
    }
}

static void gather(void *self, struct rig *rig, uint64_t frame)
{
    struct live_source *source = self;
    if (source->pulser)
        io_sync_pulse_emit(source->pulser, frame, frame * rig->scenario->period_ns);
    if (!source->links)
        return;
    io_links_poll(source->links);
    const uint64_t now_ns = rt_now_ns();
    if (source->begin_ns == 0)
        source->begin_ns = now_ns;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        hear(source, rig, i, frame, now_ns);
        for (const struct rig_letter *letter; (letter = late_take(&rig->wire[i], frame)) != NULL;)
            deliver(source, rig, frame, letter);
        trace(source, rig, i, frame, now_ns);
    }
}

struct rig_source live_source_seam(struct live_source *source)
{
    return (struct rig_source){.self = source, .gather = gather};
}
