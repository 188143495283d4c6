/*
 * Betaflight by MSP: which it is, and when motion packets may leave.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/airbearing/run/betaflight_msp.h"
#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static struct betaflight_version version;

static void test_a_version_is_read_from_a_valid_answer(void)
{
    const unsigned char old[] = {'$', 'M', '>', 3, 3, 4, 5, 5, 3 ^ 3 ^ 4 ^ 5 ^ 5};
    TEST_ASSERT_TRUE(betaflight_read_version(old, sizeof old, &version));
    TEST_ASSERT_EQUAL_INT(4, version.number[0]);
    TEST_ASSERT_EQUAL_INT(5, version.number[2]);
    TEST_ASSERT_EQUAL_INT(IO_BETAFLIGHT_4_5, betaflight_variant_of(&version));
    const unsigned char late[] = {'$', 'M', '>', 3, 3, 25, 12, 5, 3 ^ 3 ^ 25 ^ 12 ^ 5};
    TEST_ASSERT_TRUE(betaflight_read_version(late, sizeof late, &version));
    TEST_ASSERT_EQUAL_INT(IO_BETAFLIGHT_4_5, betaflight_variant_of(&version));
    unsigned char now[] = {'$', 'M', '>', 5, 3, 26, 6, 1, 1, 'x', 5 ^ 3 ^ 26 ^ 6 ^ 1 ^ 1 ^ 'x'};
    TEST_ASSERT_TRUE(betaflight_read_version(now, sizeof now, &version));
    TEST_ASSERT_EQUAL_INT(2026, version.number[0]);
    TEST_ASSERT_EQUAL_INT(IO_BETAFLIGHT_2026_6, betaflight_variant_of(&version));
    for (int size = 0; size < (int)sizeof now; size++)
        TEST_ASSERT_FALSE(betaflight_read_version(now, size, &version));
    now[5]++;
    TEST_ASSERT_FALSE(betaflight_read_version(now, sizeof now, &version));
    TEST_ASSERT_EQUAL_INT(0, version.number[0]);
}

static void test_motion_waits_until_it_has_booted(void)
{
    const uint64_t s = 1000000000;
    struct betaflight_gate gate = {0};
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_NO_PORT, 1 * s));
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTING, 10 * s));
    TEST_ASSERT_TRUE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTED, 10 * s));
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTING, 12 * s));
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_NO_PORT, 12 * s)); /* it restarts */
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTING, 13 * s));
    TEST_ASSERT_FALSE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTING, 15 * s));
    TEST_ASSERT_TRUE(betaflight_gate_opens(&gate, BETAFLIGHT_BOOTING, 16 * s));
}

/* A port that is bound and one that is free, as the kernel gives them. */
static void test_a_bound_port_is_distinguished_from_a_free_one(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    char address[32];
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    TEST_ASSERT_EQUAL_INT(0, bind(fd, (const struct sockaddr *)&name, size));
    TEST_ASSERT_EQUAL_INT(0, getsockname(fd, (struct sockaddr *)&name, &size));
    snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(name.sin_port));
    TEST_ASSERT_EQUAL_INT(BETAFLIGHT_BOOTING, betaflight_query(address, &version));
    TEST_ASSERT_EQUAL_INT(0, version.number[0]);
    close(fd);
    TEST_ASSERT_EQUAL_INT(BETAFLIGHT_NO_PORT, betaflight_query(address, &version));
    TEST_ASSERT_EQUAL_INT(BETAFLIGHT_NO_PORT, betaflight_query("nonsense", &version));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_version_is_read_from_a_valid_answer);
    RUN_TEST(test_motion_waits_until_it_has_booted);
    RUN_TEST(test_a_bound_port_is_distinguished_from_a_free_one);
    return UNITY_END();
}
