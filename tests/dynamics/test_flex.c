#include <math.h>
#include <string.h>

#include "dynamics/aba.h"
#include "dynamics/rnea.h"
#include "dynamics/tree.h"
#include "dynamics/work.h"
#include "tests/dynamics/flexible.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
}

void tearDown(void)
{
}

/* Size of the forces inside the tree: what a residual must be measured against. */
static double force_scale(void)
{
    double scale = 1.0;
    for (int i = 0; i < tree.model->link_count; i++) {
        scale = fmax(scale, dyn_norm(tree.work->f[i].ang));
        scale = fmax(scale, dyn_norm(tree.work->f[i].lin));
    }
    for (int k = 0; k < dyn_model_nv(tree.model); k++)
        scale = fmax(scale, fabs(tree.tau[k]));
    return scale;
}

/* What is left of tau when inverse dynamics have had the kernel's answer. */
static double residual(void)
{
    double tau[TREE_NV_MAX], worst = 0.0;
    const struct dyn_state state = tree_state(&tree);
    const struct dyn_input input = tree_input(&tree);
    tree_forward(&tree);
    tree_poison(&tree);
    dyn_rnea(tree.model, &state, tree.a, &input, tree.work, tau);
    const double scale = force_scale();
    for (int k = 0; k < dyn_model_nv(tree.model); k++) {
        if (!isfinite(tau[k]))
            return (double)INFINITY;
        worst = fmax(worst, fabs(tau[k] - tree.tau[k]) / scale);
    }
    return worst;
}

static void test_inverse_dynamics_returns_the_forces(void)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        flexible_random(&tree, 1 + (int)(seed % 12), (int)(seed / 12 % 2), seed);
        worst = fmax(worst, residual());
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_inverse_dynamics_returns_the_forces);
    return UNITY_END();
}
