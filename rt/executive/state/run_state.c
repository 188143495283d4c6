#include "rt/executive/state/run_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

/* Distinct noise streams for distinct devices of one seed. */
enum { STREAM_GUST = 1, STREAM_SENSOR = 1000, STREAM_FAULT = 2000 };

static void fill_effectors(const struct cfg_scenario *scenario, struct dyn_effector *effectors)
{
    for (int i = 0; i < scenario->effector_count; i++)
        effectors[i] = scenario->effectors[i].effector;
}

/* What the scenario holds, for the whole run. */
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

/* ---- the arm ---- */

static bool has_arm(const struct cfg_scenario *scenario)
{
    return scenario->arm.joint_count > 0;
}

static void hold(const struct cfg_rig *rig, int body, bool held)
{
    const int at = dyn_model_v_index(rig->plant.model, body);
    for (int k = 0; k < dyn_joint_nv(&rig->scenario->bodies[body].spec); k++) {
        rig->held[at + k] = held;
        rig->blow[at + k] = held ? DYN_IMPACT_STOPPED : DYN_IMPACT_FREE;
    }
}

void cfg_rig_grip(struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    const struct cfg_arm_state *state = rig->arm;
    rig->plant.model = rig->models[state->configuration];
    rig->work = rig->works[state->configuration];
    for (int i = 0; i < dyn_model_nv(rig->plant.model); i++)
        rig->blow[i] = rig->held[i] ? DYN_IMPACT_PRESCRIBED : DYN_IMPACT_FREE;
    for (int n = 0; n < arm->joint_count; n++)
        hold(rig, arm->joint[n].body, state->brake[n] == CFG_BRAKE_HOLDS);
    for (int i = 0; i < arm->payload_count; i++)
        hold(rig, arm->payload[i].body,
             state->configuration == 1 + (uint64_t)i || (state->latched >> i & 1));
}

static void begin_arm(struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    *rig->arm = (struct cfg_arm_state){
        .configuration = (uint64_t)cfg_first_configuration(rig->scenario), .reach = -1.0};
    io_arm_panel_begin(&rig->arm->panel);
    for (int n = 0; n < arm->joint_count; n++) {
        rig->arm->brake[n] = CFG_BRAKE_HOLDS;
        rig->arm->reference[n] = rig->scenario->bodies[arm->joint[n].body].position[0];
    }
    for (int i = 0; i < arm->payload_count; i++)
        rig->arm->latched |= (uint64_t)arm->payload[i].latched << i;
    cfg_rig_grip(rig);
}

static void fill_kinematics(struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    rig->kinematics = (struct dyn_arm){.model = rig->models[0],
                                       .base = arm->base,
                                       .hand = arm->hand,
                                       .grip = arm->grip,
                                       .resolve = arm->resolve};
    for (int n = 0; n < arm->joint_count; n++) {
        rig->kinematics.q_at[n] = dyn_model_q_index(rig->models[0], arm->joint[n].body);
        rig->kinematics.v_at[n] = dyn_model_v_index(rig->models[0], arm->joint[n].body);
    }
}

/* ---- the start ---- */

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

/* Rotors at their speed relative to the body; valves closed, batteries full. */
static void fill_effector(const struct cfg_rig *rig, int i)
{
    const struct cfg_effector *from = &rig->scenario->effectors[i];
    double *state = rig->x + dyn_plant_effector_index(&rig->plant, i);
    if (from->effector.type == DYN_EFFECTOR_ROTOR)
        state[0] = from->speed;
    if (from->effector.type != DYN_EFFECTOR_WHEEL)
        return;
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&rig->plant, rig->work, rig->x, from->effector.body, origin, &motion);
    state[0] = dyn_wheel_momentum(&from->effector.wheel, motion.rate, from->speed);
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
    for (int i = 0; i < scenario->effector_count; i++)
        fill_effector(rig, i);
}

static void begin_instrument(const struct cfg_rig *rig, int i)
{
    const struct cfg_sensor *sensor = &rig->scenario->sensors[i];
    const uint64_t seed = rig->scenario->seed, stream = STREAM_SENSOR + (uint64_t)i;
    void *state = rig->instrument[i];
    switch (sensor->kind) {
    case CFG_GYRO:
    case CFG_ACCELEROMETER:
    case CFG_MAGNETOMETER:
        io_three_axis_sensor_begin(&sensor->triad, seed, stream, state);
        break;
    case CFG_GPS:
        io_gps_begin(&sensor->gps, seed, stream, state);
        break;
    case CFG_SUN_SENSOR:
        io_sun_sensor_begin(&sensor->sun, seed, stream, state);
        break;
    case CFG_STAR_TRACKER:
        io_star_tracker_begin(&sensor->tracker, seed, stream, state);
        break;
    default:
        io_scalar_sensor_begin(&sensor->gauge, seed, stream, state);
    }
}

static void begin_devices(const struct cfg_rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->drive_count; i++)
        io_actuator_drive_begin(&scenario->effectors[i].drive, &rig->drive[i]);
    for (int i = 0; i < scenario->sensor_count; i++)
        begin_instrument(rig, i);
}

/* The window in force is the operator's. */
static void begin_faults(const struct cfg_rig *rig, bool anew)
{
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->fault_count; i++) {
        const uint64_t first = rig->fault[i].first_frame, last = rig->fault[i].last_frame;
        io_fault_begin(&scenario->faults[i].spec, scenario->seed, STREAM_FAULT + (uint64_t)i,
                       &rig->fault[i]);
        if (anew)
            io_fault_move(&rig->fault[i], first, last);
    }
}

/* ---- parameters ---- */

static void put(void *base, size_t offset, double value)
{
    memcpy((unsigned char *)base + offset, &value, sizeof value);
}

/* From the run state to where the frame reads it. */
static void apply_parameter(struct cfg_rig *rig, int index)
{
    const struct cfg_parameter *parameter = &rig->scenario->parameters[index];
    const double value = rig->parameter[index];
    switch (parameter->seat) {
    case CFG_IN_SCENARIO:
        *parameter->at = value;
        break;
    case CFG_IN_EFFECTOR:
        for (int i = 0; i < parameter->count; i++)
            put(&rig->effectors[parameter->index + i], parameter->offset, value);
        break;
    case CFG_IN_ENVIRONMENT:
        put(&rig->plant.environment, parameter->offset, value);
        break;
    case CFG_IN_LAW:
        for (int i = 0; i < cfg_configuration_count(rig->scenario); i++)
            put(dyn_model_force_spec(rig->models[i], parameter->index, 0), parameter->offset,
                value);
        break;
    }
}

void cfg_rig_tune(struct cfg_rig *rig, int index, double value)
{
    rig->parameter[index] = value;
    apply_parameter(rig, index);
    cfg_rig_surround(rig);
}

void cfg_rig_settle(struct cfg_rig *rig)
{
    for (int i = 0; i < rig->scenario->parameter_count; i++)
        apply_parameter(rig, i);
    if (rig->arm != NULL)
        cfg_rig_grip(rig);
    cfg_rig_surround(rig);
}

/* ---- the world ---- */

void cfg_rig_surround(struct cfg_rig *rig)
{
    struct dyn_environment *environment = &rig->plant.environment;
    const struct cfg_surroundings *now = rig->surroundings;
    memcpy(environment->magnetic_field, now->magnetic_field, sizeof now->magnetic_field);
    memcpy(environment->sun, now->sun, sizeof now->sun);
    environment->sun_visible_fraction = now->sun_visible_fraction;
    for (int k = 0; k < 3; k++)
        environment->wind[k] = rig->scenario->environment.wind[k] + now->gust.out[k];
}

void cfg_rig_look_around(struct cfg_rig *rig, double seconds)
{
    struct dyn_environment environment = rig->scenario->environment;
    struct cfg_surroundings *now = rig->surroundings;
    static const double origin[3];
    const int flier = rig->scenario->flier;
    const double *position =
        flier < 0 ? origin : rig->x + dyn_model_q_index(rig->plant.model, flier);
    dyn_world_update(&rig->scenario->world, seconds, position, &environment);
    memcpy(now->magnetic_field, environment.magnetic_field, sizeof now->magnetic_field);
    memcpy(now->sun, environment.sun, sizeof now->sun);
    now->sun_visible_fraction = environment.sun_visible_fraction;
}

static void begin_surroundings(struct cfg_rig *rig)
{
    const struct cfg_scenario *scenario = rig->scenario;
    cfg_rig_look_around(rig, (double)rig->schedule->frame * rig->h);
    if (scenario->gusty)
        io_wind_gust_begin(&scenario->gust, scenario->seed, STREAM_GUST, &rig->surroundings->gust);
    cfg_rig_surround(rig);
}

static bool is_held(const struct cfg_scenario *scenario)
{
    bool some = has_arm(scenario); /* whose brakes hold */
    for (int i = 0; i < scenario->body_count; i++)
        for (int k = 0; k < dyn_joint_nv(&scenario->bodies[i].spec); k++)
            some = some || scenario->bodies[i].held[k];
    return some;
}

size_t cfg_instrument_size(enum cfg_instrument kind)
{
    static const size_t size[CFG_INSTRUMENT_COUNT] = {
        [CFG_GYRO] = sizeof(struct io_three_axis_sensor_state),
        [CFG_ACCELEROMETER] = sizeof(struct io_three_axis_sensor_state),
        [CFG_MAGNETOMETER] = sizeof(struct io_three_axis_sensor_state),
        [CFG_BAROMETER] = sizeof(struct io_scalar_sensor_state),
        [CFG_AIRSPEED] = sizeof(struct io_scalar_sensor_state),
        [CFG_GPS] = sizeof(struct io_gps_state),
        [CFG_SUN_SENSOR] = sizeof(struct io_sun_sensor_state),
        [CFG_STAR_TRACKER] = sizeof(struct io_star_tracker_state),
        [CFG_ENCODER] = sizeof(struct io_scalar_sensor_state),
    };
    return size[kind];
}

/* The parts of the run state, in order; with state NULL only the size counts. */
static size_t lay_out_state(struct cfg_rig *rig, unsigned char *state)
{
    const struct cfg_scenario *scenario = rig->scenario;
    const size_t x_count = (size_t)dyn_plant_state_count(&rig->plant);
    size_t at = 0;
    rig->x = rt_layout_cut(state, &at, x_count * sizeof *rig->x);
    rig->drive = rt_layout_cut(state, &at, (size_t)scenario->drive_count * sizeof *rig->drive);
    for (int i = 0; i < scenario->sensor_count; i++) {
        void *instrument =
            rt_layout_cut(state, &at, cfg_instrument_size(scenario->sensors[i].kind));
        if (state)
            rig->instrument[i] = instrument;
    }
    rig->fault = rt_layout_cut(state, &at, (size_t)scenario->fault_count * sizeof *rig->fault);
    rig->link = rt_layout_cut(state, &at, (size_t)scenario->link_count * sizeof *rig->link);
    rig->surroundings = rt_layout_cut(state, &at, sizeof *rig->surroundings);
    rig->schedule = rt_layout_cut(state, &at, sizeof *rig->schedule);
    rig->parameter =
        rt_layout_cut(state, &at, (size_t)scenario->parameter_count * sizeof *rig->parameter);
    rig->arm = has_arm(scenario) ? rt_layout_cut(state, &at, sizeof *rig->arm) : NULL;
    return (at + 7) / 8 * 8;
}

/* The models, one for everything that can be in an arm's hand; else one. */
static void lay_out_models(struct cfg_rig *rig, const struct dyn_body_spec *specs,
                           unsigned char *mem, size_t *at)
{
    const struct cfg_scenario *scenario = rig->scenario;
    const int count = cfg_configuration_count(scenario);
    rig->models = rt_layout_cut(mem, at, (size_t)count * sizeof *rig->models);
    for (int i = 0; i < count; i++) {
        const struct dyn_body_spec *own = specs + (size_t)i * (size_t)scenario->body_count;
        void *model_mem = rt_layout_cut(mem, at, dyn_model_size(own, scenario->body_count));
        if (mem == NULL)
            continue;
        rig->models[i] = dyn_model_place(own, scenario->body_count, model_mem);
        dyn_model_use_isa(rig->models[i], scenario->isa);
    }
}

/* What an arm works with. */
static void lay_out_arm(struct cfg_rig *rig, unsigned char *mem, size_t *at)
{
    const size_t count = (size_t)cfg_configuration_count(rig->scenario);
    const struct dyn_model *none = rig->models[0];
    rig->joint_tau = rt_layout_cut(mem, at, (size_t)dyn_model_nv(none) * sizeof *rig->joint_tau);
    rig->blow = rt_layout_cut(mem, at, (size_t)dyn_model_nv(none) * sizeof *rig->blow);
    void *work = rt_layout_cut(mem, at, dyn_arm_work_size(none));
    rig->take = rt_layout_cut(mem, at, count * sizeof *rig->take);
    rig->give = rt_layout_cut(mem, at, count * sizeof *rig->give);
    if (mem != NULL) {
        rig->arm_work = dyn_arm_work_place(none, work);
        fill_kinematics(rig);
    }
    for (size_t i = 0; i < count; i++) {
        const struct dyn_model *some = rig->models[i];
        void *take = rt_layout_cut(mem, at, dyn_grapple_work_size(none, some));
        void *give = rt_layout_cut(mem, at, dyn_grapple_work_size(some, none));
        if (mem == NULL)
            continue;
        rig->take[i] = dyn_grapple_work_place(none, some, take);
        rig->give[i] = dyn_grapple_work_place(some, none, give);
    }
}

/* One layout answers size and placement; the models are there already, because everything else is
 * sized from them.  rig is filled with pointers into mem; with mem NULL they mean nothing. */
static size_t lay_out(struct cfg_rig *rig, struct dyn_effector *effectors, size_t at,
                      unsigned char *mem)
{
    const struct cfg_scenario *scenario = rig->scenario;
    const size_t count = (size_t)cfg_configuration_count(scenario);
    const int first = cfg_first_configuration(scenario);
    rig->h = (double)scenario->period_ns * 1e-9;
    rig->plant = (struct dyn_plant){
        .model = rig->models[first],
        .effector_count = scenario->effector_count,
        .effectors = effectors,
        .environment = scenario->environment,
        .integrator = scenario->integrator,
        .substeps = scenario->substeps,
        .step = rig->h / scenario->substeps,
    };
    const size_t nv = (size_t)dyn_model_nv(rig->plant.model);
    rig->held = NULL;
    rig->held_a = NULL;
    if (is_held(scenario)) { /* else the kernel need not ask */
        rig->plant.held = rig->held = rt_layout_cut(mem, &at, nv * sizeof *rig->held);
        rig->plant.held_a = rig->held_a = rt_layout_cut(mem, &at, nv * sizeof *rig->held_a);
        static const unsigned char some;
        if (mem == NULL)
            rig->plant.held = &some; /* it is asked whether, not which */
    }
    rig->command = rt_layout_cut(mem, &at, (size_t)scenario->effector_count * sizeof *rig->command);
    rig->instrument =
        rt_layout_cut(mem, &at, (size_t)scenario->sensor_count * sizeof *rig->instrument);
    rig->works = rt_layout_cut(mem, &at, count * sizeof *rig->works);
    for (size_t i = 0; i < count; i++) {
        struct dyn_plant plant = rig->plant;
        plant.model = rig->models[i];
        void *work = rt_layout_cut(mem, &at, dyn_plant_work_size(&plant));
        if (mem != NULL)
            rig->works[i] = dyn_plant_work_place(&plant, work);
    }
    if (mem != NULL)
        rig->work = rig->works[first];
    if (has_arm(scenario))
        lay_out_arm(rig, mem, &at);
    rig->state_size = lay_out_state(rig, NULL);
    rig->state = rt_layout_cut(mem, &at, rig->state_size);
    rig->start = rt_layout_cut(mem, &at, rig->state_size);
    if (mem)
        (void)lay_out_state(rig, rig->state);
    return at;
}

/* Of all configurations, one after the other. */
static struct dyn_body_spec *body_specs(const struct cfg_scenario *scenario)
{
    const size_t bodies = (size_t)scenario->body_count;
    const int count = cfg_configuration_count(scenario);
    struct dyn_body_spec *specs = calloc((size_t)count * bodies + 1, sizeof *specs);
    RT_CHECK(specs);
    for (int i = 0; i < count; i++)
        cfg_configuration_specs(scenario, i, specs + (size_t)i * bodies);
    return specs;
}

/* Bytes of the rig itself, its models and its effectors: what is cut before the rest is sized. */
static size_t cut_head(const struct cfg_scenario *scenario, const struct dyn_body_spec *specs,
                       unsigned char *mem, struct cfg_rig **rig, struct dyn_effector **effectors)
{
    struct cfg_rig probe = {.scenario = scenario};
    size_t at = 0;
    *rig = rt_layout_cut(mem, &at, sizeof **rig);
    if (mem != NULL)
        (*rig)->scenario = scenario;
    lay_out_models(mem != NULL ? *rig : &probe, specs, mem, &at);
    *effectors = rt_layout_cut(mem, &at, (size_t)scenario->effector_count * sizeof **effectors);
    return at;
}

/* Of all, and of the run state in it: with the models in memory of their own, for the time being.
 */
static size_t measure(const struct cfg_scenario *scenario, size_t *state_size)
{
    struct dyn_body_spec *specs = body_specs(scenario);
    struct dyn_effector *effectors;
    struct cfg_rig *rig;
    const size_t head = cut_head(scenario, specs, NULL, &rig, &effectors);
    void *mem = aligned_alloc(RT_CACHE_LINE, (head / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, head);
    (void)cut_head(scenario, specs, mem, &rig, &effectors);
    fill_effectors(scenario, effectors);
    const size_t size = lay_out(rig, effectors, head, NULL);
    *state_size = rig->state_size;
    free(mem);
    free(specs);
    return size;
}

size_t cfg_rig_size(const struct cfg_scenario *scenario)
{
    size_t state_size;
    return measure(scenario, &state_size);
}

size_t cfg_state_size(const struct cfg_scenario *scenario)
{
    size_t state_size;
    (void)measure(scenario, &state_size);
    return state_size;
}

/* anew: not for the first time. */
static void begin(struct cfg_rig *rig, bool anew)
{
    if (rig->arm != NULL)
        begin_arm(rig);
    if (rig->arm != NULL && anew) /* the operator's buttons are not at their start */
        io_arm_panel_adopt_buttons(
            &rig->arm->panel, (uint32_t)(rig->link[rig->scenario->arm.button_link].flags >> 32));
    begin_devices(rig);
    begin_faults(rig, anew);
    fill_state(rig);
    begin_surroundings(rig);
}

struct cfg_rig *cfg_rig_place(const struct cfg_scenario *scenario, void *mem)
{
    struct dyn_body_spec *specs = body_specs(scenario);
    struct cfg_rig *rig;
    struct dyn_effector *effectors;
    const size_t head = cut_head(scenario, specs, mem, &rig, &effectors);
    fill_effectors(scenario, effectors);
    (void)lay_out(rig, effectors, head, mem);
    rig->effectors = effectors;
    free(specs);

    if (rig->held != NULL)
        fill_held(rig);
    for (int i = 0; i < scenario->parameter_count; i++) {
        rig->parameter[i] = scenario->parameters[i].initial;
        apply_parameter(rig, i);
    }
    begin(rig, false);
    memcpy(rig->start, rig->state, rig->state_size);
    return rig;
}

void cfg_rig_reset(struct cfg_rig *rig)
{
    begin(rig, true);
}

/* ---- names ---- */

struct section_list {
    const struct cfg_rig *rig;
    struct cfg_section *out;
    int count;
};

static void name_section(struct section_list *list, const char *what, const char *name,
                         const char *job, const void *at, size_t size)
{
    RT_CHECK(list->count < CFG_SECTION_MAX);
    struct cfg_section *section = &list->out[list->count++];
    snprintf(section->name, sizeof section->name, "%s%s%s", what, *name ? " " : "", name);
    section->job = job;
    section->offset = (size_t)((const unsigned char *)at - list->rig->state);
    section->size = size;
}

static void name_devices(struct section_list *list)
{
    const struct cfg_rig *rig = list->rig;
    const struct cfg_scenario *scenario = rig->scenario;
    for (int i = 0; i < scenario->drive_count; i++)
        name_section(list, "drive", scenario->effectors[i].name, "drives", &rig->drive[i],
                     sizeof rig->drive[i]);
    for (int i = 0; i < scenario->sensor_count; i++)
        name_section(list, "device", scenario->sensors[i].name, scenario->sensors[i].name,
                     rig->instrument[i], cfg_instrument_size(scenario->sensors[i].kind));
    for (int i = 0; i < scenario->fault_count; i++) {
        const struct cfg_fault *fault = &scenario->faults[i];
        name_section(list, "fault", fault->text,
                     fault->sensor >= 0     ? scenario->sensors[fault->sensor].name
                     : fault->effector >= 0 ? "drives"
                                            : "latch",
                     &rig->fault[i], sizeof rig->fault[i]);
    }
}

int cfg_section_count(const struct cfg_scenario *scenario)
{
    return 4 + scenario->drive_count + scenario->sensor_count + scenario->fault_count +
           scenario->link_count + has_arm(scenario);
}

int cfg_rig_sections(const struct cfg_rig *rig, struct cfg_section sections[CFG_SECTION_MAX])
{
    _Static_assert(CFG_EFFECTOR_MAX + 64 + CFG_FAULT_MAX + IO_LINK_MAX + 5 <= CFG_SECTION_MAX,
                   "every part has a name");
    const struct cfg_scenario *scenario = rig->scenario;
    struct section_list list = {rig, sections, 0};
    name_section(&list, "plant", "", "step", rig->x,
                 (size_t)dyn_plant_state_count(&rig->plant) * sizeof *rig->x);
    name_devices(&list);
    for (int i = 0; i < scenario->link_count; i++)
        name_section(&list, "link", scenario->links[i].name, "latch", &rig->link[i],
                     sizeof rig->link[i]);
    name_section(&list, "surroundings", "", scenario->gusty ? "gust" : "world", rig->surroundings,
                 sizeof *rig->surroundings);
    name_section(&list, "schedule", "", "step", rig->schedule, sizeof *rig->schedule);
    name_section(&list, "parameters", "", "latch", rig->parameter,
                 (size_t)scenario->parameter_count * sizeof *rig->parameter);
    if (rig->arm != NULL)
        name_section(&list, "arm", "", "servo", rig->arm, sizeof *rig->arm);
    RT_CHECK(list.count == cfg_section_count(scenario));
    return list.count;
}
