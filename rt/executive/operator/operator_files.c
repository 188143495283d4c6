/*
 * The operator's desk in the thread that keeps house: files, and nothing else.
 */
#include <stdio.h>

#include "rt/executive/operator/operator_private.h"

/* The first act of the command line that fails is told at the end. */
static void note_failure(struct sim_operator *desk, const struct sim_operator_request *request,
                         const char *why)
{
    if (atomic_fetch_add_explicit(&desk->failed, 1, memory_order_relaxed) == 0)
        snprintf(desk->failure, sizeof desk->failure, "checkpoint %s: %s", request->path, why);
}

/* There is room for the answer: that was seen to before. */
static void write_checkpoint(struct sim_operator *desk,
                             const struct sim_operator_result_message *chore)
{
    char why[SIM_CHECKPOINT_ERROR_MAX] = "";
    const int failure = sim_checkpoint_write(chore->request.path, &desk->mark, &desk->taken, why);
    atomic_store_explicit(&desk->snapshot_busy, false, memory_order_release);
    if (chore->side == SIM_ORIGIN_SCRIPT) {
        if (failure)
            note_failure(desk, &chore->request, why);
        /* Release: who sees that it is over sees how it ended. */
        atomic_fetch_add_explicit(&desk->written, 1, memory_order_release);
        return;
    }
    struct sim_operator_result_message *letter = rt_ring_claim(desk->from_files);
    *letter = *chore;
    letter->outcome = failure ? SIM_OUTCOME_FILE_FAILED : SIM_OUTCOME_DONE;
    snprintf(letter->why, sizeof letter->why, "%s", why);
    rt_ring_push(desk->from_files);
}

/* The frame tells what came of it: it alone knows whether the state was put in. */
static void read_checkpoint(struct sim_operator *desk,
                            const struct sim_operator_result_message *chore)
{
    struct sim_restore_buffer *staging = &desk->staging[chore->side];
    const int failure = sim_checkpoint_read(chore->request.path, &desk->mark, desk->sim->vehicle,
                                            staging->state, &staging->found, staging->why);
    atomic_store_explicit(&staging->stage, failure ? SIM_RESTORE_FAILED : SIM_RESTORE_READY,
                          memory_order_release);
    sim_operator_want_boundary(desk);
}

void sim_operator_run_file_jobs(struct sim_operator *desk)
{
    for (const struct sim_operator_result_message *chore;
         (chore = rt_ring_front(desk->file_jobs)) != NULL;) {
        if (rt_ring_claim(desk->from_files) == NULL)
            return; /* nobody has taken the answers so far; this one would be lost */
        if (chore->request.act == SIM_ACT_CHECKPOINT)
            write_checkpoint(desk, chore);
        else
            read_checkpoint(desk, chore);
        rt_ring_pop(desk->file_jobs);
    }
}
