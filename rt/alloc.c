#include "rt/alloc.h"

#include <stddef.h>

#ifndef __has_feature
#define __has_feature(feature) 0 /* gcc 12 */
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)

/* The sanitizer brings a malloc of its own and must keep it. */

void rt_alloc_watch(void)
{
}

void rt_alloc_unwatch(void)
{
}

uint64_t rt_alloc_count(void)
{
    return 0;
}

bool rt_alloc_is_counted(void)
{
    return false;
}

#else

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "rt/check.h"

/* glibc's own entry points, kept for programs that put their malloc in front.  They have no
 * attributes, so that the compiler does not treat them as the malloc that it knows. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *mem, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *mem);

/* initial-exec: the lazy model of shared objects allocates at a thread's first access, which would
 * be a malloc inside malloc. */
static _Thread_local bool watched __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t count;

static inline void heap_call(void)
{
    if (__builtin_expect(!watched, 1))
        return;
#ifdef RT_TRAP_ALLOCATIONS
    __builtin_trap();
#endif
    /* Relaxed: a count for the report. */
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

void rt_alloc_watch(void)
{
    watched = true;
}

void rt_alloc_unwatch(void)
{
    watched = false;
}

uint64_t rt_alloc_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

bool rt_alloc_is_counted(void)
{
    return true;
}

void *malloc(size_t size)
{
    heap_call();
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
    heap_call();
    return __libc_calloc(items, size);
}

void *realloc(void *mem, size_t size)
{
    heap_call();
    return __libc_realloc(mem, size);
}

void *reallocarray(void *mem, size_t items, size_t size)
{
    size_t total;
    heap_call();
    if (__builtin_mul_overflow(items, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(mem, total);
}

void free(void *mem)
{
    heap_call();
    __libc_free(mem);
}

void *memalign(size_t alignment, size_t size)
{
    heap_call();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    heap_call();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **mem, size_t alignment, size_t size)
{
    heap_call();
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *got = __libc_memalign(alignment, size);
    if (!got)
        return ENOMEM;
    *mem = got;
    return 0;
}

void *valloc(size_t size)
{
    heap_call();
    return __libc_memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

void *pvalloc(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    heap_call();
    if (size > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_memalign(page, (size + page - 1) / page * page);
}

#endif
