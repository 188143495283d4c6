#include "tools/airbearing/run/run_place.h"

#include <stdio.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "tools/airbearing/command.h"

/* Lay out everything that the run touches in one arena: called with mem NULL for the size, and
 * again to place it. */
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
                scenario->spec.pace == RT_PACE_REAL; /* the other paces have no time grid */
            specs[i].awaited = scenario->spec.pace != RT_PACE_REAL &&
                               !io_protocol_traits(specs[i].protocol)->hands;
        }
        if (scenario->spec.link_count > 0 && !run->start_state)
            run->links =
                io_links_place(specs, scenario->spec.link_count, scenario->spec.io_mode, links);
    }
    return at;
}

/* Count the positions and velocities of the model: the log is sized before the simulation is
 * placed.
 */
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

/* Log the latency of a command, part by part. */
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

/* Log what a ground station sends and receives. */
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
    run->sim_operator = sim_operator_open(run->sim, &run->frame->boundary_wanted);
    RT_CHECK(run->sim_operator);
    sim_operator_set_script(run->sim_operator, run->script, run->script_count);
    run->watchdog.estop = sim_operator_estop(run->sim_operator);
    if (run->links)
        sim_operator_watch_links(run->sim_operator, run->links);
    if (run->start_state)
        sim_operator_start_from_state(run->sim_operator, run->start_state->state,
                                      run->start_state->hash);
    if (!options->restore ||
        sim_operator_start_from_file(run->sim_operator, options->restore, error) == 0)
        return 0;
    fprintf(stderr, "airbearing run: --restore %s\n", error);
    return EXIT_BAD_INPUT;
}

int run_place(struct run *run)
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
        lay_out_arena(run, NULL) + telemetry_size + 2 * RT_CACHE_LINE; /* two allocations */

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
