/*
 * The operator's desk on the frame thread: the stop first, then what was asked for.
 */
#include <string.h>

#include "rt/executive/operator/operator_private.h"

enum {
    ACTS_PER_FRAME = 8,   /* carried out between two frames */
    STEP_MAX = 100000000, /* frames of one step */
};

/* A request, where it comes from, and how many of that side came before it. */
struct ask {
    const struct operator_request *request;
    enum operator_side side;
    uint64_t serial;
};

/* ---- the stop ------------------------------------------------------------------------------ */

static void record(struct operator_desk *desk, const struct operator_request *request,
                   uint64_t frame, const struct rig_snapshot *snapshot)
{
    struct record_act act = {.frame = frame,
                             .value = request->value,
                             .index = request->index,
                             .act = (uint8_t)request->act};
    rig_act(desk->rig, &act, snapshot);
    desk->result.acts++;
}

/* Who asked in words is told before which frame it was read. */
static void note_read(struct operator_desk *desk, uint32_t count, uint64_t frame)
{
    uint32_t number = desk->reader.read[RT_ESTOP_OPERATOR];
    if (count - number > OPERATOR_READ_MAX)
        number = count - OPERATOR_READ_MAX;
    while (number++ != count)
        atomic_store_explicit(&desk->stopped_before[number % OPERATOR_READ_MAX], frame,
                              memory_order_relaxed);
    /* Release: who sees the count sees the frames. */
    atomic_store_explicit(&desk->stopped, count, memory_order_release);
}

/* The command that brought the press stops the arm as well, and so does the loss that the link
 * notices: once is enough. */
static bool stands_stopped(const struct operator_desk *desk, uint32_t cause)
{
    const struct io_arm_panel_state *panel = &desk->rig->cfg->arm->panel;
    return panel->safed && (panel->brakes || cause == RT_ESTOP_OPERATOR_LOST) &&
           panel->mode == IO_ARM_PANEL_HOLD && panel->latched_mode == 0;
}

/* Two stops before the same frame, and nothing between them, are one; so where the log has little
 * room, as with a disk that stands still in a pause, it keeps that for others. */
static bool is_repeated(const struct operator_desk *desk, uint32_t cause, uint64_t frame)
{
    return !rig_has_room_for_act(desk->rig) && desk->stopped_at == frame + 1 &&
           desk->stopped_as == desk->rig->acts &&
           (cause == RT_ESTOP_OPERATOR_LOST || desk->stopped_by != RT_ESTOP_OPERATOR_LOST);
}

static void stop(struct operator_desk *desk, uint32_t cause, uint64_t first_raise_ns,
                 uint64_t frame)
{
    const struct operator_request request = {
        .act = OPERATOR_SAFE, .index = cause, .value = (double)first_raise_ns};
    if (desk->rig->cfg->arm == NULL || is_repeated(desk, cause, frame) ||
        (cause != RT_ESTOP_OPERATOR && stands_stopped(desk, cause)))
        return;
    record(desk, &request, frame, NULL);
    desk->stopped_at = frame + 1;
    desk->stopped_as = desk->rig->acts;
    desk->stopped_by = cause;
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

void operator_heed(void *self, uint64_t frame)
{
    struct operator_desk *desk = self;
    struct rt_estop_reader now;
    uint32_t causes = 0;
    for (uint32_t i = 0; i < RT_ESTOP_CAUSE_COUNT; i++) {
        now.read[i] = rt_estop_count(&desk->estop, (enum rt_estop_cause)i);
        causes |= (uint32_t)(now.read[i] != desk->reader.read[i]) << i;
    }
    if (causes == 0)
        return;
    const uint64_t first_raise_ns =
        atomic_exchange_explicit(&desk->estop.first_raise_ns, 0, memory_order_relaxed);
    stop(desk, first_of(causes), first_raise_ns, frame);
    note_read(desk, now.read[RT_ESTOP_OPERATOR], frame);
    desk->reader = now;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* There is room for the answer: that was seen to before. */
static void tell(struct operator_desk *desk, const struct ask *ask, uint64_t frame,
                 enum operator_outcome outcome, const char *why)
{
    struct operator_letter *letter =
        ask->side == OPERATOR_SIDE_SCRIPT
            ? &desk->frame_failure
            : (struct operator_letter *)rt_ring_claim(desk->from_frame);
    if (ask->side == OPERATOR_SIDE_SCRIPT && (outcome == OPERATOR_DONE || desk->frame_failed++ > 0))
        return;
    letter->request = *ask->request;
    letter->serial = ask->serial;
    letter->frame = frame;
    letter->outcome = outcome;
    letter->copy_ns = 0;
    letter->why[0] = '\0';
    if (why)
        memcpy(letter->why, why, sizeof letter->why);
    if (ask->side == OPERATOR_SIDE_ASKER)
        rt_ring_push(desk->from_frame);
}

static void give_chore(struct operator_desk *desk, struct operator_letter *chore,
                       const struct ask *ask, uint64_t frame, uint64_t copy_ns)
{
    chore->request = *ask->request;
    chore->side = ask->side;
    chore->serial = ask->serial;
    chore->frame = frame;
    chore->copy_ns = copy_ns;
    rt_ring_push(desk->chores); /* releases all that was written before */
}

/* False: the house has not finished with the one before. */
static bool take_checkpoint(struct operator_desk *desk, const struct ask *ask, uint64_t frame)
{
    struct rig *rig = desk->rig;
    if (atomic_load_explicit(&desk->snapshot_busy, memory_order_acquire))
        return false;
    struct operator_letter *chore = rt_ring_claim(desk->chores);
    if (!chore)
        return false;
    const uint64_t begin_ns = rt_now_ns();
    memcpy(desk->snapshot, rig->cfg->state, rig->cfg->state_size);
    const uint64_t copy_ns = rt_now_ns() - begin_ns;
    desk->taken = (struct checkpoint){
        .frame = rig->cfg->schedule->frame, .hash = rig->hash, .state = desk->snapshot};
    desk->result.checkpoints++;
    desk->scripted_checkpoints += ask->side == OPERATOR_SIDE_SCRIPT;
    if (copy_ns > desk->result.copy_ns_max)
        desk->result.copy_ns_max = copy_ns;
    atomic_store_explicit(&desk->snapshot_busy, true, memory_order_relaxed);
    give_chore(desk, chore, ask, frame, copy_ns);
    record(desk, ask->request, frame, NULL);
    return true;
}

static void ask_for_file(struct operator_desk *desk, const struct ask *ask, uint64_t frame)
{
    struct operator_staging *staging = &desk->staging[ask->side];
    struct operator_letter *chore = rt_ring_claim(desk->chores);
    if (!chore)
        return;
    staging->serial = ask->serial;
    atomic_store_explicit(&staging->stage, OPERATOR_READING, memory_order_relaxed);
    give_chore(desk, chore, ask, frame, 0);
}

/* False: not yet, the file is being read. */
static bool restore(struct operator_desk *desk, const struct ask *ask, uint64_t frame)
{
    struct operator_staging *staging = &desk->staging[ask->side];
    /* Acquire: with the word come the bytes. */
    const int stage = atomic_load_explicit(&staging->stage, memory_order_acquire);
    if (stage == OPERATOR_READING)
        return false;
    if (stage == OPERATOR_EMPTY || staging->serial != ask->serial) { /* nothing, or another's */
        ask_for_file(desk, ask, frame);
        return false;
    }
    if (stage == OPERATOR_READY) {
        const struct rig_snapshot snapshot = {staging->state, staging->found.hash};
        record(desk, ask->request, frame, &snapshot);
        operator_show_values(desk);
        tell(desk, ask, frame, OPERATOR_DONE, NULL);
    } else {
        tell(desk, ask, frame, OPERATOR_FILE_FAILED, staging->why);
    }
    atomic_store_explicit(&staging->stage, OPERATOR_EMPTY, memory_order_relaxed);
    return true;
}

static enum operator_outcome tune(struct operator_desk *desk,
                                  const struct operator_request *request, uint64_t frame)
{
    const struct cfg_scenario *scenario = desk->rig->scenario;
    if (request->index >= (uint32_t)scenario->parameter_count)
        return OPERATOR_NO_SUCH_INDEX;
    const struct cfg_parameter *parameter = &scenario->parameters[request->index];
    if (!(request->value >= parameter->low && request->value <= parameter->high))
        return OPERATOR_OUT_OF_LIMITS;
    record(desk, request, frame, NULL);
    operator_show_value(desk, (int)request->index);
    return OPERATOR_DONE;
}

static enum operator_outcome fault(struct operator_desk *desk,
                                   const struct operator_request *request, uint64_t frame)
{
    if (request->index >= (uint32_t)desk->rig->scenario->fault_count)
        return OPERATOR_NO_SUCH_INDEX;
    record(desk, request, frame, NULL);
    return OPERATOR_DONE;
}

static enum operator_outcome pace(struct operator_desk *desk,
                                  const struct operator_request *request, uint64_t frame)
{
    if (request->act == OPERATOR_STEP && !(request->value >= 1.0 && request->value <= STEP_MAX))
        return OPERATOR_OUT_OF_LIMITS;
    desk->paused = request->act != OPERATOR_RESUME;
    desk->steps = request->act == OPERATOR_STEP ? (uint64_t)request->value : 0;
    record(desk, request, frame, NULL);
    return OPERATOR_DONE;
}

/* False: not yet; it stays the next. */
static bool carry_out(struct operator_desk *desk, const struct ask *ask, uint64_t frame)
{
    const struct operator_request *request = ask->request;
    enum operator_outcome outcome = OPERATOR_DONE;
    switch (request->act) {
    case OPERATOR_CHECKPOINT:
        return take_checkpoint(desk, ask, frame);
    case OPERATOR_RESTORE:
        return restore(desk, ask, frame);
    case OPERATOR_RESET:
        record(desk, request, frame, NULL);
        operator_show_values(desk);
        break;
    case OPERATOR_TUNE:
        outcome = tune(desk, request, frame);
        break;
    case OPERATOR_FAULT:
        outcome = fault(desk, request, frame);
        break;
    case OPERATOR_PAUSE:
    case OPERATOR_RESUME:
    case OPERATOR_STEP:
        outcome = pace(desk, request, frame);
        break;
    default: /* a stop is no request */
        outcome = OPERATOR_NO_SUCH_INDEX;
    }
    tell(desk, ask, frame, outcome, NULL);
    return true;
}

/* ---- the boundary -------------------------------------------------------------------------- */

static bool is_stop(const struct operator_scripted *act)
{
    return act->request.act == OPERATOR_SAFE;
}

/* The next act of the command line, from at on, of the one kind or the other. */
static int next_of(const struct operator_desk *desk, int at, bool stops)
{
    while (at < desk->script_count && is_stop(&desk->script[at]) != stops)
        at++;
    return at;
}

static bool is_due(const struct operator_desk *desk, int at, uint64_t frame)
{
    return at < desk->script_count && desk->script[at].boundary <= frame + desk->held;
}

/* A stop of the command line is raised like any other, and nothing that waits is before it. */
static void raise_scripted(struct operator_desk *desk, uint64_t frame)
{
    desk->script_next = next_of(desk, desk->script_next, false);
    desk->stop_next = next_of(desk, desk->stop_next, true);
    for (; is_due(desk, desk->stop_next, frame);
         desk->stop_next = next_of(desk, desk->stop_next + 1, true))
        (void)rt_estop_raise(&desk->estop, RT_ESTOP_OPERATOR, rt_now_ns());
}

/* The next to be carried out; request NULL: there is none. */
static struct ask next_ask(struct operator_desk *desk, uint64_t frame)
{
    const int next = desk->script_next;
    if (is_due(desk, next, frame))
        return (struct ask){&desk->script[next].request, OPERATOR_SIDE_SCRIPT, (uint64_t)next};
    return (struct ask){rt_ring_front(desk->asked), OPERATOR_SIDE_ASKER, desk->popped};
}

/* In the log, and for the answer: neither is lost. */
static bool has_room(struct operator_desk *desk, const struct ask *ask)
{
    return rig_has_room_for_act(desk->rig) &&
           (ask->side == OPERATOR_SIDE_SCRIPT || rt_ring_claim(desk->from_frame) != NULL);
}

/* True when the next one has to wait. */
static bool carry_out_some(struct operator_desk *desk, uint64_t frame)
{
    for (int i = 0; i < ACTS_PER_FRAME; i++) {
        const struct ask ask = next_ask(desk, frame);
        if (!ask.request)
            return false;
        desk->script_late = ask.side == OPERATOR_SIDE_SCRIPT;
        if (!has_room(desk, &ask) || !carry_out(desk, &ask, frame))
            return true;
        desk->script_late = false;
        if (ask.side == OPERATOR_SIDE_SCRIPT) {
            desk->script_next = next_of(desk, desk->script_next + 1, false);
        } else {
            desk->popped++;
            rt_ring_pop(desk->asked);
        }
    }
    return false;
}

/* Between two frames.  No wall clock paces a run that is not real: there an act that needs a file
 * is worth waiting for, so that it comes before the frame that it was asked for. */
bool operator_boundary(void *self, uint64_t frame)
{
    struct operator_desk *desk = self;
    /* A frame thread that hung and comes back when all are answered does nothing more. */
    if (atomic_load_explicit(&desk->over, memory_order_relaxed))
        return true;
    /* Acquire: what was pushed or raised before a knock is seen after it. */
    (void)atomic_exchange_explicit(desk->boundary_wanted, false, memory_order_acquire);
    raise_scripted(desk, frame);
    operator_heed(desk, frame);
    const bool stalled = carry_out_some(desk, frame);
    const bool waits = stalled && desk->rig->scenario->pace != RT_PACE_REAL;
    const bool steps = !waits && desk->paused && desk->steps > 0;
    const bool hold = waits || (desk->paused && !steps);
    desk->steps -= steps;
    desk->held += hold && !waits;

    if (stalled || desk->paused || desk->script_next < desk->script_count ||
        desk->stop_next < desk->script_count || rt_ring_front(desk->asked))
        operator_knock(desk);
    atomic_store_explicit(&desk->shows_paused, desk->paused, memory_order_relaxed);
    desk->held_now = hold ? desk->held_now + 1 : 0;
    if (hold)
        rig_idle(desk->rig, desk->held_now);
    return hold;
}
