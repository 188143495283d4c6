/*
 * The report of a run: the JSON object of the command-line contract, the same as a table, and one
 * verdict in plain words.
 */
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "rt/alloc.h"
#include "rt/executive/arm/arm_record.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/ground_result.h"
#include "tools/airbearing/run/run.h"
#include "tools/airbearing/run/verdict.h"

static const char *const end_name[] = {"complete",  "signal", "overrun",
                                       "link_lost", "hung",   "controller_ended"};

static uint64_t wall_ns(const struct rt_frame *frame)
{
    if (frame->frames == 0)
        return 0;
    return frame->last_release_ns - frame->first_release_ns + frame->spec.period_ns;
}

static uint64_t lag_ns(const struct rt_frame *frame)
{
    return frame->missed * frame->spec.period_ns;
}

/* ---- JSON ------------------------------------------------------------------------------ */

static json_t *json_u64(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* JSON knows no infinity and no NaN, and what was not measured is not a number either. */
static json_t *real_or_null(double value, bool known)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *histogram_json(const struct rt_histogram *histogram)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "p50", json_u64(rt_histogram_quantile(histogram, 0.5)),
        "p99", json_u64(rt_histogram_quantile(histogram, 0.99)), "p999",
        json_u64(rt_histogram_quantile(histogram, 0.999)), "max", json_u64(histogram->max),
        "max_frame", json_u64(histogram->max_frame), "count", json_u64(histogram->count));
}

/* The margin that this fraction of the frames had at least. */
static int64_t margin_at(const struct rt_frame *frame, double fraction)
{
    if (frame->response_ns.count == 0)
        return 0;
    return (int64_t)(frame->spec.period_ns - rt_histogram_quantile(&frame->response_ns, fraction));
}

static json_t *margin_json(const struct rt_frame *frame)
{
    const struct rt_histogram *response = &frame->response_ns;
    return json_pack("{s:I, s:o, s:I, s:I, s:I, s:o}", "min", (json_int_t)frame->margin_ns_min,
                     "min_frame", json_u64(frame->margin_frame_min), "p50",
                     (json_int_t)margin_at(frame, 0.5), "p99", (json_int_t)margin_at(frame, 0.99),
                     "p999", (json_int_t)margin_at(frame, 0.999), "count",
                     json_u64(response->count));
}

static json_t *causes_json(const struct rt_frame *frame)
{
    json_t *object = json_object();
    for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++)
        json_object_set_new(object, rt_cause_name[i], json_u64(frame->causes[i]));
    return object;
}

/* The sum at the top, each part by its name below it. */
static json_t *latency_json(const struct run *run, int link)
{
    static const struct io_latency none;
    const struct io_latency *latency = run->links ? io_link_latency(run->links, link) : &none;
    json_t *object = histogram_json(&latency->part[IO_LATENCY_SUM]);
    for (int i = 0; i < IO_LATENCY_SUM; i++)
        json_object_set_new(object, io_latency_part_name[i], histogram_json(&latency->part[i]));
    return object;
}

static json_t *jobs_json(const struct rt_schedule *schedule, double rate_hz)
{
    json_t *array = json_array();
    for (int i = 0; i < schedule->job_count; i++) {
        const struct rt_job *job = &schedule->job[i];
        json_t *object = histogram_json(&schedule->time[i]);
        json_object_set_new(object, "name", json_string(job->name));
        json_object_set_new(object, "rate_hz", json_real(rate_hz / job->every));
        json_object_set_new(object, "predicted_ns", json_u64(job->predicted_ns));
        json_array_append_new(array, object);
    }
    return array;
}

/* What the frame thread had at its end; of one that is stuck, at its start. */
static int policy_of(const struct run *run)
{
    return run->stuck ? run->frame_thread.policy : run->end_policy;
}

static json_t *realtime_json(const struct run *run)
{
    const int policy = policy_of(run);
    const int priority = run->stuck ? run->frame_thread.priority : run->end_priority;
    json_t *cpus =
        json_pack("{s:i, s:i, s:i}", "frame", run->frame_thread.cpu, "io",
                  run->links ? run->plan.io_cpu : -1, "housekeeping", run->plan.housekeeping_cpu);
    const int cpu = run->plan.frame_cpu;
    const bool isolated = cpu >= 0 && cpu < RT_CPU_MAX && run->machine.isolated[cpu];
    const char *why;
    const bool met = report_realtime(run, &why);
    return json_pack("{s:b, s:s, s:i, s:o, s:b, s:b, s:b, s:b, s:s?}", "kernel_rt",
                     run->machine.kernel_rt, "policy",
                     policy == SCHED_FIFO ? "fifo"
                     : policy == SCHED_RR ? "rr"
                                          : "other",
                     "priority", priority, "cpus", cpus, "isolated", isolated, "memory_locked",
                     run->memory_locked, "required", run->scenario->require_realtime, "met", met,
                     "missing", why);
}

static json_t *expectations_json(const struct run *run)
{
    static const char *const verdict[] = {[SIM_EXPECTATION_MET] = "met",
                                          [SIM_EXPECTATION_FAILED] = "failed",
                                          [SIM_EXPECTATION_NOT_REACHED] = "not reached"};
    json_t *array = json_array();
    for (int i = 0; i < run->scenario->spec.expect_count; i++) {
        const struct sim_expectation_watch *watch = &run->sim->scratch.expect[i];
        const enum sim_expectation_verdict judged = sim_expectation_judge(watch);
        json_array_append_new(
            array,
            json_pack("{s:s, s:s, s:o}", "expect", watch->expect->text, "verdict", verdict[judged],
                      "worst", real_or_null(watch->worst, judged != SIM_EXPECTATION_NOT_REACHED)));
    }
    return array;
}

static void add_time(json_t *report, const struct run *run)
{
    const struct rt_frame *frame = run->frame;
    const double simulated = (double)(frame->frames * frame->spec.period_ns) * 1e-9;
    json_object_set_new(report, "frames", json_u64(frame->frames));
    json_object_set_new(report, "rate_hz", json_real(run->scenario->spec.rate_hz));
    json_object_set_new(report, "pace", json_string(options_pace_name[run->scenario->spec.pace]));
    json_object_set_new(report, "seconds_simulated", json_real(simulated));
    json_object_set_new(report, "seconds_wall", json_real((double)wall_ns(frame) * 1e-9));
    json_object_set_new(report, "period_ns", json_u64(frame->spec.period_ns));
    json_object_set_new(report, "wall_ns", json_u64(wall_ns(frame)));
    json_object_set_new(report, "start_error_ns", histogram_json(&frame->start_error_ns));
    json_object_set_new(report, "busy_ns", histogram_json(&frame->busy_ns));
    json_object_set_new(report, "margin_ns", margin_json(frame));
    json_object_set_new(report, "overruns", json_u64(frame->overruns));
    json_object_set_new(report, "missed", json_u64(frame->missed));
    json_object_set_new(report, "paused", json_u64(frame->paused));
    json_object_set_new(report, "caught_up", json_u64(frame->caught_up));
    json_object_set_new(report, "missed_replies", json_u64(frame->missed_replies));
    json_object_set_new(report, "lag_ns", json_u64(lag_ns(frame)));
    json_object_set_new(report, "overrun_causes", causes_json(frame));
    json_object_set_new(report, "stolen_ns_total", json_u64(run->cause_finder.stolen_ns_total));
    json_object_set_new(report, "drift_ppm", real_or_null(frame->drift_ppm, !run->stuck));
}

static const char *const limit_name[] = {[DYN_VALIDITY_RATE] = "rate",
                                         [DYN_VALIDITY_DEFLECTION] = "deflection",
                                         [DYN_VALIDITY_STIFFNESS] = "stiffness",
                                         [DYN_VALIDITY_INERTIA] = "inertia"};

/* Frames in which a flexible body left the range of its model. */
static json_t *out_of_range_json(const struct sim_schedule_state *schedule)
{
    json_t *counts = json_object();
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        json_object_set_new(counts, limit_name[k], json_u64(schedule->out_of_range[k]));
    return counts;
}

static const char *const board_name[] = {[IO_BOARD_SILENT] = "silent",
                                         [IO_BOARD_HEARD] = "heard",
                                         [IO_BOARD_NOT_HIL] = "not in HIL mode",
                                         [IO_BOARD_READY] = "ready"};

/* When a link was lost, and when it was heard again: null where it was not. */
static json_t *outages_json(const struct run *run, int link)
{
    const struct sim_link_outages *seen = &run->source.outages[link];
    json_t *array = json_array();
    for (uint32_t i = 0; i < seen->count && i < SIM_LINK_OUTAGE_MAX; i++) {
        const struct sim_link_outage *outage = &seen->kept[i];
        json_t *last =
            outage->last_frame == UINT64_MAX ? json_null() : json_u64(outage->last_frame);
        json_array_append_new(array, json_pack("{s:o, s:o}", "lost_frame",
                                               json_u64(outage->first_frame), "heard_frame", last));
    }
    return array;
}

/* Each link by itself: who was there, how regularly it spoke. */
static json_t *links_json(const struct run *run)
{
    json_t *array = json_array();
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        const struct sim_link *link = &run->scenario->spec.links[i];
        const struct run_link *seen = &run->link[i];
        const struct io_link_counts *io = &seen->counters;
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:s}", "name", link->name, "protocol",
                      cfg_protocol_name(link->spec.protocol), "bus",
                      cfg_bus_name(link->spec.bus.kind), "board", board_name[seen->board]);
        const struct {
            const char *name;
            uint64_t value;
        } count[] = {{"rx", io->rx},
                     {"tx", io->tx},
                     {"rx_bytes", io->rx_bytes},
                     {"tx_bytes", io->tx_bytes},
                     {"rx_bad", io->rx_bad},
                     {"rx_lost", io->rx_lost},
                     {"tx_dropped", io->tx_dropped},
                     {"commands", io->commands},
                     {"duplicates", io->duplicates},
                     {"losses", io->losses},
                     {"forwarded", io->forwarded},
                     {"forward_dropped", io->forward_dropped},
                     {"gap_ns_max", seen->pulse.gap_ns_max},
                     {"late", seen->pulse.late},
                     {"silent", seen->pulse.silent},
                     {"resets", run->source.resets[i]},
                     {"freewheel_messages", seen->board_wake_up},
                     {"epoch_us", run->sim->epoch_us[i]},
                     {"delay_ns", link->delay * run->scenario->spec.period_ns}};
        for (size_t k = 0; k < sizeof count / sizeof count[0]; k++)
            json_object_set_new(object, count[k].name, json_u64(count[k].value));
        json_object_set_new(object, "loop_latency_ns", latency_json(run, i));
        json_object_set_new(object, "outages", outages_json(run, i));
        json_object_set_new(object, "ground", ground_result_json(run, i));
        json_array_append_new(array, object);
    }
    return array;
}

static uint64_t hits_of(const struct run *run, int i)
{
    const struct sim_fault *fault = &run->scenario->spec.faults[i];
    if (fault->link >= 0 && fault->spec.kind == IO_FAULT_DELAY)
        return run->sim->scratch.delay_out[fault->link].hits + run->sim->scratch.delay_in[fault->link].hits;
    return fault->link >= 0 && run->links
               ? io_link_fault_hits(run->links, fault->link, fault->link_fault_index)
               : run->sim->vehicle->fault[i].hits;
}

/* By the operator's hand or the scenario's; null: it was never begun. */
static json_t *first_frame_json(const struct run *run, int i)
{
    const uint64_t frame = run->sim->vehicle->fault[i].first_frame;
    return frame == UINT64_MAX ? json_null() : json_u64(frame);
}

/* What the operator did, and what it cost the frame. */
static json_t *operator_acts_json(const struct run *run)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:b}", "acts", json_u64(run->acts.acts),
                     "checkpoints", json_u64(run->acts.checkpoints), "checkpoint_bytes",
                     json_u64(run->acts.state_size), "checkpoint_copy_ns_max",
                     json_u64(run->acts.copy_ns_max), "failed", run->acts.failed, "not_reached",
                     run->acts.unreached, "files_hung", run->housekeeping.files_hung);
}

static json_t *latched_json(const struct run *run)
{
    const struct sim_arm *spec = &run->scenario->spec.arm;
    json_t *names = json_array();
    for (int i = 0; i < spec->payload_count; i++)
        if (run->sim->vehicle->arm->latched >> i & 1)
            json_array_append_new(
                names, json_string(run->scenario->spec.bodies[spec->payload[i].body].name));
    return names;
}

/* How the arm was left, and what it took and gave. */
static json_t *arm_json(const struct run *run)
{
    const struct sim_arm_state *state = run->sim->vehicle->arm;
    if (state == NULL)
        return json_null();
    const struct sim_arm *spec = &run->scenario->spec.arm;
    const uint64_t has = state->configuration;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "mode",
        io_arm_panel_mode_name[state->panel.mode], "payload",
        has > 0 ? json_string(run->scenario->spec.bodies[spec->payload[has - 1].body].name)
                : json_null(),
        "latched", latched_json(run), "grapples", json_u64(state->grapples), "releases",
        json_u64(state->releases), "refused", json_u64(state->refused), "safed",
        state->panel.safed != 0, "last_blow_joules", real_or_null(state->blow, true));
}

/* How often each fault struck. */
static json_t *faults_json(const struct run *run)
{
    json_t *array = json_array();
    for (int i = 0; i < run->scenario->spec.fault_count; i++) {
        const struct sim_fault *fault = &run->scenario->spec.faults[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "fault", fault->text,
                                               "first_frame", first_frame_json(run, i), "hits",
                                               json_u64(hits_of(run, i))));
    }
    return array;
}

/* The board as a process: did it live, and as long as the run? */
static json_t *controller_json(const struct run *run)
{
    const struct controller *board = &run->controller;
    char text[CONTROLLER_TEXT_MAX] = "";
    if (board->died_early)
        controller_end_text(board, text);
    return json_pack("{s:s, s:b, s:b, s:i, s:s?}", "program", board->program, "died_early",
                     board->died_early, "killed", board->killed, "status", board->status, "ended",
                     text[0] ? text : NULL);
}

/* How well the frames followed the board's clock; null where they followed none. */
static json_t *phase_lock_json(const struct run *run)
{
    const struct rt_phase_lock *phase_lock = run->frame->phase_lock;
    const struct sim_phase_lock *lock = &run->scenario->spec.lock;
    if (phase_lock == NULL)
        return json_null();
    json_t *object = json_pack(
        "{s:s, s:s, s:b, s:b, s:f, s:f, s:I}", "link", run->scenario->spec.links[lock->link].name,
        "source", cfg_lock_source_name(lock->source), "locked", phase_lock->locked, "saturated",
        phase_lock->saturated, "rate_ppm", rt_phase_lock_ppm(phase_lock), "limit_ppm",
        phase_lock->spec.limit_ppm, "corrected_ns", (json_int_t)run->frame->corrected_ns);
    json_object_set_new(object, "error_ns", histogram_json(&phase_lock->error_ns));
    json_object_set_new(object, "observations", json_u64(phase_lock->observations));
    json_object_set_new(object, "locked_frames", json_u64(phase_lock->locked_steps));
    json_object_set_new(object, "losses", json_u64(phase_lock->losses));
    json_object_set_new(object, "slips", json_u64(phase_lock->slips));
    return object;
}

static json_t *pulse_json(const struct run *run)
{
    const struct io_sync_pulse *pulser = &run->pulser;
    if (run->scenario->spec.pulse.every == 0)
        return json_null();
    return json_pack("{s:i, s:o, s:o}", "every", (int)pulser->every, "sent", json_u64(pulser->sent),
                     "dropped", json_u64(pulser->dropped));
}

/* Simulated seconds per second of the wall clock, by the median. */
static double predictor_speed(const struct sim_predictor_result *predicted)
{
    return predicted->seconds_ahead /
           ((double)rt_histogram_quantile(&predicted->spent_ns, 0.5) * 1e-9);
}

/* How the ghost did; null where none ran. */
static json_t *predictor_json(const struct run *run)
{
    const struct sim_predictor_result *predicted = &run->predicted;
    if (predicted->seconds_ahead <= 0.0)
        return json_null();
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o}", "predictions",
                     json_u64(predicted->predictions), "seconds_ahead", predicted->seconds_ahead,
                     "speed", real_or_null(predictor_speed(predicted), predicted->predictions > 0),
                     "late", json_u64(predicted->late), "cut", json_u64(predicted->cut), "spent_ns",
                     histogram_json(&predicted->spent_ns));
}

/* The watched signals as the run left them, SI. */
static json_t *signals_json(const struct run *run)
{
    json_t *object = json_object();
    for (int i = 0; i < SIM_SIGNAL_COUNT; i++)
        json_object_set_new(object, cfg_signal_name((enum sim_signal)i),
                            real_or_null(run->sim->scratch.signal[i], true));
    return object;
}

/* Where the motion began to be absurd; null: nowhere. */
static json_t *unsound_json(const struct run *run)
{
    const struct sim_plausibility *motion = &run->sim->scratch.plausibility;
    if (motion->flaw == SIM_PLAUSIBILITY_OK)
        return json_null();
    return json_pack("{s:s, s:o, s:s, s:o}", "what",
                     motion->flaw == SIM_PLAUSIBILITY_TOO_FAST ? "speed" : "energy", "frame",
                     json_u64(motion->frame), "body", run->scenario->spec.bodies[motion->body].name,
                     "value", real_or_null(motion->value, true));
}

static json_t *verdict_object(const struct run *run)
{
    struct verdict verdict;
    verdict_judge(run, &verdict);
    return verdict_json(&verdict);
}

static void add_rest(json_t *report, const struct run *run)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->sim->scratch.hash);
    json_object_set_new(report, "loop_latency_ns", latency_json(run, 0));
    json_object_set_new(report, "jobs", jobs_json(run->sim->schedule, run->scenario->spec.rate_hz));
    json_object_set_new(report, "allocations_after_seal", json_u64(run->allocations));
    json_object_set_new(report, "allocations_counted", json_boolean(rt_alloc_is_counted()));
    json_object_set_new(report, "page_faults_after_seal",
                        run->stuck ? json_null() : json_u64(run->page_faults));
    json_object_set_new(report, "involuntary_switches",
                        run->stuck ? json_null() : json_u64(run->switches));
    json_object_set_new(report, "io",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rx", json_u64(run->io.rx),
                                  "tx", json_u64(run->io.tx), "rx_bad", json_u64(run->io.rx_bad),
                                  "tx_dropped", json_u64(run->io.tx_dropped), "rx_lost",
                                  json_u64(run->io.rx_lost), "commands", json_u64(run->io.commands),
                                  "losses", json_u64(run->io.losses)));
    json_object_set_new(report, "phase_lock", phase_lock_json(run));
    json_object_set_new(report, "pulse", pulse_json(run));
    json_object_set_new(report, "predictor", predictor_json(run));
    json_object_set_new(report, "links", links_json(run));
    json_object_set_new(report, "faults", faults_json(run));
    json_object_set_new(report, "operator", operator_acts_json(run));
    json_object_set_new(report, "arm", arm_json(run));
    json_object_set_new(report, "signals", signals_json(run));
    if (run->controller.program[0])
        json_object_set_new(report, "controller", controller_json(run));
    json_object_set_new(report, "log",
                        json_pack("{s:o, s:o, s:o, s:o, s:i}", "records",
                                  json_u64(run->log.records), "dropped", json_u64(run->log.dropped),
                                  "thinned", json_u64(run->log.decimated), "bytes",
                                  json_u64(run->log.bytes), "error", -run->log.error));
    json_object_set_new(report, "recorder_lost", json_u64(run->sim->recorder->lost));
    if (run->serve)
        json_object_set_new(
            report, "live",
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "viewers", json_u64(run->served.viewers),
                      "refused", json_u64(run->served.refused), "floods",
                      json_u64(run->served.floods), "dismissed", json_u64(run->served.dismissed),
                      "sent", json_u64(run->served.sent), "lost", json_u64(run->served.lost)));
    json_object_set_new(report, "state_hash", json_string(hash));
    json_object_set_new(report, "isa", json_string(dyn_isa_name(run->scenario->spec.isa)));
    json_object_set_new(report, "realtime", realtime_json(run));
    json_object_set_new(report, "scenario", json_string(run->scenario->spec.name));
    json_object_set_new(report, "seed", json_u64(run->scenario->spec.seed));
    json_object_set_new(report, "ended", json_string(end_name[run->end]));
    json_object_set_new(report, "attitude_error_rad",
                        real_or_null(run->sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR], true));
    json_object_set_new(report, "not_finite", json_u64(run->sim->vehicle->schedule->not_finite));
    json_object_set_new(report, "out_of_range", out_of_range_json(run->sim->vehicle->schedule));
    json_object_set_new(report, "unsound", unsound_json(run));
    json_object_set_new(report, "expect", expectations_json(run));
    json_object_set_new(report, "verdict", verdict_object(run));
}

struct json_t *report_json(const struct run *run)
{
    json_t *report = json_object();
    add_time(report, run);
    add_rest(report, run);
    return report;
}

/* ---- the verdict ----------------------------------------------------------------------- */

bool report_realtime(const struct run *run, const char **why)
{
    const int cpu = run->plan.frame_cpu;
    *why = NULL;
    if (!run->machine.kernel_rt)
        *why = "the kernel is not PREEMPT_RT";
    else if (policy_of(run) != SCHED_FIFO && policy_of(run) != SCHED_RR)
        *why = "the frame thread has no real-time priority";
    else if (run->io_thread.tid && run->io_thread.policy != SCHED_FIFO)
        *why = "the I/O thread has no real-time priority";
    else if (!run->memory_locked)
        *why = "memory is not locked";
    else if (cpu < 0 || run->frame_thread.cpu != cpu)
        *why = "the frame thread is not pinned to its core";
    else if (cpu >= RT_CPU_MAX || !run->machine.isolated[cpu])
        *why = "the frame thread's core is not isolated";
    return *why == NULL;
}

/* ---- the table ------------------------------------------------------------------------- */

/* A time in the unit a person would choose. */
static const char *time_text(double ns, char text[24])
{
    if (fabs(ns) < 1e3)
        snprintf(text, 24, "%.0f ns", ns);
    else if (fabs(ns) < 1e6)
        snprintf(text, 24, "%.1f us", ns * 1e-3);
    else if (fabs(ns) < 1e9)
        snprintf(text, 24, "%.2f ms", ns * 1e-6);
    else
        snprintf(text, 24, "%.3f s", ns * 1e-9);
    return text;
}

static void print_row(const char *name, const struct rt_histogram *histogram)
{
    char p50[24], p99[24], p999[24], max[24];
    if (histogram->count == 0)
        return;
    printf("  %-14s %11s %11s %11s %11s\n", name,
           time_text((double)rt_histogram_quantile(histogram, 0.5), p50),
           time_text((double)rt_histogram_quantile(histogram, 0.99), p99),
           time_text((double)rt_histogram_quantile(histogram, 0.999), p999),
           time_text((double)histogram->max, max));
}

static void print_times(const struct run *run)
{
    printf("\n  %-14s %11s %11s %11s %11s\n", "", "median", "99 %", "99.9 %", "worst");
    if (run->scenario->spec.pace == RT_PACE_REAL)
        print_row("start error", &run->frame->start_error_ns);
    print_row("busy", &run->frame->busy_ns);
    if (!run->links)
        return;
    const struct io_latency *latency = io_link_latency(run->links, 0);
    print_row("loop latency", &latency->part[IO_LATENCY_SUM]);
    for (int i = 0; i < IO_LATENCY_SUM; i++) {
        char name[32];
        snprintf(name, sizeof name, "  %s", io_latency_part_name[i]);
        print_row(name, &latency->part[i]);
    }
}

static void print_jobs(const struct run *run)
{
    const struct rt_schedule *schedule = run->sim->schedule;
    printf("\n  %-14s %11s %11s %11s %11s\n", "job", "rate", "predicted", "median", "worst");
    for (int i = 0; i < schedule->job_count; i++) {
        char predicted[24], median[24], worst[24];
        const struct rt_job *job = &schedule->job[i];
        printf("  %-14s %8.4g Hz %11s %11s %11s\n", job->name,
               run->scenario->spec.rate_hz / job->every,
               time_text((double)job->predicted_ns, predicted),
               time_text((double)rt_histogram_quantile(&schedule->time[i], 0.5), median),
               time_text((double)schedule->time[i].max, worst));
    }
}

/* The first, and how many more there were. */
static void print_outages(const struct run *run, int link)
{
    const struct sim_link_outages *seen = &run->source.outages[link];
    const struct sim_link_outage *first = &seen->kept[0];
    if (seen->count == 0)
        return;
    printf("  %s: lost at frame %llu", run->scenario->spec.links[link].name,
           (unsigned long long)first->first_frame);
    if (first->last_frame != UINT64_MAX)
        printf(", heard again at frame %llu", (unsigned long long)first->last_frame);
    else
        printf(", not heard again");
    if (seen->count > 1)
        printf("; %u losses, %u returns in all", seen->count, seen->returns);
    printf("\n");
}

/* What is worth a word about a board that did not do its part. */
static void print_boards(const struct run *run)
{
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        const struct run_link *seen = &run->link[i];
        char gap[24];
        print_outages(run, i);
        if (seen->counters.commands == 0)
            printf("  %s: the controller was silent, no command ever came\n",
                   run->scenario->spec.links[i].name);
        else if (seen->pulse.silent > 0 || seen->pulse.late > 0)
            printf("  %s: the controller was late %llu times and fell silent %llu times, longest "
                   "gap between commands %s\n",
                   run->scenario->spec.links[i].name, (unsigned long long)seen->pulse.late,
                   (unsigned long long)seen->pulse.silent,
                   time_text((double)seen->pulse.gap_ns_max, gap));
    }
    ground_result_print(run);
    if (run->frame->missed_replies > 0)
        printf("  lockstep: %llu replies did not come within the wait limit\n",
               (unsigned long long)run->frame->missed_replies);
    if (run->controller.died_early) {
        char text[CONTROLLER_TEXT_MAX];
        controller_end_text(&run->controller, text);
        printf("  %s, before the run did\n", text);
    }
    for (int i = 0; i < run->scenario->spec.fault_count; i++)
        printf("  fault %s struck %llu times\n", run->scenario->spec.faults[i].text,
               (unsigned long long)hits_of(run, i));
}

static void print_lock(const struct run *run)
{
    const struct rt_phase_lock *phase_lock = run->frame->phase_lock;
    char median[24], worst[24], corrected[24];
    if (phase_lock == NULL)
        return;
    printf("  phase lock to %s: %s, error %s median, %s worst; grid %+.3f ppm%s, corrected %s\n",
           run->scenario->spec.links[run->scenario->spec.lock.link].name,
           phase_lock->locked              ? "locked"
           : phase_lock->observations == 0 ? "NOT locked, the board never told its time"
                                           : "NOT locked",
           time_text((double)rt_histogram_quantile(&phase_lock->error_ns, 0.5), median),
           time_text((double)phase_lock->error_ns.max, worst), rt_phase_lock_ppm(phase_lock),
           phase_lock->saturated ? " (its limit)" : "",
           time_text((double)run->frame->corrected_ns, corrected));
}

static void print_predictor(const struct run *run)
{
    const struct sim_predictor_result *predicted = &run->predicted;
    if (predicted->predictions > 0)
        printf("  %llu predictions of %.4g s, %.4g times faster than the clock; %llu took longer "
               "than there is between two\n",
               (unsigned long long)predicted->predictions, predicted->seconds_ahead,
               predictor_speed(predicted), (unsigned long long)predicted->late);
}

static void print_acts(const struct run *run)
{
    const struct sim_operator_result *acts = &run->acts;
    char copy[24];
    if (run->frame->paused > 0)
        printf("  paused for %llu releases\n", (unsigned long long)run->frame->paused);
    if (acts->checkpoints > 0)
        printf("  %llu checkpoints of %llu bytes, the longest copy took the frame %s\n",
               (unsigned long long)acts->checkpoints, (unsigned long long)acts->state_size,
               time_text((double)acts->copy_ns_max, copy));
    if (acts->failed > 0)
        printf("  --act %s\n", acts->failure);
    if (run->housekeeping.files_hung)
        printf("  a checkpoint was still under way half a minute after the last frame: its file is "
               "not "
               "known to be written\n");
    if (acts->unreached > 0)
        printf("  %d acts lie behind the end of the run and were not carried out\n",
               acts->unreached);
}

static void print_counts(const struct run *run)
{
    const struct rt_frame *frame = run->frame;
    char margin[24], lag[24];
    printf(
        "\n  frames %llu, late %llu, releases missed %llu, sim lags wall by %s, least margin %s\n",
        (unsigned long long)frame->frames, (unsigned long long)frame->overruns,
        (unsigned long long)frame->missed, time_text((double)lag_ns(frame), lag),
        time_text((double)frame->margin_ns_min, margin));
    print_acts(run);
    if (frame->overruns > 0) {
        printf("  late because of:");
        for (int i = RT_CAUSE_NONE + 1; i < RT_CAUSE_COUNT; i++) {
            if (frame->causes[i] > 0)
                printf(" %s %llu", rt_cause_name[i], (unsigned long long)frame->causes[i]);
        }
        printf("\n");
    }
    if (run->links)
        printf("  messages in %llu (bad %llu, lost %llu), out %llu (dropped %llu), commands %llu\n",
               (unsigned long long)run->io.rx, (unsigned long long)run->io.rx_bad,
               (unsigned long long)run->io.rx_lost, (unsigned long long)run->io.tx,
               (unsigned long long)run->io.tx_dropped, (unsigned long long)run->io.commands);
    printf("  after the seal: %llu allocations, %llu page faults; drift %.3f ppm\n",
           (unsigned long long)run->allocations, (unsigned long long)run->page_faults,
           frame->drift_ppm);
    if (run->scenario->spec.environment.has_ground)
        printf("  altitude at the end %.3f m, %.3f m off, tilt %.2f deg\n",
               run->sim->scratch.signal[SIM_SIGNAL_ALTITUDE], run->sim->scratch.signal[SIM_SIGNAL_POSITION_ERROR],
               run->sim->scratch.signal[SIM_SIGNAL_TILT] * 180.0 / 3.14159265358979323846);
    else if (run->scenario->spec.link_count > 0)
        printf("  attitude error at the end %.4f deg\n",
               run->sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR] * 180.0 / 3.14159265358979323846);
    printf("  state hash %016llx\n", (unsigned long long)run->sim->scratch.hash);
}

/* What the machine did not give, each with its remedy. */
static void print_notes(const struct run *run)
{
    static char notes[RT_NOTE_MAX][RT_NOTE_SIZE];
    const int count = rt_machine_notes(&run->machine, &run->plan, notes);
    printf("\nguarantees not had on this machine:\n");
    if (!run->memory_locked)
        printf("  - %s\n", run->lock_refused);
    if (run->frame_thread.refused[0])
        printf("  - frame thread: %s\n", run->frame_thread.refused);
    if (run->links && run->io_thread.refused[0])
        printf("  - I/O thread: %s\n", run->io_thread.refused);
    if (run->links && io_links_note(run->links)[0])
        printf("  - %s\n", io_links_note(run->links));
    for (int i = 0; i < count; i++)
        printf("  - %s\n", notes[i]);
}

/* Why this body has a limit of rate, if it has one. */
static const char *rate_note(const struct dyn_flex *flex)
{
    if (!flex->stiffens)
        return "; its modes have no psi2 and know no geometric stiffness";
    return flex->fidelity != DYN_FLEX_CONSISTENT ? "; fidelity: consistent knows no limit of rate"
                                                 : "";
}

/* A consistent body has an end of its own. */
static const char *stiffness_note(const struct run *run)
{
    return run->sim->vehicle->schedule->out_of_range[DYN_VALIDITY_INERTIA] > 0
               ? ", the bent body's fidelity ruthless, its modes fewer"
               : "";
}

static void print_range(const struct run *run)
{
    const struct sim *sim = run->sim;
    const uint64_t *out = sim->vehicle->schedule->out_of_range;
    const struct sim_body *first = &run->scenario->spec.bodies[sim->scratch.first_out_of_range];
    if (!sim_left_flex_range(sim))
        return;
    printf("  flexible bodies left the range of their models, \"%s\" first:", first->name);
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        printf("%s by %s in %llu%s", k > 0 ? "," : "", limit_name[k], (unsigned long long)out[k],
               k > 0 ? "" : " frames");
    printf("%s\n", out[DYN_VALIDITY_RATE] > 0 ? rate_note(first->spec.flex) : "");
}

static void print_expectations(const struct run *run)
{
    for (int i = 0; i < run->scenario->spec.expect_count; i++) {
        const struct sim_expectation_watch *watch = &run->sim->scratch.expect[i];
        const enum sim_expectation_verdict verdict = sim_expectation_judge(watch);
        const char *unit = cfg_signal_unit(watch->expect->signal);
        const bool turns = strncmp(unit, "rad", 3) == 0;
        if (verdict == SIM_EXPECTATION_NOT_REACHED)
            printf("  expect %s: the run ended before that\n", watch->expect->text);
        else
            printf("  expect %s: %s, worst %.4g %s%s\n", watch->expect->text,
                   verdict == SIM_EXPECTATION_MET ? "yes" : "NO",
                   watch->worst * (turns ? 180.0 / 3.14159265358979323846 : 1.0),
                   turns ? "deg" : "", turns ? unit + 3 : unit);
    }
}

static void print_verdict(const struct run *run, const struct verdict *verdict)
{
    const struct rt_frame *frame = run->frame;
    printf("\nverdict: %s; simulated %.3f s in %.3f s of wall time\n", verdict->text,
           (double)(frame->frames * frame->spec.period_ns) * 1e-9, (double)wall_ns(frame) * 1e-9);
    verdict_print(verdict);
    if (run->sim->vehicle->schedule->not_finite > 0)
        printf("  %llu steps were refused; make the step smaller (integrator.substeps)%s or the "
               "forces softer\n",
               (unsigned long long)run->sim->vehicle->schedule->not_finite, stiffness_note(run));
    print_range(run);
    print_expectations(run);
}

void report_print(const struct run *run)
{
    struct verdict verdict;
    verdict_judge(run, &verdict);
    printf("%s: %g Hz, %s pace: %s\n", run->scenario->spec.name, run->scenario->spec.rate_hz,
           options_pace_name[run->scenario->spec.pace], verdict.text);
    print_times(run);
    print_jobs(run);
    print_counts(run);
    print_boards(run);
    print_lock(run);
    print_predictor(run);
    controller_print_output(&run->controller, "  ");
    if (run->scenario->spec.pace == RT_PACE_REAL)
        print_notes(run);
    print_verdict(run, &verdict);
    if (run->log.error)
        printf("  log: the disk refused (%s); readable up to the last whole chunk\n",
               strerror(-run->log.error));
    if (run->options.log && run->log.dropped > 0 && !run->log.error)
        printf("  log: %llu records were dropped, they came faster than the disk took them; "
               "airbearing "
               "log info tells of which channels\n",
               (unsigned long long)run->log.dropped);
    if (run->options.log)
        printf("  log     %s (%llu records, %llu dropped)\n", run->options.log,
               (unsigned long long)run->log.records, (unsigned long long)run->log.dropped);
    if (run->options.report)
        printf("  report  %s\n", run->options.report);
}
