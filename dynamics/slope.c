/*
 * Inverse dynamics differentiated by hand (Lin and Yae 1989; the closed form is that of Singh,
 * Russell and Wensing 2022), with spatial velocities and accelerations in world axes.
 *
 * A step along velocity k turns and shifts all that its link l carries as one rigid body.  Seen in
 * axes that go along, nothing changes out there but the motion that the parent hands on:
 *
 *      dv_i = v_q              v_q = V x S_k
 *      da_i = a_q + v_q x v_i  a_q = A x S_k + V x v_q
 *
 * for every link i from l outward, where V and A are the parent's motion at the origin of l.  A
 * step of the velocity itself has the same form with v_q = S_k and a_v = (V + v_l) x S_k.  With
 *
 *      f_i = I a_i + v_i x* I v_i
 *      df_i = I a_q + B v_q,   B v_q = I (v_q x v_i) + v_q x* I v_i + v_i x* I v_q
 *
 * all forces out there change by Ic a_q + Bc v_q, composites of I and B.  B sees the turning w of
 * v_q alone; with the link's turning w_i, velocity u, momentum p and first moment mc
 *
 *      moment  N w = 2 w_i x I w - tr(I) w_i x w + 2 mc x (w x u)
 *      force   2 w x p
 *
 * Towards the root the changed force arrives turned and shifted by the step: S_k x* f_l.
 *
 * Forces do not ask how fast a free base goes, only where its velocity leads.  So the observer
 * moves with its origin, and a vehicle at orbital speed loses no digits to w x v.
 */
#include "dynamics/slope.h"

#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/follow.h"
#include "dynamics/kinematics.h"
#include "dynamics/law.h"
#include "dynamics/rnea.h"

/* Of a link, in world axes and about its origin, velocities as the observer sees them. */
struct dyn_slope_part {
    struct dyn_vec6 v;    /* spatial velocity */
    struct dyn_vec6 a;    /* spatial acceleration less gravity */
    struct dyn_vec6 v_on; /* the parent's at this origin */
    struct dyn_vec6 a_on;
    struct dyn_vec6 f; /* through the joint */
    struct dyn_vec3 p; /* Bc: momentum of all the link carries */
    struct dyn_mat3 N; /* Bc: row k is N of a turning about axis k */
};

/* What a step along a velocity, or of it, does from its link outward. */
struct dyn_slope_step {
    struct dyn_vec6 v_q, a_q, a_v;
};

static size_t lay_out(struct dyn_slope_work *work, void *mem, const struct dyn_model *model)
{
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->crba = dyn_cut(mem, &at, dyn_crba_work_size(model));
    work->part = dyn_cut(mem, &at, (size_t)model->link_count * sizeof *work->part);
    work->step = dyn_cut(mem, &at, (size_t)model->full_nv * sizeof *work->step);
    return at;
}

size_t dyn_slope_work_size(const struct dyn_model *model)
{
    struct dyn_slope_work probe;
    return lay_out(&probe, NULL, model);
}

struct dyn_slope_work *dyn_slope_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_slope_work *work = mem;
    memset(mem, 0, dyn_slope_work_size(model));
    lay_out(work, mem, model);
    (void)dyn_crba_work_place(model, work->crba);
    return work;
}

/* v x m and v x* f */
static struct dyn_vec6 cross_motion(const struct dyn_vec6 *v, const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){dyn_cross(v->ang, m->ang),
                             dyn_add(dyn_cross(v->ang, m->lin), dyn_cross(v->lin, m->ang))};
}

static struct dyn_vec6 cross_force(const struct dyn_vec6 *v, const struct dyn_vec6 *f)
{
    return (struct dyn_vec6){dyn_add(dyn_cross(v->ang, f->ang), dyn_cross(v->lin, f->lin)),
                             dyn_cross(v->ang, f->lin)};
}

static struct dyn_vec6 turned(const struct dyn_mat3 *E, const struct dyn_vec6 *m)
{
    return (struct dyn_vec6){dyn_mul_t(E, m->ang), dyn_mul_t(E, m->lin)};
}

/* ---- outward: motion ---------------------------------------------------------------------- */

static int is_base(const struct dyn_link *link)
{
    return link->parent < 0 && link->kind == DYN_LINK_FREE;
}

static void take_motion(const struct dyn_model *model, const struct dyn_state *state,
                        const struct dyn_vec6 *world, struct dyn_slope_work *work, int i)
{
    const struct dyn_link *link = &model->link[i];
    const struct dyn_scene *scene = work->crba->scene;
    const struct dyn_mat3 *E = &scene->E[i];
    const struct dyn_slope_part *on = link->parent >= 0 ? &work->part[link->parent] : NULL;
    const struct dyn_vec6 still = {0};
    struct dyn_slope_part *part = &work->part[i];

    struct dyn_vec6 own = dyn_joint_motion(link, state->v + link->v_at);
    if (is_base(link))
        own.lin = (struct dyn_vec3){0.0, 0.0, 0.0};
    own = turned(E, &own);
    part->v_on = dyn_motion_shift(on != NULL ? &on->v : &still, scene->arm[i]);
    part->a_on = dyn_motion_shift(on != NULL ? &on->a : world, scene->arm[i]);
    part->v = dyn_add6(&part->v_on, &own);
    part->a = turned(E, &scene->kernel->a[i]);
    part->a.lin = dyn_sub(part->a.lin, dyn_cross(part->v.ang, part->v.lin));
    part->f = turned(E, &scene->kernel->f[i]);
}

static struct dyn_vec3 axis(int k)
{
    return (struct dyn_vec3){k == 0, k == 1, k == 2};
}

/* What a turning of the base about axis k adds to dv/dt + w x v, which is what forces know: link
 * axes, axis x v. */
static struct dyn_vec3 base_swing(const struct dyn_link *link, const double *v, int k)
{
    return dyn_cross(axis(k), dyn_vec3_load(v + link->v_at + 3));
}

/* The same where dv/dt is given.  Where it is found, dv/dt makes up for it. */
static struct dyn_vec3 given_swing(const struct dyn_link *link, const double *v,
                                   const struct dyn_input *finds, int k)
{
    const int at = link->v_at + 3;
    const struct dyn_vec3 swing = base_swing(link, v, k);
    return (struct dyn_vec3){dyn_is_given(finds, at) ? swing.x : 0.0,
                             dyn_is_given(finds, at + 1) ? swing.y : 0.0,
                             dyn_is_given(finds, at + 2) ? swing.z : 0.0};
}

static void take_steps(const struct dyn_model *model, const struct dyn_state *state,
                       const struct dyn_input *finds, struct dyn_slope_work *work, int i)
{
    const struct dyn_link *link = &model->link[i];
    const struct dyn_scene *scene = work->crba->scene;
    const struct dyn_slope_part *part = &work->part[i];
    const struct dyn_vec6 both = dyn_add6(&part->v_on, &part->v);

    for (int k = 0; k < dyn_link_nv(link); k++) {
        const struct dyn_vec6 *S = &scene->S[link->v_at + k];
        struct dyn_slope_step *step = &work->step[link->v_at + k];
        step->v_q = cross_motion(&part->v_on, S);
        step->a_q = cross_motion(&part->a_on, S);
        const struct dyn_vec6 twice = cross_motion(&part->v_on, &step->v_q);
        step->a_q = dyn_add6(&step->a_q, &twice);
        step->a_v = cross_motion(&both, S);
        if (is_base(link) && k < 3) {
            const struct dyn_vec3 swing = given_swing(link, state->v, finds, k);
            step->a_v.lin = dyn_add(step->a_v.lin, dyn_mul_t(&scene->E[i], swing));
        }
    }
}

/* ---- inward: composites ------------------------------------------------------------------- */

static void take_own(const struct dyn_model *model, struct dyn_slope_work *work, int i)
{
    const struct dyn_inertia J = dyn_inertia_turn(&model->inertia[i], &work->crba->scene->E[i]);
    struct dyn_slope_part *part = &work->part[i];
    const struct dyn_vec3 w = part->v.ang, u = part->v.lin;

    part->p = dyn_add(dyn_scale(J.mass, u), dyn_cross(w, J.mc));
    for (int k = 0; k < 3; k++) {
        const struct dyn_vec3 twice = dyn_add(dyn_cross(w, dyn_sym3_mul(&J.I, axis(k))),
                                              dyn_cross(J.mc, dyn_cross(axis(k), u)));
        part->N.row[k] =
            dyn_sub(dyn_scale(2.0, twice), dyn_scale(dyn_sym3_trace(&J.I), dyn_cross(w, axis(k))));
    }
}

/* The rotor of link i, which sits on its parent: axis times momentum per joint speed. */
static struct dyn_vec3 rotor_spin(const struct dyn_model *model, const struct dyn_scene *scene,
                                  int i)
{
    const struct dyn_link *link = &model->link[i];
    return dyn_mul_t(&scene->E[link->parent], link->rotor_spin);
}

/* The moment 2 r x (w x p) that the force has at the parent's origin, and a rotor's w x e qd. */
static void give_parent(const struct dyn_model *model, const struct dyn_state *state,
                        struct dyn_slope_work *work, int i)
{
    const struct dyn_link *link = &model->link[i];
    const struct dyn_vec3 r = work->crba->scene->arm[i];
    const double arm[3] = {r.x, r.y, r.z};
    const struct dyn_slope_part *part = &work->part[i];
    struct dyn_slope_part *on = &work->part[link->parent];
    const double rp = 2.0 * dyn_dot(r, part->p);
    struct dyn_vec3 h = {0.0, 0.0, 0.0};

    if (link->has_rotor)
        h = dyn_scale(state->v[link->v_at], rotor_spin(model, work->crba->scene, i));
    on->p = dyn_add(on->p, part->p);
    for (int k = 0; k < 3; k++) {
        struct dyn_vec3 n = dyn_add(part->N.row[k], dyn_scale(rp, axis(k)));
        n = dyn_sub(n, dyn_scale(2.0 * arm[k], part->p));
        on->N.row[k] = dyn_add(on->N.row[k], dyn_add(n, dyn_cross(axis(k), h)));
    }
}

/* ---- every pair on one branch ------------------------------------------------------------- */

/* One velocity j on its way to the root: what tau_j takes from motion further in, F . a + n . w,
 * and the force that a step along j, or of v_j, hands to what is further in. */
struct reach {
    int j;
    size_t nv; /* columns of the answer */
    struct dyn_vec6 F;
    struct dyn_vec3 n;
    struct dyn_vec6 by_q, by_v;
};

/* Ic a + Bc v */
static struct dyn_vec6 changed_force(const struct dyn_inertia *Ic,
                                     const struct dyn_slope_part *part, const struct dyn_vec6 *a,
                                     struct dyn_vec3 w)
{
    const struct dyn_vec6 f = dyn_inertia_mul(Ic, a);
    return (struct dyn_vec6){dyn_add(f.ang, dyn_mul_t(&part->N, w)),
                             dyn_add(f.lin, dyn_scale(2.0, dyn_cross(w, part->p)))};
}

static struct reach begin_reach(const struct dyn_model *model, const struct dyn_slope_work *work,
                                int i, int j)
{
    const struct dyn_slope_part *part = &work->part[i];
    const struct dyn_slope_step *step = &work->step[j];
    const struct dyn_inertia *Ic = &work->crba->Ic[i];
    const struct dyn_vec6 *S = &work->crba->scene->S[j];
    return (struct reach){
        .j = j,
        .nv = (size_t)model->full_nv,
        .F = dyn_inertia_mul(Ic, S),
        .n = dyn_add(dyn_mul(&part->N, S->ang), dyn_scale(2.0, dyn_cross(part->p, S->lin))),
        .by_q = changed_force(Ic, part, &step->a_q, step->v_q.ang),
        .by_v = changed_force(Ic, part, &step->a_v, S->ang),
    };
}

/* tau_j for steps of velocity k, which is further in or of the same link. */
static void fill_outer(const struct dyn_slope_work *work, const struct reach *reach, int k,
                       const struct dyn_slope *slope)
{
    const struct dyn_slope_step *step = &work->step[k];
    const size_t at = (size_t)reach->j * reach->nv + (size_t)k;
    slope->tau_q[at] = dyn_dot6(&reach->F, &step->a_q) + dyn_dot(reach->n, step->v_q.ang);
    slope->tau_v[at] =
        dyn_dot6(&reach->F, &step->a_v) + dyn_dot(reach->n, work->crba->scene->S[k].ang);
}

/* tau_k for steps of velocity j. */
static void fill_inner(const struct dyn_slope_work *work, const struct reach *reach, int k,
                       const struct dyn_slope *slope)
{
    const struct dyn_vec6 *S = &work->crba->scene->S[k];
    const size_t at = (size_t)k * reach->nv + (size_t)reach->j;
    slope->tau_q[at] = dyn_dot6(&reach->by_q, S);
    slope->tau_v[at] = dyn_dot6(&reach->by_v, S);
}

/* Across the joint: the step turns the force as well, and the rotor feels and moves the parent. */
static void leave_link(const struct dyn_model *model, const struct dyn_slope_work *work, int i,
                       struct reach *reach)
{
    const struct dyn_link *link = &model->link[i];
    const struct dyn_scene *scene = work->crba->scene;
    const struct dyn_vec6 swept = cross_force(&scene->S[reach->j], &work->part[i].f);

    reach->by_q = dyn_add6(&reach->by_q, &swept);
    reach->F = dyn_force_shift(&reach->F, scene->arm[i]);
    reach->by_q = dyn_force_shift(&reach->by_q, scene->arm[i]);
    reach->by_v = dyn_force_shift(&reach->by_v, scene->arm[i]);
    if (link->has_rotor) {
        const struct dyn_vec3 e = rotor_spin(model, scene, i);
        const struct dyn_vec3 n = dyn_cross(work->part[link->parent].v.ang, e);
        reach->F.ang = dyn_add(reach->F.ang, e);
        reach->n = dyn_add(reach->n, n);
        reach->by_v.ang = dyn_add(reach->by_v.ang, n);
    }
}

static void fill_branch(const struct dyn_model *model, const struct dyn_slope_work *work, int i,
                        int j, const struct dyn_slope *slope)
{
    const struct dyn_vec3 *arm = work->crba->scene->arm;
    struct reach reach = begin_reach(model, work, i, j);

    for (int k = 0; k < dyn_link_nv(&model->link[i]); k++)
        fill_outer(work, &reach, model->link[i].v_at + k, slope);
    int l = model->link[i].parent;
    if (l >= 0)
        leave_link(model, work, i, &reach);
    for (; l >= 0; l = model->link[l].parent) {
        const int first = model->link[l].v_at, end = first + dyn_link_nv(&model->link[l]);
        for (int k = first; k < end; k++) {
            fill_outer(work, &reach, k, slope);
            fill_inner(work, &reach, k, slope);
        }
        reach.F = dyn_force_shift(&reach.F, arm[l]);
        reach.by_q = dyn_force_shift(&reach.by_q, arm[l]);
        reach.by_v = dyn_force_shift(&reach.by_v, arm[l]);
    }
}

static void add_laws(const struct dyn_model *model, const struct dyn_state *state,
                     const struct dyn_slope *slope)
{
    for (int k = 0; k < model->lawful_count; k++) {
        const struct dyn_lawful *at = &model->lawful[k];
        const double q = at->q_at < 0 ? 0.0 : state->q[at->q_at];
        const struct dyn_law_slope law = dyn_law_slope(&at->law, q, state->v[at->v_at]);
        const size_t diagonal = (size_t)at->v_at * ((size_t)model->full_nv + 1);
        slope->tau_q[diagonal] -= at->q_at < 0 ? 0.0 : law.dq;
        slope->tau_v[diagonal] -= law.dv;
    }
}

void dyn_slope_take(const struct dyn_model *model, const struct dyn_state *state, const double *a,
                    const struct dyn_input *input, const struct dyn_input *finds,
                    struct dyn_slope_work *work, const struct dyn_slope *slope)
{
    struct dyn_work *kernel = work->crba->scene->kernel;
    const struct dyn_vec6 world = dyn_world_acceleration(input);
    const size_t size = (size_t)model->full_nv * (size_t)model->full_nv * sizeof(double);

    /* the forces themselves are not asked for, and have a row of tau_q to go to */
    dyn_rnea(model, state, a, input, kernel, slope->tau_q);
    const struct dyn_state links = dyn_follow_state(model, state, &kernel->follow);
    dyn_scene_turn(model, work->crba->scene);
    dyn_composite_rows(model, work->crba);
    memset(slope->tau_q, 0, size);
    memset(slope->tau_v, 0, size);
    for (int i = 0; i < model->link_count; i++) {
        take_motion(model, &links, &world, work, i);
        take_steps(model, &links, finds, work, i);
        take_own(model, work, i);
    }
    for (int i = model->link_count - 1; i >= 0; i--) {
        for (int k = 0; k < dyn_link_nv(&model->link[i]); k++)
            fill_branch(model, work, i, model->link[i].v_at + k, slope);
        if (model->link[i].parent >= 0)
            give_parent(model, &links, work, i);
    }
    add_laws(model, &links, slope);
}

void dyn_slope_swing(const struct dyn_model *model, const double *v, const struct dyn_input *finds,
                     int nv, double *a_v)
{
    for (int i = 0; i < model->link_count; i++) {
        const struct dyn_link *link = &model->link[i];
        for (int k = 0; is_base(link) && k < 3; k++) {
            double swing[3];
            dyn_vec3_store(base_swing(link, v, k), swing);
            for (int r = 0; r < 3; r++)
                if (!dyn_is_given(finds, link->v_at + 3 + r) &&
                    !dyn_is_given(finds, link->v_at + k))
                    a_v[(link->v_at + 3 + r) * nv + link->v_at + k] -= swing[r];
        }
    }
}
