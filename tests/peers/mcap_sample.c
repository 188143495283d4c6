/*
 * Writes a log whose every value follows from the record's number, for mcap_read.mjs to check.
 * Every field type of our messages occurs, and the struct has the gaps that CDR has.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "io/log/telemetry.h"

enum { SAMPLE, TICK, CHANNEL_COUNT };
enum { SAMPLE_COUNT = 20000, TICK_EVERY = 100 };

/* More than a double can hold, so that a reader's 64 bits are tested. */
static const uint64_t start_ns = (1ull << 53) + 1, step_ns = 1000000;

struct sample {
    uint64_t index;
    bool odd;
    double t;
    double q[4];
    uint8_t small;
    uint32_t mixed;
    int16_t steps[3];
    float half;
    int64_t minus;
};

struct tick {
    uint32_t index;
};

static const struct io_channel_spec channels[CHANNEL_COUNT] = {
    [SAMPLE] = {.topic = "/sample",
                .schema = "airbearing_msgs/msg/Sample",
                .definition = "uint64 index # counts from 0\n"
                              "bool odd\n"
                              "float64 t # s\n"
                              "float64[4] q\n"
                              "uint8 small\n"
                              "uint32 mixed\n"
                              "int16[3] steps\n"
                              "float32 half\n"
                              "int64 minus\n",
                .payload_size = sizeof(struct sample),
                .depth = 4096},
    [TICK] = {.topic = "/tick",
              .schema = "airbearing_msgs/msg/Tick",
              .definition = "uint32 index\n",
              .payload_size = sizeof(struct tick),
              .depth = 256},
};

static void *claim(struct io_telemetry *telemetry, int channel, uint64_t k)
{
    while (!io_telemetry_has_room(telemetry, channel))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return io_telemetry_claim(telemetry, channel, start_ns + k * step_ns);
}

static void record_sample(struct io_telemetry *telemetry, uint64_t k)
{
    struct sample *sample = claim(telemetry, SAMPLE, k);
    *sample = (struct sample){
        .index = k,
        .odd = k % 2 == 1,
        .t = (double)k * 0.001,
        .q = {(double)k / 3.0, -(double)k, 1e300, 5e-324},
        .small = (uint8_t)k,
        .mixed = (uint32_t)k * 2654435761u,
        .steps = {(int16_t)(k % 30000), (int16_t) - (int16_t)(k % 30000), INT16_MIN},
        .half = (float)k * 0.5f,
        .minus = -(int64_t)(k << 40),
    };
    io_telemetry_push(telemetry, SAMPLE);
}

static void record_tick(struct io_telemetry *telemetry, uint64_t k)
{
    struct tick *tick = claim(telemetry, TICK, k);
    tick->index = (uint32_t)k;
    io_telemetry_push(telemetry, TICK);
}

int main(int argc, char **argv)
{
    static const char *const pairs[] = {"sample_count", "20000", "unicode", "µ ± °", NULL};
    static const struct io_blob scenario = {
        .name = "scenario.yaml", .media_type = "text/yaml", .bytes = "rate: 1 kHz\n", .size = 12};
    static const struct io_blob report = {
        .name = "report.json", .media_type = "application/json", .bytes = "{}\n", .size = 3};
    const struct rt_thread_spec spec = {.name = "telemetry", .policy = SCHED_OTHER, .cpu = -1};
    if (argc != 2)
        return 64;
    void *memory = aligned_alloc(64, io_telemetry_size(channels, CHANNEL_COUNT));
    if (!memory)
        return 1;
    struct io_telemetry *telemetry = io_telemetry_place(channels, CHANNEL_COUNT, memory);
    if (io_telemetry_start(telemetry, argv[1], &spec, pairs, &scenario, 1) != 0)
        return 1;
    for (uint64_t k = 0; k < SAMPLE_COUNT; k++) {
        record_sample(telemetry, k);
        if (k % TICK_EVERY == 0)
            record_tick(telemetry, k);
    }
    struct io_log_result result;
    io_telemetry_stop(telemetry, &report, 1, &result);
    printf("%llu records, %llu dropped, %llu bytes\n", (unsigned long long)result.records,
           (unsigned long long)result.dropped, (unsigned long long)result.bytes);
    free(memory);
    return result.error != 0 || result.dropped != 0;
}
