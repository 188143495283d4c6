#include "tools/airbearing/live/run_status.h"
#include "config/scenario.h"

#include <stdio.h>

#include "io/log/cdr.h"

const char run_status_schema[] = "# How the operator's desk stands.\n"
                                 "bool paused\n"
                                 "uint8[] faults # 1: it is on; by the numbers of fault.N\n";

void run_status_open(struct run_status *run_status, const struct cfg_scenario *scenario,
                     struct run_status_sink sink)
{
    *run_status = (struct run_status){.scenario = scenario, .sink = sink};
}

void run_status_close(struct run_status *run_status)
{
    io_byte_writer_free(&run_status->image);
}

static void publish_message(struct run_status *run_status)
{
    struct io_byte_writer *image = &run_status->image;
    const int count = run_status->scenario->spec.fault_count;
    io_byte_writer_clear(image);
    io_put_u8(image, run_status->paused);
    io_cdr_u32(image, (uint32_t)count);
    for (int i = 0; i < count; i++)
        io_put_u8(image, run_status->on >> i & 1);
    if (!image->failed)
        run_status->sink.image(run_status->sink.self, image);
}

static void publish_faults(const struct run_status *run_status, uint32_t which, const char *what)
{
    char text[SIM_LABEL_MAX + 32];
    for (int i = 0; i < run_status->scenario->spec.fault_count; i++) {
        if (!(which >> i & 1))
            continue;
        snprintf(text, sizeof text, "fault %s: %s", what,
                 run_status->scenario->spec.faults[i].text);
        run_status->sink.event(run_status->sink.self, text);
    }
}

/* Publish the status if it differs from the one published last. */
static void publish_if_changed(struct run_status *run_status, bool paused, uint32_t on)
{
    const uint32_t before = run_status->on;
    if (run_status->met && paused == run_status->paused && on == before)
        return;
    run_status->met = true;
    run_status->paused = paused;
    run_status->on = on;
    publish_message(run_status);
    publish_faults(run_status, on & ~before, "begins");
    publish_faults(run_status, before & ~on, "ends");
}

/* A fault that began and ended since the last update is still published. */
void run_status_update(struct run_status *run_status, bool paused, uint32_t on, uint32_t struck)
{
    if (struck & ~run_status->on & ~on)
        publish_if_changed(run_status, paused, run_status->on | struck | on);
    publish_if_changed(run_status, paused, on);
}
