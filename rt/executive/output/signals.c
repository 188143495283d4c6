/*
 * The numbers that a person watches and that expectations are held against, from the state after
 * the step.
 *
 * Tested by tests/rt/executive/test_sim.c and output/test_expectations.c.
 */
#include <math.h>
#include <string.h>

#include "dynamics/math/spatial.h"
#include "rt/executive/output/effector_types.h"
#include "rt/executive/sim_private.h"

/* Of what turns, relative to its body; 0 of all else. */
double sim_turning_speed(const struct sim *sim, int index)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    const struct dyn_effector *effector = &vehicle->plant.effectors[index];
    const double *state = vehicle->x + dyn_plant_effector_index(&vehicle->plant, index);
    const struct sim_effector_type *type = &sim_effector_types[effector->type];
    return type->speed != NULL ? type->speed(vehicle, effector, state) : 0.0;
}

/* Angle of the rotation that is left between the body and its target. */
static double attitude_error(const double target[4], const double attitude[4])
{
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_load(target));
    return dyn_turn_angle(dyn_quat_mul(back, dyn_quat_load(attitude)));
}

static void update_expectations(struct sim *sim, uint64_t frame)
{
    const double seconds = (double)sim_frame_end_ns(sim, frame) * 1e-9;
    for (int i = 0; i < sim->spec->expect_count; i++)
        sim_expectation_update(&sim->scratch.expect[i], seconds,
                               sim->scratch.signal[sim->scratch.expect[i].expect->signal]);
}

static void update_motion_signals(struct sim *sim, uint64_t frame)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    const struct sim_spec *spec = sim->spec;
    const double origin[3] = {0};
    struct dyn_motion motion;
    if (spec->body_count == 0)
        return;
    dyn_plant_kinematics(&vehicle->plant, vehicle->work, vehicle->x, spec->target_body, origin,
                         &motion);
    const double *w = motion.rate, *v = motion.velocity, *q = motion.attitude;
    const double north = motion.position[0] - vehicle->tuned.target_position[0];
    const double east = motion.position[1] - vehicle->tuned.target_position[1];
    double altitude = -motion.position[2], ground_velocity[3];
    struct dyn_geodetic at;
    if (spec->world.kind == DYN_WORLD_ORBIT) {
        dyn_world_geodetic(&spec->world, (double)(frame + 1) * vehicle->h, motion.position, v, &at,
                           ground_velocity);
        altitude = at.height;
    }
    sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR] = attitude_error(vehicle->tuned.target, q);
    sim->scratch.signal[SIM_SIGNAL_RATE] = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    sim->scratch.signal[SIM_SIGNAL_ALTITUDE] = altitude;
    sim->scratch.signal[SIM_SIGNAL_SPEED] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    sim->scratch.signal[SIM_SIGNAL_POSITION_ERROR] = sqrt(north * north + east * east);
    sim->scratch.signal[SIM_SIGNAL_TILT] =
        2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2]), sqrt(q[0] * q[0] + q[3] * q[3]));
}

static void update_wheel_signal(struct sim *sim)
{
    sim->scratch.signal[SIM_SIGNAL_WHEEL_SPEED] = 0.0;
    for (int i = 0; i < sim->spec->drive_count; i++)
        if (sim->spec->effectors[i].effector.type == DYN_EFFECTOR_WHEEL)
            sim->scratch.signal[SIM_SIGNAL_WHEEL_SPEED] =
                fmax(sim->scratch.signal[SIM_SIGNAL_WHEEL_SPEED], fabs(sim_turning_speed(sim, i)));
}

/* The numbers a person looks at, from the state after the step. */
void sim_job_signals(void *self, uint64_t frame)
{
    struct sim *sim = self;
    update_motion_signals(sim, frame);
    update_wheel_signal(sim);
    update_expectations(sim, frame);
    if (sim->live && frame % sim->live_every == 0) {
        struct sim_live *live = rt_mailbox_back(sim->live);
        memcpy(live->signal, sim->scratch.signal, sizeof live->signal);
        live->inputs = sim->scratch.inputs;
        (void)rt_mailbox_publish(sim->live);
    }
}
