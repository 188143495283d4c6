/*
 * The operator's desk in the thread that keeps house: files, and nothing else.
 */
#include <stdio.h>

#include "rt/executive/operator/operator_private.h"

/* The first act of the command line that fails is told at the end. */
static void note_failure(struct operator_desk *desk, const struct operator_request *request,
                         const char *why)
{
    if (atomic_fetch_add_explicit(&desk->failed, 1, memory_order_relaxed) == 0)
        snprintf(desk->failure, sizeof desk->failure, "checkpoint %s: %s", request->path, why);
}

/* There is room for the answer: that was seen to before. */
static void write_checkpoint(struct operator_desk *desk, const struct operator_letter *chore)
{
    char why[CHECKPOINT_ERROR_MAX] = "";
    const int failure = checkpoint_write(chore->request.path, &desk->mark, &desk->taken, why);
    atomic_store_explicit(&desk->snapshot_busy, false, memory_order_release);
    if (chore->side == OPERATOR_SIDE_SCRIPT) {
        if (failure)
            note_failure(desk, &chore->request, why);
        /* Release: who sees that it is over sees how it ended. */
        atomic_fetch_add_explicit(&desk->written, 1, memory_order_release);
        return;
    }
    struct operator_letter *letter = rt_ring_claim(desk->from_house);
    *letter = *chore;
    letter->outcome = failure ? OPERATOR_FILE_FAILED : OPERATOR_DONE;
    snprintf(letter->why, sizeof letter->why, "%s", why);
    rt_ring_push(desk->from_house);
}

/* The frame tells what came of it: it alone knows whether the state was put in. */
static void read_checkpoint(struct operator_desk *desk, const struct operator_letter *chore)
{
    struct operator_staging *staging = &desk->staging[chore->side];
    const int failure = checkpoint_read(chore->request.path, &desk->mark, desk->rig->cfg,
                                        staging->state, &staging->found, staging->why);
    atomic_store_explicit(&staging->stage, failure ? OPERATOR_FAILED : OPERATOR_READY,
                          memory_order_release);
    operator_knock(desk);
}

void operator_keep_house(struct operator_desk *desk)
{
    for (const struct operator_letter *chore; (chore = rt_ring_front(desk->chores)) != NULL;) {
        if (rt_ring_claim(desk->from_house) == NULL)
            return; /* nobody has taken the answers so far; this one would be lost */
        if (chore->request.act == OPERATOR_CHECKPOINT)
            write_checkpoint(desk, chore);
        else
            read_checkpoint(desk, chore);
        rt_ring_pop(desk->chores);
    }
}
