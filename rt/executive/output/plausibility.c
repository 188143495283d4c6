#include "rt/executive/output/plausibility.h"

#include <math.h>

/* ---- what may be done ------------------------------------------------------------------ */

static void add_actuator(struct sim_plausibility *motion, const struct dyn_effector *effector)
{
    const struct dyn_effector_limits most = dyn_effector_limits(effector);
    motion->force += most.force;
    motion->torque += most.torque;
    motion->spin = fmax(motion->spin, most.speed);
}

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

size_t sim_plausibility_size(const struct sim_spec *spec)
{
    return dyn_monitor_work_bytes(spec->body_count);
}

void sim_plausibility_place(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            void *mem)
{
    static const double looks_per_second = 20.0, still = 0.1, gusts = 5.0;
    const struct sim_spec *spec = vehicle->spec;
    *motion = (struct sim_plausibility){.spin = 1.0};
    if (spec->body_count == 0)
        return;
    motion->work = dyn_monitor_work_place(&vehicle->plant, mem);
    motion->every = (uint32_t)fmax(1.0, spec->rate_hz / looks_per_second);
    for (int i = 0; i < vehicle->plant.effector_count; i++)
        add_actuator(motion, &vehicle->plant.effectors[i]);
    double mass = 0.0;
    for (int i = 0; i < spec->body_count; i++)
        mass += spec->bodies[i].spec.mass;
    const double speed = still + length(vehicle->plant.environment.wind) +
                         (spec->has_gust ? gusts * length(vehicle->tuned.gust.sigma) : 0.0);
    motion->floor = 0.5 * mass * speed * speed;
}

/* ---- looking --------------------------------------------------------------------------- */

static double fastest_coordinate(const struct sim_vehicle *vehicle)
{
    const struct dyn_model *model = vehicle->plant.model;
    const double *v = vehicle->x + dyn_model_nq(model);
    const int count = dyn_model_nv(model);
    double most = 0.0;
    for (int i = 0; i < count; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

/* The most that is being done on the vehicle, W. */
static double power_of(const struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                       double speed, double fastest)
{
    const struct dyn_model *model = vehicle->plant.model;
    const double *v = vehicle->x + dyn_model_nq(model);
    const double *holding = dyn_plant_held_force(vehicle->work);
    double power = motion->force * speed + motion->torque * (fastest + motion->spin);
    for (int i = 0; i < dyn_model_nv(model); i++) {
        power += vehicle->joint_tau ? fabs(vehicle->joint_tau[i] * v[i]) : 0.0;
        power += holding ? fabs(holding[i] * v[i]) : 0.0;
    }
    return power;
}

void sim_plausibility_start(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            uint64_t frame)
{
    struct dyn_monitor now;
    if (motion->work == NULL)
        return;
    dyn_monitor_compute(&vehicle->plant, vehicle->x, motion->work, &now);
    motion->begun = true;
    motion->start = now.kinetic + now.potential;
    motion->reference = fmax(motion->reference, motion->floor) + now.kinetic + fabs(now.potential);
    motion->reference = fmax(motion->reference, 1e-30); /* never nothing */
    motion->fastest = fastest_coordinate(vehicle);
    motion->power = power_of(motion, vehicle, now.speed, motion->fastest);
    motion->last_check_frame = frame;
}

static void set_problem(struct sim_plausibility *motion, enum sim_plausibility_problem flaw,
                        uint64_t frame, int body, double value)
{
    motion->flaw = flaw;
    motion->frame = frame;
    motion->body = body;
    motion->value = value;
}

/* Apart, so that frames without one do not pay for it. */
static __attribute__((noinline)) void check_motion(struct sim_plausibility *motion,
                                                   const struct sim_vehicle *vehicle,
                                                   uint64_t frame, double fastest)
{
    const struct sim_physics_limits *bounds = &vehicle->spec->physics;
    struct dyn_monitor now;
    dyn_monitor_compute(&vehicle->plant, vehicle->x, motion->work, &now);
    const double power = power_of(motion, vehicle, now.speed, fastest);
    const double seconds = (double)(frame - motion->last_check_frame + 1) * vehicle->h;
    motion->reference += fmax(power, motion->power) * seconds;
    motion->power = power;
    motion->last_check_frame = frame;
    motion->fastest = fmax(motion->fastest, fastest);
    const double growth = (now.kinetic + now.potential - motion->start) / motion->reference;
    if (!(now.speed <= bounds->max_speed))
        set_problem(motion, SIM_PLAUSIBILITY_TOO_FAST, frame, now.fastest, now.speed);
    else if (!(growth <= bounds->max_energy_growth))
        set_problem(motion, SIM_PLAUSIBILITY_TOO_ENERGETIC, frame, now.fastest, growth);
}

void sim_plausibility_check(struct sim_plausibility *motion, const struct sim_vehicle *vehicle,
                            uint64_t frame)
{
    if (motion->work == NULL || motion->flaw != SIM_PLAUSIBILITY_OK)
        return;
    const double fastest = fastest_coordinate(vehicle);
    if (frame - motion->last_check_frame >= motion->every || !(fastest <= 2.0 * motion->fastest))
        check_motion(motion, vehicle, frame, fastest);
}
