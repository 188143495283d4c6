#include "tools/airbearing/run/run_finish.h"

#include <stdio.h>
#include <unistd.h>

#include "config/scenario.h"
#include "rt/alloc.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/report/report_text.h"
#include "tools/airbearing/report/verdict.h"
#include "tools/airbearing/run/ending.h"
#include "tools/airbearing/run/housekeeping.h"
#include "tools/airbearing/run/output_files.h"
#include "tools/airbearing/run/run_log.h"

static void finish_links(struct run *run)
{
    run->allocations = rt_alloc_count();
    if (!run->links)
        return;
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        run->link[i].board = io_link_board_state(run->links, i);
        io_link_cadence(run->links, i, rt_now_ns(), &run->link[i].cadence);
    }
    if (!run->stuck) /* it may still return, and needs them open */
        io_links_stop(run->links);
    run->allocations = rt_alloc_count();
    run->page_faults += io_links_page_faults(run->links);
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        struct io_link_counts counters;
        io_link_counters(run->links, i, &counters);
        run->link[i].counters = counters;
        run->io.rx += counters.rx;
        run->io.tx += counters.tx;
        run->io.rx_bytes += counters.rx_bytes;
        run->io.tx_bytes += counters.tx_bytes;
        run->io.rx_bad += counters.rx_bad;
        run->io.rx_lost += counters.rx_lost;
        run->io.tx_dropped += counters.tx_dropped;
        run->io.commands += counters.commands;
        run->io.losses += counters.losses;
    }
}

int run_finish(struct run *run)
{
    struct verdict verdict;
    ending_classify(run);
    finish_links(run); /* before anything that may wait for a disk */
    housekeeping_close(run);
    if (!run->stuck)
        io_sync_pulse_close(&run->sync_pulse);
    controller_stop(&run->controller);
    sim_predictor_stop(run->predictor, &run->predicted);
    run_log_finish(run);
    verdict_judge(run, &verdict);
    serve_verdict(run->serve, verdict.text, verdict.exit_code == EXIT_OK);
    serve_close(run->serve, &run->served);
    sim_predictor_close(run->predictor);
    const int code = output_files_write_report(run);
    if (code)
        run->options.report = NULL;
    report_print(run);
    fflush(NULL);
    if (run->stuck)
        _exit(EXIT_BY_POLICY);
    rt_thread_join(&run->frame_thread);
    const int exit_code = verdict.exit_code ? verdict.exit_code : code;
    if (run->housekeeping.files_hung || run->housekeeping.display_hung)
        _exit(exit_code); /* they may still read what exit() destroys */
    return exit_code;
}

void run_abandon(struct run *run)
{
    housekeeping_abandon(run);
    io_sync_pulse_close(&run->sync_pulse);
    if (run->links)
        io_links_stop(run->links);
    controller_stop(&run->controller);
    if (run->log_started)
        io_telemetry_stop(run->telemetry, NULL, 0, &run->log);
    serve_close(run->serve, NULL);
    sim_predictor_close(run->predictor);
    if (run->log_made)
        output_files_remove_log(run->options.log);
    if (run->report_made)
        unlink(run->options.report);
}
