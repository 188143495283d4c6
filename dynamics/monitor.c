#include "dynamics/monitor.h"

#include <string.h>

#include "dynamics/cut.h"
#include "dynamics/tree.h"

/* A body frame seen from the world: everything in world axes. */
struct sight {
    struct dyn_quat turn;
    struct dyn_vec3 origin;
    struct dyn_vec3 rate;     /* angular velocity */
    struct dyn_vec3 velocity; /* of the origin */
};

struct dyn_monitor_work {
    struct sight *sight; /* per body */
};

static size_t lay_out(struct dyn_monitor_work *work, void *mem, size_t n)
{
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *work);
    work->sight = dyn_cut(mem, &at, n * sizeof *work->sight);
    return at;
}

size_t dyn_monitor_work_size(const struct dyn_plant *plant)
{
    struct dyn_monitor_work probe;
    return lay_out(&probe, NULL, (size_t)plant->model->body_count);
}

struct dyn_monitor_work *dyn_monitor_work_place(const struct dyn_plant *plant, void *mem)
{
    memset(mem, 0, dyn_monitor_work_size(plant));
    lay_out(mem, mem, (size_t)plant->model->body_count);
    return mem;
}

/* Half-angle form of a turn about a unit axis. */
static struct dyn_quat axis_turn(struct dyn_vec3 axis, double angle)
{
    const struct dyn_vec3 u = dyn_scale(sin(0.5 * angle), axis);
    return (struct dyn_quat){cos(0.5 * angle), u.x, u.y, u.z};
}

/* The frame slides along an axis of its own. */
static void slide(struct sight *s, struct dyn_vec3 axis, double q, double v)
{
    const struct dyn_vec3 along = dyn_quat_rotate(s->turn, axis);
    const struct dyn_vec3 step = dyn_scale(q, along);
    s->origin = dyn_add(s->origin, step);
    s->velocity = dyn_add(s->velocity, dyn_add(dyn_cross(s->rate, step), dyn_scale(v, along)));
}

/* The frame turns about an axis of its own through one of its points. */
static void turn(struct sight *s, struct dyn_vec3 axis, struct dyn_vec3 point, double q, double v)
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

static void screw(struct sight *s, const double e[6], double q, double v)
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
static void loosen(struct sight *s, const double *xyz, const double *quat, const double *w,
                   const double *v)
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

static struct sight placed(const struct dyn_body_spec *spec, const struct sight *on)
{
    const struct dyn_vec3 arm = dyn_quat_rotate(on->turn, dyn_vec3_load(spec->place_xyz));
    return (struct sight){dyn_quat_mul(on->turn, dyn_quat_load(spec->place_quat)),
                          dyn_add(on->origin, arm), on->rate,
                          dyn_add(on->velocity, dyn_cross(on->rate, arm))};
}

/* The frame of a body on a parent that is seen as `on`: first the place, then the joint's motion.
 */
static struct sight carried_sight(const struct dyn_body_spec *spec, const struct sight *on,
                                  const double *q, const double *v)
{
    const struct dyn_vec3 none = {0.0, 0.0, 0.0};
    const struct dyn_vec3 a = dyn_vec3_load(spec->axis), b = dyn_vec3_load(spec->axis2);
    struct sight s = placed(spec, on);

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
        loosen(&s, NULL, q, v, NULL);
        break;
    case DYN_JOINT_FREE:
        loosen(&s, q, q + 3, v, v + 3);
        break;
    case DYN_JOINT_GENERAL:
        for (int k = 0; k < spec->screw_count; k++)
            screw(&s, spec->screw[k], q[k], v[k]);
        break;
    }
    return s;
}

static const struct sight WORLD = {.turn = {1.0, 0.0, 0.0, 0.0}};

/* Coordinates and velocities of body i's joint, its own or its leader's. */
struct stand {
    double q[DYN_JOINT_DOF_MAX + 1], v[DYN_JOINT_DOF_MAX];
};

static struct stand stand_of(const struct dyn_model *model, const double *x, int i)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    struct stand at = {0};
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

static const struct sight *sight_of_parent(const struct dyn_model *model, const struct sight *sight,
                                           int i)
{
    const int parent = model->spec[i].parent;
    return parent < 0 ? &WORLD : &sight[parent];
}

static void look(const struct dyn_model *model, const double *x, struct sight *sight)
{
    for (int i = 0; i < model->body_count; i++) {
        const struct stand at = stand_of(model, x, i);
        sight[i] = carried_sight(&model->spec[i], sight_of_parent(model, sight, i), at.q, at.v);
    }
}

static void add3(double sum[3], struct dyn_vec3 a)
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

static double spring(double stiffness, double stretch)
{
    return 0.5 * stiffness * stretch * stretch;
}

/* Springs and limits of body i's joint. */
static double joint_energy(const struct dyn_body_spec *spec, const struct stand *at)
{
    double sum = 0.0;
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
        const struct dyn_joint_law *law = &spec->law[k];
        sum += spring(law->stiffness, law->stiffness > 0.0 ? at->q[k] - law->rest : 0.0);
        if (law->limit_stiffness > 0.0)
            sum += spring(law->limit_stiffness, fmax(0.0, law->lower - at->q[k])) +
                   spring(law->limit_stiffness, fmax(0.0, at->q[k] - law->upper));
    }
    return sum;
}

/* A geared rotor, beyond what its parent's inertia has of it locked. */
static void add_rotor(const struct dyn_rotor *rotor, const struct sight *on, double v,
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
    add3(sum->angular_momentum, dyn_scale(rotor->inertia * spin, axis));
}

/* Koenig: of the mass centre, plus of the turning about it. */
static void add_body(const struct dyn_body_spec *spec, const struct sight *s, struct dyn_vec3 g,
                     struct dyn_monitor *sum)
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
    add3(sum->center, dyn_scale(spec->mass, c));
    add3(sum->linear_momentum, p);
    add3(sum->angular_momentum, dyn_add(dyn_cross(c, p), dyn_quat_rotate(s->turn, spin)));
}

static void add_wheel(const struct dyn_wheel *wheel, const struct sight *s, double momentum,
                      struct dyn_monitor *sum)
{
    const struct dyn_vec3 axis = dyn_quat_rotate(s->turn, dyn_vec3_load(wheel->axis));
    sum->kinetic += 0.5 * momentum * momentum / wheel->inertia;
    add3(sum->angular_momentum, dyn_scale(momentum, axis));
}

void dyn_monitor_take(const struct dyn_plant *plant, const double *x, struct dyn_monitor_work *work,
                      struct dyn_monitor *monitor)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_vec3 g = dyn_vec3_load(plant->environment.gravity);
    struct dyn_monitor sum = {0};

    look(model, x, work->sight);
    for (int i = 0; i < model->body_count; i++) {
        const struct stand at = stand_of(model, x, i);
        const struct sight *on = sight_of_parent(model, work->sight, i);
        add_body(&model->spec[i], &work->sight[i], g, &sum);
        add_rotor(&model->spec[i].rotor, on, at.v[0], &sum);
        sum.potential += joint_energy(&model->spec[i], &at);
    }
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        DYN_CHECK(effector->type == DYN_EFFECTOR_WHEEL);
        add_wheel(&effector->wheel, &work->sight[effector->body],
                  x[dyn_plant_effector_index(plant, k)], &sum);
    }
    if (sum.mass > 0.0)
        dyn_vec3_store(dyn_scale(1.0 / sum.mass, dyn_vec3_load(sum.center)), sum.center);
    *monitor = sum;
}
