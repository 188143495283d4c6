#include "rt/executive/operator/operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/executive/operator/operator_private.h"

/* ---- set-up ------------------------------------------------------------------------------ */

/* One layout answers size and placement. */
static size_t lay_out_operator(struct sim_operator *op, size_t state_size, int parameter_count,
                               void *mem)
{
    size_t at = 0;
    void *asked = rt_layout_cut(
        mem, &at, rt_ring_size(sizeof(struct sim_operator_request), SIM_OPERATOR_REQUEST_MAX));
    void *rings[3];
    for (int i = 0; i < 3; i++)
        rings[i] = rt_layout_cut(
            mem, &at,
            rt_ring_size(sizeof(struct sim_operator_result_message), 2 * SIM_OPERATOR_REQUEST_MAX));
    op->snapshot = rt_layout_cut(mem, &at, state_size);
    for (int i = 0; i < SIM_ORIGIN_COUNT; i++)
        op->staging[i].state = rt_layout_cut(mem, &at, state_size);
    op->parameters =
        rt_layout_cut(mem, &at, (size_t)parameter_count * sizeof *op->parameters + RT_CACHE_LINE);
    if (mem) {
        op->asked =
            rt_ring_place(sizeof(struct sim_operator_request), SIM_OPERATOR_REQUEST_MAX, asked);
        op->file_jobs = rt_ring_place(sizeof(struct sim_operator_result_message),
                                      2 * SIM_OPERATOR_REQUEST_MAX, rings[0]);
        op->from_frame = rt_ring_place(sizeof(struct sim_operator_result_message),
                                       2 * SIM_OPERATOR_REQUEST_MAX, rings[1]);
        op->from_files = rt_ring_place(sizeof(struct sim_operator_result_message),
                                       2 * SIM_OPERATOR_REQUEST_MAX, rings[2]);
    }
    return at;
}

void sim_operator_publish_parameter(struct sim_operator *op, int index)
{
    uint64_t bits;
    memcpy(&bits, &op->sim->vehicle->parameter[index], sizeof bits);
    atomic_store_explicit(&op->value[index], bits, memory_order_relaxed);
}

void sim_operator_publish_parameters(struct sim_operator *op)
{
    for (int i = 0; i < op->sim->spec->parameter_count; i++)
        sim_operator_publish_parameter(op, i);
}

static void fill_parameters(struct sim_operator *op)
{
    for (int i = 0; i < op->sim->spec->parameter_count; i++) {
        const struct sim_parameter *from = &op->sim->spec->parameters[i];
        struct sim_operator_parameter *to = &op->parameters[i];
        _Static_assert(sizeof to->name == sizeof from->name && sizeof to->unit == sizeof from->unit,
                       "names fit");
        memcpy(to->name, from->name, sizeof to->name);
        memcpy(to->unit, from->unit, sizeof to->unit);
        to->low = from->low;
        to->high = from->high;
    }
}

struct sim_operator *sim_operator_open(struct sim *sim, atomic_bool *boundary_wanted)
{
    const size_t state_size = sim->vehicle->state_size;
    const int parameters = sim->spec->parameter_count;
    struct sim_operator *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    const size_t size = lay_out_operator(op, state_size, parameters, NULL);
    op->memory = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    if (!op->memory) {
        free(op);
        return NULL;
    }
    memset(op->memory, 0, size); /* and touched, so that the frame finds its pages there */
    (void)lay_out_operator(op, state_size, parameters, op->memory);
    op->sim = sim;
    op->boundary_wanted = op->estop.boundary_wanted = boundary_wanted;
    op->result.state_size = state_size;
    sim_checkpoint_identify(sim->vehicle, &op->mark);
    fill_parameters(op);
    sim_operator_publish_parameters(op);
    sim->boundary = (struct sim_boundary){op, sim_operator_boundary, sim_operator_check_stop};
    return op;
}

void sim_operator_close(struct sim_operator *op)
{
    if (!op)
        return;
    free(op->memory);
    free(op);
}

void sim_operator_want_boundary(struct sim_operator *op)
{
    /* Release: a thread that sees the flag sees what was pushed before it. */
    atomic_store_explicit(op->boundary_wanted, true, memory_order_release);
}

void sim_operator_set_script(struct sim_operator *op, const struct sim_scripted_act *acts,
                             int count)
{
    op->script = acts;
    op->script_count = count;
    if (count > 0)
        sim_operator_want_boundary(op);
}

/* The first act of the command line is the restore that this is for. */
static void stage_first(struct sim_operator *op)
{
    op->staging[SIM_ORIGIN_SCRIPT].serial = 0;
    atomic_store_explicit(&op->staging[SIM_ORIGIN_SCRIPT].stage, SIM_RESTORE_READY,
                          memory_order_release);
}

int sim_operator_start_from_file(struct sim_operator *op, const char *path, char error[256])
{
    struct sim_restore_buffer *staging = &op->staging[SIM_ORIGIN_SCRIPT];
    if (sim_checkpoint_read(path, &op->mark, op->sim->vehicle, staging->state, &staging->found,
                            staging->why)) {
        snprintf(error, 256, "%.80s: %s", path, staging->why);
        return -1;
    }
    stage_first(op);
    return 0;
}

void sim_operator_start_from_state(struct sim_operator *op, const void *state, uint64_t hash)
{
    struct sim_restore_buffer *staging = &op->staging[SIM_ORIGIN_SCRIPT];
    memcpy(staging->state, state, op->sim->vehicle->state_size);
    staging->found = (struct sim_checkpoint){.hash = hash, .state = staging->state};
    stage_first(op);
}

struct rt_estop *sim_operator_estop(struct sim_operator *op)
{
    return &op->estop;
}

/* Is this hand at the arm, or as far away as the scenario wants it? */
static bool is_undelayed_hand(const struct sim_spec *spec, int link)
{
    if (spec->arm.joint_count == 0 || link < 0 || spec->links[link].delay > 0)
        return false;
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        if (fault->link == link && fault->spec.kind == IO_FAULT_DELAY &&
            fault->way != SIM_DIRECTION_OUT)
            return false;
    }
    return true;
}

void sim_operator_watch_links(struct sim_operator *op, struct io_links *links)
{
    const struct sim_arm *arm = &op->sim->spec->arm;
    const int hand[] = {arm->translation.link, arm->rotation.link, arm->button_link};
    const int button = arm->panel.button[IO_ARM_PANEL_SAFE];
    for (int i = 0; i < 3; i++) {
        const bool has_button = hand[i] == arm->button_link && button >= 0;
        if (is_undelayed_hand(op->sim->spec, hand[i]))
            io_links_estop(links, hand[i], has_button ? 1u << button : 0, &op->estop);
    }
}

void sim_operator_client_lost(struct sim_operator *op)
{
    if (is_undelayed_hand(op->sim->spec, op->sim->spec->arm.button_link))
        (void)rt_estop_raise(&op->estop, RT_ESTOP_OPERATOR_LOST, rt_now_ns());
}

void sim_operator_ignore_earlier_stops(struct sim_operator *op)
{
    op->reader.read[RT_ESTOP_BUTTON] = rt_estop_count(&op->estop, RT_ESTOP_BUTTON);
    op->reader.read[RT_ESTOP_OPERATOR_LOST] = rt_estop_count(&op->estop, RT_ESTOP_OPERATOR_LOST);
}

/* ---- the end ------------------------------------------------------------------------------- */

void sim_operator_end(struct sim_operator *op)
{
    /* Release: the client takes over the requests that the frame thread left. */
    atomic_store_explicit(&op->over, true, memory_order_release);
}

/* Acts of the command line that lie behind the end, but for one that was due and waits. */
static int unreached(const struct sim_operator *op)
{
    int count = 0;
    for (int i = 0; i < op->script_count; i++)
        count +=
            i >= (op->script[i].request.act == SIM_ACT_STOP_ARM ? op->stop_next : op->script_next);
    return count - op->script_waits;
}

static void describe_failure(const struct sim_operator *op, struct sim_operator_result *result,
                             uint64_t unfinished)
{
    const struct sim_operator_result_message *message = &op->frame_failure;
    char why[192];
    if (op->failure[0] != '\0') {
        snprintf(result->failure, sizeof result->failure, "%s", op->failure);
    } else if (op->frame_failed > 0) {
        sim_operator_describe(op, message, why, sizeof why);
        const bool restores = message->request.act == SIM_ACT_RESTORE;
        snprintf(result->failure, sizeof result->failure, "%s%s: %s", restores ? "restore " : "",
                 restores ? message->request.path : op->script[message->serial].text, why);
    } else if (op->script_waits) {
        snprintf(result->failure, sizeof result->failure,
                 "%s: the run ended before it could be carried out",
                 op->script[op->script_next].text);
    } else if (unfinished > 0) {
        snprintf(result->failure, sizeof result->failure,
                 "checkpoint: the disk did not answer, so its file is not known to be written");
    }
}

void sim_operator_result(const struct sim_operator *op, struct sim_operator_result *result)
{
    const uint64_t unfinished =
        op->scripted_checkpoints - atomic_load_explicit(&op->written, memory_order_acquire);
    *result = op->result;
    result->unreached = unreached(op);
    result->failed = atomic_load_explicit(&op->failed, memory_order_relaxed) + op->frame_failed +
                     op->script_waits + (int)unfinished;
    describe_failure(op, result, unfinished);
}

/* ---- client -------------------------------------------------------------------------------- */

bool sim_operator_request_act(struct sim_operator *op, const struct sim_operator_request *request)
{
    struct sim_operator_request *asked = rt_ring_claim(op->asked);
    if (!asked)
        return false;
    *asked = *request;
    asked->path[sizeof asked->path - 1] = '\0';
    if (asked->ticket == SIM_OPERATOR_SCRIPT_TICKET)
        asked->ticket--;
    rt_ring_push(op->asked);
    sim_operator_want_boundary(op);
    return true;
}

bool sim_operator_stop_arm(struct sim_operator *op, uint64_t ticket)
{
    const uint32_t number = rt_estop_raise(&op->estop, RT_ESTOP_OPERATOR, rt_now_ns());
    for (int i = 0; i < SIM_OPERATOR_PENDING_STOP_MAX; i++) {
        if (op->waiting[i].number != 0)
            continue;
        op->waiting[i] = (struct sim_pending_stop){ticket, number};
        return true;
    }
    return false;
}

/* A stop that the frame has read, or never will. */
static bool answer_stop(struct sim_operator *op, bool over, struct sim_operator_answer *answer)
{
    /* Acquire: with the count come the frames. */
    const uint32_t stopped = atomic_load_explicit(&op->stopped, memory_order_acquire);
    for (int i = 0; i < SIM_OPERATOR_PENDING_STOP_MAX; i++) {
        struct sim_pending_stop *waiting = &op->waiting[i];
        const bool read = (int32_t)(stopped - waiting->number) >= 0;
        if (waiting->number == 0 || !(read || over))
            continue;
        const struct sim_operator_result_message result = {
            .request = {.act = SIM_ACT_STOP_ARM},
            .frame = atomic_load_explicit(
                &op->stopped_before[waiting->number % SIM_OPERATOR_STOP_HISTORY],
                memory_order_relaxed),
            .outcome = op->sim->vehicle->arm == NULL ? SIM_OUTCOME_NO_ARM : SIM_OUTCOME_DONE,
        };
        *answer = (struct sim_operator_answer){.ticket = waiting->ticket,
                                               .frame = result.frame,
                                               .done = result.outcome == SIM_OUTCOME_DONE};
        sim_operator_describe(op, &result, answer->text, sizeof answer->text);
        if (answer->done && !read) /* nothing moves any more */
            snprintf(answer->text, sizeof answer->text,
                     "the run has ended, and no frame follows the stop");
        waiting->number = 0;
        return true;
    }
    return false;
}

/* What nobody will carry out any more. */
static bool answer_unserved(struct sim_operator *op, struct sim_operator_answer *answer)
{
    const struct sim_operator_request *request = rt_ring_front(op->asked);
    if (!request)
        return false;
    const struct sim_operator_result_message result = {.request = *request,
                                                       .outcome = SIM_OUTCOME_RUN_OVER};
    *answer = (struct sim_operator_answer){.ticket = request->ticket};
    sim_operator_describe(op, &result, answer->text, sizeof answer->text);
    rt_ring_pop(op->asked);
    return true;
}

bool sim_operator_next_answer(struct sim_operator *op, struct sim_operator_answer *answer)
{
    /* Acquire: the frame thread has looked for the last time before it was over. */
    const bool over = atomic_load_explicit(&op->over, memory_order_acquire);
    if (answer_stop(op, over, answer))
        return true;
    struct rt_ring *ring = op->from_frame;
    const struct sim_operator_result_message *result = rt_ring_front(ring);
    if (!result) {
        ring = op->from_files;
        result = rt_ring_front(ring);
    }
    if (!result)
        return over && answer_unserved(op, answer);
    *answer = (struct sim_operator_answer){.ticket = result->request.ticket,
                                           .frame = result->frame,
                                           .done = result->outcome == SIM_OUTCOME_DONE};
    sim_operator_describe(op, result, answer->text, sizeof answer->text);
    rt_ring_pop(ring);
    return true;
}

/* ---- what there is -------------------------------------------------------------------------- */

int sim_operator_parameter_count(const struct sim_operator *op)
{
    return op->sim->spec->parameter_count;
}

const struct sim_operator_parameter *sim_operator_parameter(const struct sim_operator *op,
                                                            int index)
{
    return &op->parameters[index];
}

double sim_operator_parameter_value(const struct sim_operator *op, int index)
{
    const uint64_t bits = atomic_load_explicit(&op->value[index], memory_order_relaxed);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int sim_operator_fault_count(const struct sim_operator *op)
{
    return op->sim->spec->fault_count;
}

const char *sim_operator_fault_name(const struct sim_operator *op, int index)
{
    return op->sim->spec->faults[index].text;
}

bool sim_operator_is_paused(const struct sim_operator *op)
{
    return atomic_load_explicit(&op->published_paused, memory_order_relaxed);
}
