/*
 * One locked mapping from which everything the frame touches is cut at set-up.
 *
 * There is no free.  After the seal the arena refuses (traps): from then on no memory may be
 * taken.  Huge pages and NUMA placement are taken where the machine has them and reported where it
 * has not; only the lack of memory itself is an error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RT_CACHE_LINE = 64 };

struct rt_arena {
    unsigned char *base;
    size_t size; /* bytes mapped, at least what was asked for */
    size_t used; /* high-water mark */
    bool sealed;
    bool locked;     /* mlock succeeded */
    bool huge_pages; /* all of it */
    int node;        /* NUMA node of the memory, -1 when the machine has no NUMA policy */
};

/* Map, bind to the NUMA node of cpu (cpu < 0: no preference), lock, touch and zero size bytes.
 * 0 or -errno; a failed lock or missing huge pages are not errors.  Context: setup. */
int rt_arena_open(struct rt_arena *arena, size_t size, int cpu);

/* size zeroed bytes on cache lines of their own; traps when the arena is short or sealed.
 * Context: setup. */
void *rt_arena_alloc(struct rt_arena *arena, size_t size);

/* End of set-up: no memory is handed out any more.  Context: setup. */
void rt_arena_seal(struct rt_arena *arena);

/* Context: after the run. */
void rt_arena_close(struct rt_arena *arena);

/* Cut size bytes at the next cache line after *at, and leave *at on a cache line; with mem NULL
 * only the offset advances.  This is how every x_size/x_place pair shares one layout function.
 * Context: setup. */
void *rt_layout_cut(void *mem, size_t *at, size_t size);

/* Prefer the NUMA node of cpu for whole pages of memory and move there what is elsewhere.  Without
 * NUMA support this does nothing.  Context: setup. */
void rt_memory_prefer_node(void *mem, size_t size, int cpu);
