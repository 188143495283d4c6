#include "rt/executive/state/run_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/output/sensor_types.h"

/* Distinct noise streams for distinct devices of one seed. */
enum { STREAM_GUST = 1, STREAM_SENSOR = 1000, STREAM_FAULT = 2000 };

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

/* ---- the arm ---- */

static bool has_arm(const struct sim_spec *spec)
{
    return spec->arm.joint_count > 0;
}

static void hold_joint(const struct sim_vehicle *vehicle, int body, bool held)
{
    const int at = dyn_model_v_index(vehicle->plant.model, body);
    for (int k = 0; k < dyn_joint_nv(&vehicle->spec->bodies[body].spec); k++) {
        vehicle->held[at + k] = held;
        vehicle->blow[at + k] = held ? DYN_IMPACT_STOPPED : DYN_IMPACT_FREE;
    }
}

void sim_vehicle_apply_arm_configuration(struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    const struct sim_arm_state *state = vehicle->arm;
    vehicle->plant.model = vehicle->models[state->configuration];
    vehicle->work = vehicle->works[state->configuration];
    for (int i = 0; i < dyn_model_nv(vehicle->plant.model); i++)
        vehicle->blow[i] = vehicle->held[i] ? DYN_IMPACT_PRESCRIBED : DYN_IMPACT_FREE;
    for (int n = 0; n < arm->joint_count; n++)
        hold_joint(vehicle, arm->joint[n].body, state->brake[n] == SIM_ARM_BRAKE_HOLDS);
    for (int i = 0; i < arm->payload_count; i++)
        hold_joint(vehicle, arm->payload[i].body,
                   state->configuration == 1 + (uint64_t)i || (state->latched >> i & 1));
}

static void begin_arm(struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    *vehicle->arm = (struct sim_arm_state){
        .configuration = (uint64_t)sim_arm_first_configuration(vehicle->spec), .reach = -1.0};
    io_arm_panel_begin(&vehicle->arm->panel);
    for (int n = 0; n < arm->joint_count; n++) {
        vehicle->arm->brake[n] = SIM_ARM_BRAKE_HOLDS;
        vehicle->arm->reference[n] = vehicle->spec->bodies[arm->joint[n].body].position[0];
    }
    for (int i = 0; i < arm->payload_count; i++)
        vehicle->arm->latched |= (uint64_t)arm->payload[i].latched << i;
    sim_vehicle_apply_arm_configuration(vehicle);
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

/* ---- the start ---- */

static void fill_modes(const struct sim_vehicle *vehicle, int i)
{
    const struct dyn_model *model = vehicle->plant.model;
    const struct sim_flex *flex = vehicle->spec->bodies[i].flex;
    const size_t size = (size_t)dyn_model_modes(model, i) * sizeof(double);
    if (size == 0)
        return;
    memcpy(vehicle->x + dyn_model_eta_index(model, i), flex->start, size);
    memcpy(vehicle->x + dyn_model_nq(model) + dyn_model_xi_index(model, i), flex->start_rate, size);
}

/* Rotors at their speed relative to the body; valves closed, batteries full. */
static void fill_effector(const struct sim_vehicle *vehicle, int i)
{
    const struct sim_effector *from = &vehicle->spec->effectors[i];
    double *state = vehicle->x + dyn_plant_effector_index(&vehicle->plant, i);
    if (from->effector.type == DYN_EFFECTOR_ROTOR)
        state[0] = from->speed;
    if (from->effector.type != DYN_EFFECTOR_WHEEL)
        return;
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, from->effector.body, origin,
                     &motion);
    state[0] = dyn_wheel_momentum(&from->effector.wheel, motion.rate, from->speed);
}

/* Initial x: joints and modes as the scenario says, rotors at their speed relative to the body. */
static void fill_state(const struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    const struct dyn_model *model = vehicle->plant.model;
    dyn_plant_rest(&vehicle->plant, vehicle->x);
    for (int i = 0; i < spec->body_count; i++) {
        const struct sim_body *body = &spec->bodies[i];
        const size_t nq = (size_t)dyn_joint_nq(&body->spec), nv = (size_t)dyn_joint_nv(&body->spec);
        double *q = vehicle->x + dyn_model_q_index(model, i);
        double *v = vehicle->x + dyn_model_nq(model) + dyn_model_v_index(model, i);
        memcpy(q, body->position, nq * sizeof *q);
        memcpy(v, body->velocity, nv * sizeof *v);
        fill_modes(vehicle, i);
    }
    dyn_plant_solve(&vehicle->plant, vehicle->command, NULL, vehicle->x, vehicle->work);
    for (int i = 0; i < spec->effector_count; i++)
        fill_effector(vehicle, i);
}

static void begin_instrument(const struct sim_vehicle *vehicle, int i)
{
    const struct sim_sensor *sensor = &vehicle->tuned.sensors[i];
    sim_sensor_types[sensor->kind].begin(sensor, vehicle->spec->seed, STREAM_SENSOR + (uint64_t)i,
                                         vehicle->instrument[i]);
}

static void begin_devices(const struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    for (int i = 0; i < spec->drive_count; i++)
        io_actuator_drive_begin(&vehicle->tuned.drives[i], &vehicle->drive[i]);
    for (int i = 0; i < spec->sensor_count; i++)
        begin_instrument(vehicle, i);
}

/* The window in force is the operator's. */
static void begin_faults(const struct sim_vehicle *vehicle, bool anew)
{
    const struct sim_spec *spec = vehicle->spec;
    for (int i = 0; i < spec->fault_count; i++) {
        const uint64_t first = vehicle->fault[i].first_frame, last = vehicle->fault[i].last_frame;
        io_fault_begin(&vehicle->tuned.faults[i], spec->seed, STREAM_FAULT + (uint64_t)i,
                       &vehicle->fault[i]);
        if (anew)
            io_fault_move(&vehicle->fault[i], first, last);
    }
}

/* ---- parameters ---- */

static void store_double(void *base, size_t offset, double value)
{
    memcpy((unsigned char *)base + offset, &value, sizeof value);
}

/* From the run state to where the frame reads it. */
static void apply_parameter(struct sim_vehicle *vehicle, int index)
{
    const struct sim_parameter *parameter = &vehicle->spec->parameters[index];
    const double value = vehicle->parameter[index];
    switch (parameter->home) {
    case SIM_PARAMETER_IN_TUNED:
        store_double(&vehicle->tuned, parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_SENSOR:
        store_double(&vehicle->tuned.sensors[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_DRIVE:
        store_double(&vehicle->tuned.drives[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_FAULT:
        store_double(&vehicle->tuned.faults[parameter->index], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_EFFECTOR:
        for (int i = 0; i < parameter->count; i++)
            store_double(&vehicle->effectors[parameter->index + i], parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_ENVIRONMENT:
        store_double(&vehicle->plant.environment, parameter->offset, value);
        break;
    case SIM_PARAMETER_IN_JOINT_FORCE:
        for (int i = 0; i < sim_arm_configuration_count(vehicle->spec); i++)
            store_double(dyn_model_force_spec(vehicle->models[i], parameter->index, 0),
                         parameter->offset, value);
        break;
    }
}

void sim_vehicle_tune(struct sim_vehicle *vehicle, int index, double value)
{
    vehicle->parameter[index] = value;
    apply_parameter(vehicle, index);
    sim_vehicle_apply_environment(vehicle);
}

void sim_vehicle_apply_state(struct sim_vehicle *vehicle)
{
    for (int i = 0; i < vehicle->spec->parameter_count; i++)
        apply_parameter(vehicle, i);
    if (vehicle->arm != NULL)
        sim_vehicle_apply_arm_configuration(vehicle);
    sim_vehicle_apply_environment(vehicle);
}

/* ---- the world ---- */

/* Field and Sun change slowly: ten looks a second at home, a hundred on the way around the Earth,
 * or a few more, so that they come in step with the frames of a second and lengthen no pattern. */
uint32_t sim_environment_every(const struct sim_spec *spec)
{
    if (spec->world.kind == DYN_WORLD_UNIFORM)
        return 1; /* a divisor of all; there is no such job */
    const double looks_hz = spec->world.kind == DYN_WORLD_ORBIT ? 100.0 : 10.0;
    const uint32_t second = (uint32_t)llround(spec->rate_hz);
    uint32_t frames = (uint32_t)(spec->rate_hz / looks_hz);
    while (frames > 1 && second % frames != 0)
        frames--;
    return frames > 1 ? frames : 1;
}

void sim_vehicle_apply_environment(struct sim_vehicle *vehicle)
{
    struct dyn_environment *environment = &vehicle->plant.environment;
    const struct sim_environment_state *now = vehicle->surroundings;
    memcpy(environment->magnetic_field, now->magnetic_field, sizeof now->magnetic_field);
    memcpy(environment->sun, now->sun, sizeof now->sun);
    environment->sun_visible_fraction = now->sun_visible_fraction;
    for (int k = 0; k < 3; k++)
        environment->wind[k] = vehicle->tuned.wind[k] + now->gust.out[k];
}

void sim_vehicle_update_environment(struct sim_vehicle *vehicle, double seconds)
{
    struct dyn_environment environment = vehicle->spec->environment;
    struct sim_environment_state *now = vehicle->surroundings;
    static const double origin[3];
    const int flier = vehicle->spec->reference_body;
    const double *position =
        flier < 0 ? origin : vehicle->x + dyn_model_q_index(vehicle->plant.model, flier);
    dyn_world_update(&vehicle->spec->world, seconds, position, &environment);
    memcpy(now->magnetic_field, environment.magnetic_field, sizeof now->magnetic_field);
    memcpy(now->sun, environment.sun, sizeof now->sun);
    now->sun_visible_fraction = environment.sun_visible_fraction;
}

static void begin_surroundings(struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    sim_vehicle_update_environment(vehicle, (double)vehicle->schedule->frame * vehicle->h);
    if (spec->has_gust)
        io_wind_gust_begin(&vehicle->tuned.gust, spec->seed, STREAM_GUST,
                           &vehicle->surroundings->gust);
    sim_vehicle_apply_environment(vehicle);
}

static bool is_held(const struct sim_spec *spec)
{
    bool some = has_arm(spec); /* whose brakes hold */
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
    vehicle->arm = has_arm(spec) ? rt_layout_cut(state, &at, sizeof *vehicle->arm) : NULL;
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
 * sized from them.  rig is filled with pointers into mem; with mem NULL they mean nothing. */
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
    if (has_arm(spec))
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

/* Bytes of the rig itself, its models and its effectors: what is cut before the rest is sized. */
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

/* anew: not for the first time. */
static void set_initial_state(struct sim_vehicle *vehicle, bool anew)
{
    if (vehicle->arm != NULL)
        begin_arm(vehicle);
    if (vehicle->arm != NULL && anew) /* the operator's buttons are not at their start */
        io_arm_panel_adopt_buttons(
            &vehicle->arm->panel,
            (uint32_t)(vehicle->link[vehicle->spec->arm.button_link].flags >> 32));
    begin_devices(vehicle);
    begin_faults(vehicle, anew);
    fill_state(vehicle);
    begin_surroundings(vehicle);
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
        apply_parameter(vehicle, i);
    }
    set_initial_state(vehicle, false);
    memcpy(vehicle->start, vehicle->state, vehicle->state_size);
    return vehicle;
}

void sim_vehicle_reset(struct sim_vehicle *vehicle)
{
    set_initial_state(vehicle, true);
}

/* ---- names ---- */

struct section_list {
    const struct sim_vehicle *vehicle;
    struct sim_run_state_section *out;
    int count;
};

static void name_section(struct section_list *list, const char *what, const char *name,
                         const char *job, const void *at, size_t size)
{
    RT_CHECK(list->count < SIM_RUN_STATE_SECTION_MAX);
    struct sim_run_state_section *section = &list->out[list->count++];
    snprintf(section->name, sizeof section->name, "%s%s%s", what, *name ? " " : "", name);
    section->job = job;
    section->offset = (size_t)((const unsigned char *)at - list->vehicle->state);
    section->size = size;
}

static void name_devices(struct section_list *list)
{
    const struct sim_vehicle *vehicle = list->vehicle;
    const struct sim_spec *spec = vehicle->spec;
    for (int i = 0; i < spec->drive_count; i++)
        name_section(list, "drive", spec->effectors[i].name, "drives", &vehicle->drive[i],
                     sizeof vehicle->drive[i]);
    for (int i = 0; i < spec->sensor_count; i++)
        name_section(list, "device", spec->sensors[i].name, spec->sensors[i].name,
                     vehicle->instrument[i], sim_sensor_state_size(spec->sensors[i].kind));
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        name_section(list, "fault", fault->text,
                     fault->sensor >= 0     ? spec->sensors[fault->sensor].name
                     : fault->effector >= 0 ? "drives"
                                            : "latch",
                     &vehicle->fault[i], sizeof vehicle->fault[i]);
    }
}

int sim_run_state_section_count(const struct sim_spec *spec)
{
    return 4 + spec->drive_count + spec->sensor_count + spec->fault_count + spec->link_count +
           has_arm(spec);
}

int sim_run_state_sections(const struct sim_vehicle *vehicle,
                           struct sim_run_state_section sections[SIM_RUN_STATE_SECTION_MAX])
{
    _Static_assert(SIM_EFFECTOR_MAX + 64 + SIM_FAULT_MAX + IO_LINK_MAX + 5 <=
                       SIM_RUN_STATE_SECTION_MAX,
                   "every part has a name");
    const struct sim_spec *spec = vehicle->spec;
    struct section_list list = {vehicle, sections, 0};
    name_section(&list, "plant", "", "step", vehicle->x,
                 (size_t)dyn_plant_state_count(&vehicle->plant) * sizeof *vehicle->x);
    name_devices(&list);
    for (int i = 0; i < spec->link_count; i++)
        name_section(&list, "link", spec->links[i].name, "latch", &vehicle->link[i],
                     sizeof vehicle->link[i]);
    name_section(&list, "surroundings", "", spec->has_gust ? "gust" : "world",
                 vehicle->surroundings, sizeof *vehicle->surroundings);
    name_section(&list, "schedule", "", "step", vehicle->schedule, sizeof *vehicle->schedule);
    name_section(&list, "parameters", "", "latch", vehicle->parameter,
                 (size_t)spec->parameter_count * sizeof *vehicle->parameter);
    if (vehicle->arm != NULL)
        name_section(&list, "arm", "", "servo", vehicle->arm, sizeof *vehicle->arm);
    RT_CHECK(list.count == sim_run_state_section_count(spec));
    return list.count;
}
