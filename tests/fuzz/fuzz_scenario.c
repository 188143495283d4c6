/*
 * Any text as a scenario, with any overrides (behind the first NUL, one after each NUL).
 * What must hold:
 *   - bad input gives exactly one line that names its place, good input none,
 *   - what was accepted keeps the promises of config/scenario.h: sorted parents, indices inside
 * their arrays, finite numbers, rates on the grid,
 *   - it can be placed, stepped and looked at by every instrument.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/arm/arm_record.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"

enum { OVERRIDE_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Overrides are C strings: copies, since the input need not end with NUL. */
static int split_overrides(const uint8_t *bytes, size_t size, char *overrides[OVERRIDE_MAX])
{
    int count = 0;
    while (size > 0 && count < OVERRIDE_MAX) {
        const size_t length = strnlen((const char *)bytes, size);
        overrides[count++] = strndup((const char *)bytes, length);
        const size_t used = length < size ? length + 1 : size;
        bytes += used;
        size -= used;
    }
    return count;
}

static void check_error(const char *error)
{
    RT_CHECK(strlen(error) > 0 && strlen(error) < CFG_ERROR_MAX);
    RT_CHECK(strncmp(error, "f.yaml:", 7) == 0 || strncmp(error, "--set ", 6) == 0);
    for (const char *c = error; *c != '\0'; c++)
        RT_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_finite(const double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        RT_CHECK(isfinite(numbers[i]));
}

static void check_mimic(const struct cfg_scenario *scenario, int i)
{
    const struct dyn_mimic *mimic = &scenario->spec.bodies[i].spec.mimic;
    if (!mimic->on)
        return;
    RT_CHECK(mimic->leader >= 0 && mimic->leader < scenario->spec.body_count && mimic->leader != i);
    RT_CHECK(!scenario->spec.bodies[mimic->leader].spec.mimic.on);
    RT_CHECK(isfinite(mimic->ratio) && isfinite(mimic->offset));
}

static void check_flex(const struct cfg_scenario *scenario, const struct sim_body *body)
{
    const struct sim_flex *flex = body->flex;
    RT_CHECK((flex != NULL) == (body->spec.flex != NULL));
    const int parent = body->spec.parent;
    const struct sim_flex *below = parent >= 0 ? scenario->spec.bodies[parent].flex : NULL;
    RT_CHECK(body->spec.node >= 0 && body->spec.node <= (below != NULL ? below->modal.nodes : 0));
    if (flex == NULL)
        return;
    const int modes = flex->modal.modes;
    RT_CHECK(modes >= 1 && modes <= DYN_MODES_MAX && flex->share < 1.0);
    RT_CHECK(flex->first_hz >= 0.0 && flex->last_hz >= flex->first_hz);
    check_finite(flex->modal.M, modes * modes);
    check_finite(flex->modal.K, modes * modes);
    check_finite(flex->modal.C, modes * modes);
    check_finite(flex->modal.N, 9 * modes * modes);
    check_finite(flex->start, modes);
    check_finite(flex->start_rate, modes);
    for (int i = 0; i < flex->modal.nodes; i++)
        check_finite(flex->modal.node[i].psi, 3 * modes);
}

static void check_bodies(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->spec.body_count >= 1);
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct sim_body *body = &scenario->spec.bodies[i];
        RT_CHECK(body->spec.parent >= -1 && body->spec.parent < i);
        RT_CHECK(body->spec.mass >= 0.0 &&
                 cfg_scenario_mark(scenario, "bodies", body->name).line >= 1);
        check_finite(body->position, 7);
        check_finite(body->velocity, 6);
        check_finite(body->held_a, 6);
        check_finite(body->spec.inertia, 6);
        check_mimic(scenario, i);
        check_flex(scenario, body);
    }
}

static void check_error_spec(const struct io_sensor_error_spec *error)
{
    RT_CHECK(error->sample_time > 0.0 && error->instability_time > 0.0);
    RT_CHECK(error->range >= 0.0 && error->quantum >= 0.0);
    check_finite(&error->scale, 1);
    check_finite(&error->bias, 1);
    check_finite(&error->noise_density, 1);
    check_finite(&error->walk_density, 1);
    check_finite(&error->instability, 1);
}

static void check_triad(const struct io_three_axis_sensor_spec *triad)
{
    RT_CHECK(triad->delay < IO_THREE_AXIS_SENSOR_DELAY_MAX && triad->sample_time > 0.0);
    check_finite(triad->mounting, 9);
    check_finite(triad->misalignment, 6);
    check_finite(triad->scale, 3);
    check_finite(triad->bias, 3);
}

static void check_gps(const struct io_gps_spec *gps)
{
    RT_CHECK(gps->delay < IO_GPS_DELAY_MAX && gps->sample_time > 0.0 && gps->wander_time > 0.0);
    RT_CHECK(gps->fix_type == 3 || gps->fix_type == 0);
    check_finite(&gps->noise_horizontal, 1);
    check_finite(&gps->noise_vertical, 1);
    check_finite(&gps->eph, 1);
    check_finite(&gps->epv, 1);
}

static void check_encoder(const struct cfg_scenario *scenario, const struct sim_sensor *sensor)
{
    const struct dyn_body_spec *spec = &scenario->spec.bodies[sensor->body].spec;
    RT_CHECK(sensor->coordinate >= 0 && sensor->coordinate < dyn_joint_nq(spec));
    RT_CHECK(sensor->angle >= 0 && sensor->angle < IO_ANGLE_MAX && !spec->mimic.on);
}

/* The part of the union that its kind has. */
static void check_kind(const struct cfg_scenario *scenario, const struct sim_sensor *sensor)
{
    switch (sensor->kind) {
    case SIM_SENSOR_GYRO:
    case SIM_SENSOR_ACCELEROMETER:
    case SIM_SENSOR_MAGNETOMETER:
        check_triad(&sensor->triad);
        return;
    case SIM_SENSOR_GPS:
        check_gps(&sensor->gps);
        return;
    case SIM_SENSOR_SUN:
        RT_CHECK(sensor->sun.delay < IO_SUN_SENSOR_DELAY_MAX && sensor->sun.half_angle > 0.0);
        check_finite(sensor->sun.boresight, 3);
        return;
    case SIM_SENSOR_STAR_TRACKER:
        RT_CHECK(sensor->tracker.delay < IO_STAR_TRACKER_DELAY_MAX);
        check_finite(sensor->tracker.boresight, 3);
        check_finite(sensor->tracker.misalignment, 3);
        return;
    case SIM_SENSOR_HORIZON:
        RT_CHECK(sensor->horizon.delay < IO_HORIZON_SENSOR_DELAY_MAX &&
                 sensor->horizon.half_angle > 0.0);
        check_finite(sensor->horizon.boresight, 3);
        return;
    case SIM_SENSOR_ENCODER:
        check_encoder(scenario, sensor);
        break;
    default:
        break;
    }
    RT_CHECK(sensor->gauge.delay < IO_SCALAR_SENSOR_DELAY_MAX);
    check_error_spec(&sensor->gauge.error);
}

static void check_sensors(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.sensor_count; i++) {
        const struct sim_sensor *sensor = &scenario->spec.sensors[i];
        RT_CHECK(sensor->body >= 0 && sensor->body < scenario->spec.body_count);
        RT_CHECK(sensor->every >= 1 && sensor->sample_time > 0.0);
        check_finite(sensor->point, 3);
        check_kind(scenario, sensor);
    }
}

static void check_effectors(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->spec.drive_count <= scenario->spec.effector_count);
    RT_CHECK(scenario->spec.effector_count <= SIM_EFFECTOR_MAX);
    for (int i = 0; i < scenario->spec.effector_count; i++) {
        const struct sim_effector *effector = &scenario->spec.effectors[i];
        RT_CHECK(dyn_effector_problem(&effector->effector, scenario->spec.body_count) == NULL);
        RT_CHECK(effector->link < scenario->spec.link_count);
        RT_CHECK((effector->link >= 0) == (i < scenario->spec.drive_count));
        RT_CHECK(effector->control >= 0 && effector->control < IO_CONTROL_MAX);
        RT_CHECK(effector->drive.delay < IO_ACTUATOR_DRIVE_DELAY_MAX);
        check_finite(&effector->drive.gain, 1);
        check_finite(&effector->speed, 1);
    }
}

static void check_world(const struct cfg_scenario *scenario)
{
    const struct dyn_environment *environment = &scenario->spec.environment;
    RT_CHECK(environment->kind == scenario->spec.world.kind);
    RT_CHECK(scenario->spec.reference_body >= -1 &&
             scenario->spec.reference_body < scenario->spec.body_count);
    RT_CHECK(environment->kind != DYN_WORLD_ORBIT || scenario->spec.reference_body >= 0);
    check_finite(environment->gravity, 3);
    check_finite(environment->magnetic_field, 3);
    check_finite(environment->wind, 3);
    check_finite(&environment->ground, 1);
    check_finite(&environment->height, 1);
    for (int k = 0; k < 3; k++)
        RT_CHECK(scenario->spec.gust.sigma[k] >= 0.0 && scenario->spec.gust.time[k] > 0.0);
}

static void check_faults(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->spec.fault_count <= SIM_FAULT_MAX);
    for (int i = 0; i < scenario->spec.fault_count; i++) {
        const struct sim_fault *fault = &scenario->spec.faults[i];
        RT_CHECK((fault->sensor >= 0) + (fault->effector >= 0) + (fault->link >= 0) == 1);
        RT_CHECK(fault->sensor < scenario->spec.sensor_count &&
                 fault->link < scenario->spec.link_count);
        RT_CHECK(fault->effector < scenario->spec.drive_count);
        RT_CHECK(fault->link >= 0 ? io_fault_fits_frame(fault->spec.kind)
                                  : io_fault_fits_signal(fault->spec.kind));
        RT_CHECK(fault->spec.last_frame > fault->spec.first_frame ||
                 fault->spec.first_frame == UINT64_MAX);
        check_finite(&fault->spec.value, 1);
    }
}

static void check_hand(const struct io_hand_spec *hand)
{
    RT_CHECK(hand->axis_map_count <= IO_CONTROL_MAX && hand->mode_count <= IO_HAND_MODE_MAX);
    for (int i = 0; i < hand->axis_map_count; i++) {
        const struct io_hand_axis_map *axis_map = &hand->axis_map[i];
        RT_CHECK(axis_map->axis >= 0 && axis_map->axis < IO_HAND_AXIS_COUNT);
        RT_CHECK(axis_map->control >= 0 && axis_map->control < IO_CONTROL_MAX);
        RT_CHECK(io_stick_axis_shape(&axis_map->shape, 1.0) ==
                 (axis_map->shape.invert ? -1 : 1) * axis_map->shape.scale);
    }
    for (int i = 0; i < hand->mode_count; i++)
        RT_CHECK(hand->mode_button[i] >= 0 && hand->mode_button[i] < IO_HAND_BUTTON_COUNT);
}

static void check_links(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->spec.link_count <= IO_LINK_MAX);
    for (int i = 0; i < scenario->spec.link_count; i++) {
        const struct sim_link *link = &scenario->spec.links[i];
        RT_CHECK(link->body >= 0 && link->body < scenario->spec.body_count);
        RT_CHECK(link->spec.name == link->name && link->spec.bus.name == link->name);
        RT_CHECK(link->sticks.step_count <= IO_RC_SCRIPT_STEP_MAX);
        check_hand(&link->spec.hand);
        for (uint32_t k = 1; k < link->sticks.step_count; k++)
            RT_CHECK(link->sticks.step[k].time >= link->sticks.step[k - 1].time);
    }
}

static void check_arm(const struct cfg_scenario *scenario)
{
    const struct sim_arm *arm = &scenario->spec.arm;
    RT_CHECK(arm->joint_count <= DYN_ARM_JOINT_MAX && arm->payload_count <= SIM_PAYLOAD_MAX);
    if (arm->joint_count == 0) {
        RT_CHECK(arm->payload_count == 0);
        return;
    }
    RT_CHECK(arm->base >= 0 && arm->base < arm->joint[0].body && arm->every >= 1);
    RT_CHECK(arm->hand >= arm->joint[arm->joint_count - 1].body);
    check_finite(arm->resolve.lower, arm->joint_count);
    check_finite(arm->resolve.upper, arm->joint_count);
    for (int i = 0; i < arm->payload_count; i++) {
        const struct sim_payload *payload = &arm->payload[i];
        RT_CHECK(payload->body > arm->hand && payload->body < scenario->spec.body_count);
        RT_CHECK(payload->bay >= 0 && payload->bay < payload->body);
        RT_CHECK(payload->in_hand == (sim_arm_first_configuration(&scenario->spec) == 1 + i));
        RT_CHECK(!payload->in_hand || !payload->latched);
    }
}

static void check_run(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->spec.period_ns >= 50000 && scenario->spec.period_ns <= 1000000000);
    RT_CHECK(scenario->spec.max_catch_up >= 1 && scenario->spec.substeps >= 1 &&
             scenario->spec.log_every >= 1);
    RT_CHECK(2 * scenario->spec.lead_ns < scenario->spec.period_ns + 2);
    RT_CHECK(scenario->spec.target_body >= 0 &&
             scenario->spec.target_body < scenario->spec.body_count);
    RT_CHECK(scenario->controller.argument_count < CFG_ARGUMENT_MAX);
    RT_CHECK(scenario->spec.expect_count <= SIM_EXPECTATION_MAX);
    RT_CHECK(scenario->spec.log.channel_count <= SIM_LOG_CHANNEL_MAX);
    for (int i = 0; i < scenario->spec.log.channel_count; i++) {
        const struct sim_log_channel *channel = &scenario->spec.log.channel[i];
        RT_CHECK(channel->every >= 1 && channel->sensor < scenario->spec.sensor_count &&
                 channel->drive < scenario->spec.drive_count);
    }
    check_finite(scenario->spec.target, 4);
    check_finite(scenario->spec.target_position, 3);
    for (int i = 0; i < scenario->spec.expect_count; i++)
        RT_CHECK(isfinite(scenario->spec.expects[i].limit) &&
                 isfinite(scenario->spec.expects[i].seconds));
}

static void check_print(const struct cfg_scenario *scenario)
{
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    RT_CHECK(nowhere != NULL);
    cfg_scenario_print(scenario, nowhere);
}

/* A frame survives every parameter at both ends of its limits, and every fault begun. */
static void check_tunes(struct sim *sim)
{
    const struct sim_spec *spec = sim->spec;
    for (int i = 0; i < spec->parameter_count; i++) {
        const struct sim_parameter *parameter = &spec->parameters[i];
        RT_CHECK(parameter->low <= parameter->initial && parameter->initial <= parameter->high);
        RT_CHECK(memchr(parameter->name, '\0', sizeof parameter->name));
        for (int end = 0; end < 2; end++) {
            sim_vehicle_tune(sim->vehicle, i, end == 0 ? parameter->low : parameter->high);
            rt_schedule_run(sim->schedule, 2);
        }
        sim_vehicle_tune(sim->vehicle, i, parameter->initial);
    }
    for (int i = 0; i < spec->fault_count; i++) {
        struct sim_record_act act = {
            .frame = 2, .act = SIM_ACT_FAULT, .index = (uint32_t)i, .value = 1.0};
        sim_apply_act(sim, &act, NULL);
    }
    struct sim_record_act reset = {.frame = 2, .act = SIM_ACT_RESET};
    rt_schedule_run(sim->schedule, 2);
    sim_apply_act(sim, &reset, NULL);
    RT_CHECK(memcmp(sim->vehicle->state, sim->vehicle->start, sim->vehicle->state_size) == 0);
}

/* Every button in its turn, with the sticks at their ends. */
static void check_flight(struct sim *sim)
{
    const struct sim_arm *arm = &sim->spec->arm;
    unsigned char record[2048];
    struct sim_record_input input = {.command.kind = IO_COMMAND_CONTROLS,
                                     .command.link = (uint8_t)arm->button_link};
    RT_CHECK(sim_arm_record_size(arm->joint_count) <= sizeof record);
    sim_apply_input(sim, &input); /* how it stands at first is no press */
    for (int button = 0; button < IO_HAND_BUTTON_COUNT; button++) {
        input.command.flags ^= 1ull << (32 + button);
        for (int k = 0; k < IO_CONTROL_MAX; k++)
            input.command.controls[k] = (button + k) % 3 == 0 ? 1.0f : -1.0f;
        sim_apply_input(sim, &input);
        rt_schedule_run(sim->schedule, (uint64_t)button * arm->every);
        sim_arm_record_fill(sim->vehicle, record);
        RT_CHECK(sim->vehicle->arm->configuration <
                 (uint64_t)sim_arm_configuration_count(sim->spec));
        RT_CHECK(sim->vehicle->arm->near <= (uint64_t)arm->payload_count);
        RT_CHECK(sim_run_state_problem(sim->vehicle, sim->vehicle->state) == NULL);
        check_finite(sim->vehicle->x, dyn_plant_state_count(&sim->vehicle->plant));
    }
}

/* Whatever comes of it; a step that is not finite is taken back. */
static void check_frames(const struct cfg_scenario *scenario)
{
    struct sim *sim = sim_create(&scenario->spec);
    struct io_channel_spec channels[IO_CHANNEL_MAX];
    struct sim_record_jobs jobs;
    sim_job_names(&scenario->spec, &sim->inject, &jobs);
    sim_record_channels(&scenario->spec, dyn_model_nq(sim->vehicle->plant.model),
                        dyn_model_nv(sim->vehicle->plant.model), &jobs, channels);
    sim->vehicle->plant.substeps = 1;
    for (uint64_t frame = 0; frame < 2; frame++)
        rt_schedule_run(sim->schedule, frame);
    check_tunes(sim);
    if (sim->vehicle->arm != NULL)
        check_flight(sim);
    struct sim_record_input reset = {.frame = 2, .command.kind = IO_COMMAND_RESET};
    if (scenario->spec.link_count > 0)
        sim_apply_input(sim, &reset);
    sim_sample_all_sensors(sim);
    free(sim);
}

/* The one file that there is; nothing is read from disk. */
static const void *find(void *context, const char *name, size_t *size)
{
    static const char arm[] =
        "<robot><link name='base'/><link name='upper'><inertial><mass value='3'/>"
        "<inertia ixx='1' iyy='1' izz='1'/></inertial><visual><geometry><sphere radius='1'/>"
        "</geometry></visual></link><joint name='shoulder' type='revolute'><parent link='base'/>"
        "<child link='upper'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        "<link name='hand'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
        "</inertial></link><joint name='lift' type='prismatic'><parent link='upper'/>"
        "<child link='hand'/><dynamics damping='1' friction='2'/></joint></robot>";
    (void)context;
    *size = sizeof arm - 1;
    return strcmp(name, "arm.urdf") == 0 ? arm : NULL;
}

static void check_looks(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->camera_count <= CFG_CAMERA_MAX);
    for (int i = 0; i < scenario->camera_count; i++) {
        const struct cfg_camera *camera = &scenario->cameras[i];
        RT_CHECK(camera->body >= -1 && camera->body < scenario->spec.body_count &&
                 camera->field > 0.0);
        check_finite(camera->at, 3);
        check_finite(camera->look, 3);
        check_finite(camera->up, 3);
    }
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct sim_body *body = &scenario->spec.bodies[i];
        RT_CHECK(body->range.lower <= body->range.upper && body->solid_count >= 0);
        for (int k = 0; k < body->solid_count; k++) {
            const struct sim_solid *solid = &body->solids[k];
            RT_CHECK(solid->size[0] > 0.0 && solid->opacity >= 0.0 && solid->opacity <= 1.0);
            RT_CHECK(solid->type != SIM_SOLID_TUBE || body->flex->node_count > 0);
            check_finite(solid->at, 3);
            check_finite(solid->attitude, 4);
            check_finite(solid->size, 3);
            check_finite(solid->color, 3);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[CFG_ERROR_MAX], *overrides[OVERRIDE_MAX];
    const size_t text_size = size > 0 ? strnlen((const char *)bytes, size) : 0;
    const size_t skip = text_size < size ? text_size + 1 : size;
    const int count = split_overrides(bytes + skip, size - skip, overrides);
    struct cfg_scenario *scenario;
    const struct cfg_file_source shelf = {.find = find};
    const int status =
        cfg_scenario_load_logged("f.yaml", (const char *)bytes, text_size,
                                 (const char *const *)overrides, count, &shelf, &scenario, error);
    RT_CHECK((status == 0) == (scenario != NULL));
    if (scenario == NULL) {
        check_error(error);
    } else {
        RT_CHECK(error[0] == '\0');
        check_run(scenario);
        check_bodies(scenario);
        check_world(scenario);
        check_links(scenario);
        check_arm(scenario);
        check_sensors(scenario);
        check_effectors(scenario);
        check_faults(scenario);
        check_looks(scenario);
        check_print(scenario);
        check_frames(scenario);
        cfg_scenario_free(scenario);
    }
    for (int i = 0; i < count; i++)
        free(overrides[i]);
    return 0;
}
