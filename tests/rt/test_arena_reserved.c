/*
 * Reserved huge pages: an arena takes them when they can be filled, and gives them back and goes on
 * with ordinary ones when they cannot.
 */
#include "rt/arena.h"

#include <errno.h>
#include <sys/mman.h>

#include "unity.h"

static void *reserved; /* what the kernel gave for huge pages */
static bool is_pool_empty;
static int given_back;

void *__real_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *mem, size_t size);
int __wrap_munmap(void *mem, size_t size);
int __real_madvise(void *mem, size_t size, int advice);
int __wrap_madvise(void *mem, size_t size, int advice);

/* Ordinary pages stand for the huge ones. */
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *mem = __real_mmap64(at, size, protection, flags & ~MAP_HUGETLB, fd, offset);
    if (flags & MAP_HUGETLB)
        reserved = mem;
    return mem;
}

int __wrap_munmap(void *mem, size_t size)
{
    given_back += mem == reserved;
    return __real_munmap(mem, size);
}

int __wrap_madvise(void *mem, size_t size, int advice)
{
    if (mem == reserved && is_pool_empty) {
        errno = EFAULT;
        return -1;
    }
    return __real_madvise(mem, size, advice);
}

void setUp(void)
{
    reserved = NULL;
    given_back = 0;
}

void tearDown(void)
{
}

static void test_reserved_pages_are_taken(void)
{
    struct rt_arena arena;
    is_pool_empty = false;
    TEST_ASSERT_EQUAL_INT(0, rt_arena_open(&arena, 100000, 0));
    TEST_ASSERT_EQUAL_PTR(reserved, arena.base);
    TEST_ASSERT_EQUAL_size_t(2u << 20, arena.size);
    TEST_ASSERT_EQUAL_INT(0, given_back);
    rt_arena_close(&arena);
}

static void test_reserved_pages_that_cannot_be_filled_are_given_back(void)
{
    struct rt_arena arena;
    is_pool_empty = true;
    TEST_ASSERT_EQUAL_INT(0, rt_arena_open(&arena, 100000, 0));
    TEST_ASSERT_NOT_NULL(reserved);
    TEST_ASSERT_EQUAL_INT(1, given_back);
    TEST_ASSERT_LESS_THAN_size_t(2u << 20, arena.size);
    rt_arena_close(&arena);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_reserved_pages_are_taken);
    RUN_TEST(test_reserved_pages_that_cannot_be_filled_are_given_back);
    return UNITY_END();
}
