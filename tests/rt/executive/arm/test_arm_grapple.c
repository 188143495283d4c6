/*
 * The arm takes hold of payloads and lets go of them: a grapple that keeps momentum, and a berth.
 */
#include "tests/rt/executive/arm/arm_fixture.h"

static void expect_same_places(const struct view *a, const struct view *b)
{
    for (int i = 0; i < BODIES; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, apart(a->pose[i].origin, b->pose[i].origin));
        TEST_ASSERT_DOUBLE_WITHIN(1e-14, 0.0, turn_between(a->pose[i].turn, b->pose[i].turn));
    }
}

static double *v_of(int body)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    return sim->vehicle->x + dyn_model_nq(model) + dyn_model_v_index(model, body);
}

static double off_by(const double a[3], const double b[3])
{
    return apart(dyn_vec3_load(a), dyn_vec3_load(b));
}

static void test_a_grapple_needs_reach_aim_and_patience(void)
{
    const struct {
        struct dyn_pose off;
        double speed;
        int taken;
    } tries[] = {
        {{{1, 0, 0, 0}, {0.099, 0, 0}}, 0.0, 1},
        {{{1, 0, 0, 0}, {0.101, 0, 0}}, 0.0, 0},
        {{dyn_quat_exp((struct dyn_vec3){0, 14.9 * DEGREE, 0}), {0, 0, 0}}, 0.0, 1},
        {{dyn_quat_exp((struct dyn_vec3){0, 15.1 * DEGREE, 0}), {0, 0, 0}}, 0.0, 0},
        {{{1, 0, 0, 0}, {0, 0, 0}}, 0.099, 1},
        {{{1, 0, 0, 0}, {0, 0, 0}}, 0.101, 0},
    };
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        bring_up_arm(NULL, 0);
        put_at_hand(2, &tries[i].off);
        memset(v_of(FLYER), 0, 6 * sizeof(double));
        v_of(FLYER)[3] = tries[i].speed;
        press(GRAPPLE);
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken ? 3 : 0, arm()->configuration);
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken, arm()->grapples);
        TEST_ASSERT_EQUAL_UINT64(!tries[i].taken, arm()->refused);
        press(GRAPPLE); /* and with a full hand it is refused anyway */
        TEST_ASSERT_EQUAL_UINT64(tries[i].taken, arm()->grapples);
        TEST_ASSERT_EQUAL_UINT64(1 + !tries[i].taken, arm()->refused);
    }
}

/* The nearest fixture cannot be gripped; one that can is taken instead. */
static void test_of_two_fixtures_the_one_that_fits_is_taken(void)
{
    const struct dyn_pose askew = {dyn_quat_exp((struct dyn_vec3){0, 0.5, 0}), {0.01, 0, 0}};
    const struct dyn_pose further = {{1, 0, 0, 0}, {0.05, 0, 0}};
    for (int first = 0; first < 3; first += 2) {
        bring_up_arm(NULL, 0);
        put_at_hand(first, &askew);
        put_at_hand(2 - first, &further);
        memset(v_of(FLYER), 0, 6 * sizeof(double));
        run_frames(SERVO);
        TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_CAPTURE_READY);
        TEST_ASSERT_EQUAL_UINT64(1 + 2 - first, arm()->near);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.05, arm()->reach);
        press(GRAPPLE);
        TEST_ASSERT_EQUAL_UINT64(1 + 2 - first, arm()->configuration);
    }
}

static void test_an_empty_hand_releases_nothing(void)
{
    bring_up_arm(NULL, 0);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->releases);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
}

/* Flown there by hand: the bay lets go and the hand takes hold in one event, nothing moves by it,
 * and momentum is kept. */
static void test_a_flight_to_the_satellite_ends_in_a_grapple(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
    const struct view before = view();
    const struct dyn_monitor kept = seen();
    hand.command.flags ^= 1ull << (32 + GRAPPLE);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct view after = view();
    const struct dyn_monitor now = seen();
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->grapples);
    expect_same_places(&before, &after);
    /* What moves is the arm; of its momentum. */
    TEST_ASSERT_TRUE(off_by(kept.linear_momentum, now.linear_momentum) < 1e-12 * 410.0);
    TEST_ASSERT_TRUE(off_by(kept.angular_momentum, now.angular_momentum) < 1e-12 * 4100.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, kept.kinetic - now.kinetic, arm()->blow);
    run_frames(5000);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
}

static uint64_t noise_state;

static double noise(void)
{
    noise_state = noise_state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(noise_state >> 11) / (double)(1ull << 52) - 1.0;
}

/* Everything that is not held moves; some brakes hold, or none is on and the servos work. */
static void stir(bool braked)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    double *v = sim->vehicle->x + dyn_model_nq(model);
    sim->vehicle->arm->panel.brakes = braked;
    sim->vehicle->arm->panel.mode = braked ? IO_ARM_PANEL_HOLD : IO_ARM_PANEL_BASE;
    for (int n = 0; n < 6; n++)
        sim->vehicle->arm->brake[n] = !braked         ? SIM_ARM_BRAKE_OFF
                                      : noise() > 0.0 ? SIM_ARM_BRAKE_HOLDS
                                                      : SIM_ARM_BRAKE_SLIPS;
    sim_vehicle_apply_arm_configuration(sim->vehicle);
    for (int i = 0; i < dyn_model_nv(model); i++)
        v[i] = sim->vehicle->held[i] ? 0.0 : 0.05 * noise();
}

/* Everything moves, bends and has its own brakes. */
static void shake(int payload, bool braked)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    double *x = sim->vehicle->x;
    for (int body = 0; body < BODIES; body++)
        for (int p = 0; p < dyn_model_modes(model, body); p++)
            x[dyn_model_eta_index(model, body) + p] = 0.01 * noise();
    for (int n = 0; n < 6; n++)
        x[sim->vehicle->kinematics.q_at[n]] += 0.2 * noise();
    stir(braked);
    const struct dyn_pose off = {
        dyn_quat_exp((struct dyn_vec3){0.2 * noise(), 0.2 * noise(), noise()}),
        {0.1 * noise(), 0.1 * noise(), 0.1 * noise()}};
    for (int i = 0; i < 3; i++) /* the others are out of reach */
        x[dyn_model_q_index(model, SATELLITE + i) + 2] = 40.0 + 20.0 * i;
    put_at_hand(payload, &off);
}

/* Spin of a body about its mass centre, which is its origin; world axes. */
static struct dyn_vec3 spin_of(int body, const struct view *of)
{
    const struct dyn_quat turn = dyn_quat_unit(of->pose[body].turn);
    const struct dyn_vec3 w = dyn_quat_rotate(dyn_quat_conjugate(turn), of->moves[body].ang);
    const double *I = scenario->spec.bodies[body].spec.inertia; /* about its axes */
    return dyn_quat_rotate(turn, (struct dyn_vec3){I[0] * w.x, I[1] * w.y, I[2] * w.z});
}

/* The impulse in the record is how the payload's momentum changed, about the hand; relative. */
static double impulse_error(int payload, const struct view *before, const struct view *after)
{
    const int body = scenario->spec.arm.payload[payload].body;
    const struct dyn_pose grip = dyn_pose_mul(&after->pose[HAND], &scenario->spec.arm.grip);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(grip.turn));
    const struct dyn_vec3 force =
        dyn_scale(scenario->spec.bodies[body].spec.mass,
                  dyn_sub(after->moves[body].lin, before->moves[body].lin));
    const struct dyn_vec3 arm_to = dyn_sub(after->pose[body].origin, grip.origin);
    const struct dyn_vec3 moment =
        dyn_add(dyn_sub(spin_of(body, after), spin_of(body, before)), dyn_cross(arm_to, force));
    return fmax(
        apart(dyn_quat_rotate(back, moment), dyn_vec3_load(arm()->impulse)) / dyn_norm(moment),
        apart(dyn_quat_rotate(back, force), dyn_vec3_load(arm()->impulse + 3)) / dyn_norm(force));
}

struct kept {
    double linear, angular, energy, impulse;
};

/* One look of the servos with this button pressed, and what it changed that should be kept. */
static void act_and_compare(int button, int payload, struct kept *worst)
{
    const struct dyn_monitor before = seen();
    const struct view placed = view();
    hand.command.flags ^= 1ull << (32 + button);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct dyn_monitor after = seen();
    const struct view now = view();
    expect_same_places(&placed, &now);
    worst->linear = fmax(worst->linear, off_by(before.linear_momentum, after.linear_momentum) /
                                            size_of(before.linear_momentum));
    worst->angular = fmax(worst->angular, off_by(before.angular_momentum, after.angular_momentum) /
                                              size_of(before.angular_momentum));
    if (button == RELEASE && !(arm()->latched >> payload & 1))
        return;
    worst->energy =
        fmax(worst->energy, fabs(before.kinetic - after.kinetic - arm()->blow) / before.kinetic);
    worst->impulse = fmax(worst->impulse, impulse_error(payload, &placed, &now));
    TEST_ASSERT_TRUE(arm()->blow > 0.0);
}

/* Each from other places and speeds, on a free orbiter, with brakes and without; and let go of
 * again, the satellite into its berth, which is another blow. */
static void test_a_thousand_grapples_through_the_simulation_keep_momentum_and_places(void)
{
    const char *more[] = {
        anything,
        "payloads.0.berth={reach: 1000 m, tilt: 4 rad, speed: 1000 m/s, rate: 1000 rad/s}"};
    struct kept taken = {0}, given = {0};
    noise_state = 8;
    bring_up_arm(more, 2);
    send_hand(); /* how it stands at first is no press */
    const size_t size = sim->vehicle->state_size;
    unsigned char *start = malloc(size);
    memcpy(start, sim->vehicle->state, size);
    for (int k = 0; k < 1000; k++) {
        const int payload = k % 3;
        memcpy(sim->vehicle->state, start, size);
        sim->vehicle->arm->latched = (uint64_t)(k / 3 % 8);
        sim_vehicle_apply_state(sim->vehicle);
        hand.command.flags = 0;
        shake(payload, k / 24 % 2);
        act_and_compare(GRAPPLE, payload, &taken);
        TEST_ASSERT_EQUAL_UINT64(1 + payload, arm()->configuration);
        TEST_ASSERT_FALSE(arm()->latched >> payload & 1);
        stir(k / 24 % 2);
        act_and_compare(RELEASE, payload, &given);
        TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
        TEST_ASSERT_EQUAL_UINT64(payload == 0, arm()->latched >> payload & 1);
    }
    free(start);
    printf("1000 grapples through the rig: linear momentum %.1e, angular %.1e, energy %.1e, "
           "impulse %.1e; releases %.1e, %.1e, %.1e, %.1e\n",
           taken.linear, taken.angular, taken.energy, taken.impulse, given.linear, given.angular,
           given.energy, given.impulse);
    TEST_ASSERT_TRUE(taken.linear < 1e-12 && given.linear < 1e-12);
    TEST_ASSERT_TRUE(taken.angular < 1e-12 && given.angular < 1e-12);
    TEST_ASSERT_TRUE(taken.energy < 1e-10 && given.energy < 1e-10);
    TEST_ASSERT_TRUE(taken.impulse < 1e-9 && given.impulse < 1e-9);
}

static void test_what_is_released_floats_on_as_it_moved(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    take_at_once(0);
    press(BASE);
    push(2, 1.0);
    run_frames(6000);
    const struct view before = view();
    hand.command.flags ^= 1ull << (32 + RELEASE);
    send_hand();
    sim_arm_servo(sim->vehicle);
    const struct view after = view();
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->releases);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    expect_same_places(&before, &after);
    for (int i = 0; i < BODIES; i++) {
        TEST_ASSERT_TRUE(apart(before.moves[i].ang, after.moves[i].ang) < 1e-14);
        TEST_ASSERT_TRUE(apart(before.moves[i].lin, after.moves[i].lin) < 1e-14);
    }
    TEST_ASSERT_TRUE(dyn_norm(after.moves[SATELLITE].lin) > 0.1);
    run_frames(10000); /* it flies straight, whatever the arm does */
    const struct view later = view();
    const struct dyn_vec3 there =
        dyn_add(after.pose[SATELLITE].origin, dyn_scale(10.0, after.moves[SATELLITE].lin));
    TEST_ASSERT_TRUE(apart(there, later.pose[SATELLITE].origin) < 1e-9);
}

/* How far what the hand has is from its berth, against where it is in the bay by the whole plant.
 */
static void expect_berth_told(int body, bool ready)
{
    const struct sim_payload *it = &scenario->spec.arm.payload[arm()->configuration - 1];
    const struct dyn_pose there = {dyn_quat_load(it->berth + 3), dyn_vec3_load(it->berth)};
    const struct dyn_pose berth = dyn_pose_mul(&it->on_bay, &there), here = in_bay(body);
    TEST_ASSERT_EQUAL_UINT64(arm()->configuration, arm()->near);
    TEST_ASSERT_DOUBLE_WITHIN(2e-3, apart(berth.origin, here.origin), arm()->reach);
    TEST_ASSERT_DOUBLE_WITHIN(1e-3, turn_between(berth.turn, here.turn), arm()->tilt);
    TEST_ASSERT_EQUAL(ready, (arm()->flags & SIM_ARM_BERTH_READY) != 0);
}

/* Out of it the light is off, and the way back is in the record. */
static void test_the_berth_of_the_payload_in_the_hand_is_reported(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_BERTH_READY);
    press(GRAPPLE);
    push(0, -1.0);
    run_frames(8000);
    let_go();
    run_frames(4000);
    TEST_ASSERT_TRUE(arm()->reach > 0.1);
    TEST_ASSERT_FALSE(arm()->flags & SIM_ARM_CAPTURE_READY);
    expect_berth_told(SATELLITE, false);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
}

static void test_a_release_at_the_berth_latches(void)
{
    bring_up_arm(NULL, 0);
    fly_to_satellite();
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(2, arm()->latched);
    run_frames(500);
    expect_berth_told(SATELLITE, true);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
    const struct dyn_pose before = in_bay(SATELLITE);
    run_frames(3000);
    const struct dyn_pose after = in_bay(SATELLITE);
    TEST_ASSERT_TRUE(apart(before.origin, after.origin) < 1e-12);
    TEST_ASSERT_TRUE(turn_between(before.turn, after.turn) < 1e-12);
}

/* The satellite in the hand, where it began, and the shoulder turns so that it has this speed;
 * released as it is. */
static void release_moving(const char *berth, double speed, bool latches)
{
    const char *more[] = {anything, berth};
    bring_up_arm(more, 2);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->configuration);
    const double blow = arm()->blow;
    double *shoulder = &sim->vehicle->x[dyn_model_nq(sim->vehicle->plant.model)];
    shoulder += sim->vehicle->kinematics.v_at[0];
    stir(false);
    memset(sim->vehicle->x + dyn_model_nq(sim->vehicle->plant.model), 0,
           (size_t)dyn_model_nv(sim->vehicle->plant.model) * sizeof(double));
    *shoulder = 1.0;
    *shoulder = speed / dyn_norm(view().moves[SATELLITE].lin);

    struct kept kept = {0};
    act_and_compare(RELEASE, 0, &kept);
    TEST_ASSERT_EQUAL_UINT64(latches ? 3 : 2, arm()->latched);
    const struct view now = view();
    const double left = apart(now.moves[SATELLITE].lin, now.moves[ORBITER].lin);
    if (latches) {
        TEST_ASSERT_TRUE(kept.energy < 1e-10 && kept.impulse < 1e-9);
        TEST_ASSERT_TRUE(left < 0.02 * speed); /* the orbiter turns a little */
    } else {
        TEST_ASSERT_EQUAL_DOUBLE(blow, arm()->blow);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, speed, left);
    }
}

static void test_what_is_too_fast_for_its_berth_floats_on(void)
{
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.5, false);
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.051, false);
    release_moving("payloads.0.berth={rate: 100 rad/s}", 0.049, true);
    release_moving("payloads.0.berth={speed: 100 m/s}", 0.5, false); /* 5 deg/s */
    release_moving("payloads.0.berth={speed: 100 m/s}", 0.05, true);
}

/* It has no berth, and is not bolted to the orbiter in mid-air. */
static void test_what_began_afloat_floats_on_where_it_began(void)
{
    const char *more[] = {anything};
    bring_up_arm(more, 1);
    stand_at((const double[]){19.83, 78.64, -63.7, -104.93, 0, 19.83});
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->configuration);
    press(RELEASE);
    TEST_ASSERT_EQUAL_UINT64(0, arm()->configuration);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->latched);
}

/* Where the flyer is some frames after it ran into the hand and was caught. */
static struct dyn_pose caught_with(const char *integrator)
{
    const char *more[] = {anything, integrator};
    bring_up_arm(more, 2);
    put_at_hand(2, &exactly);
    v_of(FLYER)[3] = 0.2;
    run_frames(SERVO);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(3, arm()->configuration);
    TEST_ASSERT_TRUE(arm()->blow > 0.9);
    run_frames(5);
    return in_bay(FLYER);
}

/* A method with several steps has sampled the motion before the impact, and must not go on with it:
 * one step of that is twenty micrometres. */
static void test_a_grapple_is_new_to_an_integrator_that_looks_back(void)
{
    const struct dyn_pose want = caught_with("integrator={method: rk4, substeps: 10}"),
                          got = caught_with("integrator={method: ab4, substeps: 10}");
    TEST_ASSERT_TRUE(apart(want.origin, got.origin) < 1e-6);
    TEST_ASSERT_TRUE(turn_between(want.turn, got.turn) < 1e-6);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_grapple_needs_reach_aim_and_patience);
    RUN_TEST(test_of_two_fixtures_the_one_that_fits_is_taken);
    RUN_TEST(test_an_empty_hand_releases_nothing);
    RUN_TEST(test_a_flight_to_the_satellite_ends_in_a_grapple);
    RUN_TEST(test_a_thousand_grapples_through_the_simulation_keep_momentum_and_places);
    RUN_TEST(test_what_is_released_floats_on_as_it_moved);
    RUN_TEST(test_the_berth_of_the_payload_in_the_hand_is_reported);
    RUN_TEST(test_a_release_at_the_berth_latches);
    RUN_TEST(test_what_is_too_fast_for_its_berth_floats_on);
    RUN_TEST(test_what_began_afloat_floats_on_where_it_began);
    RUN_TEST(test_a_grapple_is_new_to_an_integrator_that_looks_back);
    return UNITY_END();
}
