#include "rt/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <numa.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/alloc.h"
#include "tests/rt/child.h"
#include "unity.h"

static struct rt_arena arena;

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT(0, rt_arena_open(&arena, 100000, 0));
}

void tearDown(void)
{
    rt_arena_close(&arena);
}

/* The value in KiB, or the text after it, of a field of the mapping that holds mem. */
static unsigned long smaps_kib(const void *mem, const char *field, char text[256])
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    unsigned long value = 0;
    bool inside = false;
    TEST_ASSERT_NOT_NULL(file);
    while (fgets(line, sizeof line, file)) {
        uintptr_t begin, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            inside = begin <= (uintptr_t)mem && (uintptr_t)mem < end;
        else if (inside && strncmp(line, field, strlen(field)) == 0) {
            sscanf(line + strlen(field), "%lu", &value);
            if (text)
                snprintf(text, 256, "%.255s", line + strlen(field));
        }
    }
    fclose(file);
    return value;
}

static void test_an_open_arena_is_present_and_zero(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char resident[1024] = {0};
    TEST_ASSERT_GREATER_OR_EQUAL_size_t(100000, arena.size);
    TEST_ASSERT_EQUAL_size_t(0, arena.used);
    TEST_ASSERT_EQUAL_size_t(0, arena.size % page);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof resident, arena.size / page);
    TEST_ASSERT_EQUAL_INT(0, mincore(arena.base, arena.size, resident));
    for (size_t i = 0; i < arena.size / page; i++)
        TEST_ASSERT_TRUE(resident[i] & 1);
    TEST_ASSERT_EACH_EQUAL_HEX8(0, arena.base, arena.size);
}

static void test_blocks_lie_on_cache_lines_of_their_own(void)
{
    unsigned char *last = NULL;
    for (size_t size = 1; size < 300; size += 37) {
        unsigned char *block = rt_arena_alloc(&arena, size);
        TEST_ASSERT_EQUAL_size_t(0, (uintptr_t)block % RT_CACHE_LINE);
        TEST_ASSERT_EACH_EQUAL_HEX8(0, block, size);
        TEST_ASSERT_TRUE((uintptr_t)block / RT_CACHE_LINE > (uintptr_t)last / RT_CACHE_LINE);
        memset(block, 0xff, size);
        last = block + size - 1;
        TEST_ASSERT_TRUE(last < arena.base + arena.used);
    }
}

static void take(void *size)
{
    (void)rt_arena_alloc(&arena, *(size_t *)size);
}

static void test_a_short_arena_traps(void)
{
    size_t all = arena.size, more = arena.size + 1, most = SIZE_MAX;
    TEST_ASSERT_FALSE(child_traps(take, &all));
    TEST_ASSERT_TRUE(child_traps(take, &more));
    TEST_ASSERT_TRUE(child_traps(take, &most));
    (void)rt_arena_alloc(&arena, 1);
    TEST_ASSERT_TRUE(child_traps(take, &all));
}

static void test_a_sealed_arena_traps(void)
{
    size_t one = 1;
    TEST_ASSERT_FALSE(child_traps(take, &one));
    rt_arena_seal(&arena);
    TEST_ASSERT_TRUE(child_traps(take, &one));
}

static void test_more_memory_than_there_is_is_an_error(void)
{
    struct rt_arena other;
    TEST_ASSERT_EQUAL_INT(-ENOMEM, rt_arena_open(&other, SIZE_MAX, -1));
    TEST_ASSERT_EQUAL_INT(-ENOMEM, rt_arena_open(&other, SIZE_MAX / 4, -1));
    rt_arena_close(&other); /* of an arena that never opened: nothing */
}

static void test_locked_means_the_kernel_says_locked(void)
{
    char flags[256] = "";
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizers turn mlock off");
    (void)smaps_kib(arena.base, "VmFlags:", flags);
    TEST_ASSERT_EQUAL(arena.locked, strstr(flags, " lo") != NULL);
}

static void test_the_node_is_that_of_the_core(void)
{
    cpu_set_t set;
    int cpu = 0;
    if (numa_available() < 0) {
        TEST_ASSERT_EQUAL_INT(-1, arena.node);
        return;
    }
    TEST_ASSERT_EQUAL_INT(0, sched_getaffinity(0, sizeof set, &set));
    while (!CPU_ISSET((size_t)cpu, &set))
        cpu++;
    rt_arena_close(&arena);
    TEST_ASSERT_EQUAL_INT(0, rt_arena_open(&arena, 5 << 20, cpu));
    TEST_ASSERT_EQUAL_INT(numa_node_of_cpu(cpu), arena.node);
}

static void test_huge_pages_are_reported_when_the_kernel_has_them(void)
{
    char flags[256] = "";
    rt_arena_close(&arena);
    TEST_ASSERT_EQUAL_INT(0, rt_arena_open(&arena, (5 << 20) + 1, -1));
    const unsigned long huge_kib = smaps_kib(arena.base, "AnonHugePages:", NULL) +
                                   smaps_kib(arena.base, "Private_Hugetlb:", NULL);
    (void)smaps_kib(arena.base, "VmFlags:", flags);
    TEST_ASSERT_EQUAL(arena.huge_pages, huge_kib * 1024 >= arena.size);
    /* ... and the kernel's own thread will not make more of them behind a running frame. */
    TEST_ASSERT_TRUE(strstr(flags, " nh") || strstr(flags, " ht"));
    TEST_ASSERT_EACH_EQUAL_HEX8(0, arena.base, arena.size);
}

struct pair {
    char *a;
    double *b;
};

static size_t lay_out(struct pair *pair, void *mem, size_t n)
{
    size_t at = 0;
    pair->a = rt_layout_cut(mem, &at, n);
    pair->b = rt_layout_cut(mem, &at, n * sizeof *pair->b);
    return at;
}

static void test_one_layout_answers_size_and_place(void)
{
    for (size_t n = 0; n < 200; n++) {
        struct pair pair;
        const size_t size = lay_out(&pair, NULL, n);
        TEST_ASSERT_NULL(pair.a);
        TEST_ASSERT_NULL(pair.b);
        TEST_ASSERT_EQUAL_size_t((n + 63) / 64 * 64 + (n * 8 + 63) / 64 * 64, size);
        TEST_ASSERT_EQUAL_size_t(size, lay_out(&pair, arena.base, n));
        TEST_ASSERT_EQUAL_PTR(arena.base, pair.a);
        TEST_ASSERT_EQUAL_PTR(arena.base + (n + 63) / 64 * 64, pair.b);
    }
}

static void test_a_cut_begins_at_the_next_cache_line(void)
{
    size_t at = 65;
    TEST_ASSERT_EQUAL_PTR(arena.base + 128, rt_layout_cut(arena.base, &at, 1));
    TEST_ASSERT_EQUAL_size_t(192, at);
}

static void cut(void *size)
{
    size_t at = 128;
    (void)rt_layout_cut(NULL, &at, *(size_t *)size);
}

static void cut_askew(void *mem)
{
    size_t at = 0;
    (void)rt_layout_cut((char *)mem + 8, &at, 8);
}

static void test_a_cut_beyond_all_memory_traps(void)
{
    size_t large = SIZE_MAX / 2, most = SIZE_MAX - 150;
    TEST_ASSERT_FALSE(child_traps(cut, &large));
    TEST_ASSERT_TRUE(child_traps(cut, &most));
}

static void test_a_cut_from_memory_off_the_line_traps(void)
{
    TEST_ASSERT_TRUE(child_traps(cut_askew, arena.base));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_open_arena_is_present_and_zero);
    RUN_TEST(test_blocks_lie_on_cache_lines_of_their_own);
    RUN_TEST(test_a_short_arena_traps);
    RUN_TEST(test_a_sealed_arena_traps);
    RUN_TEST(test_more_memory_than_there_is_is_an_error);
    RUN_TEST(test_locked_means_the_kernel_says_locked);
    RUN_TEST(test_the_node_is_that_of_the_core);
    RUN_TEST(test_huge_pages_are_reported_when_the_kernel_has_them);
    RUN_TEST(test_one_layout_answers_size_and_place);
    RUN_TEST(test_a_cut_begins_at_the_next_cache_line);
    RUN_TEST(test_a_cut_beyond_all_memory_traps);
    RUN_TEST(test_a_cut_from_memory_off_the_line_traps);
    return UNITY_END();
}
