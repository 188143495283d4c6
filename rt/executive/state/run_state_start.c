/*
 * The state of a vehicle before its first frame.
 *
 * Tested by tests/rt/executive/state/test_run_state.c and test_sim.c.
 */
#include <string.h>

#include "rt/executive/arm/arm_configuration.h"
#include "rt/executive/output/effector_types.h"
#include "rt/executive/output/sensor_types.h"
#include "rt/executive/state/run_state_private.h"

/* Distinct noise streams for distinct devices of one seed. */
enum { STREAM_GUST = 1, STREAM_SENSOR = 1000, STREAM_FAULT = 2000 };

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
    const struct sim_effector_type *type = &sim_effector_types[from->effector.type];
    if (type->start != NULL)
        type->start(vehicle, from, state);
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

static void begin_surroundings(struct sim_vehicle *vehicle)
{
    const struct sim_spec *spec = vehicle->spec;
    sim_vehicle_update_environment(vehicle, (double)vehicle->schedule->frame * vehicle->h);
    if (spec->has_gust)
        io_wind_gust_begin(&vehicle->tuned.gust, spec->seed, STREAM_GUST,
                           &vehicle->surroundings->gust);
    sim_vehicle_apply_environment(vehicle);
}

/* anew: not for the first time. */
void sim_vehicle_start(struct sim_vehicle *vehicle, bool anew)
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
