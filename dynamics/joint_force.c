#include "dynamics/joint_force.h"

/* Beyond a limit by `depth`, leaving at `out`: a push inward, or nothing when the damper would make
 * it a pull. */
static double limit_force(const struct dyn_joint_force_spec *force_spec, double depth, double out)
{
    const double f = force_spec->limit_stiffness * depth + force_spec->limit_damping * out;
    return depth > 0.0 && f > 0.0 ? f : 0.0;
}

double dyn_joint_force_smooth(const struct dyn_joint_force_spec *force_spec, double q, double v)
{
    double f = -force_spec->stiffness * (q - force_spec->rest) - force_spec->damping * v;
    if (force_spec->limit_stiffness > 0.0)
        f += limit_force(force_spec, force_spec->lower - q, -v) -
             limit_force(force_spec, q - force_spec->upper, v);
    return f;
}

double dyn_joint_force(const struct dyn_joint_force_spec *force_spec, double q, double v)
{
    const double dry =
        force_spec->coulomb > 0.0 ? force_spec->coulomb * tanh(v / force_spec->coulomb_speed) : 0.0;
    return dyn_joint_force_smooth(force_spec, q, v) - dry;
}

struct dyn_joint_force_derivative
dyn_joint_force_derivative(const struct dyn_joint_force_spec *force_spec, double q, double v)
{
    struct dyn_joint_force_derivative derivative = {-force_spec->stiffness, -force_spec->damping};
    if (force_spec->coulomb > 0.0) {
        const double t = tanh(v / force_spec->coulomb_speed);
        derivative.dv -= force_spec->coulomb / force_spec->coulomb_speed * (1.0 - t * t);
    }
    if (force_spec->limit_stiffness > 0.0 &&
        (limit_force(force_spec, force_spec->lower - q, -v) > 0.0 ||
         limit_force(force_spec, q - force_spec->upper, v) > 0.0)) {
        derivative.dq -= force_spec->limit_stiffness;
        derivative.dv -= force_spec->limit_damping;
    }
    return derivative;
}

void dyn_joint_force_add(const struct dyn_model *model, const double *q, const double *v,
                         const double *dry, double sign, double *tau)
{
    for (int k = 0; k < model->force_entry_count; k++) {
        const struct dyn_joint_force_entry *at = &model->force_entry[k];
        const double coordinate = at->q_at < 0 ? 0.0 : q[at->q_at];
        const double force =
            dry == NULL ? dyn_joint_force(&at->force_spec, coordinate, v[at->v_at])
                        : dyn_joint_force_smooth(&at->force_spec, coordinate, v[at->v_at]) + dry[k];
        tau[at->v_at] += sign * force;
    }
}
