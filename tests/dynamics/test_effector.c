/*
 * The reaction wheel's law by itself.
 */
#include "dynamics/effector.h"

#include <math.h>
#include <string.h>

#include "unity.h"

static struct dyn_effector wheel;
static const double still[3];

void setUp(void)
{
    wheel = (struct dyn_effector){
        .type = DYN_EFFECTOR_WHEEL,
        .body = 0,
        .wheel = {.axis = {0.0, 0.6, 0.8}, .inertia = 0.02, .max_torque = 0.1, .max_speed = 600.0},
    };
}

void tearDown(void)
{
}

static double torque_at(double speed, double command)
{
    const double momentum = dyn_wheel_momentum(&wheel.wheel, still, speed);
    const struct dyn_felt felt = {.supply = 1.0};
    double rate = (double)NAN;
    struct dyn_vec6 force;
    dyn_effector_eval(&wheel, &felt, command, &momentum, &rate, &force);
    return rate;
}

static void test_speed_is_relative_to_the_body(void)
{
    const double rate[3] = {9.0, 1.0, 2.0}; /* 2.2 along the axis */
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 50.0 - 2.2, dyn_wheel_speed(&wheel.wheel, rate, 1.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, dyn_wheel_momentum(&wheel.wheel, rate, 47.8));
}

/* torque on the body = -a tau - w x (a h), force none */
static void test_the_body_feels_reaction_and_gyroscopic_torque(void)
{
    const double w[3] = {0.1, 0.2, -0.3}, h = 4.0, tau = 0.05;
    const double a[3] = {0.0, 0.6, 0.8};
    const struct dyn_felt felt = {.rate = dyn_vec3_load(w)};
    struct dyn_vec6 felt_force;
    double rate, force[6];
    dyn_effector_eval(&wheel, &felt, tau, &h, &rate, &felt_force);
    dyn_vec3_store(felt_force.ang, force);
    dyn_vec3_store(felt_force.lin, force + 3);
    TEST_ASSERT_DOUBLE_WITHIN(1e-16, tau, rate);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -a[0] * tau - h * (w[1] * a[2] - w[2] * a[1]), force[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -a[1] * tau - h * (w[2] * a[0] - w[0] * a[2]), force[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -a[2] * tau - h * (w[0] * a[1] - w[1] * a[0]), force[2]);
    for (int k = 3; k < 6; k++)
        TEST_ASSERT_TRUE(force[k] == 0.0);
}

static void test_the_motor_gives_at_most_its_torque(void)
{
    TEST_ASSERT_EQUAL_DOUBLE(0.1, torque_at(0.0, 7.0));
    TEST_ASSERT_EQUAL_DOUBLE(-0.1, torque_at(0.0, -7.0));
    TEST_ASSERT_EQUAL_DOUBLE(0.07, torque_at(0.0, 0.07));
    wheel.wheel.max_torque = 0.0; /* unlimited */
    TEST_ASSERT_EQUAL_DOUBLE(7.0, torque_at(0.0, 7.0));
}

static void test_a_wheel_at_full_speed_can_only_be_braked(void)
{
    TEST_ASSERT_EQUAL_DOUBLE(0.05, torque_at(599.0, 0.05));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, torque_at(601.0, 0.05));
    TEST_ASSERT_EQUAL_DOUBLE(-0.05, torque_at(601.0, -0.05));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, torque_at(-601.0, -0.05));
    TEST_ASSERT_EQUAL_DOUBLE(0.05, torque_at(-601.0, 0.05));
    wheel.wheel.max_speed = 0.0; /* unlimited */
    TEST_ASSERT_EQUAL_DOUBLE(0.05, torque_at(1e6, 0.05));
}

static void test_friction_brakes_and_is_smooth_through_zero(void)
{
    wheel.wheel.viscous = 1e-4, wheel.wheel.coulomb = 2e-3, wheel.wheel.coulomb_speed = 5.0;
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -1e-4 * 300 - 2e-3 * tanh(60.0), torque_at(300.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1e-4 * 300 + 2e-3 * tanh(60.0), torque_at(-300.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -1e-4 - 2e-3 * tanh(0.2), torque_at(1.0, 0.0));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, torque_at(0.0, 0.0));
}

static void assert_refused(const char *why)
{
    const char *flaw = dyn_effector_flaw(&wheel, 3);
    TEST_ASSERT_NOT_NULL(flaw);
    TEST_ASSERT_EQUAL_STRING(why, flaw);
    setUp();
}

static void test_an_unsound_wheel_is_refused(void)
{
    TEST_ASSERT_NULL(dyn_effector_flaw(&wheel, 3));
    wheel.body = 3;
    assert_refused("no such body");
    wheel.body = -1;
    assert_refused("no such body");
    const int wrong = DYN_EFFECTOR_BATTERY + 1;
    memcpy(&wheel.type, &wrong, sizeof wheel.type);
    assert_refused("unknown effector type");
    wheel.wheel.axis[0] = 0.1;
    assert_refused("the wheel axis is not a unit vector");
    wheel.wheel.axis[0] = (double)NAN;
    assert_refused("the wheel axis is not a unit vector");
    wheel.wheel.inertia = 0.0;
    assert_refused("the wheel inertia must be positive");
    wheel.wheel.max_torque = -1.0;
    assert_refused("wheel limits must not be negative");
    wheel.wheel.max_speed = (double)NAN;
    assert_refused("wheel limits must not be negative");
    wheel.wheel.viscous = -1.0;
    assert_refused("wheel friction must not be negative");
    wheel.wheel.coulomb = (double)INFINITY;
    assert_refused("wheel friction must not be negative");
    wheel.wheel.coulomb = 1e-3;
    assert_refused("coulomb friction needs a positive coulomb_speed");
    wheel.wheel.coulomb_speed = -1.0;
    assert_refused("coulomb friction needs a positive coulomb_speed");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_speed_is_relative_to_the_body);
    RUN_TEST(test_the_body_feels_reaction_and_gyroscopic_torque);
    RUN_TEST(test_the_motor_gives_at_most_its_torque);
    RUN_TEST(test_a_wheel_at_full_speed_can_only_be_braked);
    RUN_TEST(test_friction_brakes_and_is_smooth_through_zero);
    RUN_TEST(test_an_unsound_wheel_is_refused);
    return UNITY_END();
}
