/*
 * A joint's servo against the equation of a mass on a spring and a damper.
 */
#include "dynamics/arm/joint_servo.h"

#include <math.h>

#include "unity.h"

static const struct dyn_joint_servo_spec servo = {
    .stiffness = 40.0, .damping = 6.0, .torque_max = 1e9};

static double q, v, reference, inertia, load; /* load: N m, from outside */
static int limited;

void setUp(void)
{
    q = v = reference = load = 0.0;
    inertia = 2.0;
    limited = 0;
}

void tearDown(void)
{
}

/* One period: a constant torque on a free mass, exactly. */
static double move(const struct dyn_joint_servo_spec *with, double command, double h)
{
    const double tau = dyn_joint_servo(with, 0.0, command, q, v, h, &reference, &limited);
    q += h * v + 0.5 * h * h * (tau + load) / inertia;
    v += h * (tau + load) / inertia;
    return tau;
}

/* How far behind c t a mass is that was at rest: I e'' + D e' + K e = 0, e(0) = 0, e'(0) = c. */
static double behind(double c, double t)
{
    const double decay = servo.damping / (2.0 * inertia);
    const double square = servo.stiffness / inertia - decay * decay;
    if (square > 0.0)
        return c / sqrt(square) * exp(-decay * t) * sin(sqrt(square) * t);
    return c / sqrt(-square) * exp(-decay * t) * sinh(sqrt(-square) * t);
}

static double worst_of(double h)
{
    const double c = 0.3;
    double worst = 0.0;
    q = v = reference = 0.0;
    for (int k = 1; k * h <= 4.0; k++) {
        move(&servo, c, h);
        worst = fmax(worst, fabs(c * k * h - behind(c, k * h) - q));
    }
    return worst;
}

/* Held torques are an error of first order in the period, and there is no other. */
static void expect_second_order_response(void)
{
    const double coarse = worst_of(2e-3), fine = worst_of(1e-3);
    TEST_ASSERT_TRUE(fine < 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 2.0, coarse / fine);
    TEST_ASSERT_EQUAL_INT(0, limited);
}

static void test_a_mass_follows_as_one_on_spring_and_damper(void)
{
    expect_second_order_response(); /* it rings */
    inertia = 0.1;
    expect_second_order_response(); /* it creeps */
}

static void test_it_catches_up_with_where_the_rate_would_have_led(void)
{
    for (int k = 0; k < 30000; k++)
        move(&servo, k < 10000 ? 0.3 : 0.0, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3.0, q);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.0, v);
}

static void test_a_load_is_carried_as_by_a_spring(void)
{
    load = 8.0;
    for (int k = 0; k < 20000; k++)
        move(&servo, 0.0, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, load / servo.stiffness, q);
}

static void test_the_torque_ends_at_its_limit_and_says_so(void)
{
    struct dyn_joint_servo_spec weak = servo;
    weak.torque_max = 5.0;
    const double rates[] = {-100.0, -0.9, -0.7, 0.0, 0.7, 0.9, 100.0}; /* 6 N m s: 5 N m at 0.83 */
    for (int i = 0; i < 7; i++) {
        limited = 0;
        reference = 0.0;
        const double tau =
            dyn_joint_servo(&weak, 0.0, rates[i], 0.0, 0.0, 1e-9, &reference, &limited);
        TEST_ASSERT_TRUE(fabs(tau) <= 5.0);
        TEST_ASSERT_EQUAL_INT(fabs(rates[i]) > 5.0 / 6.0, limited);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, fmin(fmax(6.0 * rates[i], -5.0), 5.0), tau);
    }
    limited = 1; /* of another joint; it stays */
    (void)dyn_joint_servo(&weak, 0.0, 0.0, 0.0, 0.0, 1e-3, &reference, &limited);
    TEST_ASSERT_EQUAL_INT(1, limited);
}

/* Against a wall for a minute: what follows is no longer than what full torque holds. */
static void test_a_motor_that_could_not_follow_does_not_make_up_for_it(void)
{
    struct dyn_joint_servo_spec weak = servo;
    weak.torque_max = 5.0;
    const double ahead = weak.torque_max / weak.stiffness;
    for (int k = 0; k < 60000; k++) {
        (void)dyn_joint_servo(&weak, 0.0, 0.5, 0.0, 0.0, 1e-3, &reference, &limited);
        TEST_ASSERT_TRUE(reference <= ahead * (1.0 + 1e-15));
    }
    const double before = reference;
    (void)dyn_joint_servo(&weak, 0.0, -0.5, 0.0, 0.0, 1e-3, &reference, &limited);
    TEST_ASSERT_TRUE(reference < before); /* turned round at once */
    double furthest = 0.0;
    for (int k = 0; k < 20000; k++) { /* the wall is gone, and the stick at rest */
        move(&weak, 0.0, 1e-3);
        furthest = fmax(furthest, q);
    }
    TEST_ASSERT_TRUE(furthest < 2.0 * ahead);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, reference, q);
    TEST_ASSERT_TRUE(reference <= before);
}

/* Thrown by something stronger than itself it does not pull back to where it was. */
static void test_what_was_carried_off_stays_near(void)
{
    struct dyn_joint_servo_spec weak = servo;
    weak.torque_max = 5.0;
    q = 3.0;
    for (int k = 0; k < 20000; k++)
        move(&weak, 0.0, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 3.0 - weak.torque_max / weak.stiffness, q);
}

static void test_without_stiffness_it_is_a_rate_servo(void)
{
    struct dyn_joint_servo_spec rate = {.damping = 6.0, .torque_max = 10.0};
    for (int k = 0; k < 20000; k++)
        move(&rate, 0.25, 1e-3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.25, v);
}

/* The reported target of a joint is never a place that the joint does not come to. */
static void test_without_stiffness_the_reference_is_where_the_joint_is(void)
{
    struct dyn_joint_servo_spec rate = {.damping = 6.0, .torque_max = 10.0};
    load = -0.9; /* it goes slower than commanded */
    for (int k = 0; k < 20000; k++) {
        const double before = q;
        move(&rate, 0.25, 1e-3);
        TEST_ASSERT_EQUAL_DOUBLE(before, reference);
    }
    TEST_ASSERT_TRUE(q < 0.25 * 20.0 - 1.0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_mass_follows_as_one_on_spring_and_damper);
    RUN_TEST(test_it_catches_up_with_where_the_rate_would_have_led);
    RUN_TEST(test_a_load_is_carried_as_by_a_spring);
    RUN_TEST(test_the_torque_ends_at_its_limit_and_says_so);
    RUN_TEST(test_a_motor_that_could_not_follow_does_not_make_up_for_it);
    RUN_TEST(test_what_was_carried_off_stays_near);
    RUN_TEST(test_without_stiffness_it_is_a_rate_servo);
    RUN_TEST(test_without_stiffness_the_reference_is_where_the_joint_is);
    return UNITY_END();
}
