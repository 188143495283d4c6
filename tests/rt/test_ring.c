#include "rt/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rt/child.h"
#include "unity.h"

enum { ATTEMPTS = 200000, WORDS = 11 };

struct item {
    uint64_t number;
    uint64_t words[WORDS];
};

static void *mem;
static struct rt_ring *ring;

static void place(size_t count)
{
    const size_t size = rt_ring_size(sizeof(struct item), count);
    free(mem);
    mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0xff, size); /* the ring must not rely on zeroed memory */
    ring = rt_ring_place(sizeof(struct item), count, mem);
}

void setUp(void)
{
    place(4);
}

void tearDown(void)
{
    free(mem);
    mem = NULL;
}

static bool push(uint64_t number)
{
    struct item *item = rt_ring_claim(ring);
    if (!item)
        return false;
    item->number = number;
    for (uint64_t i = 0; i < WORDS; i++)
        item->words[i] = number * (i + 3);
    rt_ring_push(ring);
    return true;
}

static uint64_t pop(void)
{
    const struct item *item = rt_ring_front(ring);
    TEST_ASSERT_NOT_NULL(item);
    const uint64_t number = item->number;
    for (uint64_t i = 0; i < WORDS; i++)
        TEST_ASSERT_EQUAL_UINT64(number * (i + 3), item->words[i]);
    rt_ring_pop(ring);
    return number;
}

static void test_an_empty_ring_has_no_front(void)
{
    TEST_ASSERT_NULL(rt_ring_front(ring));
    TEST_ASSERT_TRUE(push(1));
    TEST_ASSERT_EQUAL_UINT64(1, pop());
    TEST_ASSERT_NULL(rt_ring_front(ring));
}

static void test_a_claimed_item_is_not_visible_before_the_push(void)
{
    struct item *item = rt_ring_claim(ring);
    TEST_ASSERT_NOT_NULL(item);
    TEST_ASSERT_NULL(rt_ring_front(ring));
    TEST_ASSERT_EQUAL_PTR(item, rt_ring_claim(ring)); /* a claim alone takes nothing */
    rt_ring_push(ring);
    TEST_ASSERT_EQUAL_PTR(item, rt_ring_front(ring));
}

static void test_items_come_out_in_the_order_they_went_in(void)
{
    uint64_t in = 0, out = 0;
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i <= round % 4; i++)
            TEST_ASSERT_TRUE(push(++in));
        for (int i = 0; i <= round % 4; i++)
            TEST_ASSERT_EQUAL_UINT64(++out, pop());
    }
    TEST_ASSERT_EQUAL_UINT64(0, rt_ring_dropped(ring));
}

static void test_a_full_ring_drops_and_counts(void)
{
    for (uint64_t i = 1; i <= 7; i++)
        TEST_ASSERT_EQUAL(i <= 4, push(i));
    TEST_ASSERT_EQUAL_UINT64(3, rt_ring_dropped(ring));
    TEST_ASSERT_EQUAL_UINT64(1, pop());
    TEST_ASSERT_TRUE(push(8));
    TEST_ASSERT_FALSE(push(9));
    TEST_ASSERT_EQUAL_UINT64(2, pop());
    TEST_ASSERT_EQUAL_UINT64(3, pop());
    TEST_ASSERT_EQUAL_UINT64(4, pop());
    TEST_ASSERT_EQUAL_UINT64(8, pop());
    TEST_ASSERT_NULL(rt_ring_front(ring));
}

static void test_the_count_is_rounded_up_to_a_power_of_two(void)
{
    static const size_t asked[] = {1, 2, 3, 5, 8, 9}, got[] = {1, 2, 4, 8, 8, 16};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        uint64_t fits = 0;
        place(asked[i]);
        while (push(fits))
            fits++;
        TEST_ASSERT_EQUAL_UINT64(got[i], fits);
        for (uint64_t k = 0; k < fits; k++)
            TEST_ASSERT_EQUAL_UINT64(k, pop());
    }
}

static void test_no_item_shares_a_cache_line(void)
{
    const unsigned char *last = NULL;
    for (int i = 0; i < 4; i++) {
        const unsigned char *item = rt_ring_claim(ring);
        TEST_ASSERT_EQUAL_size_t(0, (uintptr_t)item % 64);
        if (last)
            TEST_ASSERT_TRUE(item >= last + sizeof(struct item));
        TEST_ASSERT_TRUE(item >= (unsigned char *)mem);
        TEST_ASSERT_TRUE(item + sizeof(struct item) <=
                         (unsigned char *)mem + rt_ring_size(sizeof(struct item), 4));
        rt_ring_push(ring);
        last = item;
    }
}

static void pop_nothing(void *self)
{
    rt_ring_pop(self);
}

static void push_nothing(void *self)
{
    for (uint64_t i = 0; i < 4; i++)
        push(i);
    rt_ring_push(self);
}

static void test_popping_or_pushing_what_is_not_there_traps(void)
{
    TEST_ASSERT_TRUE(child_traps(pop_nothing, ring));
    TEST_ASSERT_TRUE(child_traps(push_nothing, ring));
}

/* The producer tries each number once; a full ring loses it. */
static void *produce_once(void *self)
{
    (void)self;
    for (uint64_t i = 1; i <= ATTEMPTS; i++)
        push(i);
    while (!push(UINT64_MAX)) /* the end mark must arrive */
        sched_yield();
    return NULL;
}

static uint64_t consume(uint64_t *last)
{
    uint64_t count = 0;
    for (;;) {
        if (!rt_ring_front(ring)) {
            sched_yield();
            continue;
        }
        const uint64_t number = pop();
        if (number == UINT64_MAX)
            return count;
        TEST_ASSERT_GREATER_THAN_UINT64(*last, number);
        *last = number;
        count++;
    }
}

static void test_between_threads_items_are_whole_in_order_and_accounted_for(void)
{
    pthread_t producer;
    uint64_t last = 0;
    place(32);
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&producer, NULL, produce_once, NULL));
    const uint64_t received = consume(&last);
    pthread_join(producer, NULL);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(ATTEMPTS - received, rt_ring_dropped(ring));
}

/* The producer repeats until the ring has room; nothing may be lost. */
static void *produce_all(void *self)
{
    (void)self;
    for (uint64_t i = 1; i <= ATTEMPTS; i++)
        while (!push(i))
            sched_yield();
    while (!push(UINT64_MAX))
        sched_yield();
    return NULL;
}

static void test_between_threads_a_patient_producer_loses_nothing(void)
{
    pthread_t producer;
    uint64_t last = 0;
    place(8);
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&producer, NULL, produce_all, NULL));
    TEST_ASSERT_EQUAL_UINT64(ATTEMPTS, consume(&last));
    pthread_join(producer, NULL);
    TEST_ASSERT_EQUAL_UINT64(ATTEMPTS, last);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_empty_ring_has_no_front);
    RUN_TEST(test_a_claimed_item_is_not_visible_before_the_push);
    RUN_TEST(test_items_come_out_in_the_order_they_went_in);
    RUN_TEST(test_a_full_ring_drops_and_counts);
    RUN_TEST(test_the_count_is_rounded_up_to_a_power_of_two);
    RUN_TEST(test_no_item_shares_a_cache_line);
    RUN_TEST(test_popping_or_pushing_what_is_not_there_traps);
    RUN_TEST(test_between_threads_items_are_whole_in_order_and_accounted_for);
    RUN_TEST(test_between_threads_a_patient_producer_loses_nothing);
    return UNITY_END();
}
