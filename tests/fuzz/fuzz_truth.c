/*
 * Any bytes as a stopwatch's file, held against a run.  What must hold:
 *   - it is refused with one line that begins with a place, or read,
 *   - what is read is in order, and matches or is foreign,
 *   - what was compared can be printed in every form.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/timing/show.h"

enum { FRAMES = 400, PERIOD = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct sim_record_frame frames[FRAMES];
static struct sim_record_clock clock_sight = {.monotonic_ns = 1, .realtime_ns = 1000, .raw_ns = 1};

static void check_line(const char *error)
{
    RT_CHECK(memchr(error, '\0', EVIDENCE_ERROR_MAX) != NULL && isdigit((unsigned char)error[0]));
    for (const char *at = error; *at; at++)
        RT_CHECK((unsigned char)*at >= ' ');
}

static void show(const struct evidence *evidence, const struct external_clock *truth)
{
    static FILE *nowhere;
    static struct figures figures;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    RT_CHECK(nowhere != NULL);
    figures = (struct figures){.evidence = evidence, .external = truth};
    show_external_clock_text(&figures, nowhere);
    show_external_clock_page(&figures, nowhere);
    json_decref(show_external_clock_json(truth));
}

/* Every second frame is running for a whole period. */
static void make_run(struct evidence *evidence)
{
    *evidence = (struct evidence){.period_ns = PERIOD,
                                  .pace = RT_PACE_REAL,
                                  .frame = frames,
                                  .frame_count = FRAMES,
                                  .clock = &clock_sight,
                                  .clock_count = 1};
    for (uint64_t k = 0; k < FRAMES; k++)
        frames[k] = (struct sim_record_frame){.frame = k,
                                              .release_ns = 2 * k * PERIOD,
                                              .start_ns = 2 * k * PERIOD,
                                              .end_ns = 2 * k * PERIOD + PERIOD};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct evidence evidence;
    static struct external_clock truth;
    char error[EVIDENCE_ERROR_MAX];
    make_run(&evidence);
    if (external_clock_parse(&truth, (const char *)bytes, size, error)) {
        check_line(error);
    } else {
        const size_t count = truth.count;
        for (size_t i = 1; i < count; i++)
            RT_CHECK(truth.stamp[i].sequence > truth.stamp[i - 1].sequence);
        const bool compared = external_clock_compare(&truth, &evidence, error);
        RT_CHECK(truth.matched + truth.foreign == count);
        RT_CHECK(compared == (truth.matched > 0));
        if (compared)
            show(&evidence, &truth);
    }
    external_clock_free(&truth);
    return 0;
}
