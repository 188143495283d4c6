/*
 * The reaction wheel's law by itself, effectors that are refused, and what is asked of a type.
 */
#include "dynamics/effector/effector.h"

#include <float.h>
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
    const struct dyn_effector_input effector_input = {.supply = 1.0};
    double rate = (double)NAN;
    struct dyn_vec6 force;
    dyn_wheel_ops.eval(&wheel.wheel, &effector_input, command, &momentum, &rate, &force);
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
    const struct dyn_effector_input effector_input = {.rate = dyn_vec3_load(w)};
    struct dyn_vec6 felt_force;
    double rate, force[6];
    dyn_wheel_ops.eval(&wheel.wheel, &effector_input, tau, &h, &rate, &felt_force);
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

static double grip_at(double speed)
{
    const struct dyn_effector_input effector_input = {.supply = 1.0};
    return dyn_wheel_friction_bound(&wheel.wheel, &effector_input, wheel.wheel.inertia * speed);
}

static void test_viscous_friction_brakes_and_dry_friction_has_a_bound(void)
{
    wheel.wheel.viscous = 1e-4, wheel.wheel.coulomb = 2e-3;
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, -1e-4 * 300, torque_at(300.0, 0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1e-4 * 300, torque_at(-300.0, 0.0));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, torque_at(0.0, 0.0));
    TEST_ASSERT_EQUAL_DOUBLE(2e-3, grip_at(0.0));
    TEST_ASSERT_EQUAL_DOUBLE(2e-3, grip_at(-300.0));
    wheel.wheel.stiction = 1e-3, wheel.wheel.stribeck_speed = 5.0;
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 3e-3, grip_at(0.0));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 2e-3 + 1e-3 * exp(-1.0), grip_at(-5.0));
}

static void assert_refused(const char *why)
{
    const char *flaw = dyn_effector_problem(&wheel, 3);
    TEST_ASSERT_NOT_NULL(flaw);
    TEST_ASSERT_EQUAL_STRING(why, flaw);
    setUp();
}

static void test_an_unsound_wheel_is_refused(void)
{
    TEST_ASSERT_NULL(dyn_effector_problem(&wheel, 3));
    wheel.body = 3;
    assert_refused("the effector names a body that does not exist");
    wheel.body = -1;
    assert_refused("the effector names a body that does not exist");
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
}

static void test_stiction_and_imbalance_are_checked(void)
{
    wheel.wheel.stiction = -1.0;
    assert_refused("wheel friction must not be negative");
    wheel.wheel.stiction = 1e-3;
    assert_refused("stiction needs a positive stribeck_speed");
    wheel.wheel.static_imbalance = -1.0;
    assert_refused("wheel imbalance must not be negative");
    wheel.wheel.dynamic_imbalance = (double)NAN;
    assert_refused("wheel imbalance must not be negative");
    wheel.wheel.at[1] = (double)NAN;
    assert_refused("the wheel's place is not finite");
}

/* A number of an effector that is good until it is changed to value. */
static void assert_number(struct dyn_effector *good, double *number, double value, const char *why)
{
    const double kept = *number;
    TEST_ASSERT_NULL(dyn_effector_problem(good, 1));
    *number = value;
    const char *flaw = dyn_effector_problem(good, 1);
    TEST_ASSERT_NOT_NULL(flaw);
    TEST_ASSERT_EQUAL_STRING(why, flaw);
    *number = kept;
}

static void test_an_unsound_rotor_is_refused(void)
{
    static const char *const all =
        "thrust, torque, inertia, lateral_drag and inflow of a rotor must not be negative";
    struct dyn_effector good = {
        .type = DYN_EFFECTOR_ROTOR,
        .rotor = {.axis = {0, 0, -1}, .spin = 1, .max_speed = 900, .lag_up = 0.1, .lag_down = 0.1}};
    struct dyn_rotor *rotor = &good.rotor;
    assert_number(&good, &rotor->at[2], (double)INFINITY, "the rotor's place is not finite");
    assert_number(&good, &rotor->axis[0], 0.1, "the rotor axis is not a unit vector");
    assert_number(&good, &rotor->spin, 0.0, "the rotor's spin must be +1 or -1");
    assert_number(&good, &rotor->max_speed, 0.0, "the rotor's max_speed must be positive");
    assert_number(&good, &rotor->idle_speed, 901.0,
                  "the rotor's idle_speed must lie between zero and max_speed");
    assert_number(&good, &rotor->lag_up, 0.0, "rotor lags must be positive");
    assert_number(&good, &rotor->lag_down, (double)NAN, "rotor lags must be positive");
    assert_number(&good, &rotor->thrust, -1.0, all);
    assert_number(&good, &rotor->torque, -1.0, all);
    assert_number(&good, &rotor->inertia, -1.0, all);
    assert_number(&good, &rotor->lateral_drag, -1.0, all);
    assert_number(&good, &rotor->inflow, -1.0, all);
}

static void test_an_unsound_torquer_or_thruster_is_refused(void)
{
    struct dyn_effector rod = {.type = DYN_EFFECTOR_TORQUER, .torquer = {.axis = {1, 0, 0}}};
    struct dyn_effector jet = {.type = DYN_EFFECTOR_THRUSTER,
                               .thruster = {.axis = {1, 0, 0}, .rise = 0.1, .fall = 0.1}};
    assert_number(&rod, &rod.torquer.axis[1], 1.0, "the torquer axis is not a unit vector");
    assert_number(&rod, &rod.torquer.max_dipole, -1.0,
                  "the torquer's max_dipole must not be negative");
    assert_number(&jet, &jet.thruster.at[0], (double)NAN, "the thruster's place is not finite");
    assert_number(&jet, &jet.thruster.axis[1], 1.0, "the thruster axis is not a unit vector");
    assert_number(&jet, &jet.thruster.thrust, -1.0, "the thrust must not be negative");
    assert_number(&jet, &jet.thruster.rise, 0.0,
                  "a thruster has both rise and fall, positive, or neither");
    assert_number(&jet, &jet.thruster.fall, -0.1,
                  "a thruster has both rise and fall, positive, or neither");
}

static void test_an_unsound_drag_or_contact_is_refused(void)
{
    static const char *const sign = "damping and friction of a contact must not be negative";
    struct dyn_effector air = {.type = DYN_EFFECTOR_DRAG};
    struct dyn_effector foot = {.type = DYN_EFFECTOR_CONTACT,
                                .contact = {.stiffness = 1.0, .friction = 0.5}};
    assert_number(&air, &air.drag.at[2], (double)NAN, "the drag's place is not finite");
    assert_number(&air, &air.drag.area[0], -1.0, "drag must not be negative");
    assert_number(&air, &air.drag.linear[1], -1.0, "drag must not be negative");
    assert_number(&air, &air.drag.angular[2], (double)NAN, "drag must not be negative");
    assert_number(&foot, &foot.contact.at[2], (double)NAN, "the contact's place is not finite");
    assert_number(&foot, &foot.contact.stiffness, 0.0, "the contact's stiffness must be positive");
    assert_number(&foot, &foot.contact.damping, -1.0, sign);
    assert_number(&foot, &foot.contact.friction, -1.0, sign);
}

static void test_an_unsound_battery_is_refused(void)
{
    static const char *const volts =
        "a battery's voltage_empty is positive and not above voltage_full";
    static const char *const amperes =
        "resistance and idle_current of a battery must not be negative";
    struct dyn_effector good = {
        .type = DYN_EFFECTOR_BATTERY,
        .battery = {16.8, 13.2, 18000.0, .resistance = 0.05, .idle_current = 1, .efficiency = 1}};
    struct dyn_battery *battery = &good.battery;
    assert_number(&good, &battery->voltage_full, 13.0, volts);
    assert_number(&good, &battery->voltage_empty, 0.0, volts);
    assert_number(&good, &battery->capacity, 0.0, "the battery's capacity must be positive");
    assert_number(&good, &battery->resistance, -1.0, amperes);
    assert_number(&good, &battery->idle_current, -1.0, amperes);
    assert_number(&good, &battery->resistance, 14.0,
                  "the idle_current is more than the battery can give");
    assert_number(&good, &battery->efficiency, 0.0,
                  "the efficiency must be above 0 and not above 1");
    assert_number(&good, &battery->efficiency, 1.1,
                  "the efficiency must be above 0 and not above 1");
}

/* The last value that is still valid. */
static void assert_taken(struct dyn_effector *good, double *number, double value)
{
    const double kept = *number;
    *number = value;
    TEST_ASSERT_NULL(dyn_effector_problem(good, 3));
    *number = kept;
}

static void test_parameters_just_inside_their_limits_are_accepted(void)
{
    struct dyn_effector prop = {
        .type = DYN_EFFECTOR_ROTOR,
        .rotor = {.axis = {0, 0, -1}, .spin = -1, .max_speed = 9, .lag_up = 0.1, .lag_down = 0.1}};
    struct dyn_effector cell = {
        .type = DYN_EFFECTOR_BATTERY,
        .battery = {16.0, 12.0, 18000.0, .resistance = 0.5, .idle_current = 1, .efficiency = 1}};
    struct dyn_effector foot = {.type = DYN_EFFECTOR_CONTACT, .contact = {.stiffness = 1.0}};
    wheel.body = 2;
    TEST_ASSERT_NULL(dyn_effector_problem(&wheel, 3));
    assert_taken(&wheel, &wheel.wheel.max_torque, 0.0);
    assert_taken(&wheel, &wheel.wheel.max_speed, 0.0);
    assert_taken(&wheel, &wheel.wheel.viscous, DBL_MAX);
    assert_taken(&wheel, &wheel.wheel.inertia, DBL_MIN);
    assert_taken(&wheel, &wheel.wheel.axis[2], 0.8 + 6e-10); /* the square is off by 9.6e-10 */
    assert_number(&cell, &cell.battery.voltage_full, 11.999,
                  "a battery's voltage_empty is positive and not above voltage_full");
    assert_taken(&cell, &cell.battery.voltage_full, 12.0);
    assert_taken(&cell, &cell.battery.resistance, 11.999);
    assert_number(&cell, &cell.battery.resistance, 12.0,
                  "the idle_current is more than the battery can give");
    assert_taken(&cell, &cell.battery.efficiency, 0.001);
    assert_taken(&prop, &prop.rotor.idle_speed, 9.0);
    assert_taken(&prop, &prop.rotor.spin, 1.0);
    assert_taken(&foot, &foot.contact.stiffness, DBL_MIN);
    wheel.wheel.axis[2] = 0.8 + 7e-10;
    assert_refused("the wheel axis is not a unit vector");
    wheel.wheel.stiction = 1e-3, wheel.wheel.stribeck_speed = 1.0;
    TEST_ASSERT_NULL(dyn_effector_problem(&wheel, 3));
}

static void test_every_component_of_a_place_and_of_drag_is_looked_at(void)
{
    struct dyn_effector air = {.type = DYN_EFFECTOR_DRAG};
    for (int k = 0; k < 3; k++) {
        assert_number(&air, &air.drag.at[k], -(double)INFINITY, "the drag's place is not finite");
        assert_number(&air, &air.drag.area[k], -1e-300, "drag must not be negative");
        assert_number(&air, &air.drag.linear[k], (double)INFINITY, "drag must not be negative");
        assert_number(&air, &air.drag.angular[k], -1.0, "drag must not be negative");
    }
}

/* V = E - R I, and V (I - idle) times the efficiency is the power. */
static void test_a_battery_gives_the_power_at_the_voltage_that_is_left(void)
{
    const struct dyn_battery battery = {
        16.0, 12.0, 1000.0, .resistance = 0.2, .idle_current = 1.5, .efficiency = 0.8};
    static const double used[] = {-5.0, 0.0, 250.0, 1000.0, 2000.0};
    static const double open[] = {16.0, 16.0, 15.0, 12.0, 12.0};
    for (int i = 0; i < 5; i++) {
        const double volts = dyn_battery_voltage(&battery, used[i], 40.0);
        const double amperes = dyn_battery_current(&battery, used[i], 40.0);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, open[i] - 0.2 * amperes, volts);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, 40.0, 0.8 * volts * (amperes - 1.5));
        TEST_ASSERT_TRUE(volts > 0.5 * open[i]);
    }
}

static struct dyn_vec6 eval(const struct dyn_effector *effector,
                            const struct dyn_effector_input *effector_input)
{
    struct dyn_vec6 force = {{9, 9, 9}, {9, 9, 9}};
    dyn_effector_rows[effector->type]->eval(dyn_effector_law(effector), effector_input, 0.0, NULL,
                                            NULL, &force);
    return force;
}

static void expect_vec3(double x, double y, double z, struct dyn_vec3 actual)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, x, actual.x);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, y, actual.y);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, z, actual.z);
}

/* By hand: the point moves at (1, 2, 2) + (0, 0, 2) x (0.5, 0, 0) = (1, 3, 2). */
static void test_drag_acts_at_its_place_along_each_axis_by_itself(void)
{
    const struct dyn_effector air = {.type = DYN_EFFECTOR_DRAG,
                                     .drag = {.at = {0.5, 0.0, 0.0},
                                              .area = {0.1, 0.2, 0.3},
                                              .linear = {4.0, 5.0, 6.0},
                                              .angular = {7.0, 8.0, 9.0}}};
    const struct dyn_effector_input effector_input = {
        .rate = {0.0, 0.0, 2.0}, .air_velocity = {1.0, 2.0, 2.0}, .density = 2.45}; /* twice */
    const double speed = sqrt(1.0 + 9.0 + 4.0), half = 0.5 * 2.45 * speed;
    const struct dyn_vec6 force = eval(&air, &effector_input);
    const double fx = -(half * 0.1 + 8.0) * 1.0, fy = -(half * 0.2 + 10.0) * 3.0;
    const double fz = -(half * 0.3 + 12.0) * 2.0;
    expect_vec3(fx, fy, fz, force.lin);
    expect_vec3(0.0, -0.5 * fz, 0.5 * fy - 2.0 * 9.0 * 2.0, force.ang);
    const struct dyn_effector_input turning = {
        .rate = {1.0, -3.0, 0.0}, .air_velocity = {0.0, 0.0, -1.5}, .density = 1.225};
    const struct dyn_vec6 twist = eval(&air, &turning); /* w x at cancels the fall */
    expect_vec3(0.0, 0.0, 0.0, twist.lin);
    expect_vec3(-7.0, 24.0, 0.0, twist.ang);
}

/* A body on its side: its x axis is down. */
static void test_a_foot_is_pressed_up_at_its_place(void)
{
    const struct dyn_effector foot = {
        .type = DYN_EFFECTOR_CONTACT,
        .contact = {.at = {0.5, 0.25, -0.75}, .stiffness = 100.0, .damping = 7.0, .friction = 0.5}};
    struct dyn_effector_input effector_input = {.rate = {0.0, 2.0, 3.0},
                                                .velocity = {1.0, 0.0, 0.0},
                                                .position = {5.0, 6.0, 2.0},
                                                .E = {.row = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}},
                                                .ground = 2.25};
    /* depth 2 + 0.5 - 2.25; down is x: 1 + (2 (-0.75) - 3 0.25) = -1.25 */
    const double push = 100.0 * 0.25 + 7.0 * -1.25;
    struct dyn_vec6 force = eval(&foot, &effector_input);
    expect_vec3(-push, 0.0, 0.0, force.lin);
    expect_vec3(0.0, -0.75 * -push, -0.25 * -push, force.ang);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * push,
                              dyn_contact_friction_bound(&foot.contact, &effector_input));
    effector_input.velocity.x =
        -30.0; /* it leaves faster than the ground follows, and nothing pulls */
    force = eval(&foot, &effector_input);
    expect_vec3(0.0, 0.0, 0.0, force.lin);
    effector_input.velocity.x = 1.0, effector_input.ground = 2.5; /* it just touches */
    force = eval(&foot, &effector_input);
    expect_vec3(0.0, 0.0, 0.0, force.lin);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, dyn_contact_friction_bound(&foot.contact, &effector_input));
}

/* What the rest of the program asks of a type. */
static void test_a_wheel_is_a_gyrostat_and_a_contact_is_a_foot(void)
{
    for (int type = 0; type < DYN_EFFECTOR_TYPE_COUNT; type++) {
        const struct dyn_effector effector = {.type = (enum dyn_effector_type)type};
        struct dyn_gyrostat gyrostat;
        struct dyn_foot foot;
        TEST_ASSERT_NOT_NULL(dyn_effector_rows[type]->eval);
        TEST_ASSERT_NOT_NULL(dyn_effector_rows[type]->problem);
        TEST_ASSERT_TRUE(dyn_effector_cost(&effector) > 0.0);
        TEST_ASSERT_EQUAL(type == DYN_EFFECTOR_WHEEL, dyn_effector_gyrostat(&effector, &gyrostat));
        TEST_ASSERT_EQUAL(type == DYN_EFFECTOR_CONTACT, dyn_effector_foot(&effector, &foot));
        TEST_ASSERT_EQUAL_INT(0, dyn_effector_dry_directions(&effector));
    }
}

static void test_the_most_that_an_effector_does(void)
{
    const struct dyn_effector rotor = {
        .type = DYN_EFFECTOR_ROTOR, .rotor = {.max_speed = 100.0, .thrust = 3e-4, .torque = 2e-5}};
    const struct dyn_effector torquer = {.type = DYN_EFFECTOR_TORQUER,
                                         .torquer = {.max_dipole = 30.0}};
    const struct dyn_effector thruster = {.type = DYN_EFFECTOR_THRUSTER,
                                          .thruster = {.thrust = 22.0}};
    const struct dyn_effector drag = {.type = DYN_EFFECTOR_DRAG, .drag = {.area = {1, 1, 1}}};
    TEST_ASSERT_EQUAL_DOUBLE(0.0, dyn_effector_limits(&wheel).force);
    TEST_ASSERT_EQUAL_DOUBLE(0.1, dyn_effector_limits(&wheel).torque);
    TEST_ASSERT_EQUAL_DOUBLE(600.0, dyn_effector_limits(&wheel).speed);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3.0, dyn_effector_limits(&rotor).force);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.2, dyn_effector_limits(&rotor).torque);
    TEST_ASSERT_EQUAL_DOUBLE(100.0, dyn_effector_limits(&rotor).speed);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3e-3, dyn_effector_limits(&torquer).torque);
    TEST_ASSERT_EQUAL_DOUBLE(22.0, dyn_effector_limits(&thruster).force);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, dyn_effector_limits(&drag).force);
}

static void test_dry_friction_can_be_taken_away(void)
{
    struct dyn_effector foot = {.type = DYN_EFFECTOR_CONTACT, .contact = {.friction = 0.5}};
    const double cost = dyn_effector_cost(&wheel);
    wheel.wheel.coulomb = 0.1, wheel.wheel.stiction = 0.2;
    TEST_ASSERT_EQUAL_INT(1, dyn_effector_dry_directions(&wheel));
    TEST_ASSERT_EQUAL_INT(2, dyn_effector_dry_directions(&foot));
    TEST_ASSERT_TRUE(dyn_effector_cost(&wheel) > cost);
    dyn_effector_remove_dry_friction(&wheel);
    dyn_effector_remove_dry_friction(&foot);
    TEST_ASSERT_EQUAL_INT(0, dyn_effector_dry_directions(&wheel));
    TEST_ASSERT_EQUAL_INT(0, dyn_effector_dry_directions(&foot));
    TEST_ASSERT_EQUAL_DOUBLE(cost, dyn_effector_cost(&wheel));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_parameters_just_inside_their_limits_are_accepted);
    RUN_TEST(test_every_component_of_a_place_and_of_drag_is_looked_at);
    RUN_TEST(test_a_battery_gives_the_power_at_the_voltage_that_is_left);
    RUN_TEST(test_drag_acts_at_its_place_along_each_axis_by_itself);
    RUN_TEST(test_a_foot_is_pressed_up_at_its_place);
    RUN_TEST(test_speed_is_relative_to_the_body);
    RUN_TEST(test_the_body_feels_reaction_and_gyroscopic_torque);
    RUN_TEST(test_the_motor_gives_at_most_its_torque);
    RUN_TEST(test_a_wheel_at_full_speed_can_only_be_braked);
    RUN_TEST(test_viscous_friction_brakes_and_dry_friction_has_a_bound);
    RUN_TEST(test_an_unsound_wheel_is_refused);
    RUN_TEST(test_stiction_and_imbalance_are_checked);
    RUN_TEST(test_an_unsound_rotor_is_refused);
    RUN_TEST(test_an_unsound_torquer_or_thruster_is_refused);
    RUN_TEST(test_an_unsound_drag_or_contact_is_refused);
    RUN_TEST(test_an_unsound_battery_is_refused);
    RUN_TEST(test_a_wheel_is_a_gyrostat_and_a_contact_is_a_foot);
    RUN_TEST(test_the_most_that_an_effector_does);
    RUN_TEST(test_dry_friction_can_be_taken_away);
    return UNITY_END();
}
