#include "rt/flight_recorder.h"

#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"

_Static_assert((RT_FLIGHT_RECORDER_FRAMES & (RT_FLIGHT_RECORDER_FRAMES - 1)) == 0,
               "an index is a mask");
/* While it catches up, at two rows a frame, the backlog never exceeds what it began with. */
_Static_assert(RT_FLIGHT_RECORDER_BEFORE + RT_FLIGHT_RECORDER_AFTER + 2 < RT_FLIGHT_RECORDER_FRAMES,
               "a window fits into the circle");
_Static_assert(RT_FLIGHT_RECORDER_DRAIN >= 2, "rows are taken out faster than they come in");

static uint32_t row_stride(int job_count)
{
    const size_t used = RT_FLIGHT_RECORDER_HEAD + (size_t)job_count * sizeof(uint32_t);
    return (uint32_t)((used + RT_CACHE_LINE - 1) / RT_CACHE_LINE * RT_CACHE_LINE);
}

size_t rt_flight_recorder_size(int job_count)
{
    RT_CHECK(job_count >= 0 && job_count <= RT_JOB_MAX);
    size_t at = 0;
    (void)rt_layout_cut(NULL, &at, sizeof(struct rt_flight_recorder));
    (void)rt_layout_cut(NULL, &at, (size_t)row_stride(job_count) * RT_FLIGHT_RECORDER_FRAMES);
    return at;
}

struct rt_flight_recorder *rt_flight_recorder_place(int job_count, void *mem)
{
    size_t at = 0;
    memset(mem, 0, rt_flight_recorder_size(job_count));
    struct rt_flight_recorder *recorder = rt_layout_cut(mem, &at, sizeof *recorder);
    recorder->stride = row_stride(job_count);
    recorder->row_size = (uint32_t)(RT_FLIGHT_RECORDER_HEAD + (size_t)job_count * sizeof(uint32_t));
    recorder->rows = rt_layout_cut(mem, &at, (size_t)recorder->stride * RT_FLIGHT_RECORDER_FRAMES);
    return recorder;
}

static uint64_t row_before(uint64_t number, uint64_t by)
{
    return number > by ? number - by : 0;
}

void rt_flight_recorder_request(struct rt_flight_recorder *recorder)
{
    const uint64_t from = row_before(recorder->count, RT_FLIGHT_RECORDER_BEFORE);
    if (recorder->next >= recorder->request_end && recorder->next < from)
        recorder->next =
            from; /* all requested rows are drained; skip the rows that were not requested */
    recorder->request_end = recorder->count + 1 + RT_FLIGHT_RECORDER_AFTER;
}

const struct rt_flight_recorder_row *rt_flight_recorder_take(struct rt_flight_recorder *recorder)
{
    /* Row `count` will be written next, over row `count - FRAMES`, which is therefore still good.
     */
    const uint64_t oldest = row_before(recorder->count, RT_FLIGHT_RECORDER_FRAMES);
    if (recorder->next < oldest) {
        const uint64_t good = oldest < recorder->request_end ? oldest : recorder->request_end;
        recorder->lost += good - recorder->next;
        recorder->next = good;
    }
    return rt_flight_recorder_has_requested(recorder)
               ? rt_flight_recorder_row(recorder, recorder->next++)
               : NULL;
}
