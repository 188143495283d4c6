/*
 * Modes that stiffen: with eta where springs and loads are in balance, joints accelerate as those
 * of rigid bodies do, but for what the balance itself has bent, which is of the order 1 / K.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/dense.h"
#include "tests/dynamics/flex/flex_tree.h"
#include "unity.h"

enum { BODIES = 4, ETA_MAX = LUMPS_MODES_MAX * BODIES, TREES = 40 };

static struct flex_tree flex;

void setUp(void)
{
}

void tearDown(void)
{
}

/* Every modal coordinate: where it is in q, its rate in v. */
struct modes {
    int count, q_at[ETA_MAX], v_at[ETA_MAX];
};

static struct modes all_modes(void)
{
    struct modes modes = {0};
    for (int i = 0; i < flex.tree.body_count; i++)
        for (int p = 0; p < flex.lumps[i].modes; p++) {
            modes.q_at[modes.count] = dyn_model_eta_index(flex.tree.model, i) + p;
            modes.v_at[modes.count++] = dyn_model_xi_index(flex.tree.model, i) + p;
        }
    return modes;
}

static void modal_acceleration(const struct modes *modes, double *out)
{
    flex_tree_forward(&flex);
    for (int i = 0; i < modes->count; i++)
        out[i] = flex.tree.a[modes->v_at[i]];
}

/* eta'' = 0, by Newton's method with differences. */
static void balance(double stiffness)
{
    static double J[ETA_MAX * ETA_MAX], a[ETA_MAX], moved[ETA_MAX];
    const struct modes modes = all_modes();
    const int n = modes.count;
    const double width = 1e-5 / stiffness;
    for (int i = 0; i < n; i++)
        flex.tree.q[modes.q_at[i]] = flex.tree.v[modes.v_at[i]] = 0.0;
    for (int turn = 0; turn < 12; turn++) {
        modal_acceleration(&modes, a);
        for (int j = 0; j < n; j++) {
            double *eta = &flex.tree.q[modes.q_at[j]];
            const double there = *eta;
            *eta = there + width;
            modal_acceleration(&modes, moved);
            *eta = there;
            for (int i = 0; i < n; i++)
                J[i * n + j] = (moved[i] - a[i]) / width;
        }
        dense_solve_rows(n, J, a, 1);
        for (int i = 0; i < n; i++)
            flex.tree.q[modes.q_at[i]] -= a[i];
    }
    modal_acceleration(&modes, a);
}

/* The same tree of rigid bodies, in the same state and under the same forces. */
static void rigid_acceleration(double *joint_a, int *count)
{
    static struct tree rigid;
    *count = 0;
    memcpy(&rigid, &flex.tree, sizeof rigid);
    for (int i = 0; i < rigid.body_count; i++)
        lumps_sum(&flex.lumps[i], DYN_FLEX_RIGID, &rigid.spec[i]);
    tree_build(&rigid);
    for (int i = 0; i < rigid.body_count; i++) {
        const int from_q = dyn_model_q_index(flex.tree.model, i);
        const int from = dyn_model_v_index(flex.tree.model, i);
        const int to_q = dyn_model_q_index(rigid.model, i), to = dyn_model_v_index(rigid.model, i);
        for (int k = 0; k < dyn_joint_nq(&rigid.spec[i]); k++)
            rigid.q[to_q + k] = flex.tree.q[from_q + k];
        for (int k = 0; k < dyn_joint_nv(&rigid.spec[i]); k++) {
            rigid.v[to + k] = flex.tree.v[from + k];
            rigid.tau[to + k] = flex.tree.tau[from + k];
            ++*count;
        }
    }
    const struct dyn_state state = tree_state(&rigid);
    const struct dyn_input input = {
        .tau = rigid.tau,
        .loads = rigid.load,
        .load_count = rigid.body_count,
        .gravity = {rigid.gravity[0], rigid.gravity[1], rigid.gravity[2]},
    };
    struct dyn_output output = {.a = joint_a};
    TEST_ASSERT_EQUAL_INT(*count, dyn_model_nv(rigid.model));
    dyn_aba(rigid.model, &state, &input, rigid.work, &output);
}

/* Of joints in balance against rigid ones, relative. */
static double joint_error(uint64_t seed, enum dyn_fidelity fidelity, double stiffness)
{
    double joint_a[TREE_NV_MAX], error = 0.0, size = 0.0;
    int count, at = 0;
    flex_tree_random(&flex, BODIES, fidelity, 0.0, seed);
    for (int i = 0; i < BODIES; i++)
        for (int pq = 0; pq < flex.lumps[i].modes * flex.lumps[i].modes; pq++)
            flex.lumps[i].K[pq] *= stiffness;
    flex_tree_rebuild(&flex, fidelity);
    balance(stiffness);
    rigid_acceleration(joint_a, &count);
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < dyn_joint_nv(&flex.tree.spec[i]); k++, at++) {
            const double a = flex.tree.a[dyn_model_v_index(flex.tree.model, i) + k];
            error = fmax(error, fabs(a - joint_a[at]));
            size = fmax(size, fabs(joint_a[at]));
        }
    return count > 0 ? error / size : 0.0;
}

static void expect_rate(enum dyn_fidelity fidelity, const char *name)
{
    double worst[3] = {0}, low = HUGE_VAL, high = 0.0;
    for (uint64_t seed = 0; seed < TREES; seed++) {
        double error[3];
        for (int k = 0; k < 3; k++) {
            error[k] = joint_error(seed, fidelity, pow(10.0, 2 * k + 2));
            worst[k] = fmax(worst[k], error[k]);
        }
        if (error[2] < 1e-10) /* nothing that bends matters */
            continue;
        low = fmin(low, error[1] / error[2]), high = fmax(high, error[1] / error[2]);
    }
    printf("%s, springs by 1e2, 1e4, 1e6: %.2g, %.2g, %.2g; last two apart by %.1f to %.1f\n", name,
           worst[0], worst[1], worst[2], low, high);
    TEST_ASSERT_TRUE(low > 90.0 && high < 110.0);
}

static void test_stiff_modes_leave_rigid_bodies(void)
{
    expect_rate(DYN_FLEX_CONSISTENT, "consistent");
    expect_rate(DYN_FLEX_INCONSISTENT, "inconsistent");
}

/* They never bend, by their definition. */
static void test_ruthless_bodies_in_balance_are_rigid_at_any_stiffness(void)
{
    double worst = 0.0;
    for (uint64_t seed = 0; seed < TREES; seed++)
        worst = fmax(worst, joint_error(seed, DYN_FLEX_RUTHLESS, 100.0));
    printf("ruthless: %.2g\n", worst);
    TEST_ASSERT_TRUE(worst < 1e-9);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_stiff_modes_leave_rigid_bodies);
    RUN_TEST(test_ruthless_bodies_in_balance_are_rigid_at_any_stiffness);
    return UNITY_END();
}
