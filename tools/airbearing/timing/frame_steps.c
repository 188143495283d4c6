#include "tools/airbearing/timing/frame_steps.h"

struct list {
    struct frame_step *step;
    int count;
    uint64_t at_ns; /* where the last one ended */
};

/* Skip a step that took no time, or whose stamps are not in order. */
static void add_step(struct list *list, const char *name, uint64_t to_ns)
{
    if (to_ns <= list->at_ns)
        return;
    list->step[list->count++] = (struct frame_step){name, list->at_ns, to_ns};
    list->at_ns = to_ns;
}

int frame_steps_of(const struct evidence *evidence, const struct rt_flight_recorder_row *row,
                   struct frame_step steps[FRAME_STEPS_MAX])
{
    const bool is_early = row->sent_ns > row->jobs_ns;
    struct list list = {.step = steps, .at_ns = row->release_ns};
    if (row->await_ns) {
        list.at_ns = row->await_ns;
        add_step(&list, row->unanswered ? "no reply" : "reply", row->start_ns);
    }
    add_step(&list, "wake-up", row->start_ns);
    if (!is_early)
        add_step(&list, "commit", row->sent_ns);
    add_step(&list, "latch", row->jobs_ns);
    for (int j = 0; j < evidence->job_count; j++) {
        if (row->due >> j & 1)
            add_step(&list, evidence->job_name[j], list.at_ns + row->spent_ns[j]);
    }
    if (is_early)
        add_step(&list, "commit", row->sent_ns);
    list.at_ns = row->end_ns;
    add_step(&list, row->cause == RT_CAUSE_NONE ? "record" : "cause, record", row->recorded_ns);
    return list.count;
}

const struct rt_flight_recorder_row *frame_steps_worst(const struct figures *figures)
{
    const struct rt_flight_recorder_row *worst = NULL;
    uint64_t worst_ns = 0;
    for (size_t i = 0; i < figures->late_count; i++) {
        const struct late_frame *late = &figures->late[i];
        const struct rt_flight_recorder_row *row = evidence_row_of(figures->evidence, late->frame);
        if (row && late->over_ns > worst_ns) {
            worst = row;
            worst_ns = late->over_ns;
        }
    }
    return worst;
}
