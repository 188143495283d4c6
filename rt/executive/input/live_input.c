#include "rt/executive/input/live_input.h"

#include <string.h>

#include "rt/clock.h"

/* ---- into the delay line --------------------------------------------------------------- */

/* A board that begins anew finds the vehicle at its start; what it did before the first command
 * that a frame heard does not count. */
static bool board_restarted(struct sim_live_input *source, int link,
                            const struct io_command *command)
{
    const bool heard = source->first[link] != 0;
    const bool anew =
        source->restart_owed[link] || (heard && command->resets != source->resets[link]);
    if (!heard)
        source->first[link] = command->sequence;
    source->resets[link] = command->resets;
    source->restart_owed[link] = false;
    return anew;
}

/* A command of the link as the vehicle gets it. */
static void number_command(struct sim_live_input *source, int link, struct io_command *command)
{
    command->resets = board_restarted(source, link, command);
    command->kind = IO_COMMAND_CONTROLS;
    command->link = (uint8_t)link;
    command->sequence = command->sequence - source->first[link] + 1; /* from 1 */
}

static uint64_t count_restarts(const struct sim_delay_line *line)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < sim_delay_line_count(line); i++)
        count += ((const struct io_command *)sim_delay_line_peek(line, i, NULL))->resets;
    return count;
}

/* A restart of the board that is lost with the end of a fault comes with its next command. */
static void end_fault(struct sim_live_input *source, struct sim *sim, int link, uint64_t frame,
                      bool has_newer)
{
    struct sim_delay_line *line = &sim->scratch.delay_in[link];
    const uint64_t before = count_restarts(line);
    sim_delay_line_end_fault(line, frame, frame + sim->schedule->frame_offset, has_newer);
    if (count_restarts(line) < before)
        source->restart_owed[link] = true;
}

/* Is the vehicle without commands, or will it be when all that is under way has come? */
static bool loss_already_sent(const struct sim *sim, int link)
{
    const struct sim_delay_line *line = &sim->scratch.delay_in[link];
    if (sim_delay_line_count(line) == 0)
        return sim->vehicle->link[link].lost;
    const struct io_command *newest =
        sim_delay_line_peek(line, sim_delay_line_count(line) - 1, NULL);
    return newest->kind == IO_COMMAND_LOSS;
}

/* A link is lost when its commands stop; one that must not be lost, also when they never begin.  To
 * the cockpit a person comes later. */
static bool is_lost(const struct sim_live_input *source, const struct sim *sim, int index,
                    uint64_t now_ns)
{
    const struct sim_link *link = &sim->spec->links[index];
    /* Where replies pace the frames, a machine that stood still has lost nothing. */
    const bool replies = !io_protocol_traits(link->spec.protocol)->hands;
    if (sim->spec->pace != RT_PACE_REAL && replies && !sim->scratch.unanswered[index])
        return false;
    const uint64_t limit_ns = link->spec.lost_after_ns;
    const uint64_t since_ns =
        sim->scratch.idle_ns > source->begin_ns ? sim->scratch.idle_ns : source->begin_ns;
    if (source->first[index] != 0)
        return !io_link_alive(source->links, index, now_ns);
    if (link->spec.bus.kind == IO_BUS_COCKPIT)
        return false;
    return link->stop_on_loss && limit_ns && now_ns - since_ns > limit_ns;
}

/* What the frame learns of the board's clock; command: one that is new, or NULL. */
static void observe_board_clock(const struct sim_live_input *source,
                                const struct sim_phase_lock *lock, const struct io_command *command)
{
    struct rt_phase_sample seen = {0};
    struct io_clock_sample told;
    bool fresh = command != NULL;
    if (lock->source == SIM_LOCK_ARRIVAL) {
        seen.local_ns = fresh ? command->rx_ns : 0;
    } else {
        fresh = io_link_clock(source->links, lock->link, &told);
        seen = (struct rt_phase_sample){told.local_ns, told.board_ns, told.delay_ns};
    }
    if (fresh)
        rt_phase_lock_observe(source->phase_lock, &seen);
}

/* ---- out of the delay line -------------------------------------------------------------- */

/* How a hand stood before the first frame, or in a pause, is no move that the motion could be late
 * for. */
static bool predates_run(const struct sim_live_input *source, const struct sim *sim, int link,
                         uint64_t ready_ns)
{
    return io_protocol_traits(sim->spec->links[link].spec.protocol)->hands &&
           (ready_ns < source->begin_ns || ready_ns < sim->scratch.idle_ns);
}

/* An arm's servos look at their hands less often than frames come. */
static bool is_servo_frame(const struct sim *sim, int link, uint64_t frame)
{
    const struct sim_arm *arm = &sim->spec->arm;
    const bool moves_arm =
        arm->joint_count > 0 &&
        (link == arm->translation.link || link == arm->rotation.link || link == arm->button_link);
    return !moves_arm || (frame + sim->schedule->frame_offset) % arm->every == 0;
}

/* The way of a command to the motion: it is over with the step of the frame that looked at it.  Of
 * several that come between two looks the first has waited longest, and counts. */
static void start_trace(struct sim_live_input *source, struct sim *sim, int link, uint64_t frame,
                        uint64_t now_ns)
{
    const struct io_trace unseen = source->unseen[link];
    if (unseen.ready_ns == 0 || !is_servo_frame(sim, link, frame))
        return;
    if (!predates_run(source, sim, link, unseen.ready_ns))
        sim->scratch.trace[link] = (struct io_trace){
            .rx_ns = unseen.rx_ns, .ready_ns = unseen.ready_ns, .latch_ns = now_ns};
    source->unseen[link] = (struct io_trace){0};
}

/* A link that was lost and is heard again is taken up: both are events. */
static void note_outage(struct sim_link_outages *outages, const struct io_command *command,
                        bool was_lost, uint64_t frame)
{
    if (command->kind == IO_COMMAND_LOSS) {
        if (outages->count < SIM_LINK_OUTAGE_MAX)
            outages->kept[outages->count] = (struct sim_link_outage){frame, UINT64_MAX};
        outages->count++;
    } else if (command->kind == IO_COMMAND_CONTROLS && was_lost) {
        if (outages->count > 0 && outages->count <= SIM_LINK_OUTAGE_MAX)
            outages->kept[outages->count - 1].last_frame = frame;
        outages->returns++;
    }
}

/* A command that has passed the delay line, or the loss of the link, reaches the vehicle. */
static void apply_command(struct sim_live_input *source, struct sim *sim, uint64_t frame,
                          const struct io_command *command)
{
    struct io_trace *unseen = &source->unseen[command->link];
    if (command->kind == IO_COMMAND_CONTROLS && unseen->ready_ns == 0)
        *unseen = (struct io_trace){.rx_ns = command->rx_ns, .ready_ns = command->ready_ns};
    note_outage(&source->outages[command->link], command, sim->vehicle->link[command->link].lost,
                frame);
    sim_apply_command(sim, command, frame);
    if (command->kind == IO_COMMAND_LOSS && sim->spec->links[command->link].stop_on_loss) {
        atomic_store_explicit(&source->link_lost, true, memory_order_relaxed);
        atomic_store_explicit(source->stop, true, memory_order_relaxed);
    }
}

/* ---- a frame --------------------------------------------------------------------------- */

/* The newest command of the link, or its loss, which takes the same way, goes into the delay line;
 * where the link is never late, straight to the vehicle.  The vehicle notices that nobody commands
 * it any more when all that was under way has come. */
static void latch_link(struct sim_live_input *source, struct sim *sim, int link, uint64_t frame,
                       uint64_t now_ns)
{
    struct sim_delay_line *line = &sim->scratch.delay_in[link];
    struct io_command command;
    const bool fresh = io_link_latch(source->links, link, &command);
    if (source->phase_lock && link == sim->spec->lock.link)
        observe_board_clock(source, &sim->spec->lock, fresh ? &command : NULL);
    if (line->spec.fault)
        end_fault(source, sim, link, frame, fresh);
    if (fresh)
        number_command(source, link, &command);
    else if (!loss_already_sent(sim, link) && is_lost(source, sim, link, now_ns))
        command = (struct io_command){.kind = IO_COMMAND_LOSS, .link = (uint8_t)link};
    else
        return;
    if (line->slots > 0)
        sim_delay_line_push(line, frame, frame + sim->schedule->frame_offset, &command);
    else
        apply_command(source, sim, frame, &command);
}

static void read_inputs(void *self, struct sim *sim, uint64_t frame)
{
    struct sim_live_input *source = self;
    if (source->pulser)
        io_sync_pulse_emit(source->pulser, frame, frame * sim->spec->period_ns);
    if (!source->links)
        return;
    io_links_poll(source->links);
    const uint64_t now_ns = rt_now_ns();
    if (source->begin_ns == 0)
        source->begin_ns = now_ns;
    for (int i = 0; i < sim->spec->link_count; i++) {
        latch_link(source, sim, i, frame, now_ns);
        for (const struct io_command *command;
             (command = sim_delay_line_pop(&sim->scratch.delay_in[i], frame)) != NULL;)
            apply_command(source, sim, frame, command);
        start_trace(source, sim, i, frame, now_ns);
    }
}

struct sim_input sim_live_input_interface(struct sim_live_input *source)
{
    return (struct sim_input){.self = source, .read_inputs = read_inputs};
}
