/*
 * Clocks that the run does not own: what a scenario says of them.
 */
#include "tests/config/loaded.h"

static void load_with(const char *link, const char *rest)
{
    static char text[1024];
    snprintf(text, sizeof text,
             "name: x\n"
             "rate: 1 kHz\n"
             "bodies: [{name: a, joint: free, mass: 1, inertia: 1 1 1}]\n"
             "links: [{name: first, body: a, listen: 127.0.0.1:4711},"
             " {name: board, body: a, %s}]\n"
             "%s\n",
             link, rest);
    load(text);
}

static void test_by_default_no_clock_is_followed_and_no_sync_pulse_is_sent(void)
{
    load_with("protocol: mavlink", "");
    TEST_ASSERT_EQUAL_INT(-1, scenario->spec.lock.link);
    TEST_ASSERT_EQUAL_UINT32(0, scenario->spec.pulse.every);
    TEST_ASSERT_FALSE(scenario->spec.links[0].spec.queries_time ||
                      scenario->spec.links[1].spec.queries_time);
}

static void test_a_lock_asks_the_board_of_its_link(void)
{
    load_with("protocol: mavlink", "lock: {link: board}");
    const struct sim_phase_lock *lock = &scenario->spec.lock;
    TEST_ASSERT_EQUAL_INT(1, lock->link);
    TEST_ASSERT_EQUAL_INT(SIM_LOCK_TIMESYNC, lock->source);
    TEST_ASSERT_TRUE(lock->spec.has_delay);
    TEST_ASSERT_EQUAL_UINT64(1000000, lock->spec.period_ns);
    TEST_ASSERT_EQUAL_UINT64(1000000, lock->spec.cycle_ns);
    TEST_ASSERT_EQUAL_UINT64(2000000000, lock->spec.time_constant_ns);
    NEAR(200.0, lock->spec.limit_ppm);
    TEST_ASSERT_FALSE(scenario->spec.links[0].spec.queries_time);
    TEST_ASSERT_TRUE(scenario->spec.links[1].spec.queries_time);
}

static void test_a_lock_by_arrival_counts_in_what_both_periods_share(void)
{
    load_with("protocol: betaflight",
              "lock: {link: board, source: arrival, period: 2.5 ms, limit_ppm: 50,"
              " time_constant: 10 s}");
    const struct sim_phase_lock *lock = &scenario->spec.lock;
    TEST_ASSERT_EQUAL_INT(SIM_LOCK_ARRIVAL, lock->source);
    TEST_ASSERT_FALSE(lock->spec.has_delay);
    TEST_ASSERT_EQUAL_UINT64(500000, lock->spec.cycle_ns);
    TEST_ASSERT_EQUAL_UINT64(10000000000, lock->spec.time_constant_ns);
    NEAR(50.0, lock->spec.limit_ppm);
    TEST_ASSERT_FALSE(scenario->spec.links[1].spec.queries_time);
    load_with("protocol: betaflight", "lock: {link: board, source: arrival}");
    TEST_ASSERT_EQUAL_UINT64(1000000, scenario->spec.lock.spec.cycle_ns);
}

static void test_a_sync_pulse_goes_to_an_address(void)
{
    load_with("protocol: mavlink", "pulse: {to: 127.0.0.1:14600}");
    TEST_ASSERT_EQUAL_UINT32(100, scenario->spec.pulse.every);
    TEST_ASSERT_EQUAL_INT(IO_BUS_UDP, scenario->spec.pulse.bus.kind);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:14600", scenario->spec.pulse.bus.peer);
    TEST_ASSERT_EQUAL_STRING("127.0.0.1:0", scenario->spec.pulse.bus.listen);
    load_with("protocol: mavlink", "pulse: {to: 192.0.2.1:14600, every: 7}");
    TEST_ASSERT_EQUAL_UINT32(7, scenario->spec.pulse.every);
    TEST_ASSERT_EQUAL_STRING("0.0.0.0:0", scenario->spec.pulse.bus.listen);
}

static void test_a_sync_pulse_goes_to_a_serial_line(void)
{
    load_with("protocol: mavlink", "pulse: {device: /dev/ttyS3, baud: 57600}");
    TEST_ASSERT_EQUAL_INT(IO_BUS_SERIAL, scenario->spec.pulse.bus.kind);
    TEST_ASSERT_EQUAL_STRING("/dev/ttyS3", scenario->spec.pulse.bus.device);
    TEST_ASSERT_EQUAL_UINT32(57600, scenario->spec.pulse.bus.baud);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_by_default_no_clock_is_followed_and_no_sync_pulse_is_sent);
    RUN_TEST(test_a_lock_asks_the_board_of_its_link);
    RUN_TEST(test_a_lock_by_arrival_counts_in_what_both_periods_share);
    RUN_TEST(test_a_sync_pulse_goes_to_an_address);
    RUN_TEST(test_a_sync_pulse_goes_to_a_serial_line);
    return UNITY_END();
}
