#include "rt/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

enum { LETTERS = 200000, WORDS = 37 };

struct letter {
    uint64_t words[WORDS];
};

static void *mem;
static struct rt_mailbox *box;

void setUp(void)
{
    const size_t size = rt_mailbox_size(sizeof(struct letter));
    mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0xff, size);
    box = rt_mailbox_place(sizeof(struct letter), mem);
}

void tearDown(void)
{
    free(mem);
}

static void publish(uint64_t number)
{
    struct letter *letter = rt_mailbox_back(box);
    for (uint64_t i = 0; i < WORDS; i++)
        letter->words[i] = number + i;
    (void)rt_mailbox_publish(box);
}

/* The number of a whole item; a torn one fails. */
static uint64_t number_of(const struct letter *letter)
{
    for (uint64_t i = 0; i < WORDS; i++)
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(letter->words[0] + i, letter->words[i], "torn letter");
    return letter->words[0];
}

static void test_before_the_first_item_there_are_zeros(void)
{
    static const struct letter zeros;
    bool fresh = true;
    const struct letter *letter = rt_mailbox_take(box, &fresh);
    TEST_ASSERT_FALSE(fresh);
    TEST_ASSERT_EQUAL_MEMORY(&zeros, letter, sizeof zeros);
}

static void test_the_writer_learns_whether_the_item_before_was_taken(void)
{
    bool fresh;
    TEST_ASSERT_TRUE(rt_mailbox_publish(box)); /* there was none */
    TEST_ASSERT_FALSE(rt_mailbox_publish(box));
    (void)rt_mailbox_take(box, &fresh);
    (void)rt_mailbox_take(box, &fresh);
    TEST_ASSERT_TRUE(rt_mailbox_publish(box));
    TEST_ASSERT_FALSE(rt_mailbox_publish(box));
}

static void test_an_item_is_fresh_once_and_stays(void)
{
    bool fresh = false;
    publish(100);
    TEST_ASSERT_EQUAL_UINT64(100, number_of(rt_mailbox_take(box, &fresh)));
    TEST_ASSERT_TRUE(fresh);
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_UINT64(100, number_of(rt_mailbox_take(box, &fresh)));
        TEST_ASSERT_FALSE(fresh);
    }
}

static void test_the_newest_item_wins(void)
{
    bool fresh = false;
    for (uint64_t count = 1; count < 8; count++) {
        for (uint64_t i = 1; i <= count; i++)
            publish(1000 * count + i);
        TEST_ASSERT_EQUAL_UINT64(1001 * count, number_of(rt_mailbox_take(box, &fresh)));
        TEST_ASSERT_TRUE(fresh);
    }
}

static void test_a_taken_item_survives_what_the_writer_does(void)
{
    bool fresh;
    publish(7);
    const struct letter *letter = rt_mailbox_take(box, &fresh);
    for (uint64_t i = 100; i < 110; i++) {
        TEST_ASSERT_TRUE(rt_mailbox_back(box) != (const void *)letter);
        publish(i);
        TEST_ASSERT_EQUAL_UINT64(7, number_of(letter));
    }
}

static void test_buffers_lie_in_the_memory_given_and_on_cache_lines(void)
{
    const size_t size = rt_mailbox_size(sizeof(struct letter));
    for (int i = 0; i < 3; i++) {
        const unsigned char *back = rt_mailbox_back(box);
        TEST_ASSERT_EQUAL_size_t(0, (uintptr_t)back % 64);
        TEST_ASSERT_TRUE(back >= (unsigned char *)mem);
        TEST_ASSERT_TRUE(back + sizeof(struct letter) <= (unsigned char *)mem + size);
        (void)rt_mailbox_publish(box);
    }
}

static void *write_letters(void *self)
{
    (void)self;
    for (uint64_t i = 1; i <= LETTERS; i++) {
        publish(1000 * i);
        if (i % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void test_between_threads_no_item_is_torn_and_none_comes_back(void)
{
    pthread_t writer;
    uint64_t last = 0, fresh_count = 0;
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&writer, NULL, write_letters, NULL));
    while (last < 1000 * (uint64_t)LETTERS) {
        bool fresh;
        const struct letter *letter = rt_mailbox_take(box, &fresh);
        if (!fresh) {
            sched_yield();
            continue;
        }
        const uint64_t number = number_of(letter);
        TEST_ASSERT_GREATER_THAN_UINT64(last, number);
        last = number;
        fresh_count++;
    }
    pthread_join(writer, NULL);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(LETTERS, fresh_count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_before_the_first_item_there_are_zeros);
    RUN_TEST(test_the_writer_learns_whether_the_item_before_was_taken);
    RUN_TEST(test_an_item_is_fresh_once_and_stays);
    RUN_TEST(test_the_newest_item_wins);
    RUN_TEST(test_a_taken_item_survives_what_the_writer_does);
    RUN_TEST(test_buffers_lie_in_the_memory_given_and_on_cache_lines);
    RUN_TEST(test_between_threads_no_item_is_torn_and_none_comes_back);
    return UNITY_END();
}
