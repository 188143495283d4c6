/*
 * Flexible trees as clouds of particles.
 *
 * Every mass is a point, its place in the world an explicit function of the coordinates, and time
 * derivatives are exact (jet.h).  With J the columns of a point's velocity,
 *
 *      sum_points m J' (J a + J_rate v - g)  =  tau - K eta - C xi + sum_loads J' f
 *
 * This is exact for `inconsistent`, and for `consistent` where only nodes have a psi2.  For
 * `ruthless` the same holds, by its definition, with points that neither eta nor its rate have
 * moved; a node stands where it stood too, moves with eta's rate and accelerates with eta'', and
 * lacks what the body's turning does to the first.  `consistent` drops what is of second order in
 * eta and its rate.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/flex_tree.h"
#include "tests/dynamics/jet.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

enum { POINTS_MAX = FLEX_TREE_MAX * 24, NV_MAX = 80, TREES = 120 };

static struct flex_tree flex;

void setUp(void)
{
}

void tearDown(void)
{
}

struct jet3 {
    struct jet e[3];
};

struct pose {
    struct jet R[3][3]; /* to world axes */
    struct jet3 p;
};

struct point {
    struct jet3 x;
    double mass, force[3];
};

/* Where everything is, and how it moves with velocity v and acceleration a. */
struct cloud {
    const double *v, *a;
    enum dyn_fidelity fidelity;
    int count;
    struct point point[POINTS_MAX];
    struct pose body[FLEX_TREE_MAX], node[FLEX_TREE_MAX][LUMPS_NODES_MAX];
};

static struct jet3 seen(const struct pose *pose, const struct jet3 *x)
{
    struct jet3 out = pose->p;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.e[i] = jet_add(out.e[i], jet_mul(pose->R[i][j], x->e[j]));
    return out;
}

static struct jet3 fixed_point(const double r[3])
{
    return (struct jet3){{jet_constant(r[0]), jet_constant(r[1]), jet_constant(r[2])}};
}

static struct pose after(const struct pose *first, const struct pose *then)
{
    struct pose out = {.p = seen(first, &then->p)};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                out.R[i][k] = jet_add(out.R[i][k], jet_mul(first->R[i][j], then->R[j][k]));
    return out;
}

/* The rotation of a quaternion of any length. */
static void turn_by_quaternion(const struct jet q[4], struct jet R[3][3])
{
    struct jet n = jet_constant(0.0);
    for (int i = 0; i < 4; i++)
        n = jet_add(n, jet_mul(q[i], q[i]));
    const struct jet two = jet_scale(2.0, jet_inverse(n));
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const struct jet *u = q + 1, across = jet_mul(u[i], u[j]), along = jet_mul(q[0], u[k]);
        const struct jet square = jet_add(jet_mul(u[j], u[j]), jet_mul(u[k], u[k]));
        R[i][i] = jet_sub(jet_constant(1.0), jet_mul(two, square));
        R[i][j] = jet_mul(two, jet_sub(across, along));
        R[j][i] = jet_mul(two, jet_add(across, along));
    }
}

static void turn_constant(const double q[4], struct jet R[3][3])
{
    const struct jet j[4] = {jet_constant(q[0]), jet_constant(q[1]), jet_constant(q[2]),
                             jet_constant(q[3])};
    turn_by_quaternion(j, R);
}

/* Angular velocity in turning axes: R_rate = R (w x), R_rate_rate = R ((w x)^2 + (w_rate x)). */
static void spin(const double w[3], const double w_rate[3], struct jet R[3][3])
{
    for (int i = 0; i < 3; i++) {
        const double row[3] = {R[i][0].x, R[i][1].x, R[i][2].x};
        double d[3], dd[3], swept[3];
        vec_cross(row, w, d); /* (row (w x))_j = (row x w)_j */
        vec_cross(d, w, dd);
        vec_cross(row, w_rate, swept);
        for (int j = 0; j < 3; j++)
            R[i][j] = (struct jet){row[j], d[j], dd[j] + swept[j]};
    }
}

static void turn_about(const double axis[3], struct jet angle, struct jet R[3][3])
{
    const struct jet s = jet_sin(jet_scale(0.5, angle));
    const struct jet q[4] = {jet_cos(jet_scale(0.5, angle)), jet_scale(axis[0], s),
                             jet_scale(axis[1], s), jet_scale(axis[2], s)};
    turn_by_quaternion(q, R);
}

static struct pose stand(void)
{
    static const double upright[4] = {1.0, 0.0, 0.0, 0.0}, nowhere[3];
    struct pose out = {.p = fixed_point(nowhere)};
    turn_constant(upright, out.R);
    return out;
}

static struct pose slide(const double axis[3], struct jet travel)
{
    struct pose out = stand();
    for (int i = 0; i < 3; i++)
        out.p.e[i] = jet_scale(axis[i], travel);
    return out;
}

static struct pose hinge(const double axis[3], struct jet angle)
{
    struct pose out = stand();
    turn_about(axis, angle, out.R);
    return out;
}

/* [turn; travel at the origin]: a hinge about the point turn x travel, and a slide along it. */
static struct pose screw_pose(const double screw[6], struct jet q)
{
    double center[3], back[3];
    if (vec_dot(screw, screw) == 0.0)
        return slide(screw + 3, q);
    vec_cross(screw, screw + 3, center);
    for (int i = 0; i < 3; i++)
        back[i] = -center[i];
    const struct pose to = slide(center, jet_constant(1.0)), turn = hinge(screw, q);
    const struct pose from = slide(back, jet_constant(1.0));
    const struct pose along = slide(screw, jet_scale(vec_dot(screw, screw + 3), q));
    struct pose out = after(&to, &turn);
    out = after(&out, &from);
    return after(&out, &along);
}

/* The speed in body axes is turned as the body turns. */
static struct pose float_free(const double *q, const double *v, const double *a)
{
    struct pose out = stand();
    turn_constant(q + 3, out.R);
    spin(v, a, out.R);
    for (int i = 0; i < 3; i++) {
        out.p.e[i] = jet_constant(q[i]);
        for (int j = 0; j < 3; j++) {
            out.p.e[i].d += out.R[i][j].x * v[3 + j];
            out.p.e[i].dd += out.R[i][j].d * v[3 + j] + out.R[i][j].x * a[3 + j];
        }
    }
    return out;
}

static struct pose planar_pose(const struct dyn_body_spec *spec, const struct jet q[3])
{
    double across[3];
    vec_cross(spec->axis, spec->axis2, across);
    const struct pose x = slide(spec->axis2, q[0]), y = slide(across, q[1]);
    const struct pose turn = hinge(spec->axis, q[2]), both = after(&x, &y);
    return after(&both, &turn);
}

static struct pose general_pose(const struct dyn_body_spec *spec, const struct jet *q)
{
    struct pose out = stand();
    for (int k = 0; k < spec->screw_count; k++) {
        const struct pose screw = screw_pose(spec->screw[k], q[k]);
        out = after(&out, &screw);
    }
    return out;
}

static struct pose two_poses(struct pose first, struct pose then)
{
    return after(&first, &then);
}

/* As dynamics/model.h defines it. */
static struct pose joint_pose(const struct dyn_body_spec *spec, const double *q, const double *v,
                              const double *a)
{
    struct jet j[6] = {0};
    struct pose out = stand();
    for (int k = 0; k < dyn_joint_nv(spec); k++)
        j[k] = (struct jet){q[k], v[k], a[k]};
    switch (spec->joint) {
    case DYN_JOINT_REVOLUTE:
        return hinge(spec->axis, j[0]);
    case DYN_JOINT_PRISMATIC:
        return slide(spec->axis, j[0]);
    case DYN_JOINT_CYLINDRICAL:
        return two_poses(hinge(spec->axis, j[0]), slide(spec->axis, j[1]));
    case DYN_JOINT_UNIVERSAL:
        return two_poses(hinge(spec->axis, j[0]), hinge(spec->axis2, j[1]));
    case DYN_JOINT_PLANAR:
        return planar_pose(spec, j);
    case DYN_JOINT_GENERAL:
        return general_pose(spec, j);
    case DYN_JOINT_FREE:
        return float_free(q, v, a);
    case DYN_JOINT_SPHERICAL:
        turn_constant(q, out.R);
        spin(v, a, out.R);
        return out;
    case DYN_JOINT_FIXED:
        break;
    }
    return out;
}

/* first + sum rows_p eta_p + 1/2 sum rows2_pq eta_p eta_q */
static struct jet3 deformed(const double first[3], const double *rows, const double *rows2,
                            int modes, const struct jet *eta)
{
    struct jet3 x = fixed_point(first);
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < modes; p++) {
            struct jet slope = jet_constant(rows[3 * p + i]);
            for (int q = 0; rows2 != NULL && q < modes; q++)
                slope = jet_add(slope, jet_scale(0.5 * rows2[3 * (p * modes + q) + i], eta[q]));
            x.e[i] = jet_add(x.e[i], jet_mul(slope, eta[p]));
        }
    return x;
}

/* Place r + u, turn by the Gibbs vector theta / 2. */
static struct pose node_pose(const struct lumps *lumps, const struct lump *node, int second,
                             const struct jet *eta)
{
    static const double nowhere[3];
    struct pose out = {
        .p = deformed(node->r, node->psi, second ? node->psi2 : NULL, lumps->modes, eta)};
    const struct jet3 turn =
        deformed(nowhere, node->theta, second ? node->theta2 : NULL, lumps->modes, eta);
    const struct jet q[4] = {jet_constant(1.0), jet_scale(0.5, turn.e[0]),
                             jet_scale(0.5, turn.e[1]), jet_scale(0.5, turn.e[2])};
    turn_by_quaternion(q, out.R);
    return out;
}

/* The axial vector of A R', where A is a derivative of the rotation R: of the skew part. */
static void axial(const struct pose *pose, int second, double out[3])
{
    double B[3][3] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                B[i][j] += (second ? pose->R[i][k].dd : pose->R[i][k].d) * pose->R[j][k].x;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = 0.5 * (B[k][j] - B[j][k]);
    }
}

/* The same rotation, with another angular velocity and acceleration, in world axes. */
static void move_axes(const double w[3], const double w_rate[3], struct jet R[3][3])
{
    for (int k = 0; k < 3; k++) {
        const double column[3] = {R[0][k].x, R[1][k].x, R[2][k].x};
        double d[3], dd[3], swept[3];
        vec_cross(w, column, d);
        vec_cross(w, d, dd);
        vec_cross(w_rate, column, swept);
        for (int i = 0; i < 3; i++)
            R[i][k] = (struct jet){column[i], d[i], dd[i] + swept[i]};
    }
}

/* A node of a ruthless body: as a place of its frame moves, and what eta's rate and eta'' add. */
static struct pose ruthless_node(const struct pose *body, const struct lumps *lumps,
                                 const struct lump *node, const double *xi, const double *eta_aa)
{
    struct pose out = stand();
    double w[3], w_rate[3];
    out.p = fixed_point(node->r);
    out = after(body, &out);
    axial(body, 0, w);
    axial(body, 1, w_rate);
    for (int p = 0; p < lumps->modes; p++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double psi = body->R[i][j].x * node->psi[3 * p + j];
                const double theta = body->R[i][j].x * node->theta[3 * p + j];
                out.p.e[i].d += psi * xi[p];
                out.p.e[i].dd += psi * eta_aa[p];
                w[i] += theta * xi[p];
                w_rate[i] += theta * eta_aa[p];
            }
    move_axes(w, w_rate, out.R);
    return out;
}

static void add_point(struct cloud *cloud, const struct jet3 *x, double mass, const double force[3])
{
    TEST_ASSERT_LESS_THAN_INT(POINTS_MAX, cloud->count);
    struct point *point = &cloud->point[cloud->count++];
    *point = (struct point){.x = *x, .mass = mass};
    memcpy(point->force, force, sizeof point->force);
}

/* A force in body axes on a point of the body's frame. */
static void add_force(struct cloud *cloud, const struct pose *pose, const double at[3],
                      const double force[3])
{
    const struct jet3 on_body = fixed_point(at), x = seen(pose, &on_body);
    double world[3];
    for (int i = 0; i < 3; i++)
        world[i] =
            pose->R[i][0].x * force[0] + pose->R[i][1].x * force[1] + pose->R[i][2].x * force[2];
    add_point(cloud, &x, 0.0, world);
}

/* A load, its moment as three couples of unit arm. */
static void add_load(struct cloud *cloud, const struct pose *pose, const struct dyn_load *load)
{
    add_force(cloud, pose, load->at, load->force);
    for (int i = 0; i < 3; i++) {
        double arm[3] = {0}, force[3] = {0};
        arm[(i + 1) % 3] = 0.5;
        force[(i + 2) % 3] = load->moment[i];
        add_force(cloud, pose, arm, force);
        arm[(i + 1) % 3] = -0.5;
        force[(i + 2) % 3] = -load->moment[i];
        add_force(cloud, pose, arm, force);
    }
}

static void take_eta(const struct cloud *cloud, int body, struct jet *eta)
{
    const struct dyn_model *model = flex.tree.model;
    const int moved = cloud->fidelity != DYN_FLEX_RUTHLESS;
    const double *q = flex.tree.q + dyn_model_eta_index(model, body);
    const int v_at = dyn_model_xi_index(model, body);
    for (int p = 0; p < flex.lumps[body].modes; p++)
        eta[p] = (struct jet){moved * q[p], moved * cloud->v[v_at + p], cloud->a[v_at + p]};
}

static void move_body(struct cloud *cloud, int i)
{
    static const double no_force[3];
    const struct dyn_body_spec *spec = &flex.tree.spec[i];
    const struct dyn_model *model = flex.tree.model;
    const struct lumps *lumps = &flex.lumps[i];
    const int v_at = dyn_model_v_index(model, i), xi_at = dyn_model_xi_index(model, i);
    const int second = cloud->fidelity == DYN_FLEX_CONSISTENT;
    struct pose place = {.p = fixed_point(spec->place_xyz)};
    turn_constant(spec->place_quat, place.R);
    const struct pose joint = joint_pose(spec, flex.tree.q + dyn_model_q_index(model, i),
                                         cloud->v + v_at, cloud->a + v_at);
    struct jet eta[LUMPS_MODES_MAX];

    cloud->body[i] = after(&place, &joint);
    if (spec->parent >= 0)
        cloud->body[i] = after(spec->node > 0 ? &cloud->node[spec->parent][spec->node - 1]
                                              : &cloud->body[spec->parent],
                               &cloud->body[i]);
    take_eta(cloud, i, eta);
    for (int k = 0; k < lumps->nodes; k++) {
        const struct pose node = node_pose(lumps, &lumps->node[k], second, eta);
        cloud->node[i][k] = cloud->fidelity == DYN_FLEX_RUTHLESS
                                ? ruthless_node(&cloud->body[i], lumps, &lumps->node[k],
                                                cloud->v + xi_at, cloud->a + xi_at)
                                : after(&cloud->body[i], &node);
    }
    for (int k = 0; k < lumps->count; k++) {
        const struct lump *lump = &lumps->lump[k];
        const struct jet3 on_body =
            deformed(lump->r, lump->psi, second ? lump->psi2 : NULL, lumps->modes, eta);
        const struct jet3 x = seen(&cloud->body[i], &on_body);
        add_point(cloud, &x, lump->mass, no_force);
    }
    add_load(cloud, &cloud->body[i], &flex.tree.load[i]);
}

static void move_cloud(struct cloud *cloud, enum dyn_fidelity fidelity, const double *v,
                       const double *a)
{
    *cloud = (struct cloud){.v = v, .a = a, .fidelity = fidelity};
    for (int i = 0; i < flex.tree.body_count; i++)
        move_body(cloud, i);
}

static const double zero[NV_MAX];

/* The motion equation M a = rhs of the particles, and the size of the terms of each row. */
struct equation {
    int n;
    double M[NV_MAX * NV_MAX], rhs[NV_MAX], size[NV_MAX];
};

static void add_springs(struct equation *eq)
{
    for (int i = 0; i < flex.tree.body_count; i++) {
        const struct lumps *lumps = &flex.lumps[i];
        const double *eta = flex.tree.q + dyn_model_eta_index(flex.tree.model, i);
        const int at = dyn_model_xi_index(flex.tree.model, i);
        for (int pq = 0; pq < lumps->modes * lumps->modes; pq++) {
            const int p = pq / lumps->modes, q = pq % lumps->modes;
            const double f = lumps->K[pq] * eta[q] + lumps->C[pq] * flex.tree.v[at + q];
            eq->rhs[at + p] -= f;
            eq->size[at + p] += fabs(f);
        }
    }
}

static void write_equation(enum dyn_fidelity fidelity, struct equation *eq)
{
    static struct cloud bias, unit;
    static double J[NV_MAX][POINTS_MAX][3];
    memset(eq, 0, sizeof *eq);
    eq->n = dyn_model_nv(flex.tree.model);
    TEST_ASSERT_LESS_OR_EQUAL_INT(NV_MAX, eq->n);
    move_cloud(&bias, fidelity, flex.tree.v, zero);
    for (int j = 0; j < eq->n; j++) {
        double one[NV_MAX] = {0};
        one[j] = 1.0;
        move_cloud(&unit, fidelity, zero, one);
        eq->rhs[j] = flex.tree.tau[j];
        for (int k = 0; k < unit.count; k++)
            for (int i = 0; i < 3; i++) {
                const struct point *point = &bias.point[k];
                const double f =
                    point->force[i] + point->mass * (flex.tree.gravity[i] - point->x.e[i].dd);
                J[j][k][i] = unit.point[k].x.e[i].dd;
                eq->rhs[j] += J[j][k][i] * f;
                eq->size[j] += fabs(J[j][k][i] * f);
            }
    }
    for (int ij = 0; ij < eq->n * eq->n; ij++)
        for (int k = 0; k < bias.count; k++)
            eq->M[ij] += bias.point[k].mass * vec_dot(J[ij / eq->n][k], J[ij % eq->n][k]);
    add_springs(eq);
}

/* What is left of the equation with the kernel's accelerations, of the size of its terms. */
static double residual(const struct equation *eq)
{
    double worst = 0.0;
    for (int i = 0; i < eq->n; i++) {
        double left = -eq->rhs[i], size = eq->size[i];
        for (int j = 0; j < eq->n; j++) {
            left += eq->M[i * eq->n + j] * flex.tree.a[j];
            size += fabs(eq->M[i * eq->n + j] * flex.tree.a[j]);
        }
        worst = fmax(worst, fabs(left) / size);
    }
    return worst;
}

/* The particles of bodies draw nothing in, those of what nodes carry still do. */
static void straighten(void)
{
    for (int i = 0; i < flex.tree.body_count; i++)
        for (int k = 0; k < flex.lumps[i].count; k++)
            memset(flex.lumps[i].lump[k].psi2, 0, sizeof flex.lumps[i].lump[k].psi2);
    flex_tree_rebuild(&flex, DYN_FLEX_CONSISTENT);
}

/* What sits on a node goes along with its rate, which the particles of `ruthless` do not. */
static void hold_nodes(void)
{
    for (int i = 0; i < flex.tree.body_count; i++)
        for (int p = 0; flex.lumps[i].nodes > 0 && p < flex.lumps[i].modes; p++)
            flex.tree.v[dyn_model_xi_index(flex.tree.model, i) + p] = 0.0;
}

static void use_some_isa(uint64_t seed)
{
    const enum dyn_isa isa = (enum dyn_isa)(seed % 3);
    if (dyn_isa_runs(isa))
        dyn_model_use_isa((struct dyn_model *)flex.tree.model_mem, isa);
}

static void expect_exact(enum dyn_fidelity fidelity, const char *name)
{
    static struct equation eq;
    double worst = 0.0;
    int widest = 0;
    for (uint64_t seed = 0; seed < TREES; seed++) {
        flex_tree_random(&flex, 1 + (int)seed % FLEX_TREE_MAX, fidelity, 0.5, seed);
        if (fidelity == DYN_FLEX_CONSISTENT)
            straighten();
        if (fidelity == DYN_FLEX_RUTHLESS)
            hold_nodes();
        use_some_isa(seed);
        flex_tree_forward(&flex);
        write_equation(fidelity, &eq);
        const double left = residual(&eq);
        worst = fmax(worst, isfinite(left) ? left : HUGE_VAL);
        widest = eq.n > widest ? eq.n : widest;
    }
    printf("%s: %d trees of up to %d velocities, residual %.2g\n", name, TREES, widest, worst);
    TEST_ASSERT_TRUE(worst < 1e-12);
}

static void test_without_psi2_the_kernel_moves_as_the_particles_do(void)
{
    expect_exact(DYN_FLEX_INCONSISTENT, "inconsistent");
}

static void test_what_nodes_carry_moves_as_the_particles_do(void)
{
    expect_exact(DYN_FLEX_CONSISTENT, "consistent, psi2 of nodes only");
}

static void test_ruthless_bodies_move_as_particles_of_the_straight_body(void)
{
    expect_exact(DYN_FLEX_RUTHLESS, "ruthless");
}

/* The kernel's accelerations against the particles' at this deflection. */
static double acceleration_error(uint64_t seed, double deflection)
{
    static struct equation eq;
    double error = 0.0, size = 0.0;
    flex_tree_random(&flex, 1 + (int)seed % FLEX_TREE_MAX, DYN_FLEX_CONSISTENT, deflection, seed);
    flex_tree_forward(&flex);
    write_equation(DYN_FLEX_CONSISTENT, &eq);
    dense_solve_rows(eq.n, eq.M, eq.rhs, 1);
    for (int i = 0; i < eq.n; i++) {
        error = fmax(error, fabs(flex.tree.a[i] - eq.rhs[i]));
        size = fmax(size, fabs(eq.rhs[i]));
    }
    return error / size;
}

static void test_with_psi2_the_error_is_of_second_order(void)
{
    double low = HUGE_VAL, high = 0.0, largest = 0.0;
    for (uint64_t seed = 0; seed < TREES; seed++) {
        const double error = acceleration_error(seed, 1e-4), half = acceleration_error(seed, 5e-5);
        if (error < 1e-10) /* nothing bends, or nothing that matters */
            continue;
        const double ratio = error / half;
        low = fmin(low, ratio), high = fmax(high, ratio), largest = fmax(largest, error);
    }
    printf("consistent: errors up to %.2g; half the deflection, error down by %.3f to %.3f\n",
           largest, low, high);
    TEST_ASSERT_TRUE(low > 3.5 && high < 4.5);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_without_psi2_the_kernel_moves_as_the_particles_do);
    RUN_TEST(test_what_nodes_carry_moves_as_the_particles_do);
    RUN_TEST(test_ruthless_bodies_move_as_particles_of_the_straight_body);
    RUN_TEST(test_with_psi2_the_error_is_of_second_order);
    return UNITY_END();
}
