/*
 * The phase lock against boards whose clocks are known: first the loop by itself, then the frame
 * loop on a scripted clock, where a board looks at the releases that really happened.
 */
#include "rt/phase_lock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/frame.h"
#include "tests/rt/fake_clock.h"
#include "unity.h"

enum { H = 1000 * 1000, SECOND = 1000 }; /* frames */
enum { SPIKE = 30 * H + 7 * H / 10 };    /* half of it is no whole cycle */

static struct rt_phase_lock phase_lock;
static uint64_t now_ns, seed;
static int64_t offset_ns, step_max_ns;

/* What is true of the wire and of the board's clock. */
static struct world {
    double ppm;        /* of the board's clock */
    int64_t jitter_ns; /* of the way back, at most */
    uint64_t spike;    /* every n-th observation is late by SPIKE; 0: none */
    bool silent;
    uint64_t every; /* frames between observations */
    double boot_ns; /* of the board's clock */
} world;

void setUp(void)
{
    const struct rt_phase_lock_spec spec = {.period_ns = H,
                                            .cycle_ns = H,
                                            .time_constant_ns = 2000000000u,
                                            .limit_ppm = 200.0,
                                            .has_delay = true};
    rt_phase_lock_begin(&phase_lock, &spec);
    world = (struct world){.every = 40, .boot_ns = 12345678.0};
    now_ns = 7777777;
    seed = 1;
    offset_ns = step_max_ns = 0;
}

void tearDown(void)
{
}

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return below == 0 ? 0 : (seed >> 33) % below;
}

static double board_ns(uint64_t at_ns)
{
    return world.boot_ns + (double)at_ns * (1.0 + world.ppm * 1e-6);
}

/* A question and its answer: the board read its clock in the middle, the way back was held up. */
static void ask(uint64_t k)
{
    const uint64_t back_ns = draw((uint64_t)world.jitter_ns + 1) +
                             (world.spike > 0 && k / world.every % world.spike == 0 ? SPIKE : 0);
    const struct rt_phase_sample sight = {.local_ns = now_ns + 50000 + back_ns / 2,
                                          .board_ns = (uint64_t)board_ns(now_ns + 50000),
                                          .delay_ns = 100000 + back_ns};
    rt_phase_lock_observe(&phase_lock, &sight);
}

static void run_for(uint64_t frames)
{
    for (uint64_t k = 0; k < frames; k++) {
        if (!world.silent && k % world.every == 0)
            ask(k);
        const int64_t step = rt_phase_lock_step(&phase_lock, now_ns, 1);
        step_max_ns = llabs(step) > step_max_ns ? llabs(step) : step_max_ns;
        offset_ns += step;
        now_ns += (uint64_t)(H + step);
    }
}

/* How far the board has got ahead of the grid meanwhile, by the truth. */
static double true_error(uint64_t from_ns, int64_t from_offset_ns)
{
    const double board = board_ns(now_ns) - board_ns(from_ns);
    const double grid = (double)(now_ns - from_ns) - (double)(offset_ns - from_offset_ns);
    return board - grid;
}

static void test_a_board_that_runs_fast_is_followed(void)
{
    world.ppm = 80.0;
    run_for(30 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_FALSE(phase_lock.saturated);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 80.0, rt_phase_lock_ppm(&phase_lock));
    const uint64_t from_ns = now_ns;
    const int64_t from_offset_ns = offset_ns;
    run_for(60 * SECOND); /* a free grid would be off by 4.8 ms */
    TEST_ASSERT_DOUBLE_WITHIN(500.0, 0.0, true_error(from_ns, from_offset_ns));
    TEST_ASSERT_DOUBLE_WITHIN(0.01 * 60e9 * 80e-6, -60e9 * 80e-6,
                              (double)(offset_ns - from_offset_ns));
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.slips);
}

static void test_a_board_that_runs_slow_is_followed(void)
{
    world.ppm = -120.0;
    run_for(30 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, -120.0, rt_phase_lock_ppm(&phase_lock));
}

static void test_the_phase_of_the_first_sample_is_held(void)
{
    world.ppm = 80.0;
    const uint64_t from_ns = now_ns;
    run_for(60 * SECOND);
    TEST_ASSERT_DOUBLE_WITHIN(1000.0, 0.0, true_error(from_ns, 0));
}

static void test_a_delay_spike_does_not_move_the_grid(void)
{
    world.ppm = 80.0;
    world.jitter_ns = 20000;
    world.spike = 3;
    run_for(30 * SECOND);
    const uint64_t from_ns = now_ns;
    const int64_t from_offset_ns = offset_ns;
    run_for(30 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.losses);
    TEST_ASSERT_DOUBLE_WITHIN(10000.0, 0.0, true_error(from_ns, from_offset_ns));
}

/* For a second at a time nothing comes back in less than 30 ms, all of it lost on one way. */
static void test_a_window_in_which_all_were_held_up_says_nothing(void)
{
    world.ppm = 80.0;
    run_for(20 * SECOND);
    const uint64_t from_ns = now_ns;
    const int64_t from_offset_ns = offset_ns;
    for (int i = 0; i < 10; i++) {
        world.spike = 1;
        run_for(1 * SECOND);
        world.spike = 0;
        run_for(4 * SECOND);
    }
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.slips);
    TEST_ASSERT_DOUBLE_WITHIN(5000.0, 0.0, true_error(from_ns, from_offset_ns));
}

/* One window after another with one observation each; true: the last one counted. */
static bool counts(uint64_t usual_ns, uint64_t delay_ns)
{
    const uint64_t window_ns = phase_lock.spec.time_constant_ns / 8;
    setUp();
    (void)rt_phase_lock_step(&phase_lock, now_ns, 1); /* opens the first window */
    for (int i = 0; i < 2; i++) {
        const struct rt_phase_sample sight = {.local_ns = now_ns + window_ns / 2,
                                              .board_ns = now_ns + window_ns / 2,
                                              .delay_ns = i == 0 ? usual_ns : delay_ns};
        rt_phase_lock_observe(&phase_lock, &sight);
        now_ns += window_ns;
        (void)rt_phase_lock_step(&phase_lock, now_ns, 1);
    }
    TEST_ASSERT_EQUAL_UINT64(phase_lock.empty_windows == 0 ? 2 : 1, phase_lock.error_ns.count);
    return phase_lock.empty_windows == 0;
}

static void test_a_delay_counts_up_to_a_quarter_of_a_cycle_above_the_usual_one(void)
{
    TEST_ASSERT_TRUE(counts(100000, 100000));
    TEST_ASSERT_TRUE(counts(100000, 100000 + H / 4));
    TEST_ASSERT_FALSE(counts(100000, 100000 + H / 4 + 1));
    TEST_ASSERT_TRUE(counts(100000, 1)); /* a quicker way is the usual one from now on */
}

static void test_a_delay_that_stays_becomes_the_usual_one(void)
{
    world.ppm = 80.0;
    run_for(20 * SECOND);
    world.spike = 1;
    run_for(60 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_DOUBLE_WITHIN(1.0, 80.0, rt_phase_lock_ppm(&phase_lock));
}

static void test_arrivals_without_a_delay_are_taken_by_their_median(void)
{
    struct rt_phase_lock_spec spec = phase_lock.spec;
    spec.has_delay = false;
    rt_phase_lock_begin(&phase_lock, &spec);
    /* Packets once a millisecond of the board's clock, every fifth held up by 0.3 ms or by 0.7,
     * which looks as if it had come too soon. */
    const double board_h = H / (1.0 + 80e-6);
    double next_ns = (double)now_ns;
    const uint64_t from_ns = now_ns;
    for (uint64_t k = 0; k < 60 * SECOND; k++) {
        for (; next_ns < (double)now_ns; next_ns += board_h) {
            const struct rt_phase_sample sight = {
                .local_ns = (uint64_t)next_ns + draw(10000) +
                            (draw(5) == 0 ? 300000 + 400000 * draw(2) : 0)};
            rt_phase_lock_observe(&phase_lock, &sight);
        }
        const int64_t step = rt_phase_lock_step(&phase_lock, now_ns, 1);
        offset_ns += step;
        now_ns += (uint64_t)(H + step);
    }
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_DOUBLE_WITHIN(3.0, 80.0, rt_phase_lock_ppm(&phase_lock));
    world.ppm = 80.0;
    TEST_ASSERT_DOUBLE_WITHIN(20000.0, 0.0, true_error(from_ns, 0));
}

static void test_the_grid_moves_by_no_more_than_the_limit(void)
{
    world.ppm = 500.0;
    world.jitter_ns = 100000;
    world.spike = 2;
    run_for(30 * SECOND);
    TEST_ASSERT_LESS_OR_EQUAL_INT64(200, step_max_ns); /* 200 ppm of 1 ms */
    TEST_ASSERT_GREATER_THAN_INT64(150, step_max_ns);
}

static void test_a_clock_beyond_the_limit_saturates_and_is_not_locked(void)
{
    world.ppm = 500.0;
    run_for(60 * SECOND);
    TEST_ASSERT_FALSE(phase_lock.locked);
    TEST_ASSERT_TRUE(phase_lock.saturated);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 200.0, rt_phase_lock_ppm(&phase_lock));
    TEST_ASSERT_GREATER_THAN_UINT64(10, phase_lock.slips);
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.locked_steps);
}

static void test_a_clock_that_comes_back_within_the_limit_is_locked_again(void)
{
    world.ppm = 500.0;
    run_for(120 * SECOND);
    world.boot_ns += (double)now_ns * 420e-6; /* no jump in the board's time */
    world.ppm = 80.0;
    run_for(20 * SECOND); /* as soon as if it had never been away */
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 80.0, rt_phase_lock_ppm(&phase_lock));
}

static void test_a_rate_at_its_limit_is_no_lock_however_small_the_error(void)
{
    world.ppm = 190.0;
    run_for(60 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    world.boot_ns -= (double)now_ns * 11e-6;
    world.ppm = 201.0;
    run_for(30 * SECOND);
    TEST_ASSERT_FALSE(phase_lock.locked);
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.slips);
}

/* What it was doing about an error when the board fell silent is not done for ever. */
static void test_an_outage_ends_what_was_done_about_the_error(void)
{
    world.ppm = 80.0;
    run_for(1 * SECOND);
    world.silent = true;
    TEST_ASSERT_GREATER_THAN_INT64(5,
                                   llabs((int64_t)((phase_lock.rate - phase_lock.integral) * 1e6)));
    run_for(1 * SECOND);
    TEST_ASSERT_EQUAL_DOUBLE(phase_lock.integral, phase_lock.rate);
}

static void test_an_outage_holds_the_rate_and_then_relaxes_to_nominal(void)
{
    world.ppm = 80.0;
    run_for(30 * SECOND);
    world.silent = true;
    run_for(5 * SECOND);
    TEST_ASSERT_FALSE(phase_lock.locked);
    TEST_ASSERT_EQUAL_UINT64(1, phase_lock.losses);
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 80.0, rt_phase_lock_ppm(&phase_lock));
    run_for(60 * SECOND);
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 0.0, rt_phase_lock_ppm(&phase_lock));
    TEST_ASSERT_LESS_OR_EQUAL_INT64(200, step_max_ns);
    world.silent = false;
    run_for(30 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 80.0, rt_phase_lock_ppm(&phase_lock));
}

static void test_a_board_that_restarts_its_clock_does_not_make_the_grid_jump(void)
{
    world.ppm = 80.0;
    run_for(30 * SECOND);
    world.boot_ns = -(double)now_ns + 123456.0; /* it begins at zero, at another phase */
    run_for(30 * SECOND);
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_LESS_OR_EQUAL_INT64(200, step_max_ns);
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 80.0, rt_phase_lock_ppm(&phase_lock));
}

static void test_without_observations_nothing_moves(void)
{
    world.silent = true;
    run_for(30 * SECOND);
    TEST_ASSERT_EQUAL_INT64(0, offset_ns);
    TEST_ASSERT_FALSE(phase_lock.locked);
    TEST_ASSERT_EQUAL_UINT64(0, phase_lock.losses);
}

static void test_slots_that_were_missed_move_the_grid_too(void)
{
    world.ppm = 80.0;
    run_for(30 * SECOND);
    const int64_t one = rt_phase_lock_step(&phase_lock, now_ns, 1);
    const int64_t forty = rt_phase_lock_step(&phase_lock, now_ns, 40);
    TEST_ASSERT_INT64_WITHIN(2, -80, one);
    TEST_ASSERT_INT64_WITHIN(40, -3200, forty);
}

/* ---- the frame loop -------------------------------------------------------------------------- */

static struct rt_frame frame;
static struct fake_clock fake;
static struct rt_frame_record last;
static uint64_t release_before_ns, far_steps;
static bool observes;

static void nothing(void *self, uint64_t k)
{
    (void)self, (void)k;
}

static void nothing_safe(void *self)
{
    (void)self;
}

static void latch(void *self, uint64_t k, bool held)
{
    (void)self, (void)held;
    now_ns = fake.now_ns;
    if (observes && k % world.every == 0)
        ask(k);
}

/* Every now and then a frame takes long: releases are missed. */
static void job(void *self, uint64_t k)
{
    (void)self;
    fake_clock_spend(&fake, k % 997 == 996 ? 3 * H + H / 3 : H / 4);
}

static void take_record(void *self, const struct rt_frame_record *taken)
{
    (void)self;
    if (taken->frame > 0) {
        const int64_t extra =
            (int64_t)(taken->release_ns - release_before_ns - (1 + (uint64_t)taken->missed) * H);
        far_steps += llabs(extra) > 200 * 5;
        step_max_ns = llabs(extra) > step_max_ns ? llabs(extra) : step_max_ns;
    }
    release_before_ns = taken->release_ns;
    last = *taken;
}

static void run_frames(bool with_lock, uint64_t count)
{
    static _Alignas(64) unsigned char mem[1 << 20];
    const struct rt_job jobs[] = {{.name = "work", .run = job, .every = 1}};
    TEST_ASSERT_TRUE(rt_schedule_size(jobs, 1) <= sizeof mem);
    memset(&frame, 0, sizeof frame);
    fake = (struct fake_clock){0};
    far_steps = 0;
    frame.spec = (struct rt_frame_spec){.period_ns = H, .frame_count = count};
    frame.tasks = (struct rt_frame_tasks){.commit = nothing,
                                          .latch = latch,
                                          .record = take_record,
                                          .invalidate_outputs = nothing_safe};
    frame.clock = fake_clock_seam(&fake);
    frame.schedule = rt_schedule_place(jobs, 1, mem);
    frame.phase_lock = with_lock ? &phase_lock : NULL;
    rt_frame_run(&frame);
}

static void test_wall_time_is_frames_and_misses_and_the_correction(void)
{
    world.ppm = 80.0;
    observes = true;
    run_frames(true, 30 * SECOND);
    const uint64_t wall_ns = frame.last_release_ns - frame.first_release_ns + H;
    TEST_ASSERT_EQUAL_UINT64(90, frame.missed); /* three each time, however far the grid moved */
    TEST_ASSERT_TRUE(phase_lock.locked);
    TEST_ASSERT_EQUAL_INT64((int64_t)((frame.frames + frame.missed) * H) + frame.corrected_ns,
                            (int64_t)wall_ns);
    TEST_ASSERT_LESS_THAN_INT64(-1500000, frame.corrected_ns); /* 80 ppm of 30 s is 2.4 ms */
    TEST_ASSERT_EQUAL_UINT64(0, far_steps);
    TEST_ASSERT_GREATER_THAN_INT64(300, step_max_ns); /* after a miss, for all four slots */
    /* What is left of the board's lead over the grid, misses being whole cycles. */
    const double lead = board_ns(frame.last_release_ns) - board_ns(frame.first_release_ns) -
                        (double)(wall_ns - H) + (double)frame.corrected_ns;
    TEST_ASSERT_DOUBLE_WITHIN(5000.0, 0.0, lead);
}

static void test_a_lock_that_sees_nothing_leaves_the_grid_as_it_is(void)
{
    observes = false;
    run_frames(true, 5 * SECOND);
    const struct rt_frame_record locked = last;
    run_frames(false, 5 * SECOND);
    TEST_ASSERT_EQUAL_MEMORY(&locked, &last, sizeof last);
    TEST_ASSERT_EQUAL_INT64(0, frame.corrected_ns);
    TEST_ASSERT_EQUAL_UINT64((frame.frames + frame.missed - 1) * H,
                             frame.last_release_ns - frame.first_release_ns);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_board_that_runs_fast_is_followed);
    RUN_TEST(test_a_board_that_runs_slow_is_followed);
    RUN_TEST(test_the_phase_of_the_first_sample_is_held);
    RUN_TEST(test_a_delay_spike_does_not_move_the_grid);
    RUN_TEST(test_a_window_in_which_all_were_held_up_says_nothing);
    RUN_TEST(test_a_delay_counts_up_to_a_quarter_of_a_cycle_above_the_usual_one);
    RUN_TEST(test_a_delay_that_stays_becomes_the_usual_one);
    RUN_TEST(test_arrivals_without_a_delay_are_taken_by_their_median);
    RUN_TEST(test_the_grid_moves_by_no_more_than_the_limit);
    RUN_TEST(test_a_clock_beyond_the_limit_saturates_and_is_not_locked);
    RUN_TEST(test_a_clock_that_comes_back_within_the_limit_is_locked_again);
    RUN_TEST(test_a_rate_at_its_limit_is_no_lock_however_small_the_error);
    RUN_TEST(test_an_outage_ends_what_was_done_about_the_error);
    RUN_TEST(test_an_outage_holds_the_rate_and_then_relaxes_to_nominal);
    RUN_TEST(test_a_board_that_restarts_its_clock_does_not_make_the_grid_jump);
    RUN_TEST(test_without_observations_nothing_moves);
    RUN_TEST(test_slots_that_were_missed_move_the_grid_too);
    RUN_TEST(test_wall_time_is_frames_and_misses_and_the_correction);
    RUN_TEST(test_a_lock_that_sees_nothing_leaves_the_grid_as_it_is);
    return UNITY_END();
}
