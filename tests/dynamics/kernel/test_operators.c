/*
 * The operator identities of Rodriguez, Jain and Kreutz (1989), dense, from the specs alone, and
 * the kernel's recursions against them.  In the symbols of the paper:
 *
 *      phi = (1 - E_phi)^-1,  psi = (1 - E_psi)^-1,  E_psi = E_phi (1 - G H),  K = E_phi G
 *      mass = H phi M phi* H*,  D = H P H*,  G = P H* D^-1,  P = E_psi P E_psi* + M
 *
 * World axes, each body about its own origin.  Bodies are numbered from the base here, from the
 * tip there; no formula knows.
 */
#include <math.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/operational.h"
#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/form.h"
#include "tests/dynamics/oracle.h"
#include "unity.h"

enum { BODIES_MAX = 12, POINTS = 3 };

static struct tree tree;
static struct oracle_body bodies[TREE_BODY_MAX];
static int first[BODIES_MAX + 1]; /* velocity of each body's joint */
static struct dense H, M, E_phi, phi, P, D, D_inv, G, K, E_psi, psi, mass;
static struct dense one, t1, t2, t3, t4, left;
static _Alignas(64) unsigned char mass_mem[1 << 20], operational_mem[1 << 20];

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static void take_first(void)
{
    for (int i = 0; i < tree.body_count; i++)
        first[i] = dyn_model_v_index(tree.model, i);
    first[tree.body_count] = dyn_model_nv(tree.model);
}

static void random_tree(uint64_t seed)
{
    form_tree(&tree, 1 + (int)(seed % BODIES_MAX), seed / BODIES_MAX % 2, seed);
    tree_build(&tree);
    form_stir(&tree);
    take_first();
}

/* --- operators ----------------------------------------------------------------------------- */

static void add_tilde(struct dense *out, int row, int column, double k, const double l[3])
{
    const double rows[3][3] = {{0, -l[2], l[1]}, {l[2], 0, -l[0]}, {-l[1], l[0], 0}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out->at[row + r][column + c] += k * rows[r][c];
}

/* [ 1  l x ; 0  1 ]: a force at the far end of l, as it acts at the near end. */
static void put_phi(struct dense *out, int row, int column, const double from[3],
                    const double to[3])
{
    const double l[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    for (int k = 0; k < 6; k++)
        out->at[row + k][column + k] = 1.0;
    add_tilde(out, row, column + 3, 1.0, l);
}

/* [ I + m (c.c 1 - c c')  m c x ; -m c x  m 1 ] */
static void put_inertia(int i)
{
    const struct dyn_body_spec *spec = &tree.spec[i];
    struct vec_mat I;
    double c[3];
    oracle_inertia(spec, &bodies[i], &I);
    oracle_to_world(&bodies[i], spec->center, c);
    vec_steiner(spec->mass, c, &I);
    for (int r = 0; r < 3; r++) {
        memcpy(M.at[6 * i + r] + 6 * i, I.row[r], sizeof I.row[r]);
        M.at[6 * i + 3 + r][6 * i + 3 + r] = spec->mass;
    }
    add_tilde(&M, 6 * i, 6 * i + 3, spec->mass, c);
    add_tilde(&M, 6 * i + 3, 6 * i, -spec->mass, c);
}

/* The motion of a body when its own joint alone moves. */
static void put_joint_map(int i)
{
    static struct oracle_body moved[TREE_BODY_MAX];
    double unit[TREE_NV_MAX] = {0};
    for (int k = first[i]; k < first[i + 1]; k++) {
        unit[k] = 1.0;
        oracle_move(&tree, unit, NULL, moved);
        unit[k] = 0.0;
        memcpy(H.at[k] + 6 * i, moved[i].w, 3 * sizeof(double));
        memcpy(H.at[k] + 6 * i + 3, moved[i].p_rate, 3 * sizeof(double));
    }
}

/* (1 - E)^-1 */
static void take_propagation(struct dense *out, const struct dense *E)
{
    static struct dense difference;
    dense_sum(&difference, &one, -1.0, E);
    dense_inverse(out, &difference);
}

static void take_operators(void)
{
    const int n = 6 * tree.body_count;
    oracle_move(&tree, tree.v, NULL, bodies);
    dense_zero(&H, first[tree.body_count], n);
    dense_zero(&M, n, n);
    dense_zero(&E_phi, n, n);
    dense_identity(&one, n);
    for (int i = 0; i < tree.body_count; i++) {
        const int parent = tree.spec[i].parent;
        put_joint_map(i);
        put_inertia(i);
        if (parent >= 0)
            put_phi(&E_phi, 6 * parent, 6 * i, bodies[parent].p, bodies[i].p);
    }
    take_propagation(&phi, &E_phi);
    dense_product(&t1, &H, &phi);
    dense_transpose(&t2, &t1);
    dense_product(&t3, &t1, &M);
    dense_product(&mass, &t3, &t2);
}

/* out = a b a* */
static void congruence(struct dense *out, const struct dense *a, const struct dense *b)
{
    static struct dense a_t, ab;
    dense_transpose(&a_t, a);
    dense_product(&ab, a, b);
    dense_product(out, &ab, &a_t);
}

/* D, G and what of P the joint lets through to the parent, for body i. */
static void take_joint(int i)
{
    static struct dense h, h_t, p, d, d_inv, ph, g, gh, through, e, psi_i, carried;
    const int nv = first[i + 1] - first[i], parent = tree.spec[i].parent;
    dense_part(&h, &H, first[i], 6 * i, nv, 6);
    dense_part(&p, &P, 6 * i, 6 * i, 6, 6);
    dense_identity(&through, 6);
    if (nv > 0) {
        congruence(&d, &h, &p);
        dense_inverse(&d_inv, &d);
        dense_transpose(&h_t, &h);
        dense_product(&ph, &p, &h_t);
        dense_product(&g, &ph, &d_inv);
        dense_put(&D, first[i], first[i], &d);
        dense_put(&D_inv, first[i], first[i], &d_inv);
        dense_put(&G, 6 * i, first[i], &g);
        dense_product(&gh, &g, &h);
        dense_identity(&e, 6);
        dense_sum(&through, &e, -1.0, &gh);
    }
    if (parent < 0)
        return;
    dense_part(&e, &E_phi, 6 * parent, 6 * i, 6, 6);
    dense_product(&psi_i, &e, &through);
    dense_put(&E_psi, 6 * parent, 6 * i, &psi_i);
    congruence(&carried, &psi_i, &p);
    dense_part(&e, &P, 6 * parent, 6 * parent, 6, 6);
    dense_sum(&p, &e, 1.0, &carried);
    dense_put(&P, 6 * parent, 6 * parent, &p);
}

/* From the tips to the base. */
static void take_articulated(void)
{
    const int n = 6 * tree.body_count, nv = first[tree.body_count];
    P = M;
    dense_zero(&D, nv, nv);
    dense_zero(&D_inv, nv, nv);
    dense_zero(&G, n, nv);
    dense_zero(&E_psi, n, n);
    for (int i = tree.body_count - 1; i >= 0; i--)
        take_joint(i);
    dense_product(&K, &E_phi, &G);
    take_propagation(&psi, &E_psi);
}

static void take_all(uint64_t seed)
{
    random_tree(seed);
    take_operators();
    take_articulated();
}

static void assert_same(double within, const struct dense *truth, const struct dense *is)
{
    TEST_ASSERT_DOUBLE_WITHIN(within * dense_size(truth), 0.0, dense_distance(truth, is));
}

/* left = 1 + k H prop K */
static void take_factor(double k, const struct dense *prop)
{
    static struct dense identity, hp, hpk;
    dense_product(&hp, &H, prop);
    dense_product(&hpk, &hp, &K);
    dense_identity(&identity, first[tree.body_count]);
    dense_sum(&left, &identity, k, &hpk);
}

/* --- tests --------------------------------------------------------------------------------- */

enum { TREES = 96 };

static void test_p_solves_its_equation(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        congruence(&t1, &E_psi, &P);
        dense_sum(&t2, &t1, 1.0, &M);
        /* Between siblings E_psi P E_psi* has no blocks on the diagonal to compare. */
        for (int r = 0; r < P.rows; r++)
            for (int c = 0; c < P.rows; c++)
                if (r / 6 == c / 6)
                    TEST_ASSERT_DOUBLE_WITHIN(1e-13 * dense_size(&P), P.at[r][c], t2.at[r][c]);
    }
}

static void test_the_mass_matrix_is_h_phi_m_phi_h(void)
{
    static double flat[TREE_NV_MAX * TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        const struct dyn_state state = tree_state(&tree);
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mass_mem, dyn_crba_work_size(tree.model));
        dyn_crba(tree.model, &state, dyn_crba_work_place(tree.model, mass_mem), flat);
        t1 = mass;
        for (int r = 0; r < mass.rows; r++)
            memcpy(t1.at[r], flat + r * mass.rows, (size_t)mass.rows * sizeof(double));
        assert_same(1e-13, &mass, &t1);
    }
}

static void test_the_mass_matrix_factors_into_innovations(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_factor(1.0, &phi);
        congruence(&t1, &left, &D);
        assert_same(1e-13, &mass, &t1);
    }
}

static void test_the_factor_has_its_inverse_in_psi(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_factor(1.0, &phi);
        dense_inverse(&t1, &left);
        take_factor(-1.0, &psi);
        assert_same(1e-12, &t1, &left);
    }
}

static void test_the_inverse_mass_matrix_factors_too(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_factor(-1.0, &psi);
        dense_transpose(&t1, &left);
        congruence(&t2, &t1, &D_inv);
        dense_product(&t3, &t2, &mass);
        dense_identity(&t4, mass.rows);
        TEST_ASSERT_DOUBLE_WITHIN(1e-13 * dense_size(&t2) * dense_size(&mass), 0.0,
                                  dense_distance(&t4, &t3));
    }
}

static void test_the_factor_turns_phi_into_psi(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_factor(-1.0, &psi);
        dense_product(&t1, &H, &phi);
        dense_product(&t2, &left, &t1);
        dense_product(&t3, &H, &psi);
        assert_same(1e-12, &t3, &t2);
    }
}

/* What velocities and gravity ask for at body i:  M (acceleration without dv/dt - g) + b. */
static void put_bias(struct dense *out, int i, const double pure[6])
{
    const double *w = bodies[i].w;
    double c[3], inward[3], spin[3] = {0};
    oracle_to_world(&bodies[i], tree.spec[i].center, c);
    vec_cross(w, c, inward);
    vec_cross(w, inward, inward);
    for (int k = 0; k < 3; k++)
        spin[k] = vec_dot(M.at[6 * i + k] + 6 * i, w);
    vec_cross(w, spin, spin);
    for (int k = 0; k < 3; k++) {
        out->at[6 * i + k][0] = spin[k];
        out->at[6 * i + 3 + k][0] = tree.spec[i].mass * inward[k];
    }
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            out->at[6 * i + r][0] += M.at[6 * i + r][6 * i + k] * pure[k];
}

/* tau - H phi (M phi* a + b) */
static void take_forces(struct dense *out)
{
    static struct dense b, hp, c;
    dense_zero(&b, 6 * tree.body_count, 1);
    for (int i = 0; i < tree.body_count; i++) {
        double pure[6];
        for (int k = 0; k < 3; k++) {
            pure[k] = bodies[i].w_rate[k];
            pure[3 + k] = bodies[i].p_acc[k] - tree.gravity[k];
        }
        put_bias(&b, i, pure);
    }
    dense_product(&hp, &H, &phi);
    dense_product(&c, &hp, &b);
    dense_zero(out, mass.rows, 1);
    for (int k = 0; k < mass.rows; k++)
        out->at[k][0] = tree.tau[k] - c.at[k][0];
}

static void test_accelerations_are_the_factored_inverse_on_the_forces(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_forces(&t1);
        take_factor(-1.0, &psi);
        dense_transpose(&t2, &left);
        congruence(&t3, &t2, &D_inv);
        dense_product(&t4, &t3, &t1);
        tree_forward(&tree);
        dense_zero(&t1, mass.rows, 1);
        for (int k = 0; k < mass.rows; k++)
            t1.at[k][0] = tree.a[k];
        assert_same(1e-11, &t4, &t1);
    }
}

/* The paper's oracle against the one of virtual power: both of this room, and not one formula in
 * common but the poses. */
static void test_virtual_power_agrees_with_the_operators(void)
{
    static double flat[TREE_NV_MAX * TREE_NV_MAX];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        double zero[TREE_NV_MAX] = {0}, bias[TREE_NV_MAX];
        take_all(seed);
        oracle_mass(&tree, flat);
        oracle_inverse(&tree, zero, bias);
        take_forces(&t1);
        t2 = mass, t3 = t1;
        for (int r = 0; r < mass.rows; r++) {
            memcpy(t2.at[r], flat + r * mass.rows, (size_t)mass.rows * sizeof(double));
            t3.at[r][0] = tree.tau[r] - bias[r];
        }
        assert_same(1e-13, &mass, &t2);
        assert_same(1e-12, &t1, &t3);
    }
}

/* --- operational space --------------------------------------------------------------------- */

static int is_ancestor(int of, int body)
{
    while (body > of)
        body = tree.spec[body].parent;
    return body == of;
}

/* Chain of E_psi from body c out to body a: psi(c, a). */
static void take_chain(struct dense *out, int c, int a)
{
    static struct dense link, longer;
    dense_identity(out, 6);
    for (; a != c; a = tree.spec[a].parent) {
        dense_part(&link, &E_psi, 6 * tree.spec[a].parent, 6 * a, 6, 6);
        dense_product(&longer, &link, out);
        *out = longer;
    }
}

/* Upsilon(k) = psi* Upsilon(parent) psi + H* D^-1 H, from the base to the tips. */
static struct dense upsilon[BODIES_MAX];

static void take_upsilon(void)
{
    static struct dense own, h, h_t, d, link, link_t, carried;
    for (int i = 0; i < tree.body_count; i++) {
        const int nv = first[i + 1] - first[i], parent = tree.spec[i].parent;
        dense_zero(&upsilon[i], 6, 6);
        if (nv > 0) {
            dense_part(&h, &H, first[i], 6 * i, nv, 6);
            dense_part(&d, &D_inv, first[i], first[i], nv, nv);
            dense_transpose(&h_t, &h);
            congruence(&upsilon[i], &h_t, &d);
        }
        if (parent < 0)
            continue;
        dense_part(&link, &E_psi, 6 * parent, 6 * i, 6, 6);
        dense_transpose(&link_t, &link);
        congruence(&carried, &link_t, &upsilon[parent]);
        own = upsilon[i];
        dense_sum(&upsilon[i], &own, 1.0, &carried);
    }
}

/* Omega(a, b) = psi*(c, a) Upsilon(c) psi(c, b), c the nearest body that carries both; none where
 * nothing does.  The paper prints zero for all siblings. */
static void take_omega(struct dense *out)
{
    static struct dense to_a, to_a_t, to_b, half, block;
    dense_zero(out, 6 * tree.body_count, 6 * tree.body_count);
    for (int a = 0; a < tree.body_count; a++)
        for (int b = 0; b < tree.body_count; b++) {
            int c = a;
            while (c >= 0 && !is_ancestor(c, b))
                c = tree.spec[c].parent;
            if (c < 0)
                continue;
            take_chain(&to_a, c, a);
            take_chain(&to_b, c, b);
            dense_transpose(&to_a_t, &to_a);
            dense_product(&half, &to_a_t, &upsilon[c]);
            dense_product(&block, &half, &to_b);
            dense_put(out, 6 * a, 6 * b, &block);
        }
}

static void test_omega_of_siblings_comes_from_what_carries_both(void)
{
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        take_all(seed);
        take_upsilon();
        take_omega(&t1);
        dense_product(&t2, &H, &psi);
        dense_transpose(&t3, &t2);
        congruence(&t4, &t3, &D_inv);
        assert_same(1e-12, &t4, &t1);
    }
}

/* B* Omega B for points of random bodies. */
static void take_points(struct dyn_point *points, struct dense *inverse)
{
    static struct dense B, B_t, omega;
    dense_zero(&B, 6 * tree.body_count, 6 * POINTS);
    for (int k = 0; k < POINTS; k++) {
        const int body = (int)(0.5 * (1.0 + tree_noise()) * tree.body_count);
        points[k] = (struct dyn_point){body, {tree_noise(), tree_noise(), tree_noise()}};
        double at[3], zero[3] = {0};
        oracle_to_world(&bodies[body], points[k].at, at);
        put_phi(&B, 6 * body, 6 * k, zero, at);
    }
    take_upsilon();
    take_omega(&omega);
    dense_transpose(&B_t, &B);
    congruence(inverse, &B_t, &omega);
}

static void test_the_inertia_between_points_is_b_omega_b(void)
{
    static double flat[36 * POINTS * POINTS];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        struct dyn_point points[POINTS];
        take_all(seed);
        take_points(points, &t1);
        const struct dyn_state state = tree_state(&tree);
        TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof operational_mem,
                                         dyn_operational_work_size(tree.model, POINTS));
        dyn_operational_inverse(tree.model, &state, points, POINTS,
                                dyn_operational_work_place(tree.model, POINTS, operational_mem),
                                flat);
        t2 = t1;
        for (int r = 0; r < t1.rows; r++)
            memcpy(t2.at[r], flat + r * t1.rows, (size_t)t1.rows * sizeof(double));
        assert_same(1e-11, &t1, &t2);
    }
}

/* A bus in free flight with an arm on each side: the paper's zero between the arms is wrong. */
static void test_two_arms_on_a_free_base_feel_each_other(void)
{
    tree_begin(&tree);
    tree_noise_seed(5);
    form_lump(&tree.spec[tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0)]);
    for (int k = 0; k < 2; k++) {
        struct dyn_body_spec *arm = &tree.spec[tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1)];
        form_lump(arm);
        arm->place_xyz[0] = k == 0 ? 1.0 : -1.0;
    }
    tree_build(&tree);
    take_first();
    take_operators();
    take_articulated();
    take_upsilon();
    take_omega(&t1);
    dense_part(&t2, &t1, 6, 12, 6, 6);
    TEST_ASSERT_TRUE(dense_size(&t2) > 0.1);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_p_solves_its_equation);
    RUN_TEST(test_the_mass_matrix_is_h_phi_m_phi_h);
    RUN_TEST(test_the_mass_matrix_factors_into_innovations);
    RUN_TEST(test_the_factor_has_its_inverse_in_psi);
    RUN_TEST(test_the_inverse_mass_matrix_factors_too);
    RUN_TEST(test_the_factor_turns_phi_into_psi);
    RUN_TEST(test_accelerations_are_the_factored_inverse_on_the_forces);
    RUN_TEST(test_virtual_power_agrees_with_the_operators);
    RUN_TEST(test_omega_of_siblings_comes_from_what_carries_both);
    RUN_TEST(test_two_arms_on_a_free_base_feel_each_other);
    RUN_TEST(test_the_inertia_between_points_is_b_omega_b);
    return UNITY_END();
}
