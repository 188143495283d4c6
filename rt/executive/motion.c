/*
 * The jobs of a frame that move the vehicle: world, wind, actuators, arm, step.
 *
 * Tested by tests/rt/executive/test_actuators.c and test_sim.c.
 */
#include "dynamics/flex/validity.h"
#include "rt/clock.h"
#include "rt/executive/arm/arm.h"
#include "rt/executive/sim_private.h"

/* The wind of this frame. */
void sim_job_gust(void *self, uint64_t frame)
{
    (void)frame;
    struct sim_vehicle *vehicle = ((struct sim *)self)->vehicle;
    io_wind_gust_step(&vehicle->tuned.gust, &vehicle->surroundings->gust);
    sim_vehicle_apply_environment(vehicle);
}

/* What changes slowly around the vehicle. */
void sim_job_world(void *self, uint64_t frame)
{
    struct sim *sim = self;
    sim_vehicle_update_environment(sim->vehicle, (double)frame * sim->vehicle->h);
    sim_vehicle_apply_environment(sim->vehicle);
}

/* The control with the faults of this actuator. */
static double apply_actuator_faults(struct sim *sim, int index, uint64_t frame, double control)
{
    for (int i = 0; i < sim->spec->fault_count; i++)
        if (sim->spec->faults[i].effector == index &&
            !io_fault_signal(&sim->vehicle->tuned.faults[i], &sim->vehicle->fault[i], frame,
                             sim->vehicle->h, &control, 1))
            control = sim->vehicle->drive[index].good; /* nothing new came */
    return control;
}

void sim_job_actuators(void *self, uint64_t frame)
{
    struct sim *sim = self;
    struct sim_vehicle *vehicle = sim->vehicle;
    for (int i = 0; i < vehicle->spec->drive_count; i++) {
        const struct sim_effector *effector = &vehicle->spec->effectors[i];
        double control = vehicle->link[effector->link].control[effector->control];
        if (vehicle->spec->fault_count > 0)
            control = apply_actuator_faults(sim, i, frame, control);
        io_actuator_drive_update(&vehicle->tuned.drives[i], control, &vehicle->drive[i]);
        vehicle->command[i] = vehicle->drive[i].out;
    }
}

void sim_job_arm_servo(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_servo(((struct sim *)self)->vehicle);
}

void sim_job_arm_motors(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_motors(((struct sim *)self)->vehicle);
}

void sim_job_arm_brakes(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_brakes(((struct sim *)self)->vehicle);
}

void sim_job_step(void *self, uint64_t frame)
{
    struct sim *sim = self;
    struct sim_vehicle *vehicle = sim->vehicle;
    sim_plausibility_begin(&sim->scratch.plausibility, vehicle, sim_executive_frame(sim, frame));
    if (!dyn_plant_step(&vehicle->plant, vehicle->command, vehicle->joint_tau, vehicle->h,
                        vehicle->work, vehicle->x) &&
        vehicle->schedule->not_finite++ == 0)
        sim->scratch.first_not_finite = sim_executive_frame(sim, frame);
    sim_plausibility_check(&sim->scratch.plausibility, vehicle, sim_executive_frame(sim, frame));
    vehicle->schedule->frame = frame + 1;
    for (int i = 0; i < sim->spec->link_count; i++) {
        if (sim->scratch.trace[i].latch_ns && !sim->scratch.trace[i].step_ns)
            sim->scratch.trace[i].step_ns = rt_now_ns();
    }
}

bool sim_left_flex_range(const struct sim *sim)
{
    uint64_t sum = 0;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        sum += sim->vehicle->schedule->out_of_range[k];
    return sum > 0;
}

/* Flexible bodies that have left the range of their model are counted, and the first is named. */
static void count_flex_range(struct sim *sim)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    int first = 0;
    const unsigned out = dyn_plant_validity(&vehicle->plant, vehicle->work, vehicle->x, &first);
    if (out != 0 && !sim_left_flex_range(sim))
        sim->scratch.first_out_of_range = first;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        vehicle->schedule->out_of_range[k] += out >> k & 1;
}

void sim_job_solve(void *self, uint64_t frame)
{
    (void)frame;
    struct sim *sim = self;
    const struct sim_vehicle *vehicle = sim->vehicle;
    dyn_plant_solve(&vehicle->plant, vehicle->command, vehicle->joint_tau, vehicle->x,
                    vehicle->work);
    count_flex_range(sim);
}
