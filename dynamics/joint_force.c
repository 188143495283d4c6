#include "dynamics/joint_force.h"

/* Beyond a limit by `depth`, leaving at `out`: a push inward, or nothing when the damper would make
 * it a pull. */
static double push(const struct dyn_joint_law *law, double depth, double out)
{
    const double f = law->limit_stiffness * depth + law->limit_damping * out;
    return depth > 0.0 && f > 0.0 ? f : 0.0;
}

double dyn_law_wet(const struct dyn_joint_law *law, double q, double v)
{
    double f = -law->stiffness * (q - law->rest) - law->damping * v;
    if (law->limit_stiffness > 0.0)
        f += push(law, law->lower - q, -v) - push(law, q - law->upper, v);
    return f;
}

double dyn_law_force(const struct dyn_joint_law *law, double q, double v)
{
    const double dry = law->coulomb > 0.0 ? law->coulomb * tanh(v / law->coulomb_speed) : 0.0;
    return dyn_law_wet(law, q, v) - dry;
}

struct dyn_law_slope dyn_law_slope(const struct dyn_joint_law *law, double q, double v)
{
    struct dyn_law_slope slope = {-law->stiffness, -law->damping};
    if (law->coulomb > 0.0) {
        const double t = tanh(v / law->coulomb_speed);
        slope.dv -= law->coulomb / law->coulomb_speed * (1.0 - t * t);
    }
    if (law->limit_stiffness > 0.0 &&
        (push(law, law->lower - q, -v) > 0.0 || push(law, q - law->upper, v) > 0.0)) {
        slope.dq -= law->limit_stiffness;
        slope.dv -= law->limit_damping;
    }
    return slope;
}

void dyn_law_add(const struct dyn_model *model, const double *q, const double *v, const double *dry,
                 double sign, double *tau)
{
    for (int k = 0; k < model->lawful_count; k++) {
        const struct dyn_lawful *at = &model->lawful[k];
        const double coordinate = at->q_at < 0 ? 0.0 : q[at->q_at];
        const double force = dry == NULL ? dyn_law_force(&at->law, coordinate, v[at->v_at])
                                         : dyn_law_wet(&at->law, coordinate, v[at->v_at]) + dry[k];
        tau[at->v_at] += sign * force;
    }
}
