#include "rt/arena.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt/check.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; not yet in glibc's header */
#endif

enum { HUGE_PAGE = 2 << 20 };

static size_t round_up(size_t size, size_t unit)
{
    RT_CHECK(size <= SIZE_MAX - unit);
    return (size + unit - 1) / unit * unit;
}

/*
 * Preferred, not strict: on a node without free pages a strict policy answers with a signal, a
 * preference with memory that is a little further away.  A policy of any kind also keeps the
 * kernel's NUMA balancing from unmapping these pages later to find out which node uses them.
 */
void rt_memory_prefer_node(void *mem, size_t size, int cpu)
{
    if (cpu < 0 || numa_available() < 0)
        return;
    const int node = numa_node_of_cpu(cpu);
    if (node < 0)
        return;
    struct bitmask *nodes = numa_allocate_nodemask();
    numa_bitmask_setbit(nodes, (unsigned)node);
    (void)mbind(mem, size, MPOL_PREFERRED, nodes->maskp, nodes->size + 1, MPOL_MF_MOVE);
    numa_bitmask_free(nodes);
}

static int numa_node_of(void *mem)
{
    int node = -1;
    if (numa_available() < 0 || get_mempolicy(&node, NULL, 0, mem, MPOL_F_NODE | MPOL_F_ADDR) != 0)
        return -1;
    return node;
}

static void *map_pages(size_t size, int flags)
{
    void *mem =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return mem == MAP_FAILED ? NULL : mem;
}

/*
 * Reserved huge pages.  They are populated here, because a pool that is empty on the wanted node
 * or closed by a cgroup fails only at the first touch, and then with SIGBUS.
 */
static bool map_reserved(struct rt_arena *arena, size_t size, int cpu)
{
    arena->size = round_up(size, HUGE_PAGE);
    arena->base = map_pages(arena->size, MAP_HUGETLB);
    if (!arena->base)
        return false;
    rt_memory_prefer_node(arena->base, arena->size, cpu);
    if (madvise(arena->base, arena->size, MADV_POPULATE_WRITE) == 0)
        return true;
    munmap(arena->base, arena->size);
    return false;
}

/* A mapping that begins at a multiple of HUGE_PAGE: map more and give the ends back. */
static unsigned char *map_aligned(size_t size)
{
    unsigned char *mem = map_pages(size + HUGE_PAGE, 0);
    if (!mem)
        return NULL;
    const size_t before = round_up((uintptr_t)mem, HUGE_PAGE) - (uintptr_t)mem;
    if (before > 0)
        munmap(mem, before);
    munmap(mem + before + size, HUGE_PAGE - before);
    return mem + before;
}

/*
 * Ordinary pages.  Transparent huge pages are taken now or never: they are collapsed here, and
 * then the advice is withdrawn, because a later collapse by the kernel's own thread unmaps the
 * memory under a running frame, which then takes a page fault.
 */
static bool map_ordinary(struct rt_arena *arena, size_t size, int cpu)
{
    const bool large = size >= HUGE_PAGE;
    arena->size = round_up(size, large ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE));
    arena->base = large ? map_aligned(arena->size) : map_pages(arena->size, 0);
    if (!arena->base)
        return false;
    rt_memory_prefer_node(arena->base, arena->size, cpu);
    memset(arena->base, 0, arena->size);
    arena->huge_pages = large && madvise(arena->base, arena->size, MADV_COLLAPSE) == 0;
    (void)madvise(arena->base, arena->size, MADV_NOHUGEPAGE);
    return true;
}

int rt_arena_open(struct rt_arena *arena, size_t size, int cpu)
{
    RT_CHECK(size > 0);
    memset(arena, 0, sizeof *arena);
    if (size > SIZE_MAX / 2)
        return -ENOMEM;
    arena->huge_pages = map_reserved(arena, size, cpu);
    if (!arena->huge_pages && !map_ordinary(arena, size, cpu))
        return -ENOMEM;
    arena->locked = mlock(arena->base, arena->size) == 0;
    arena->node = numa_node_of(arena->base);
    return 0;
}

void *rt_arena_alloc(struct rt_arena *arena, size_t size)
{
    RT_CHECK(!arena->sealed);
    RT_CHECK(size <= arena->size - arena->used);
    return rt_layout_cut(arena->base, &arena->used, size);
}

void rt_arena_seal(struct rt_arena *arena)
{
    arena->sealed = true;
}

void rt_arena_close(struct rt_arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->size);
    memset(arena, 0, sizeof *arena);
}

void *rt_layout_cut(void *mem, size_t *at, size_t size)
{
    RT_CHECK((uintptr_t)mem % RT_CACHE_LINE == 0);
    const size_t begin = round_up(*at, RT_CACHE_LINE);
    RT_CHECK(size <= SIZE_MAX - RT_CACHE_LINE - begin);
    *at = begin + round_up(size, RT_CACHE_LINE);
    return mem ? (unsigned char *)mem + begin : NULL;
}
