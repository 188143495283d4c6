#include "config/compile.h"

#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

/* Distinct noise streams for distinct devices of one seed. */
enum { STREAM_SENSOR = 1000 };

static void fill_effectors(const struct cfg_scenario *scenario, struct dyn_effector *effectors)
{
    for (int i = 0; i < scenario->wheel_count; i++) {
        effectors[i] = (struct dyn_effector){
            .type = DYN_EFFECTOR_WHEEL,
            .body = scenario->wheels[i].body,
            .wheel = scenario->wheels[i].wheel,
        };
    }
}

static void fill_held(const struct cfg_rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->body_count; i++) {
        const struct cfg_body *body = &scenario->bodies[i];
        const int at = dyn_model_v_index(rig->plant.model, i);
        for (int k = 0; k < dyn_joint_nv(&body->spec); k++) {
            rig->held[at + k] = body->held[k];
            rig->held_a[at + k] = body->held_a[k];
        }
    }
}

static void fill_modes(const struct cfg_rig *rig, int i)
{
    const struct dyn_model *model = rig->plant.model;
    const struct cfg_flex *flex = rig->scenario->bodies[i].flex;
    const size_t size = (size_t)dyn_model_modes(model, i) * sizeof(double);
    if (size == 0)
        return;
    memcpy(rig->x + dyn_model_eta_index(model, i), flex->start, size);
    memcpy(rig->x + dyn_model_nq(model) + dyn_model_xi_index(model, i), flex->start_rate, size);
}

/* Initial x: joints and modes as the scenario says, rotors at their speed relative to the body. */
static void fill_state(const struct cfg_rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    const struct dyn_model *model = rig->plant.model;
    dyn_plant_rest(&rig->plant, rig->x);
    for (int i = 0; i < scenario->body_count; i++) {
        const struct cfg_body *body = &scenario->bodies[i];
        const size_t nq = (size_t)dyn_joint_nq(&body->spec), nv = (size_t)dyn_joint_nv(&body->spec);
        double *q = rig->x + dyn_model_q_index(model, i);
        double *v = rig->x + dyn_model_nq(model) + dyn_model_v_index(model, i);
        memcpy(q, body->position, nq * sizeof *q);
        memcpy(v, body->velocity, nv * sizeof *v);
        fill_modes(rig, i);
    }
    dyn_plant_solve(&rig->plant, rig->command, NULL, rig->x, rig->work);
    for (int i = 0; i < scenario->wheel_count; i++) {
        const struct cfg_wheel *wheel = &scenario->wheels[i];
        const double origin[3] = {0};
        struct dyn_motion motion;
        dyn_plant_motion(&rig->plant, rig->work, rig->x, wheel->body, origin, &motion);
        rig->x[dyn_plant_effector_index(&rig->plant, i)] =
            dyn_wheel_momentum(&wheel->wheel, motion.rate, wheel->speed);
    }
}

static void begin_devices(const struct cfg_rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->wheel_count; i++)
        io_drive_begin(&scenario->wheels[i].drive, &rig->drive[i]);
    for (int i = 0; i < scenario->sensor_count; i++)
        io_triad_begin(&scenario->sensors[i].triad, scenario->seed, STREAM_SENSOR + (uint64_t)i,
                       &rig->triad[i]);
}

static bool is_held(const struct cfg_scenario *scenario)
{
    bool some = false;
    for (int i = 0; i < scenario->body_count; i++)
        for (int k = 0; k < dyn_joint_nv(&scenario->bodies[i].spec); k++)
            some = some || scenario->bodies[i].held[k];
    return some;
}

/* The parts of the run state, in order; with state NULL only the size counts. */
static size_t lay_out_state(struct cfg_rig *rig, unsigned char *state)
{
    const struct cfg_scenario *scenario = rig->scenario;
    const size_t x_count = (size_t)dyn_plant_state_count(&rig->plant);
    size_t at = 0;
    rig->x = rt_cut(state, &at, x_count * sizeof *rig->x);
    rig->drive = rt_cut(state, &at, (size_t)scenario->wheel_count * sizeof *rig->drive);
    rig->triad = rt_cut(state, &at, (size_t)scenario->sensor_count * sizeof *rig->triad);
    rig->link = rt_cut(state, &at, (size_t)scenario->link_count * sizeof *rig->link);
    rig->schedule = rt_cut(state, &at, sizeof *rig->schedule);
    return (at + 7) / 8 * 8;
}

/* One layout answers size and placement: model first, because everything else is sized from it.
 * rig is filled with pointers into mem; with mem NULL they mean nothing. */
static size_t lay_out(struct cfg_rig *rig, const struct dyn_model *model,
                      struct dyn_effector *effectors, size_t at, unsigned char *mem)
{
    const struct cfg_scenario *scenario = rig->scenario;
    rig->h = (double)scenario->period_ns * 1e-9;
    rig->plant = (struct dyn_plant){
        .model = model,
        .effector_count = scenario->wheel_count,
        .effectors = effectors,
        .environment = scenario->environment,
        .integrator = scenario->integrator,
        .substeps = scenario->substeps,
    };
    const size_t nv = (size_t)dyn_model_nv(model);
    rig->held = NULL;
    rig->held_a = NULL;
    if (is_held(scenario)) { /* else the kernel need not ask */
        rig->plant.held = rig->held = rt_cut(mem, &at, nv * sizeof *rig->held);
        rig->plant.held_a = rig->held_a = rt_cut(mem, &at, nv * sizeof *rig->held_a);
    }
    rig->command = rt_cut(mem, &at, (size_t)scenario->wheel_count * sizeof *rig->command);
    void *work = rt_cut(mem, &at, dyn_plant_work_size(&rig->plant));
    if (mem)
        rig->work = dyn_plant_work_place(&rig->plant, work);
    rig->state_size = lay_out_state(rig, NULL);
    rig->state = rt_cut(mem, &at, rig->state_size);
    if (mem)
        (void)lay_out_state(rig, rig->state);
    return at;
}

static struct dyn_body_spec *body_specs(const struct cfg_scenario *scenario)
{
    struct dyn_body_spec *specs = calloc((size_t)scenario->body_count + 1, sizeof *specs);
    RT_CHECK(specs);
    for (int i = 0; i < scenario->body_count; i++)
        specs[i] = scenario->bodies[i].spec;
    return specs;
}

/* Bytes of the rig itself, its model and its effectors: what is cut before the rest is sized. */
static size_t cut_head(const struct cfg_scenario *scenario, const struct dyn_body_spec *specs,
                       unsigned char *mem, struct cfg_rig **rig, void **model,
                       struct dyn_effector **effectors)
{
    size_t at = 0;
    *rig = rt_cut(mem, &at, sizeof **rig);
    *model = rt_cut(mem, &at, dyn_model_size(specs, scenario->body_count));
    *effectors = rt_cut(mem, &at, (size_t)scenario->wheel_count * sizeof **effectors);
    return at;
}

size_t cfg_rig_size(const struct cfg_scenario *scenario)
{
    struct dyn_body_spec *specs = body_specs(scenario);
    struct dyn_effector *effectors = calloc((size_t)scenario->wheel_count + 1, sizeof *effectors);
    void *model_mem = aligned_alloc(
        RT_CACHE_LINE,
        (dyn_model_size(specs, scenario->body_count) / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(effectors && model_mem);
    fill_effectors(scenario, effectors);

    struct cfg_rig rig = {.scenario = scenario}, *unused_rig;
    struct dyn_effector *unused_effectors;
    void *unused_model;
    const size_t head =
        cut_head(scenario, specs, NULL, &unused_rig, &unused_model, &unused_effectors);
    const struct dyn_model *model = dyn_model_place(specs, scenario->body_count, model_mem);
    const size_t size = lay_out(&rig, model, effectors, head, NULL);

    free(model_mem);
    free(effectors);
    free(specs);
    return size;
}

struct cfg_rig *cfg_rig_place(const struct cfg_scenario *scenario, void *mem)
{
    struct dyn_body_spec *specs = body_specs(scenario);
    struct cfg_rig *rig;
    struct dyn_effector *effectors;
    void *model_mem;
    const size_t head = cut_head(scenario, specs, mem, &rig, &model_mem, &effectors);
    rig->scenario = scenario;
    fill_effectors(scenario, effectors);
    struct dyn_model *model = dyn_model_place(specs, scenario->body_count, model_mem);
    dyn_model_use_isa(model, scenario->isa);
    (void)lay_out(rig, model, effectors, head, mem);
    free(specs);

    begin_devices(rig);
    if (rig->held != NULL)
        fill_held(rig);
    fill_state(rig);
    return rig;
}
