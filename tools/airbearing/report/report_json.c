#include "tools/airbearing/report/report_json.h"

#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>

#include "config/scenario.h"
#include "rt/alloc.h"
#include "rt/executive/arm/arm_record.h"
#include "tools/airbearing/report/ground_result.h"
#include "tools/airbearing/report/report_figures.h"
#include "tools/airbearing/report/verdict.h"

static const char *const end_name[] = {"complete",  "signal", "overrun",
                                       "link_lost", "hung",   "controller_ended"};

static json_t *json_u64(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* A number, or null for an infinity, a NaN and what was not measured. */
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

/* The least margin of this fraction of the frames. */
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

/* The sum at the top level, and each part under its name. */
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

static json_t *realtime_json(const struct run *run)
{
    const int policy = report_frame_policy(run);
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
    json_object_set_new(report, "seconds_wall", json_real((double)report_wall_ns(frame) * 1e-9));
    json_object_set_new(report, "period_ns", json_u64(frame->spec.period_ns));
    json_object_set_new(report, "wall_ns", json_u64(report_wall_ns(frame)));
    json_object_set_new(report, "start_error_ns", histogram_json(&frame->start_error_ns));
    json_object_set_new(report, "busy_ns", histogram_json(&frame->busy_ns));
    json_object_set_new(report, "margin_ns", margin_json(frame));
    json_object_set_new(report, "overruns", json_u64(frame->overruns));
    json_object_set_new(report, "missed", json_u64(frame->missed));
    json_object_set_new(report, "paused", json_u64(frame->paused));
    json_object_set_new(report, "caught_up", json_u64(frame->caught_up));
    json_object_set_new(report, "missed_replies", json_u64(frame->missed_replies));
    json_object_set_new(report, "lag_ns", json_u64(report_lag_ns(frame)));
    json_object_set_new(report, "overrun_causes", causes_json(frame));
    json_object_set_new(report, "stolen_ns_total", json_u64(run->cause_finder.stolen_ns_total));
    json_object_set_new(report, "drift_ppm", real_or_null(frame->drift_ppm, !run->stuck));
}

/* Frames in which a flexible body left the range of its model. */
static json_t *out_of_range_json(const struct sim_schedule_state *schedule)
{
    json_t *counts = json_object();
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        json_object_set_new(counts, report_limit_name[k], json_u64(schedule->out_of_range[k]));
    return counts;
}

static const char *const board_name[] = {[IO_BOARD_SILENT] = "silent",
                                         [IO_BOARD_HEARD] = "heard",
                                         [IO_BOARD_NOT_HIL] = "not in HIL mode",
                                         [IO_BOARD_READY] = "ready"};

/* The frames at which a link was lost and heard again; null where it was not heard again. */
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

/* Each link: its peer, its counts, and how regularly commands came. */
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
                     {"gap_ns_max", seen->cadence.gap_ns_max},
                     {"late", seen->cadence.late},
                     {"silent", seen->cadence.silent},
                     {"resets", run->source.resets[i]},
                     {"freewheel_messages", seen->wake_up_messages},
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

/* The frame in which the operator or the scenario first switched a fault on; null: never. */
static json_t *first_frame_json(const struct run *run, int i)
{
    const uint64_t frame = run->sim->vehicle->fault[i].first_frame;
    return frame == UINT64_MAX ? json_null() : json_u64(frame);
}

/* The operator's acts, and the time that they took from the frame. */
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

/* The arm's state at the end, and its grapples and releases. */
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

/* How often each fault acted. */
static json_t *faults_json(const struct run *run)
{
    json_t *array = json_array();
    for (int i = 0; i < run->scenario->spec.fault_count; i++) {
        const struct sim_fault *fault = &run->scenario->spec.faults[i];
        json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "fault", fault->text,
                                               "first_frame", first_frame_json(run, i), "hits",
                                               json_u64(report_fault_hits(run, i))));
    }
    return array;
}

/* The board as a process: whether and how it ended before the run. */
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

/* How well the frames followed the board's clock; null without a phase lock. */
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
    const struct io_sync_pulse *sync_pulse = &run->sync_pulse;
    if (run->scenario->spec.pulse.every == 0)
        return json_null();
    return json_pack("{s:i, s:o, s:o}", "every", (int)sync_pulse->every, "sent",
                     json_u64(sync_pulse->sent), "dropped", json_u64(sync_pulse->dropped));
}

/* The predictor's figures; null where none ran. */
static json_t *predictor_json(const struct run *run)
{
    const struct sim_predictor_result *predicted = &run->predicted;
    if (predicted->seconds_ahead <= 0.0)
        return json_null();
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o}", "predictions",
                     json_u64(predicted->predictions), "seconds_ahead", predicted->seconds_ahead,
                     "speed",
                     real_or_null(report_predictor_speed(predicted), predicted->predictions > 0),
                     "late", json_u64(predicted->late), "cut", json_u64(predicted->cut), "spent_ns",
                     histogram_json(&predicted->spent_ns));
}

/* The signals at the end of the run, in SI units. */
static json_t *signals_json(const struct run *run)
{
    json_t *object = json_object();
    for (int i = 0; i < SIM_SIGNAL_COUNT; i++)
        json_object_set_new(object, cfg_signal_name((enum sim_signal)i),
                            real_or_null(run->sim->scratch.signal[i], true));
    return object;
}

/* The frame and body at which the motion became implausible; null: it did not. */
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
