#include "tools/airbearing/bench/frame_overhead.h"
#include "config/scenario.h"

#include <stdlib.h>

#include "rt/check.h"
#include "rt/executive/sim.h"

enum { SEGMENTS = 24, FRAMES = 2000 };

static const char empty[] = "name: empty\n"
                            "rate: 1 kHz\n"
                            "seconds: 1 s\n"
                            "integrator: semi-implicit-euler\n"
                            "bodies:\n"
                            "  - {name: stand, joint: fixed, mass: 1 kg, inertia: 1 1 1 kg m^2}\n";

/* The real clock, except that a wait advances it instead of sleeping: stamps cost their real
 * time, the grid is kept, and all CPU time is the frame's. */
struct jumping_clock {
    uint64_t ahead_ns;
};

static uint64_t jumping_now(void *self)
{
    const struct jumping_clock *clock = self;
    return rt_now_ns() + clock->ahead_ns;
}

static void jump(void *self, uint64_t deadline_ns)
{
    struct jumping_clock *clock = self;
    const uint64_t now_ns = jumping_now(clock);
    if (now_ns < deadline_ns)
        clock->ahead_ns += deadline_ns - now_ns;
}

static void gather_nothing(void *self, struct sim *sim, uint64_t frame)
{
    (void)self, (void)sim, (void)frame;
}

static struct rt_frame *make_frame(struct sim *sim, struct rt_watchdog *watchdog,
                                   struct jumping_clock *clock)
{
    struct rt_frame *frame = calloc(1, sizeof *frame);
    RT_CHECK(frame);
    sim->source.read_inputs = gather_nothing;
    frame->spec = (struct rt_frame_spec){
        .period_ns = sim->spec->period_ns, .frame_count = FRAMES, .pace = RT_PACE_REAL};
    frame->tasks = sim_tasks(sim);
    frame->schedule = sim->schedule;
    frame->watchdog = watchdog;
    frame->clock = (struct rt_clock){
        .now_ns = jumping_now, .wait_until_ns = jump, .raw_ns = jumping_now, .self = clock};
    return frame;
}

struct median overhead_measure(void)
{
    struct cfg_scenario *scenario;
    struct rt_watchdog watchdog = {.limit_ns = UINT64_MAX};
    struct jumping_clock clock = {0};
    char error[CFG_ERROR_MAX];
    double frame_ns[SEGMENTS];

    RT_CHECK(cfg_scenario_load_text("empty", empty, sizeof empty - 1, NULL, 0, &scenario, error) ==
             0);
    struct sim *sim = sim_create(&scenario->spec);
    struct rt_frame *frame = make_frame(sim, &watchdog, &clock);
    for (int i = 0; i < SEGMENTS; i++) {
        const double begin_ns = median_cpu_ns();
        rt_frame_run(frame);
        frame_ns[i] = (median_cpu_ns() - begin_ns) / FRAMES;
    }
    free(frame);
    free(sim);
    cfg_scenario_free(scenario);
    return median_of(frame_ns, SEGMENTS);
}
