/*
 * What each limit of a flexible model is a limit of: a clamped beam in units of density, length
 * and EI, whose one mode has the frequency 3.516.
 */
#include <math.h>
#include <string.h>

#include "dynamics/flex/validity.h"
#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/link_tree.h"
#include "tests/dynamics/craft.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "unity.h"

static const struct beam unit = {1.0, 1.0, 1.0};
static const struct beam_mode first = {BEAM_Y, 1};
static struct tree tree;
static struct lumps lumps;

void setUp(void)
{
}

void tearDown(void)
{
}

/* A beam on a joint along or about an axis; which body it is. */
static int add_beam(enum dyn_fidelity fidelity, enum dyn_joint_type joint, double ax, double az)
{
    static double reach[1];
    const int body = tree_add(&tree, -1, joint, ax, 0.0, az);
    beam_lumps(&unit, 1, &first, &lumps);
    lumps_sum(&lumps, fidelity, &tree.spec[body]);
    reach[0] = fabs(beam_shape(&unit, first, 1.0));
    lumps.flex.reach = reach;
    lumps.flex.length = 1.0;
    return body;
}

static void add_tip(int beam, double mass)
{
    struct dyn_body_spec *tip = &tree.spec[tree_add(&tree, beam, DYN_JOINT_FIXED, 0, 0, 0)];
    tip->node = 1;
    tip->mass = mass;
}

/* Held on its joint along or about an axis, with a tip of so much mass. */
static void make(enum dyn_fidelity fidelity, enum dyn_joint_type joint, double ax, double az,
                 double tip_mass)
{
    tree_begin(&tree);
    const int beam = add_beam(fidelity, joint, ax, az);
    if (tip_mass > 0.0)
        add_tip(beam, tip_mass);
    tree_build(&tree);
}

static unsigned range_at(double eta, double speed, double acceleration)
{
    const unsigned char held[2] = {1, 0};
    const double held_a[2] = {acceleration, 0.0};
    const struct dyn_input input = {.held = held, .held_a = held_a};
    struct dyn_output output = {.a = tree.a};
    const struct dyn_state state = tree_state(&tree);
    tree.q[1] = eta;
    tree.v[0] = speed;
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    return dyn_body_validity(tree.model, &state, tree.work, 0);
}

static void test_a_tenth_of_the_lowest_frequency_is_fast_for_what_has_no_geometric_stiffness(void)
{
    for (int f = DYN_FLEX_RUTHLESS; f <= DYN_FLEX_INCONSISTENT; f++) {
        make((enum dyn_fidelity)f, DYN_JOINT_REVOLUTE, 0, 1, 0.0);
        TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.351, 0.0));
        TEST_ASSERT_EQUAL_UINT(f == DYN_FLEX_CONSISTENT ? 0 : DYN_INVALID_RATE,
                               range_at(0.0, -0.353, 0.0));
    }
}

/* Tables of second order may be the frame's alone; whether they are, only the author knows. */
static void test_second_order_of_the_frame_alone_is_no_geometric_stiffness(void)
{
    make(DYN_FLEX_CONSISTENT, DYN_JOINT_REVOLUTE, 0, 1, 0.0);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.353, 0.0));
    lumps.flex.stiffens = 0;
    tree_build(&tree);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.351, 0.0));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_RATE, range_at(0.0, 0.353, 0.0));

    make(DYN_FLEX_CONSISTENT, DYN_JOINT_PRISMATIC, 1, 0, 0.0);
    lumps.flex.stiffens = 0;
    tree_build(&tree);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, -7.8));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_STIFFNESS, range_at(0.0, 0.0, -7.9));
}

/* The tip of the first mode is at 2. */
static void test_a_tenth_of_the_length_is_far(void)
{
    make(DYN_FLEX_RUTHLESS, DYN_JOINT_REVOLUTE, 0, 1, 0.0);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0499, 0.0, 0.0));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_DEFLECTION, range_at(-0.0501, 0.0, 0.0));
}

/* Thrust g takes g mu, mu = 1.57088, of 3.516^2 = 12.3624: half of it at 3.9348. */
static void test_half_of_the_buckling_load_is_far(void)
{
    for (int f = DYN_FLEX_RUTHLESS; f <= DYN_FLEX_CONSISTENT; f++) {
        make((enum dyn_fidelity)f, DYN_JOINT_PRISMATIC, 1, 0, 0.0);
        TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, 3.93));
        TEST_ASSERT_EQUAL_UINT(DYN_INVALID_STIFFNESS, range_at(0.0, 0.0, 3.94));
    }
}

/* A tip mass m adds m g int phi' phi' = m g 4.6477 (by beam_drawn). */
static void test_a_load_through_a_node_counts(void)
{
    const double drawn = beam_drawn(&unit, first, first, 1.0), m = 2.0, mu = 1.57088;
    const double g = 0.5 * 12.3624 / (mu + m * drawn);
    make(DYN_FLEX_CONSISTENT, DYN_JOINT_PRISMATIC, 1, 0, m);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, 0.999 * g));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_STIFFNESS, range_at(0.0, 0.0, 1.001 * g));
}

static void test_a_load_counts_on_its_own_body(void)
{
    const unsigned char held[4] = {1, 0, 1, 0};
    const double held_a[4] = {2.0, 0.0, 2.0, 0.0};
    const struct dyn_input input = {.held = held, .held_a = held_a};
    struct dyn_output output = {.a = tree.a};
    tree_begin(&tree);
    const int light = add_beam(DYN_FLEX_CONSISTENT, DYN_JOINT_PRISMATIC, 1, 0);
    const int heavy = add_beam(DYN_FLEX_CONSISTENT, DYN_JOINT_PRISMATIC, 1, 0);
    add_tip(heavy, 2.0);
    tree_build(&tree);
    const struct dyn_state state = tree_state(&tree);
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    TEST_ASSERT_EQUAL_UINT(0, dyn_body_validity(tree.model, &state, tree.work, light));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_STIFFNESS,
                           dyn_body_validity(tree.model, &state, tree.work, heavy));
}

/* A pull stiffens; a body with geometric stiffness has that already. */
static void test_twice_as_stiff_is_far_for_what_does_not_feel_it(void)
{
    make(DYN_FLEX_CONSISTENT, DYN_JOINT_PRISMATIC, 1, 0, 0.0);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, -8.0));
    make(DYN_FLEX_RUTHLESS, DYN_JOINT_PRISMATIC, 1, 0, 0.0);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, -7.8));
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_STIFFNESS, range_at(0.0, 0.0, -7.9));
}

/* ---- inertia ---- */

enum { MANY = 4 };

/* A beam of several modes on a free hinge. */
static void make_loose(enum dyn_fidelity fidelity)
{
    static double reach[MANY];
    struct beam_mode mode[MANY];
    for (int p = 0; p < MANY; p++) {
        mode[p] = (struct beam_mode){BEAM_Y, p + 1};
        reach[p] = fabs(beam_shape(&unit, mode[p], 1.0));
    }
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_REVOLUTE, 0.0, 0.0, 1.0);
    beam_lumps(&unit, MANY, mode, &lumps);
    lumps_sum(&lumps, fidelity, &tree.spec[0]);
    lumps.flex.reach = reach;
    lumps.flex.length = 1.0;
    tree_build(&tree);
}

/* The kernel makes a NaN of what has no inertia. */
static int survives(int p, double eta)
{
    const struct dyn_input input = {0};
    struct dyn_output output = {.a = tree.a};
    const struct dyn_state state = tree_state(&tree);
    memset(tree.q, 0, sizeof tree.q);
    tree.q[1 + p] = eta;
    dyn_aba(tree.model, &state, &input, tree.work, &output);
    return isfinite(tree.a[0]);
}

static unsigned loose_range(int p, double eta)
{
    const struct dyn_state state = tree_state(&tree);
    (void)survives(p, eta);
    return dyn_body_validity(tree.model, &state, tree.work, 0) & DYN_INVALID_INERTIA;
}

static void test_a_consistent_body_ends_where_its_bound_says(void)
{
    make_loose(DYN_FLEX_CONSISTENT);
    for (int p = 0; p < MANY; p++) {
        const double end = 1.0 / tree.model->modal[0].inverse_bound[p];
        TEST_ASSERT_TRUE(end * fabs(beam_shape(&unit, (struct beam_mode){BEAM_Y, p + 1}, 1.0)) <
                         0.2);
        TEST_ASSERT_TRUE(survives(p, 0.999 * end) && survives(p, -0.999 * end));
        TEST_ASSERT_FALSE(survives(p, 1.001 * end) && survives(p, -1.001 * end));
        TEST_ASSERT_EQUAL_UINT(0, loose_range(p, 0.0999 * end));
        TEST_ASSERT_EQUAL_UINT(DYN_INVALID_INERTIA, loose_range(p, -0.1001 * end));
    }
}

static void test_a_ruthless_body_has_no_such_end(void)
{
    make_loose(DYN_FLEX_RUTHLESS);
    for (int p = 0; p < MANY; p++) {
        TEST_ASSERT_TRUE(survives(p, 10.0));
        TEST_ASSERT_EQUAL_UINT(0, loose_range(p, 10.0));
    }
}

/* ---- a soft hinge, against a chain of rods ---- */

enum { RODS = 20, STEPS = 10000, TAIL = 2000 };
static const double HINGE = 0.1, TIP = 0.01, STEP = 1e-3;
static struct craft craft;
static double truth[TAIL], found[TAIL];

/* Rods with springs between them; as bent as the beam whose tip is off by TIP. */
static void make_chain(void)
{
    const double l = 1.0 / RODS, J = l * l * l / 12.0, eta = TIP / beam_shape(&unit, first, 1.0);
    double before = 0.0;
    memset(&craft, 0, sizeof craft);
    for (int i = 0; i < RODS; i++) {
        const int rod = tree_add(&craft.tree, i - 1, DYN_JOINT_REVOLUTE, 0, 0, 1);
        struct dyn_body_spec *spec = &craft.tree.spec[rod];
        spec->mass = l;
        spec->center[0] = 0.5 * l;
        spec->place_xyz[0] = i > 0 ? l : 0.0;
        memcpy(spec->inertia, (double[]){1e-3 * J, J, J, 0, 0, 0}, sizeof spec->inertia);
        spec->force_spec[0].stiffness = i > 0 ? 1.0 / l : HINGE;
    }
    tree_build(&craft.tree);
    craft_build(&craft);
    for (int i = 0; i < RODS; i++) {
        const double rise = beam_shape(&unit, first, (i + 1) * l) - beam_shape(&unit, first, i * l);
        craft.x[i] = eta * rise / l - before;
        before = eta * rise / l;
    }
}

static double chain_tip(void)
{
    double angle = 0.0, y = 0.0;
    for (int i = 0; i < RODS; i++) {
        angle += craft.x[i];
        y += sin(angle) / RODS;
    }
    return y;
}

static double beam_tip(void)
{
    double y = 0.0;
    for (int p = 0; p < MANY; p++)
        y += craft.x[1 + p] * beam_shape(&unit, (struct beam_mode){BEAM_Y, p + 1}, 1.0);
    return sin(craft.x[0]) + cos(craft.x[0]) * y;
}

/* How far the beam's tip is off in the last two of ten seconds; out: what it left its range by. */
static double soft_error(enum dyn_fidelity fidelity, unsigned *out)
{
    double miss = 0.0, size = 0.0;
    int body;
    *out = 0;
    memset(&craft, 0, sizeof craft);
    make_loose(fidelity);
    craft.tree.body_count = 1;
    craft.tree.spec[0] = tree.spec[0];
    craft.tree.spec[0].force_spec[0].stiffness = HINGE;
    tree_build(&craft.tree);
    craft_build(&craft);
    craft.x[1] = TIP / beam_shape(&unit, first, 1.0);
    for (int k = 0; k < STEPS; k++) {
        craft_run(&craft, 1, STEP);
        dyn_plant_solve(&craft.plant, craft.commands, NULL, craft.x, craft.work);
        *out |= dyn_plant_validity(&craft.plant, craft.work, craft.x, &body);
        if (k >= STEPS - TAIL)
            found[k - (STEPS - TAIL)] = beam_tip();
    }
    for (int k = 0; k < TAIL; k++) {
        miss += (found[k] - truth[k]) * (found[k] - truth[k]);
        size += truth[k] * truth[k];
    }
    return sqrt(miss / size);
}

static void test_on_a_soft_hinge_the_worse_model_is_the_one_out_of_range(void)
{
    unsigned consistent, ruthless;
    make_chain();
    for (int k = 0; k < STEPS; k++) {
        craft_run(&craft, 1, STEP);
        if (k >= STEPS - TAIL)
            truth[k - (STEPS - TAIL)] = chain_tip();
    }
    const double far = soft_error(DYN_FLEX_CONSISTENT, &consistent);
    const double near = soft_error(DYN_FLEX_RUTHLESS, &ruthless);
    TEST_ASSERT_TRUE(far > 0.08 && near < 0.06);
    TEST_ASSERT_EQUAL_UINT(DYN_INVALID_INERTIA, consistent);
    TEST_ASSERT_EQUAL_UINT(0, ruthless);
}

static void test_a_rigid_body_is_never_out_of_range(void)
{
    make(DYN_FLEX_RIGID, DYN_JOINT_PRISMATIC, 1, 0, 0.0);
    TEST_ASSERT_EQUAL_UINT(0, range_at(0.0, 0.0, 1e6));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_tenth_of_the_lowest_frequency_is_fast_for_what_has_no_geometric_stiffness);
    RUN_TEST(test_second_order_of_the_frame_alone_is_no_geometric_stiffness);
    RUN_TEST(test_a_tenth_of_the_length_is_far);
    RUN_TEST(test_half_of_the_buckling_load_is_far);
    RUN_TEST(test_a_load_through_a_node_counts);
    RUN_TEST(test_a_load_counts_on_its_own_body);
    RUN_TEST(test_twice_as_stiff_is_far_for_what_does_not_feel_it);
    RUN_TEST(test_a_consistent_body_ends_where_its_bound_says);
    RUN_TEST(test_a_ruthless_body_has_no_such_end);
    RUN_TEST(test_on_a_soft_hinge_the_worse_model_is_the_one_out_of_range);
    RUN_TEST(test_a_rigid_body_is_never_out_of_range);
    return UNITY_END();
}
