/*
 * What each act of the operator is: one row for each, with all that the program asks of it.
 *
 * Tested by tests/rt/executive/operator/test_operator.c and test_estop.c.
 */
#include "rt/executive/operator/acts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/executive/operator/operator_private.h"
#include "rt/executive/sim_private.h"

enum { STEP_MAX = 100000000 }; /* frames of one step */

/* ---- on the simulation -------------------------------------------------------------------- */

/* Items in the delay lines belong to the time before; but a stick that is held is reported once, so
 * its newest report stays under way. */
static void clear_delay_lines(struct sim *sim)
{
    for (int i = 0; i < sim->spec->link_count; i++) {
        sim_delay_line_clear(&sim->scratch.delay_out[i]);
        if (sim_is_operator_link(sim->spec, i))
            sim_delay_line_keep_newest(&sim->scratch.delay_in[i]);
        else
            sim_delay_line_clear(&sim->scratch.delay_in[i]);
    }
}

/* A state is put back, the operator's hands are not: sticks are where he holds them now, buttons
 * that he has pressed since it was taken have had their effect, and an arm that moved then, or that
 * servos held, does not go on by itself: it comes to rest and sets its brakes until a mode is
 * chosen.  Nor does what was taken before a stop undo it. */
static void keep_operator_inputs(struct sim *sim, const struct sim_link_state *now, bool safed)
{
    struct sim_arm_state *arm = sim->vehicle->arm;
    for (int i = 0; i < sim->spec->link_count; i++)
        if (sim_is_operator_link(sim->spec, i))
            sim->vehicle->link[i] = now[i];
    if (arm == NULL)
        return;
    const struct sim_link_state *link = &sim->vehicle->link[sim->spec->arm.button_link];
    io_arm_panel_adopt_buttons(&arm->panel, (uint32_t)(link->flags >> 32));
    if (safed || arm->panel.mode != IO_ARM_PANEL_HOLD || !arm->panel.brakes)
        io_arm_panel_stop(&arm->panel);
}

/* A state is put in as a whole; hands that are kept are those of now. */
static void put_state(struct sim *sim, uint64_t frame, const void *state, uint64_t hash,
                      bool keeps_hands)
{
    struct sim_link_state hands[IO_LINK_MAX];
    memcpy(hands, sim->vehicle->link, (size_t)sim->spec->link_count * sizeof *hands);
    const bool safed = sim->vehicle->arm != NULL && sim->vehicle->arm->panel.safed;
    sim_load_state(sim, frame, state, hash);
    clear_delay_lines(sim);
    if (keeps_hands)
        keep_operator_inputs(sim, hands, safed);
}

static void apply_reset(struct sim *sim, const struct sim_record_act *act,
                        const struct sim_snapshot *snapshot)
{
    (void)snapshot;
    put_state(sim, act->frame, sim->vehicle->start, 0, true);
}

static void apply_restore(struct sim *sim, const struct sim_record_act *act,
                          const struct sim_snapshot *snapshot)
{
    put_state(sim, act->frame, snapshot->state, snapshot->hash, act->index == 0);
}

/* A fault that has already begun goes on as it is; one that has ended begins anew. */
static void apply_fault(struct sim *sim, const struct sim_record_act *act,
                        const struct sim_snapshot *snapshot)
{
    (void)snapshot;
    const struct sim_fault *fault = &sim->spec->faults[act->index];
    struct io_fault_state *state = &sim->vehicle->fault[act->index];
    const uint64_t now = sim->vehicle->schedule->frame;
    const bool on = act->value != 0.0, active = io_fault_active(state, now);
    if (on && !active)
        io_fault_move(state, now, fault->frames == UINT64_MAX ? UINT64_MAX : now + fault->frames);
    if (!on && active)
        io_fault_move(state, state->first_frame, now);
}

static void apply_tune(struct sim *sim, const struct sim_record_act *act,
                       const struct sim_snapshot *snapshot)
{
    (void)snapshot;
    sim_vehicle_tune(sim->vehicle, (int)act->index, act->value);
}

static void apply_stop_arm(struct sim *sim, const struct sim_record_act *act,
                           const struct sim_snapshot *snapshot)
{
    (void)snapshot;
    if (act->index == RT_ESTOP_OPERATOR_LOST)
        io_arm_panel_stop(&sim->vehicle->arm->panel);
    else
        io_arm_panel_stop_and_brake(&sim->vehicle->arm->panel);
}

/* ---- in a log ----------------------------------------------------------------------------- */

static bool is_sound_restore(const struct sim_spec *spec, const struct sim_record_act *act)
{
    (void)spec;
    return act->index <= 1;
}

static bool is_sound_fault(const struct sim_spec *spec, const struct sim_record_act *act)
{
    return act->index < (uint32_t)spec->fault_count;
}

static bool is_sound_tune(const struct sim_spec *spec, const struct sim_record_act *act)
{
    if (act->index >= (uint32_t)spec->parameter_count)
        return false;
    const struct sim_parameter *parameter = &spec->parameters[act->index];
    return act->value >= parameter->low && act->value <= parameter->high;
}

static bool is_sound_stop_arm(const struct sim_spec *spec, const struct sim_record_act *act)
{
    return spec->arm.joint_count > 0 && act->index < RT_ESTOP_CAUSE_COUNT;
}

/* ---- as a request ------------------------------------------------------------------------- */

void sim_operator_apply(struct sim_operator *op, const struct sim_operator_request *request,
                        uint64_t frame, const struct sim_snapshot *snapshot)
{
    struct sim_record_act act = {.frame = frame,
                                 .value = request->value,
                                 .index = request->index,
                                 .act = (uint8_t)request->act};
    sim_apply_act(op->sim, &act, snapshot);
    op->result.acts++;
}

/* There is room for the answer: that was seen to before. */
static void post_answer(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame,
                        enum sim_operator_outcome outcome, const char *why)
{
    struct sim_operator_result_message *result =
        ask->side == SIM_ORIGIN_SCRIPT
            ? &op->frame_failure
            : (struct sim_operator_result_message *)rt_ring_claim(op->from_frame);
    if (ask->side == SIM_ORIGIN_SCRIPT && (outcome == SIM_OUTCOME_DONE || op->frame_failed++ > 0))
        return;
    result->request = *ask->request;
    result->serial = ask->serial;
    result->frame = frame;
    result->outcome = outcome;
    result->copy_ns = 0;
    result->why[0] = '\0';
    if (why)
        memcpy(result->why, why, sizeof result->why);
    if (ask->side == SIM_ORIGIN_CLIENT)
        rt_ring_push(op->from_frame);
}

static void post_file_job(struct sim_operator *op, struct sim_operator_result_message *file_job,
                          const struct sim_pending_act *ask, uint64_t frame, uint64_t copy_ns)
{
    file_job->request = *ask->request;
    file_job->side = ask->side;
    file_job->serial = ask->serial;
    file_job->frame = frame;
    file_job->copy_ns = copy_ns;
    rt_ring_push(op->file_jobs); /* releases all that was written before */
}

/* False: the file thread has not finished with the one before. */
static bool take_checkpoint(struct sim_operator *op, const struct sim_pending_act *ask,
                            uint64_t frame)
{
    struct sim *sim = op->sim;
    if (atomic_load_explicit(&op->snapshot_busy, memory_order_acquire))
        return false;
    struct sim_operator_result_message *file_job = rt_ring_claim(op->file_jobs);
    if (!file_job)
        return false;
    const uint64_t begin_ns = rt_now_ns();
    memcpy(op->snapshot, sim->vehicle->state, sim->vehicle->state_size);
    const uint64_t copy_ns = rt_now_ns() - begin_ns;
    op->taken = (struct sim_checkpoint){
        .frame = sim->vehicle->schedule->frame, .hash = sim->scratch.hash, .state = op->snapshot};
    op->result.checkpoints++;
    op->scripted_checkpoints += ask->side == SIM_ORIGIN_SCRIPT;
    if (copy_ns > op->result.copy_ns_max)
        op->result.copy_ns_max = copy_ns;
    atomic_store_explicit(&op->snapshot_busy, true, memory_order_relaxed);
    post_file_job(op, file_job, ask, frame, copy_ns);
    sim_operator_apply(op, ask->request, frame, NULL);
    return true;
}

static void request_file_read(struct sim_operator *op, const struct sim_pending_act *ask,
                              uint64_t frame)
{
    struct sim_restore_buffer *staging = &op->staging[ask->side];
    struct sim_operator_result_message *file_job = rt_ring_claim(op->file_jobs);
    if (!file_job)
        return;
    staging->serial = ask->serial;
    atomic_store_explicit(&staging->stage, SIM_RESTORE_READING, memory_order_relaxed);
    post_file_job(op, file_job, ask, frame, 0);
}

/* False: not yet, the file is being read. */
static bool restore_state(struct sim_operator *op, const struct sim_pending_act *ask,
                          uint64_t frame)
{
    struct sim_restore_buffer *staging = &op->staging[ask->side];
    /* Acquire: with the word come the bytes. */
    const int stage = atomic_load_explicit(&staging->stage, memory_order_acquire);
    if (stage == SIM_RESTORE_READING)
        return false;
    if (stage == SIM_RESTORE_EMPTY || staging->serial != ask->serial) { /* nothing, or another's */
        request_file_read(op, ask, frame);
        return false;
    }
    if (stage == SIM_RESTORE_READY) {
        const struct sim_snapshot snapshot = {staging->state, staging->found.hash};
        sim_operator_apply(op, ask->request, frame, &snapshot);
        sim_operator_publish_parameters(op);
        post_answer(op, ask, frame, SIM_OUTCOME_DONE, NULL);
    } else {
        post_answer(op, ask, frame, SIM_OUTCOME_FILE_FAILED, staging->why);
    }
    atomic_store_explicit(&staging->stage, SIM_RESTORE_EMPTY, memory_order_relaxed);
    return true;
}

static bool execute_reset(struct sim_operator *op, const struct sim_pending_act *ask,
                          uint64_t frame)
{
    sim_operator_apply(op, ask->request, frame, NULL);
    sim_operator_publish_parameters(op);
    post_answer(op, ask, frame, SIM_OUTCOME_DONE, NULL);
    return true;
}

static enum sim_operator_outcome check_tune(const struct sim_spec *spec,
                                            const struct sim_operator_request *request)
{
    if (request->index >= (uint32_t)spec->parameter_count)
        return SIM_OUTCOME_NO_SUCH_INDEX;
    const struct sim_parameter *parameter = &spec->parameters[request->index];
    return request->value >= parameter->low && request->value <= parameter->high
               ? SIM_OUTCOME_DONE
               : SIM_OUTCOME_OUT_OF_LIMITS;
}

static bool execute_tune(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame)
{
    const enum sim_operator_outcome outcome = check_tune(op->sim->spec, ask->request);
    if (outcome == SIM_OUTCOME_DONE) {
        sim_operator_apply(op, ask->request, frame, NULL);
        sim_operator_publish_parameter(op, (int)ask->request->index);
    }
    post_answer(op, ask, frame, outcome, NULL);
    return true;
}

static bool execute_fault(struct sim_operator *op, const struct sim_pending_act *ask,
                          uint64_t frame)
{
    const bool known = ask->request->index < (uint32_t)op->sim->spec->fault_count;
    if (known)
        sim_operator_apply(op, ask->request, frame, NULL);
    post_answer(op, ask, frame, known ? SIM_OUTCOME_DONE : SIM_OUTCOME_NO_SUCH_INDEX, NULL);
    return true;
}

/* Pause, resume and step. */
static bool execute_pace(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame)
{
    const struct sim_operator_request *request = ask->request;
    const bool sound =
        request->act != SIM_ACT_STEP || (request->value >= 1.0 && request->value <= STEP_MAX);
    if (sound) {
        op->paused = request->act != SIM_ACT_RESUME;
        op->steps = request->act == SIM_ACT_STEP ? (uint64_t)request->value : 0;
        sim_operator_apply(op, request, frame, NULL);
    }
    post_answer(op, ask, frame, sound ? SIM_OUTCOME_DONE : SIM_OUTCOME_OUT_OF_LIMITS, NULL);
    return true;
}

/* ---- in words ----------------------------------------------------------------------------- */

static void describe_pause(const struct sim_operator *op,
                           const struct sim_operator_result_message *result, char *text,
                           size_t size)
{
    (void)op;
    snprintf(text, size, "paused before frame %" PRIu64, result->frame);
}

static void describe_resume(const struct sim_operator *op,
                            const struct sim_operator_result_message *result, char *text,
                            size_t size)
{
    (void)op;
    snprintf(text, size, "goes on with frame %" PRIu64, result->frame);
}

static void describe_step(const struct sim_operator *op,
                          const struct sim_operator_result_message *result, char *text, size_t size)
{
    (void)op;
    snprintf(text, size, "%.0f frames from frame %" PRIu64 " on, then a pause",
             result->request.value, result->frame);
}

static void describe_reset(const struct sim_operator *op,
                           const struct sim_operator_result_message *result, char *text,
                           size_t size)
{
    (void)op;
    snprintf(text, size, "as at the start, before frame %" PRIu64, result->frame);
}

static void describe_checkpoint(const struct sim_operator *op,
                                const struct sim_operator_result_message *result, char *text,
                                size_t size)
{
    snprintf(text, size, "%" PRIu64 " bytes taken before frame %" PRIu64 " in %" PRIu64 " ns",
             op->mark.state_size, result->frame, result->copy_ns);
}

static void describe_restore(const struct sim_operator *op,
                             const struct sim_operator_result_message *result, char *text,
                             size_t size)
{
    (void)op;
    snprintf(text, size, "put back before frame %" PRIu64, result->frame);
}

static void describe_fault(const struct sim_operator *op,
                           const struct sim_operator_result_message *result, char *text,
                           size_t size)
{
    snprintf(text, size, "%s: %s before frame %" PRIu64,
             op->sim->spec->faults[result->request.index].text,
             result->request.value != 0.0 ? "begins" : "ends", result->frame);
}

static void describe_tune(const struct sim_operator *op,
                          const struct sim_operator_result_message *result, char *text, size_t size)
{
    const struct sim_parameter *parameter = &op->sim->spec->parameters[result->request.index];
    snprintf(text, size, "%s is %.10g %s from frame %" PRIu64 " on", parameter->name,
             result->request.value, parameter->unit, result->frame);
}

static void describe_stop_arm(const struct sim_operator *op,
                              const struct sim_operator_result_message *result, char *text,
                              size_t size)
{
    (void)op;
    snprintf(text, size, "the arm stops before frame %" PRIu64, result->frame);
}

/* ---- the rows ------------------------------------------------------------------------------ */

static const struct act_row {
    /* On the run state, of a live act and of a recorded one; NULL: it does not touch it. */
    void (*apply)(struct sim *sim, const struct sim_record_act *act,
                  const struct sim_snapshot *snapshot);
    /* Can a recorded one be applied to this spec?  NULL: always. */
    bool (*is_sound)(const struct sim_spec *spec, const struct sim_record_act *act);
    /* A request between two frames; false: not yet, it stays the next.  NULL: it is no request. */
    bool (*execute)(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame);
    /* What was done, in words. */
    void (*describe)(const struct sim_operator *op,
                     const struct sim_operator_result_message *result, char *text, size_t size);
} rows[SIM_ACT_COUNT] = {
    // clang-format off
    [SIM_ACT_PAUSE]      = {NULL,           NULL,              execute_pace,    describe_pause},
    [SIM_ACT_RESUME]     = {NULL,           NULL,              execute_pace,    describe_resume},
    [SIM_ACT_STEP]       = {NULL,           NULL,              execute_pace,    describe_step},
    [SIM_ACT_RESET]      = {apply_reset,    NULL,              execute_reset,   describe_reset},
    [SIM_ACT_CHECKPOINT] = {NULL,           NULL,              take_checkpoint, describe_checkpoint},
    [SIM_ACT_RESTORE]    = {apply_restore,  is_sound_restore,  restore_state,   describe_restore},
    [SIM_ACT_FAULT]      = {apply_fault,    is_sound_fault,    execute_fault,   describe_fault},
    [SIM_ACT_TUNE]       = {apply_tune,     is_sound_tune,     execute_tune,    describe_tune},
    [SIM_ACT_STOP_ARM]   = {apply_stop_arm, is_sound_stop_arm, NULL,            describe_stop_arm},
    // clang-format on
};

void sim_act_apply(struct sim *sim, const struct sim_record_act *act,
                   const struct sim_snapshot *snapshot)
{
    if (rows[act->act].apply != NULL)
        rows[act->act].apply(sim, act, snapshot);
}

bool sim_act_is_sound(const struct sim_spec *spec, const struct sim_record_act *act)
{
    return act->act < SIM_ACT_COUNT &&
           (rows[act->act].is_sound == NULL || rows[act->act].is_sound(spec, act));
}

bool sim_act_execute(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame)
{
    const enum sim_act act = ask->request->act;
    if (act < SIM_ACT_COUNT && rows[act].execute != NULL)
        return rows[act].execute(op, ask, frame);
    post_answer(op, ask, frame, SIM_OUTCOME_NO_SUCH_INDEX, NULL);
    return true;
}

void sim_act_describe(const struct sim_operator *op,
                      const struct sim_operator_result_message *result, char *text, size_t size)
{
    rows[result->request.act].describe(op, result, text, size);
}
