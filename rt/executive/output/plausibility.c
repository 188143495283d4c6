#include "rt/executive/output/plausibility.h"

#include <math.h>

/* ---- what may be done ------------------------------------------------------------------ */

static void add_actuator(struct plausibility *motion, const struct dyn_effector *effector)
{
    static const double field = 1e-4; /* T, more than the Earth's */
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        motion->torque += effector->wheel.max_torque;
        motion->spin = fmax(motion->spin, effector->wheel.max_speed);
        break;
    case DYN_EFFECTOR_ROTOR: {
        const double square = effector->rotor.max_speed * effector->rotor.max_speed;
        motion->force += fabs(effector->rotor.thrust) * square;
        motion->torque += fabs(effector->rotor.torque) * square;
        motion->spin = fmax(motion->spin, effector->rotor.max_speed);
        break;
    }
    case DYN_EFFECTOR_TORQUER:
        motion->torque += field * effector->torquer.max_dipole;
        break;
    case DYN_EFFECTOR_THRUSTER:
        motion->force += effector->thruster.thrust;
        break;
    default: /* these take energy, or have none of their own */
        break;
    }
}

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

size_t plausibility_size(const struct cfg_scenario *scenario)
{
    return dyn_monitor_work_bytes(scenario->body_count);
}

void plausibility_place(struct plausibility *motion, const struct cfg_rig *rig, void *mem)
{
    static const double looks_per_second = 20.0, still = 0.1, gusts = 5.0;
    const struct cfg_scenario *scenario = rig->scenario;
    *motion = (struct plausibility){.spin = 1.0};
    if (scenario->body_count == 0)
        return;
    motion->work = dyn_monitor_work_place(&rig->plant, mem);
    motion->every = (uint32_t)fmax(1.0, scenario->rate_hz / looks_per_second);
    for (int i = 0; i < rig->plant.effector_count; i++)
        add_actuator(motion, &rig->plant.effectors[i]);
    double mass = 0.0;
    for (int i = 0; i < scenario->body_count; i++)
        mass += scenario->bodies[i].spec.mass;
    const double speed = still + length(rig->plant.environment.wind) +
                         (scenario->gusty ? gusts * length(scenario->gust.sigma) : 0.0);
    motion->floor = 0.5 * mass * speed * speed;
}

/* ---- looking --------------------------------------------------------------------------- */

static double fastest_coordinate(const struct cfg_rig *rig)
{
    const struct dyn_model *model = rig->plant.model;
    const double *v = rig->x + dyn_model_nq(model);
    const int count = dyn_model_nv(model);
    double most = 0.0;
    for (int i = 0; i < count; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

/* The most that is being done on the vehicle, W. */
static double power_of(const struct plausibility *motion, const struct cfg_rig *rig, double speed,
                       double fastest)
{
    const struct dyn_model *model = rig->plant.model;
    const double *v = rig->x + dyn_model_nq(model);
    const double *holding = dyn_plant_held_force(rig->work);
    double power = motion->force * speed + motion->torque * (fastest + motion->spin);
    for (int i = 0; i < dyn_model_nv(model); i++) {
        power += rig->joint_tau ? fabs(rig->joint_tau[i] * v[i]) : 0.0;
        power += holding ? fabs(holding[i] * v[i]) : 0.0;
    }
    return power;
}

void plausibility_start(struct plausibility *motion, const struct cfg_rig *rig, uint64_t frame)
{
    struct dyn_monitor now;
    if (motion->work == NULL)
        return;
    dyn_monitor_compute(&rig->plant, rig->x, motion->work, &now);
    motion->begun = true;
    motion->start = now.kinetic + now.potential;
    motion->reference = fmax(motion->reference, motion->floor) + now.kinetic + fabs(now.potential);
    motion->reference = fmax(motion->reference, 1e-30); /* never nothing */
    motion->fastest = fastest_coordinate(rig);
    motion->power = power_of(motion, rig, now.speed, motion->fastest);
    motion->looked = frame;
}

static void find(struct plausibility *motion, enum plausibility_flaw flaw, uint64_t frame, int body,
                 double value)
{
    motion->flaw = flaw;
    motion->frame = frame;
    motion->body = body;
    motion->value = value;
}

/* Apart, so that frames without one do not pay for it. */
static __attribute__((noinline)) void look(struct plausibility *motion, const struct cfg_rig *rig,
                                           uint64_t frame, double fastest)
{
    const struct cfg_physics *bounds = &rig->scenario->physics;
    struct dyn_monitor now;
    dyn_monitor_compute(&rig->plant, rig->x, motion->work, &now);
    const double power = power_of(motion, rig, now.speed, fastest);
    const double seconds = (double)(frame - motion->looked + 1) * rig->h;
    motion->reference += fmax(power, motion->power) * seconds;
    motion->power = power;
    motion->looked = frame;
    motion->fastest = fmax(motion->fastest, fastest);
    const double growth = (now.kinetic + now.potential - motion->start) / motion->reference;
    if (!(now.speed <= bounds->max_speed))
        find(motion, PLAUSIBILITY_TOO_FAST, frame, now.fastest, now.speed);
    else if (!(growth <= bounds->max_energy_growth))
        find(motion, PLAUSIBILITY_TOO_ENERGETIC, frame, now.fastest, growth);
}

void plausibility_look(struct plausibility *motion, const struct cfg_rig *rig, uint64_t frame)
{
    if (motion->work == NULL || motion->flaw != PLAUSIBILITY_NONE)
        return;
    const double fastest = fastest_coordinate(rig);
    if (frame - motion->looked >= motion->every || !(fastest <= 2.0 * motion->fastest))
        look(motion, rig, frame, fastest);
}
