/*
 * The operator in the file thread: files, and nothing else.
 */
#include <stdio.h>

#include "rt/executive/operator/operator_private.h"

/* The first act of the command line that fails is told at the end. */
static void note_failure(struct sim_operator *op, const struct sim_operator_request *request,
                         const char *why)
{
    if (atomic_fetch_add_explicit(&op->failed, 1, memory_order_relaxed) == 0)
        snprintf(op->failure, sizeof op->failure, "checkpoint %s: %s", request->path, why);
}

/* There is room for the answer: that was seen to before. */
static void write_checkpoint(struct sim_operator *op,
                             const struct sim_operator_result_message *file_job)
{
    char why[SIM_CHECKPOINT_ERROR_MAX] = "";
    const int failure = sim_checkpoint_write(file_job->request.path, &op->mark, &op->taken, why);
    atomic_store_explicit(&op->snapshot_busy, false, memory_order_release);
    if (file_job->side == SIM_ORIGIN_SCRIPT) {
        if (failure)
            note_failure(op, &file_job->request, why);
        /* Release: a thread that sees that it is over sees how it ended. */
        atomic_fetch_add_explicit(&op->written, 1, memory_order_release);
        return;
    }
    struct sim_operator_result_message *result = rt_ring_claim(op->from_files);
    *result = *file_job;
    result->outcome = failure ? SIM_OUTCOME_FILE_FAILED : SIM_OUTCOME_DONE;
    snprintf(result->why, sizeof result->why, "%s", why);
    rt_ring_push(op->from_files);
}

/* The frame tells what came of it: it alone knows whether the state was put in. */
static void read_checkpoint(struct sim_operator *op,
                            const struct sim_operator_result_message *file_job)
{
    struct sim_restore_buffer *staging = &op->staging[file_job->side];
    const int failure = sim_checkpoint_read(file_job->request.path, &op->mark, op->sim->vehicle,
                                            staging->state, &staging->found, staging->why);
    atomic_store_explicit(&staging->stage, failure ? SIM_RESTORE_FAILED : SIM_RESTORE_READY,
                          memory_order_release);
    sim_operator_want_boundary(op);
}

void sim_operator_run_file_jobs(struct sim_operator *op)
{
    for (const struct sim_operator_result_message *file_job;
         (file_job = rt_ring_front(op->file_jobs)) != NULL;) {
        if (rt_ring_claim(op->from_files) == NULL)
            return; /* nobody has taken the answers so far; this one would be lost */
        if (file_job->request.act == SIM_ACT_CHECKPOINT)
            write_checkpoint(op, file_job);
        else
            read_checkpoint(op, file_job);
        rt_ring_pop(op->file_jobs);
    }
}
