/*
 * The memory of a vehicle: one list of cuts answers how large it is and where its parts lie.
 *
 * Tested by tests/rt/executive/state/test_run_state.c.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/output/sensor_types.h"
#include "rt/executive/state/run_state_private.h"

static void fill_effectors(const struct sim_spec *spec, struct dyn_effector *effectors)
{
    for (int i = 0; i < spec->effector_count; i++)
        effectors[i] = spec->effectors[i].effector;
}

static void fill_tuned(struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    struct sim_tuned *tuned = &vehicle->tuned;
    for (int i = 0; i < spec->sensor_count; i++)
        tuned->sensors[i] = spec->sensors[i];
    for (int i = 0; i < spec->effector_count; i++)
        tuned->drives[i] = spec->effectors[i].drive;
    for (int i = 0; i < spec->fault_count; i++)
        tuned->faults[i] = spec->faults[i].spec;
    tuned->gust = spec->gust;
    memcpy(tuned->wind, spec->environment.wind, sizeof tuned->wind);
    memcpy(tuned->target, spec->target, sizeof tuned->target);
    memcpy(tuned->target_position, spec->target_position, sizeof tuned->target_position);
}

/* What the scenario holds, for the whole run. */
static void fill_held(const struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    for (int i = 0; i < spec->body_count; i++) {
        const struct sim_body *body = &spec->bodies[i];
        const int at = dyn_model_v_index(vehicle->plant.model, i);
        for (int k = 0; k < dyn_joint_nv(&body->spec); k++) {
            vehicle->held[at + k] = body->held[k];
            vehicle->held_a[at + k] = body->held_a[k];
        }
    }
}

static void fill_kinematics(struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    vehicle->kinematics = (struct dyn_arm){.model = vehicle->models[0],
                                           .base = arm->base,
                                           .hand = arm->hand,
                                           .grip = arm->grip,
                                           .resolve = arm->resolve};
    for (int n = 0; n < arm->joint_count; n++) {
        vehicle->kinematics.q_at[n] = dyn_model_q_index(vehicle->models[0], arm->joint[n].body);
        vehicle->kinematics.v_at[n] = dyn_model_v_index(vehicle->models[0], arm->joint[n].body);
    }
}

static bool is_held(const struct sim_spec *spec)
{
    bool some = sim_has_arm(spec); /* whose brakes hold */
    for (int i = 0; i < spec->body_count; i++)
        for (int k = 0; k < dyn_joint_nv(&spec->bodies[i].spec); k++)
            some = some || spec->bodies[i].held[k];
    return some;
}

size_t sim_sensor_state_size(enum sim_sensor_kind kind)
{
    return sim_sensor_types[kind].state_size;
}

/* The parts of the run state, in order; with state NULL only the size counts. */
static size_t lay_out_state(struct sim_vehicle *vehicle, unsigned char *state)
{
    const struct sim_spec *spec = vehicle->spec;
    const size_t x_count = (size_t)dyn_plant_state_count(&vehicle->plant);
    size_t at = 0;
    vehicle->x = rt_layout_cut(state, &at, x_count * sizeof *vehicle->x);
    vehicle->drive = rt_layout_cut(state, &at, (size_t)spec->drive_count * sizeof *vehicle->drive);
    for (int i = 0; i < spec->sensor_count; i++) {
        void *instrument = rt_layout_cut(state, &at, sim_sensor_state_size(spec->sensors[i].kind));
        if (state)
            vehicle->instrument[i] = instrument;
    }
    vehicle->fault = rt_layout_cut(state, &at, (size_t)spec->fault_count * sizeof *vehicle->fault);
    vehicle->link = rt_layout_cut(state, &at, (size_t)spec->link_count * sizeof *vehicle->link);
    vehicle->surroundings = rt_layout_cut(state, &at, sizeof *vehicle->surroundings);
    vehicle->schedule = rt_layout_cut(state, &at, sizeof *vehicle->schedule);
    vehicle->parameter =
        rt_layout_cut(state, &at, (size_t)spec->parameter_count * sizeof *vehicle->parameter);
    vehicle->arm = sim_has_arm(spec) ? rt_layout_cut(state, &at, sizeof *vehicle->arm) : NULL;
    return (at + 7) / 8 * 8;
}

/* The models, one for everything that can be in an arm's hand; else one. */
static void lay_out_models(struct sim_vehicle *vehicle, const struct dyn_body_spec *specs,
                           unsigned char *mem, size_t *at)
{
    const struct sim_spec *spec = vehicle->spec;
    const int count = sim_arm_configuration_count(spec);
    vehicle->models = rt_layout_cut(mem, at, (size_t)count * sizeof *vehicle->models);
    for (int i = 0; i < count; i++) {
        const struct dyn_body_spec *own = specs + (size_t)i * (size_t)spec->body_count;
        void *model_mem = rt_layout_cut(mem, at, dyn_model_size(own, spec->body_count));
        if (mem == NULL)
            continue;
        vehicle->models[i] = dyn_model_place(own, spec->body_count, model_mem);
        dyn_model_use_isa(vehicle->models[i], spec->isa);
    }
}

/* What an arm works with. */
static void lay_out_arm(struct sim_vehicle *vehicle, unsigned char *mem, size_t *at)
{
    const size_t count = (size_t)sim_arm_configuration_count(vehicle->spec);
    const struct dyn_model *none = vehicle->models[0];
    vehicle->joint_tau =
        rt_layout_cut(mem, at, (size_t)dyn_model_nv(none) * sizeof *vehicle->joint_tau);
    vehicle->blow = rt_layout_cut(mem, at, (size_t)dyn_model_nv(none) * sizeof *vehicle->blow);
    void *work = rt_layout_cut(mem, at, dyn_arm_work_size(none));
    vehicle->take = rt_layout_cut(mem, at, count * sizeof *vehicle->take);
    vehicle->give = rt_layout_cut(mem, at, count * sizeof *vehicle->give);
    if (mem != NULL) {
        vehicle->arm_work = dyn_arm_work_place(none, work);
        fill_kinematics(vehicle);
    }
    for (size_t i = 0; i < count; i++) {
        const struct dyn_model *some = vehicle->models[i];
        void *take = rt_layout_cut(mem, at, dyn_grapple_work_size(none, some));
        void *give = rt_layout_cut(mem, at, dyn_grapple_work_size(some, none));
        if (mem == NULL)
            continue;
        vehicle->take[i] = dyn_grapple_work_place(none, some, take);
        vehicle->give[i] = dyn_grapple_work_place(some, none, give);
    }
}

/* One layout answers size and placement; the models are there already, because everything else is
 * sized from them.  The vehicle is filled with pointers into mem; with mem NULL they mean nothing.
 */
static size_t lay_out_vehicle(struct sim_vehicle *vehicle, struct dyn_effector *effectors,
                              size_t at, unsigned char *mem)
{
    const struct sim_spec *spec = vehicle->spec;
    const size_t count = (size_t)sim_arm_configuration_count(spec);
    const int first = sim_arm_first_configuration(spec);
    vehicle->h = (double)spec->period_ns * 1e-9;
    vehicle->plant = (struct dyn_plant){
        .model = vehicle->models[first],
        .effector_count = spec->effector_count,
        .effectors = effectors,
        .environment = spec->environment,
        .integrator = spec->integrator,
        .substeps = spec->substeps,
        .step = vehicle->h / spec->substeps,
    };
    const size_t nv = (size_t)dyn_model_nv(vehicle->plant.model);
    vehicle->held = NULL;
    vehicle->held_a = NULL;
    if (is_held(spec)) { /* else the kernel need not ask */
        vehicle->plant.held = vehicle->held = rt_layout_cut(mem, &at, nv * sizeof *vehicle->held);
        vehicle->plant.held_a = vehicle->held_a =
            rt_layout_cut(mem, &at, nv * sizeof *vehicle->held_a);
        static const unsigned char some;
        if (mem == NULL)
            vehicle->plant.held = &some; /* it is asked whether, not which */
    }
    struct sim_tuned *tuned = &vehicle->tuned;
    tuned->sensors = rt_layout_cut(mem, &at, (size_t)spec->sensor_count * sizeof *tuned->sensors);
    tuned->drives = rt_layout_cut(mem, &at, (size_t)spec->effector_count * sizeof *tuned->drives);
    tuned->faults = rt_layout_cut(mem, &at, (size_t)spec->fault_count * sizeof *tuned->faults);
    vehicle->command =
        rt_layout_cut(mem, &at, (size_t)spec->effector_count * sizeof *vehicle->command);
    vehicle->instrument =
        rt_layout_cut(mem, &at, (size_t)spec->sensor_count * sizeof *vehicle->instrument);
    vehicle->works = rt_layout_cut(mem, &at, count * sizeof *vehicle->works);
    for (size_t i = 0; i < count; i++) {
        struct dyn_plant plant = vehicle->plant;
        plant.model = vehicle->models[i];
        void *work = rt_layout_cut(mem, &at, dyn_plant_work_size(&plant));
        if (mem != NULL)
            vehicle->works[i] = dyn_plant_work_place(&plant, work);
    }
    if (mem != NULL)
        vehicle->work = vehicle->works[first];
    if (sim_has_arm(spec))
        lay_out_arm(vehicle, mem, &at);
    vehicle->state_size = lay_out_state(vehicle, NULL);
    vehicle->state = rt_layout_cut(mem, &at, vehicle->state_size);
    vehicle->start = rt_layout_cut(mem, &at, vehicle->state_size);
    if (mem)
        (void)lay_out_state(vehicle, vehicle->state);
    return at;
}

/* Of all configurations, one after the other. */
static struct dyn_body_spec *body_specs(const struct sim_spec *spec)
{
    const size_t bodies = (size_t)spec->body_count;
    const int count = sim_arm_configuration_count(spec);
    struct dyn_body_spec *specs = calloc((size_t)count * bodies + 1, sizeof *specs);
    RT_CHECK(specs);
    for (int i = 0; i < count; i++)
        sim_arm_configuration_specs(spec, i, specs + (size_t)i * bodies);
    return specs;
}

/* Bytes of the vehicle itself, its models and its effectors: what is cut before the rest is sized.
 */
static size_t lay_out_head(const struct sim_spec *spec, const struct dyn_body_spec *specs,
                           unsigned char *mem, struct sim_vehicle **vehicle,
                           struct dyn_effector **effectors)
{
    struct sim_vehicle probe = {.spec = spec};
    size_t at = 0;
    *vehicle = rt_layout_cut(mem, &at, sizeof **vehicle);
    if (mem != NULL)
        (*vehicle)->spec = spec;
    lay_out_models(mem != NULL ? *vehicle : &probe, specs, mem, &at);
    *effectors = rt_layout_cut(mem, &at, (size_t)spec->effector_count * sizeof **effectors);
    return at;
}

/* Of all, and of the run state in it: with the models in memory of their own, for the time being.
 */
static size_t measure_sizes(const struct sim_spec *spec, size_t *state_size)
{
    struct dyn_body_spec *specs = body_specs(spec);
    struct dyn_effector *effectors;
    struct sim_vehicle *vehicle;
    const size_t head = lay_out_head(spec, specs, NULL, &vehicle, &effectors);
    void *mem = aligned_alloc(RT_CACHE_LINE, (head / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, head);
    (void)lay_out_head(spec, specs, mem, &vehicle, &effectors);
    fill_effectors(spec, effectors);
    const size_t size = lay_out_vehicle(vehicle, effectors, head, NULL);
    *state_size = vehicle->state_size;
    free(mem);
    free(specs);
    return size;
}

size_t sim_vehicle_size(const struct sim_spec *spec)
{
    size_t state_size;
    return measure_sizes(spec, &state_size);
}

size_t sim_run_state_size(const struct sim_spec *spec)
{
    size_t state_size;
    (void)measure_sizes(spec, &state_size);
    return state_size;
}

struct sim_vehicle *sim_vehicle_place(const struct sim_spec *spec, void *mem)
{
    struct dyn_body_spec *specs = body_specs(spec);
    struct sim_vehicle *vehicle;
    struct dyn_effector *effectors;
    const size_t head = lay_out_head(spec, specs, mem, &vehicle, &effectors);
    fill_effectors(spec, effectors);
    (void)lay_out_vehicle(vehicle, effectors, head, mem);
    vehicle->effectors = effectors;
    fill_tuned(vehicle);
    free(specs);

    if (vehicle->held != NULL)
        fill_held(vehicle);
    for (int i = 0; i < spec->parameter_count; i++) {
        vehicle->parameter[i] = spec->parameters[i].initial;
        sim_vehicle_apply_parameter(vehicle, i);
    }
    sim_vehicle_start(vehicle, false);
    memcpy(vehicle->start, vehicle->state, vehicle->state_size);
    return vehicle;
}

void sim_vehicle_reset(struct sim_vehicle *vehicle)
{
    sim_vehicle_start(vehicle, true);
}
