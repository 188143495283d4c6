/*
 * The kernel that counts its operations, where the numbers can be known beforehand.
 */
#include "tools/count_flops.h"

#include "tests/dynamics/tree.h"
#include "unity.h"

static struct tree tree;

void setUp(void)
{
    tree_begin(&tree);
}

void tearDown(void)
{
}

static struct flop_count count_tree(void)
{
    struct flop_count count;
    tree_build(&tree);
    TEST_ASSERT_EQUAL_INT(0, count_flops(tree.model, &count));
    return count;
}

static long sum_of(const struct flop_count *count)
{
    return count->multiplications + count->additions + count->divisions;
}

/* Hinges neither along nor across each other. */
static struct flop_count count_chain(int body_count)
{
    tree_begin(&tree);
    for (int i = 0; i < body_count; i++) {
        tree_add(&tree, i - 1, DYN_JOINT_REVOLUTE, i % 2 ? 0.6 : 0.0, 0.0, i % 2 ? 0.8 : 1.0);
        tree.spec[i].place_xyz[0] = 0.5;
    }
    return count_tree();
}

static void test_every_hinge_more_costs_the_same(void)
{
    const struct flop_count few = count_chain(10), more = count_chain(11), many = count_chain(110);
    const long step = sum_of(&more) - sum_of(&few);
    TEST_ASSERT_EQUAL_INT64(sum_of(&few) + 100 * step, sum_of(&many));
}

/* The last one's pivot is known beforehand. */
static void test_a_hinge_is_one_sine_and_one_division_if_it_carries_others(void)
{
    const struct flop_count count = count_chain(7);
    TEST_ASSERT_EQUAL_INT64(6, count.divisions);
    TEST_ASSERT_EQUAL_INT64(7, count.functions);
}

/* Three pairs of pivots, and the length of the quaternion. */
static void test_a_free_body_is_four_divisions(void)
{
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    const struct flop_count count = count_tree();
    TEST_ASSERT_EQUAL_INT64(4, count.divisions);
    TEST_ASSERT_EQUAL_INT64(0, count.functions);
}

/* Two terms of the law, each with a factor: one for the travel, one for the speed. */
static void test_a_spring_costs_what_its_formula_says(void)
{
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    const struct flop_count bare = count_tree();
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_PRISMATIC, 0, 0, 1);
    tree.spec[0].law[0].stiffness = 1.0;
    const struct flop_count sprung = count_tree();
    TEST_ASSERT_EQUAL_INT64(bare.multiplications + 2, sprung.multiplications);
    TEST_ASSERT_EQUAL_INT64(bare.additions + 3, sprung.additions);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_hinge_more_costs_the_same);
    RUN_TEST(test_a_hinge_is_one_sine_and_one_division_if_it_carries_others);
    RUN_TEST(test_a_free_body_is_four_divisions);
    RUN_TEST(test_a_spring_costs_what_its_formula_says);
    return UNITY_END();
}
