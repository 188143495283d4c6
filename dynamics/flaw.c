/*
 * What a model's author can get wrong.  Kept apart from model.c, which may then trust its input.
 */
#include "dynamics/check.h"
#include "dynamics/model.h"

#include <float.h>
#include <stdbool.h>

/* Relative slack for numbers that were typed or printed with six digits. */
static const double TYPED = 1e-6;
/* Inertia below this part of the cluster's own is rounding, not inertia. */
static const double ROUNDING = 1e-12;

static bool all_finite(const double *e, int count)
{
    bool good = true;
    for (int k = 0; k < count; k++)
        good = good && fabs(e[k]) <= DBL_MAX;
    return good;
}

static bool is_finite(const struct dyn_body_spec *spec)
{
    const double scalars[] = {spec->mass, spec->stiffness, spec->damping, spec->rest};
    return all_finite(spec->axis, 3) && all_finite(spec->place_xyz, 3) &&
           all_finite(spec->place_quat, 4) && all_finite(spec->center, 3) &&
           all_finite(spec->inertia, 6) && all_finite(scalars, 4);
}

static bool is_one_dof(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC;
}

/* Pivots of s + slack 1, one after the other: positive definite or not, without eigenvalues. */
static bool is_positive(const struct dyn_sym3 *s, double slack)
{
    const double a = s->xx + slack;
    if (!(a > 0.0))
        return false;
    const double l = s->xy / a, k = s->xz / a;
    const double b = s->yy + slack - l * s->xy;
    if (!(b > 0.0))
        return false;
    const double yz = s->yz - l * s->xz;
    return s->zz + slack - k * s->xz - yz * yz / b > 0.0;
}

/*
 * Principal moments are those of a real mass distribution when each is at most the sum of the
 * others, that is when tr(I)/2 1 - I, the second moment of mass, is positive semidefinite.
 */
static bool is_physical(const struct dyn_sym3 *I)
{
    const double half = 0.5 * dyn_sym3_trace(I);
    const struct dyn_sym3 second = {half - I->xx, half - I->yy, half - I->zz,
                                    -I->xy,       -I->xz,       -I->yz};
    if (half == 0.0)
        return I->xx == 0.0 && I->yy == 0.0 && I->zz == 0.0 && I->xy == 0.0 && I->xz == 0.0 &&
               I->yz == 0.0;
    return is_positive(&second, TYPED * half);
}

static bool is_unit(const double *e, int count)
{
    double square = 0.0;
    for (int k = 0; k < count; k++)
        square += e[k] * e[k];
    return fabs(square - 1.0) <= 2.0 * TYPED;
}

static bool is_identity(const struct dyn_body_spec *spec)
{
    const double *p = spec->place_xyz, *q = spec->place_quat;
    return p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

static const char *joint_flaw(const struct dyn_body_spec *spec)
{
    if (is_one_dof(spec) && !is_unit(spec->axis, 3))
        return "the joint axis is not a unit vector";
    if (!is_unit(spec->place_quat, 4))
        return "the placing quaternion is not a unit quaternion";
    if (spec->joint == DYN_JOINT_FREE && spec->parent != -1)
        return "a free joint must hang on the world";
    if (spec->joint == DYN_JOINT_FREE && !is_identity(spec))
        return "a free joint has no place: its pose is its coordinates";
    if (spec->stiffness < 0.0 || spec->damping < 0.0)
        return "stiffness and damping must not be negative";
    if (!is_one_dof(spec) && (spec->stiffness != 0.0 || spec->damping != 0.0))
        return "a spring or damper needs a joint with one coordinate";
    return NULL;
}

static const char *body_flaw(const struct dyn_body_spec *spec, int i)
{
    const struct dyn_sym3 I = dyn_sym3_load(spec->inertia);
    if (spec->parent < -1 || spec->parent >= i)
        return "a parent must come before its child";
    if ((unsigned)spec->joint > DYN_JOINT_FREE)
        return "unknown joint type";
    if (!is_finite(spec))
        return "a number is not finite";
    if (spec->mass < 0.0)
        return "the mass is negative";
    if (!is_physical(&I))
        return "no mass distribution has this inertia (triangle inequality)";
    return joint_flaw(spec);
}

/* Add what body j carries to the inertia of the body i, to which it is fixed through `pose`. */
static void add_fixed(struct dyn_inertia *sum, const struct dyn_body_spec *spec,
                      const struct dyn_pose *pose)
{
    const struct dyn_mat3 E = dyn_quat_to_child(pose->turn);
    const struct dyn_sym3 own = dyn_sym3_load(spec->inertia);
    const struct dyn_sym3 Ic = dyn_sym3_to_parent(&own, &E);
    const struct dyn_vec3 center = dyn_pose_point(pose, dyn_vec3_load(spec->center));
    const struct dyn_inertia add = dyn_inertia_make(spec->mass, center, &Ic);
    sum->mass += add.mass;
    sum->mc = dyn_add(sum->mc, add.mc);
    sum->I = dyn_sym3_add(&sum->I, &add.I);
}

/* Body i and all that is bolted to it, about its origin. */
static struct dyn_inertia cluster(const struct dyn_body_spec *specs, int body_count, int i)
{
    struct dyn_inertia sum = {0};
    for (int j = i; j < body_count; j++) {
        struct dyn_pose pose = {.turn = {1.0, 0.0, 0.0, 0.0}};
        int k = j;
        for (; k > i && specs[k].joint == DYN_JOINT_FIXED; k = specs[k].parent) {
            const struct dyn_pose place = {dyn_quat_load(specs[k].place_quat),
                                           dyn_vec3_load(specs[k].place_xyz)};
            pose = dyn_pose_mul(&place, &pose);
        }
        if (k == i)
            add_fixed(&sum, &specs[j], &pose);
    }
    return sum;
}

/* I about the mass centre from I about the origin. */
static struct dyn_sym3 central(const struct dyn_inertia *J)
{
    const struct dyn_vec3 c = dyn_scale(1.0 / J->mass, J->mc);
    struct dyn_sym3 Ic = dyn_sym3_add_square(&J->I, J->mass, c);
    const double mcc = J->mass * dyn_dot(c, c);
    Ic.xx -= mcc;
    Ic.yy -= mcc;
    Ic.zz -= mcc;
    return Ic;
}

static bool carries(const struct dyn_body_spec *spec, const struct dyn_inertia *J)
{
    const struct dyn_vec3 a = dyn_vec3_load(spec->axis);
    const double least = ROUNDING * dyn_sym3_trace(&J->I);

    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        return true;
    case DYN_JOINT_REVOLUTE:
        return dyn_dot(a, dyn_sym3_mul(&J->I, a)) > least;
    case DYN_JOINT_PRISMATIC:
        return J->mass > 0.0;
    case DYN_JOINT_FREE: {
        if (!(J->mass > 0.0))
            return false;
        const struct dyn_sym3 Ic = central(J);
        return is_positive(&Ic, -least);
    }
    }
    return false;
}

static const char *tree_flaw(const struct dyn_body_spec *specs, int body_count, int *body)
{
    for (int i = 0; i < body_count; i++) {
        if (specs[i].joint == DYN_JOINT_FIXED)
            continue;
        const struct dyn_inertia J = cluster(specs, body_count, i);
        *body = i;
        if (!carries(&specs[i], &J))
            return "the joint carries no inertia";
    }
    return NULL;
}

const char *dyn_model_flaw(const struct dyn_body_spec *specs, int body_count, int *body)
{
    *body = 0;
    if (body_count < 1)
        return "a model needs a body";
    for (int i = 0; i < body_count; i++) {
        const char *flaw = body_flaw(&specs[i], i);
        *body = i;
        if (flaw != NULL)
            return flaw;
    }
    return tree_flaw(specs, body_count, body);
}
