/*
 * A body changes hands: what moves goes on as it did, and a blow keeps the momentum.
 *
 * Momentum and energy by the monitor, which shares no code with the kernel.
 */
#include "dynamics/arm/grapple.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/analysis/crba.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/kinematics.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/flex/flexible.h"
#include "unity.h"

enum { BODIES = 7, PAYLOAD = BODIES - 1 };

static struct craft bay, hand; /* the payload rides on the base, and on some other body */
static unsigned char held[TREE_NV_MAX];
static _Alignas(64) unsigned char work_mem[1 << 22];
static struct dyn_grapple_work *work;

void setUp(void)
{
    memset(&bay, 0, sizeof bay);
    memset(&hand, 0, sizeof hand);
}

void tearDown(void)
{
}

/* A body that no mode of its parent carries: the hand's own frame is rigid. */
static int some_hand(uint64_t seed)
{
    for (int i = 0;; i++) {
        const int body = 1 + (int)((seed + (uint64_t)i) % (PAYLOAD - 1));
        if (bay.tree.spec[body].flex == NULL || i > PAYLOAD)
            return body;
    }
}

static void ride_on(struct tree *tree, int parent)
{
    struct dyn_body_spec *spec = &tree->spec[PAYLOAD];
    *spec = (struct dyn_body_spec){.parent = parent,
                                   .joint = DYN_JOINT_FREE,
                                   .place_quat = {0.8, 0.0, 0.6, 0.0},
                                   .place_xyz = {0.3, -0.2, 0.1 * parent},
                                   .mass = 40.0,
                                   .center = {0.1, 0.2, -0.3},
                                   .inertia = {9.0, 8.0, 7.0, 0.3, 0.2, -0.1}};
}

static void make(uint64_t seed, enum dyn_fidelity fidelity)
{
    flexible_random(&bay.tree, BODIES, 1, seed);
    for (int i = 1; i < BODIES; i++) /* nothing stands on the ground */
        if (bay.tree.spec[i].parent < 0)
            bay.tree.spec[i].parent = 0;
    flexible_set(&bay.tree, fidelity);
    ride_on(&bay.tree, 0);
    flexible_build(&bay.tree);
    hand.tree = bay.tree;
    ride_on(&hand.tree, some_hand(seed));
    tree_build(&hand.tree);
    TEST_ASSERT_TRUE(dyn_grapple_work_size(bay.tree.model, hand.tree.model) < sizeof work_mem);
    work = dyn_grapple_work_place(bay.tree.model, hand.tree.model, work_mem);
}

static struct dyn_monitor seen(struct craft *craft)
{
    craft_build(craft);
    return craft_monitor(craft);
}

static void grapple(void)
{
    const int nv = dyn_model_nv(hand.tree.model);
    memcpy(hand.tree.q, bay.tree.q, sizeof hand.tree.q);
    memcpy(hand.tree.v, bay.tree.v, sizeof hand.tree.v);
    dyn_grapple_reparent(bay.tree.model, hand.tree.model, PAYLOAD, work, hand.tree.q, hand.tree.v);
    memset(held, 0, (size_t)nv);
    memset(held + dyn_model_v_index(hand.tree.model, PAYLOAD), 1, 6);
}

static double off(const double want[3], const double got[3])
{
    return dyn_norm(dyn_sub(dyn_vec3_load(want), dyn_vec3_load(got)));
}

static double size(const double a[3])
{
    return dyn_norm(dyn_vec3_load(a));
}

static void test_a_release_moves_nothing(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(seed, DYN_FLEX_CONSISTENT);
        const struct dyn_monitor before = seen(&bay);
        grapple();
        const struct dyn_monitor after = seen(&hand);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1.0 + before.kinetic), before.kinetic, after.kinetic);
        TEST_ASSERT_TRUE(off(before.center, after.center) < 1e-13 * (1.0 + size(before.center)));
        TEST_ASSERT_TRUE(off(before.linear_momentum, after.linear_momentum) <
                         1e-12 * (1.0 + size(before.linear_momentum)));
        TEST_ASSERT_TRUE(off(before.angular_momentum, after.angular_momentum) <
                         1e-12 * (1.0 + size(before.angular_momentum)));
    }
}

static void test_there_and_back_is_where_it_was(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(seed, DYN_FLEX_RUTHLESS);
        grapple();
        struct dyn_grapple_work *back =
            dyn_grapple_work_place(hand.tree.model, bay.tree.model, work_mem);
        dyn_grapple_reparent(hand.tree.model, bay.tree.model, PAYLOAD, back, hand.tree.q,
                             hand.tree.v);
        for (int i = 0; i < dyn_model_nq(bay.tree.model); i++)
            if (i < dyn_model_q_index(bay.tree.model, PAYLOAD) + 3)
                TEST_ASSERT_DOUBLE_WITHIN(1e-12, bay.tree.q[i], hand.tree.q[i]);
        for (int i = 0; i < dyn_model_nv(bay.tree.model); i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-11, bay.tree.v[i], hand.tree.v[i]);
    }
}

/* Of 1,000 random grapples: momentum of the whole, the payload at rest in the hand, energy lost. */
static void test_a_thousand_grapples_keep_their_momentum(void)
{
    static const enum dyn_fidelity fidelity[] = {DYN_FLEX_RUTHLESS, DYN_FLEX_CONSISTENT};
    double worst_linear = 0.0, worst_angular = 0.0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        make(seed, fidelity[seed % 2]);
        const struct dyn_monitor before = seen(&bay);
        grapple();
        double lost;
        dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, &lost);
        const struct dyn_monitor after = seen(&hand);
        worst_linear = fmax(worst_linear, off(before.linear_momentum, after.linear_momentum) /
                                              size(before.linear_momentum));
        worst_angular = fmax(worst_angular, off(before.angular_momentum, after.angular_momentum) /
                                                size(before.angular_momentum));
        TEST_ASSERT_TRUE(lost > 0.0);
        TEST_ASSERT_DOUBLE_WITHIN(1e-10 * before.kinetic, before.kinetic - after.kinetic, lost);
        for (int i = 0; i < 6; i++)
            TEST_ASSERT_TRUE(hand.tree.v[dyn_model_v_index(hand.tree.model, PAYLOAD) + i] == 0.0);
    }
    printf("1000 grapples: linear momentum %.1e, angular %.1e, relative\n", worst_linear,
           worst_angular);
    TEST_ASSERT_TRUE(worst_linear < 1e-12);
    TEST_ASSERT_TRUE(worst_angular < 1e-12);
}

/* Two lumps on a line: m1 v1 + m2 v2 = (m1 + m2) v, and half the reduced mass times v^2 is lost. */
static void test_two_lumps_stick_together(void)
{
    const double m1 = 3.0, m2 = 2.0, v1 = 1.0, v2 = -4.0, reduced = m1 * m2 / (m1 + m2);
    for (int i = 0; i < 2; i++) {
        struct tree *tree = i ? &hand.tree : &bay.tree;
        tree_begin(tree);
        tree_add(tree, -1, DYN_JOINT_FREE, 0, 0, 0);
        tree_add(tree, 0, DYN_JOINT_FIXED, 0, 0, 0);
        tree_add(tree, i, DYN_JOINT_FREE, 0, 0, 0);
        tree->spec[0].mass = m1 - 1.0;
        tree->spec[2].mass = m2;
        tree_build(tree);
    }
    work = dyn_grapple_work_place(bay.tree.model, hand.tree.model, work_mem);
    bay.tree.v[3] = v1, bay.tree.v[6 + 3] = v2 - v1;
    memcpy(hand.tree.q, bay.tree.q, sizeof hand.tree.q);
    memcpy(hand.tree.v, bay.tree.v, sizeof hand.tree.v);
    dyn_grapple_reparent(bay.tree.model, hand.tree.model, 2, work, hand.tree.q, hand.tree.v);
    memset(held, 0, sizeof held);
    memset(held + 6, 1, 6);
    double lost;
    dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, &lost);
    TEST_ASSERT_DOUBLE_WITHIN(1e-14, (m1 * v1 + m2 * v2) / (m1 + m2), hand.tree.v[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.5 * reduced * (v1 - v2) * (v1 - v2), lost);
    const double *impulse = dyn_grapple_impulse(work);
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, reduced * (v1 - v2), impulse[6 + 3]); /* on the second */
    for (int i = 0; i < 12; i++)
        if (i != 6 + 3)
            TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, impulse[i]);
}

/* What is moved from outside does not take part in a blow. */
static void test_what_goes_on_goes_on(void)
{
    static double before[TREE_NV_MAX], M[TREE_NV_MAX * 16];
    static _Alignas(64) unsigned char mass_mem[1 << 20];
    for (uint64_t seed = 1; seed <= 50; seed++) {
        make(seed, DYN_FLEX_CONSISTENT);
        grapple();
        const int nv = dyn_model_nv(hand.tree.model), moved = 6; /* the first behind the base */
        held[moved] = DYN_IMPACT_PRESCRIBED;
        memcpy(before, hand.tree.v, sizeof before);
        dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, NULL);
        TEST_ASSERT_EQUAL_DOUBLE(before[moved], hand.tree.v[moved]);
        TEST_ASSERT_TRUE(nv * nv <= (int)(sizeof M / sizeof *M));
        struct dyn_crba_work *mass = dyn_crba_work_place(hand.tree.model, mass_mem);
        dyn_crba(hand.tree.model, &(struct dyn_state){hand.tree.q, hand.tree.v}, mass, M);
        for (int i = 0; i < nv; i++) {
            double blow = 0.0, scale = 0.0;
            for (int k = 0; k < nv; k++) {
                blow += M[i * nv + k] * (hand.tree.v[k] - before[k]);
                scale += fabs(M[i * nv + k] * before[k]);
            }
            TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1.0 + scale), dyn_grapple_impulse(work)[i], blow);
            if (held[i] == DYN_IMPACT_FREE)
                TEST_ASSERT_EQUAL_DOUBLE(0.0, dyn_grapple_impulse(work)[i]);
        }
    }
}

/* At 7000 km and 7.5 km/s the relative numbers keep all their digits. */
static void test_an_orbit_costs_no_digits(void)
{
    make(5, DYN_FLEX_CONSISTENT);
    grapple();
    static double q[TREE_NV_MAX], v[TREE_NV_MAX];
    double lost, lost_there;
    memcpy(q, hand.tree.q, sizeof q);
    memcpy(v, hand.tree.v, sizeof v);
    dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, &lost);
    bay.tree.q[0] += 7.0e6;
    bay.tree.v[4] += 7.5e3;
    grapple();
    const int nq = dyn_model_q_index(hand.tree.model, PAYLOAD);
    const int nv = dyn_model_v_index(hand.tree.model, PAYLOAD);
    TEST_ASSERT_EQUAL_MEMORY(q + nq, hand.tree.q + nq, 7 * sizeof *q);
    TEST_ASSERT_EQUAL_MEMORY(v + nv, hand.tree.v + nv, 6 * sizeof *v);
    dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, &lost_there);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12 * lost, lost, lost_there);
}

/* An impact whose outcome is not a number leaves all velocities as they are, so that the vehicle
 * can still move. */
static void test_a_blow_that_is_no_number_changes_nothing(void)
{
    static const double wrong[] = {(double)NAN, (double)INFINITY, 1e308};
    static double before[TREE_NV_MAX];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make(3, DYN_FLEX_CONSISTENT);
        grapple();
        for (int k = 3; k < 6; k++)
            hand.tree.v[dyn_model_v_index(hand.tree.model, PAYLOAD) + k] = wrong[i];
        memcpy(before, hand.tree.v, sizeof before);
        dyn_grapple_impact(hand.tree.model, held, hand.tree.q, work, hand.tree.v, NULL);
        TEST_ASSERT_EQUAL_MEMORY(before, hand.tree.v, sizeof before);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_release_moves_nothing);
    RUN_TEST(test_there_and_back_is_where_it_was);
    RUN_TEST(test_a_thousand_grapples_keep_their_momentum);
    RUN_TEST(test_two_lumps_stick_together);
    RUN_TEST(test_what_goes_on_goes_on);
    RUN_TEST(test_an_orbit_costs_no_digits);
    RUN_TEST(test_a_blow_that_is_no_number_changes_nothing);
    return UNITY_END();
}
