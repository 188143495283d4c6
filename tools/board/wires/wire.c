#include "tools/board/wires/wire.h"

#include <string.h>
#include <time.h>

const struct board_wire_kind *board_wire_find(const char *name)
{
    static const struct board_wire_kind *const kinds[] = {&board_wire_mavlink, &board_wire_px4,
                                                          &board_wire_hitl, &board_wire_ardupilot,
                                                          &board_wire_betaflight};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    }
    return NULL;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct {
    double rate;
    uint64_t since_ns;
} skew;

void board_clock_skew(double ppm)
{
    skew.rate = ppm * 1e-6;
    skew.since_ns = monotonic_ns();
}

uint64_t board_now_ns(void)
{
    const uint64_t now_ns = monotonic_ns();
    return now_ns + (uint64_t)(int64_t)((double)(now_ns - skew.since_ns) * skew.rate);
}
