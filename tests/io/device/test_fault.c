/*
 * Every kind of fault with its exact effect, inside its window and nowhere else.
 */
#include "io/device/fault.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/io/statistics.h"
#include "unity.h"

enum { FIRST = 100, LAST = 200, FRAME_COUNT = 300, TRIAL_COUNT = 1 << 16, SIZE = 24 };

static const double dt = 0.004;

static struct io_fault_spec spec;
static struct io_fault_state state;
static double value[IO_FAULT_COMPONENT_MAX];
static unsigned char bytes[SIZE];

void setUp(void)
{
    spec = (struct io_fault_spec){.first_frame = FIRST, .last_frame = LAST};
    memset(&state, 0xff, sizeof state);
}

void tearDown(void)
{
}

static void begin(enum io_fault_kind kind, double amount)
{
    spec.kind = kind;
    spec.value = amount;
    io_fault_begin(&spec, 7, 1, &state);
}

/* A signal whose value encodes its frame and its component. */
static double truth(uint64_t frame, int component)
{
    return 1000.0 * (component + 1) + (double)frame;
}

static bool pass(uint64_t frame, int count)
{
    for (int i = 0; i < count; i++)
        value[i] = truth(frame, i);
    return io_fault_signal(&spec, &state, frame, dt, value, count);
}

static bool in_window(uint64_t frame)
{
    return frame >= FIRST && frame < LAST;
}

static size_t pass_bytes(uint64_t frame)
{
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    return io_fault_frame(&spec, &state, frame, bytes, SIZE);
}

static int flipped_bits(unsigned from, unsigned to)
{
    int count = 0;
    for (unsigned i = from; i < to; i++)
        count += __builtin_popcount((unsigned)bytes[i] ^ (unsigned char)(i * 7 + 1));
    return count;
}

static void test_out_of_its_window_no_fault_touches_a_bit(void)
{
    for (int kind = 0; kind < IO_FAULT_KIND_COUNT; kind++) {
        begin((enum io_fault_kind)kind, 1.0);
        for (uint64_t frame = 0; frame < FIRST; frame++) {
            value[0] = -0.0, value[1] = nan("7"), value[2] = 1e-310;
            double before[3];
            memcpy(before, value, sizeof before);
            TEST_ASSERT_TRUE(io_fault_signal(&spec, &state, frame, dt, value, 3));
            TEST_ASSERT_EQUAL_MEMORY(before, value, sizeof before);
            TEST_ASSERT_EQUAL_size_t(SIZE, pass_bytes(frame));
            TEST_ASSERT_EQUAL_INT(0, flipped_bits(0, SIZE));
        }
        (void)pass(LAST, 3);
        TEST_ASSERT_TRUE(value[0] == truth(LAST, 0) && value[2] == truth(LAST, 2));
        TEST_ASSERT_EQUAL_size_t(SIZE, pass_bytes(LAST));
        TEST_ASSERT_EQUAL_UINT64(0, state.hits);
    }
}

static void test_a_window_has_its_first_frame_and_not_its_last(void)
{
    begin(IO_FAULT_BIAS, 5.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
        TEST_ASSERT_TRUE(pass(frame, 1));
        TEST_ASSERT_TRUE(value[0] == truth(frame, 0) + (in_window(frame) ? 5.0 : 0.0));
    }
    TEST_ASSERT_EQUAL_UINT64(LAST - FIRST, state.hits);
}

static void test_a_window_without_end_lasts_for_ever(void)
{
    spec.last_frame = UINT64_MAX;
    begin(IO_FAULT_LOSS, 0.0);
    TEST_ASSERT_TRUE(pass(FIRST - 1, 1));
    TEST_ASSERT_FALSE(pass(FIRST, 1));
    TEST_ASSERT_FALSE(pass(UINT64_MAX - 1, 1));
    TEST_ASSERT_FALSE(pass(UINT64_MAX, 1));
}

static void test_a_stuck_signal_stays_where_it_was_when_the_fault_began(void)
{
    begin(IO_FAULT_STUCK, 0.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
        TEST_ASSERT_TRUE(pass(frame, 3));
        for (int i = 0; i < 3; i++)
            TEST_ASSERT_TRUE(value[i] == truth(in_window(frame) ? FIRST : frame, i));
    }
}

/* The sensor samples every seventh frame: the first sample in the window stays. */
static void test_a_slow_signal_is_stuck_at_its_first_sample_in_the_window(void)
{
    begin(IO_FAULT_STUCK, 0.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame += 7) {
        (void)pass(frame, 1);
        TEST_ASSERT_TRUE(value[0] == truth(in_window(frame) ? 105 : frame, 0));
    }
}

static void test_a_signal_can_be_stuck_at_a_value(void)
{
    spec.at_value = 1;
    begin(IO_FAULT_STUCK, -2.5);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
        TEST_ASSERT_TRUE(pass(frame, 2));
        for (int i = 0; i < 2; i++)
            TEST_ASSERT_TRUE(value[i] == (in_window(frame) ? -2.5 : truth(frame, i)));
    }
}

static void test_a_drift_grows_with_the_seconds_since_it_began(void)
{
    begin(IO_FAULT_DRIFT, 3.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
        const double drift = in_window(frame) ? 3.0 * 0.004 * ((double)frame - FIRST) : 0.0;
        TEST_ASSERT_TRUE(pass(frame, 1));
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, truth(frame, 0) + drift, value[0]);
    }
}

static void test_noise_has_its_deviation_and_no_memory(void)
{
    static double record[2][TRIAL_COUNT];
    spec.last_frame = UINT64_MAX;
    begin(IO_FAULT_NOISE, 0.25);
    for (int k = 0; k < TRIAL_COUNT; k++) {
        value[0] = value[1] = 0.0;
        TEST_ASSERT_TRUE(io_fault_signal(&spec, &state, FIRST + (uint64_t)k, dt, value, 2));
        record[0][k] = value[0], record[1][k] = value[1];
    }
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * 0.0625 * test_variance_error(TRIAL_COUNT, 0.0), 0.0625,
                                  test_covariance(record[i], TRIAL_COUNT, 0));
        TEST_ASSERT_DOUBLE_WITHIN(5.0 * 0.0625 / sqrt(TRIAL_COUNT), 0.0,
                                  test_covariance(record[i], TRIAL_COUNT, 1));
    }
    TEST_ASSERT_DOUBLE_WITHIN(5.0 / sqrt(TRIAL_COUNT), 0.0,
                              test_correlation(record[0], record[1], TRIAL_COUNT));
}

/* Binomial: five deviations of sqrt(n p (1 - p)). */
static void assert_binomial(double p, uint64_t hits)
{
    const double n = TRIAL_COUNT;
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(n * p * (1.0 - p)), n * p, (double)hits);
}

static void test_dropouts_come_with_their_probability_and_leave_the_value(void)
{
    const double probability[] = {0.0, 0.1, 0.5, 1.0};
    spec.last_frame = UINT64_MAX;
    for (int p = 0; p < 4; p++) {
        uint64_t lost = 0;
        begin(IO_FAULT_DROPOUT, probability[p]);
        for (uint64_t frame = FIRST; frame < FIRST + TRIAL_COUNT; frame++) {
            lost += !pass(frame, 1);
            TEST_ASSERT_TRUE(value[0] == truth(frame, 0));
        }
        assert_binomial(probability[p], lost);
        TEST_ASSERT_EQUAL_UINT64(lost, state.hits);
    }
}

static void test_a_delay_gives_old_samples_from_its_first_frame_on(void)
{
    for (int delay = 0; delay < IO_FAULT_DELAY_MAX; delay++) {
        begin(IO_FAULT_DELAY, delay);
        for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
            const uint64_t old = in_window(frame) ? frame - (uint64_t)delay : frame;
            TEST_ASSERT_TRUE(pass(frame, IO_FAULT_COMPONENT_MAX));
            for (int i = 0; i < IO_FAULT_COMPONENT_MAX; i++)
                TEST_ASSERT_TRUE(value[i] == truth(old, i));
        }
    }
}

static void test_a_delay_from_the_first_sample_on_says_nothing_at_first(void)
{
    spec.first_frame = 0;
    begin(IO_FAULT_DELAY, 5.0);
    for (uint64_t frame = 0; frame < 20; frame++) {
        TEST_ASSERT_EQUAL_INT(frame >= 5, pass(frame, 1));
        if (frame >= 5)
            TEST_ASSERT_TRUE(value[0] == truth(frame - 5, 0));
    }
}

static void test_only_the_components_of_the_mask_are_struck(void)
{
    const enum io_fault_kind kind[] = {IO_FAULT_STUCK, IO_FAULT_BIAS,  IO_FAULT_DRIFT,
                                       IO_FAULT_NOISE, IO_FAULT_DELAY, IO_FAULT_BIT_FLIP};
    spec.components = 1u << 1 | 1u << 3;
    for (int k = 0; k < 6; k++) {
        bool struck[4] = {false};
        begin(kind[k], 1.0);
        for (uint64_t frame = 0; frame < LAST; frame++) {
            (void)pass(frame, 4);
            for (int i = 0; i < 4; i++)
                struck[i] = struck[i] || value[i] != truth(frame, i);
        }
        TEST_ASSERT_TRUE(!struck[0] && struck[1] && !struck[2] && struck[3]);
    }
}

static void test_a_mask_beyond_the_signal_strikes_nothing(void)
{
    spec.components = 1u << 5;
    for (int kind = 0; kind <= IO_FAULT_BIT_FLIP; kind++) {
        begin((enum io_fault_kind)kind, 1.0);
        for (uint64_t frame = 0; frame < LAST; frame++) {
            (void)pass(frame, 2);
            TEST_ASSERT_TRUE(value[0] == truth(frame, 0) && value[1] == truth(frame, 1));
        }
    }
}

/* All 64 bits are hit; where the flip would make a number too large for a float, the sign is
 * flipped. */
static void test_a_bit_flip_turns_one_bit_of_one_component(void)
{
    uint64_t place[2] = {0, 0}, hits = 0, count[64] = {0};
    spec.last_frame = UINT64_MAX;
    begin(IO_FAULT_BIT_FLIP, 0.5);
    for (uint64_t frame = FIRST; frame < FIRST + TRIAL_COUNT; frame++) {
        const double before[2] = {1.1, -3.3e4};
        int changed = 0;
        memcpy(value, before, sizeof before);
        TEST_ASSERT_TRUE(io_fault_signal(&spec, &state, frame, dt, value, 2));
        for (int i = 0; i < 2; i++) {
            uint64_t a, b;
            memcpy(&a, &before[i], sizeof a);
            memcpy(&b, &value[i], sizeof b);
            TEST_ASSERT_TRUE(__builtin_popcountll(a ^ b) <= 1);
            TEST_ASSERT_TRUE(fabs(value[i]) <= (double)FLT_MAX);
            place[i] |= a ^ b;
            if (i == 0 && a != b)
                count[__builtin_ctzll(a ^ b)]++;
            changed += a != b;
        }
        TEST_ASSERT_TRUE(changed <= 1);
        hits += (uint64_t)changed;
    }
    assert_binomial(0.5, hits);
    TEST_ASSERT_EQUAL_UINT64(hits, state.hits);
    /* 1.1 = 2^0 ...: the top bit of the exponent, 62, makes it infinite.  3.3e4 = 2^15 ...: bits 59
     * to 61 add 128, 256 or 512 to the power, too much for a float. */
    TEST_ASSERT_EQUAL_HEX64(~(UINT64_C(1) << 62), place[0]);
    TEST_ASSERT_EQUAL_HEX64(~(UINT64_C(7) << 59), place[1]);
    for (int bit = 0; bit < 62; bit++)
        assert_binomial(0.5 / 128, count[bit]);
    assert_binomial(0.5 / 64, count[63]); /* its own share and that of the top bit */
}

static void test_no_fault_makes_a_nan_of_a_finite_signal(void)
{
    const double hard[] = {0.0, -0.0, 5e-324, -1e-310, 1.0, -1.5, 1e38, DBL_MAX, -DBL_MAX};
    spec.last_frame = UINT64_MAX;
    for (int kind = 0; kind < IO_FAULT_KIND_COUNT; kind++) {
        begin((enum io_fault_kind)kind, 1.0);
        for (uint64_t frame = 0; frame < 20000; frame++) {
            value[0] = hard[frame % 9], value[1] = hard[frame / 9 % 9];
            (void)io_fault_signal(&spec, &state, frame, dt, value, 2);
            TEST_ASSERT_FALSE(isnan(value[0]) || isnan(value[1]));
        }
    }
}

static void test_a_lost_link_passes_nothing(void)
{
    begin(IO_FAULT_LOSS, 0.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++)
        TEST_ASSERT_EQUAL_size_t(in_window(frame) ? 0 : SIZE, pass_bytes(frame));
    TEST_ASSERT_EQUAL_UINT64(LAST - FIRST, state.hits);
    begin(IO_FAULT_LOSS, 0.0);
    for (uint64_t frame = 0; frame < FRAME_COUNT; frame++)
        TEST_ASSERT_EQUAL(!in_window(frame), pass(frame, 1));
}

static void test_bus_frames_drop_with_their_probability_and_whole_or_not_at_all(void)
{
    const double probability[] = {0.0, 0.2, 1.0};
    for (int p = 0; p < 3; p++) {
        uint64_t lost = 0;
        begin(IO_FAULT_DROPOUT, probability[p]);
        for (int k = 0; k < TRIAL_COUNT; k++) {
            const size_t size = pass_bytes(FIRST); /* many in one frame of the run */
            TEST_ASSERT_TRUE(size == 0 || size == SIZE);
            TEST_ASSERT_EQUAL_INT(0, flipped_bits(0, SIZE));
            lost += size == 0;
        }
        assert_binomial(probability[p], lost);
        TEST_ASSERT_EQUAL_UINT64(lost, state.hits);
    }
}

static void test_a_bus_frame_flips_one_bit_anywhere_as_likely(void)
{
    static int count[8 * SIZE];
    int hits = 0;
    double chi2 = 0.0;
    begin(IO_FAULT_BIT_FLIP, 0.75);
    for (int k = 0; k < TRIAL_COUNT; k++) {
        TEST_ASSERT_EQUAL_size_t(SIZE, pass_bytes(FIRST));
        TEST_ASSERT_TRUE(flipped_bits(0, SIZE) <= 1);
        for (int bit = 0; bit < 8 * SIZE; bit++) {
            const unsigned damage = bytes[bit / 8] ^ (unsigned char)(bit / 8 * 7 + 1);
            count[bit] += (int)(damage >> bit % 8 & 1);
        }
        hits += flipped_bits(0, SIZE);
    }
    assert_binomial(0.75, (uint64_t)hits);
    for (int bit = 0; bit < 8 * SIZE; bit++) {
        const double expected = hits / (8.0 * SIZE);
        chi2 += (count[bit] - expected) * (count[bit] - expected) / expected;
    }
    TEST_ASSERT_DOUBLE_WITHIN(5.0 * sqrt(2.0 * (8 * SIZE - 1)), 8 * SIZE - 1, chi2);
}

static void test_a_crc_error_spoils_both_of_the_last_two_bytes_and_no_other(void)
{
    uint64_t hits = 0;
    bool seen[2][256] = {{false}};
    begin(IO_FAULT_CRC, 0.5);
    for (int k = 0; k < TRIAL_COUNT; k++) {
        TEST_ASSERT_EQUAL_size_t(SIZE, pass_bytes(FIRST));
        TEST_ASSERT_EQUAL_INT(0, flipped_bits(0, SIZE - 2));
        const bool one = flipped_bits(SIZE - 2, SIZE - 1) > 0,
                   two = flipped_bits(SIZE - 1, SIZE) > 0;
        TEST_ASSERT_EQUAL(one, two);
        hits += one;
        seen[0][bytes[SIZE - 2]] = seen[1][bytes[SIZE - 1]] = true;
    }
    assert_binomial(0.5, hits);
    for (int i = 0; i < 256; i++)
        TEST_ASSERT_TRUE(seen[0][i] && seen[1][i]);
}

static void test_the_shortest_bus_frames_stay_in_their_bounds(void)
{
    for (int kind = IO_FAULT_BIT_FLIP; kind <= IO_FAULT_CRC; kind++) {
        begin((enum io_fault_kind)kind, 1.0);
        for (int k = 0; k < 1000; k++) {
            unsigned char guarded[3] = {1, 2, 3};
            TEST_ASSERT_EQUAL_size_t(1, io_fault_frame(&spec, &state, FIRST, guarded + 1, 1));
            TEST_ASSERT_TRUE(guarded[0] == 1 && guarded[1] != 2 && guarded[2] == 3);
            TEST_ASSERT_EQUAL_size_t(0, io_fault_frame(&spec, &state, FIRST, guarded, 0));
        }
    }
}

/* A kind that fits acts in its window, and one that does not fit has no effect. */
static void test_a_kind_strikes_just_what_it_fits(void)
{
    for (int kind = 0; kind < IO_FAULT_KIND_COUNT; kind++) {
        const enum io_fault_kind k = (enum io_fault_kind)kind;
        begin(k, 1.0);
        (void)pass(FIRST - 1, 1);
        TEST_ASSERT_TRUE(pass(FIRST + 1, 1) || io_fault_fits_signal(k));
        TEST_ASSERT_EQUAL(io_fault_fits_signal(k), state.hits == 1);
        begin(k, 1.0);
        const size_t size = pass_bytes(FIRST + 1);
        TEST_ASSERT_EQUAL(io_fault_fits_frame(k), size == 0 || flipped_bits(0, SIZE) > 0);
        TEST_ASSERT_EQUAL(io_fault_fits_frame(k), state.hits == 1);
    }
}

static void test_the_same_seed_and_calls_give_the_same_state_bit_for_bit(void)
{
    struct io_fault_state other;
    double again[3];
    for (int kind = 0; kind < IO_FAULT_KIND_COUNT; kind++) {
        begin((enum io_fault_kind)kind, 0.5);
        memset(&other, 0x55, sizeof other);
        io_fault_begin(&spec, 7, 1, &other);
        for (uint64_t frame = 0; frame < FRAME_COUNT; frame++) {
            for (int i = 0; i < 3; i++)
                again[i] = truth(frame, i);
            const bool fresh = io_fault_signal(&spec, &other, frame, dt, again, 3);
            TEST_ASSERT_EQUAL(fresh, pass(frame, 3));
            TEST_ASSERT_EQUAL_MEMORY(again, value, sizeof again);
            TEST_ASSERT_EQUAL_MEMORY(&other, &state, sizeof state);
        }
    }
    io_fault_begin(&spec, 7, 2, &other);
    io_fault_begin(&spec, 7, 1, &state);
    TEST_ASSERT_TRUE(memcmp(&other.noise, &state.noise, sizeof other.noise) != 0);
}

/* The mask or the length of a frame does not shift the random sequence of the next one. */
static void test_draws_do_not_depend_on_what_is_struck(void)
{
    struct io_noise after;
    begin(IO_FAULT_NOISE, 1.0);
    (void)pass(FIRST, 3);
    after = state.noise;
    spec.components = 1;
    begin(IO_FAULT_NOISE, 1.0);
    (void)pass(FIRST, 3);
    TEST_ASSERT_EQUAL_MEMORY(&after, &state.noise, sizeof after);

    for (int kind = IO_FAULT_BIT_FLIP; kind <= IO_FAULT_CRC; kind++) {
        begin((enum io_fault_kind)kind, 1.0);
        (void)pass_bytes(FIRST);
        after = state.noise;
        begin((enum io_fault_kind)kind, 0.0);
        (void)pass_bytes(FIRST);
        TEST_ASSERT_EQUAL_MEMORY(&after, &state.noise, sizeof after);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_out_of_its_window_no_fault_touches_a_bit);
    RUN_TEST(test_a_window_has_its_first_frame_and_not_its_last);
    RUN_TEST(test_a_window_without_end_lasts_for_ever);
    RUN_TEST(test_a_stuck_signal_stays_where_it_was_when_the_fault_began);
    RUN_TEST(test_a_slow_signal_is_stuck_at_its_first_sample_in_the_window);
    RUN_TEST(test_a_signal_can_be_stuck_at_a_value);
    RUN_TEST(test_a_drift_grows_with_the_seconds_since_it_began);
    RUN_TEST(test_noise_has_its_deviation_and_no_memory);
    RUN_TEST(test_dropouts_come_with_their_probability_and_leave_the_value);
    RUN_TEST(test_a_delay_gives_old_samples_from_its_first_frame_on);
    RUN_TEST(test_a_delay_from_the_first_sample_on_says_nothing_at_first);
    RUN_TEST(test_only_the_components_of_the_mask_are_struck);
    RUN_TEST(test_a_mask_beyond_the_signal_strikes_nothing);
    RUN_TEST(test_a_bit_flip_turns_one_bit_of_one_component);
    RUN_TEST(test_no_fault_makes_a_nan_of_a_finite_signal);
    RUN_TEST(test_a_lost_link_passes_nothing);
    RUN_TEST(test_bus_frames_drop_with_their_probability_and_whole_or_not_at_all);
    RUN_TEST(test_a_bus_frame_flips_one_bit_anywhere_as_likely);
    RUN_TEST(test_a_crc_error_spoils_both_of_the_last_two_bytes_and_no_other);
    RUN_TEST(test_the_shortest_bus_frames_stay_in_their_bounds);
    RUN_TEST(test_a_kind_strikes_just_what_it_fits);
    RUN_TEST(test_the_same_seed_and_calls_give_the_same_state_bit_for_bit);
    RUN_TEST(test_draws_do_not_depend_on_what_is_struck);
    return UNITY_END();
}
