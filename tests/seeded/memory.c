/*
 * The heap: calls of the program fail now and then, and those of the frame thread after the seal
 * are a fault of the program.
 */
#include <errno.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

static bool frame_is_watched;

void __wrap_rt_alloc_watch(void)
{
    frame_is_watched |= seeded_is("frame");
}

void __wrap_rt_alloc_unwatch(void)
{
    if (seeded_is("frame"))
        frame_is_watched = false;
}

/* At set-up and at the end the program may give up; in between it may not. */
static bool fails(size_t size)
{
    if (!seeded_self())
        return false;
    if (frame_is_watched && seeded_is("frame"))
        seeded_fail("the frame thread allocates %zu bytes", size);
    if (!frame_is_watched || !seeded_breaks(seeded_weather.allocation_errors))
        return false;
    seeded_trace("no memory: %zu bytes", size);
    seeded_shared->faults++;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails(size) ? NULL : __real_realloc(memory, size);
}
