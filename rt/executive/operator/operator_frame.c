/*
 * The operator on the frame thread: the stop first, then the requests.
 *
 * Tested by tests/rt/executive/operator/test_operator.c.
 */
#include <string.h>

#include "rt/executive/operator/acts.h"
#include "rt/executive/operator/operator_private.h"

enum {
    ACTS_PER_FRAME = 8, /* carried out between two frames */
};

/* ---- the stop ------------------------------------------------------------------------------ */

/* A stop that was asked for by a service is answered with the frame before which it was read. */
static void publish_stop_frame(struct sim_operator *op, uint32_t count, uint64_t frame)
{
    uint32_t number = op->reader.read[RT_ESTOP_OPERATOR];
    if (count - number > SIM_OPERATOR_STOP_HISTORY)
        number = count - SIM_OPERATOR_STOP_HISTORY;
    while (number++ != count)
        atomic_store_explicit(&op->stopped_before[number % SIM_OPERATOR_STOP_HISTORY], frame,
                              memory_order_relaxed);
    /* Release: a thread that sees the count sees the frames. */
    atomic_store_explicit(&op->stopped, count, memory_order_release);
}

/* The command that brought the press stops the arm as well, and so does the loss that the link
 * notices: once is enough. */
static bool is_already_stopped(const struct sim_operator *op, uint32_t cause)
{
    const struct io_arm_panel_state *panel = &op->sim->vehicle->arm->panel;
    return panel->safed && (panel->brakes || cause == RT_ESTOP_OPERATOR_LOST) &&
           panel->mode == IO_ARM_PANEL_HOLD && panel->latched_mode == 0;
}

/* Two stops before the same frame, and nothing between them, are one; so where the log has little
 * room, as with a disk that stands still in a pause, it keeps that for others. */
static bool is_repeated(const struct sim_operator *op, uint32_t cause, uint64_t frame)
{
    return !sim_has_room_for_act(op->sim) && op->last_stop_frame == frame + 1 &&
           op->last_stop_act == op->sim->scratch.acts &&
           (cause == RT_ESTOP_OPERATOR_LOST || op->last_stop_cause != RT_ESTOP_OPERATOR_LOST);
}

static void apply_stop(struct sim_operator *op, uint32_t cause, uint64_t first_raise_ns,
                       uint64_t frame)
{
    const struct sim_operator_request request = {
        .act = SIM_ACT_STOP_ARM, .index = cause, .value = (double)first_raise_ns};
    if (op->sim->vehicle->arm == NULL || is_repeated(op, cause, frame) ||
        (cause != RT_ESTOP_OPERATOR && is_already_stopped(op, cause)))
        return;
    sim_operator_apply(op, &request, frame, NULL);
    op->last_stop_frame = frame + 1;
    op->last_stop_act = op->sim->scratch.acts;
    op->last_stop_cause = cause;
}

/* Of several causes the first is told; a loss alone leaves the brakes to the arm as it comes to
 * rest. */
static uint32_t first_of(uint32_t causes)
{
    const uint32_t harder = causes & ~(1u << RT_ESTOP_OPERATOR_LOST);
    uint32_t first = 0;
    while (!((harder ? harder : causes) >> first & 1))
        first++;
    return first;
}

void sim_operator_check_stop(void *self, uint64_t frame)
{
    struct sim_operator *op = self;
    struct rt_estop_reader now;
    uint32_t causes = 0;
    for (uint32_t i = 0; i < RT_ESTOP_CAUSE_COUNT; i++) {
        now.read[i] = rt_estop_count(&op->estop, (enum rt_estop_cause)i);
        causes |= (uint32_t)(now.read[i] != op->reader.read[i]) << i;
    }
    if (causes == 0)
        return;
    const uint64_t first_raise_ns =
        atomic_exchange_explicit(&op->estop.first_raise_ns, 0, memory_order_relaxed);
    apply_stop(op, first_of(causes), first_raise_ns, frame);
    publish_stop_frame(op, now.read[RT_ESTOP_OPERATOR], frame);
    op->reader = now;
}

/* ---- the boundary -------------------------------------------------------------------------- */

static bool is_stop(const struct sim_scripted_act *act)
{
    return act->request.act == SIM_ACT_STOP_ARM;
}

/* The next act of the command line, from at on, of the one kind or the other. */
static int next_of(const struct sim_operator *op, int at, bool stops)
{
    while (at < op->script_count && is_stop(&op->script[at]) != stops)
        at++;
    return at;
}

static bool is_due(const struct sim_operator *op, int at, uint64_t frame)
{
    return at < op->script_count && op->script[at].boundary <= frame + op->held;
}

/* A stop of the command line is raised like any other, and nothing that waits is before it. */
static void raise_scripted_stops(struct sim_operator *op, uint64_t frame)
{
    op->script_next = next_of(op, op->script_next, false);
    op->stop_next = next_of(op, op->stop_next, true);
    for (; is_due(op, op->stop_next, frame); op->stop_next = next_of(op, op->stop_next + 1, true))
        (void)rt_estop_raise(&op->estop, RT_ESTOP_OPERATOR, rt_now_ns());
}

/* The next to be carried out; request NULL: there is none. */
static struct sim_pending_act next_request(struct sim_operator *op, uint64_t frame)
{
    const int next = op->script_next;
    if (is_due(op, next, frame))
        return (struct sim_pending_act){&op->script[next].request, SIM_ORIGIN_SCRIPT,
                                        (uint64_t)next};
    return (struct sim_pending_act){rt_ring_front(op->asked), SIM_ORIGIN_CLIENT, op->requests_done};
}

/* In the log, and for the answer: neither is lost. */
static bool has_room(struct sim_operator *op, const struct sim_pending_act *ask)
{
    return sim_has_room_for_act(op->sim) &&
           (ask->side == SIM_ORIGIN_SCRIPT || rt_ring_claim(op->from_frame) != NULL);
}

/* True when the next one has to wait. */
static bool execute_requests(struct sim_operator *op, uint64_t frame)
{
    for (int i = 0; i < ACTS_PER_FRAME; i++) {
        const struct sim_pending_act ask = next_request(op, frame);
        if (!ask.request)
            return false;
        op->script_waits = ask.side == SIM_ORIGIN_SCRIPT;
        if (!has_room(op, &ask) || !sim_act_execute(op, &ask, frame))
            return true;
        op->script_waits = false;
        if (ask.side == SIM_ORIGIN_SCRIPT) {
            op->script_next = next_of(op, op->script_next + 1, false);
        } else {
            op->requests_done++;
            rt_ring_pop(op->asked);
        }
    }
    return false;
}

/* Between two frames.  No wall clock paces a run that is not real: there an act that needs a file
 * is worth waiting for, so that it comes before the frame that it was asked for. */
bool sim_operator_boundary(void *self, uint64_t frame)
{
    struct sim_operator *op = self;
    /* A frame thread that hung and comes back when all are answered does nothing more. */
    if (atomic_load_explicit(&op->over, memory_order_relaxed))
        return true;
    /* Acquire: what was pushed or raised before the flag was set is seen after it. */
    (void)atomic_exchange_explicit(op->boundary_wanted, false, memory_order_acquire);
    raise_scripted_stops(op, frame);
    sim_operator_check_stop(op, frame);
    const bool stalled = execute_requests(op, frame);
    const bool waits = stalled && op->sim->spec->pace != RT_PACE_REAL;
    const bool steps = !waits && op->paused && op->steps > 0;
    const bool hold = waits || (op->paused && !steps);
    op->steps -= steps;
    op->held += hold && !waits;

    if (stalled || op->paused || op->script_next < op->script_count ||
        op->stop_next < op->script_count || rt_ring_front(op->asked))
        sim_operator_want_boundary(op);
    atomic_store_explicit(&op->published_paused, op->paused, memory_order_relaxed);
    op->pause_releases = hold ? op->pause_releases + 1 : 0;
    if (hold)
        sim_send_heartbeats(op->sim, op->pause_releases);
    return hold;
}
