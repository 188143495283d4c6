/*
 * Trouble on request: a frame that hangs, is late or touches fresh pages, to see how a bench
 * behaves then.
 *
 * Tested by tests/scenario/run/test_run.py and test_faults.py.
 */
#include <sys/mman.h>

#include "rt/check.h"
#include "rt/clock.h"
#include "rt/executive/sim_private.h"

enum { INJECT_PAGE = 4096 };

static void touch_pages(const struct sim_inject *inject)
{
    for (uint32_t i = 0; i < inject->pages; i++)
        inject->fresh[(size_t)i * INJECT_PAGE] = 1;
}

void sim_job_inject(void *self, uint64_t frame)
{
    const struct sim *sim = self;
    if (sim->inject.kind == SIM_INJECT_NONE || sim_executive_frame(sim, frame) != sim->inject.frame)
        return;
    if (sim->inject.kind == SIM_INJECT_PAGE_FAULT) {
        touch_pages(&sim->inject);
        return;
    }
    const uint64_t until_ns = rt_now_ns() + sim->inject.late_ns;
    while (sim->inject.kind == SIM_INJECT_HANG || rt_now_ns() < until_ns)
        __asm__ volatile("pause");
}

/* Pages that nobody has touched yet.  The process locks what it maps, which brings it in at once;
 * here that is undone. */
volatile unsigned char *sim_map_untouched_pages(uint32_t pages)
{
    const size_t size = (size_t)pages * INJECT_PAGE;
    void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RT_CHECK(mem != MAP_FAILED);
    RT_CHECK(munlock(mem, size) == 0);
    (void)madvise(mem, size, MADV_NOHUGEPAGE); /* refused: there are none */
    RT_CHECK(madvise(mem, size, MADV_DONTNEED) == 0);
    return mem;
}
