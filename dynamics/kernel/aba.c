/*
 * The public side of the kernel: the choice of the instruction set, the loads, and the forces of
 * held joints.
 */
#include "dynamics/kernel/aba.h"

#include <string.h>

#include "dynamics/joint_force.h"
#include "dynamics/kernel/aba_isa.h"
#include "dynamics/kernel/mimic.h"

static const struct dyn_aba_kernel *aba_kernel_of(const struct dyn_model *model)
{
    return model->isa == DYN_ISA_AVX512 ? &dyn_aba_avx512
           : model->isa == DYN_ISA_AVX2 ? &dyn_aba_avx2
                                        : &dyn_aba_sse2;
}

static struct dyn_vec3 vec3_of_row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

/* Link axes to world axes, and back. */
static struct dyn_vec3 to_world(const struct dyn_tree_link_work *L, struct dyn_vec3 a)
{
    return dyn_add(
        dyn_add(dyn_scale(a.x, vec3_of_row(&L->R[0])), dyn_scale(a.y, vec3_of_row(&L->R[1]))),
        dyn_scale(a.z, vec3_of_row(&L->R[2])));
}

static struct dyn_vec3 to_link(const struct dyn_tree_link_work *L, struct dyn_vec3 a)
{
    return (struct dyn_vec3){dyn_dot(vec3_of_row(&L->R[0]), a), dyn_dot(vec3_of_row(&L->R[1]), a),
                             dyn_dot(vec3_of_row(&L->R[2]), a)};
}

static void subtract_from_row(struct dyn_row *sum, struct dyn_vec3 a)
{
    dyn_vec3_store(dyn_sub(vec3_of_row(sum), a), sum->e);
}

static void add_load(const struct dyn_model *model, const struct dyn_load *load,
                     struct dyn_work *work)
{
    const int l = model->body_link[load->body];
    const struct dyn_transform *link_from_body_X = &model->link_from_body[load->body];
    if (l < 0)
        return;
    struct dyn_tree_link_work *L = &work->link[l];
    const struct dyn_vec3 f =
        to_world(L, dyn_mul_t(&link_from_body_X->E, dyn_vec3_load(load->force)));
    const struct dyn_vec3 n =
        to_world(L, dyn_mul_t(&link_from_body_X->E, dyn_vec3_load(load->moment)));
    const struct dyn_vec3 at =
        dyn_add(link_from_body_X->r, dyn_mul_t(&link_from_body_X->E, dyn_vec3_load(load->at)));
    subtract_from_row(&L->pa, dyn_add(n, dyn_cross(to_world(L, at), f)));
    subtract_from_row(&L->pl, f);
}

/* The given joint forces plus the joints' own. */
static const double *joint_forces(const struct dyn_model *model, const struct dyn_state *state,
                                  const struct dyn_input *input, struct dyn_work *work)
{
    const size_t size = (size_t)model->full_nv * sizeof *work->tau;
    if (input->tau != NULL && model->force_entry_count == 0)
        return input->tau;
    if (input->tau != NULL)
        memcpy(work->tau, input->tau, size);
    else
        memset(work->tau, 0, size);
    if (model->force_entry_count > 0)
        dyn_joint_force_add(model, state->q, state->v, input->dry, 1.0, work->tau);
    return work->tau;
}

/* Gravity enters as an upward acceleration of the world. */
static void set_world_acceleration(const struct dyn_input *input, struct dyn_tree_link_work *world)
{
    for (int k = 0; k < 3; k++) {
        world->alpha.e[k] = input->base_acceleration[k];
        world->a.e[k] = input->base_acceleration[k + 3] - input->gravity[k];
    }
    world->alpha.e[3] = world->a.e[3] = 0.0;
}

/* IA a + pA: the force through the joint. */
static struct dyn_vec6 joint_force(const struct dyn_tree_link_work *L)
{
    struct dyn_vec6 f = {vec3_of_row(&L->pa), vec3_of_row(&L->pl)};
    for (int k = 0; k < 3; k++) {
        f.ang = dyn_add(f.ang, dyn_scale(L->alpha.e[k], vec3_of_row(&L->I[k])));
        f.lin = dyn_add(f.lin, dyn_scale(L->a.e[k], vec3_of_row(&L->M[k])));
        f.lin = dyn_add(f.lin, dyn_scale(L->alpha.e[k], vec3_of_row(&L->H[k])));
    }
    const struct dyn_vec3 a = vec3_of_row(&L->a);
    const struct dyn_vec3 H_a = {dyn_dot(vec3_of_row(&L->H[0]), a),
                                 dyn_dot(vec3_of_row(&L->H[1]), a),
                                 dyn_dot(vec3_of_row(&L->H[2]), a)};
    f.ang = dyn_add(f.ang, H_a);
    return f;
}

/* The torque that the rotor's own acceleration needs. */
static double rotor_force(const struct dyn_tree_link *link, const struct dyn_tree_link_work *on,
                          double qdd)
{
    return link->rotor * qdd + dyn_dot(link->rotor_spin, to_link(on, vec3_of_row(&on->alpha)));
}

static int is_any_held(const struct dyn_input *input, const struct dyn_tree_link *link)
{
    int count = 0;
    for (int k = 0; k < dyn_tree_link_nv(link); k++)
        count += input->held[link->v_at + k];
    return count;
}

static void held_forces(const struct dyn_model *model, const struct dyn_input *input,
                        const double *tau, const struct dyn_work *work,
                        const struct dyn_output *output)
{
    memset(output->held_tau, 0, (size_t)model->full_nv * sizeof *output->held_tau);
    for (int i = 0; input->held != NULL && i < model->link_count; i++) {
        const struct dyn_tree_link *link = &model->link[i];
        const struct dyn_tree_link_work *L = &work->link[i];
        if (!is_any_held(input, link))
            continue;
        const struct dyn_vec6 f = joint_force(L);
        const struct dyn_vec3 n = to_link(L, f.ang), p = to_link(L, f.lin);
        const double turn = dyn_tree_link_turns(link) ? 1.0 : 0.0;
        const double each[6] = {n.x, n.y, n.z, p.x, p.y, p.z};
        for (int k = 0; k < dyn_tree_link_nv(link); k++) {
            const int v = link->v_at + k;
            if (!input->held[v])
                continue;
            const double need =
                dyn_tree_link_nv(link) > 1 ? each[k] : turn * n.z + link->pitch * p.z;
            output->held_tau[v] =
                need + rotor_force(link, &work->link[link->parent], output->a[v]) - tau[v];
        }
    }
}

static inline void solve_given_forces(const struct dyn_model *model, const struct dyn_input *input,
                                      const double *tau, struct dyn_work *work,
                                      struct dyn_output *output)
{
    set_world_acceleration(input, &work->link[-1]);
    aba_kernel_of(model)->solve(model, input, tau, work, output->a);
    if (output->held_tau != NULL)
        held_forces(model, input, tau, work, output);
}

static inline void solve(const struct dyn_model *model, const struct dyn_state *state,
                         const struct dyn_input *input, struct dyn_work *work,
                         struct dyn_output *output)
{
    for (int k = 0; k < input->load_count; k++)
        add_load(model, &input->loads[k], work);
    solve_given_forces(model, input, joint_forces(model, state, input, work), work, output);
}

void dyn_tree_links_velocity_pass(const struct dyn_model *model, const struct dyn_state *state,
                                  struct dyn_work *work)
{
    aba_kernel_of(model)->move(model, state->q, state->v, work);
}

void dyn_tree_links_solve_given_forces(const struct dyn_model *model, const struct dyn_input *input,
                                       struct dyn_work *work, struct dyn_output *output)
{
    solve_given_forces(model, input, work->tau, work, output);
}

void dyn_tree_links_solve(const struct dyn_model *model, const struct dyn_state *state,
                          const struct dyn_input *input, struct dyn_work *work,
                          struct dyn_output *output)
{
    solve(model, state, input, work, output);
}

void dyn_aba_velocity_pass(const struct dyn_model *model, const struct dyn_state *state,
                           struct dyn_work *work)
{
    const struct dyn_state links = dyn_mimic_state(model, state, &work->mimic);
    aba_kernel_of(model)->move(model, links.q, links.v, work);
}

void dyn_aba_solve(const struct dyn_model *model, const struct dyn_state *state,
                   const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output)
{
    if (dyn_mimic_any(model))
        dyn_mimic_solve(model, state, input, work, output);
    else
        solve(model, state, input, work, output);
}

void dyn_aba(const struct dyn_model *model, const struct dyn_state *state,
             const struct dyn_input *input, struct dyn_work *work, struct dyn_output *output)
{
    dyn_aba_velocity_pass(model, state, work);
    dyn_aba_solve(model, state, input, work, output);
}

/* Of the origin of link i, world axes: the sum over the links between i and the root.  The
 * dynamics do not need it, so it is computed on request. */
static struct dyn_vec3 origin_velocity(const struct dyn_model *model, const struct dyn_work *work,
                                       int i)
{
    struct dyn_vec3 v = {0.0, 0.0, 0.0};
    for (; i >= 0; i = model->link[i].parent) {
        const struct dyn_tree_link_work *L = &work->link[i],
                                        *on = &work->link[model->link[i].parent];
        v = dyn_add(v, dyn_cross(vec3_of_row(&on->w), vec3_of_row(&L->r)));
        if (model->link[i].kind != DYN_TREE_LINK_REVOLUTE)
            v = dyn_add(v, vec3_of_row(&L->travel));
    }
    return v;
}

struct dyn_vec6 dyn_body_velocity(const struct dyn_model *model, const struct dyn_work *work,
                                  int body)
{
    const struct dyn_tree_link_work *L = &work->link[model->body_link[body]];
    const struct dyn_transform *link_from_body_X = &model->link_from_body[body];
    const struct dyn_vec6 link = {to_link(L, vec3_of_row(&L->w)),
                                  to_link(L, origin_velocity(model, work, model->body_link[body]))};
    return dyn_motion_to_child(link_from_body_X, &link);
}

struct dyn_vec6 dyn_body_acceleration(const struct dyn_model *model, const struct dyn_work *work,
                                      int body)
{
    const struct dyn_tree_link_work *L = &work->link[model->body_link[body]];
    const struct dyn_transform *link_from_body_X = &model->link_from_body[body];
    const struct dyn_vec3 w = to_link(L, vec3_of_row(&L->w));
    struct dyn_vec6 link = {to_link(L, vec3_of_row(&L->alpha)), to_link(L, vec3_of_row(&L->a))};
    link.lin = dyn_add(link.lin, dyn_cross(w, dyn_cross(w, link_from_body_X->r)));
    return dyn_motion_to_child(link_from_body_X, &link);
}
