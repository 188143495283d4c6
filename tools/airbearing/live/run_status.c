#include "tools/airbearing/live/run_status.h"
#include "config/scenario.h"

#include <stdio.h>

#include "io/log/cdr.h"

const char run_status_schema[] = "# How the operator's desk stands.\n"
                                 "bool paused\n"
                                 "uint8[] faults # 1: it is on; by the numbers of fault.N\n";

void run_status_open(struct run_status *standing, const struct cfg_scenario *scenario,
                     struct run_status_sink sink)
{
    *standing = (struct run_status){.scenario = scenario, .sink = sink};
}

void run_status_close(struct run_status *standing)
{
    io_byte_writer_free(&standing->image);
}

static void publish_message(struct run_status *standing)
{
    struct io_byte_writer *image = &standing->image;
    const int count = standing->scenario->spec.fault_count;
    io_byte_writer_clear(image);
    io_put_u8(image, standing->paused);
    io_cdr_u32(image, (uint32_t)count);
    for (int i = 0; i < count; i++)
        io_put_u8(image, standing->on >> i & 1);
    if (!image->failed)
        standing->sink.image(standing->sink.self, image);
}

static void publish_faults(const struct run_status *standing, uint32_t which, const char *what)
{
    char text[SIM_LABEL_MAX + 32];
    for (int i = 0; i < standing->scenario->spec.fault_count; i++) {
        if (!(which >> i & 1))
            continue;
        snprintf(text, sizeof text, "fault %s: %s", what, standing->scenario->spec.faults[i].text);
        standing->sink.event(standing->sink.self, text);
    }
}

/* Publish the status if it differs from the one published last. */
static void publish_if_changed(struct run_status *standing, bool paused, uint32_t on)
{
    const uint32_t before = standing->on;
    if (standing->met && paused == standing->paused && on == before)
        return;
    standing->met = true;
    standing->paused = paused;
    standing->on = on;
    publish_message(standing);
    publish_faults(standing, on & ~before, "begins");
    publish_faults(standing, before & ~on, "ends");
}

/* A fault that began and ended since the last update is still published. */
void run_status_update(struct run_status *standing, bool paused, uint32_t on, uint32_t struck)
{
    if (struck & ~standing->on & ~on)
        publish_if_changed(standing, paused, standing->on | struck | on);
    publish_if_changed(standing, paused, on);
}
