#include "dynamics/analysis/monitor.h"

#include <string.h>

#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/world/earth.h"

/* A body frame seen from the world: everything in world axes. */
struct frame_motion {
    struct dyn_quat turn;
    struct dyn_vec3 origin;
    struct dyn_vec3 rate;     /* angular velocity */
    struct dyn_vec3 velocity; /* of the origin */
};

struct dyn_monitor_work {
    struct frame_motion *frame_motion; /* per body */
};

static size_t lay_out_monitor_work(struct dyn_monitor_work *work, void *mem, size_t n)
{
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->frame_motion = dyn_layout_cut(mem, &at, n * sizeof *work->frame_motion);
    return at;
}

size_t dyn_monitor_work_bytes(int body_count)
{
    struct dyn_monitor_work probe;
    return lay_out_monitor_work(&probe, NULL, (size_t)body_count);
}

size_t dyn_monitor_work_size(const struct dyn_plant *plant)
{
    return dyn_monitor_work_bytes(plant->model->body_count);
}

struct dyn_monitor_work *dyn_monitor_work_place(const struct dyn_plant *plant, void *mem)
{
    memset(mem, 0, dyn_monitor_work_size(plant));
    lay_out_monitor_work(mem, mem, (size_t)plant->model->body_count);
    return mem;
}

/* Half-angle form of a turn about a unit axis. */
static struct dyn_quat axis_turn(struct dyn_vec3 axis, double angle)
{
    const struct dyn_vec3 u = dyn_scale(sin(0.5 * angle), axis);
    return (struct dyn_quat){cos(0.5 * angle), u.x, u.y, u.z};
}

/* The frame slides along an axis of its own. */
static void slide(struct frame_motion *s, struct dyn_vec3 axis, double q, double v)
{
    const struct dyn_vec3 along = dyn_quat_rotate(s->turn, axis);
    const struct dyn_vec3 step = dyn_scale(q, along);
    s->origin = dyn_add(s->origin, step);
    s->velocity = dyn_add(s->velocity, dyn_add(dyn_cross(s->rate, step), dyn_scale(v, along)));
}

/* The frame turns about an axis of its own through one of its points. */
static void turn(struct frame_motion *s, struct dyn_vec3 axis, struct dyn_vec3 point, double q,
                 double v)
{
    const struct dyn_vec3 spin = dyn_scale(v, dyn_quat_rotate(s->turn, axis));
    const struct dyn_vec3 arm = dyn_quat_rotate(s->turn, point);
    s->turn = dyn_quat_mul(s->turn, axis_turn(axis, q));
    const struct dyn_vec3 back = dyn_scale(-1.0, dyn_quat_rotate(s->turn, point));
    const struct dyn_vec3 step = dyn_add(arm, back);
    s->origin = dyn_add(s->origin, step);
    s->velocity = dyn_add(s->velocity, dyn_add(dyn_cross(s->rate, step), dyn_cross(spin, back)));
    s->rate = dyn_add(s->rate, spin);
}

static void screw(struct frame_motion *s, const double e[6], double q, double v)
{
    const struct dyn_vec3 w = dyn_vec3_load(e), t = dyn_vec3_load(e + 3);
    const double pitch = dyn_dot(w, t);
    if (dyn_dot(w, w) == 0.0) {
        slide(s, t, q, v);
        return;
    }
    turn(s, w, dyn_cross(w, t), q, v);
    slide(s, w, pitch * q, pitch * v);
}

/* The frame jumps to a pose and velocities of its own, both relative to where it was. */
static void move_free(struct frame_motion *s, const double *xyz, const double *quat,
                      const double *w, const double *v)
{
    if (xyz != NULL) {
        const struct dyn_vec3 step = dyn_quat_rotate(s->turn, dyn_vec3_load(xyz));
        s->origin = dyn_add(s->origin, step);
        s->velocity = dyn_add(s->velocity, dyn_cross(s->rate, step));
    }
    s->turn = dyn_quat_mul(s->turn, dyn_quat_unit(dyn_quat_load(quat)));
    s->rate = dyn_add(s->rate, dyn_quat_rotate(s->turn, dyn_vec3_load(w)));
    if (v != NULL)
        s->velocity = dyn_add(s->velocity, dyn_quat_rotate(s->turn, dyn_vec3_load(v)));
}

static struct frame_motion at_joint(const struct dyn_body_spec *spec, const struct frame_motion *on)
{
    const struct dyn_vec3 arm = dyn_quat_rotate(on->turn, dyn_vec3_load(spec->place_xyz));
    return (struct frame_motion){dyn_quat_mul(on->turn, dyn_quat_load(spec->place_quat)),
                                 dyn_add(on->origin, arm), on->rate,
                                 dyn_add(on->velocity, dyn_cross(on->rate, arm))};
}

/* The frame of a body on a parent that is seen as `on`: first the place, then the joint's motion.
 */
static struct frame_motion carried_motion(const struct dyn_body_spec *spec,
                                          const struct frame_motion *on, const double *q,
                                          const double *v)
{
    const struct dyn_vec3 none = {0.0, 0.0, 0.0};
    const struct dyn_vec3 a = dyn_vec3_load(spec->axis), b = dyn_vec3_load(spec->axis2);
    struct frame_motion s = at_joint(spec, on);

    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        break;
    case DYN_JOINT_REVOLUTE:
        turn(&s, a, none, q[0], v[0]);
        break;
    case DYN_JOINT_PRISMATIC:
        slide(&s, a, q[0], v[0]);
        break;
    case DYN_JOINT_CYLINDRICAL:
        turn(&s, a, none, q[0], v[0]);
        slide(&s, a, q[1], v[1]);
        break;
    case DYN_JOINT_UNIVERSAL:
        turn(&s, a, none, q[0], v[0]);
        turn(&s, b, none, q[1], v[1]);
        break;
    case DYN_JOINT_PLANAR:
        slide(&s, b, q[0], v[0]);
        slide(&s, dyn_cross(a, b), q[1], v[1]);
        turn(&s, a, none, q[2], v[2]);
        break;
    case DYN_JOINT_SPHERICAL:
        move_free(&s, NULL, q, v, NULL);
        break;
    case DYN_JOINT_FREE:
        move_free(&s, q, q + 3, v, v + 3);
        break;
    case DYN_JOINT_GENERAL:
        for (int k = 0; k < spec->screw_count; k++)
            screw(&s, spec->screw[k], q[k], v[k]);
        break;
    }
    return s;
}

static const struct frame_motion WORLD = {.turn = {1.0, 0.0, 0.0, 0.0}};

/* Coordinates and velocities of body i's joint, its own or its leader's. */
struct joint_state {
    double q[DYN_JOINT_DOF_MAX + 1], v[DYN_JOINT_DOF_MAX];
};

static struct joint_state joint_state_of(const struct dyn_model *model, const double *x, int i)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    struct joint_state at = {0};
    if (spec->mimic.on) {
        const int leader = spec->mimic.leader;
        at.q[0] = spec->mimic.ratio * x[model->q_index[leader]] + spec->mimic.offset;
        at.v[0] = spec->mimic.ratio * x[model->nq + model->v_index[leader]];
        return at;
    }
    memcpy(at.q, x + model->q_index[i], (size_t)dyn_joint_nq(spec) * sizeof *x);
    memcpy(at.v, x + model->nq + model->v_index[i], (size_t)dyn_joint_nv(spec) * sizeof *x);
    return at;
}

/* ---- modes ---- */

static struct dyn_vec3 add_scaled(struct dyn_vec3 sum, double k, struct dyn_vec3 a)
{
    return dyn_add(sum, dyn_scale(k, a));
}

static const struct dyn_modal_link *modal_link_of(const struct dyn_model *model, int body)
{
    return dyn_model_modes(model, body) > 0
               ? &model->modal[model->link[model->body_link[body]].modal]
               : NULL;
}

/* The modal coordinates that displace mass; at the fidelity `ruthless` there are none. */
static double eta_of(const struct dyn_modal_link *modal, const double *x, int p)
{
    return modal->deforms ? x[modal->q_at + p] : 0.0;
}

/* The frame of body i's link, in whose axes its modes are given. */
static struct frame_motion link_motion(const struct dyn_model *model, int i,
                                       const struct frame_motion *body)
{
    const struct dyn_pose *body_in_link = &model->body_in_link[i];
    const struct dyn_quat axes = dyn_quat_mul(body->turn, dyn_quat_conjugate(body_in_link->turn));
    const struct dyn_vec3 back = dyn_scale(-1.0, dyn_quat_rotate(axes, body_in_link->origin));
    return (struct frame_motion){axes, dyn_add(body->origin, back), body->rate,
                                 dyn_add(body->velocity, dyn_cross(body->rate, back))};
}

/* sum a_p y_p + 1/2 sum a1_pq y_p y_q, and sum (a_p + sum a1_pq y_q) z_p. */
struct node_deflection {
    struct dyn_vec3 place, rate;
};

static struct dyn_vec3 element(const double *e, int lanes)
{
    return (struct dyn_vec3){e[0], e[lanes], e[2 * lanes]};
}

static struct node_deflection node_deflection_of(const struct dyn_modal_link *modal,
                                                 const double *a, const double *a1, const double *x,
                                                 const double *xi)
{
    const int n = modal->lanes;
    struct node_deflection s = {0};
    for (int p = 0; p < modal->modes; p++) {
        const double eta = eta_of(modal, x, p);
        s.place = add_scaled(s.place, eta, element(a + p, n));
        s.rate = add_scaled(s.rate, xi[p], element(a + p, n));
        for (int q = 0; q < modal->modes; q++) {
            const struct dyn_vec3 pair = element(a1 + q * 3 * n + p, n);
            s.place = add_scaled(s.place, 0.5 * eta * eta_of(modal, x, q), pair);
            s.rate = add_scaled(s.rate, xi[p] * eta_of(modal, x, q), pair);
        }
    }
    return s;
}

/* Where body i's joint sits on a flexible parent: on a node, of which the axes are the parent's
 * while it does not bend. */
static struct frame_motion node_motion(const struct dyn_model *model, int i,
                                       const struct frame_motion *parent, const double *x)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const int node = model->body_node[spec->parent] + spec->node - 1;
    const struct dyn_modal_node *shape = &model->node[node];
    const struct dyn_modal_link *modal = &model->modal[shape->modal];
    const double *xi = x + model->nq + modal->v_at;
    const struct frame_motion on = link_motion(model, spec->parent, parent);
    const struct node_deflection travel = node_deflection_of(modal, shape->psi, shape->psi1, x, xi);
    const struct node_deflection theta =
        node_deflection_of(modal, shape->theta, shape->theta1, x, xi);
    const struct dyn_vec3 g = dyn_scale(0.5, theta.place), g_rate = dyn_scale(0.5, theta.rate);
    const struct dyn_vec3 arm =
        dyn_quat_rotate(on.turn, dyn_add(model->link[model->node_link[node]].origin, travel.place));
    const struct dyn_vec3 spin =
        dyn_scale(2.0 / (1.0 + dyn_dot(g, g)), dyn_add(g_rate, dyn_cross(g, g_rate)));
    const struct dyn_quat turned =
        dyn_quat_mul(on.turn, dyn_quat_unit((struct dyn_quat){1.0, g.x, g.y, g.z}));

    return (struct frame_motion){
        .turn = dyn_quat_mul(turned, model->body_in_link[spec->parent].turn),
        .origin = dyn_add(on.origin, arm),
        .rate = dyn_add(on.rate, dyn_quat_rotate(on.turn, spin)),
        .velocity = dyn_add(dyn_add(on.velocity, dyn_cross(on.rate, arm)),
                            dyn_quat_rotate(on.turn, travel.rate)),
    };
}

static struct frame_motion base_motion(const struct dyn_model *model,
                                       const struct frame_motion *frame_motion, int i,
                                       const double *x)
{
    const int parent = model->spec[i].parent;
    if (parent < 0)
        return WORLD;
    return model->spec[i].node > 0 ? node_motion(model, i, &frame_motion[parent], x)
                                   : frame_motion[parent];
}

static void find_motions(const struct dyn_model *model, const double *x,
                         struct frame_motion *frame_motion)
{
    for (int i = 0; i < model->body_count; i++) {
        const struct joint_state at = joint_state_of(model, x, i);
        const struct frame_motion on = base_motion(model, frame_motion, i, x);
        frame_motion[i] = carried_motion(&model->spec[i], &on, at.q, at.v);
    }
}

static void add_to_array3(double sum[3], struct dyn_vec3 a)
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

static double spring(double stiffness, double stretch)
{
    return 0.5 * stiffness * stretch * stretch;
}

/* Springs and limits of body i's joint. */
static double joint_energy(const struct dyn_body_spec *spec, const struct joint_state *at)
{
    double sum = 0.0;
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
        const struct dyn_joint_force_spec *force_spec = &spec->force_spec[k];
        sum += spring(force_spec->stiffness,
                      force_spec->stiffness > 0.0 ? at->q[k] - force_spec->rest : 0.0);
        if (force_spec->limit_stiffness > 0.0)
            sum += spring(force_spec->limit_stiffness, fmax(0.0, force_spec->lower - at->q[k])) +
                   spring(force_spec->limit_stiffness, fmax(0.0, at->q[k] - force_spec->upper));
    }
    return sum;
}

/* A geared rotor, beyond what its parent's inertia has of it locked. */
static void add_rotor(const struct dyn_geared_rotor *rotor, const struct frame_motion *on, double v,
                      struct dyn_monitor *sum)
{
    const double spin = rotor->ratio * v;
    const struct dyn_vec3 axis = dyn_quat_rotate(on->turn, dyn_vec3_load(rotor->axis));
    if (rotor->terms == DYN_ROTOR_NONE)
        return;
    sum->kinetic += 0.5 * rotor->inertia * spin * spin;
    if (rotor->terms == DYN_ROTOR_DIAGONAL)
        return;
    sum->kinetic += rotor->inertia * spin * dyn_dot(on->rate, axis);
    add_to_array3(sum->angular_momentum, dyn_scale(rotor->inertia * spin, axis));
}

/* Koenig: of the mass centre, plus of the turning about it. */
static void add_body(const struct dyn_body_spec *spec, const struct frame_motion *s,
                     struct dyn_vec3 g, struct dyn_monitor *sum)
{
    const struct dyn_sym3 Ic = dyn_sym3_load(spec->inertia);
    const struct dyn_vec3 arm = dyn_quat_rotate(s->turn, dyn_vec3_load(spec->center));
    const struct dyn_vec3 c = dyn_add(s->origin, arm);
    const struct dyn_vec3 vc = dyn_add(s->velocity, dyn_cross(s->rate, arm));
    const struct dyn_vec3 p = dyn_scale(spec->mass, vc);
    const struct dyn_vec3 w = dyn_quat_rotate(dyn_quat_conjugate(s->turn), s->rate);
    const struct dyn_vec3 spin = dyn_sym3_mul(&Ic, w);

    sum->kinetic += 0.5 * (dyn_dot(p, vc) + dyn_dot(spin, w));
    sum->potential -= spec->mass * dyn_dot(g, c);
    sum->mass += spec->mass;
    add_to_array3(sum->center, dyn_scale(spec->mass, c));
    add_to_array3(sum->linear_momentum, p);
    add_to_array3(sum->angular_momentum, dyn_add(dyn_cross(c, p), dyn_quat_rotate(s->turn, spin)));
}

/* out += k int psi x' of the table. */
static void add_moment(double k, const double *e, int lanes, double out[3][3])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[r][c] += k * e[(3 * r + c) * lanes];
}

/* With u the deformation: int u r' + 1/2 int u u', and int x_rate x'. */
static void sum_moments(const struct dyn_modal_link *modal, const double *x, const double *xi,
                        double still[3][3], double moving[3][3])
{
    const int n = modal->lanes;
    for (int p = 0; p < modal->modes; p++) {
        const double eta = eta_of(modal, x, p);
        add_moment(eta, modal->L + p, n, still);
        add_moment(xi[p], modal->L + p, n, moving);
        for (int q = 0; q < modal->modes; q++) {
            const double *pair = modal->W1 + q * 9 * n + p;
            add_moment(0.5 * eta * eta_of(modal, x, q), pair, n, still);
            add_moment(xi[p] * eta_of(modal, x, q), pair, n, moving);
        }
    }
}

/* (2 tr A - A - A') w: what the deformation adds to the angular momentum of the turning. */
static struct dyn_vec3 deformation_momentum(double A[3][3], struct dyn_vec3 w)
{
    const double e[3] = {w.x, w.y, w.z}, trace = A[0][0] + A[1][1] + A[2][2];
    double h[3];
    for (int r = 0; r < 3; r++) {
        h[r] = 2.0 * trace * e[r];
        for (int c = 0; c < 3; c++)
            h[r] -= (A[r][c] + A[c][r]) * e[c];
    }
    return dyn_vec3_load(h);
}

static double modal_energy(const struct dyn_modal_link *modal, const double *square,
                           const double *y)
{
    double sum = 0.0;
    for (int p = 0; p < modal->modes; p++)
        for (int q = 0; q < modal->modes; q++)
            sum += 0.5 * square[q * modal->lanes + p] * y[p] * y[q];
    return sum;
}

/* All that modes add to a body that add_body() took as straight, in the axes and about the origin
 * of its link. */
static void add_modes(const struct dyn_modal_link *modal, const struct frame_motion *link,
                      const double *x, const double *xi, struct dyn_vec3 g, struct dyn_monitor *sum)
{
    const struct dyn_quat back = dyn_quat_conjugate(link->turn);
    const struct dyn_vec3 w = dyn_quat_rotate(back, link->rate);
    const struct dyn_vec3 v = dyn_quat_rotate(back, link->velocity);
    const struct node_deflection mc = node_deflection_of(modal, modal->P, modal->P1, x, xi);
    double A[3][3] = {{0.0}}, B[3][3] = {{0.0}};
    struct dyn_vec3 own = {0.0, 0.0, 0.0}; /* int x x x_rate, and of rotary inertia */

    sum_moments(modal, x, xi, A, B);
    own = dyn_add(own, (struct dyn_vec3){B[2][1] - B[1][2], B[0][2] - B[2][0], B[1][0] - B[0][1]});
    for (int p = 0; p < modal->modes; p++)
        own = add_scaled(own, xi[p], element(modal->S + p, modal->lanes));
    const struct dyn_vec3 p = dyn_add(dyn_cross(w, mc.place), mc.rate),
                          spin = deformation_momentum(A, w);
    const struct dyn_vec3 h = dyn_add(dyn_add(dyn_cross(mc.place, v), spin), own);
    const struct dyn_vec3 moved = dyn_quat_rotate(link->turn, mc.place);
    const struct dyn_vec3 p_world = dyn_quat_rotate(link->turn, p);

    sum->kinetic += dyn_dot(v, p) + 0.5 * dyn_dot(w, spin) + dyn_dot(w, own) +
                    modal_energy(modal, modal->M, xi);
    sum->potential += modal_energy(modal, modal->K, x + modal->q_at) - dyn_dot(g, moved);
    add_to_array3(sum->center, moved);
    add_to_array3(sum->linear_momentum, p_world);
    add_to_array3(sum->angular_momentum,
                  dyn_add(dyn_cross(link->origin, p_world), dyn_quat_rotate(link->turn, h)));
}

static void add_spin(const struct dyn_spin *spin, struct dyn_monitor *sum)
{
    sum->kinetic += spin->energy;
    add_to_array3(sum->angular_momentum, spin->momentum);
}

/* Of the Earth's gravity, with u = c / |c|, I about the mass centre c, and s = c_z / |c|:
 *      -mu m / c - mu (tr I - 3 u I u) / (2 c^3) + mu m J2 a^2 (3 s^2 - 1) / (2 c^3) */
static double orbit_energy(const struct dyn_environment *environment,
                           const struct dyn_body_spec *spec, const struct frame_motion *s)
{
    const struct dyn_sym3 Ic = dyn_sym3_load(spec->inertia);
    const struct dyn_vec3 arm = dyn_quat_rotate(s->turn, dyn_vec3_load(spec->center));
    const struct dyn_vec3 c = dyn_add(s->origin, arm);
    const double d = dyn_norm(c), k = 0.5 * DYN_EARTH_MU / (d * d * d);
    const struct dyn_vec3 u = dyn_quat_rotate(dyn_quat_conjugate(s->turn), dyn_scale(1.0 / d, c));
    const double along = dyn_dot(u, dyn_sym3_mul(&Ic, u));
    const double flat =
        DYN_EARTH_J2 * DYN_EARTH_RADIUS * DYN_EARTH_RADIUS * (3.0 * c.z * c.z / (d * d) - 1.0);
    return -DYN_EARTH_MU * spec->mass / d - k * (dyn_sym3_trace(&Ic) - 3.0 * along) +
           (environment->has_j2 ? k * spec->mass * flat : 0.0);
}

static void update_fastest(const struct frame_motion *s, int body, struct dyn_monitor *sum)
{
    const double speed = dyn_norm(s->velocity);
    if (speed <= sum->speed) /* not finite: it is the fastest */
        return;
    sum->speed = speed;
    sum->fastest = body;
}

void dyn_monitor_compute(const struct dyn_plant *plant, const double *x,
                         struct dyn_monitor_work *work, struct dyn_monitor *monitor)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_environment *environment = &plant->environment;
    const bool in_orbit = environment->kind == DYN_WORLD_ORBIT;
    const struct dyn_vec3 g =
        in_orbit ? (struct dyn_vec3){0.0, 0.0, 0.0} : dyn_vec3_load(environment->gravity);
    struct dyn_monitor sum = {0};

    find_motions(model, x, work->frame_motion);
    for (int i = 0; i < model->body_count; i++) {
        const struct joint_state at = joint_state_of(model, x, i);
        const struct frame_motion on = base_motion(model, work->frame_motion, i, x);
        const struct dyn_modal_link *modal = modal_link_of(model, i);
        add_body(&model->spec[i], &work->frame_motion[i], g, &sum);
        update_fastest(&work->frame_motion[i], i, &sum);
        if (in_orbit)
            sum.potential += orbit_energy(environment, &model->spec[i], &work->frame_motion[i]);
        add_rotor(&model->spec[i].rotor, &on, at.v[0], &sum);
        if (modal != NULL) {
            const struct frame_motion link = link_motion(model, i, &work->frame_motion[i]);
            add_modes(modal, &link, x, x + model->nq + modal->v_at, g, &sum);
        }
        sum.potential += joint_energy(&model->spec[i], &at);
    }
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        const struct frame_motion *s = &work->frame_motion[effector->body];
        const double *state = x + dyn_plant_effector_index(plant, k);
        struct dyn_spin spin;
        if (dyn_effector_spin(effector, s->turn, s->rate, state, &spin))
            add_spin(&spin, &sum);
    }
    if (sum.mass > 0.0)
        dyn_vec3_store(dyn_scale(1.0 / sum.mass, dyn_vec3_load(sum.center)), sum.center);
    *monitor = sum;
}
