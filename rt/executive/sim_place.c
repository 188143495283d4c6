/*
 * The memory of a simulation: one list of cuts answers how large it is and where its parts lie.
 *
 * Tested by tests/rt/executive/test_sim.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/executive/jobs.h"
#include "rt/executive/output/sensors.h"
#include "rt/executive/sim_private.h"

struct sim_delay_line_spec sim_link_delay(const struct sim_spec *spec,
                                          const struct sim_vehicle *vehicle, int link,
                                          enum sim_direction way)
{
    const bool in = way == SIM_DIRECTION_IN;
    struct sim_delay_line_spec line = {.delay = in ? spec->links[link].delay : 0,
                                       .delivers_last = in && sim_is_operator_link(spec, link),
                                       .item_size = in ? sizeof(struct io_command)
                                                       : sizeof(struct io_sample)};
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        if (fault->link != link || fault->spec.kind != IO_FAULT_DELAY ||
            (fault->way != way && fault->way != SIM_DIRECTION_BOTH))
            continue;
        line.fault_delay = (uint64_t)fault->spec.value;
        line.fault = vehicle ? &vehicle->fault[i] : NULL;
    }
    return line;
}

/* The memory of the delay lines; with sim NULL only its size counts. */
static void place_delay_lines(const struct sim_spec *spec, struct sim *sim, void *mem, size_t *at)
{
    const struct sim_vehicle *vehicle = sim ? sim->vehicle : NULL;
    for (int i = 0; i < spec->link_count; i++) {
        const struct sim_delay_line_spec in = sim_link_delay(spec, vehicle, i, SIM_DIRECTION_IN);
        const struct sim_delay_line_spec out = sim_link_delay(spec, vehicle, i, SIM_DIRECTION_OUT);
        void *in_mem = rt_layout_cut(mem, at, sim_delay_line_size(&in));
        void *out_mem = rt_layout_cut(mem, at, sim_delay_line_size(&out));
        if (!sim)
            continue;
        sim_delay_line_place(&sim->scratch.delay_in[i], &in, in_mem);
        sim_delay_line_place(&sim->scratch.delay_out[i], &out, out_mem);
    }
}

static void place_prediction_input(const struct sim_spec *spec, struct sim *sim, void *mem,
                                   size_t *at)
{
    if (spec->predictor.every == 0)
        return;
    const size_t size = sim_prediction_input_size(spec);
    void *prediction_input = rt_layout_cut(mem, at, rt_mailbox_size(size));
    if (sim)
        sim->prediction_input = rt_mailbox_place(size, prediction_input);
}

static size_t sections_size(const struct sim_spec *spec)
{
    return spec->log_parts ? SIM_RUN_STATE_SECTION_MAX * sizeof(struct sim_run_state_section) : 0;
}

static size_t sim_bytes(const struct sim_spec *spec, const struct sim_inject *inject,
                        enum sim_job_set set)
{
    struct sim_job_list list;
    sim_list_jobs(spec, inject, set, NULL, &list);
    size_t at = 0;
    (void)rt_layout_cut(NULL, &at, sizeof(struct sim));
    (void)rt_layout_cut(NULL, &at, sim_vehicle_size(spec));
    (void)rt_layout_cut(NULL, &at, rt_mailbox_size(sizeof(struct sim_live)));
    (void)rt_layout_cut(NULL, &at, sizeof(struct sim_fault_flags));
    (void)rt_layout_cut(NULL, &at, rt_schedule_size(list.job, list.count));
    (void)rt_layout_cut(NULL, &at, rt_flight_recorder_size(list.count));
    (void)rt_layout_cut(NULL, &at, sections_size(spec));
    place_delay_lines(spec, NULL, NULL, &at);
    if (set == SIM_ALL_JOBS) {
        (void)rt_layout_cut(NULL, &at, sim_plausibility_size(spec));
        place_prediction_input(spec, NULL, NULL, &at);
    }
    return at;
}

size_t sim_size(const struct sim_spec *spec, const struct sim_inject *inject)
{
    return sim_bytes(spec, inject, SIM_ALL_JOBS);
}

static struct sim *place_sim(const struct sim_spec *spec, const struct sim_inject *inject,
                             enum sim_job_set set, void *mem)
{
    size_t at = 0;
    struct sim *sim = rt_layout_cut(mem, &at, sizeof *sim);
    void *vehicle_mem = rt_layout_cut(mem, &at, sim_vehicle_size(spec));
    void *live_mem = rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct sim_live)));
    sim->shown = rt_layout_cut(mem, &at, sizeof *sim->shown);
    struct sim_job_list list;
    sim_list_jobs(spec, inject, set, sim, &list);
    void *schedule_mem = rt_layout_cut(mem, &at, rt_schedule_size(list.job, list.count));
    void *recorder_mem = rt_layout_cut(mem, &at, rt_flight_recorder_size(list.count));
    void *parts_mem = rt_layout_cut(mem, &at, sections_size(spec));

    sim->spec = spec;
    sim->vehicle = sim_vehicle_place(spec, vehicle_mem);
    if (spec->log_parts) {
        sim->part = parts_mem;
        (void)sim_run_state_sections(sim->vehicle, sim->part);
    }
    place_delay_lines(spec, sim, mem, &at);
    if (set == SIM_ALL_JOBS) {
        sim_plausibility_place(&sim->scratch.plausibility, sim->vehicle,
                               rt_layout_cut(mem, &at, sim_plausibility_size(spec)));
        place_prediction_input(spec, sim, mem, &at);
    }
    sim->inject = *inject;
    if (inject->kind == SIM_INJECT_PAGE_FAULT)
        sim->inject.fresh = sim_map_untouched_pages(inject->pages);
    sim->live = rt_mailbox_place(sizeof(struct sim_live), live_mem);
    sim->live_every = (uint32_t)fmax(1.0, spec->rate_hz / 20.0);
    sim->schedule = rt_schedule_place(list.job, list.count, schedule_mem);
    sim->recorder = rt_flight_recorder_place(list.count, recorder_mem);
    sim->layout = sim_record_layout(spec, dyn_model_nq(sim->vehicle->plant.model),
                                    dyn_model_nv(sim->vehicle->plant.model), list.count);
    for (int i = 0; i < spec->sensor_count; i++)
        sim->sensor[i] = (struct sim_device_job){sim, i};
    for (int i = 0; i < spec->sensor_count; i++)
        sim->has_gps = sim->has_gps || spec->sensors[i].kind == SIM_SENSOR_GPS;
    sim_sensors_begin(sim);
    for (int i = 0; i < spec->link_count; i++) {
        sim->link[i] = (struct sim_device_job){sim, i};
        for (int m = 0; m < IO_MESSAGE_COUNT; m++)
            sim->message[i][m] = (struct sim_message_job){sim, i, m};
    }
    for (int i = 0; i < spec->expect_count; i++)
        sim_expectation_begin(&sim->scratch.expect[i], &spec->expects[i]);
    return sim;
}

struct sim *sim_place(const struct sim_spec *spec, const struct sim_inject *inject, void *mem)
{
    return place_sim(spec, inject, SIM_ALL_JOBS, mem);
}

static struct sim *create_on_heap(const struct sim_spec *spec, enum sim_job_set set)
{
    const struct sim_inject none = {0};
    const size_t size = sim_bytes(spec, &none, set);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    return place_sim(spec, &none, set, mem);
}

struct sim *sim_create(const struct sim_spec *spec)
{
    return create_on_heap(spec, SIM_ALL_JOBS);
}

struct sim *sim_create_motion_only(const struct sim_spec *spec)
{
    return create_on_heap(spec, SIM_JOBS_THAT_MOVE);
}
