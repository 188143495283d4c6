#include "rt/flight_recorder.h"

#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"

_Static_assert((RT_RECORDER_FRAMES & (RT_RECORDER_FRAMES - 1)) == 0, "an index is a mask");
/* While it catches up, at two rows a frame, the backlog never exceeds what it began with. */
_Static_assert(RT_RECORDER_BEFORE + RT_RECORDER_AFTER + 2 < RT_RECORDER_FRAMES,
               "a window fits into the circle");
_Static_assert(RT_RECORDER_DRAIN >= 2, "rows are taken out faster than they come in");

static uint32_t stride_of(int job_count)
{
    const size_t used = RT_RECORDER_HEAD + (size_t)job_count * sizeof(uint32_t);
    return (uint32_t)((used + RT_CACHE_LINE - 1) / RT_CACHE_LINE * RT_CACHE_LINE);
}

size_t rt_recorder_size(int job_count)
{
    RT_CHECK(job_count >= 0 && job_count <= RT_JOB_MAX);
    size_t at = 0;
    (void)rt_cut(NULL, &at, sizeof(struct rt_recorder));
    (void)rt_cut(NULL, &at, (size_t)stride_of(job_count) * RT_RECORDER_FRAMES);
    return at;
}

struct rt_recorder *rt_recorder_place(int job_count, void *mem)
{
    size_t at = 0;
    memset(mem, 0, rt_recorder_size(job_count));
    struct rt_recorder *recorder = rt_cut(mem, &at, sizeof *recorder);
    recorder->stride = stride_of(job_count);
    recorder->row_size = (uint32_t)(RT_RECORDER_HEAD + (size_t)job_count * sizeof(uint32_t));
    recorder->rows = rt_cut(mem, &at, (size_t)recorder->stride * RT_RECORDER_FRAMES);
    return recorder;
}

static uint64_t before(uint64_t number, uint64_t by)
{
    return number > by ? number - by : 0;
}

void rt_recorder_ask(struct rt_recorder *recorder)
{
    const uint64_t from = before(recorder->count, RT_RECORDER_BEFORE);
    if (recorder->next >= recorder->until && recorder->next < from)
        recorder->next = from; /* all that was asked for is out; skip what nobody wants */
    recorder->until = recorder->count + 1 + RT_RECORDER_AFTER;
}

const struct rt_recorder_row *rt_recorder_take(struct rt_recorder *recorder)
{
    /* Row `count` will be written next, over row `count - FRAMES`, which is therefore still good.
     */
    const uint64_t oldest = before(recorder->count, RT_RECORDER_FRAMES);
    if (recorder->next < oldest) {
        const uint64_t good = oldest < recorder->until ? oldest : recorder->until;
        recorder->lost += good - recorder->next;
        recorder->next = good;
    }
    return rt_recorder_waits(recorder) ? rt_recorder_row(recorder, recorder->next++) : NULL;
}
