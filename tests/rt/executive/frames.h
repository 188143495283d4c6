/*
 * A scenario on the bench without a wire: frames one by one, commands by hand.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/executive/sim.h"
#include "unity.h"

#define PI     3.14159265358979323846
#define DEGREE (PI / 180)

static struct cfg_scenario *scenario;
static struct sim *sim;
static uint64_t frames; /* run so far */
static uint32_t due;    /* messages of the last frame, enum io_send */
static uint32_t fields; /* instruments of the last frame, enum io_field */

static void gather_nothing(void *self, struct sim *to, uint64_t frame)
{
    (void)self;
    (void)to;
    (void)frame;
}

static void bring_down(void)
{
    free(sim);
    cfg_scenario_free(scenario);
    sim = NULL;
    scenario = NULL;
}

void setUp(void)
{
}

void tearDown(void)
{
    bring_down();
}

static inline void bring_up(const char *text)
{
    char error[CFG_ERROR_MAX] = "";
    bring_down();
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, strlen(text), NULL, 0, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = gather_nothing;
    frames = 0;
}

static inline void run_frames(int count)
{
    const struct rt_frame_tasks tasks = sim_tasks(sim);
    for (int i = 0; i < count; i++, frames++) {
        tasks.latch(tasks.self, frames, false);
        rt_schedule_run(sim->schedule, frames);
        due = sim->scratch.sample[0].due;
        fields = sim->scratch.sample[0].fields;
        tasks.commit(tasks.self, frames);
    }
    TEST_ASSERT_EQUAL_UINT64(0, sim->vehicle->schedule->not_finite);
}

/* The controls from the next frame on. */
static inline void command(float first, float second)
{
    struct sim_record_input input = {.frame = frames, .command.kind = IO_COMMAND_CONTROLS};
    input.command.controls[0] = first;
    input.command.controls[1] = second;
    sim_apply_input(sim, &input);
}

static inline void expect_vector(double tolerance, const double *expected, const double *actual,
                                 int size)
{
    for (int i = 0; i < size; i++)
        TEST_ASSERT_DOUBLE_WITHIN(tolerance, expected[i], actual[i]);
}
#define EXPECT_VECTOR(tolerance, actual, ...)                                                      \
    expect_vector(tolerance, (const double[]){__VA_ARGS__}, actual,                                \
                  (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))
