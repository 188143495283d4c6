/*
 * The verdict as a table, and the sources against things really done to the frame thread.  This
 * machine may interfere with what was planted, so planted causes are tried until one run shows
 * them.
 */
#include "rt/overrun_cause.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "rt/frame.h"
#include "unity.h"

enum { US = 1000, MS = 1000 * 1000, ALL = 15 };

enum { PLANTED = 40 };

static uint64_t watched; /* the frame whose cause is kept */

void setUp(void)
{
    watched = PLANTED;
}

void tearDown(void)
{
}

/* ---- the table ---- */

struct verdict {
    const char *what;
    enum rt_cause cause;
    unsigned sources;
    struct rt_lateness late;
    struct rt_evidence change;
};

/* Late by a wake: started 5 ms late, worked 200 us; slept 900 us too long by 5 ms. */
#define LATE_WAKE                                                                                  \
    {                                                                                              \
        .period_ns = MS, .start_error_ns = 5 * MS, .busy_ns = 200 * US                             \
    }
/* Late by itself: punctual, but 5 ms of work. */
#define LONG_WORK                                                                                  \
    {                                                                                              \
        .period_ns = MS, .start_error_ns = 2 * US, .busy_ns = 5 * MS                               \
    }

static const struct verdict verdicts[] = {
    {"nothing explains a late wake",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US, .cpu_ns = 210 * US, .asked_ns = 900 * US, .slept_ns = 5900 * US}},
    {"nothing is known of a late wake", RT_CAUSE_UNKNOWN, 0, LATE_WAKE, {0}},
    {"work borne out by CPU time",
     RT_CAUSE_OWN,
     ALL,
     LONG_WORK,
     {.wall_ns = 6 * MS, .cpu_ns = 5 * MS, .asked_ns = 900 * US, .slept_ns = 950 * US}},
    {"work, and no other source at all", RT_CAUSE_OWN, 0, LONG_WORK, {0}},
    {"work of which most CPU time is missing",
     RT_CAUSE_STOLEN,
     ALL,
     LONG_WORK,
     {.wall_ns = 6 * MS, .cpu_ns = 500 * US, .asked_ns = 900 * US, .slept_ns = 950 * US}},
    {"the core stood idle while the timer was due",
     RT_CAUSE_STOLEN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .idle_ns = 5850 * US}},
    {"idle time is no evidence where it cannot be read",
     RT_CAUSE_UNKNOWN,
     ALL & ~RT_EVIDENCE_IDLE,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .idle_ns = 5850 * US}},
    {"the core was idle only while the sleep was wanted",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 8100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 2900 * US,
      .slept_ns = 7900 * US,
      .idle_ns = 2900 * US}},
    {"a gap in the spin",
     RT_CAUSE_STOLEN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 5200 * US,
      .asked_ns = 800 * US,
      .slept_ns = 850 * US,
      .gap_ns = 4900 * US}},
    {"a small gap does not explain much lateness",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 800 * US,
      .slept_ns = 5850 * US,
      .gap_ns = 30 * US}},
    {"the steal counter moved",
     RT_CAUSE_STOLEN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .steal_ns = 10 * MS}},
    {"a steal counter that cannot be read says nothing",
     RT_CAUSE_UNKNOWN,
     ALL & ~RT_EVIDENCE_STEAL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .steal_ns = 10 * MS}},
    {"the coarse counter does not outvote CPU time",
     RT_CAUSE_OWN,
     ALL,
     LONG_WORK,
     {.wall_ns = 6 * MS,
      .cpu_ns = 5 * MS,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .steal_ns = 10 * MS}},
    {"kept waiting for the core",
     RT_CAUSE_SWITCH,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .run_delay_ns = 4950 * US}},
    {"a short run delay does not explain a long lateness",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .run_delay_ns = 3 * US,
      .switches = 1}},
    {"switched out, and the delay cannot be read",
     RT_CAUSE_SWITCH,
     ALL & ~RT_EVIDENCE_RUN_DELAY,
     LATE_WAKE,
     {.wall_ns = 6100 * US, .cpu_ns = 210 * US, .switches = 1}},
    {"preempted in the spin: the gap is no theft",
     RT_CAUSE_SWITCH,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 300 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .run_delay_ns = 4900 * US,
      .gap_ns = 4900 * US,
      .switches = 1}},
    {"preempted in the work: missing CPU time is no theft",
     RT_CAUSE_SWITCH,
     ALL,
     LONG_WORK,
     {.wall_ns = 6 * MS,
      .cpu_ns = 600 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .run_delay_ns = 4400 * US,
      .switches = 1}},
    {"waited for a reply",
     RT_CAUSE_IO,
     ALL,
     {.period_ns = MS, .start_error_ns = US, .busy_ns = 5 * MS, .waited_ns = 4 * MS},
     {.wall_ns = 6 * MS,
      .cpu_ns = MS,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .waited_ns = 4 * MS}},
    {"a short wait in long work",
     RT_CAUSE_OWN,
     ALL,
     {.period_ns = MS, .start_error_ns = US, .busy_ns = 5 * MS, .waited_ns = 100 * US},
     {.wall_ns = 6 * MS,
      .cpu_ns = 5 * MS,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .waited_ns = 100 * US}},
    {"io goes before stolen",
     RT_CAUSE_IO,
     ALL,
     {.period_ns = MS, .start_error_ns = 5 * MS, .busy_ns = 5 * MS, .waited_ns = 5 * MS},
     {.wall_ns = 12 * MS,
      .asked_ns = MS,
      .slept_ns = 6 * MS,
      .idle_ns = 6 * MS,
      .waited_ns = 5 * MS}},
    {"switch goes before io",
     RT_CAUSE_SWITCH,
     ALL,
     {.period_ns = MS, .start_error_ns = 5 * MS, .busy_ns = 5 * MS, .waited_ns = 5 * MS},
     {.wall_ns = 12 * MS, .run_delay_ns = 5 * MS, .waited_ns = 5 * MS}},
    {"fault goes before switch",
     RT_CAUSE_FAULT,
     ALL,
     {.period_ns = MS, .start_error_ns = 5 * MS, .busy_ns = 5 * MS, .waited_ns = 5 * MS},
     {.wall_ns = 12 * MS, .faults = 1, .run_delay_ns = 5 * MS, .waited_ns = 5 * MS}},
    {"a gap that was partly a switch is only partly theft",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 3150 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .run_delay_ns = 2 * MS,
      .gap_ns = 4 * MS,
      .switches = 1}},
    {"missing CPU time that was partly a switch",
     RT_CAUSE_OWN,
     ALL,
     LONG_WORK,
     {.wall_ns = 6 * MS,
      .cpu_ns = 2050 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .run_delay_ns = 1900 * US,
      .switches = 1}},
    {"missing CPU time that was partly a wait",
     RT_CAUSE_OWN,
     ALL,
     {.period_ns = MS, .busy_ns = 5 * MS, .waited_ns = 1900 * US},
     {.wall_ns = 6 * MS,
      .cpu_ns = 2950 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .waited_ns = 1900 * US}},
    {"a core idle in a wait for a reply is no late timer",
     RT_CAUSE_OWN,
     ALL,
     {.period_ns = MS, .busy_ns = 5 * MS, .waited_ns = 1900 * US},
     {.wall_ns = 6 * MS,
      .cpu_ns = 3150 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .idle_ns = 3 * MS,
      .waited_ns = 1900 * US}},
    {"some theft and some waiting leave too little work",
     RT_CAUSE_UNKNOWN,
     ALL,
     {.period_ns = MS, .busy_ns = 5 * MS, .waited_ns = MS},
     {.wall_ns = 6 * MS,
      .cpu_ns = 2150 * US,
      .asked_ns = 900 * US,
      .slept_ns = 950 * US,
      .waited_ns = MS}},
    {"who was to wake it was kept waiting",
     RT_CAUSE_SWITCH,
     ALL | RT_EVIDENCE_WAKER,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .run_delay_ns = 10 * US,
      .waker_delay_ns = 4900 * US}},
    {"who was to wake it cannot be seen",
     RT_CAUSE_UNKNOWN,
     ALL,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 210 * US,
      .asked_ns = 900 * US,
      .slept_ns = 5900 * US,
      .waker_delay_ns = 4900 * US}},
    {"who was to wake it waited, but for others: the sleep was in time",
     RT_CAUSE_UNKNOWN,
     ALL | RT_EVIDENCE_WAKER,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 5200 * US,
      .asked_ns = 800 * US,
      .slept_ns = 850 * US,
      .waker_delay_ns = 4900 * US}},
    {"no more time was waited, by both, than the sleep was too long",
     RT_CAUSE_UNKNOWN,
     ALL | RT_EVIDENCE_WAKER,
     LATE_WAKE,
     {.wall_ns = 6100 * US,
      .cpu_ns = 3100 * US,
      .asked_ns = 900 * US,
      .slept_ns = 2950 * US,
      .run_delay_ns = 2 * MS,
      .waker_delay_ns = 2 * MS}},
    {"late by a hair after a period of work",
     RT_CAUSE_OWN,
     ALL,
     {.period_ns = MS, .start_error_ns = 5 * US, .busy_ns = 998 * US},
     {.wall_ns = MS, .cpu_ns = 990 * US, .run_delay_ns = 4 * US, .gap_ns = 10 * US}},
};

static void test_each_cause_needs_its_evidence_and_the_first_wins(void)
{
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        const struct verdict *v = &verdicts[i];
        const enum rt_cause got = rt_cause_of(&v->late, &v->change, v->sources);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(rt_cause_name[v->cause], rt_cause_name[got], v->what);
    }
}

/* The threshold itself: half of the excess, not a nanosecond less. */
static void test_half_of_the_excess_is_enough_evidence(void)
{
    const struct rt_lateness late = {.period_ns = MS, .start_error_ns = 10 * MS, .busy_ns = MS};
    struct rt_evidence change = {.run_delay_ns = 5 * MS};
    TEST_ASSERT_EQUAL_INT(RT_CAUSE_SWITCH, rt_cause_of(&late, &change, ALL));
    change.run_delay_ns--;
    TEST_ASSERT_EQUAL_INT(RT_CAUSE_UNKNOWN, rt_cause_of(&late, &change, ALL));
}

/* ---- readings that are planted ---- */

enum { CORE = 3, TICK = 10 * MS };

static struct rt_clock_real account; /* what the clock says it asked for, slept and lost */
static struct rt_cause_finder planted;
static const struct rt_lateness fifty_late = {
    .period_ns = MS,
    .start_error_ns = 50 * MS,
    .busy_ns = 200 * US,
    .end_ns = UINT64_MAX, /* no reading is after that, however long the machine stands still */
};
static const uint64_t HOUR = UINT64_C(3600) * 1000 * MS;

/* The line of the core in /proc/stat, between two others. */
static void plant_ticks(unsigned idle, unsigned steal)
{
    char text[256];
    const int size = snprintf(
        text, sizeof text,
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu%d0 8 8 8 8 8 8 8 8 0 0\ncpu%d 1 2 3 %u 5 6 7 %u 0 0\n", CORE,
        CORE, idle, steal);
    TEST_ASSERT_EQUAL(0, ftruncate(planted.stat_fd, 0));
    TEST_ASSERT_EQUAL(size, pwrite(planted.stat_fd, text, (size_t)size, 0));
}

/* A witness whose core has ticks alone; run delay is readable and never grows. */
static void plant_witness(void)
{
    memset(&account, 0, sizeof account);
    planted = (struct rt_cause_finder){.sources = RT_EVIDENCE_RUN_DELAY | RT_EVIDENCE_STEAL,
                                       .schedstat_fd = -1,
                                       .waker_fd = -1,
                                       .stat_fd = memfd_create("stat", MFD_CLOEXEC),
                                       .cpu = CORE,
                                       .tick_ns = TICK,
                                       .real = &account};
    TEST_ASSERT_GREATER_OR_EQUAL(0, planted.stat_fd);
    plant_ticks(1000, 0);
    (void)rt_cause_finder_find(&planted, &fifty_late); /* faults in what a reading touches */
    rt_cause_finder_refresh(&planted, rt_now_ns() + HOUR);
    TEST_ASSERT_EQUAL_UINT64(1000 * (uint64_t)TICK, planted.tick_idle_ns);
}

static void sleep_for(uint64_t asked_ns, uint64_t slept_ns)
{
    account.asked_ns_total += asked_ns;
    account.slept_ns_total += slept_ns;
}

/* Faults are left to the tests that plant them: planting ticks has some of its own. */
static enum rt_cause cause_now(void)
{
    struct rusage usage;
    TEST_ASSERT_EQUAL(0, getrusage(RUSAGE_THREAD, &usage));
    planted.baseline.faults = (uint64_t)(usage.ru_minflt + usage.ru_majflt);
    return rt_cause_finder_find(&planted, &fifty_late);
}

static void expect_cause(enum rt_cause expected)
{
    TEST_ASSERT_EQUAL_STRING(rt_cause_name[expected], rt_cause_name[cause_now()]);
    rt_cause_finder_close(&planted);
}

static void test_idle_ticks_show_that_a_late_timer_was_stolen(void)
{
    plant_witness();
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1006, 0); /* a tick is how far two readings may be out, so 50 ms are sure */
    expect_cause(RT_CAUSE_STOLEN);
    TEST_ASSERT_EQUAL_UINT64(50 * MS - 900 * US, planted.stolen_ns_total);
}

static void test_a_core_that_was_not_idle_explains_no_late_timer(void)
{
    plant_witness();
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1003, 0); /* 20 ms are sure, which is less than half */
    expect_cause(RT_CAUSE_UNKNOWN);
}

static void test_idle_ticks_of_earlier_sleeps_are_not_those_of_the_late_one(void)
{
    plant_witness();
    sleep_for(40 * MS,
              40 * MS); /* in time, and before the baseline, which leaves the ticks alone */
    planted.steal_ns_cost = HOUR;
    rt_cause_finder_refresh(&planted, rt_now_ns() + HOUR);
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1006, 0);
    expect_cause(RT_CAUSE_UNKNOWN);
}

static void test_ticks_that_were_read_long_ago_say_nothing(void)
{
    plant_witness();
    planted.steal_read_ns -= 251 * (uint64_t)MS; /* twice the 100 ms between readings, and 50 */
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1006, 6);
    expect_cause(RT_CAUSE_UNKNOWN);
}

static void test_steal_ticks_explain_what_nothing_else_does(void)
{
    plant_witness();
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1000, 3);
    expect_cause(RT_CAUSE_STOLEN);
}

static void plant_waker_delay(uint64_t ns)
{
    char text[64];
    const int size = snprintf(text, sizeof text, "123 %llu 45\n", (unsigned long long)ns);
    TEST_ASSERT_EQUAL(size, pwrite(planted.waker_fd, text, (size_t)size, 0));
}

/* The thread sleeps, its timer is due, and the kernel's thread that wakes it has no core. */
static void test_a_wake_that_waits_for_the_core_is_a_switch(void)
{
    plant_witness();
    planted.waker_fd = memfd_create("waker", MFD_CLOEXEC);
    planted.sources |= RT_EVIDENCE_WAKER;
    plant_waker_delay(7 * MS);
    rt_cause_finder_refresh(&planted, rt_now_ns() + HOUR);
    sleep_for(900 * US, 50900 * US);
    TEST_ASSERT_EQUAL(RT_CAUSE_UNKNOWN,
                      cause_now()); /* what it waited before is not of this frame */
    sleep_for(900 * US, 50900 * US);
    plant_waker_delay(55 * MS);
    TEST_ASSERT_EQUAL(RT_CAUSE_SWITCH, cause_now());
    rt_cause_finder_close(&planted);
    TEST_ASSERT_EQUAL(-1, planted.waker_fd);
}

/* A baseline that was itself kept waiting until after the release would hide why. */
static void test_an_interrupted_reading_leaves_the_baseline_to_the_next_frame(void)
{
    plant_witness();
    const struct rt_evidence baseline = planted.baseline;
    account.gap_ns_total += 50 * MS;
    rt_cause_finder_refresh(&planted, rt_now_ns()); /* no reading is that quick */
    TEST_ASSERT_EQUAL_MEMORY(&baseline, &planted.baseline, sizeof baseline);
    TEST_ASSERT_EQUAL_UINT64(0, planted.stolen_ns_total);
    TEST_ASSERT_EQUAL(RT_CAUSE_STOLEN, cause_now());
    expect_cause(RT_CAUSE_UNKNOWN);                             /* that one has had its reason */
    TEST_ASSERT_EQUAL_UINT64(50 * MS, planted.stolen_ns_total); /* once */
}

static void test_a_reading_in_time_is_the_new_baseline(void)
{
    plant_witness();
    account.gap_ns_total += 50 * MS;
    rt_cause_finder_refresh(&planted, rt_now_ns() + HOUR);
    TEST_ASSERT_EQUAL_UINT64(50 * MS, planted.stolen_ns_total);
    expect_cause(RT_CAUSE_UNKNOWN); /* of another frame */
    TEST_ASSERT_EQUAL_UINT64(50 * MS, planted.stolen_ns_total);
}

static void test_a_margin_that_is_not_ample_is_left_alone(void)
{
    plant_witness();
    planted.read_ns_cost = HOUR;
    const struct rt_evidence baseline = planted.baseline;
    rt_cause_finder_refresh(&planted, rt_now_ns() + 8 * HOUR - 1);
    TEST_ASSERT_EQUAL_MEMORY(&baseline, &planted.baseline, sizeof baseline);
    rt_cause_finder_refresh(&planted, rt_now_ns() + 9 * HOUR);
    TEST_ASSERT_GREATER_THAN_UINT64(baseline.wall_ns, planted.baseline.wall_ns);
    rt_cause_finder_close(&planted);
}

/* Off the core between the end of a late frame and the reading, the next release long past: the
 * reading itself was quick, yet what it finds belongs to the next frame as well. */
static void test_a_core_lost_before_the_reading_is_evidence_for_the_next_frame(void)
{
    plant_witness();
    const struct rt_evidence baseline = planted.baseline;
    account.gap_ns_total += 50 * MS;
    struct rt_lateness late = fifty_late;
    late.end_ns = rt_now_ns() - 10 * (uint64_t)MS;
    (void)rt_cause_finder_find(&planted, &late);
    TEST_ASSERT_EQUAL_MEMORY(&baseline, &planted.baseline, sizeof baseline);
    expect_cause(RT_CAUSE_STOLEN);
    TEST_ASSERT_EQUAL_UINT64(50 * MS, planted.stolen_ns_total); /* once */
}

/* The same, and ticks alone show what was stolen: they are read anew each time, so it is now or
 * never that the total has it. */
static void test_what_ticks_show_in_a_reading_that_came_late_is_counted_once(void)
{
    plant_witness();
    sleep_for(900 * US, 50900 * US);
    plant_ticks(1006, 0);
    struct rt_lateness late = fifty_late;
    late.end_ns = rt_now_ns() - 10 * (uint64_t)MS;
    planted.baseline.faults = UINT64_MAX; /* planting ticks has some */
    TEST_ASSERT_EQUAL(RT_CAUSE_STOLEN, rt_cause_finder_find(&planted, &late));
    TEST_ASSERT_EQUAL_UINT64(50 * MS - 900 * US, planted.stolen_ns_total);
    (void)cause_now();
    TEST_ASSERT_EQUAL_UINT64(50 * MS - 900 * US, planted.stolen_ns_total);
    rt_cause_finder_close(&planted);
}

/* ---- things really done ---- */

enum { FRAMES = 60, TRIES = 40, PERIOD = 2 * MS };

static struct rt_clock_real real;
static struct rt_cause_finder cause_finder;
static struct rt_frame frame;
static enum rt_cause planted_cause;
static bool undisturbed; /* got a real-time policy: other threads do not get in between */

static void ask_for_quiet(void)
{
    const struct sched_param priority = {.sched_priority = 50};
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    (void)sched_setaffinity(0, sizeof here, &here);
    undisturbed = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

static void burn(uint64_t ns)
{
    const uint64_t begin_ns = rt_now_ns();
    while (rt_now_ns() - begin_ns < ns)
        ;
}

static void plant_nothing(void *self, uint64_t k)
{
    (void)self;
    (void)k;
}

/* Late by half a period only, which is less than a frame sleeps: the sleep must not look stolen. */
static void plant_work(void *self, uint64_t k)
{
    (void)self;
    if (k == PLANTED)
        burn(PERIOD * 3 / 2);
}

static void touch_a_fresh_page(void)
{
    volatile char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[7] = 1;
    munmap((void *)page, 4096);
}

/* Faults in frames that are in time, up to the one before. */
static void plant_work_after_faults(void *self, uint64_t k)
{
    if (k < PLANTED)
        touch_a_fresh_page();
    plant_work(self, k);
}

static void plant_fault(void *self, uint64_t k)
{
    (void)self;
    if (k != PLANTED)
        return;
    touch_a_fresh_page();
    burn(3 * PERIOD); /* a fault is short; be late */
}

static void wait_for_a_reply(long ns)
{
    const struct timespec pause = {.tv_nsec = ns};
    const uint64_t begin_ns = rt_now_ns();
    nanosleep(&pause, NULL);
    frame.waited_ns += rt_now_ns() - begin_ns;
}

static void plant_reply(void *self, uint64_t k)
{
    (void)self;
    if (k == PLANTED)
        wait_for_a_reply(3 * PERIOD);
}

static void wait_a_little(void *self, uint64_t k)
{
    (void)self;
    (void)k;
    wait_for_a_reply(PERIOD / 4);
}

static void ignore_frame(void *self, uint64_t k)
{
    (void)self;
    (void)k;
}

static void ignore_latch(void *self, uint64_t k, bool held)
{
    (void)self;
    (void)k;
    (void)held;
}

static void ignore_safe(void *self)
{
    (void)self;
}

static void keep_cause(void *self, const struct rt_frame_record *record)
{
    (void)self;
    if (record->frame == watched)
        planted_cause = (enum rt_cause)record->cause;
}

/* Off the core, right after the frame's clock was read. */
static bool leave_core;

static uint64_t now_and_leave(void *self)
{
    (void)self;
    const uint64_t at_ns = rt_now_ns();
    if (leave_core)
        nanosleep(&(struct timespec){.tv_nsec = 3 * PERIOD}, NULL);
    leave_core = false;
    return at_ns;
}

static void plant_work_and_leave(void *self, uint64_t k)
{
    plant_work(self, k);
    leave_core = k == PLANTED;
}

/* A short real run on the core it happens to be on; returns the cause of the planted frame. */
static enum rt_cause run_with(void (*plant)(void *self, uint64_t k))
{
    static _Alignas(64) unsigned char mem[1 << 17];
    const struct rt_job job = {.name = "plant", .run = plant, .every = 1};
    memset(&frame, 0, sizeof frame);
    frame.spec = (struct rt_frame_spec){.period_ns = PERIOD, .frame_count = FRAMES};
    frame.tasks = (struct rt_frame_tasks){.commit = ignore_frame,
                                          .latch = ignore_latch,
                                          .record = keep_cause,
                                          .invalidate_outputs = ignore_safe};
    frame.schedule = rt_schedule_place(&job, 1, mem);
    rt_clock_real_open(&real, RT_WAIT_HYBRID, 50 * US, PERIOD / 2);
    frame.clock = rt_clock_real_interface(&real);
    frame.clock.now_ns = now_and_leave;
    rt_cause_finder_open(&cause_finder, &real, sched_getcpu());
    frame.cause_finder = &cause_finder;
    planted_cause = RT_CAUSE_NONE;
    rt_frame_run(&frame);
    rt_cause_finder_close(&cause_finder);
    return planted_cause;
}

static void expect_planted(void (*plant)(void *self, uint64_t k), enum rt_cause expected)
{
    enum rt_cause got = RT_CAUSE_NONE;
    for (int tries = 0; tries < TRIES && got != expected; tries++) {
        got = run_with(plant);
        TEST_ASSERT_TRUE(got != RT_CAUSE_NONE); /* all that is planted is longer than a period */
    }
    if (got == RT_CAUSE_SWITCH && expected != got && !undisturbed)
        TEST_IGNORE_MESSAGE("no real-time policy, and other threads always got in between");
    TEST_ASSERT_EQUAL_STRING(rt_cause_name[expected], rt_cause_name[got]);
}

static void test_a_planted_page_fault_is_a_fault(void)
{
    expect_planted(plant_fault, RT_CAUSE_FAULT);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(1, rt_cause_finder_faults(&cause_finder));
}

static void test_planted_long_work_is_own(void)
{
    expect_planted(plant_work, RT_CAUSE_OWN);
}

static void test_a_frame_is_not_blamed_for_its_neighbours(void)
{
    expect_planted(plant_work_after_faults, RT_CAUSE_OWN);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(PLANTED, rt_cause_finder_faults(&cause_finder));
}

/* Late, and off the core between its end stamp and the reading of the evidence: the releases that
 * went by in this are those of the next frame, which finds the reason too. */
static void test_a_core_lost_right_after_a_late_frame_explains_the_next_one(void)
{
    watched = PLANTED + 1;
    expect_planted(plant_work_and_leave, RT_CAUSE_STOLEN);
}

static void test_waiting_for_replies_in_time_is_not_theft(void)
{
    uint64_t stolen_ns = UINT64_MAX;
    for (int tries = 0; tries < TRIES && stolen_ns > FRAMES * PERIOD / 8; tries++) {
        (void)run_with(wait_a_little);
        stolen_ns = cause_finder.stolen_ns_total;
    }
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(FRAMES * PERIOD / 8, stolen_ns); /* half of what it waited */
}

static void test_a_planted_wait_for_a_reply_is_io(void)
{
    expect_planted(plant_reply, RT_CAUSE_IO);
}

static void test_causes_of_a_real_run_add_up_to_its_overruns(void)
{
    uint64_t sum = 0;
    (void)run_with(plant_nothing);
    for (int c = 0; c < RT_CAUSE_COUNT; c++)
        sum += frame.causes[c];
    TEST_ASSERT_EQUAL_UINT64(frame.overruns, sum);
    TEST_ASSERT_EQUAL_UINT64((frame.frames + frame.missed) * PERIOD,
                             frame.last_release_ns + PERIOD - frame.first_release_ns);
}

static void test_a_witness_on_no_core_has_no_sources_of_the_core(void)
{
    rt_cause_finder_open(&cause_finder, NULL, -1);
    TEST_ASSERT_EQUAL_UINT(0, cause_finder.sources & ~(unsigned)RT_EVIDENCE_RUN_DELAY);
    rt_cause_finder_close(&cause_finder);
}

/* A reading takes far more than these 16 ns and far less than an hour. */
static void test_a_reading_beyond_the_next_release_leaves_the_evidence_for_the_next_frame(void)
{
    rt_cause_finder_open(&cause_finder, NULL, -1);
    const struct rt_evidence baseline = cause_finder.baseline;
    struct rt_lateness late = {.period_ns = 16, .busy_ns = 17, .end_ns = rt_now_ns()};
    (void)rt_cause_finder_find(&cause_finder, &late);
    TEST_ASSERT_EQUAL_MEMORY(&baseline, &cause_finder.baseline, sizeof baseline);
    late = (struct rt_lateness){.period_ns = HOUR, .busy_ns = HOUR + 1, .end_ns = rt_now_ns()};
    (void)rt_cause_finder_find(&cause_finder, &late);
    TEST_ASSERT_GREATER_THAN_UINT64(baseline.wall_ns, cause_finder.baseline.wall_ns);
    rt_cause_finder_close(&cause_finder);
}

int main(void)
{
    ask_for_quiet();
    UNITY_BEGIN();
    RUN_TEST(test_each_cause_needs_its_evidence_and_the_first_wins);
    RUN_TEST(test_half_of_the_excess_is_enough_evidence);
    RUN_TEST(test_idle_ticks_show_that_a_late_timer_was_stolen);
    RUN_TEST(test_a_core_that_was_not_idle_explains_no_late_timer);
    RUN_TEST(test_idle_ticks_of_earlier_sleeps_are_not_those_of_the_late_one);
    RUN_TEST(test_ticks_that_were_read_long_ago_say_nothing);
    RUN_TEST(test_steal_ticks_explain_what_nothing_else_does);
    RUN_TEST(test_a_wake_that_waits_for_the_core_is_a_switch);
    RUN_TEST(test_an_interrupted_reading_leaves_the_baseline_to_the_next_frame);
    RUN_TEST(test_a_reading_in_time_is_the_new_baseline);
    RUN_TEST(test_a_margin_that_is_not_ample_is_left_alone);
    RUN_TEST(test_a_core_lost_before_the_reading_is_evidence_for_the_next_frame);
    RUN_TEST(test_what_ticks_show_in_a_reading_that_came_late_is_counted_once);
    RUN_TEST(test_a_core_lost_right_after_a_late_frame_explains_the_next_one);
    RUN_TEST(test_a_planted_page_fault_is_a_fault);
    RUN_TEST(test_planted_long_work_is_own);
    RUN_TEST(test_a_frame_is_not_blamed_for_its_neighbours);
    RUN_TEST(test_a_planted_wait_for_a_reply_is_io);
    RUN_TEST(test_waiting_for_replies_in_time_is_not_theft);
    RUN_TEST(test_causes_of_a_real_run_add_up_to_its_overruns);
    RUN_TEST(test_a_witness_on_no_core_has_no_sources_of_the_core);
    RUN_TEST(test_a_reading_beyond_the_next_release_leaves_the_evidence_for_the_next_frame);
    return UNITY_END();
}
