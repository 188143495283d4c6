/*
 * Files that are cut off while they are mapped: guarded memory becomes zeros and a flag, memory
 * that is not guarded still ends the process.
 */
#include "rt/guarded_mapping.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/panic.h"
#include "tests/rt/child.h"
#include "unity.h"

enum { PAGE = 4096, SIZE = 16 * PAGE };

static int fd;
static unsigned char *mem;
static atomic_bool gone;

void setUp(void)
{
    fd = memfd_create("guarded", 0);
    TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, SIZE));
    mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    TEST_ASSERT_TRUE(mem != MAP_FAILED);
    memset(mem, 7, SIZE);
}

void tearDown(void)
{
    rt_guarded_mapping_remove(mem);
    munmap(mem, SIZE);
    close(fd);
}

static void skip_where_signals_are_not_ours(void)
{
#ifdef __SANITIZE_THREAD__
    TEST_IGNORE_MESSAGE("the thread sanitizer has signals and mappings in its own hands");
#endif
}

static void test_what_was_cut_off_reads_as_zeros_and_is_reported(void)
{
    TEST_ASSERT_TRUE(rt_guarded_mapping_add(mem, SIZE, &gone));
    TEST_ASSERT_EQUAL_HEX8(7, mem[9 * PAGE]);
    TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, PAGE));
    TEST_ASSERT_FALSE(atomic_load(&gone));
    TEST_ASSERT_EQUAL_HEX8(7, ((volatile unsigned char *)mem)[5]); /* that page is still there */
    TEST_ASSERT_EQUAL_HEX8(0, ((volatile unsigned char *)mem)[9 * PAGE]);
    TEST_ASSERT_TRUE(atomic_load(&gone));
    memset(mem, 3, SIZE); /* it is memory like any other now */
    TEST_ASSERT_EQUAL_HEX8(3, ((volatile unsigned char *)mem)[SIZE - 1]);
}

static void *write_all_of_it(void *self)
{
    (void)self;
    for (int i = 0; i < SIZE; i++) /* relaxed: the others write the same */
        atomic_store_explicit((_Atomic unsigned char *)mem + i, 1, memory_order_relaxed);
    return NULL;
}

static void test_any_thread_may_meet_it(void)
{
    skip_where_signals_are_not_ours();
    pthread_t thread[4];
    TEST_ASSERT_TRUE(rt_guarded_mapping_add(mem, SIZE, &gone));
    TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 0));
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread[i], NULL, write_all_of_it, NULL));
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_join(thread[i], NULL));
    TEST_ASSERT_TRUE(atomic_load(&gone));
}

static void test_there_is_room_for_so_many(void)
{
    static unsigned char bytes[RT_GUARDED_MAPPING_MAX + 1];
    atomic_bool flags[RT_GUARDED_MAPPING_MAX + 1];
    for (int i = 0; i < RT_GUARDED_MAPPING_MAX; i++)
        TEST_ASSERT_TRUE(rt_guarded_mapping_add(&bytes[i], 1, &flags[i]));
    TEST_ASSERT_FALSE(
        rt_guarded_mapping_add(&bytes[RT_GUARDED_MAPPING_MAX], 1, &flags[RT_GUARDED_MAPPING_MAX]));
    rt_guarded_mapping_remove(&bytes[3]);
    TEST_ASSERT_TRUE(
        rt_guarded_mapping_add(&bytes[RT_GUARDED_MAPPING_MAX], 1, &flags[RT_GUARDED_MAPPING_MAX]));
    for (int i = 0; i <= RT_GUARDED_MAPPING_MAX; i++)
        rt_guarded_mapping_remove(&bytes[i]);
}

static void say_something(void *self)
{
    mem[3 * PAGE] = 1; /* an emergency message into memory that is gone */
    if (write(*(int *)self, "s", 1) != 1)
        child_exit(99);
}

/* What the child died of, and whether its outputs were invalidated. */
static int die_by(void (*crash)(void), bool guard, char *safe)
{
    int ends[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) {
        if (guard && !rt_guarded_mapping_add(mem, SIZE, &gone))
            child_exit(98);
        close(STDERR_FILENO);
        if (safe)
            rt_panic_install(say_something, &ends[1]);
        if (ftruncate(fd, 0))
            child_exit(97);
        crash();
        child_exit(0);
    }
    close(ends[1]);
    int status;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    if (safe)
        *safe = read(ends[0], safe, 1) == 1 ? *safe : '-';
    close(ends[0]);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void touch(void)
{
    ((volatile unsigned char *)mem)[PAGE] = 1;
}

static void crash(void)
{
    raise(SIGSEGV);
}

/* The address sanitizer catches the signal itself and ends the process with a status of 1. */
#ifdef __SANITIZE_ADDRESS__
enum { BUS_ERROR = -1 };
#else
enum { BUS_ERROR = SIGBUS };
#endif

static void test_memory_without_a_guard_still_ends_the_process(void)
{
    skip_where_signals_are_not_ours();
    char safe = 0;
    static unsigned char other;
    TEST_ASSERT_EQUAL_INT(BUS_ERROR, die_by(touch, false, NULL));
    TEST_ASSERT_TRUE(rt_guarded_mapping_add(&other, 1, &gone));
    const int died = die_by(touch, false, NULL);
    rt_guarded_mapping_remove(&other);
    TEST_ASSERT_EQUAL_INT(BUS_ERROR, died);
    TEST_ASSERT_EQUAL_INT(SIGBUS, die_by(touch, false, &safe));
}

static void test_a_crash_still_reaches_the_other_links_when_one_has_truncated_its_memory(void)
{
    skip_where_signals_are_not_ours();
    char safe = 0;
    TEST_ASSERT_EQUAL_INT(SIGSEGV, die_by(crash, true, &safe));
    TEST_ASSERT_EQUAL_CHAR('s', safe);
    TEST_ASSERT_EQUAL_INT(0, die_by(touch, true, &safe));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_was_cut_off_reads_as_zeros_and_is_reported);
    RUN_TEST(test_any_thread_may_meet_it);
    RUN_TEST(test_there_is_room_for_so_many);
    RUN_TEST(test_memory_without_a_guard_still_ends_the_process);
    RUN_TEST(test_a_crash_still_reaches_the_other_links_when_one_has_truncated_its_memory);
    return UNITY_END();
}
