/*
 * Units and numbers as people write them, against factors worked out by hand.
 */
#include "config/yaml/unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unity.h"

#define PI 3.14159265358979323846

void setUp(void)
{
}

void tearDown(void)
{
}

static struct cfg_unit parse(const char *text)
{
    struct cfg_unit unit;
    struct cfg_phrase problem = {0};
    TEST_ASSERT_TRUE_MESSAGE(cfg_unit_parse(text, &unit, &problem), problem.text);
    return unit;
}

static void expect_factor(double factor, const char *text)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-12 * fabs(factor), factor, parse(text).factor);
}

static void test_factors_are_those_of_the_books(void)
{
    expect_factor(1.0, "");
    expect_factor(1.0, "kg");
    expect_factor(1e-3, "g");
    expect_factor(1e-3, "ms");
    expect_factor(1e-6, "us");
    expect_factor(1e-6, "\xc2\xb5s"); /* micro sign */
    expect_factor(1e-6, "\xce\xbcs"); /* Greek mu */
    expect_factor(60.0, "min");
    expect_factor(1e3, "kHz");
    expect_factor(PI / 180, "deg");
    expect_factor(PI / 180 / 3600, "arcsec");
    expect_factor(2 * PI / 60, "rpm");
    expect_factor(9.80665, "g0");
    expect_factor(9.80665e-6, "ug0");
    expect_factor(1e-4, "gauss");
    expect_factor(1e-9, "nT");
    expect_factor(0.01, "%");
    expect_factor(1e-6, "ppm");
}

/* Every unit by its kilograms, metres, seconds, amperes and radians. */
static void test_every_unit_has_its_factor_and_its_dimensions(void)
{
    static const struct {
        const char *name;
        double factor;
        int powers[CFG_DIMENSION_COUNT]; /* kg m s A rad */
    } all[] = {
        {"m", 1, {0, 1, 0, 0, 0}},
        {"g", 1e-3, {1, 0, 0, 0, 0}},
        {"s", 1, {0, 0, 1, 0, 0}},
        {"min", 60, {0, 0, 1, 0, 0}},
        {"h", 3600, {0, 0, 1, 0, 0}},
        {"Hz", 1, {0, 0, -1, 0, 0}},
        {"rad", 1, {0, 0, 0, 0, 1}},
        {"deg", PI / 180, {0, 0, 0, 0, 1}},
        {"arcmin", PI / 180 / 60, {0, 0, 0, 0, 1}},
        {"arcsec", PI / 180 / 3600, {0, 0, 0, 0, 1}},
        {"rpm", 2 * PI / 60, {0, 0, -1, 0, 1}},
        {"g0", 9.80665, {0, 1, -2, 0, 0}},
        {"N", 1, {1, 1, -2, 0, 0}},
        {"J", 1, {1, 2, -2, 0, 0}},
        {"W", 1, {1, 2, -3, 0, 0}},
        {"Pa", 1, {1, -1, -2, 0, 0}},
        {"A", 1, {0, 0, 0, 1, 0}},
        {"V", 1, {1, 2, -3, -1, 0}},
        {"ohm", 1, {1, 2, -3, -2, 0}},
        {"T", 1, {1, 0, -2, -1, 0}},
        {"gauss", 1e-4, {1, 0, -2, -1, 0}},
        {"%", 1e-2, {0, 0, 0, 0, 0}},
        {"ppm", 1e-6, {0, 0, 0, 0, 0}},
    };
    const int count = (int)(sizeof all / sizeof all[0]);
    for (int i = 0; i < count; i++) {
        const struct cfg_unit unit = parse(all[i].name);
        TEST_ASSERT_EQUAL_STRING(all[i].name, cfg_unit_name(i));
        expect_factor(all[i].factor, all[i].name);
        for (int k = 0; k < CFG_DIMENSION_COUNT; k++)
            TEST_ASSERT_EQUAL_INT_MESSAGE(2 * all[i].powers[k], unit.halves[k], all[i].name);
    }
    TEST_ASSERT_NULL(cfg_unit_name(count));
}

static void test_every_prefix_goes_before_what_takes_one(void)
{
    static const struct {
        const char *prefix;
        double factor;
    } all[] = {{"n", 1e-9}, {"u", 1e-6}, {"\xc2\xb5", 1e-6}, {"\xce\xbc", 1e-6}, {"m", 1e-3},
               {"c", 1e-2}, {"k", 1e3},  {"M", 1e6},         {"G", 1e9}};
    static const char *const take[] = {"m", "s",  "Hz", "rad", "N",   "J",
                                       "W", "Pa", "A",  "V",   "ohm", "T"};
    static const char *const refuse[] = {"h", "deg", "arcmin", "arcsec", "rpm", "%", "ppm"};
    char name[32];
    struct cfg_unit unit;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (size_t k = 0; k < sizeof take / sizeof take[0]; k++) {
            snprintf(name, sizeof name, "%s%s", all[i].prefix, take[k]);
            expect_factor(all[i].factor, name);
        }
        for (size_t k = 0; k < sizeof refuse / sizeof refuse[0]; k++) {
            struct cfg_phrase problem = {0};
            snprintf(name, sizeof name, "%s%s", all[i].prefix, refuse[k]);
            TEST_ASSERT_FALSE_MESSAGE(cfg_unit_parse(name, &unit, &problem), name);
        }
    }
    expect_factor(1e-7, "mgauss");
    expect_factor(9.80665e-3, "mg0");
    expect_factor(1e3, "Mg");
}

/* The last that is still taken. */
static void test_brackets_powers_and_names_go_up_to_their_limits(void)
{
    expect_factor(1e-3, "((((mm))))");
    expect_factor(1e-6, "((mm)) ((mm))"); /* what is closed counts no more */
    expect_factor(1e-18, "mm^6");
    expect_factor(1e18, "mm^-6");
    expect_factor(1.0, "mm^0");
    expect_factor(1e-36, "mm^6 mm^6");
    expect_factor(1e36, "mm^-6/mm^6");
    expect_factor(1e-3, "sqrt(mm) sqrt(mm)");
    expect_factor(1e-3, "mm ^1");
    expect_factor(1e-3, "\tmm\t");
    TEST_ASSERT_EQUAL_INT(24, parse("m^6 m^6").halves[1]);
    TEST_ASSERT_EQUAL_INT(-24, parse("m^-6 m^-6").halves[1]);
    TEST_ASSERT_EQUAL_INT(1, parse("sqrt(m)").halves[1]);
    TEST_ASSERT_EQUAL_INT(3, parse("sqrt(m)^3").halves[1]);
}

static void test_products_powers_and_roots(void)
{
    expect_factor(PI / 180, "deg/s");
    expect_factor(PI / 180 / 60, "deg/sqrt(h)");
    expect_factor(PI / 180 / 3600, "deg/h");
    expect_factor(1e-3, "mN m");
    expect_factor(1e-3, "mN*m");
    expect_factor(1e3, "N/mm");
    expect_factor(1e-6, "mm^2");
    expect_factor(1e6, "mm^-2");
    expect_factor(1e-6, "kg mm^2");
    expect_factor(1e-3, "g/s^2 m");
    expect_factor(1.0 / 3.6, "km/h");
    expect_factor(1e-2, "(cm)");
    expect_factor(1e3, "N m/(mrad)");
    expect_factor(1e-3, "sqrt(mm^2)");
}

static void expect_same(bool same, const char *a, const char *b)
{
    const struct cfg_unit x = parse(a), y = parse(b);
    TEST_ASSERT_EQUAL_MESSAGE(same, cfg_unit_same_dimension(&x, &y), a);
}

static void test_dimensions_distinguish_what_must_not_be_mixed(void)
{
    expect_same(true, "N m", "kg m^2/s^2");
    expect_same(true, "J", "W s");
    expect_same(true, "Pa", "N/m^2");
    expect_same(true, "T", "N/A/m");
    expect_same(true, "gauss", "uT");
    expect_same(true, "deg/s/sqrt(Hz)", "rad/sqrt(s)");
    expect_same(true, "rad/s sqrt(Hz)", "deg/s/sqrt(s)");
    expect_same(true, "g0", "m/s^2");
    expect_same(true, "%", "");
    expect_same(false, "Hz", "rad/s");
    expect_same(false, "rpm", "Hz");
    expect_same(false, "N m", "N m/rad");
    expect_same(false, "deg/s", "deg/s/sqrt(Hz)");
    expect_same(false, "g", "g0");
    expect_same(false, "kg m^2", "kg m");
}

static void test_what_is_no_unit_is_refused_with_advice(void)
{
    static const char *const bad[][2] = {
        {"kgs", "unknown unit \"kgs\"; did you mean \"kg\"?"},
        {"degs/s", "unknown unit \"degs\"; did you mean \"deg\"?"},
        {"furlong", "unknown unit \"furlong\"; units look like ms, deg/s, N m/rad or kg m^2"},
        {"kmin", "unknown unit \"kmin\"; did you mean \"min\"?"}, /* no prefix there */
        {"a_name_that_never_ends", "unknown unit \"a_name_that_nev\"; units look like ms, deg/s, N "
                                   "m/rad or kg m^2"},
        {"m/", "the unit ends too early; units look like deg/s"},
        {"/s", "no unit begins with \"/s\"; units look like deg/s"},
        {"m^", "a power in a unit is a whole number up to 6, as in m^2"},
        {"m^ 2", "a power in a unit is a whole number up to 6, as in m^2"},
        {"m^7", "a power in a unit is a whole number up to 6, as in m^2"},
        {"m^-7", "a power in a unit is a whole number up to 6, as in m^2"},
        {"m^\t2", "a power in a unit is a whole number up to 6, as in m^2"},
        {"fifteen_letters", "unknown unit \"fifteen_letters\"; units look like ms, deg/s, N m/rad "
                            "or kg m^2"},
        {"sixteen_letters_", "unknown unit \"sixteen_letters\"; units look like ms, deg/s, N m/rad "
                             "or kg m^2"},
        {"m**s", "no unit begins with \"*s\"; units look like deg/s"},
        {"'m'", "unknown unit \"'m'\"; units look like ms, deg/s, N m/rad or kg m^2"},
        {"m^6 m^6 sqrt(m)", "the unit has a power that no quantity has; check it"},
        {"m^-6 m^-6/sqrt(m)", "the unit has a power that no quantity has; check it"},
        {"sqrt((((m ^2))))(((((m)))))", "too many brackets in the unit; write it flat"},
        {"(m", "the unit lacks a closing bracket; add it"},
        {"m)", "the unit has a closing bracket too many; remove it"},
        {"(((((m)))))", "too many brackets in the unit; write it flat"},
        {"sqrt(sqrt(m))", "the unit has a root of a root; simplify it"},
        {"m^6 m^6 m^6", "the unit has a power that no quantity has; check it"},
        {"(m^6)^6", "the unit has a power that no quantity has; check it"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cfg_unit unit;
        struct cfg_phrase problem = {0};
        TEST_ASSERT_FALSE_MESSAGE(cfg_unit_parse(bad[i][0], &unit, &problem), bad[i][0]);
        TEST_ASSERT_EQUAL_STRING(bad[i][1], problem.text);
    }
}

static void expect_number(double number, const char *rest, const char *text)
{
    double value = -1.0;
    const char *end = cfg_number_parse(text, &value);
    TEST_ASSERT_NOT_NULL_MESSAGE(end, text);
    TEST_ASSERT_EQUAL_DOUBLE(number, value);
    TEST_ASSERT_EQUAL_STRING(rest, end);
}

static void test_numbers_are_decimal_and_exact(void)
{
    expect_number(10.0, "ms", "10 ms");
    expect_number(10.0, "ms", "10ms");
    expect_number(0.1, "", " +0.1 ");
    expect_number(-0.5, "deg", "-.5\tdeg");
    expect_number(5.0, "", "5.");
    expect_number(1e3, "Hz", "1e3 Hz");
    expect_number(2.0, "e", "2e");
    expect_number(2.0, "E+", "2E+");
    expect_number(1e-320, "", "1e-320");
    expect_number(0.1 + 0.2, "", "0.30000000000000004");
    expect_number(HUGE_VAL, "", "1e999");
    expect_number(-HUGE_VAL, "", "-1e999");
    expect_number(1e-3, "s", "1E-3s");
    expect_number(1e2, "", "\t1e+2\t");
    expect_number(3.0, "e-", "3e-");
    expect_number(3.0, "e+m", "3e+m");
    expect_number(-7.0, "-2", "-7-2");
    expect_number(1.5, ".2", "1.5.2");
}

static void test_what_is_no_number_is_none(void)
{
    static const char *const bad[] = {"", " ", ".", "-", "nan", "inf", "-inf", "ms", "e5", "+-1"};
    double value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_NULL_MESSAGE(cfg_number_parse(bad[i], &value), bad[i]);
}

/* Where a comma is the decimal sign, a scenario still means the same. */
static void test_the_locale_changes_nothing(void)
{
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            break;
    expect_number(1.5, "s", "1.5 s");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_factors_are_those_of_the_books);
    RUN_TEST(test_every_unit_has_its_factor_and_its_dimensions);
    RUN_TEST(test_every_prefix_goes_before_what_takes_one);
    RUN_TEST(test_brackets_powers_and_names_go_up_to_their_limits);
    RUN_TEST(test_products_powers_and_roots);
    RUN_TEST(test_dimensions_distinguish_what_must_not_be_mixed);
    RUN_TEST(test_what_is_no_unit_is_refused_with_advice);
    RUN_TEST(test_numbers_are_decimal_and_exact);
    RUN_TEST(test_what_is_no_number_is_none);
    RUN_TEST(test_the_locale_changes_nothing);
    return UNITY_END();
}
