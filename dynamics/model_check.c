/*
 * Checks of the specs of a model, so that model_build.c may trust its input.  Tested by
 * tests/dynamics/test_model.c.
 */
#include "dynamics/check.h"
#include "dynamics/flex/flex_problem.h"
#include "dynamics/joint.h"
#include "dynamics/math/finite.h"
#include "dynamics/model.h"

#include <stdbool.h>

/* Relative slack for numbers that were typed or printed with six digits. */
static const double TYPED = 1e-6;
/* Inertia below this part of the cluster's own is rounding, not inertia. */
static const double ROUNDING = 1e-12;
/* The most bodies to visit, in all, in search of inertia that massless bodies carry. */
enum { STEPS_PER_BODY = 100 };

static bool is_spec_finite(const struct dyn_body_spec *spec)
{
    const struct dyn_geared_rotor *rotor = &spec->rotor;
    const double scalars[] = {spec->mass, rotor->ratio, rotor->inertia, spec->mimic.ratio,
                              spec->mimic.offset};
    bool good = dyn_all_finite(spec->axis, 3) && dyn_all_finite(spec->axis2, 3) &&
                dyn_all_finite(spec->place_xyz, 3) && dyn_all_finite(spec->place_quat, 4) &&
                dyn_all_finite(spec->center, 3) && dyn_all_finite(spec->inertia, 6) &&
                dyn_all_finite(scalars, 5) && dyn_all_finite(rotor->axis, 3);
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
        const struct dyn_joint_force_spec *force_spec = &spec->force_spec[k];
        const double laws[] = {force_spec->stiffness,     force_spec->rest,
                               force_spec->damping,       force_spec->coulomb,
                               force_spec->coulomb_speed, force_spec->limit_stiffness,
                               force_spec->limit_damping};
        good = good && dyn_all_finite(laws, 7) && dyn_all_finite(spec->screw[k], 6) &&
               !isnan(force_spec->lower) && !isnan(force_spec->upper);
    }
    return good;
}

static bool is_one_dof(const struct dyn_body_spec *spec)
{
    return spec->joint == DYN_JOINT_REVOLUTE || spec->joint == DYN_JOINT_PRISMATIC ||
           (spec->joint == DYN_JOINT_GENERAL && spec->screw_count == 1);
}

/* Pivots of s + slack 1, one after the other: positive definite or not, without eigenvalues. */
static bool is_sym3_positive(const struct dyn_sym3 *s, double slack)
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
    return is_sym3_positive(&second, TYPED * half);
}

static bool is_unit(const double *e, int count)
{
    double square = 0.0;
    for (int k = 0; k < count; k++)
        square += e[k] * e[k];
    return fabs(square - 1.0) <= 2.0 * TYPED;
}

static bool is_across(const double a[3], const double b[3])
{
    return fabs(dyn_dot(dyn_vec3_load(a), dyn_vec3_load(b))) <= TYPED;
}

static const char *axis_problem(const struct dyn_body_spec *spec)
{
    switch (spec->joint) {
    case DYN_JOINT_UNIVERSAL:
    case DYN_JOINT_PLANAR:
        if (!is_unit(spec->axis2, 3))
            return "the second joint axis is not a unit vector";
        if (!is_across(spec->axis, spec->axis2))
            return "the two joint axes are not at right angles";
        /* fall through */
    case DYN_JOINT_REVOLUTE:
    case DYN_JOINT_PRISMATIC:
    case DYN_JOINT_CYLINDRICAL:
        return is_unit(spec->axis, 3) ? NULL : "the joint axis is not a unit vector";
    default:
        return NULL;
    }
}

static bool is_screw(const double e[6])
{
    return is_unit(e, 3) || (e[0] == 0.0 && e[1] == 0.0 && e[2] == 0.0 && is_unit(e + 3, 3));
}

static const char *screw_problem(const struct dyn_body_spec *spec)
{
    if (spec->joint != DYN_JOINT_GENERAL)
        return NULL;
    if (spec->screw_count < 1 || spec->screw_count > DYN_JOINT_DOF_MAX)
        return "a general joint has one to six screws";
    for (int k = 0; k < spec->screw_count; k++)
        if (!is_screw(spec->screw[k]))
            return "a screw needs a unit rotation axis, or zero rotation and a unit translation";
    return NULL;
}

static bool force_spec_is_positive(const struct dyn_joint_force_spec *force_spec)
{
    return force_spec->coulomb >= 0.0 && force_spec->limit_stiffness >= 0.0 &&
           force_spec->limit_damping >= 0.0;
}

static bool has_coordinate(const struct dyn_body_spec *spec, int k)
{
    const bool quat = spec->joint == DYN_JOINT_SPHERICAL || spec->joint == DYN_JOINT_FREE;
    return !quat && k < (spec->mimic.on ? 1 : dyn_joint_nv(spec));
}

static const char *force_spec_problem(const struct dyn_body_spec *spec)
{
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
        const struct dyn_joint_force_spec *force_spec = &spec->force_spec[k];
        if (force_spec->stiffness < 0.0 || force_spec->damping < 0.0)
            return "stiffness and damping must not be negative";
        if (!force_spec_is_positive(force_spec))
            return "friction and limits must not be negative";
        if (force_spec->coulomb > 0.0 && !(force_spec->coulomb_speed > 0.0))
            return "Coulomb friction needs a positive coulomb_speed";
        if (force_spec->limit_stiffness > 0.0 && !(force_spec->lower < force_spec->upper))
            return "the lower limit must be below the upper one";
        if (!has_coordinate(spec, k) &&
            (force_spec->stiffness != 0.0 || force_spec->limit_stiffness != 0.0))
            return "a spring or limit needs a joint coordinate";
        if (k >= (spec->mimic.on ? 1 : dyn_joint_nv(spec)) &&
            (force_spec->damping != 0.0 || force_spec->coulomb != 0.0))
            return "a damper or friction needs a joint velocity";
    }
    return NULL;
}

static const char *rotor_problem(const struct dyn_body_spec *spec)
{
    const struct dyn_geared_rotor *rotor = &spec->rotor;
    if ((unsigned)rotor->terms > DYN_ROTOR_FULL)
        return "unknown rotor terms";
    if (rotor->terms == DYN_ROTOR_NONE)
        return NULL;
    if (!is_one_dof(spec))
        return "a geared rotor needs a joint with one coordinate";
    if (rotor->inertia < 0.0)
        return "the rotor's inertia is negative";
    if (rotor->terms == DYN_ROTOR_FULL && !is_unit(rotor->axis, 3))
        return "the rotor axis is not a unit vector";
    return NULL;
}

static const char *mimic_problem(const struct dyn_body_spec *specs, int body_count, int i)
{
    const struct dyn_mimic *mimic = &specs[i].mimic;
    if (!mimic->on)
        return NULL;
    if (!is_one_dof(&specs[i]))
        return "only a joint with one coordinate can mimic";
    if (mimic->leader < 0 || mimic->leader >= body_count || mimic->leader == i ||
        !is_one_dof(&specs[mimic->leader]) || specs[mimic->leader].mimic.on)
        return "a mimicking joint must name another joint with one coordinate that mimics none";
    return NULL;
}

static const char *joint_problem(const struct dyn_body_spec *spec)
{
    const char *problem = axis_problem(spec);
    if (problem == NULL)
        problem = screw_problem(spec);
    if (problem == NULL && !is_unit(spec->place_quat, 4))
        problem = "the placing quaternion is not a unit quaternion";
    if (problem == NULL)
        problem = force_spec_problem(spec);
    return problem != NULL ? problem : rotor_problem(spec);
}

static const char *body_problem(const struct dyn_body_spec *spec, int i)
{
    const struct dyn_sym3 I = dyn_sym3_load(spec->inertia);
    if (spec->parent < -1 || spec->parent >= i)
        return "a parent must come before its child";
    if ((unsigned)spec->joint > DYN_JOINT_GENERAL)
        return "unknown joint type";
    if (!is_spec_finite(spec))
        return "a number is not finite";
    if (spec->mass < 0.0)
        return "the mass is negative";
    if (!is_physical(&I))
        return "no mass distribution has this inertia (triangle inequality)";
    const char *problem = joint_problem(spec);
    return problem != NULL ? problem : dyn_flex_problem(spec);
}

/* Arbitrary coordinates from 1 to 2, so that inertia that is missing there is missing in every
 * pose: a mass on an axis in the zero pose may be off it in all others. */
static double generic_coordinate(int body, int k)
{
    const double golden = 0.6180339887498949 * (DYN_JOINT_DOF_MAX * body + k + 1);
    return 1.0 + golden - floor(golden);
}

/* How screw k of a joint moves what it carries, at such a coordinate. */
static struct dyn_pose move_screw(const struct dyn_body_spec *spec, int body, int k)
{
    const struct dyn_screw screw = dyn_joint_screw(spec, k);
    const double q = generic_coordinate(body, k);
    const struct dyn_pose identity = {.turn = {1.0, 0.0, 0.0, 0.0}};
    if (screw.kind == DYN_TREE_LINK_FIXED)
        return identity;
    if (screw.kind == DYN_TREE_LINK_SPHERICAL || screw.kind == DYN_TREE_LINK_FREE) {
        const struct dyn_vec3 travel = {q, 1.3 * q, -0.7 * q};
        return (struct dyn_pose){dyn_quat_exp((struct dyn_vec3){0.4 * q, -q, 0.6 * q}),
                                 screw.kind == DYN_TREE_LINK_FREE ? travel : identity.origin};
    }
    const double turn = screw.kind == DYN_TREE_LINK_PRISMATIC ? 0.0 : q;
    const struct dyn_pose along = {
        dyn_quat_exp((struct dyn_vec3){0.0, 0.0, turn}),
        {0.0, 0.0, screw.kind == DYN_TREE_LINK_REVOLUTE ? 0.0 : screw.pitch * q}};
    const struct dyn_pose moved = dyn_pose_mul(&screw.frame, &along);
    const struct dyn_pose back = dyn_pose_between(&screw.frame, &identity);
    return dyn_pose_mul(&moved, &back);
}

/* Where a joint has its body, seen from behind its first `from` screws. */
static struct dyn_pose move_joint(const struct dyn_body_spec *spec, int body, int from)
{
    struct dyn_pose pose = {.turn = {1.0, 0.0, 0.0, 0.0}};
    for (int k = from; k < dyn_joint_screw_count(spec); k++) {
        const struct dyn_pose screw = move_screw(spec, body, k);
        pose = dyn_pose_mul(&pose, &screw);
    }
    return pose;
}

/* The pose of body j in the frame of its ancestor i, with every joint between moved. */
static bool pose_in_ancestor(const struct dyn_body_spec *specs, int j, int i, struct dyn_pose *pose,
                             long *steps)
{
    *pose = (struct dyn_pose){.turn = {1.0, 0.0, 0.0, 0.0}};
    for (; j > i; j = specs[j].parent, --*steps) {
        struct dyn_pose place = {dyn_quat_load(specs[j].place_quat),
                                 dyn_vec3_load(specs[j].place_xyz)};
        const struct dyn_pose moved = move_joint(&specs[j], j, 0);
        if (specs[j].node > 0) {
            const struct dyn_node *node = &specs[specs[j].parent].flex->node[specs[j].node - 1];
            place.origin = dyn_add(place.origin, dyn_vec3_load(node->r));
        }
        *pose = dyn_pose_mul(&moved, pose);
        *pose = dyn_pose_mul(&place, pose);
    }
    return j == i;
}

/* Add a body at `pose`. */
static void add_body_inertia(struct dyn_inertia *sum, const struct dyn_body_spec *spec,
                             const struct dyn_pose *pose)
{
    const struct dyn_mat3 E = dyn_quat_to_child(pose->turn);
    const struct dyn_sym3 own = dyn_sym3_load(spec->inertia);
    const struct dyn_sym3 Ic = dyn_sym3_to_parent(&own, &E);
    const struct dyn_vec3 center = dyn_pose_point(pose, dyn_vec3_load(spec->center));
    const struct dyn_inertia add = dyn_inertia_make(spec->mass, center, &Ic);
    *sum = dyn_inertia_add(sum, &add);
}

/* I about the mass centre from I about the origin. */
static struct dyn_sym3 about_center(const struct dyn_inertia *J)
{
    const struct dyn_vec3 c = dyn_scale(1.0 / J->mass, J->mc);
    struct dyn_sym3 Ic = dyn_sym3_add_square(&J->I, J->mass, c);
    const double mcc = J->mass * dyn_dot(c, c);
    Ic.xx -= mcc;
    Ic.yy -= mcc;
    Ic.zz -= mcc;
    return Ic;
}

/* S' I S of one screw [turn; travel]. */
static bool screw_moves_inertia(const struct dyn_inertia *J, struct dyn_vec3 turn,
                                struct dyn_vec3 travel)
{
    const struct dyn_vec6 s = {turn, travel};
    const struct dyn_vec6 f = dyn_inertia_mul(J, &s);
    return dyn_dot6(&f, &s) > ROUNDING * dyn_sym3_trace(&J->I) * dyn_dot(turn, turn);
}

/* Whether each motion of the joint alone meets inertia, J[k] being what screw k moves; how they
 * meet it together is found when the model is tried (dyn_model_singular_joint()). */
static bool has_inertia_per_screw(const struct dyn_body_spec *spec, const struct dyn_inertia *J)
{
    const struct dyn_vec3 none = {0.0, 0.0, 0.0};
    const struct dyn_vec3 a = dyn_vec3_load(spec->axis), b = dyn_vec3_load(spec->axis2);

    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        return true;
    case DYN_JOINT_REVOLUTE:
        return spec->rotor.terms != DYN_ROTOR_NONE || screw_moves_inertia(J, a, none);
    case DYN_JOINT_PRISMATIC:
        return spec->rotor.terms != DYN_ROTOR_NONE || J->mass > 0.0;
    case DYN_JOINT_CYLINDRICAL:
        return J->mass > 0.0 && screw_moves_inertia(&J[0], a, none);
    case DYN_JOINT_PLANAR:
        return J->mass > 0.0 && screw_moves_inertia(&J[2], a, none);
    case DYN_JOINT_UNIVERSAL:
        return screw_moves_inertia(&J[0], a, none) && screw_moves_inertia(&J[1], b, none);
    case DYN_JOINT_SPHERICAL:
        return is_sym3_positive(&J->I, -ROUNDING * dyn_sym3_trace(&J->I));
    case DYN_JOINT_FREE: {
        if (!(J->mass > 0.0))
            return false;
        const struct dyn_sym3 Ic = about_center(J);
        return is_sym3_positive(&Ic, -ROUNDING * dyn_sym3_trace(&J->I));
    }
    case DYN_JOINT_GENERAL: {
        bool good = true;
        for (int k = 0; k < spec->screw_count; k++)
            good = good && screw_moves_inertia(&J[k], dyn_vec3_load(spec->screw[k]),
                                               dyn_vec3_load(spec->screw[k] + 3));
        return good;
    }
    }
    return false;
}

/* A mimicking joint, or a leader, may move inertia on another branch. */
static bool is_mimic_coupled(const struct dyn_body_spec *specs, int body_count, int i)
{
    bool coupled = specs[i].mimic.on;
    for (int j = 0; j < body_count && !coupled; j++)
        coupled = specs[j].mimic.on && specs[j].mimic.leader == i;
    return coupled;
}

/* Add a body at `pose` in the frame of body i to the inertia that each screw of i's joint
 * moves. */
static void add_carried(const struct dyn_body_spec *specs, int i, int j,
                        const struct dyn_pose *pose, struct dyn_inertia J[DYN_JOINT_DOF_MAX])
{
    for (int k = 0; k < dyn_joint_screw_count(&specs[i]); k++) {
        const struct dyn_pose behind = move_joint(&specs[i], i, k + 1);
        const struct dyn_pose at = dyn_pose_mul(&behind, pose);
        add_body_inertia(&J[k], &specs[j], &at);
    }
}

/* Does the joint of body i meet inertia in a pose like any other: in its own body, as most do, or
 * in what that carries?  Where the search grows long it is taken to, until the model is tried. */
static bool joint_moves_inertia(const struct dyn_body_spec *specs, int body_count, int i,
                                long *steps)
{
    struct dyn_inertia J[DYN_JOINT_DOF_MAX] = {0};
    struct dyn_pose pose;
    if (specs[i].joint == DYN_JOINT_FIXED)
        return true;
    for (int j = i; j < body_count && (*steps > 0 || j == i); j++) {
        if (!pose_in_ancestor(specs, j, i, &pose, steps))
            continue;
        add_carried(specs, i, j, &pose, J);
        if (has_inertia_per_screw(&specs[i], J))
            return true;
    }
    return *steps <= 0 || is_mimic_coupled(specs, body_count, i);
}

const char *dyn_model_problem(const struct dyn_body_spec *specs, int body_count, int *body)
{
    long steps = STEPS_PER_BODY * (long)body_count;
    *body = 0;
    if (body_count < 1)
        return "a model needs a body";
    for (int i = 0; i < body_count; i++) {
        const char *problem = body_problem(&specs[i], i);
        *body = i;
        if (problem == NULL)
            problem =
                dyn_node_problem(&specs[i], specs[i].parent < 0 ? NULL : &specs[specs[i].parent]);
        if (problem != NULL)
            return problem;
    }
    for (int i = 0; i < body_count; i++) {
        const char *problem = mimic_problem(specs, body_count, i);
        *body = i;
        if (problem != NULL)
            return problem;
        if (!joint_moves_inertia(specs, body_count, i, &steps))
            return "the joint carries no inertia";
    }
    return NULL;
}
