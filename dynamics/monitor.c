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

static struct sight free_sight(const double *q, const double *v)
{
    const struct dyn_quat turn = dyn_quat_unit(dyn_quat_load(q + 3));
    return (struct sight){turn, dyn_vec3_load(q), dyn_quat_rotate(turn, dyn_vec3_load(v)),
                          dyn_quat_rotate(turn, dyn_vec3_load(v + 3))};
}

/* Half-angle form of a turn about a unit axis. */
static struct dyn_quat axis_turn(struct dyn_vec3 axis, double angle)
{
    const struct dyn_vec3 u = dyn_scale(sin(0.5 * angle), axis);
    return (struct dyn_quat){cos(0.5 * angle), u.x, u.y, u.z};
}

/* The frame of a body on a parent that is seen as `on`: first the place, then the joint's motion.
 */
static struct sight carried_sight(const struct dyn_body_spec *spec, const struct sight *on,
                                  const double *q, const double *v)
{
    struct sight s = {.turn = dyn_quat_mul(on->turn, dyn_quat_load(spec->place_quat))};
    const struct dyn_vec3 axis = dyn_quat_rotate(s.turn, dyn_vec3_load(spec->axis));
    struct dyn_vec3 arm = dyn_quat_rotate(on->turn, dyn_vec3_load(spec->place_xyz));

    if (spec->joint == DYN_JOINT_PRISMATIC)
        arm = dyn_add(arm, dyn_scale(q[0], axis));
    s.origin = dyn_add(on->origin, arm);
    s.rate = on->rate;
    s.velocity = dyn_add(on->velocity, dyn_cross(on->rate, arm));
    if (spec->joint == DYN_JOINT_PRISMATIC)
        s.velocity = dyn_add(s.velocity, dyn_scale(v[0], axis));
    if (spec->joint == DYN_JOINT_REVOLUTE) {
        s.turn = dyn_quat_mul(s.turn, axis_turn(dyn_vec3_load(spec->axis), q[0]));
        s.rate = dyn_add(s.rate, dyn_scale(v[0], axis));
    }
    return s;
}

static void look(const struct dyn_model *model, const double *x, struct sight *sight)
{
    static const struct sight world = {.turn = {1.0, 0.0, 0.0, 0.0}};

    for (int i = 0; i < model->body_count; i++) {
        const struct dyn_body_spec *spec = &model->spec[i];
        const double *q = x + model->q_index[i], *v = x + model->nq + model->v_index[i];
        const struct sight *on = spec->parent < 0 ? &world : &sight[spec->parent];
        sight[i] = spec->joint == DYN_JOINT_FREE ? free_sight(q, v) : carried_sight(spec, on, q, v);
    }
}

static void add3(double sum[3], struct dyn_vec3 a)
{
    dyn_vec3_store(dyn_add(dyn_vec3_load(sum), a), sum);
}

static double spring_energy(const struct dyn_model *model, int i, const double *x)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    if (spec->stiffness == 0.0)
        return 0.0;
    const double stretch = x[model->q_index[i]] - spec->rest;
    return 0.5 * spec->stiffness * stretch * stretch;
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
        add_body(&model->spec[i], &work->sight[i], g, &sum);
        sum.potential += spring_energy(model, i, x);
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
