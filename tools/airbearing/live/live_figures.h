/*
 * Live figures from the records of a run: figures of the last tenth of a second, events as text,
 * and lasting conditions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/live/foxglove.h"
#include "rt/executive/arm/arm_record.h"
#include "rt/executive/output/records.h"
#include "rt/overrun_cause.h"

enum { LIVE_WINDOW_MAX = 4096 };

enum live_link { LIVE_LINK_SILENT, LIVE_LINK_HEARD, LIVE_LINK_LOST };

/* airbearing_msgs/msg/Live, as CDR lays it out. */
struct live_image {
    uint64_t frame;
    double seconds; /* simulated */
    double rate_hz; /* frames by wall time, over the window */
    double start_error_us, start_error_us_max;
    double busy_us, busy_us_max;
    double margin_us, margin_us_min;
    uint64_t overruns, missed;
    uint64_t cause[RT_CAUSE_COUNT];
    uint64_t inputs;
    uint8_t link[IO_LINK_MAX]; /* enum live_link */
};
enum { LIVE_IMAGE_SIZE = offsetof(struct live_image, link) + IO_LINK_MAX };
extern const char live_text[]; /* its ros2msg */

/* Receives events and conditions.  The levels are those of foxglove_msgs/msg/Log. */
enum live_level { LIVE_INFO = 2, LIVE_WARNING = 3, LIVE_ERROR = 4 };
struct live_sink {
    void *self;
    void (*figures)(void *self, uint64_t log_ns, const struct live_image *image);
    void (*event)(void *self, uint64_t log_ns, enum live_level level, const char *text);
    /* text NULL: the condition is over */
    void (*status)(void *self, const char *id, enum io_foxglove_level level, const char *text);
};

struct live_figures {
    const struct cfg_scenario *scenario;
    struct live_sink sink;
    struct live_image image;
    uint64_t window_ns; /* wall time at which the window began */
    uint64_t window_release_ns;
    int count; /* frames in it */
    uint32_t start_ns[LIVE_WINDOW_MAX], busy_ns[LIVE_WINDOW_MAX];
    int64_t margin_ns[LIVE_WINDOW_MAX];
    int told;                   /* overruns published one by one in this window */
    uint64_t unreported;        /* and those that were not published */
    uint64_t reported_overruns; /* as last published */
    uint64_t told_ns;
    struct sim_arm_summary arm;
};

/* Context: setup. */
void live_figures_open(struct live_figures *live, const struct cfg_scenario *scenario,
                       struct live_sink sink);
/* Take a record into account; now_ns is wall time.  Context: telemetry thread. */
void live_figures_frame(struct live_figures *live, const struct sim_record_frame *frame,
                        uint64_t log_ns, uint64_t now_ns);
void live_figures_input(struct live_figures *live, const struct sim_record_input *input,
                        uint64_t log_ns);
void live_figures_ground(struct live_figures *live, const struct sim_record_ground *ground,
                         uint64_t log_ns);
void live_figures_arm(struct live_figures *live, const void *image, uint64_t log_ns);
