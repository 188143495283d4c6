#include "tools/airbearing/run/ending.h"
#include "config/scenario.h"

#include <stdio.h>
#include <string.h>

#include "rt/panic.h"

/* Polls after the controller's end before the frames are stopped: its last messages may still
 * arrive, and a run that has its last reply ends by itself meanwhile. */
enum { GRACE_LOOKS = 10 };

/* ---- the controller -------------------------------------------------------------------- */

/* True when the controller answers on this link.  In a scenario with boards, hand controllers
 * belong to a person. */
static bool is_controller_link(const struct cfg_scenario *scenario, int index)
{
    bool boards = false;
    for (int i = 0; i < scenario->spec.link_count; i++)
        boards = boards || !io_protocol_traits(scenario->spec.links[i].spec.protocol)->hands;
    const struct sim_link *link = &scenario->spec.links[index];
    return boards ? !io_protocol_traits(link->spec.protocol)->hands
                  : link->spec.bus.kind != IO_BUS_COCKPIT;
}

/* True when the run may continue without the controller: the scenario gives on_loss for each of
 * its links. */
static bool loss_policy_is_given(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.link_count; i++)
        if (is_controller_link(scenario, i) && !scenario->spec.links[i].on_loss_given)
            return false;
    return true;
}

void ending_watch_controller(struct run *run)
{
    char text[CONTROLLER_TEXT_MAX];
    if (run->controller.program[0] == '\0' || controller_running(&run->controller))
        return;
    if (rt_stop_signal() || loss_policy_is_given(run->scenario))
        return;
    if (run->controller_gone_polls++ < GRACE_LOOKS)
        return;
    if (!run->stopped_by_controller) {
        controller_end_text(&run->controller, text);
        serve_log_error(run->serve, text);
    }
    run->stopped_by_controller = true;
    atomic_store_explicit(&run->frame->stop, true, memory_order_relaxed);
    if (run->links)
        io_links_interrupt(run->links);
}

/* True when all frames ran, but some without the controller: a reply was missing, or the link was
 * lost. */
static bool frames_ran_without_controller(const struct run *run)
{
    const struct cfg_scenario *scenario = run->scenario;
    if (!run->controller.died_early || run->stuck || loss_policy_is_given(scenario))
        return false;
    for (int i = 0; i < scenario->spec.link_count; i++)
        if (is_controller_link(scenario, i) &&
            (run->sim->vehicle->link[i].lost ||
             (scenario->spec.pace != RT_PACE_REAL && run->sim->scratch.unanswered[i])))
            return true;
    return false;
}

/* ---- the end --------------------------------------------------------------------------- */

void ending_classify(struct run *run)
{
    run->signal = rt_stop_signal();
    /* The watchdog may have fired and the thread recovered between two polls; the outputs were
     * invalidated all the same. */
    if (atomic_load_explicit(&run->watchdog.expired, memory_order_relaxed))
        run->end = RUN_HUNG;
    if (run->end == RUN_HUNG)
        return;
    const bool stopped = run->frame->end == RT_END_STOPPED;
    if (run->frame->end == RT_END_POLICY)
        run->end = RUN_OVERRUN;
    else if ((run->stopped_by_controller && stopped) ||
             (!stopped && frames_ran_without_controller(run)))
        run->end = RUN_CONTROLLER_ENDED;
    else if (atomic_load_explicit(&run->source.link_lost, memory_order_relaxed))
        run->end = RUN_LINK_LOST;
    else if (stopped)
        run->end = RUN_SIGNAL;
    if (run->links && (run->end == RUN_CONTROLLER_ENDED || run->end == RUN_LINK_LOST))
        io_links_invalidate_outputs(run->links);
}

void ending_text(const struct run *run, char text[ENDING_TEXT_MAX])
{
    char controller[CONTROLLER_TEXT_MAX];
    const unsigned long long frame = run->frame->frames;
    text[0] = '\0';
    switch (run->end) {
    case RUN_COMPLETE:
        break;
    case RUN_SIGNAL:
        snprintf(text, ENDING_TEXT_MAX, "interrupted by SIG%s after frame %llu",
                 run->signal ? sigabbrev_np(run->signal) : "TERM", frame);
        break;
    case RUN_OVERRUN:
        snprintf(text, ENDING_TEXT_MAX,
                 "stopped by the overrun policy at frame %llu; boards were told that the "
                 "simulation is invalid",
                 frame);
        break;
    case RUN_LINK_LOST:
        snprintf(text, ENDING_TEXT_MAX, "stopped because the link was lost at frame %llu", frame);
        break;
    case RUN_CONTROLLER_ENDED:
        controller_end_text(&run->controller, controller);
        snprintf(text, ENDING_TEXT_MAX, "%s; the run stopped at frame %llu", controller, frame);
        break;
    case RUN_HUNG:
        snprintf(text, ENDING_TEXT_MAX,
                 "the frame thread hung, or was kept off its core, after frame %llu; "
                 "boards were told that the simulation is invalid",
                 frame);
        break;
    }
}
