#include "tools/airbearing/report/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "tools/airbearing/report/ground_result.h"
#include "tools/airbearing/report/report_figures.h"
#include "tools/airbearing/report/verdict.h"
#include "tools/airbearing/time_text.h"

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

/* Print the first outage of a link, and the number of all. */
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

/* Print what went wrong with a board. */
static void print_boards(const struct run *run)
{
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        const struct run_link *seen = &run->link[i];
        char gap[24];
        print_outages(run, i);
        if (seen->counters.commands == 0)
            printf("  %s: the controller was silent, no command ever came\n",
                   run->scenario->spec.links[i].name);
        else if (seen->cadence.silent > 0 || seen->cadence.late > 0)
            printf(
                "  %s: the controller was late %llu times and stopped sending %llu times, longest "
                "gap between commands %s\n",
                run->scenario->spec.links[i].name, (unsigned long long)seen->cadence.late,
                (unsigned long long)seen->cadence.silent,
                time_text((double)seen->cadence.gap_ns_max, gap));
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
               (unsigned long long)report_fault_hits(run, i));
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
           : phase_lock->observations == 0 ? "NOT locked, the board never answered a time request"
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
               report_predictor_speed(predicted), (unsigned long long)predicted->late);
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
        printf("  %d --act entries are later than the end of the run and were not carried out\n",
               acts->unreached);
}

static void print_counts(const struct run *run)
{
    const struct rt_frame *frame = run->frame;
    char margin[24], lag[24];
    printf(
        "\n  frames %llu, late %llu, releases missed %llu, sim lags wall by %s, least margin %s\n",
        (unsigned long long)frame->frames, (unsigned long long)frame->overruns,
        (unsigned long long)frame->missed, time_text((double)report_lag_ns(frame), lag),
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
    printf("  after set-up: %llu allocations, %llu page faults; drift %.3f ppm\n",
           (unsigned long long)run->allocations, (unsigned long long)run->page_faults,
           frame->drift_ppm);
    if (run->scenario->spec.environment.has_ground)
        printf("  altitude at the end %.3f m, %.3f m off, tilt %.2f deg\n",
               run->sim->scratch.signal[SIM_SIGNAL_ALTITUDE],
               run->sim->scratch.signal[SIM_SIGNAL_POSITION_ERROR],
               run->sim->scratch.signal[SIM_SIGNAL_TILT] * 180.0 / 3.14159265358979323846);
    else if (run->scenario->spec.link_count > 0)
        printf("  attitude error at the end %.4f deg\n",
               run->sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR] * 180.0 /
                   3.14159265358979323846);
    printf("  state hash %016llx\n", (unsigned long long)run->sim->scratch.hash);
}

/* Print the guarantees that the machine does not give, each with its remedy. */
static void print_notes(const struct run *run)
{
    static char notes[RT_NOTE_MAX][RT_NOTE_SIZE];
    const int count = rt_machine_notes(&run->machine, &run->plan, notes);
    printf("\nguarantees that this machine does not give:\n");
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

/* The reason for a rate limit of this body; "" where it has none. */
static const char *rate_note(const struct dyn_flex *flex)
{
    if (!flex->stiffens)
        return "; its modes have no psi2 and therefore no geometric stiffness";
    return flex->fidelity != DYN_FLEX_CONSISTENT ? "; fidelity: consistent has no rate limit" : "";
}

/* The remedy for a flexible body whose inertia left the range of its model. */
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
        printf("%s by %s in %llu%s", k > 0 ? "," : "", report_limit_name[k],
               (unsigned long long)out[k], k > 0 ? "" : " frames");
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
           (double)(frame->frames * frame->spec.period_ns) * 1e-9,
           (double)report_wall_ns(frame) * 1e-9);
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
               "log info lists the channels\n",
               (unsigned long long)run->log.dropped);
    if (run->options.log)
        printf("  log     %s (%llu records, %llu dropped)\n", run->options.log,
               (unsigned long long)run->log.records, (unsigned long long)run->log.dropped);
    if (run->options.report)
        printf("  report  %s\n", run->options.report);
}
