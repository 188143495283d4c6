/*
 * Mistakes in the world around a vehicle.
 */
#include "tests/config/mistakes.h"

// clang-format off
static const struct part parts[] = {
    {.environment = "world: moon",
     .complaint = "2:22: world cannot be \"moon\"; write uniform, local or orbit"},
    {.environment = "date: tomorrow",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is \"tomorrow\""},
    {.environment = "date: '2026-02-29T00:00:00Z'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-02-29T00:00:00Z\""},
    {.environment = "date: '2026-06-21T12:00:00'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-06-21T12:00:00\""},
    {.environment = "date: '2026-06-21T24:00:00Z'",
     .complaint = "2:21: date wants a time in UTC like 2026-06-21T12:00:00Z; here is "
      "\"2026-06-21T24:00:00Z\""},
    {.environment = "wind: 1 0 0",
     .complaint = "2:21: there is no air that could move; give environment.air: true, or world: "
      "local"},
    {.environment = "gust: {sigma: 1 0 0}",
     .complaint = "2:21: there is no air for a gust; give environment.air: true, or world: "
      "local"},
    {.environment = "air: true, gust: {sigma: -1 0 0}",
     .complaint = "2:40: sigma must be 0 m/s or more; here is -1"},
    {.environment = "air: true, gust: {time: 0 1 1}",
     .complaint = "2:39: time must be above 0 s; here is 0"},
    {.environment = "home: {altitude: -6 km}",
     .complaint = "2:32: altitude must be from -5 to 1000 km; here is -6"},
    {.environment = "orbit: {altitude: 500 km}",
     .complaint = "2:22: orbit goes with world: orbit; write that, or remove it"},
    {.environment = "world: orbit, gravity: 0 0 9.81",
     .complaint = "2:38: there is no gravity to choose in orbit; remove it"},
    {.environment = "world: orbit, home: {latitude: 0}",
     .complaint = "2:35: there is no home to choose in orbit; remove it"},
    {.environment = "world: orbit, ground: 0",
     .complaint = "2:37: there is no ground to choose in orbit; remove it"},
    {.environment = "world: orbit, wind: 1 0 0",
     .complaint = "2:35: there is no wind to choose in orbit; remove it"},
    {.environment = "world: orbit, gust: {sigma: 1 1 1}",
     .complaint = "2:35: there is no gust to choose in orbit; remove it"},
    {.environment = "world: orbit, air: false",
     .complaint = "2:34: there is no air to choose in orbit; remove it"},
    {.environment = "world: orbit, orbit: {eccentricity: 0.2}",
     .complaint = "2:51: the perigee is 875.6274 km below the ground; raise altitude or lower "
      "eccentricity"},
    {.environment = "world: orbit, orbit: {body: arm}",
     .complaint = "2:22: what orbits must be free: give \"arm\" joint: free and no parent, or "
      "name another as environment.orbit.body"},
    {.environment = "world: orbit, orbit: {body: b}",
     .complaint = "2:43: there is no body \"b\"; the bodies are a, arm"},
    {.environment = "world: orbit, orbit: {altitude: 0}",
     .complaint = "2:47: altitude must be from 1000 to 1000000000 m; here is 0"},
    {.environment = "gravity: [0, ~, 1]", .complaint = "2:28: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is nothing"},
    {.environment = "gravity: {x: 1}",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is a mapping"},
    {.environment = "gravity: ~",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is nothing"},
    {.environment = "gravity: [9]",
     .complaint = "2:24: gravity wants 3 numbers in m/s^2, e.g. 0 0 9.81; here is 1"},
};
// clang-format on

static void test_every_mistake_in_the_world_is_refused_at_its_place(void)
{
    REFUSE_PARTS(parts);
}

/* In orbit the origin of the world is the Earth's centre. */
static void test_in_orbit_nothing_holds_on_to_the_world(void)
{
#define ORBIT                                                                                      \
    "name: x\nenvironment: {world: orbit}\nbodies:\n"                                              \
    "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\n"
    expect_complaint(ORBIT "- {name: mast, joint: fixed, mass: 1, inertia: 1 1 1}\n",
                     "5:3: what orbits must be free: give \"mast\" joint: free, or a parent");
    expect_complaint(ORBIT "- {name: b, joint: free, mass: 1, inertia: 1 1 1}\n",
                     "5:3: \"b\" would start inside the Earth; give it a position from the Earth's "
                     "centre, or a parent");
    expect_complaint(
        "name: x\nenvironment: {world: orbit}\n"
        "bodies: [{name: a, joint: fixed, mass: 1, inertia: 1 1 1}]\n",
        "2:22: what orbits must be free: give \"a\" joint: free and no parent, or name "
        "another as environment.orbit.body");
}

/* Of first order, it would add speed to what orbits. */
static void test_in_orbit_the_integrator_must_follow_the_orbit(void)
{
#define INTEGRATOR(text)                                                                           \
    "name: x\nenvironment: {world: orbit}\nintegrator: " text "\nbodies:\n"                        \
    "- {name: a, joint: free, mass: 1, inertia: 1 1 1}\n"
    static const char complaint[] = "semi-implicit Euler is not accurate enough for an orbit; "
                                    "write integrator: rk4, or another of second "
                                    "order or more";
    char wanted[200];
    snprintf(wanted, sizeof wanted, "3:13: %s", complaint);
    expect_complaint(INTEGRATOR("semi-implicit-euler"), wanted);
    snprintf(wanted, sizeof wanted, "3:35: %s", complaint);
    expect_complaint(INTEGRATOR("{substeps: 2, method: semi-implicit-euler}"), wanted);
    expect_good(INTEGRATOR("rk2"));
    expect_good(INTEGRATOR("ab2"));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_mistake_in_the_world_is_refused_at_its_place);
    RUN_TEST(test_in_orbit_nothing_holds_on_to_the_world);
    RUN_TEST(test_in_orbit_the_integrator_must_follow_the_orbit);
    return UNITY_END();
}
