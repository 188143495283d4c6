#include "tools/airbearing/sound.h"

#include <math.h>

/* ---- what may be done ------------------------------------------------------------------ */

static void add_actuator(struct sound *sound, const struct dyn_effector *effector)
{
    static const double field = 1e-4; /* T, more than the Earth's */
    switch (effector->type) {
    case DYN_EFFECTOR_WHEEL:
        sound->torque += effector->wheel.max_torque;
        sound->spin = fmax(sound->spin, effector->wheel.max_speed);
        break;
    case DYN_EFFECTOR_ROTOR: {
        const double square = effector->rotor.max_speed * effector->rotor.max_speed;
        sound->force += fabs(effector->rotor.thrust) * square;
        sound->torque += fabs(effector->rotor.torque) * square;
        sound->spin = fmax(sound->spin, effector->rotor.max_speed);
        break;
    }
    case DYN_EFFECTOR_TORQUER:
        sound->torque += field * effector->torquer.max_dipole;
        break;
    case DYN_EFFECTOR_THRUSTER:
        sound->force += effector->thruster.thrust;
        break;
    default: /* these take energy, or have none of their own */
        break;
    }
}

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

size_t sound_size(const struct cfg_scenario *scenario)
{
    return dyn_monitor_work_bytes(scenario->body_count);
}

void sound_place(struct sound *sound, const struct cfg_rig *rig, void *mem)
{
    static const double looks_per_second = 20.0, still = 0.1, gusts = 5.0;
    const struct cfg_scenario *scenario = rig->scenario;
    *sound = (struct sound){.spin = 1.0};
    if (scenario->body_count == 0)
        return;
    sound->work = dyn_monitor_work_place(&rig->plant, mem);
    sound->every = (uint32_t)fmax(1.0, scenario->rate_hz / looks_per_second);
    for (int i = 0; i < rig->plant.effector_count; i++)
        add_actuator(sound, &rig->plant.effectors[i]);
    double mass = 0.0;
    for (int i = 0; i < scenario->body_count; i++)
        mass += scenario->bodies[i].spec.mass;
    const double speed = still + length(rig->plant.environment.wind) +
                         (scenario->gusty ? gusts * length(scenario->gust.sigma) : 0.0);
    sound->floor = 0.5 * mass * speed * speed;
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
static double power_of(const struct sound *sound, const struct cfg_rig *rig, double speed,
                       double fastest)
{
    const struct dyn_model *model = rig->plant.model;
    const double *v = rig->x + dyn_model_nq(model);
    const double *holding = dyn_plant_holding(rig->work);
    double power = sound->force * speed + sound->torque * (fastest + sound->spin);
    for (int i = 0; i < dyn_model_nv(model); i++) {
        power += rig->joint_tau ? fabs(rig->joint_tau[i] * v[i]) : 0.0;
        power += holding ? fabs(holding[i] * v[i]) : 0.0;
    }
    return power;
}

void sound_begin(struct sound *sound, const struct cfg_rig *rig, uint64_t frame)
{
    struct dyn_monitor now;
    if (sound->work == NULL || sound->begun)
        return;
    dyn_monitor_take(&rig->plant, rig->x, sound->work, &now);
    sound->begun = true;
    sound->start = now.kinetic + now.potential;
    sound->reference = fmax(sound->reference, sound->floor) + now.kinetic + fabs(now.potential);
    sound->reference = fmax(sound->reference, 1e-30); /* never nothing */
    sound->fastest = fastest_coordinate(rig);
    sound->power = power_of(sound, rig, now.speed, sound->fastest);
    sound->looked = frame;
}

static void find(struct sound *sound, enum sound_flaw flaw, uint64_t frame, int body, double value)
{
    sound->flaw = flaw;
    sound->frame = frame;
    sound->body = body;
    sound->value = value;
}

void sound_look(struct sound *sound, const struct cfg_rig *rig, uint64_t frame)
{
    const struct cfg_physics *bounds = &rig->scenario->physics;
    struct dyn_monitor now;
    if (sound->work == NULL || sound->flaw != SOUND_NONE)
        return;
    const double fastest = fastest_coordinate(rig);
    if (frame - sound->looked < sound->every && fastest <= 2.0 * sound->fastest)
        return;
    dyn_monitor_take(&rig->plant, rig->x, sound->work, &now);
    const double power = power_of(sound, rig, now.speed, fastest);
    const double seconds = (double)(frame - sound->looked + 1) * rig->h;
    sound->reference += fmax(power, sound->power) * seconds;
    sound->power = power;
    sound->looked = frame;
    sound->fastest = fmax(sound->fastest, fastest);
    const double growth = (now.kinetic + now.potential - sound->start) / sound->reference;
    if (!(now.speed <= bounds->max_speed))
        find(sound, SOUND_TOO_FAST, frame, now.fastest, now.speed);
    else if (!(growth <= bounds->max_energy_growth))
        find(sound, SOUND_TOO_ENERGETIC, frame, now.fastest, growth);
}
