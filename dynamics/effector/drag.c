#include "dynamics/effector/drag.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *drag_problem(const void *law)
{
    const struct dyn_drag *drag = law;
    if (!dyn_is_finite_point(drag->at))
        return "the drag's place is not finite";
    if (!dyn_all_not_negative(drag->area) || !dyn_all_not_negative(drag->linear) ||
        !dyn_all_not_negative(drag->angular))
        return "drag must not be negative";
    return NULL;
}

static struct dyn_vec3 multiply_elements(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return (struct dyn_vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static void drag_eval(const void *law, const struct dyn_effector_input *input, double command,
                      const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_drag *drag = law;
    (void)command;
    (void)state;
    (void)state_rate;
    const struct dyn_vec3 at = dyn_vec3_load(drag->at),
                          v = dyn_effector_point_air_velocity(input, at);
    const double share = input->density / DYN_SEA_DENSITY;
    const struct dyn_vec3 by_speed =
        dyn_add(dyn_scale(0.5 * input->density * dyn_norm(v), dyn_vec3_load(drag->area)),
                dyn_scale(share, dyn_vec3_load(drag->linear)));
    const struct dyn_vec3 twist = multiply_elements(dyn_vec3_load(drag->angular), input->rate);

    force->lin = dyn_scale(-1.0, multiply_elements(by_speed, v));
    force->ang = dyn_sub(dyn_cross(at, force->lin), dyn_scale(share, twist));
}

const struct dyn_effector_ops dyn_drag_ops = {
    .needs = DYN_NEED_AIR, .cost = 200.0, .problem = drag_problem, .eval = drag_eval};
