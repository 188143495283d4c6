/*
 * The standard atmosphere against its printed tables, and against what defines it: hydrostatic
 * balance of an ideal gas.
 */
#include "dynamics/world/atmosphere.h"

#include <math.h>

#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* The height of a geopotential height. */
static double height_of(double H)
{
    return 6356766.0 * H / (6356766.0 - H);
}

static void test_layers_begin_with_the_printed_values(void)
{
    /* U.S. Standard Atmosphere 1976, table I by geopotential height, K and kg/m^3; the pressures
     * with two digits more than it prints, over that at the sea, as Carmichael (PDAS) gives them.
     */
    static const struct {
        double H, T, pressure_ratio, density;
    } row[] = {
        {0.0, 288.150, 1.0, 1.2250},
        {11000.0, 216.650, 2.233611e-1, 3.6392e-1},
        {20000.0, 216.650, 5.403295e-2, 8.8035e-2},
        {32000.0, 228.650, 8.566678e-3, 1.3225e-2},
        {47000.0, 270.650, 1.094560e-3, 1.4275e-3},
        {51000.0, 270.650, 6.606353e-4, 8.6160e-4},
        {71000.0, 214.650, 3.904683e-5, 6.4211e-5},
        {84852.0, 186.946, 3.685010e-6, 6.9579e-6},
    };
    for (int k = 0; k < 8; k++) {
        const struct dyn_air air = dyn_air_at(height_of(row[k].H));
        const double ratio = air.pressure / 101325.0;
        TEST_ASSERT_DOUBLE_WITHIN(0.5e-3, row[k].T, air.temperature);
        TEST_ASSERT_DOUBLE_WITHIN(3e-7 * row[k].pressure_ratio, row[k].pressure_ratio, ratio);
        TEST_ASSERT_DOUBLE_WITHIN(4e-5 * row[k].density, row[k].density, air.density);
    }
}

static void test_the_speed_of_sound_is_the_printed_one(void)
{
    /* ibid.: 340.29 m/s at the sea, 295.07 at 11 km', 299.53 at 10 km of height */
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 340.29, dyn_air_at(0.0).sound_speed);
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 295.07, dyn_air_at(height_of(11000.0)).sound_speed);
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 299.53, dyn_air_at(10000.0).sound_speed);
}

static void test_the_top_is_at_86_km_of_height(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(0.06, 84852.0, dyn_air_geopotential(86000.0));
}

static void test_air_carries_the_air_above_it(void)
{
    const double step = 1.0;
    for (double H = -5000.0; H < 90000.0; H += 97.3) {
        const double below = dyn_air_at(height_of(H - step)).pressure;
        const double above = dyn_air_at(height_of(H + step)).pressure;
        const double weight = 2.0 * step * 9.80665 * dyn_air_at(height_of(H)).density;
        TEST_ASSERT_DOUBLE_WITHIN(1e-6 * weight, weight, below - above);
    }
}

static void test_air_is_an_ideal_gas(void)
{
    for (double height = -5000.0; height < 90000.0; height += 777.0) {
        const struct dyn_air air = dyn_air_at(height);
        const double RT = air.pressure / air.density;
        TEST_ASSERT_DOUBLE_WITHIN(1e-3, 287.05287, RT / air.temperature);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.4, air.sound_speed * air.sound_speed / RT);
    }
}

static void test_layers_join_without_a_step(void)
{
    static const double base[] = {11e3, 20e3, 32e3, 47e3, 51e3, 71e3, 84852.0};
    for (int k = 0; k < 7; k++) {
        const struct dyn_air below = dyn_air_at(height_of(base[k] - 1e-6));
        const struct dyn_air above = dyn_air_at(height_of(base[k] + 1e-6));
        TEST_ASSERT_DOUBLE_WITHIN(1e-8, below.temperature, above.temperature);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9 * above.pressure, below.pressure, above.pressure);
    }
}

static void test_a_barometer_reads_as_an_autopilots_does(void)
{
    /* the formula of PX4 and of the ICAO's troposphere, with their rounder gas constant */
    for (double H = -500.0; H < 11000.0; H += 50.0) {
        const double a = -6.5e-3, T = 288.15, ratio = dyn_air_at(height_of(H)).pressure / 101325.0;
        const double altitude = (pow(ratio, -a * 287.05 / 9.80665) * T - T) / a;
        TEST_ASSERT_DOUBLE_WITHIN(0.2, H, altitude);
    }
}

static void test_a_satellite_flies_in_a_vacuum(void)
{
    TEST_ASSERT_TRUE(dyn_air_at(400e3).density < 1e-20);
    TEST_ASSERT_TRUE(dyn_air_at(35786e3).density < 1e-200);
    TEST_ASSERT_TRUE(isfinite(dyn_air_at(35786e3).sound_speed));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_layers_begin_with_the_printed_values);
    RUN_TEST(test_the_speed_of_sound_is_the_printed_one);
    RUN_TEST(test_the_top_is_at_86_km_of_height);
    RUN_TEST(test_air_carries_the_air_above_it);
    RUN_TEST(test_air_is_an_ideal_gas);
    RUN_TEST(test_layers_join_without_a_step);
    RUN_TEST(test_a_barometer_reads_as_an_autopilots_does);
    RUN_TEST(test_a_satellite_flies_in_a_vacuum);
    return UNITY_END();
}
