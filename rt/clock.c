#include "rt/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

/*
 * The lead is measured with many short sleeps, to keep set-up short.  Of 160 the 98th percentile
 * survives three outages of the machine, which a maximum would not; a quarter is added on top.
 */
enum {
    LEAD_SLEEPS = 160,
    LEAD_SLEEP_NS = 200 * 1000,
    LEAD_RANK = LEAD_SLEEPS * 98 / 100,
    LEAD_NS_MIN = 5 * 1000,
    CALIBRATION_NS = 30 * 1000 * 1000, /* two readings, each good to 30 ns: 1 ppm apart */
    GAP_FLOOR_NS = 10 * 1000,          /* a timer interrupt takes 2 to 5 us, so this is not one */
    PAIR_TRIES = 9,
};

static uint64_t read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t rt_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

static void sleep_until(uint64_t wake_ns)
{
    const struct timespec t = {.tv_sec = (time_t)(wake_ns / 1000000000u),
                               .tv_nsec = (long)(wake_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ; /* a signal handler ran; the deadline is the same */
}

#if defined(__x86_64__)
static uint64_t ticks(void)
{
    return __rdtsc();
}

static void cpu_pause(void)
{
    _mm_pause();
}

/* Does the counter run at one rate in all power states?  Leaf 0x80000007, bit 8. */
static bool counter_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}
#else
static uint64_t ticks(void)
{
    return 0;
}

static void cpu_pause(void)
{
}

static bool counter_is_invariant(void)
{
    return false;
}
#endif

struct tsc_sample {
    uint64_t raw_ns, ticks;
};

/* Clock and counter at the same instant: the try with the least time between two clock readings. */
static struct tsc_sample take_tsc_sample(void)
{
    struct tsc_sample best = {0};
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        const uint64_t before = read_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t at = ticks();
        const uint64_t after = read_ns(CLOCK_MONOTONIC_RAW);
        if (after - before < width) {
            width = after - before;
            best = (struct tsc_sample){.raw_ns = before + width / 2, .ticks = at};
        }
    }
    return best;
}

/* The counter is accepted when it ran forward at 100 MHz to 10 GHz. */
static void calibrate(struct rt_clock_real *real, const struct tsc_sample *a,
                      const struct tsc_sample *b)
{
    real->tsc_ns = 0.0;
    if (b->ticks > a->ticks)
        real->tsc_ns = (double)(b->raw_ns - a->raw_ns) / (double)(b->ticks - a->ticks);
    real->tsc = counter_is_invariant() && real->tsc_ns > 0.1 && real->tsc_ns < 10.0;
}

static int compare_durations(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t measure_lead(uint64_t max_lead_ns)
{
    uint64_t late[LEAD_SLEEPS];
    for (int i = 0; i < LEAD_SLEEPS; i++) {
        const uint64_t wake_ns = rt_now_ns() + LEAD_SLEEP_NS;
        sleep_until(wake_ns);
        late[i] = rt_now_ns() - wake_ns;
    }
    qsort(late, LEAD_SLEEPS, sizeof late[0], compare_durations);
    const uint64_t lead_ns = late[LEAD_RANK] + late[LEAD_RANK] / 4;
    if (lead_ns > max_lead_ns)
        return max_lead_ns;
    return lead_ns < LEAD_NS_MIN ? LEAD_NS_MIN : lead_ns;
}

void rt_clock_real_open(struct rt_clock_real *real, enum rt_wait wait, uint64_t lead_ns,
                        uint64_t max_lead_ns)
{
    *real = (struct rt_clock_real){.wait = wait, .gap_floor_ns = GAP_FLOOR_NS};
    (void)prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); /* refused: sleeps are 50 us coarser */
    if (wait == RT_WAIT_PLAIN)
        return;

    const struct tsc_sample first = take_tsc_sample();
    const uint64_t begin_ns = rt_now_ns();
    real->lead_ns = lead_ns == 0            ? measure_lead(max_lead_ns)
                    : lead_ns > max_lead_ns ? max_lead_ns
                                            : lead_ns;
    sleep_until(begin_ns + CALIBRATION_NS);
    const struct tsc_sample last = take_tsc_sample();
    calibrate(real, &first, &last);
}

static void count_gap(struct rt_clock_real *real, uint64_t gap_ns)
{
    if (gap_ns < real->gap_floor_ns)
        return;
    if (gap_ns > real->gap_ns)
        real->gap_ns = gap_ns;
    real->gap_ns_total += gap_ns;
    real->gap_count++;
}

/* Sleep to wake_ns and count the asked and the slept time, which tell a late timer from a long
 * sleep. */
static uint64_t sleep_accounted(struct rt_clock_real *real, uint64_t now_ns, uint64_t wake_ns)
{
    sleep_until(wake_ns);
    const uint64_t woke_ns = rt_now_ns();
    real->sleep_overshoot_ns = woke_ns > wake_ns ? woke_ns - wake_ns : 0;
    real->asked_ns_total += wake_ns - now_ns;
    real->slept_ns_total += woke_ns - now_ns;
    return woke_ns;
}

/* Spin on the counter up to about deadline_ns.  Floor and target are in ticks, so that one
 * iteration is one reading, one pause and two compares. */
static void spin_ticks(struct rt_clock_real *real, uint64_t now_ns, uint64_t deadline_ns)
{
    uint64_t last = ticks();
    const uint64_t target = last + (uint64_t)((double)(deadline_ns - now_ns) / real->tsc_ns);
    const uint64_t floor = (uint64_t)((double)real->gap_floor_ns / real->tsc_ns);
    while (last < target) {
        cpu_pause();
        const uint64_t at = ticks();
        if (at - last > floor)
            count_gap(real, (uint64_t)((double)(at - last) * real->tsc_ns));
        last = at;
    }
}

/* Spin on the clock itself: the last nanoseconds, or the whole wait where the counter cannot be
 * used.  The clock decides last, so that no wait returns before its deadline. */
static void spin_clock(struct rt_clock_real *real, uint64_t deadline_ns)
{
    uint64_t last = rt_now_ns();
    while (last < deadline_ns) {
        const uint64_t now_ns = rt_now_ns();
        count_gap(real, now_ns - last);
        last = now_ns;
    }
}

static void wait_until(void *self, uint64_t deadline_ns)
{
    struct rt_clock_real *real = self;
    real->gap_ns = 0;
    real->sleep_overshoot_ns = 0;
    uint64_t now_ns = rt_now_ns();
    if (now_ns + real->lead_ns < deadline_ns)
        now_ns = sleep_accounted(real, now_ns, deadline_ns - real->lead_ns);
    if (real->wait == RT_WAIT_PLAIN)
        return;
    if (real->tsc && now_ns < deadline_ns)
        spin_ticks(real, now_ns, deadline_ns);
    spin_clock(real, deadline_ns);
}

static uint64_t now(void *self)
{
    (void)self;
    return rt_now_ns();
}

static uint64_t raw(void *self)
{
    (void)self;
    return read_ns(CLOCK_MONOTONIC_RAW);
}

struct rt_clock rt_clock_real_interface(struct rt_clock_real *real)
{
    return (struct rt_clock){
        .now_ns = now, .wait_until_ns = wait_until, .raw_ns = raw, .self = real};
}

void rt_wall_map_sample(struct rt_wall_map *map)
{
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        const uint64_t before = rt_now_ns();
        const uint64_t wall_ns = read_ns(CLOCK_REALTIME);
        const uint64_t after = rt_now_ns();
        if (after - before < width) {
            width = after - before;
            map->sampled_ns = before + width / 2;
            map->offset_ns = (int64_t)(map->sampled_ns - wall_ns);
        }
    }
}

void rt_clock_sample_read(struct rt_clock_sample *sight)
{
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        const uint64_t before = rt_now_ns();
        const uint64_t raw_ns = read_ns(CLOCK_MONOTONIC_RAW);
        const uint64_t realtime_ns = read_ns(CLOCK_REALTIME);
        const uint64_t after = rt_now_ns();
        if (after - before >= width)
            continue;
        width = after - before;
        *sight = (struct rt_clock_sample){
            .monotonic_ns = before + width / 2,
            .raw_ns = raw_ns,
            .realtime_ns = realtime_ns,
            .window_ns = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width,
        };
    }
}

uint64_t rt_wall_map_to_monotonic(const struct rt_wall_map *map, uint64_t realtime_ns)
{
    return realtime_ns + (uint64_t)map->offset_ns;
}
