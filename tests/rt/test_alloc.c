/*
 * Built twice: as the program is, and with the trap of test builds (RT_TRAP_ALLOCATIONS).
 */
#include "rt/alloc.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rt/child.h"
#include "unity.h"

/* Through a volatile pointer, or the compiler drops a malloc whose memory is only freed. */
static void *volatile mem;

void setUp(void)
{
}

void tearDown(void)
{
    rt_alloc_unwatch();
}

static void need_counting(void)
{
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizer build: the sanitizer's malloc is in place");
}

static void call_malloc(void)
{
    mem = malloc(10);
}

static void call_calloc(void)
{
    mem = calloc(3, 5);
}

static void call_realloc(void)
{
    mem = realloc(mem, 100);
}

static void call_reallocarray(void)
{
    mem = reallocarray(mem, 10, 20);
}

static void call_aligned_alloc(void)
{
    mem = aligned_alloc(64, 128);
}

static void call_posix_memalign(void)
{
    void *got = NULL;
    if (posix_memalign(&got, 64, 100) == 0)
        mem = got;
}

static void call_memalign(void)
{
    mem = memalign(64, 100);
}

static void call_valloc(void)
{
    mem = valloc(100);
}

static void call_pvalloc(void)
{
    mem = pvalloc(100);
}

static void call_strdup(void)
{
    mem = strdup("libc allocates here");
}

static void call_free(void)
{
    free(mem);
    mem = NULL;
}

static void (*const calls[])(void) = {
    call_malloc,         call_calloc,   call_realloc, call_reallocarray, call_aligned_alloc,
    call_posix_memalign, call_memalign, call_valloc,  call_pvalloc,      call_strdup,
};
enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

static void test_heap_calls_of_an_unwatched_thread_are_not_counted(void)
{
    need_counting();
    const uint64_t before = rt_alloc_count();
    for (int i = 0; i < CALL_COUNT; i++) {
        calls[i]();
        call_free();
    }
    TEST_ASSERT_EQUAL_UINT64(before, rt_alloc_count());
}

#ifdef RT_TRAP_ALLOCATIONS

static void watch_and_call(void *call)
{
    rt_alloc_watch();
    (*(void (*const *)(void))call)();
}

static void watch_and_free(void *self)
{
    mem = malloc(10);
    rt_alloc_watch();
    free(mem);
    (void)self;
}

static void watch_nothing(void *self)
{
    rt_alloc_watch();
    rt_alloc_unwatch();
    mem = malloc(10);
    (void)self;
}

static void test_each_heap_call_of_a_watched_thread_traps(void)
{
    need_counting();
    for (int i = 0; i < CALL_COUNT; i++)
        TEST_ASSERT_TRUE(child_traps(watch_and_call, (void *)&calls[i]));
    TEST_ASSERT_TRUE(child_traps(watch_and_free, NULL));
    TEST_ASSERT_EQUAL_INT(0, child_status(watch_nothing, NULL));
}

#else

static void test_each_heap_call_of_a_watched_thread_counts_once(void)
{
    need_counting();
    for (int i = 0; i < CALL_COUNT; i++) {
        const uint64_t before = rt_alloc_count();
        rt_alloc_watch();
        calls[i]();
        TEST_ASSERT_EQUAL_UINT64(before + 1, rt_alloc_count());
        call_free();
        TEST_ASSERT_EQUAL_UINT64(before + 2, rt_alloc_count());
        rt_alloc_unwatch();
    }
}

static void test_the_end_of_the_watch_ends_the_count(void)
{
    need_counting();
    rt_alloc_watch();
    rt_alloc_unwatch();
    const uint64_t before = rt_alloc_count();
    call_malloc();
    call_free();
    TEST_ASSERT_EQUAL_UINT64(before, rt_alloc_count());
}

static void *allocate_elsewhere(void *self)
{
    for (int i = 0; i < 100; i++)
        free(strdup("not watched"));
    return self;
}

static void test_the_watch_is_of_one_thread(void)
{
    pthread_t other;
    need_counting();
    rt_alloc_watch();
    const uint64_t before = rt_alloc_count();
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&other, NULL, allocate_elsewhere, NULL));
    pthread_join(other, NULL);
    const uint64_t after = rt_alloc_count();
    /* pthread_create itself may take a little; the other thread's 200 calls must not show. */
    TEST_ASSERT_LESS_THAN_UINT64(before + 100, after);
}

static void *watch_and_allocate(void *self)
{
    rt_alloc_watch();
    for (int i = 0; i < 1000; i++) {
        void *volatile block = malloc(16);
        free(block);
    }
    return self;
}

static void test_counts_of_two_watched_threads_add_up(void)
{
    pthread_t thread[2];
    need_counting();
    const uint64_t before = rt_alloc_count();
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread[i], NULL, watch_and_allocate, NULL));
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    /* A thread's end frees a little of its own in glibc. */
    TEST_ASSERT_UINT64_WITHIN(20, before + 4010, rt_alloc_count());
}

#endif

static void test_memory_is_what_was_asked_for(void)
{
    void *got = NULL;
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        TEST_ASSERT_EQUAL_INT(0, posix_memalign(&got, alignment, 100));
        TEST_ASSERT_EQUAL_size_t(0, (uintptr_t)got % alignment);
        TEST_ASSERT_GREATER_OR_EQUAL_size_t(100, malloc_usable_size(got));
        free(got);
    }
    unsigned char *zeros = calloc(100, 100);
    TEST_ASSERT_EACH_EQUAL_HEX8(0, zeros, 10000);
    zeros[77] = 9;
    zeros = realloc(zeros, 100000);
    TEST_ASSERT_EQUAL_HEX8(9, zeros[77]);
    free(zeros);
    void *page = pvalloc(1);
    TEST_ASSERT_GREATER_OR_EQUAL_size_t((size_t)sysconf(_SC_PAGESIZE), malloc_usable_size(page));
    free(page);
}

static void test_refusals_are_those_of_the_c_library(void)
{
    volatile size_t most = SIZE_MAX;
    void *got = NULL;
    /* Called by its own name, clang takes it for granted that errno stays. */
    void *(*volatile call)(size_t, size_t) = calloc;
    need_counting(); /* a sanitizer ends the program instead */
    TEST_ASSERT_EQUAL_INT(EINVAL, posix_memalign(&got, 3, 8));
    TEST_ASSERT_EQUAL_INT(EINVAL, posix_memalign(&got, 4, 8));
    TEST_ASSERT_EQUAL_INT(EINVAL, posix_memalign(&got, 0, 8));
    TEST_ASSERT_EQUAL_INT(ENOMEM, posix_memalign(&got, 64, most - 100));
    TEST_ASSERT_NULL(got);
    errno = 0;
    mem = reallocarray(NULL, most / 2, 3);
    TEST_ASSERT_NULL(mem);
    TEST_ASSERT_EQUAL_INT(ENOMEM, errno);
    errno = 0;
    mem = call(most / 2, 3);
    TEST_ASSERT_NULL(mem);
    TEST_ASSERT_EQUAL_INT(ENOMEM, errno);
    errno = 0;
    mem = pvalloc(most);
    TEST_ASSERT_NULL(mem);
    TEST_ASSERT_EQUAL_INT(ENOMEM, errno);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_heap_calls_of_an_unwatched_thread_are_not_counted);
#ifdef RT_TRAP_ALLOCATIONS
    RUN_TEST(test_each_heap_call_of_a_watched_thread_traps);
#else
    RUN_TEST(test_each_heap_call_of_a_watched_thread_counts_once);
    RUN_TEST(test_the_end_of_the_watch_ends_the_count);
    RUN_TEST(test_the_watch_is_of_one_thread);
    RUN_TEST(test_counts_of_two_watched_threads_add_up);
#endif
    RUN_TEST(test_memory_is_what_was_asked_for);
    RUN_TEST(test_refusals_are_those_of_the_c_library);
    return UNITY_END();
}
