/*
 * Hashes of files: the same bytes give the same, any other give another.
 */
#include "rt/executive/state/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unity.h"

enum { SIZE = 200003 }; /* several blocks, and not whole words */
static unsigned char bytes[SIZE + 1];

void setUp(void)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    bytes[SIZE] = 0;
}

void tearDown(void)
{
}

static void test_a_file_has_the_hash_of_its_bytes(void)
{
    char path[] = "/tmp/test_digest_XXXXXX";
    uint64_t hash, size;
    const int fd = mkstemp(path);
    TEST_ASSERT_EQUAL_INT64(SIZE, write(fd, bytes, SIZE));
    close(fd);
    TEST_ASSERT_TRUE(sim_digest_file(path, &hash, &size));
    unlink(path);
    TEST_ASSERT_EQUAL_UINT64(SIZE, size);
    TEST_ASSERT_EQUAL_HEX64(sim_digest_bytes(bytes, SIZE), hash);
    TEST_ASSERT_FALSE(sim_digest_file(path, &hash, &size));
}

static void test_every_byte_counts_and_so_does_a_zero_at_the_end(void)
{
    static const size_t places[] = {0, 1, 65535, 65536, SIZE - 4, SIZE - 1};
    const uint64_t before = sim_digest_bytes(bytes, SIZE);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bytes[places[i]] ^= 0x80;
        TEST_ASSERT_NOT_EQUAL_HEX64(before, sim_digest_bytes(bytes, SIZE));
        bytes[places[i]] ^= 0x80;
    }
    TEST_ASSERT_NOT_EQUAL_HEX64(before, sim_digest_bytes(bytes, SIZE + 1));
    TEST_ASSERT_NOT_EQUAL_HEX64(before, sim_digest_bytes(bytes, SIZE - 1));
    TEST_ASSERT_EQUAL_HEX64(before, sim_digest_bytes(bytes, SIZE));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_file_has_the_hash_of_its_bytes);
    RUN_TEST(test_every_byte_counts_and_so_does_a_zero_at_the_end);
    return UNITY_END();
}
