#include "rt/hash.h"

#include <stdlib.h>

#include "tests/rt/child.h"
#include "unity.h"

enum { WORDS = 32 };

static uint64_t block[WORDS];
static uint64_t state;

/* Weyl sequence and xorshift, unrelated to the hash's own round. */
static uint64_t random_word(void)
{
    state += 0x61c8864680b583ebu;
    uint64_t x = state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

void setUp(void)
{
    state = 12345;
    for (int i = 0; i < WORDS; i++)
        block[i] = random_word();
}

void tearDown(void)
{
}

static uint64_t hash(size_t words)
{
    return rt_hash(1, block, 8 * words);
}

static void test_the_same_memory_gives_the_same_hash(void)
{
    uint64_t copy[WORDS];
    memcpy(copy, block, sizeof copy);
    TEST_ASSERT_EQUAL_HEX64(hash(WORDS), rt_hash(1, copy, sizeof copy));
}

static void flip_each_bit(size_t words)
{
    const uint64_t before = hash(words);
    for (size_t bit = 0; bit < 64 * words; bit++) {
        block[bit / 64] ^= UINT64_C(1) << bit % 64;
        TEST_ASSERT_TRUE(hash(words) != before);
        block[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
}

static void test_every_flipped_bit_changes_the_hash(void)
{
    for (size_t words = 1; words <= WORDS; words++)
        flip_each_bit(words);
    memset(block, 0, sizeof block);
    for (size_t words = 1; words <= WORDS; words++)
        flip_each_bit(words);
}

/* Two bits at once is where lanes and folds could cancel, the sign bits above all. */
static void flip_each_pair(size_t words)
{
    const uint64_t before = hash(words);
    for (size_t a = 0; a < 64 * words; a++)
        for (size_t b = 0; b < a; b++) {
            block[a / 64] ^= UINT64_C(1) << a % 64;
            block[b / 64] ^= UINT64_C(1) << b % 64;
            TEST_ASSERT_TRUE(hash(words) != before);
            block[a / 64] ^= UINT64_C(1) << a % 64;
            block[b / 64] ^= UINT64_C(1) << b % 64;
        }
}

static void test_every_pair_of_flipped_bits_changes_the_hash(void)
{
    flip_each_pair(10);
    memset(block, 0, sizeof block);
    flip_each_pair(10);
}

/* What one flipped bit leaves in its lane must not be undone by the lane's next word, four on:
 * after a round with a single multiply, a flipped sign was undone by two bits. */
static void test_no_flipped_bit_is_undone_by_two_in_the_next_word_of_its_lane(void)
{
    const uint64_t before = hash(8);
    for (unsigned a = 0; a < 64; a++) {
        block[1] ^= UINT64_C(1) << a;
        for (unsigned b = 0; b < 64; b++)
            for (unsigned c = 0; c <= b; c++) {
                const uint64_t kept = block[1 + RT_HASH_LANES];
                block[1 + RT_HASH_LANES] ^= UINT64_C(1) << b | UINT64_C(1) << c;
                TEST_ASSERT_TRUE(hash(8) != before);
                block[1 + RT_HASH_LANES] = kept;
            }
        block[1] ^= UINT64_C(1) << a;
    }
}

/* -0 for 0 and q for -q differ in signs alone. */
static void test_every_set_of_flipped_signs_changes_the_hash(void)
{
    enum { SIGNS = 12 };
    static uint64_t seen[1 << SIGNS];
    for (unsigned set = 0; set < 1 << SIGNS; set++) {
        for (unsigned i = 0; i < SIGNS; i++)
            block[i] ^= (uint64_t)(set >> i & 1) << 63;
        seen[set] = hash(SIGNS);
        for (unsigned i = 0; i < SIGNS; i++)
            block[i] ^= (uint64_t)(set >> i & 1) << 63;
    }
    for (unsigned a = 0; a < 1 << SIGNS; a++)
        for (unsigned b = 0; b < a; b++)
            TEST_ASSERT_TRUE(seen[a] != seen[b]);
}

static void swap(size_t a, size_t b)
{
    const uint64_t word = block[a];
    block[a] = block[b];
    block[b] = word;
}

static void test_the_order_of_words_matters(void)
{
    for (size_t words = 2; words <= WORDS; words++)
        for (size_t a = 0; a < words; a++)
            for (size_t b = 0; b < a; b++) {
                const uint64_t before = hash(words);
                swap(a, b);
                TEST_ASSERT_TRUE(hash(words) != before);
                swap(a, b);
            }
}

static void test_the_size_matters_even_for_zeros(void)
{
    uint64_t seen[WORDS + 1];
    memset(block, 0, sizeof block);
    for (size_t words = 0; words <= WORDS; words++) {
        seen[words] = rt_hash(0, block, 8 * words);
        for (size_t i = 0; i < words; i++)
            TEST_ASSERT_TRUE(seen[i] != seen[words]);
    }
}

static void test_the_seed_carries_the_past(void)
{
    const uint64_t a = rt_hash(rt_hash(0, block, 64), block + 8, 64);
    const uint64_t b = rt_hash(rt_hash(0, block + 8, 64), block, 64);
    TEST_ASSERT_TRUE(a != b);
    for (unsigned bit = 0; bit < 64; bit++)
        TEST_ASSERT_TRUE(rt_hash(5 ^ UINT64_C(1) << bit, block, 64) != rt_hash(5, block, 64));
}

/* Each flipped input bit flips about half of the output: 32 +- 4 for 64 fair coins, and the mean
 * over 2048 input bits within 0.5 (5 sigma of the mean is 0.44). */
static void test_a_flipped_bit_spreads_over_the_hash(void)
{
    const uint64_t before = hash(WORDS);
    unsigned long flipped = 0;
    for (size_t bit = 0; bit < 64 * WORDS; bit++) {
        block[bit / 64] ^= UINT64_C(1) << bit % 64;
        flipped += (unsigned long)__builtin_popcountll(hash(WORDS) ^ before);
        block[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    TEST_ASSERT_DOUBLE_WITHIN(0.5, 32.0, (double)flipped / (64.0 * WORDS));
}

static void hash_odd_size(void *size)
{
    block[0] = rt_hash(0, block, *(size_t *)size);
}

static void test_a_size_that_is_no_multiple_of_eight_traps(void)
{
    size_t size = 12;
    TEST_ASSERT_TRUE(child_traps(hash_odd_size, &size));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_same_memory_gives_the_same_hash);
    RUN_TEST(test_every_flipped_bit_changes_the_hash);
    RUN_TEST(test_every_pair_of_flipped_bits_changes_the_hash);
    RUN_TEST(test_no_flipped_bit_is_undone_by_two_in_the_next_word_of_its_lane);
    RUN_TEST(test_every_set_of_flipped_signs_changes_the_hash);
    RUN_TEST(test_the_order_of_words_matters);
    RUN_TEST(test_the_size_matters_even_for_zeros);
    RUN_TEST(test_the_seed_carries_the_past);
    RUN_TEST(test_a_flipped_bit_spreads_over_the_hash);
    RUN_TEST(test_a_size_that_is_no_multiple_of_eight_traps);
    return UNITY_END();
}
