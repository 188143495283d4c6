#include "dynamics/rnea.h"

#include "dynamics/follow.h"
#include "dynamics/kinematics.h"
#include "dynamics/law.h"
#include "dynamics/work.h"

/* The force that velocities alone ask for, about the link's origin: w x (I w), w x (w x mc). */
static struct dyn_vec6 gyroscopic_force(const struct dyn_inertia *J, struct dyn_vec3 w)
{
    return (struct dyn_vec6){dyn_cross(w, dyn_sym3_mul(&J->I, w)),
                             dyn_cross(w, dyn_cross(w, J->mc))};
}

/* f = I a + w x (I w), per link */
static void outward(const struct dyn_model *model, const double *a, const struct dyn_input *input,
                    struct dyn_work *work)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_vec6 own = dyn_joint_motion(&model->link[i], a + model->link[i].v_at);
        const struct dyn_vec6 carried = dyn_carried_acceleration(model, work, i, &world);
        work->a[i] = dyn_add6(&carried, &own);

        const struct dyn_vec6 f = dyn_inertia_mul(&model->inertia[i], &work->a[i]);
        const struct dyn_vec6 p = gyroscopic_force(&model->inertia[i], work->v[i].ang);
        work->f[i] = dyn_add6(&f, &p);
    }
}

static void take_loads(const struct dyn_model *model, const struct dyn_input *input,
                       struct dyn_work *work)
{
    for (int k = 0; k < input->load_count; k++) {
        const struct dyn_load *load = &input->loads[k];
        const int l = model->body_link[load->body];
        const struct dyn_vec6 at_point = {dyn_vec3_load(load->moment), dyn_vec3_load(load->force)};
        const struct dyn_vec6 at_body = dyn_force_shift(&at_point, dyn_vec3_load(load->at));
        const struct dyn_vec6 f = dyn_force_to_parent(&model->seat_X[load->body], &at_body);
        if (l >= 0)
            work->f[l] = dyn_axpy6(&work->f[l], -1.0, &f);
    }
}

/* What the rotor's acceleration asks of the joint, and its change of momentum of the parent. */
static void turn_rotor(const struct dyn_model *model, const struct dyn_vec6 *world, int i,
                       double qd, double qdd, struct dyn_work *work, double *tau)
{
    const struct dyn_link *link = &model->link[i];
    const int parent = link->parent;
    const struct dyn_vec3 e = link->rotor_spin;
    const struct dyn_vec3 alpha = parent >= 0 ? work->a[parent].ang : world->ang;

    *tau += link->rotor * qdd + dyn_dot(e, alpha);
    if (parent < 0)
        return;
    const struct dyn_vec3 n = dyn_scale(qd, dyn_cross(work->v[parent].ang, e));
    work->f[parent].ang = dyn_add(work->f[parent].ang, dyn_add(n, dyn_scale(qdd, e)));
}

/* Of all links, in full coordinates. */
static void solve_links(const struct dyn_model *model, const struct dyn_state *state,
                        const double *a, const struct dyn_input *input, struct dyn_work *work,
                        double *tau)
{
    const struct dyn_vec6 world = dyn_world_acceleration(input);

    dyn_kinematics(model, state, work);
    outward(model, a, input, work);
    take_loads(model, input, work);
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_link *link = &model->link[i];
        double *out = tau + link->v_at;
        dyn_joint_project(link, &work->f[i], out);
        if (link->has_rotor)
            turn_rotor(model, &world, i, state->v[link->v_at], a[link->v_at], work, out);
        if (link->parent < 0)
            continue;
        const struct dyn_vec6 f = dyn_force_to_parent(&work->X[i], &work->f[i]);
        work->f[link->parent] = dyn_add6(&work->f[link->parent], &f);
    }
    dyn_law_add(model, state->q, state->v, -1.0, tau);
}

void dyn_rnea(const struct dyn_model *model, const struct dyn_state *state, const double *a,
              const struct dyn_input *input, struct dyn_work *work, double *tau)
{
    const struct dyn_follow_work *follow = &work->follow;
    const struct dyn_state links = dyn_follow_state(model, state, follow);

    if (!dyn_follow_any(model)) {
        solve_links(model, &links, a, input, work, tau);
        return;
    }
    dyn_follow_spread(model, a, follow->a);
    solve_links(model, &links, follow->a, input, work, follow->tau);
    dyn_follow_gather(model, follow->tau, tau);
}
