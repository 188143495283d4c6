/*
 * WMM.COF files read back, mistakes in them named with their place, and the published test values
 * where the real file is there.
 *
 *   test_config_wmm [ROOT]    ROOT/build-deps/wmm/WMM.COF is what tools/setup/wmm made
 */
#include "config/import/wmm.h"
#include "config/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/world/earth.h"
#include "tests/config/wmm_file.h"
#include "unity.h"

static const char small[] = "    2025.0            MADE-UP      11/13/2024\n"
                            "  1  0  -29000.5       0.0       12.0        0.0\n"
                            "  1  1   -1400.25   4500.0        9.5      -21.5\n"
                            "\n"
                            "  2  1    3000.0   -3100.0       -5.0      -27.0\r\n"
                            "  2  0   -2500.0       0.0      -11.0        0.0\n"
                            "  2  2    1600.0    -800.0       -8.0      -12.0\n"
                            "999999999999999999999999999999999999999999999999\n"
                            "999999999999999999999999999999999999999999999999\n";

static struct cfg_wmm wmm;
static char error[CFG_ERROR_MAX], real_path[4096];

void setUp(void)
{
}

void tearDown(void)
{
}

static bool parse(const char *text)
{
    return cfg_wmm_parse("f.cof", text, strlen(text), &wmm, error);
}

static void test_terms_are_read_in_any_order(void)
{
    TEST_ASSERT_TRUE_MESSAGE(parse(small), error);
    TEST_ASSERT_EQUAL_STRING("MADE-UP", wmm.name);
    TEST_ASSERT_EQUAL_DOUBLE(2025.0, wmm.model.epoch);
    TEST_ASSERT_EQUAL_INT(2, wmm.model.degree);
    TEST_ASSERT_EQUAL_DOUBLE(-29000.5, wmm.model.g[dyn_magnetic_field_term(1, 0)]);
    TEST_ASSERT_EQUAL_DOUBLE(4500.0, wmm.model.h[dyn_magnetic_field_term(1, 1)]);
    TEST_ASSERT_EQUAL_DOUBLE(9.5, wmm.model.g_rate[dyn_magnetic_field_term(1, 1)]);
    TEST_ASSERT_EQUAL_DOUBLE(-2500.0, wmm.model.g[dyn_magnetic_field_term(2, 0)]);
    TEST_ASSERT_EQUAL_DOUBLE(-27.0, wmm.model.h_rate[dyn_magnetic_field_term(2, 1)]);
    TEST_ASSERT_EQUAL_DOUBLE(-800.0, wmm.model.h[dyn_magnetic_field_term(2, 2)]);
}

static void test_a_model_is_meant_for_five_years(void)
{
    TEST_ASSERT_TRUE(parse(small));
    TEST_ASSERT_TRUE(cfg_wmm_covers(&wmm, 2025.0) && cfg_wmm_covers(&wmm, 2030.0));
    TEST_ASSERT_FALSE(cfg_wmm_covers(&wmm, 2024.99));
    TEST_ASSERT_FALSE(cfg_wmm_covers(&wmm, 2030.01));
}

static const struct {
    const char *good, *bad, *complaint;
} mistakes[] = {
    {"2025.0 ", "twenty ", "f.cof:1:5: a .COF file begins with epoch, name and date; here is "},
    {"11/13/2024", "", "f.cof:1:5: a .COF file begins with epoch, name and date; here is "},
    {"2025.0 ", "2.0250 ", "f.cof:1:5: the epoch is a year from 1900 to 2200; here is "},
    {"MADE-UP", "A-NAME-OF-MORE-THAN-31-CHARACTERS", "f.cof:1:23: a name of at most 31 letters; "},
    {"  1  1 ", "  0  1 ", "f.cof:3:3: the degree is a whole number from 1 to 12; here is "},
    {"  2  2 ", " 13  2 ", "f.cof:7:2: the degree is a whole number from 1 to 12; here is "},
    {"  2  2 ", "2.0  2 ", "f.cof:7:1: the degree is a whole number from 1 to 12; here is "},
    {"  2  2 ", "  2  3 ", "f.cof:7:6: the order is a whole number from 0 to 2; here is "},
    {"  2  2 ", "  2 -1 ", "f.cof:7:5: the order is a whole number from 0 to 2; here is "},
    {"  2  2 ", "  2  1 ", "f.cof:7:3: degree 2, order 1 is here for a second time"},
    {"  2  2 ", "  3  2 ", "f.cof:8:1: the file ends without degree 2, order 2"},
    {"-800.0", "-8oo.0", "f.cof:7:21: a coefficient is a number of nT up to 1e+06; here is "},
    {"-800.0", "-8e200", "f.cof:7:21: a coefficient is a number of nT up to 1e+06; here is "},
    {"      -12.0", "", "f.cof:7:3: a term has 6 numbers (degree, order, g, h and their change); "},
    {"      -12.0", " 1 2 3", "f.cof:7:3: a term has 6 numbers (degree, order, g, h and their "},
};

static void test_mistakes_are_named_with_their_place(void)
{
    char text[1024];
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        const char *at = strstr(small, mistakes[k].good), *want = mistakes[k].complaint;
        TEST_ASSERT_NOT_NULL(at);
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - small), small, mistakes[k].bad,
                       at + strlen(mistakes[k].good));
        TEST_ASSERT_FALSE_MESSAGE(parse(text), want);
        TEST_ASSERT_EQUAL_STRING_LEN(want, error, strlen(want));
    }
}

static void test_a_file_cut_anywhere_is_refused(void)
{
    const size_t whole = (size_t)(strstr(small, "9999") - small) + 12;
    for (size_t size = 0; size < whole; size++) {
        TEST_ASSERT_FALSE(cfg_wmm_parse("f.cof", small, size, &wmm, error));
        TEST_ASSERT_EQUAL_STRING_LEN("f.cof:", error, 6);
    }
    TEST_ASSERT_TRUE(cfg_wmm_parse("f.cof", small, whole, &wmm, error));
}

static void test_files_of_another_kind_are_refused(void)
{
    static char wide[400];
    memset(wide, '1', sizeof wide - 1);
    TEST_ASSERT_FALSE(parse(""));
    TEST_ASSERT_EQUAL_STRING(
        "f.cof:1:1: nothing here; a .COF file begins with epoch, name and date", error);
    TEST_ASSERT_FALSE(parse(wide));
    TEST_ASSERT_EQUAL_STRING("f.cof:1:1: a line of more than 255 columns is not of a .COF file",
                             error);
    TEST_ASSERT_FALSE(parse("2025.0 NONE 1/1/2025\n999999999999\n"));
    TEST_ASSERT_EQUAL_STRING("f.cof:2:1: the file ends without a term", error);
    TEST_ASSERT_EQUAL_INT(-ENOENT, load_wmm("no.cof", &wmm, error));
    TEST_ASSERT_EQUAL_STRING("no.cof: there is no such file; check the path", error);
}

/* Year, height in km, latitude, longitude; north, east, down in nT: the test values that come with
 * WMM2025 (NOAA NCEI, WMM2025_TEST_VALUES.txt). */
static const double published[][7] = {
    {2025.0, 0.0, 80.0, 0.0, 6521.6, 145.9, 54791.5},
    {2025.0, 0.0, 0.0, 120.0, 39677.8, -109.6, -10580.2},
    {2025.0, 0.0, -80.0, 240.0, 6117.5, 15751.9, -52022.5},
    {2025.0, 100.0, 80.0, 0.0, 6216.0, 92.4, 52598.8},
    {2025.0, 100.0, 0.0, 120.0, 37688.6, -96.2, -10152.1},
    {2025.0, 100.0, -80.0, 240.0, 5907.6, 14780.3, -49540.7},
    {2027.5, 0.0, 80.0, 0.0, 6500.8, 294.5, 54869.4},
    {2027.5, 0.0, 0.0, 120.0, 39701.6, -167.4, -10381.8},
    {2027.5, 0.0, -80.0, 240.0, 6200.7, 15730.3, -51783.7},
    {2027.5, 100.0, 80.0, 0.0, 6196.7, 233.8, 52670.5},
    {2027.5, 100.0, 0.0, 120.0, 37711.5, -148.7, -9969.8},
    {2027.5, 100.0, -80.0, 240.0, 5984.0, 14760.1, -49317.7},
};

static void load_real(void)
{
    const int status = load_wmm(real_path, &wmm, error);
    if (status == -ENOENT)
        TEST_IGNORE_MESSAGE("skipped: no build-deps/wmm/WMM.COF; tools/setup/wmm makes it");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, error);
    if (wmm.model.epoch != 2025.0)
        TEST_IGNORE_MESSAGE("skipped: WMM.COF is not of 2025");
}

static struct dyn_vec3 north_east_down(double year, const struct dyn_geodetic *at)
{
    struct dyn_magnetic_field field;
    dyn_magnetic_field_at_date(&wmm.model, year, &field);
    const struct dyn_home home = dyn_home_at(at);
    return dyn_scale(1e9, dyn_mul(&home.E, dyn_magnetic_field_at(&field, home.origin)));
}

static void test_the_published_test_values_are_met(void)
{
    const double degree = 3.141592653589793 / 180.0;
    load_real();
    TEST_ASSERT_EQUAL_INT(12, wmm.model.degree);
    for (size_t k = 0; k < sizeof published / sizeof *published; k++) {
        const double *row = published[k];
        const struct dyn_geodetic at = {row[2] * degree, row[3] * degree, 1000.0 * row[1]};
        const struct dyn_vec3 ned = north_east_down(row[0], &at);
        TEST_ASSERT_DOUBLE_WITHIN(0.0501, row[4], ned.x);
        TEST_ASSERT_DOUBLE_WITHIN(0.0501, row[5], ned.y);
        TEST_ASSERT_DOUBLE_WITHIN(0.0501, row[6], ned.z);
    }
}

static void test_zurich_has_the_field_that_autopilots_assume(void)
{
    /* PX4's simulators: 0.215, 0.010, 0.427 gauss */
    const double degree = 3.141592653589793 / 180.0;
    const struct dyn_geodetic at = {47.397742 * degree, 8.545594 * degree, 488.0};
    load_real();
    const struct dyn_vec3 ned = north_east_down(2026.0, &at);
    TEST_ASSERT_DOUBLE_WITHIN(500.0, 21500.0, ned.x);
    TEST_ASSERT_DOUBLE_WITHIN(500.0, 1000.0, ned.y);
    TEST_ASSERT_DOUBLE_WITHIN(1500.0, 42700.0, ned.z);
}

int main(int argc, char **argv)
{
    (void)snprintf(real_path, sizeof real_path, "%s/build-deps/wmm/WMM.COF",
                   argc > 1 ? argv[1] : ".");
    UNITY_BEGIN();
    RUN_TEST(test_terms_are_read_in_any_order);
    RUN_TEST(test_a_model_is_meant_for_five_years);
    RUN_TEST(test_mistakes_are_named_with_their_place);
    RUN_TEST(test_a_file_cut_anywhere_is_refused);
    RUN_TEST(test_files_of_another_kind_are_refused);
    RUN_TEST(test_the_published_test_values_are_met);
    RUN_TEST(test_zurich_has_the_field_that_autopilots_assume);
    return UNITY_END();
}
