#include "tests/dynamics/oracle.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/dense.h"
#include "tests/dynamics/vec.h"

/* --- 4x4 matrices and their derivatives ---------------------------------------------------- */

struct mat4 {
    double at[4][4];
};

struct pose {
    struct mat4 T, rate, acc;
};

/* out += k a b */
static void add_product(double k, const struct mat4 *a, const struct mat4 *b, struct mat4 *out)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            for (int i = 0; i < 4; i++)
                out->at[r][c] += k * a->at[r][i] * b->at[i][c];
}

/* (AB)'' = A'' B + 2 A' B' + A B'' */
static struct pose product(const struct pose *a, const struct pose *b)
{
    struct pose out = {0};
    add_product(1.0, &a->T, &b->T, &out.T);
    add_product(1.0, &a->rate, &b->T, &out.rate);
    add_product(1.0, &a->T, &b->rate, &out.rate);
    add_product(1.0, &a->acc, &b->T, &out.acc);
    add_product(2.0, &a->rate, &b->rate, &out.acc);
    add_product(1.0, &a->T, &b->acc, &out.acc);
    return out;
}

/* [ w x  u ; 0  0 ] */
static struct mat4 hat(const double w[3], const double u[3])
{
    return (struct mat4){
        {{0, -w[2], w[1], u[0]}, {w[2], 0, -w[0], u[1]}, {-w[1], w[0], 0, u[2]}, {0, 0, 0, 0}}};
}

/* exp(S q) = 1 + S q + (1 - cos q) S^2 + (q - sin q) S^3 for a unit turn, 1 + S q for a slide;
 * x = q and its derivatives. */
static struct pose screw(const double w[3], const double u[3], const double x[3])
{
    const struct mat4 S = hat(w, u);
    struct mat4 SS = {0}, SSS = {0}, factor;
    struct pose out = {0};
    add_product(1.0, &S, &S, &SS);
    add_product(1.0, &SS, &S, &SSS);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            out.T.at[r][c] = (r == c) + S.at[r][c] * x[0] + (1.0 - cos(x[0])) * SS.at[r][c] +
                             (x[0] - sin(x[0])) * SSS.at[r][c];
            factor.at[r][c] = S.at[r][c] * x[2] + SS.at[r][c] * x[1] * x[1];
        }
    add_product(x[1], &S, &out.T, &out.rate);
    add_product(1.0, &factor, &out.T, &out.acc);
    return out;
}

static struct mat4 stand(const double quat[4], const double p[3])
{
    struct mat4 T = {.at[3][3] = 1.0};
    struct vec_mat R;
    vec_quat_matrix(quat, &R);
    for (int r = 0; r < 3; r++) {
        memcpy(T.at[r], R.row[r], sizeof R.row[r]);
        T.at[r][3] = p[r];
    }
    return T;
}

/* A joint whose velocities are its twist in body axes: T' = T V. */
static struct pose carried(struct mat4 T, struct mat4 V, struct mat4 V_rate)
{
    struct pose out = {.T = T};
    add_product(1.0, &V, &V, &V_rate);
    add_product(1.0, &T, &V, &out.rate);
    add_product(1.0, &T, &V_rate, &out.acc);
    return out;
}

/* --- joints -------------------------------------------------------------------------------- */

/* The screws of a joint whose velocities are the rates of its coordinates; how many. */
static int screws(const struct dyn_body_spec *spec, double turn[6][3], double slide[6][3])
{
    const size_t size = 3 * sizeof(double);
    memset(turn, 0, 6 * size);
    memset(slide, 0, 6 * size);
    switch (spec->joint) {
    case DYN_JOINT_REVOLUTE:
        memcpy(turn[0], spec->axis, size);
        return 1;
    case DYN_JOINT_PRISMATIC:
        memcpy(slide[0], spec->axis, size);
        return 1;
    case DYN_JOINT_CYLINDRICAL:
        memcpy(turn[0], spec->axis, size);
        memcpy(slide[1], spec->axis, size);
        return 2;
    case DYN_JOINT_UNIVERSAL:
        memcpy(turn[0], spec->axis, size);
        memcpy(turn[1], spec->axis2, size);
        return 2;
    case DYN_JOINT_PLANAR:
        memcpy(slide[0], spec->axis2, size);
        vec_cross(spec->axis, spec->axis2, slide[1]);
        memcpy(turn[2], spec->axis, size);
        return 3;
    case DYN_JOINT_GENERAL:
        for (int k = 0; k < spec->screw_count; k++) {
            memcpy(turn[k], spec->screw[k], size);
            memcpy(slide[k], spec->screw[k] + 3, size);
        }
        return spec->screw_count;
    default:
        return 0;
    }
}

static int joint_nv(const struct dyn_body_spec *spec)
{
    double turn[6][3], slide[6][3];
    return spec->joint == DYN_JOINT_FREE        ? 6
           : spec->joint == DYN_JOINT_SPHERICAL ? 3
                                                : screws(spec, turn, slide);
}

static int own_nv(const struct dyn_body_spec *spec)
{
    return spec->mimic.on ? 0 : joint_nv(spec);
}

static int own_nq(const struct dyn_body_spec *spec)
{
    const int quat = spec->joint == DYN_JOINT_FREE || spec->joint == DYN_JOINT_SPHERICAL;
    return own_nv(spec) + quat;
}

static int v_index(const struct tree *tree, int body)
{
    int at = 0;
    for (int i = 0; i < body; i++)
        at += own_nv(&tree->spec[i]);
    return at;
}

static int q_index(const struct tree *tree, int body)
{
    int at = 0;
    for (int i = 0; i < body; i++)
        at += own_nq(&tree->spec[i]);
    return at;
}

int oracle_nv(const struct tree *tree)
{
    return v_index(tree, tree->body_count);
}

/* The body whose coordinate moves the joint, with the ratio between both. */
static int leader(const struct tree *tree, int body, double *ratio, double *offset)
{
    const struct dyn_mimic *mimic = &tree->spec[body].mimic;
    *ratio = mimic->on ? mimic->ratio : 1.0;
    *offset = mimic->on ? mimic->offset : 0.0;
    return mimic->on ? mimic->leader : body;
}

static struct pose joint_pose(const struct tree *tree, int body, const double *v, const double *a)
{
    static const double origin[3];
    const struct dyn_body_spec *spec = &tree->spec[body];
    double ratio, offset, turn[6][3], slide[6][3];
    const int from = leader(tree, body, &ratio, &offset);
    const double *q = tree->q + q_index(tree, from);
    v += v_index(tree, from), a += v_index(tree, from);
    if (spec->joint == DYN_JOINT_FREE)
        return carried(stand(q + 3, q), hat(v, v + 3), hat(a, a + 3));
    if (spec->joint == DYN_JOINT_SPHERICAL)
        return carried(stand(q, origin), hat(v, origin), hat(a, origin));

    const int count = screws(spec, turn, slide);
    struct pose out = {.T.at = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    for (int k = 0; k < count; k++) {
        const double x[3] = {ratio * q[k] + offset, ratio * v[k], ratio * a[k]};
        const struct pose one = screw(turn[k], slide[k], x);
        out = product(&out, &one);
    }
    return out;
}

/* --- motion -------------------------------------------------------------------------------- */

/* R' R^T = w x,  R'' R^T = w_rate x + (w x)(w x) */
static void read_body(const struct pose *pose, struct oracle_body *body)
{
    double W[3][3] = {{0}}, A[3][3] = {{0}};
    for (int r = 0; r < 3; r++) {
        body->p[r] = pose->T.at[r][3];
        body->p_rate[r] = pose->rate.at[r][3];
        body->p_acc[r] = pose->acc.at[r][3];
        memcpy(body->R.row[r], pose->T.at[r], sizeof body->R.row[r]);
        for (int c = 0; c < 3; c++) {
            W[r][c] = vec_dot(pose->rate.at[r], pose->T.at[c]);
            A[r][c] = vec_dot(pose->acc.at[r], pose->T.at[c]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        body->w[k] = 0.5 * (W[j][i] - W[i][j]);
        body->w_rate[k] = 0.5 * (A[j][i] - A[i][j]);
    }
}

void oracle_move(const struct tree *tree, const double *v, const double *a,
                 struct oracle_body *bodies)
{
    static const double zero[TREE_NV_MAX];
    static struct pose pose[TREE_BODY_MAX];
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        const struct pose joint = joint_pose(tree, i, v ? v : zero, a ? a : zero);
        const struct pose place = {.T = stand(spec->place_quat, spec->place_xyz)};
        pose[i] = product(&place, &joint);
        if (spec->parent >= 0)
            pose[i] = product(&pose[spec->parent], &pose[i]);
        read_body(&pose[i], &bodies[i]);
    }
}

void oracle_to_world(const struct oracle_body *body, const double e[3], double out[3])
{
    vec_multiply(&body->R, e, out);
}

void oracle_inertia(const struct dyn_body_spec *spec, const struct oracle_body *body,
                    struct vec_mat *I)
{
    struct vec_mat own;
    vec_symmetric(spec->inertia, &own);
    for (int c = 0; c < 3; c++) {
        double h[3];
        vec_multiply(&own, body->R.row[c], h);
        vec_multiply(&body->R, h, I->row[c]);
    }
}

/* --- virtual power ------------------------------------------------------------------------- */

/* What a body and the rotor of its joint ask for: a moment on the body, a force on its mass
 * centre, a moment on the parent, and a force along the joint. */
struct demand {
    double moment[3], force[3], parent_moment[3], along;
};

/* column[k][i]: how body i moves with velocity k. */
static struct oracle_body column[TREE_NV_MAX][TREE_BODY_MAX];

static void take_columns(const struct tree *tree)
{
    double unit[TREE_NV_MAX] = {0};
    for (int k = 0; k < oracle_nv(tree); k++) {
        unit[k] = 1.0;
        oracle_move(tree, unit, NULL, column[k]);
        unit[k] = 0.0;
    }
}

static void body_demand(const struct dyn_body_spec *spec, const struct oracle_body *body,
                        const double gravity[3], struct demand *demand)
{
    struct vec_mat I;
    double c[3], h[3], turned[3], inward[3], spun[3];
    oracle_inertia(spec, body, &I);
    oracle_to_world(body, spec->center, c);
    vec_multiply(&I, body->w, h);
    vec_cross(body->w, h, spun);
    vec_multiply(&I, body->w_rate, h);
    vec_cross(body->w_rate, c, turned);
    vec_cross(body->w, c, inward);
    vec_cross(body->w, inward, inward);
    for (int k = 0; k < 3; k++) {
        demand->moment[k] = h[k] + spun[k];
        demand->force[k] = spec->mass * (body->p_acc[k] + turned[k] + inward[k] - gravity[k]);
    }
}

/* The rotor turns ratio times as fast as the joint, about e on the parent, beyond what the parent
 * carries of it:  momentum J ratio v e,  along the joint ratio J (ratio a + e.w_rate). */
static void rotor_demand(const struct dyn_geared_rotor *rotor, const struct oracle_body *parent,
                         double v, double a, struct demand *demand)
{
    const double muJ = rotor->ratio * rotor->inertia;
    demand->along = muJ * rotor->ratio * a;
    if (rotor->terms == DYN_ROTOR_DIAGONAL || parent == NULL)
        return;
    double e[3], turned[3];
    oracle_to_world(parent, rotor->axis, e);
    vec_cross(parent->w, e, turned);
    demand->along += muJ * vec_dot(e, parent->w_rate);
    for (int k = 0; k < 3; k++)
        demand->parent_moment[k] = muJ * (a * e[k] + v * turned[k]);
}

static void take_demand(const struct tree *tree, const struct oracle_body *moved, const double *v,
                        const double *a, const double gravity[3], struct demand *demands)
{
    memset(demands, 0, (size_t)tree->body_count * sizeof *demands);
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        double ratio, offset;
        body_demand(spec, &moved[i], gravity, &demands[i]);
        if (spec->rotor.terms == DYN_ROTOR_NONE)
            continue;
        const int at = v_index(tree, leader(tree, i, &ratio, &offset));
        rotor_demand(&spec->rotor, spec->parent < 0 ? NULL : &moved[spec->parent], ratio * v[at],
                     ratio * a[at], &demands[i]);
    }
}

static double power(const struct tree *tree, int k, const struct demand *demands)
{
    double sum = 0.0;
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        const struct oracle_body *body = &column[k][i];
        double c[3], turned[3], ratio, offset;
        oracle_to_world(body, spec->center, c);
        vec_cross(body->w, c, turned);
        sum += vec_dot(body->w, demands[i].moment);
        sum += vec_dot(body->p_rate, demands[i].force) + vec_dot(turned, demands[i].force);
        if (spec->parent >= 0)
            sum += vec_dot(column[k][spec->parent].w, demands[i].parent_moment);
        if (demands[i].along != 0.0 && k == v_index(tree, leader(tree, i, &ratio, &offset)))
            sum += ratio * demands[i].along;
    }
    return sum;
}

static struct oracle_body moving[TREE_BODY_MAX];
static struct demand demanded[TREE_BODY_MAX];

void oracle_inverse(const struct tree *tree, const double *a, double *tau)
{
    take_columns(tree);
    oracle_move(tree, tree->v, a, moving);
    take_demand(tree, moving, tree->v, a, tree->gravity, demanded);
    for (int k = 0; k < oracle_nv(tree); k++)
        tau[k] = power(tree, k, demanded);
}

void oracle_mass(const struct tree *tree, double *M)
{
    static const double zero[TREE_NV_MAX];
    double unit[TREE_NV_MAX] = {0};
    const int nv = oracle_nv(tree);
    take_columns(tree);
    for (int c = 0; c < nv; c++) {
        unit[c] = 1.0;
        oracle_move(tree, NULL, unit, moving);
        take_demand(tree, moving, zero, unit, zero, demanded);
        unit[c] = 0.0;
        for (int r = 0; r < nv; r++)
            M[r * nv + c] = power(tree, r, demanded);
    }
}

void oracle_forward(const struct tree *tree, double *a)
{
    static double flat[TREE_NV_MAX * TREE_NV_MAX], M[TREE_NV_MAX][TREE_NV_MAX];
    static const double zero[TREE_NV_MAX];
    double bias[TREE_NV_MAX];
    const int nv = oracle_nv(tree);
    oracle_mass(tree, flat);
    oracle_inverse(tree, zero, bias);
    for (int r = 0; r < nv; r++) {
        memcpy(M[r], flat + r * nv, (size_t)nv * sizeof(double));
        a[r] = tree->tau[r] - bias[r];
    }
    dense_solve(nv, M, a, 1);
}

/* --- energy -------------------------------------------------------------------------------- */

static double body_kinetic(const struct dyn_body_spec *spec, const struct oracle_body *body)
{
    struct vec_mat I;
    double c[3], h[3], turned[3];
    oracle_inertia(spec, body, &I);
    oracle_to_world(body, spec->center, c);
    vec_multiply(&I, body->w, h);
    vec_cross(body->w, c, turned);
    for (int k = 0; k < 3; k++)
        turned[k] += body->p_rate[k];
    return 0.5 * vec_dot(body->w, h) + 0.5 * spec->mass * vec_dot(turned, turned);
}

/* mu^2 J v^2 / 2, and mu J v (w.e) of the parent's turning. */
static double rotor_kinetic(const struct dyn_geared_rotor *rotor, const struct oracle_body *parent,
                            double v)
{
    const double muJ = rotor->ratio * rotor->inertia;
    double e[3], sum = 0.5 * muJ * rotor->ratio * v * v;
    if (rotor->terms == DYN_ROTOR_FULL && parent != NULL) {
        oracle_to_world(parent, rotor->axis, e);
        sum += muJ * v * vec_dot(parent->w, e);
    }
    return sum;
}

double oracle_kinetic(const struct tree *tree)
{
    double sum = 0.0;
    oracle_move(tree, tree->v, NULL, moving);
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        double ratio, offset;
        sum += body_kinetic(spec, &moving[i]);
        if (spec->rotor.terms == DYN_ROTOR_NONE)
            continue;
        const double v = tree->v[v_index(tree, leader(tree, i, &ratio, &offset))];
        sum +=
            rotor_kinetic(&spec->rotor, spec->parent < 0 ? NULL : &moving[spec->parent], ratio * v);
    }
    return sum;
}

double oracle_potential(const struct tree *tree)
{
    double sum = 0.0;
    oracle_move(tree, NULL, NULL, moving);
    for (int i = 0; i < tree->body_count; i++) {
        double c[3];
        oracle_to_world(&moving[i], tree->spec[i].center, c);
        sum -=
            tree->spec[i].mass * (vec_dot(tree->gravity, moving[i].p) + vec_dot(tree->gravity, c));
    }
    return sum;
}
