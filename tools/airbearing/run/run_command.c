/*
 * airbearing run: set-up, the frames, and their report, in the order in which they happen.
 *
 * Tested by tests/scenario/run/test_run_start.py and test_run.py.
 */
#include "tools/airbearing/run/run_command.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/machine/cpu_latency.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/board_wait.h"
#include "tools/airbearing/run/housekeeping.h"
#include "tools/airbearing/run/output_files.h"
#include "tools/airbearing/run/place_threads.h"
#include "tools/airbearing/run/run_finish.h"
#include "tools/airbearing/run/run_frames.h"
#include "tools/airbearing/run/run_load.h"
#include "tools/airbearing/run/run_log.h"
#include "tools/airbearing/run/run_place.h"

/* Keep this thread, and with it the board's process, off the frame's core. */
static void pin_to_housekeeping(int cpu)
{
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set,
                            &set); /* when refused, the frame is only disturbed more */
}

static int plan_cores(struct run *run)
{
    const int code = place_threads_plan(run->scenario, &run->machine, &run->plan);
    if (code == 0)
        pin_to_housekeeping(run->plan.housekeeping_cpu);
    return code;
}

static int open_links(struct run *run)
{
    char error[IO_ERROR_MAX];
    if (!run->links || io_links_open(run->links, error) == 0)
        return 0;
    fprintf(stderr, "%s: %s\n", run->scenario->path, error);
    return EXIT_BAD_INPUT;
}

/* The last --set that names where the pulses go; NULL: the scenario does. */
static const char *pulse_override(const struct run_options *options)
{
    static const char *const keys[] = {"pulse", "pulse.to", "pulse.device"};
    for (int i = options->override_count - 1; i >= 0; i--) {
        const char *text = options->overrides[i];
        const size_t length = strcspn(text, "= ");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (strlen(keys[k]) == length && strncmp(text, keys[k], length) == 0)
                return text;
    }
    return NULL;
}

static int open_sync_pulse(struct run *run)
{
    const struct sim_sync_pulse *pulse = &run->scenario->spec.pulse;
    char why[IO_BUS_ERROR_MAX], error[CFG_ERROR_MAX];
    if (pulse->every == 0 ||
        io_sync_pulse_open(&run->sync_pulse, &pulse->bus, pulse->every, why) == 0)
        return 0;
    const char *override = pulse_override(&run->options);
    if (override)
        snprintf(error, sizeof error, "--set %.120s: %s", override, why);
    else
        cfg_scenario_complain(run->scenario, cfg_scenario_mark(run->scenario, "pulse", ""), error,
                              "%s", why);
    fprintf(stderr, "%s\n", error);
    return EXIT_BAD_INPUT;
}

static void on_panic(void *self)
{
    struct run *run = self;
    if (run->links)
        io_links_invalidate_outputs(run->links);
}

static int set_up(struct run *run)
{
    int code = run_load(run);
    if (code == 0)
        code = plan_cores(run);
    if (code)
        return code;
    run->memory_locked = rt_lock_memory(run->lock_refused);
    code = run_place(run);
    if (code)
        return code;
    (void)rt_cpu_latency_hold(); /* until the process ends; without it wake-ups are only later */
    rt_panic_install(on_panic, run);
    rt_stop_on_signals();
    code = open_links(run);
    return code ? code : open_sync_pulse(run);
}

/* Show a note of the operator's services in the viewers' log. */
static void log_note(void *self, const char *text)
{
    const struct run *run = self;
    serve_log_note(run->serve, text);
}

/* The index of the link that the page commands; -1: there is none. */
static int cockpit_link(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.link_count; i++) {
        if (scenario->spec.links[i].spec.bus.kind == IO_BUS_COCKPIT)
            return i;
    }
    return -1;
}

static int open_server(struct run *run)
{
    const int cockpit = run->links ? cockpit_link(run->scenario) : -1;
    const bool flies = cockpit >= 0 && run->options.serve.at;
    const int hand = flies ? io_link_cockpit_sender(run->links, cockpit) : -1;
    if (cockpit >= 0 && !flies)
        fprintf(stderr,
                "links.%s: the page that commands this link is not served; give --serve PORT\n",
                run->scenario->spec.links[cockpit].name);
    if (flies && hand < 0) {
        fprintf(stderr, "links.%s: cannot connect the page to the link: %s\n",
                run->scenario->spec.links[cockpit].name, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    const struct serve_spec spec = {
        .scenario = run->scenario,
        .layout = &run->layout,
        .telemetry = run->telemetry,
        .services = services_open(&run->services, run->sim_operator,
                                  (struct service_listener){run, log_note}),
        .hand = hand,
        .cpu = run->plan.housekeeping_cpu,
    };
    return serve_open(&run->options.serve, &spec, &run->serve);
}

/* A prediction needs real pace: only then is there a time ahead of the clock. */
static int open_predictor(struct run *run)
{
    int failure = 0;
    if (run->scenario->spec.pace == RT_PACE_REAL)
        run->predictor = sim_predictor_open(&run->scenario->spec, run->sim->prediction_input,
                                            run->plan.housekeeping_cpu, &failure);
    if (run->predictor && run->serve)
        serve_show_prediction(run->serve, run->predictor);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: cannot start the predictor thread: %s\n", strerror(-failure));
    return EXIT_BAD_INPUT;
}

/* Everything up to the first frame.  The log is started after the first message of the board. */
static int start_run(struct run *run)
{
    int code = serve_check(&run->options.serve);
    if (code == 0)
        code = set_up(run);
    if (code == 0)
        code = output_files_check(run);
    if (code == 0 && run->options.log)
        provenance_collect(&run->provenance, run->scenario, &run->machine, &run->plan);
    if (code == 0)
        code = open_server(run);
    if (code == 0)
        code = open_predictor(run);
    if (code == 0)
        code = housekeeping_open(run);
    if (code == 0)
        code = board_wait_connect(run);
    if (code == 0)
        code = run_log_start(run);
    if (code == 0)
        housekeeping_begin(run);
    if (code == 0)
        code = run_frames_start(run);
    return code;
}

/* Static, so that it is zeroed and outlives a stuck thread that may still read it. */
static struct run run_of_process = {.controller = {.output = -1}};

static int run_all(struct run *run)
{
    const int code = start_run(run);
    if (code) {
        run_abandon(run);
        return code;
    }
    run_frames_watch(run);
    return run_finish(run);
}

int run_from_snapshot(struct cfg_scenario *scenario, const struct run_options *options,
                      const struct sim_snapshot *start_state)
{
    struct run *run = &run_of_process;
    run->options = *options;
    run->scenario = scenario;
    run->start_state = start_state;
    return run_all(run);
}

int command_run(int argc, char **argv)
{
    bool done = false;
    const int code = options_read(argc, argv, &run_of_process.options, &done);
    return code || done ? code : run_all(&run_of_process);
}
