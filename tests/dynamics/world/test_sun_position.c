/*
 * Instants by the calendar, the Sun on its known days, and the Earth's shadow by its geometry.
 */
#include "dynamics/world/sun_position.h"

#include <math.h>

#include "dynamics/world/earth.h"
#include "unity.h"

static const double PI = 3.141592653589793;
static const double DEGREE = 3.141592653589793 / 180.0;
static const double UNIT = 149597870700.0;

void setUp(void)
{
}

void tearDown(void)
{
}

/* ---- instants ---- */

static void check_days(double want, int year, int month, int day)
{
    const struct dyn_epoch noon = dyn_epoch_of_date(year, month, day, 43200.0);
    TEST_ASSERT_EQUAL_DOUBLE(want, dyn_epoch_days(&noon));
}

static void test_dates_have_the_known_julian_days(void)
{
    check_days(0.0, 2000, 1, 1);
    check_days(59.0, 2000, 2, 29);
    check_days(60.0, 2000, 3, 1);
    check_days(-1.0, 1999, 12, 31);
    check_days(366.0, 2001, 1, 1);
    check_days(2440588.0 - 2451545.0, 1970, 1, 1);
    check_days(2443260.0 - 2451545.0, 1977, 4, 26);  /* Meeus, Astronomical Algorithms, ch. 7 */
    check_days(2305448.0 - 2451545.0, 1600, 1, 1);   /* ibid., half a day later */
    check_days(2305813.0 - 2451545.0, 1600, 12, 31); /* ibid. */
    check_days(2415021.0 - 2451545.0, 1900, 1, 1);   /* ibid. */
}

static void test_every_day_follows_the_one_before(void)
{
    static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const struct dyn_epoch start = dyn_epoch_of_date(1899, 1, 1, 0.0);
    double next = start.days;
    for (int year = 1899; year < 2105; year++)
        for (int month = 1; month <= 12; month++) {
            const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            for (int day = 1; day <= lengths[month - 1] + (month == 2 ? leap : 0); day++) {
                TEST_ASSERT_EQUAL_DOUBLE(next, dyn_epoch_of_date(year, month, day, 0.0).days);
                next += 1.0;
            }
        }
}

static void check_year(double want, int year, int month, int day, double seconds)
{
    const struct dyn_epoch instant = dyn_epoch_of_date(year, month, day, seconds);
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, want, dyn_epoch_year(&instant));
}

static void test_the_year_begins_and_ends_at_new_year(void)
{
    check_year(2025.0, 2025, 1, 1, 0.0);
    check_year(2025.5, 2025, 7, 2, 43200.0);
    check_year(2024.5, 2024, 7, 2, 0.0);
    check_year(2026.0 - 0.25 / 365.0, 2025, 12, 31, 64800.0);
    check_year(1999.0 + 364.0 / 365.0, 1999, 12, 31, 0.0);
    check_year(2001.0 - 0.25 / 366.0, 2000, 12, 31, 64800.0);
    check_year(1996.0 + 0.01 / 366.0, 1996, 1, 1, 864.0);
    for (int year = 1890; year < 2110; year++)
        check_year(year, year, 1, 1, 0.0);
}

/* ---- Sun ---- */

static double declination(struct dyn_vec3 sun)
{
    return atan2(sun.z, hypot(sun.x, sun.y)) / DEGREE;
}

static struct dyn_vec3 sun_of(int month, int day, int hour, int minute)
{
    const struct dyn_epoch instant =
        dyn_epoch_of_date(2025, month, day, 3600.0 * hour + 60.0 * minute);
    return dyn_sun_position(&instant);
}

static void test_equinoxes_and_solstices_of_2025_are_met(void)
{
    /* US Naval Observatory: Mar 20 09:01, Jun 21 02:42, Sep 22 18:19, Dec 21 15:03 */
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, declination(sun_of(3, 20, 9, 1)));
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 23.438, declination(sun_of(6, 21, 2, 42)));
    TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.0, declination(sun_of(9, 22, 18, 19)));
    TEST_ASSERT_DOUBLE_WITHIN(0.01, -23.438, declination(sun_of(12, 21, 15, 3)));
}

static void test_in_spring_the_sun_stands_at_the_equinox_of_date(void)
{
    /* which by then is 25.22 years of precession in right ascension away from x */
    const struct dyn_vec3 sun = sun_of(3, 20, 9, 1);
    TEST_ASSERT_DOUBLE_WITHIN(0.01, -46.12 * 25.22 / 3600.0, atan2(sun.y, sun.x) / DEGREE);
}

static void test_the_sun_is_farthest_in_july(void)
{
    /* USNO: perihelion on Jan 4 at 0.98333 AU, aphelion on Jul 3 at 1.01664 AU */
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.98333, dyn_norm(sun_of(1, 4, 13, 28)) / UNIT);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.01664, dyn_norm(sun_of(7, 3, 19, 55)) / UNIT);
}

static void test_at_noon_the_sun_stands_over_its_meridian(void)
{
    /* Greenwich, 2025-11-03 12:00: the equation of time is +16 min 26 s */
    const struct dyn_epoch noon = dyn_epoch_of_date(2025, 11, 3, 43200.0);
    const struct dyn_mat3 turn = dyn_earth_eci_to_ecef(&noon);
    const struct dyn_vec3 sun = dyn_mul(&turn, dyn_sun_position(&noon));
    const double minutes = -atan2(sun.y, sun.x) / DEGREE * 4.0;
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 16.43, minutes);
}

/* ---- shadow ---- */

static const struct dyn_vec3 sun_on_x = {149597870700.0, 0.0, 0.0};

static double share_at(double x, double y)
{
    return dyn_sun_visible_fraction(sun_on_x, (struct dyn_vec3){x, y, 0.0});
}

static void test_the_day_side_is_in_light_and_the_middle_of_the_night_is_dark(void)
{
    TEST_ASSERT_EQUAL_DOUBLE(1.0, share_at(7e6, 0.0));
    TEST_ASSERT_EQUAL_DOUBLE(1.0, share_at(0.0, 7e6));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, share_at(-7e6, 0.0));
    TEST_ASSERT_EQUAL_DOUBLE(0.0, share_at(-42e6, 0.0));
}

static void test_the_cones_touch_earth_and_sun(void)
{
    /* tangents of both balls: umbra R - x tan, penumbra R + x tan, at a distance x behind */
    const double R = DYN_EARTH_RADIUS, S = 695.7e6, x = 42e6;
    const double in = asin((S - R) / UNIT), out = asin((S + R) / UNIT);
    const double umbra = R / cos(in) - x * tan(in), penumbra = R / cos(out) + x * tan(out);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, share_at(-x, umbra - 2e3));
    TEST_ASSERT_TRUE(share_at(-x, umbra + 2e3) > 0.0);
    TEST_ASSERT_TRUE(share_at(-x, penumbra - 2e3) < 1.0);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, share_at(-x, penumbra + 2e3));
}

static void test_through_the_penumbra_the_light_only_grows(void)
{
    double last = 0.0;
    for (double y = 6.1e6; y < 6.7e6; y += 500.0) {
        const double share = share_at(-42e6, y);
        TEST_ASSERT_TRUE(share >= last && share <= 1.0);
        last = share;
    }
    TEST_ASSERT_EQUAL_DOUBLE(1.0, last);
}

static void test_half_the_sun_is_visible_where_its_centre_sets(void)
{
    /* but for what the Earth's edge curves away, a/(3 pi b), and for the Sun being not so far that
     * it would not stand lower from there than from the centre */
    const double R = DYN_EARTH_RADIUS, r = 7e6, y = sqrt(r * r - R * R);
    const double a = 695.7e6 / (UNIT + y), b = asin(R / r), lower = R / (UNIT + y);
    const double want = 0.5 + a / (3.0 * PI * b) - 2.0 * lower / (PI * a);
    TEST_ASSERT_DOUBLE_WITHIN(2e-6, want, share_at(-y, R));
}

static void test_a_low_orbit_is_dark_as_long_as_in_a_cylinder_or_nearly(void)
{
    const double r = 6778137.0;
    double dark = 0.0;
    const int count = 100000;
    for (int k = 0; k < count; k++) {
        const double angle = 2.0 * PI * k / count;
        dark += (1.0 - share_at(r * cos(angle), r * sin(angle))) / count;
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, asin(DYN_EARTH_RADIUS / r) / PI, dark);
}

static void test_far_behind_the_earth_a_ring_of_the_sun_is_left(void)
{
    /* beyond the umbra's tip at 1.38e9 m */
    const double a = asin(695.7e6 / (UNIT + 3e9)), b = asin(DYN_EARTH_RADIUS / 3e9);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.0 - b * b / (a * a), share_at(-3e9, 0.0));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_dates_have_the_known_julian_days);
    RUN_TEST(test_every_day_follows_the_one_before);
    RUN_TEST(test_the_year_begins_and_ends_at_new_year);
    RUN_TEST(test_equinoxes_and_solstices_of_2025_are_met);
    RUN_TEST(test_in_spring_the_sun_stands_at_the_equinox_of_date);
    RUN_TEST(test_the_sun_is_farthest_in_july);
    RUN_TEST(test_at_noon_the_sun_stands_over_its_meridian);
    RUN_TEST(test_the_day_side_is_in_light_and_the_middle_of_the_night_is_dark);
    RUN_TEST(test_the_cones_touch_earth_and_sun);
    RUN_TEST(test_through_the_penumbra_the_light_only_grows);
    RUN_TEST(test_half_the_sun_is_visible_where_its_centre_sets);
    RUN_TEST(test_a_low_orbit_is_dark_as_long_as_in_a_cylinder_or_nearly);
    RUN_TEST(test_far_behind_the_earth_a_ring_of_the_sun_is_left);
    return UNITY_END();
}
