/*
 * Units and numbers as people write them, against factors worked out by hand.
 */
#include "config/unit.h"

#include <locale.h>
#include <math.h>
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

static void test_dimensions_tell_apart_what_must_not_be_mixed(void)
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
    RUN_TEST(test_products_powers_and_roots);
    RUN_TEST(test_dimensions_tell_apart_what_must_not_be_mixed);
    RUN_TEST(test_what_is_no_unit_is_refused_with_advice);
    RUN_TEST(test_numbers_are_decimal_and_exact);
    RUN_TEST(test_what_is_no_number_is_none);
    RUN_TEST(test_the_locale_changes_nothing);
    return UNITY_END();
}
