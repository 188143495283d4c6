#include "dynamics/model.h"

#include <string.h>

#include "dynamics/check.h"
#include "dynamics/cut.h"
#include "dynamics/tree.h"

int dyn_joint_nq(enum dyn_joint_type joint)
{
    return joint == DYN_JOINT_FREE ? 7 : dyn_joint_nv(joint);
}

int dyn_joint_nv(enum dyn_joint_type joint)
{
    switch (joint) {
    case DYN_JOINT_FIXED:
        return 0;
    case DYN_JOINT_REVOLUTE:
    case DYN_JOINT_PRISMATIC:
        return 1;
    case DYN_JOINT_FREE:
        return 6;
    }
    __builtin_unreachable();
}

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out(struct dyn_model *model, void *mem, size_t n)
{
    size_t at = 0;
    (void)dyn_cut(mem, &at, sizeof *model);
    model->parent = dyn_cut(mem, &at, n * sizeof *model->parent);
    model->joint = dyn_cut(mem, &at, n * sizeof *model->joint);
    model->q_index = dyn_cut(mem, &at, n * sizeof *model->q_index);
    model->v_index = dyn_cut(mem, &at, n * sizeof *model->v_index);
    model->axis = dyn_cut(mem, &at, n * sizeof *model->axis);
    model->E0 = dyn_cut(mem, &at, n * sizeof *model->E0);
    model->Es = dyn_cut(mem, &at, n * sizeof *model->Es);
    model->Ec = dyn_cut(mem, &at, n * sizeof *model->Ec);
    model->origin = dyn_cut(mem, &at, n * sizeof *model->origin);
    model->slide = dyn_cut(mem, &at, n * sizeof *model->slide);
    model->inertia = dyn_cut(mem, &at, n * sizeof *model->inertia);
    model->stiffness = dyn_cut(mem, &at, n * sizeof *model->stiffness);
    model->damping = dyn_cut(mem, &at, n * sizeof *model->damping);
    model->rest = dyn_cut(mem, &at, n * sizeof *model->rest);
    model->spec = dyn_cut(mem, &at, n * sizeof *model->spec);
    return at;
}

size_t dyn_model_size(const struct dyn_body_spec *specs, int body_count)
{
    struct dyn_model probe;
    (void)specs;
    return lay_out(&probe, NULL, (size_t)body_count);
}

static int has_axis(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC;
}

/* The author's numbers are unit to six digits; the kernel wants them unit to rounding. */
static void make_unit(struct dyn_body_spec *spec)
{
    dyn_quat_store(dyn_quat_unit(dyn_quat_load(spec->place_quat)), spec->place_quat);
    if (has_axis(spec)) {
        const struct dyn_vec3 a = dyn_vec3_load(spec->axis);
        dyn_vec3_store(dyn_scale(1.0 / dyn_norm(a), a), spec->axis);
    }
}

/*
 * A turn by q about the unit axis a, seen from the turned axes, is
 *      a a' + (1 - a a') cos q - (a x) sin q
 * so with the place's rotation E on its right three constant matrices give E(q).
 */
static void place_turn(struct dyn_model *model, int i, const struct dyn_mat3 *E)
{
    const struct dyn_vec3 a = model->axis[i];
    const struct dyn_vec3 along = dyn_mul_t(E, a); /* the axis in parent axes */
    const struct dyn_mat3 turned = dyn_cross_mat3(a, E);

    model->E0[i] =
        (struct dyn_mat3){{dyn_scale(a.x, along), dyn_scale(a.y, along), dyn_scale(a.z, along)}};
    for (int k = 0; k < 3; k++) {
        model->Es[i].row[k] = dyn_scale(-1.0, turned.row[k]);
        model->Ec[i].row[k] = dyn_sub(E->row[k], model->E0[i].row[k]);
    }
}

static void place_body(struct dyn_model *model, int i)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const struct dyn_mat3 E = dyn_quat_to_child(dyn_quat_load(spec->place_quat));
    const struct dyn_sym3 Ic = dyn_sym3_load(spec->inertia);

    model->parent[i] = spec->parent;
    model->joint[i] = spec->joint;
    model->axis[i] = dyn_vec3_load(spec->axis);
    model->E0[i] = E;
    model->origin[i] = dyn_vec3_load(spec->place_xyz);
    model->inertia[i] = dyn_inertia_make(spec->mass, dyn_vec3_load(spec->center), &Ic);
    model->stiffness[i] = spec->stiffness;
    model->damping[i] = spec->damping;
    model->rest[i] = spec->rest;
    if (spec->joint == DYN_JOINT_REVOLUTE)
        place_turn(model, i, &E);
    if (spec->joint == DYN_JOINT_PRISMATIC)
        model->slide[i] = dyn_mul_t(&E, model->axis[i]);
}

struct dyn_model *dyn_model_place(const struct dyn_body_spec *specs, int body_count, void *mem)
{
    struct dyn_model *model = mem;
    memset(mem, 0, dyn_model_size(specs, body_count));
    lay_out(model, mem, (size_t)body_count);
    model->body_count = body_count;

    for (int i = 0; i < body_count; i++) {
        DYN_CHECK(specs[i].parent < i);
        model->spec[i] = specs[i];
        make_unit(&model->spec[i]);
        place_body(model, i);
        model->q_index[i] = model->nq;
        model->v_index[i] = model->nv;
        model->nq += dyn_joint_nq(specs[i].joint);
        model->nv += dyn_joint_nv(specs[i].joint);
    }
    return model;
}

int dyn_model_body_count(const struct dyn_model *model)
{
    return model->body_count;
}

int dyn_model_nq(const struct dyn_model *model)
{
    return model->nq;
}

int dyn_model_nv(const struct dyn_model *model)
{
    return model->nv;
}

int dyn_model_q_index(const struct dyn_model *model, int body)
{
    return model->q_index[body];
}

int dyn_model_v_index(const struct dyn_model *model, int body)
{
    return model->v_index[body];
}
