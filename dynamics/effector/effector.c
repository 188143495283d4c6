/*
 * The table of the types of effectors.  Each public function asks the row.
 */
#include "dynamics/effector/effector.h"

#include <stddef.h>

#define ROW(type, name) [DYN_EFFECTOR_##type] = &dyn_##name##_ops,
const struct dyn_effector_ops *const dyn_effector_rows[DYN_EFFECTOR_TYPE_COUNT] = {
    DYN_EFFECTOR_LIST(ROW)};
#undef ROW

static const struct dyn_effector_ops *ops_of(const struct dyn_effector *effector)
{
    return dyn_effector_rows[effector->type];
}

const char *dyn_effector_problem(const struct dyn_effector *effector, int body_count)
{
    if (effector->body < 0 || effector->body >= body_count)
        return "the effector names a body that does not exist";
    if ((unsigned)effector->type >= DYN_EFFECTOR_TYPE_COUNT)
        return "unknown effector type";
    return ops_of(effector)->problem(dyn_effector_law(effector));
}

int dyn_effector_state_count(const struct dyn_effector *effector)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    return ops->state_count != NULL ? ops->state_count(dyn_effector_law(effector)) : 0;
}

bool dyn_effector_lags(const struct dyn_effector *effector, struct dyn_lags *lags)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    return ops->lags != NULL && ops->lags(dyn_effector_law(effector), lags);
}

unsigned dyn_effector_needs(const struct dyn_effector *effector)
{
    return ops_of(effector)->needs;
}

double dyn_effector_cost(const struct dyn_effector *effector)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    return ops->cost +
           (ops->extra_cost != NULL ? ops->extra_cost(dyn_effector_law(effector)) : 0.0);
}

struct dyn_effector_limits dyn_effector_limits(const struct dyn_effector *effector)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    struct dyn_effector_limits limits = {0.0, 0.0, 0.0};
    if (ops->limits != NULL)
        ops->limits(dyn_effector_law(effector), &limits);
    return limits;
}

bool dyn_effector_spin(const struct dyn_effector *effector, struct dyn_quat turn,
                       struct dyn_vec3 rate, const double *state, struct dyn_spin *spin)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    if (ops->spin == NULL)
        return false;
    ops->spin(dyn_effector_law(effector), turn, rate, state, spin);
    return true;
}

bool dyn_effector_gyrostat(const struct dyn_effector *effector, struct dyn_gyrostat *gyrostat)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    if (ops->gyrostat == NULL)
        return false;
    ops->gyrostat(dyn_effector_law(effector), gyrostat);
    return true;
}

bool dyn_effector_foot(const struct dyn_effector *effector, struct dyn_foot *foot)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    if (ops->foot == NULL)
        return false;
    ops->foot(dyn_effector_law(effector), foot);
    return true;
}

int dyn_effector_dry_directions(const struct dyn_effector *effector)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    return ops->dry_directions != NULL ? ops->dry_directions(dyn_effector_law(effector)) : 0;
}

void dyn_effector_remove_dry_friction(struct dyn_effector *effector)
{
    const struct dyn_effector_ops *ops = ops_of(effector);
    if (ops->remove_dry_friction != NULL)
        ops->remove_dry_friction(&effector->wheel); /* as dyn_effector_law() */
}
