#include "dynamics/effector/effector.h"

#include <stddef.h>

/* The properties of a type of effector. */
struct dyn_effector_ops {
    unsigned needs; /* of enum dyn_need */
    const char *(*problem)(const struct dyn_effector *effector);
    int (*state_count)(const struct dyn_effector *effector);
    bool (*lags)(const struct dyn_effector *effector, struct dyn_lags *lags); /* NULL: none */
    void (*eval)(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                 double command, const double *state, double *state_rate, struct dyn_vec6 *force);
};

static int no_state(const struct dyn_effector *effector)
{
    (void)effector;
    return 0;
}

static int one_state(const struct dyn_effector *effector)
{
    (void)effector;
    return 1;
}

/* ---- wheel ---- */

static const char *wheel_problem(const struct dyn_effector *effector)
{
    return dyn_wheel_problem(&effector->wheel);
}

static int wheel_state_count(const struct dyn_effector *effector)
{
    return dyn_wheel_state_count(&effector->wheel);
}

static void wheel_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force)
{
    dyn_wheel_eval(&effector->wheel, input, command, state, state_rate, force);
}

/* ---- rotor ---- */

static const char *rotor_problem(const struct dyn_effector *effector)
{
    return dyn_rotor_problem(&effector->rotor);
}

static bool rotor_lags(const struct dyn_effector *effector, struct dyn_lags *lags)
{
    *lags = (struct dyn_lags){effector->rotor.lag_up, effector->rotor.lag_down};
    return true;
}

static void rotor_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force)
{
    dyn_rotor_eval(&effector->rotor, input, command, state, state_rate, force);
}

/* ---- torquer ---- */

static const char *torquer_problem(const struct dyn_effector *effector)
{
    return dyn_torquer_problem(&effector->torquer);
}

static void torquer_eval(const struct dyn_effector *effector,
                         const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    (void)state;
    (void)state_rate;
    dyn_torquer_eval(&effector->torquer, input, command, force);
}

/* ---- thruster ---- */

static const char *thruster_problem(const struct dyn_effector *effector)
{
    return dyn_thruster_problem(&effector->thruster);
}

static int thruster_state_count(const struct dyn_effector *effector)
{
    return dyn_thruster_state_count(&effector->thruster);
}

static bool thruster_lags(const struct dyn_effector *effector, struct dyn_lags *lags)
{
    *lags = (struct dyn_lags){effector->thruster.rise, effector->thruster.fall};
    return dyn_thruster_state_count(&effector->thruster) > 0;
}

static void thruster_eval(const struct dyn_effector *effector,
                          const struct dyn_effector_input *input, double command,
                          const double *state, double *state_rate, struct dyn_vec6 *force)
{
    dyn_thruster_eval(&effector->thruster, input, command, state, state_rate, force);
}

/* ---- drag ---- */

static const char *drag_problem(const struct dyn_effector *effector)
{
    return dyn_drag_problem(&effector->drag);
}

static void drag_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                      double command, const double *state, double *state_rate,
                      struct dyn_vec6 *force)
{
    (void)command;
    (void)state;
    (void)state_rate;
    dyn_drag_eval(&effector->drag, input, force);
}

/* ---- contact ---- */

static const char *contact_problem(const struct dyn_effector *effector)
{
    return dyn_contact_problem(&effector->contact);
}

static void contact_eval(const struct dyn_effector *effector,
                         const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    (void)command;
    (void)state;
    (void)state_rate;
    dyn_contact_eval(&effector->contact, input, force);
}

/* ---- battery ---- */

static const char *battery_problem(const struct dyn_effector *effector)
{
    return dyn_battery_problem(&effector->battery);
}

static void battery_eval(const struct dyn_effector *effector,
                         const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    (void)command;
    state_rate[0] = dyn_battery_current(&effector->battery, state[0], input->power);
    *force = (struct dyn_vec6){.ang = {0.0, 0.0, 0.0}};
}

/* ---- all of them ---- */

/* By enum dyn_effector_type. */
static const struct dyn_effector_ops ops[] = {
    [DYN_EFFECTOR_WHEEL] = {.problem = wheel_problem,
                            .state_count = wheel_state_count,
                            .eval = wheel_eval},
    [DYN_EFFECTOR_ROTOR] = {.needs = DYN_NEED_AIR,
                            .problem = rotor_problem,
                            .state_count = one_state,
                            .lags = rotor_lags,
                            .eval = rotor_eval},
    [DYN_EFFECTOR_TORQUER] = {.needs = DYN_NEED_MAGNETIC_FIELD,
                              .problem = torquer_problem,
                              .state_count = no_state,
                              .eval = torquer_eval},
    [DYN_EFFECTOR_THRUSTER] = {.problem = thruster_problem,
                               .state_count = thruster_state_count,
                               .lags = thruster_lags,
                               .eval = thruster_eval},
    [DYN_EFFECTOR_DRAG] = {.needs = DYN_NEED_AIR,
                           .problem = drag_problem,
                           .state_count = no_state,
                           .eval = drag_eval},
    [DYN_EFFECTOR_CONTACT] = {.needs = DYN_NEED_GROUND,
                              .problem = contact_problem,
                              .state_count = no_state,
                              .eval = contact_eval},
    [DYN_EFFECTOR_BATTERY] = {.problem = battery_problem,
                              .state_count = one_state,
                              .eval = battery_eval},
};

const char *dyn_effector_problem(const struct dyn_effector *effector, int body_count)
{
    if (effector->body < 0 || effector->body >= body_count)
        return "the effector names a body that does not exist";
    if ((size_t)effector->type >= sizeof ops / sizeof ops[0])
        return "unknown effector type";
    return ops[effector->type].problem(effector);
}

int dyn_effector_state_count(const struct dyn_effector *effector)
{
    return ops[effector->type].state_count(effector);
}

bool dyn_effector_lags(const struct dyn_effector *effector, struct dyn_lags *lags)
{
    const struct dyn_effector_ops *own = &ops[effector->type];
    return own->lags != NULL && own->lags(effector, lags);
}

unsigned dyn_effector_needs(const struct dyn_effector *effector)
{
    return ops[effector->type].needs;
}

void dyn_effector_eval(const struct dyn_effector *effector, const struct dyn_effector_input *input,
                       double command, const double *state, double *state_rate,
                       struct dyn_vec6 *force)
{
    ops[effector->type].eval(effector, input, command, state, state_rate, force);
}
