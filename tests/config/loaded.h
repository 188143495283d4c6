/*
 * A scenario out of a text, loaded and let go again around every test.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "unity.h"

#define PI                     3.14159265358979323846
#define DEGREE                 (PI / 180)
#define NEAR(expected, actual) TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected, actual)

static struct cfg_scenario *scenario;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    scenario = NULL;
}

void tearDown(void)
{
    cfg_scenario_free(scenario);
}

static void load(const char *text)
{
    cfg_scenario_free(scenario);
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
}

static inline void expect_vector(const double *expected, const double *actual, int size)
{
    for (int i = 0; i < size; i++)
        NEAR(expected[i], actual[i]);
}
#define EXPECT_VECTOR(actual, ...)                                                                 \
    expect_vector((const double[]){__VA_ARGS__}, actual,                                           \
                  (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))
