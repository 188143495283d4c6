#include "tools/airbearing/source.h"

#include <string.h>

#include "rt/clock.h"

/* A board that begins anew finds the vehicle at its start; what it did before frame 0 does not
 * count. */
static void apply_reset(struct live_source *source, struct rig *rig, int link, uint64_t frame,
                        const struct io_command *command)
{
    const bool anew = source->first[link] != 0 && command->resets != source->resets[link];
    source->resets[link] = command->resets;
    if (!anew)
        return;
    struct record_input input = {.frame = frame, .kind = RECORD_RESET, .link = (uint8_t)link};
    rig_apply(rig, &input);
}

/* How a hand stood before the first frame is no move that the motion could be late for. */
static bool waited_for_run(const struct live_source *source, const struct rig *rig, int link,
                           const struct io_command *command)
{
    return io_protocol_traits(rig->scenario->links[link].spec.protocol)->hands &&
           command->ready_ns < source->begin_ns;
}

static void apply_command(struct live_source *source, struct rig *rig, int link, uint64_t frame,
                          uint64_t now_ns, const struct io_command *command)
{
    apply_reset(source, rig, link, frame, command);
    if (source->first[link] == 0)
        source->first[link] = command->sequence;
    struct record_input input = {
        .frame = frame,
        .rx_ns = command->rx_ns,
        .ready_ns = command->ready_ns,
        .board_us = command->board_us,
        .flags = command->flags,
        .sequence = command->sequence - source->first[link] + 1, /* from 1 */
        .mode = command->mode,
        .kind = RECORD_COMMAND,
        .link = (uint8_t)link,
    };
    memcpy(input.controls, command->controls, sizeof input.controls);
    if (!waited_for_run(source, rig, link, command))
        rig->trace[link] = (struct io_trace){
            .rx_ns = command->rx_ns, .ready_ns = command->ready_ns, .latch_ns = now_ns};
    rig_apply(rig, &input);
}

static void apply_loss(struct live_source *source, struct rig *rig, int link, uint64_t frame)
{
    struct record_input input = {.frame = frame, .kind = RECORD_LOSS, .link = (uint8_t)link};
    rig_apply(rig, &input);
    if (rig->scenario->links[link].stop_on_loss) {
        atomic_store_explicit(&source->link_lost, true, memory_order_relaxed);
        atomic_store_explicit(source->stop, true, memory_order_relaxed);
    }
}

/* A link is lost when its commands stop; one that must not be lost, also when they never begin. */
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
    return link->stop_on_loss && limit_ns && now_ns - since_ns > limit_ns;
}

/* What the frame learns of the board's clock; command: one that is new, or NULL. */
static void watch_clock(const struct live_source *source, const struct cfg_lock *lock,
                        const struct io_command *command)
{
    struct rt_phase_sight seen = {0};
    struct io_clock_sight told;
    bool fresh = command != NULL;
    if (lock->source == CFG_LOCK_ARRIVAL) {
        seen.local_ns = fresh ? command->rx_ns : 0;
    } else {
        fresh = io_link_clock(source->links, lock->link, &told);
        seen = (struct rt_phase_sight){told.local_ns, told.board_ns, told.delay_ns};
    }
    if (fresh)
        rt_phase_see(source->phase, &seen);
}

static void gather(void *self, struct rig *rig, uint64_t frame)
{
    struct live_source *source = self;
    if (source->pulser)
        io_pulser_emit(source->pulser, frame, frame * rig->scenario->period_ns);
    if (!source->links)
        return;
    io_links_poll(source->links);
    const uint64_t now_ns = rt_now_ns();
    if (source->begin_ns == 0)
        source->begin_ns = now_ns;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        struct io_command newest;
        const bool fresh = io_link_latch(source->links, i, &newest);
        if (source->phase && i == rig->scenario->lock.link)
            watch_clock(source, &rig->scenario->lock, fresh ? &newest : NULL);
        const struct io_command *command =
            late_pass(&rig->late_in[i], frame + rig->schedule->shift, fresh ? &newest : NULL);
        if (command)
            apply_command(source, rig, i, frame, now_ns, command);
        else if (!rig->cfg->link[i].lost && is_lost(source, rig, i, now_ns))
            apply_loss(source, rig, i, frame);
    }
}

struct rig_source live_source_seam(struct live_source *source)
{
    return (struct rig_source){.self = source, .gather = gather};
}
