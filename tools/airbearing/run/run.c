/*
 * airbearing run: set-up, the frames, and the truth about them.
 */
#include "tools/airbearing/run/run.h"
#include "config/scenario.h"
#include "tools/airbearing/run/betaflight_msp.h"
#include "tools/airbearing/run/ground_result.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/log/append_file.h"
#include "io/log/write_file.h"
#include "rt/alloc.h"
#include "rt/check.h"
#include "rt/executive/state/digest.h"
#include "rt/machine/cpu_latency.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/run/act_script.h"
#include "tools/airbearing/run/ending.h"
#include "tools/airbearing/run/place_threads.h"
#include "tools/airbearing/run/verdict.h"

/* ---- set-up ---------------------------------------------------------------------------- */

/* What --act and --restore ask for.  A checkpoint to begin with is restored before frame 0. */
static int read_script(struct run *run)
{
    const struct run_options *options = &run->options;
    char error[CFG_ERROR_MAX];
    if (options->restore || run->from) {
        struct sim_scripted_act *first = &run->script[run->script_count++];
        first->text = "--restore";
        first->request = (struct sim_operator_request){
            .ticket = UINT64_MAX, .act = SIM_ACT_RESTORE, .index = run->from != NULL};
    }
    for (int i = 0; i < options->act_count; i++) {
        if (run->script_count == SIM_OPERATOR_SCRIPT_MAX ||
            act_script_read(options->acts[i], run->scenario, &run->script[run->script_count],
                            error)) {
            fprintf(stderr, "--act %s: %s\n", options->acts[i],
                    run->script_count == SIM_OPERATOR_SCRIPT_MAX ? "too many" : error);
            return EXIT_BAD_INPUT;
        }
        run->script_count++;
    }
    act_script_sort(run->script, run->script_count);
    if (!act_script_ends_paused(run->script, run->script_count) || options->serve.at)
        return 0; /* who looks on may end a pause */
    fprintf(stderr,
            "airbearing run: the last --act leaves a pause that nobody ends; add a resume\n");
    return EXIT_BAD_INPUT;
}

static int load_scenario_and_options(struct run *run)
{
    char error[CFG_ERROR_MAX];
    const struct run_options *options = &run->options;
    if (!run->from && cfg_scenario_load(options->scenario, options->overrides,
                                        options->override_count, &run->scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    struct cfg_scenario *scenario = run->scenario;
    run->watchdog.limit_ns = scenario->spec.watchdog_ns; /* before any thread looks at it */
    if (options->pace >= 0)
        scenario->spec.pace = (enum rt_pace)options->pace;
    if (options->seconds > 0.0)
        scenario->spec.seconds = options->seconds;
    if (!scenario->commit_given)
        scenario->spec.commit =
            scenario->spec.pace == RT_PACE_LOCKSTEP ? RT_COMMIT_EARLY : RT_COMMIT_GRID;
    if (!run->from && cfg_check_pace(scenario, scenario->spec.pace, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    if (scenario->spec.seconds * scenario->spec.rate_hz < 0.5) {
        fprintf(stderr, "airbearing run: --seconds %g is less than one frame of %g s\n",
                scenario->spec.seconds, 1.0 / scenario->spec.rate_hz);
        return EXIT_BAD_INPUT;
    }
    const int code = read_script(run);
    return code ? code : options_inject(options, scenario, &run->inject);
}

/* This thread, and with it the board's process, stays off the frame's core. */
static void pin_to_housekeeping(int cpu)
{
    cpu_set_t set;
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* refused: only less quiet */
}

static int plan_cores(struct run *run)
{
    const int code = place_threads_plan(run->scenario, &run->machine, &run->plan);
    if (code == 0)
        pin_to_housekeeping(run->plan.housekeeping_cpu);
    return code;
}

/* Everything the run touches, in one arena: laid out twice, once to size it and once to place it.
 */
static size_t lay_out_arena(struct run *run, void *mem)
{
    const struct cfg_scenario *scenario = run->scenario;
    size_t at = 0;
    void *sim = rt_layout_cut(mem, &at, sim_size(&scenario->spec, &run->inject));
    run->frame = rt_layout_cut(mem, &at, sizeof *run->frame);
    void *live = rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct rt_frame_live)));
    void *links = rt_layout_cut(mem, &at, io_links_size(scenario->spec.link_count));
    if (mem) {
        run->sim = sim_place(&scenario->spec, &run->inject, sim);
        run->frame_live = rt_mailbox_place(sizeof(struct rt_frame_live), live);
        struct io_link_spec specs[IO_LINK_MAX];
        for (int i = 0; i < scenario->spec.link_count; i++) {
            specs[i] = scenario->spec.links[i].spec;
            specs[i].queries_time &=
                scenario->spec.pace == RT_PACE_REAL; /* else there is no grid */
            specs[i].awaited = scenario->spec.pace != RT_PACE_REAL &&
                               !io_protocol_traits(specs[i].protocol)->hands;
        }
        if (scenario->spec.link_count > 0 && !run->from)
            run->links =
                io_links_place(specs, scenario->spec.link_count, scenario->spec.io_mode, links);
    }
    return at;
}

/* Positions and velocities of the model, needed to size the log before the rig is placed. */
static void count_coordinates(const struct cfg_scenario *scenario, int *nq, int *nv)
{
    *nq = *nv = 0;
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct dyn_body_spec *spec = &scenario->spec.bodies[i].spec;
        const bool bends = spec->flex != NULL && spec->flex->fidelity != DYN_FLEX_RIGID;
        *nq += dyn_joint_nq(spec) + (bends ? spec->flex->modes : 0);
        *nv += dyn_joint_nv(spec) + (bends ? spec->flex->modes : 0);
    }
}

/* The way of a command through the loop goes into the log. */
static void log_latency(void *self, int link, uint64_t frame, uint64_t rx_ns,
                        const uint64_t part_ns[IO_LATENCY_SUM])
{
    const struct run *run = self;
    const int channel = run->layout.latency;
    struct sim_record_latency *out =
        io_telemetry_claim(run->telemetry, channel, frame * run->scenario->spec.period_ns);
    if (!out)
        return;
    out->frame = frame;
    out->rx_ns = rx_ns;
    memcpy(out->part_ns, part_ns, sizeof out->part_ns);
    out->link = (uint8_t)link;
    io_telemetry_push(run->telemetry, channel);
}

/* And what the ground stations say, and hear. */
static void log_ground(void *self, int link, int step, uint64_t frame, enum io_ground_event event,
                       int answer)
{
    const struct run *run = self;
    const int channel = run->layout.ground;
    struct sim_record_ground *out =
        io_telemetry_claim(run->telemetry, channel, frame * run->scenario->spec.period_ns);
    if (!out)
        return;
    *out =
        (struct sim_record_ground){.frame = frame,
                                   .link = (uint8_t)link,
                                   .step = (uint8_t)step,
                                   .event = (uint8_t)event,
                                   .answer = answer < 0 ? SIM_RECORD_NO_ANSWER : (uint8_t)answer};
    io_telemetry_push(run->telemetry, channel);
}

static int open_operator(struct run *run)
{
    const struct run_options *options = &run->options;
    char error[256];
    run->desk = sim_operator_open(run->sim, &run->frame->boundary_wanted);
    RT_CHECK(run->desk);
    sim_operator_set_script(run->desk, run->script, run->script_count);
    run->watchdog.estop = sim_operator_estop(run->desk);
    if (run->links)
        sim_operator_watch_links(run->desk, run->links);
    if (run->from)
        sim_operator_start_from_state(run->desk, run->from->state, run->from->hash);
    if (!options->restore || sim_operator_start_from_file(run->desk, options->restore, error) == 0)
        return 0;
    fprintf(stderr, "airbearing run: --restore %s\n", error);
    return EXIT_BAD_INPUT;
}

static int place_in_arena(struct run *run)
{
    struct io_channel_spec channels[IO_CHANNEL_MAX];
    int nq, nv;
    count_coordinates(run->scenario, &nq, &nv);
    struct sim_record_jobs jobs;
    sim_job_names(&run->scenario->spec, &run->inject, &jobs);
    sim_record_channels(&run->scenario->spec, nq, nv, &jobs, channels);
    const struct sim_record_layout layout =
        sim_record_layout(&run->scenario->spec, nq, nv, jobs.count);
    const int channel_count = layout.count;
    sim_log_decimation_apply(&run->decimation, &run->scenario->spec, &layout, channels);
    const size_t telemetry_size = io_telemetry_size(channels, channel_count);
    const size_t size =
        lay_out_arena(run, NULL) + telemetry_size + 2 * RT_CACHE_LINE; /* two takes */

    const int failure = rt_arena_open(&run->arena, size, run->plan.frame_cpu);
    if (failure) {
        fprintf(stderr,
                "airbearing run: cannot map %zu bytes: %s; close other programs or log fewer "
                "signals\n",
                size, strerror(-failure));
        return EXIT_BAD_INPUT;
    }
    (void)lay_out_arena(run, rt_arena_alloc(&run->arena, lay_out_arena(run, NULL)));
    run->telemetry =
        io_telemetry_place(channels, channel_count, rt_arena_alloc(&run->arena, telemetry_size));
    io_telemetry_trigger(run->telemetry, &run->decimation.trigger);
    run->sim->telemetry = run->telemetry;
    run->sim_live = run->sim->live;
    run->sim_fault_flags = run->sim->shown;
    run->layout = run->sim->layout;
    run->sim->links = run->links;
    if (run->links) {
        io_links_observe_latency(run->links, (struct io_latency_observer){run, log_latency});
        io_links_observe_ground(run->links,
                                (struct io_ground_observer){.self = run, .observe = log_ground});
    }
    rt_arena_seal(&run->arena);
    return open_operator(run);
}

static int open_links(struct run *run)
{
    char error[IO_ERROR_MAX];
    if (!run->links || io_links_open(run->links, error) == 0)
        return 0;
    fprintf(stderr, "%s: %s\n", run->scenario->path, error);
    return EXIT_BAD_INPUT;
}

static int open_pulser(struct run *run)
{
    const struct sim_sync_pulse *pulse = &run->scenario->spec.pulse;
    char why[IO_BUS_ERROR_MAX], error[CFG_ERROR_MAX];
    if (pulse->every == 0 || io_sync_pulse_open(&run->pulser, &pulse->bus, pulse->every, why) == 0)
        return 0;
    cfg_scenario_complain(run->scenario, cfg_scenario_mark(run->scenario, "pulse", ""), error, "%s",
                          why);
    fprintf(stderr, "%s\n", error);
    return EXIT_BAD_INPUT;
}

/* ---- files ----------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int refuse_file(const char *option, const char *path, const char *why)
{
    fprintf(stderr, "airbearing run: %s %s: %s\n", option, path, why);
    return EXIT_BAD_INPUT;
}

static const char *why_no_log(int failure)
{
    return failure == -EBUSY ? "another run writes it; choose another --log" : strerror(-failure);
}

/* Can it be written?  Found out before the run, without touching what is in it; *made tells that it
 * was not there before. */
static int check_output_file(const char *option, const char *path, struct stat *status, bool *made)
{
    const bool there = lstat(path, status) == 0; /* a link to nowhere is there, too */
    if (stat(path, status) == 0 && !S_ISREG(status->st_mode) && !S_ISCHR(status->st_mode))
        return refuse_file(option, path, "not a regular file; give the name of one");
    const int fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse_file(option, path, strerror(errno));
    *made = !there;
    fstat(fd, status);
    close(fd);
    return 0;
}

/* What another run has recorded is not written over unasked. */
static int refuse_overwrite(const struct run_options *options, const struct stat *log)
{
    char why[128];
    if (options->overwrite || !S_ISREG(log->st_mode) || log->st_size == 0)
        return 0;
    snprintf(why, sizeof why,
             "has %lld bytes already; give another name, or --overwrite to lose them",
             (long long)log->st_size);
    return refuse_file("--log", options->log, why);
}

/* Does another run write this log?  Found out before a board is kept waiting for it. */
static int check_log_lock(const char *path)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const int failure = fd < 0 ? -errno : io_append_file_lock(fd);
    if (fd >= 0)
        close(fd);
    return failure ? refuse_file("--log", path, why_no_log(failure)) : 0;
}

static int check_output_files(struct run *run)
{
    const struct run_options *options = &run->options;
    struct stat scenario = {0}, log = {0}, report = {0};
    int code = 0;
    (void)stat(options->scenario, &scenario);
    if (options->log)
        code = check_output_file("--log", options->log, &log, &run->log_made);
    if (code == 0 && options->log)
        code = check_log_lock(options->log);
    if (code == 0 && options->log && !same_file(&log, &scenario))
        code = refuse_overwrite(options, &log);
    if (code == 0 && options->report)
        code = check_output_file("--report", options->report, &report, &run->report_made);
    if (code)
        return code;
    if (options->log && same_file(&log, &scenario))
        return refuse_file("--log", options->log, "that is the scenario itself");
    if (options->report && same_file(&report, &scenario))
        return refuse_file("--report", options->report, "that is the scenario itself");
    if (options->log && options->report && S_ISREG(log.st_mode) && same_file(&log, &report))
        return refuse_file("--report", options->report, "that is the log; give it another name");
    return 0;
}

/* The scenario and the files that it names, which is all that a replay needs, and the machine. The
 * caller frees it. */
static struct io_blob *log_attachments(const struct run *run, int *count)
{
    const struct cfg_scenario *scenario = run->scenario;
    const char *machine = run->provenance.machine;
    int files = 1;
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        files++;
    struct io_blob *blobs = calloc((size_t)files + 1, sizeof *blobs);
    RT_CHECK(blobs != NULL);
    *count = 0;
    blobs[(*count)++] = (struct io_blob){.name = "scenario.yaml",
                                         .media_type = "application/yaml",
                                         .bytes = scenario->text,
                                         .size = scenario->text_size};
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        blobs[(*count)++] = (struct io_blob){.name = file->name,
                                             .media_type = "text/plain",
                                             .bytes = file->text,
                                             .size = file->size};
    if (machine)
        blobs[(*count)++] = (struct io_blob){.name = "audit.json",
                                             .media_type = "application/json",
                                             .bytes = machine,
                                             .size = strlen(machine)};
    return blobs;
}

/* Which program this is. */
static void name_binary(char text[SIM_DIGEST_TEXT_SIZE])
{
    uint64_t hash, size;
    text[0] = '\0';
    if (sim_digest_file("/proc/self/exe", &hash, &size))
        sim_digest_text(hash, text);
}

static int start_log(struct run *run)
{
    static const char *const overrun_name[] = {"skip", "catch-up", "stop"};
    const struct cfg_scenario *scenario = run->scenario;
    char lock_ppm[32], seed[32], rate[32], seconds[32], period[32], set_key[RUN_OVERRIDE_MAX][16];
    char binary[SIM_DIGEST_TEXT_SIZE];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)scenario->spec.seed);
    snprintf(rate, sizeof rate, "%.17g", scenario->spec.rate_hz);
    snprintf(seconds, sizeof seconds, "%.17g", scenario->spec.seconds);
    snprintf(period, sizeof period, "%llu", (unsigned long long)scenario->spec.period_ns);
    snprintf(lock_ppm, sizeof lock_ppm, "%.17g",
             scenario->spec.lock.link >= 0 ? scenario->spec.lock.spec.limit_ppm : 0.0);
    name_binary(binary);
    enum { FIXED_PAIRS = 13 };
    const char *pairs[2 * (RUN_OVERRIDE_MAX + FIXED_PAIRS + PROVENANCE_PAIR_COUNT) + 1] = {
        "version",
        AIRBEARING_VERSION,
        "scenario",
        scenario->path,
        "seed",
        seed,
        "rate_hz",
        rate,
        "seconds",
        seconds,
        "isa",
        dyn_isa_name(scenario->spec.isa),
        "pace",
        options_pace_name[scenario->spec.pace],
        "period_ns",
        period,
        "overrun",
        overrun_name[scenario->spec.overrun],
        "commit",
        scenario->spec.commit == RT_COMMIT_EARLY ? "early" : "grid",
        "require_realtime",
        scenario->require_realtime ? "yes" : "no",
        "binary_hash",
        binary,
        "lock_ppm",
        lock_ppm};
    int count = 2 * FIXED_PAIRS;
    count += provenance_pairs(&run->provenance, pairs + count);
    for (int i = 0; i < run->options.override_count; i++) {
        snprintf(set_key[i], sizeof set_key[i], "set.%d", i);
        pairs[count++] = set_key[i];
        pairs[count++] = run->options.overrides[i];
    }
    int blob_count;
    struct io_blob *blobs = log_attachments(run, &blob_count);
    const struct rt_thread_spec spec = {
        .name = "telemetry", .policy = SCHED_OTHER, .cpu = run->plan.housekeeping_cpu};
    const int failure =
        io_telemetry_start(run->telemetry, run->options.log, &spec, pairs, blobs, blob_count);
    free(blobs);
    provenance_free(&run->provenance);
    run->log_started = failure == 0;
    if (failure == 0)
        return 0;
    return refuse_file("--log", run->options.log ? run->options.log : "(none)",
                       why_no_log(failure));
}

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Nobody came: why, and what to do. */
static int print_board_missing(const struct run *run, int index)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct cfg_mark mark = cfg_scenario_mark(run->scenario, "links", link->name);
    const struct io_bus_spec *bus = &link->spec.bus;
    const bool gone = run->controller.died_early;
    const bool not_hil = io_link_board_state(run->links, index) == IO_BOARD_NOT_HIL;
    fprintf(stderr, "%s:%d:%d: links.%s: %s on %s; %s\n", run->scenario->path, mark.line,
            mark.column, link->name,
            not_hil ? "board not in HIL mode"
            : gone  ? "the controller ended before it spoke"
                    : "no board spoke",
            bus->device[0]   ? bus->device
            : bus->listen[0] ? bus->listen
                             : bus->peer,
            not_hil ? "set SYS_HITL to 1 on the board (airframe HIL Quadcopter X) and restart it"
            : gone  ? "its output follows"
                    : "start it, or check its address and port");
    controller_print_output(&run->controller, "  ");
    return EXIT_BY_POLICY;
}

/* 0 to go on waiting, else the exit code. */
static int check_wait(struct run *run, int index, uint64_t limit_ns)
{
    if (rt_stop_signal()) {
        fprintf(stderr, "airbearing run: ended by SIG%s before the first frame; nothing was run\n",
                sigabbrev_np(rt_stop_signal()));
        return EXIT_INTERRUPTED;
    }
    const bool gone = run->controller.program[0] && !controller_running(&run->controller);
    return gone || rt_now_ns() > limit_ns ? print_board_missing(run, index) : 0;
}

/* A PX4 board must also be in HIL mode, or it would ignore what it is sent. */
static bool board_is_ready(const struct run *run, int index)
{
    if (run->scenario->spec.links[index].spec.protocol == IO_PROTOCOL_PX4_HITL)
        return io_link_board_state(run->links, index) == IO_BOARD_READY;
    return io_link_has_peer(run->links, index);
}

/* The wrong wire is no wire at all: the vehicle would turn over. */
static void compare_variants(const struct run *run, int index,
                             const struct betaflight_version *version)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct cfg_mark mark = cfg_scenario_mark(run->scenario, "links", link->name);
    const int *n = version->number;
    const enum io_betaflight_variant speaks = betaflight_variant_of(version);
    if (n[0] != 0 && speaks != link->spec.variant)
        fprintf(stderr,
                "%s:%d:%d: links.%s: the board is Betaflight %d.%d.%d, whose wire is variant: %s, "
                "and the link has variant: %s; unless it was built for the other, change it\n",
                run->scenario->path, mark.line, mark.column, link->name, n[0], n[1], n[2],
                cfg_variant_name(speaks), cfg_variant_name(link->spec.variant));
}

static int wait_for_betaflight(struct run *run, int index, uint64_t limit_ns)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    struct betaflight_gate gate = {0};
    int code = 0;
    if (link->spec.protocol != IO_PROTOCOL_BETAFLIGHT)
        return 0;
    while (code == 0 &&
           !betaflight_gate_opens(&gate, betaflight_query(link->spec.bus.peer, &gate.version),
                                  rt_now_ns())) {
        sleep_ms(100);
        code = check_wait(run, index, limit_ns);
    }
    compare_variants(run, index, &gate.version);
    return code;
}

/* The first packet it answers at once, whether its control loop runs or not. */
enum { BETAFLIGHT_REPLIES = 20 };

static int wait_for_board(struct run *run, int index)
{
    const struct sim_link *link = &run->scenario->spec.links[index];
    const struct io_protocol_traits *traits = io_protocol_traits(link->spec.protocol);
    const uint64_t limit_ns = rt_now_ns() + link->connect_limit_ns;
    int code = wait_for_betaflight(run, index, limit_ns);
    if (link->spec.bus.kind == IO_BUS_COCKPIT)
        return 0; /* a person comes when the run is there to be seen */
    while (traits->speaks_first && code == 0 && !board_is_ready(run, index)) {
        io_links_poll(run->links);
        sleep_ms(5);
        code = check_wait(run, index, limit_ns);
    }
    const bool locks = run->scenario->spec.pace != RT_PACE_REAL && traits->stamps_commands;
    const bool wakes = !traits->speaks_first || locks;
    const int enough = link->spec.protocol == IO_PROTOCOL_BETAFLIGHT ? BETAFLIGHT_REPLIES : 1;
    for (int replies = 0; wakes && code == 0 && replies < enough;)
        if (board_wake_up(run, index))
            replies++;
        else
            code = check_wait(run, index, limit_ns);
    return code;
}

static int wait_for_boards(struct run *run)
{
    int code = 0;
    for (int i = 0; i < run->scenario->spec.link_count && code == 0; i++)
        code = wait_for_board(run, i);
    return code;
}

static int connect_boards(struct run *run)
{
    if (!run->links)
        return 0;
    const struct cfg_scenario *scenario = run->scenario;
    const struct rt_thread_spec spec = {
        .name = "io",
        .policy = scenario->spec.pace == RT_PACE_FAST ? SCHED_OTHER : SCHED_FIFO,
        .priority = scenario->spec.pace == RT_PACE_FAST ? 0 : scenario->spec.io_priority,
        .cpu = run->plan.io_cpu};
    const int failure =
        io_links_start(run->links, &spec, run->plan.io_polls, &run->watchdog, &run->io_thread);
    if (failure) {
        fprintf(stderr, "airbearing run: no I/O thread: %s\n", strerror(-failure));
        return EXIT_BAD_INPUT;
    }
    ground_result_warn_unheard(run);
    char error[CFG_ERROR_MAX];
    if (!run->options.external_controller && controller_start(&run->controller, scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    return wait_for_boards(run);
}

/* ---- the frames ------------------------------------------------------------------------ */

/* Somebody may have changed them since the start. */
static void record_end_policy(struct run *run)
{
    struct sched_param param = {0};
    run->end_policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    run->end_priority = sched_getparam(0, &param) == 0 ? param.sched_priority : 0;
}

static void frame_thread(void *self)
{
    struct run *run = self;
    rt_clock_real_open(&run->clock, run->scenario->spec.wait, run->scenario->spec.lead_ns,
                       run->scenario->spec.period_ns / 2);
    run->frame->clock = rt_clock_real_interface(&run->clock);
    sim_warm_up(run->sim);
    if (run->links)
        io_links_allow_spin(run->links, run->plan.frame_cpu >= 0 && !run->plan.shared);
    rt_cause_finder_open(&run->cause_finder, &run->clock, run->plan.frame_cpu);
    rt_alloc_watch();
    sim_operator_ignore_earlier_stops(run->desk);
    rt_frame_run(run->frame);
    sim_flush_flight_recorder(run->sim);
    rt_alloc_unwatch();
    run->page_faults = rt_cause_finder_faults(&run->cause_finder);
    run->switches = rt_cause_finder_switches(&run->cause_finder);
    rt_cause_finder_close(&run->cause_finder);
    record_end_policy(run);
    atomic_store_explicit(&run->finished, true, memory_order_release);
}

static void fill_frame(struct run *run)
{
    const struct cfg_scenario *scenario = run->scenario;
    struct rt_frame *frame = run->frame;
    run->source.links = run->links;
    run->source.stop = &frame->stop;
    run->source.pulser = scenario->spec.pulse.every > 0 ? &run->pulser : NULL;
    run->sim->source = sim_live_input_interface(&run->source);
    frame->spec = (struct rt_frame_spec){
        .period_ns = scenario->spec.period_ns,
        .frame_count = (uint64_t)llround(scenario->spec.seconds * scenario->spec.rate_hz),
        .pace = scenario->spec.pace,
        .overrun = scenario->spec.overrun,
        .commit = scenario->spec.commit,
        .max_catch_up = scenario->spec.max_catch_up,
    };
    if (scenario->spec.lock.link >= 0 && scenario->spec.pace == RT_PACE_REAL) {
        rt_phase_lock_begin(&run->phase_lock, &scenario->spec.lock.spec);
        frame->phase_lock = run->source.phase_lock = &run->phase_lock;
    }
    frame->tasks = sim_tasks(run->sim);
    frame->schedule = run->sim->schedule;
    frame->recorder = run->sim->recorder;
    frame->cause_finder = &run->cause_finder;
    frame->watchdog = &run->watchdog;
    frame->live = run->frame_live;
    frame->live_every = run->sim->live_every;
    run->sim->watchdog = &run->watchdog;
    run->sim->stop = &frame->stop;
}

static int start_frames(struct run *run)
{
    const bool fast = run->scenario->spec.pace == RT_PACE_FAST;
    const struct rt_thread_spec spec = {.name = "frame",
                                        .policy = fast ? SCHED_OTHER : SCHED_FIFO,
                                        .priority = fast ? 0 : run->scenario->spec.frame_priority,
                                        .cpu = run->plan.frame_cpu};
    fill_frame(run);
    const int failure = rt_thread_start(&run->frame_thread, &spec, frame_thread, run);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: no frame thread: %s\n", strerror(-failure));
    return EXIT_BAD_INPUT;
}

static bool frames_finished(const struct run *run)
{
    return atomic_load_explicit(&run->finished, memory_order_acquire);
}

/* The outputs went safe, so the run is over.  A frame thread that was merely away comes back, sees
 * the stop flag and ends in order; one that does not within a second is stuck. */
static void end_hung(struct run *run)
{
    run->end = RUN_HUNG;
    atomic_store_explicit(&run->frame->stop, true, memory_order_relaxed);
    for (int i = 0; i < 100 && !frames_finished(run); i++)
        sleep_ms(10);
    run->stuck = !frames_finished(run);
}

/* Wait for the end.  Nothing here touches a file, a terminal or a lock (house.h does): whatever
 * stands still there, a frame thread that hangs is found and a signal is heard. */
static void watch_frames(struct run *run)
{
    while (!frames_finished(run)) {
        sleep_ms(20);
        if (rt_stop_signal()) {
            atomic_store_explicit(&run->frame->stop, true, memory_order_relaxed);
            if (run->links)
                io_links_interrupt(run->links);
        }
        if (rt_watchdog_expired(&run->watchdog, rt_now_ns()) && run->links)
            io_links_invalidate_outputs(run->links);
        if (atomic_load_explicit(&run->watchdog.expired, memory_order_relaxed)) {
            end_hung(run);
            break;
        }
        ending_watch_controller(run);
    }
}

static void finish_links(struct run *run)
{
    run->allocations = rt_alloc_count();
    if (!run->links)
        return;
    for (int i = 0; i < run->scenario->spec.link_count; i++) {
        run->link[i].board = io_link_board_state(run->links, i);
        io_link_cadence(run->links, i, rt_now_ns(), &run->link[i].pulse);
    }
    if (!run->stuck) /* it may come back yet, and must not find them closed */
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

/* Of the frame's core, after a run: a hundred wake-ups, and 67 ms of watching for gaps. */
static const double baseline_seconds = 0.1;

/* The doctor on the machine of a run that was to be in time, and what the frame's core gives right
 * after it.  A frame thread that is stuck there would be all that is measured. */
static char *measure_machine_json(const struct run *run)
{
    if (!run->options.log || run->scenario->spec.pace != RT_PACE_REAL || run->stuck)
        return NULL;
    return doctor_findings_json(&run->machine, &run->plan, baseline_seconds);
}

static struct io_blob json_blob(const char *name, const char *text)
{
    return (struct io_blob){.name = name,
                            .media_type = "application/json",
                            .bytes = text,
                            .size = text ? strlen(text) : 0};
}

/* The report goes into the log as it stands before the log's own last figures are known. */
static void finish_log(struct run *run)
{
    io_telemetry_result(run->telemetry, &run->log);
    json_t *report = report_json(run);
    char *text = json_dumps(report, JSON_INDENT(2));
    char *machine = measure_machine_json(run);
    const struct io_blob blobs[] = {json_blob("report.json", text),
                                    json_blob("machine.json", machine)};
    io_telemetry_stop(run->telemetry, blobs, machine ? 2 : 1, &run->log);
    free(machine);
    free(text);
    json_decref(report);
}

static int write_report(const struct run *run)
{
    if (!run->options.report)
        return 0;
    json_t *report = report_json(run);
    char *text = json_dumps(report, JSON_INDENT(2));
    json_decref(report);
    const int failure = text ? io_write_file(run->options.report, text, strlen(text)) : -ENOMEM;
    free(text);
    if (failure == 0)
        return 0;
    fprintf(stderr, "airbearing run: --report %s: %s\n", run->options.report, strerror(-failure));
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
    int code = load_scenario_and_options(run);
    if (code == 0)
        code = plan_cores(run);
    if (code)
        return code;
    run->memory_locked = rt_lock_memory(run->lock_refused);
    code = place_in_arena(run);
    if (code)
        return code;
    (void)rt_cpu_latency_hold(); /* for as long as the process lives; refused: only less punctual */
    rt_panic_install(on_panic, run);
    rt_stop_on_signals();
    code = open_links(run);
    return code ? code : open_pulser(run);
}

/* From the last frame to the exit code.  A stuck frame thread is left where it is. */
static int finish_run(struct run *run)
{
    struct verdict verdict;
    ending_classify(run);
    finish_links(run); /* before anything that may wait for a disk */
    housekeeping_close(run);
    if (!run->stuck)
        io_sync_pulse_close(&run->pulser);
    controller_stop(&run->controller);
    sim_predictor_stop(run->predictor, &run->predicted);
    finish_log(run);
    verdict_judge(run, &verdict);
    serve_verdict(run->serve, verdict.text, verdict.exit_code == EXIT_OK);
    serve_close(run->serve, &run->served);
    sim_predictor_close(run->predictor);
    const int code = write_report(run);
    if (code)
        run->options.report = NULL;
    report_print(run);
    fflush(NULL);
    if (run->stuck)
        _exit(EXIT_BY_POLICY);
    rt_thread_join(&run->frame_thread);
    const int exit_code = verdict.exit_code ? verdict.exit_code : code;
    if (run->housekeeping.files_hung || run->housekeeping.display_hung)
        _exit(exit_code); /* they may still look at what exit() takes down */
    return exit_code;
}

/* Made by this run and empty; but another may have taken it meanwhile. */
static void remove_log(const char *path)
{
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && io_append_file_lock(fd) == 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
}

/* No frame ran: leave nothing behind that was not there before. */
static void abandon_start(struct run *run)
{
    housekeeping_abandon(run);
    io_sync_pulse_close(&run->pulser);
    if (run->links)
        io_links_stop(run->links);
    controller_stop(&run->controller);
    if (run->log_started)
        io_telemetry_stop(run->telemetry, NULL, 0, &run->log);
    serve_close(run->serve, NULL);
    sim_predictor_close(run->predictor);
    if (run->log_made)
        remove_log(run->options.log);
    if (run->report_made)
        unlink(run->options.report);
}

/* What was done at the desk, in the viewers' log. */
static void log_note(void *self, const char *text)
{
    const struct run *run = self;
    serve_log_note(run->serve, text);
}

/* The one link that is flown from the page; -1: there is none. */
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
        fprintf(stderr, "links.%s: nobody can fly it; give --serve PORT\n",
                run->scenario->spec.links[cockpit].name);
    if (flies && hand < 0) {
        fprintf(stderr, "links.%s: no way from the page to it: %s\n",
                run->scenario->spec.links[cockpit].name, strerror(errno));
        return EXIT_BAD_INPUT;
    }
    const struct serve_spec spec = {
        .scenario = run->scenario,
        .layout = &run->layout,
        .telemetry = run->telemetry,
        .desk = services_open(&run->services, run->desk, (struct service_listener){run, log_note}),
        .hand = hand,
        .cpu = run->plan.housekeeping_cpu,
    };
    return serve_open(&run->options.serve, &spec, &run->serve);
}

/* Simulated time without a wall clock has no ahead. */
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
    fprintf(stderr, "airbearing run: no predictor thread: %s\n", strerror(-failure));
    return EXIT_BAD_INPUT;
}

/* Everything up to the first frame; the board has spoken then, and only then is the log begun. */
static int start_run(struct run *run)
{
    int code = serve_check(&run->options.serve);
    if (code == 0)
        code = set_up(run);
    if (code == 0)
        code = check_output_files(run);
    if (code == 0 && run->options.log)
        provenance_collect(&run->provenance, run);
    if (code == 0)
        code = open_server(run);
    if (code == 0)
        code = open_predictor(run);
    if (code == 0)
        code = housekeeping_open(run);
    if (code == 0)
        code = connect_boards(run);
    if (code == 0)
        code = start_log(run);
    if (code == 0)
        housekeeping_begin(run);
    if (code == 0)
        code = start_frames(run);
    return code;
}

/* Zeroed, and alive as long as a stuck thread might look at it. */
static struct run run_of_process = {.controller = {.output = -1}};

static int run_all(struct run *run)
{
    const int code = start_run(run);
    if (code) {
        abandon_start(run);
        return code;
    }
    watch_frames(run);
    return finish_run(run);
}

int run_from_snapshot(struct cfg_scenario *scenario, const struct run_options *options,
                      const struct sim_snapshot *from)
{
    struct run *run = &run_of_process;
    run->options = *options;
    run->scenario = scenario;
    run->from = from;
    return run_all(run);
}

int command_run(int argc, char **argv)
{
    bool done = false;
    const int code = options_read(argc, argv, &run_of_process.options, &done);
    return code || done ? code : run_all(&run_of_process);
}
