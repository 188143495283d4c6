/*
 * What a model refuses, and how it counts.
 */
#include "dynamics/model.h"

#include <math.h>
#include <string.h>

#include "unity.h"

enum { BODIES = 4 };

static struct dyn_body_spec specs[BODIES];

/* free bus, hinge, slide, bolt: all in order */
void setUp(void)
{
    static const enum dyn_joint_type joints[BODIES] = {DYN_JOINT_FREE, DYN_JOINT_REVOLUTE,
                                                       DYN_JOINT_PRISMATIC, DYN_JOINT_FIXED};
    for (int i = 0; i < BODIES; i++)
        specs[i] = (struct dyn_body_spec){
            .parent = i - 1,
            .joint = joints[i],
            .axis = {0.6, 0.8, 0.0},
            .place_quat = {1.0, 0.0, 0.0, 0.0},
            .mass = 2.0,
            .center = {0.1, 0.2, 0.3},
            .inertia = {1.0, 1.0, 1.5, 0.1, -0.1, 0.2},
        };
}

void tearDown(void)
{
}

static void assert_refused(int body, const char *why)
{
    int at = -1;
    const char *flaw = dyn_model_problem(specs, BODIES, &at);
    TEST_ASSERT_NOT_NULL(flaw);
    TEST_ASSERT_EQUAL_STRING(why, flaw);
    TEST_ASSERT_EQUAL_INT(body, at);
}

static void assert_accepted(void)
{
    int at = -1;
    TEST_ASSERT_NULL(dyn_model_problem(specs, BODIES, &at));
}

static void test_a_valid_model_has_no_problem(void)
{
    assert_accepted();
}

static void test_a_model_without_bodies_is_refused(void)
{
    int at = -1;
    TEST_ASSERT_EQUAL_STRING("a model needs a body", dyn_model_problem(specs, 0, &at));
}

static void test_a_parent_after_its_child_is_refused(void)
{
    specs[2].parent = 2;
    assert_refused(2, "a parent must come before its child");
    specs[2].parent = 3;
    assert_refused(2, "a parent must come before its child");
    specs[2].parent = -2;
    assert_refused(2, "a parent must come before its child");
}

static void test_an_unknown_joint_is_refused(void)
{
    const int wrong = DYN_JOINT_GENERAL + 1;
    memcpy(&specs[1].joint, &wrong, sizeof specs[1].joint);
    assert_refused(1, "unknown joint type");
}

static void test_every_number_must_be_finite(void)
{
    double *numbers[] = {&specs[1].axis[2],
                         &specs[1].place_xyz[0],
                         &specs[1].place_quat[3],
                         &specs[1].mass,
                         &specs[1].center[1],
                         &specs[1].inertia[5],
                         &specs[1].force_spec[0].stiffness,
                         &specs[1].force_spec[0].damping,
                         &specs[1].force_spec[0].rest,
                         &specs[1].inertia[0]};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        const double good = *numbers[k];
        *numbers[k] = (double)NAN;
        assert_refused(1, "a number is not finite");
        *numbers[k] = (double)INFINITY;
        assert_refused(1, "a number is not finite");
        *numbers[k] = good;
    }
    assert_accepted();
}

/* Each component of each, the second one's in a joint of two as well. */
static void test_no_number_at_all_escapes(void)
{
    struct dyn_body_spec *spec = &specs[1];
    const struct {
        double *first;
        int count;
    } rows[] = {
        {spec->axis, 3},         {spec->axis2, 3},         {spec->place_xyz, 3},
        {spec->place_quat, 4},   {&spec->mass, 1},         {spec->center, 3},
        {spec->inertia, 6},      {spec->screw[0], 6},      {spec->screw[5], 6},
        {&spec->rotor.ratio, 1}, {spec->rotor.axis, 3},    {&spec->rotor.inertia, 1},
        {&spec->mimic.ratio, 1}, {&spec->mimic.offset, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < rows[i].count; k++) {
            const double good = rows[i].first[k];
            rows[i].first[k] = -(double)INFINITY;
            assert_refused(1, "a number is not finite");
            rows[i].first[k] = good;
        }
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k += DYN_JOINT_DOF_MAX - 1) {
        struct dyn_joint_force_spec *force_spec = &spec->force_spec[k];
        double *const all[] = {
            &force_spec->stiffness,     &force_spec->rest,          &force_spec->damping,
            &force_spec->coulomb,       &force_spec->coulomb_speed, &force_spec->limit_stiffness,
            &force_spec->limit_damping, &force_spec->lower,         &force_spec->upper};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            *all[i] = (double)NAN;
            assert_refused(1, "a number is not finite");
            *all[i] = 0.0;
        }
        force_spec->lower = -(double)INFINITY,
        force_spec->upper = (double)INFINITY; /* a stop on one side */
        assert_accepted();
    }
}

static void test_a_negative_mass_is_refused(void)
{
    specs[3].mass = -1e-9;
    assert_refused(3, "the mass is negative");
}

static void set_inertia(int body, double xx, double yy, double zz, double xy, double xz, double yz)
{
    memcpy(specs[body].inertia, (double[]){xx, yy, zz, xy, xz, yz}, sizeof specs[body].inertia);
}

static void test_an_inertia_against_the_triangle_inequality_is_refused(void)
{
    static const char why[] = "no mass distribution has this inertia (triangle inequality)";
    set_inertia(1, 1.0, 1.0, 2.1, 0, 0, 0);
    assert_refused(1, why);
    set_inertia(1, 2.1, 1.0, 1.0, 0, 0, 0);
    assert_refused(1, why);
    set_inertia(1, 1.0, 2.1, 1.0, 0, 0, 0);
    assert_refused(1, why);
    set_inertia(1, -1.0, 1.0, 1.0, 0, 0, 0);
    assert_refused(1, why);
    set_inertia(1, -1.0, -1.0, -1.0, 0, 0, 0);
    assert_refused(1, why);
    set_inertia(1, 0.0, 0.0, 0.0, 0, 0, 0.1);
    assert_refused(1, why);
    set_inertia(1, 1.0, 1.0, 1.0, 0.8, 0, 0); /* principal moments 0.2, 1, 1.8 */
    assert_refused(1, why);
    set_inertia(1, 1.0, 1.0, 1.0, 0, 0.8, 0);
    assert_refused(1, why);
    set_inertia(1, 1.0, 1.0, 1.0, 0, 0, 0.8);
    assert_refused(1, why);
}

static void test_a_flat_plate_and_a_rounded_one_are_accepted(void)
{
    set_inertia(1, 1.0, 1.0, 2.0, 0, 0, 0);
    assert_accepted();
    set_inertia(1, 0.333333, 0.333333, 0.666667, 0, 0, 0);
    assert_accepted();
    set_inertia(1, 1.0, 1.0, 1.0, 0.49, 0, 0); /* principal moments 0.51, 1, 1.49 */
    assert_accepted();
}

/* Mass spread by a, b and c along three skew axes at right angles: real when none is negative. */
static void spread(double a, double b, double c)
{
    static const double e[3][3] = {
        {2.0 / 3, 2.0 / 3, 1.0 / 3}, {-2.0 / 3, 1.0 / 3, 2.0 / 3}, {1.0 / 3, -2.0 / 3, 2.0 / 3}};
    const double each[3] = {a, b, c}, trace = a + b + c;
    double S[3][3] = {{0}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                S[i][j] += each[k] * e[k][i] * e[k][j];
    set_inertia(1, trace - S[0][0], trace - S[1][1], trace - S[2][2], -S[0][1], -S[0][2], -S[1][2]);
}

static void test_mass_along_skew_axes_is_real_unless_some_is_negative(void)
{
    static const char why[] = "no mass distribution has this inertia (triangle inequality)";
    static const double good[][3] = {{1, 2, 3}, {3, 1, 2}, {1e-6, 1, 5},
                                     {5, 1, 0}, {0, 5, 1}, {1, 0, 5}};
    static const double bad[][3] = {{-1e-4, 2, 3}, {2, -1e-4, 3}, {2, 3, -1e-4}, {-0.1, 0.5, 0.6}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        spread(good[i][0], good[i][1], good[i][2]);
        assert_accepted();
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        spread(bad[i][0], bad[i][1], bad[i][2]);
        assert_refused(1, why);
    }
    for (int k = 0; k < 6; k++) { /* no trace, and yet not nothing */
        memset(specs[1].inertia, 0, sizeof specs[1].inertia);
        specs[1].inertia[k] = 0.1;
        if (k < 3)
            specs[1].inertia[(k + 1) % 3] = -0.1;
        assert_refused(1, why);
    }
}

/* Six typed digits are enough, and five are not. */
static void test_unit_vectors_have_six_digits(void)
{
    specs[1].axis[1] = 0.800001;
    assert_accepted();
    specs[1].axis[1] = 0.80001;
    assert_refused(1, "the joint axis is not a unit vector");
    setUp();
    memcpy(specs[3].place_quat, (double[]){0.707107, 0.0, -0.707107, 0.0}, 32);
    assert_accepted();
    memcpy(specs[3].place_quat, (double[]){0.7071, 0.0, -0.7071, 0.0}, 32);
    assert_refused(3, "the placing quaternion is not a unit quaternion");
    setUp();
    specs[1].joint = DYN_JOINT_UNIVERSAL;
    memcpy(specs[1].axis, (double[]){0.0, 1.0, 0.0}, 24);
    memcpy(specs[1].axis2, (double[]){0.0, 1e-6, 1.0}, 24); /* still across it */
    assert_accepted();
    memcpy(specs[1].axis2, (double[]){0.0, 2e-6, 1.0}, 24);
    assert_refused(1, "the two joint axes are not at right angles");
}

static void test_screws_are_one_to_six(void)
{
    specs[1].joint = DYN_JOINT_GENERAL;
    for (int k = 0; k < 6; k++)
        specs[1].screw[k][k] = 1.0;
    specs[1].screw_count = 6;
    assert_accepted();
    specs[1].screw_count = 7;
    assert_refused(1, "a general joint has one to six screws");
    specs[1].screw_count = -1;
    assert_refused(1, "a general joint has one to six screws");
    specs[1].screw_count = 6;
    specs[1].screw[5][5] = 1.1;
    assert_refused(1,
                   "a screw needs a unit rotation axis, or zero rotation and a unit translation");
    for (int k = 0; k < 3; k++) { /* a travel with the least bit of a turn */
        specs[1].screw[5][5] = 1.0;
        specs[1].screw[5][k] = 1e-9;
        assert_refused(
            1, "a screw needs a unit rotation axis, or zero rotation and a unit translation");
        specs[1].screw[5][k] = 0.0;
    }
}

/* Of a joint with fewer velocities the rest must be empty, whatever law it is. */
static void test_every_law_needs_what_it_acts_on(void)
{
    static const char coordinate[] = "a spring or limit needs a joint coordinate";
    static const char velocity[] = "a damper or friction needs a joint velocity";
    specs[1].force_spec[1].stiffness = 1.0;
    assert_refused(1, coordinate);
    setUp();
    specs[1].force_spec[1].limit_stiffness = 1.0, specs[1].force_spec[1].upper = 1.0;
    assert_refused(1, coordinate);
    setUp();
    specs[1].force_spec[1].damping = 1.0;
    assert_refused(1, velocity);
    setUp();
    specs[1].force_spec[1].coulomb = specs[1].force_spec[1].coulomb_speed = 1.0;
    assert_refused(1, velocity);
    setUp();
    specs[0].force_spec[5].limit_stiffness = 1.0, specs[0].force_spec[5].upper = 1.0;
    assert_refused(0, coordinate);
    setUp();
    specs[1].force_spec[0].limit_damping = -1.0;
    assert_refused(1, "friction and limits must not be negative");
    setUp();
    specs[1].force_spec[0].limit_stiffness = -1.0;
    assert_refused(1, "friction and limits must not be negative");
    setUp();
    specs[1].force_spec[0].limit_stiffness = 1.0,
    specs[1].force_spec[0].lower = specs[1].force_spec[0].upper = 2.0;
    assert_refused(1, "the lower limit must be below the upper one");
    setUp();
    specs[1].mimic = (struct dyn_mimic){1, 2, 0.5, 0.0};
    specs[1].force_spec[0].damping = 1.0;
    assert_accepted();
    specs[1].force_spec[1].damping = 1.0;
    assert_refused(1, velocity);
}

static void test_a_leader_is_another_hinge_or_slide_that_leads_itself(void)
{
    static const char why[] =
        "a mimicking joint must name another joint with one coordinate that mimics none";
    specs[1].mimic = (struct dyn_mimic){1, -1, 0.5, 0.0};
    assert_refused(1, why);
    specs[1].mimic.leader = 3; /* a bolt */
    assert_refused(1, why);
    specs[3].joint = DYN_JOINT_GENERAL, specs[3].screw_count = 1, specs[3].screw[0][0] = 1.0;
    assert_accepted();
    specs[3].screw_count = 2, specs[3].screw[1][1] = 1.0;
    assert_refused(1, why);
    specs[3].joint = DYN_JOINT_REVOLUTE;
    assert_accepted();
    specs[3].mimic = (struct dyn_mimic){1, 2, 0.5, 0.0};
    assert_refused(1, why);
}

static void test_an_axis_must_be_unit(void)
{
    specs[1].axis[0] = 0.7;
    assert_refused(1, "the joint axis is not a unit vector");
    setUp();
    memset(specs[2].axis, 0, sizeof specs[2].axis);
    assert_refused(2, "the joint axis is not a unit vector");
    setUp();
    memset(specs[3].axis, 0, sizeof specs[3].axis); /* a bolt has none */
    assert_accepted();
}

static void test_a_placing_quaternion_must_be_unit(void)
{
    specs[3].place_quat[0] = 0.0;
    assert_refused(3, "the placing quaternion is not a unit quaternion");
}

static void test_a_free_joint_may_hang_anywhere(void)
{
    specs[1].joint = DYN_JOINT_FREE;
    assert_accepted();
}

static void test_two_axes_must_be_across_each_other(void)
{
    static const enum dyn_joint_type joints[] = {DYN_JOINT_UNIVERSAL, DYN_JOINT_PLANAR};
    for (int k = 0; k < 2; k++) {
        setUp();
        specs[1].joint = joints[k];
        assert_refused(1, "the second joint axis is not a unit vector");
        memcpy(specs[1].axis2, (double[]){0.0, 0.6, 0.8}, sizeof specs[1].axis2);
        assert_refused(1, "the two joint axes are not at right angles");
        memcpy(specs[1].axis2, (double[]){0.0, 0.0, 1.0}, sizeof specs[1].axis2);
        assert_accepted();
    }
}

static void test_a_screw_has_a_unit_turn_or_a_unit_travel(void)
{
    specs[1].joint = DYN_JOINT_GENERAL;
    assert_refused(1, "a general joint has one to six screws");
    specs[1].screw_count = 2;
    specs[1].screw[0][2] = 1.0, specs[1].screw[0][5] = 7.0;
    assert_refused(1,
                   "a screw needs a unit rotation axis, or zero rotation and a unit translation");
    specs[1].screw[1][3] = 1.0;
    assert_accepted();
    specs[1].screw[1][0] = 0.1;
    assert_refused(1,
                   "a screw needs a unit rotation axis, or zero rotation and a unit translation");
}

static void test_friction_and_limits_must_make_sense(void)
{
    specs[1].force_spec[0].coulomb = 1.0;
    assert_refused(1, "Coulomb friction needs a positive coulomb_speed");
    specs[1].force_spec[0].coulomb_speed = 0.1;
    assert_accepted();
    specs[1].force_spec[0].coulomb = -1.0;
    assert_refused(1, "friction and limits must not be negative");
    setUp();
    specs[1].force_spec[0].limit_stiffness = 5.0;
    assert_refused(1, "the lower limit must be below the upper one");
    specs[1].force_spec[0].lower = -1.0;
    assert_accepted();
}

static void test_a_rotor_needs_one_coordinate_and_an_axis(void)
{
    specs[1].rotor = (struct dyn_geared_rotor){DYN_ROTOR_FULL, 100.0, 1e-4, {0.0, 0.0, 2.0}};
    assert_refused(1, "the rotor axis is not a unit vector");
    specs[1].rotor.axis[2] = 1.0;
    assert_accepted();
    specs[1].rotor.inertia = -1.0;
    assert_refused(1, "the rotor's inertia is negative");
    setUp();
    specs[0].rotor = (struct dyn_geared_rotor){DYN_ROTOR_DIAGONAL, 100.0, 1e-4, {0.0, 0.0, 1.0}};
    assert_refused(0, "a geared rotor needs a joint with one coordinate");
}

static void test_a_joint_mimics_one_that_has_a_coordinate(void)
{
    static const char why[] =
        "a mimicking joint must name another joint with one coordinate that mimics none";
    specs[1].mimic = (struct dyn_mimic){1, 2, 0.5, 0.0};
    assert_accepted();
    specs[1].mimic.leader = 1;
    assert_refused(1, why);
    specs[1].mimic.leader = 0;
    assert_refused(1, why);
    specs[1].mimic.leader = BODIES;
    assert_refused(1, why);
    setUp();
    specs[3].mimic = (struct dyn_mimic){1, 2, 0.5, 0.0};
    assert_refused(3, "only a joint with one coordinate can mimic");
}

static void test_springs_and_dampers_must_not_be_negative(void)
{
    specs[1].force_spec[0].stiffness = -1.0;
    assert_refused(1, "stiffness and damping must not be negative");
    setUp();
    specs[2].force_spec[0].damping = -1.0;
    assert_refused(2, "stiffness and damping must not be negative");
}

static void test_a_spring_needs_a_coordinate(void)
{
    specs[0].force_spec[0].stiffness = 1.0;
    assert_refused(0, "a spring or limit needs a joint coordinate");
    setUp();
    specs[0].force_spec[5].damping = 1.0;
    assert_accepted();
    setUp();
    specs[3].force_spec[0].damping = 1.0;
    assert_refused(3, "a damper or friction needs a joint velocity");
}

/* Mass and inertia gone; the bolt at the end of the row is still there to carry. */
static void empty(int body)
{
    specs[body].mass = 0.0;
    set_inertia(body, 0, 0, 0, 0, 0, 0);
}

static void test_a_hinge_that_carries_no_inertia_is_refused(void)
{
    empty(1);
    assert_accepted(); /* what hangs further out turns with it */
    empty(2);
    empty(3);
    specs[2].joint = DYN_JOINT_FIXED;
    assert_refused(1, "the joint carries no inertia");
    specs[1].mass = 1.0; /* a point mass on the axis */
    memcpy(specs[1].center, (double[]){0.3, 0.4, 0.0}, sizeof specs[1].center);
    assert_refused(1, "the joint carries no inertia");
    specs[1].center[2] = 0.1; /* and off it */
    assert_accepted();
}

static void test_a_slide_that_carries_no_mass_is_refused(void)
{
    empty(2);
    assert_accepted(); /* the bolted body is carried */
    empty(3);
    assert_refused(2, "the joint carries no inertia");
}

static void test_bolted_bodies_count_for_the_hinge_they_turn_on(void)
{
    empty(1);
    specs[2].joint = DYN_JOINT_FIXED;
    specs[3].joint = DYN_JOINT_FIXED;
    assert_accepted();
    empty(2);
    assert_accepted();
    empty(3);
    assert_refused(1, "the joint carries no inertia");
}

static void test_a_bolt_far_out_is_placed_before_it_counts(void)
{
    empty(1);
    empty(2);
    specs[2].joint = DYN_JOINT_FIXED;
    specs[3].mass = 1.0;
    set_inertia(3, 0, 0, 0, 0, 0, 0);
    memset(specs[3].center, 0, sizeof specs[3].center);
    memcpy(specs[3].place_xyz, (double[]){0.0, 0.0, 1.0}, sizeof specs[3].place_xyz);
    assert_accepted();
    /* a half turn of the body between, about y, brings it to -1; a place of +1 then back onto the
     * axis */
    memcpy(specs[2].place_quat, (double[]){0.0, 0.0, 1.0, 0.0}, sizeof specs[2].place_quat);
    memcpy(specs[2].place_xyz, (double[]){0.0, 0.0, 1.0}, sizeof specs[2].place_xyz);
    assert_refused(1, "the joint carries no inertia");
}

/* A thin rod carries nothing about its own axis and all across it. */
static void test_a_bolt_is_turned_before_it_counts(void)
{
    empty(1);
    empty(3);
    specs[2].joint = DYN_JOINT_FIXED;
    memcpy(specs[1].axis, (double[]){1.0, 0.0, 0.0}, sizeof specs[1].axis);
    memset(specs[2].center, 0, sizeof specs[2].center);
    set_inertia(2, 0.0, 1.0, 1.0, 0, 0, 0);
    assert_refused(1, "the joint carries no inertia");
    memcpy(specs[2].place_quat, (double[]){0.8, 0.0, 0.0, 0.6}, sizeof specs[2].place_quat);
    assert_accepted();
}

/* A point mass on the first axis of a cross in the zero pose, and nowhere else. */
static void test_a_universal_joint_with_a_point_mass_on_its_first_axis_turns(void)
{
    empty(1);
    empty(2);
    empty(3);
    specs[1].joint = DYN_JOINT_UNIVERSAL;
    specs[1].mass = 1.0;
    memcpy(specs[1].axis, (double[]){0.0, 0.0, 1.0}, sizeof specs[1].axis);
    memcpy(specs[1].axis2, (double[]){0.0, 1.0, 0.0}, sizeof specs[1].axis2);
    memcpy(specs[1].center, (double[]){0.0, 0.0, -1.0}, sizeof specs[1].center);
    specs[2].joint = DYN_JOINT_FIXED;
    assert_accepted();
    memcpy(specs[1].center, (double[]){0.0, -1.0, 0.0}, sizeof specs[1].center); /* on the second */
    assert_refused(1, "the joint carries no inertia");
}

/* The same cross as two hinges, or as a general joint, and with a first axis that the second does
 * not move: that one stays singular. */
static void test_inertia_that_is_missing_in_one_pose_only_is_no_problem(void)
{
    empty(1);
    empty(2);
    empty(3);
    memcpy(specs[1].axis, (double[]){0.0, 0.0, 1.0}, sizeof specs[1].axis);
    specs[2] = specs[1];
    specs[2].parent = 1;
    memset(specs[2].place_xyz, 0, sizeof specs[2].place_xyz);
    memcpy(specs[2].place_quat, (double[]){1.0, 0.0, 0.0, 0.0}, sizeof specs[2].place_quat);
    memcpy(specs[2].axis, (double[]){0.0, 1.0, 0.0}, sizeof specs[2].axis);
    memcpy(specs[2].center, (double[]){0.0, 0.0, -1.0}, sizeof specs[2].center);
    specs[2].mass = 1.0;
    specs[3].joint = DYN_JOINT_FIXED;
    assert_accepted();
    memcpy(specs[2].axis, (double[]){0.0, 0.0, 1.0}, sizeof specs[2].axis);
    assert_refused(1, "the joint carries no inertia");

    static const double cross[2][6] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}};
    specs[2].joint = DYN_JOINT_FIXED;
    specs[1].joint = DYN_JOINT_GENERAL;
    specs[1].screw_count = 2;
    memcpy(specs[1].screw, cross, sizeof cross);
    assert_accepted();
    memcpy(specs[1].screw[1], cross[0], sizeof cross[0]);
    assert_refused(1, "the joint carries no inertia");
}

static void test_a_free_body_needs_mass_and_three_moments(void)
{
    empty(0);
    assert_accepted(); /* the others are carried */
    specs[1].parent = -1;
    assert_refused(0, "the joint carries no inertia");
    specs[0].mass = 1.0;
    assert_refused(0, "the joint carries no inertia");
    set_inertia(0, 0.0, 1.0, 1.0, 0, 0, 0); /* a thin rod */
    assert_refused(0, "the joint carries no inertia");
    set_inertia(0, 1e-6, 1.0, 1.0, 0, 0, 0);
    assert_accepted();
}

static void test_coordinates_are_counted_in_body_order(void)
{
    static _Alignas(64) unsigned char mem[1 << 14];
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof mem, dyn_model_size(specs, BODIES));
    const struct dyn_model *model = dyn_model_place(specs, BODIES, mem);
    TEST_ASSERT_EQUAL_INT(BODIES, dyn_model_body_count(model));
    TEST_ASSERT_EQUAL_INT(9, dyn_model_nq(model));
    TEST_ASSERT_EQUAL_INT(8, dyn_model_nv(model));
    TEST_ASSERT_EQUAL_INT(0, dyn_model_q_index(model, 0));
    TEST_ASSERT_EQUAL_INT(7, dyn_model_q_index(model, 1));
    TEST_ASSERT_EQUAL_INT(8, dyn_model_q_index(model, 2));
    TEST_ASSERT_EQUAL_INT(0, dyn_model_v_index(model, 0));
    TEST_ASSERT_EQUAL_INT(6, dyn_model_v_index(model, 1));
    TEST_ASSERT_EQUAL_INT(7, dyn_model_v_index(model, 2));
}

/* Whatever lay there before, the bytes after placing are the same, and none beyond the size change.
 */
static void test_a_placed_model_fills_its_size_and_no_more(void)
{
    static _Alignas(64) unsigned char mem[1 << 14];
    const size_t size = dyn_model_size(specs, BODIES);
    memset(mem, 0xa5, sizeof mem);
    dyn_model_place(specs, BODIES, mem);
    for (size_t k = size; k < sizeof mem; k++)
        TEST_ASSERT_EQUAL_HEX8(0xa5, mem[k]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_no_number_at_all_escapes);
    RUN_TEST(test_mass_along_skew_axes_is_real_unless_some_is_negative);
    RUN_TEST(test_unit_vectors_have_six_digits);
    RUN_TEST(test_screws_are_one_to_six);
    RUN_TEST(test_every_law_needs_what_it_acts_on);
    RUN_TEST(test_a_leader_is_another_hinge_or_slide_that_leads_itself);
    RUN_TEST(test_a_valid_model_has_no_problem);
    RUN_TEST(test_a_model_without_bodies_is_refused);
    RUN_TEST(test_a_parent_after_its_child_is_refused);
    RUN_TEST(test_an_unknown_joint_is_refused);
    RUN_TEST(test_every_number_must_be_finite);
    RUN_TEST(test_a_negative_mass_is_refused);
    RUN_TEST(test_an_inertia_against_the_triangle_inequality_is_refused);
    RUN_TEST(test_a_flat_plate_and_a_rounded_one_are_accepted);
    RUN_TEST(test_an_axis_must_be_unit);
    RUN_TEST(test_a_placing_quaternion_must_be_unit);
    RUN_TEST(test_a_free_joint_may_hang_anywhere);
    RUN_TEST(test_two_axes_must_be_across_each_other);
    RUN_TEST(test_a_screw_has_a_unit_turn_or_a_unit_travel);
    RUN_TEST(test_friction_and_limits_must_make_sense);
    RUN_TEST(test_a_rotor_needs_one_coordinate_and_an_axis);
    RUN_TEST(test_a_joint_mimics_one_that_has_a_coordinate);
    RUN_TEST(test_springs_and_dampers_must_not_be_negative);
    RUN_TEST(test_a_spring_needs_a_coordinate);
    RUN_TEST(test_a_hinge_that_carries_no_inertia_is_refused);
    RUN_TEST(test_a_slide_that_carries_no_mass_is_refused);
    RUN_TEST(test_bolted_bodies_count_for_the_hinge_they_turn_on);
    RUN_TEST(test_a_bolt_far_out_is_placed_before_it_counts);
    RUN_TEST(test_a_bolt_is_turned_before_it_counts);
    RUN_TEST(test_a_universal_joint_with_a_point_mass_on_its_first_axis_turns);
    RUN_TEST(test_inertia_that_is_missing_in_one_pose_only_is_no_problem);
    RUN_TEST(test_a_free_body_needs_mass_and_three_moments);
    RUN_TEST(test_coordinates_are_counted_in_body_order);
    RUN_TEST(test_a_placed_model_fills_its_size_and_no_more);
    return UNITY_END();
}
