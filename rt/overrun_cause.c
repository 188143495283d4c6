#include "rt/overrun_cause.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *const rt_cause_name[RT_CAUSE_COUNT] = {"none",   "fault", "switch", "io",
                                                   "stolen", "own",   "unknown"};

enum {
    COST_TRIES = 9,
    AMPLE = 8,                          /* a baseline may take one eighth of the margin */
    STEAL_EVERY_NS = 100 * 1000 * 1000, /* between two baselines of the steal counter */
    STOLEN_FLOOR_NS = 10 * 1000,        /* less, per frame, is the error of the reading */
    LATE_TIMER_FLOOR_NS = 100 * 1000,   /* less, per sleep, is how long any wake takes */
    STAT_TEXT_SIZE = 16 * 1024,         /* the lines of the cores come first */
};

static uint64_t saturating_sub(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* --- the verdict ------------------------------------------------------------------------------ */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The timer was due and the core did nothing, yet the thread was not woken. */
static uint64_t timer_late_ns(const struct rt_evidence *change, unsigned sources)
{
    if (!(sources & RT_EVIDENCE_IDLE))
        return 0;
    const uint64_t idle_late = saturating_sub(change->idle_ns, change->asked_ns);
    return min_u64(idle_late, saturating_sub(change->slept_ns, change->asked_ns));
}

/* Others had the core while the thread wanted it: it was runnable, or its timer was due and the
 * kernel thread that wakes it was runnable.  The second is over when the first begins, and both
 * make a sleep longer, so of the second no more counts than the first leaves of that. */
static uint64_t waited_for_core_ns(const struct rt_evidence *change, unsigned sources)
{
    if (!(sources & RT_EVIDENCE_WAKER))
        return change->run_delay_ns;
    const uint64_t slept_late = saturating_sub(change->slept_ns, change->asked_ns);
    return change->run_delay_ns +
           min_u64(change->waker_delay_ns, saturating_sub(slept_late, change->run_delay_ns));
}

/* Wall time in which the thread was neither asleep nor waiting for the core nor for a reply, and
 * which is missing from its CPU time. */
static uint64_t missing_cpu_ns(const struct rt_evidence *change, unsigned sources)
{
    if (!(sources & RT_EVIDENCE_CPU))
        return 0;
    const uint64_t off_ns = change->slept_ns + change->run_delay_ns + change->waited_ns;
    return saturating_sub(change->wall_ns, change->cpu_ns + off_ns);
}

/* Time stolen while running.  A gap that the kernel accounts for is missing in the CPU time too,
 * so the larger of the two counts; a gap in which another thread ran is not stolen time. */
static uint64_t stolen_while_running_ns(const struct rt_evidence *change, unsigned sources)
{
    const uint64_t gap_ns = saturating_sub(change->gap_ns, change->run_delay_ns);
    const uint64_t vanished_ns = missing_cpu_ns(change, sources);
    return gap_ns > vanished_ns ? gap_ns : vanished_ns;
}

/*
 * Evidence must be worth at least half of the time past the deadline, and at least a sixteenth of
 * the period: every frame must tolerate that much, so a frame that was late by little was late for
 * another reason.
 */
static uint64_t significant_ns(const struct rt_lateness *late)
{
    const uint64_t excess_ns =
        saturating_sub(late->start_error_ns + late->busy_ns, late->period_ns);
    const uint64_t least_ns = late->period_ns / 16;
    return excess_ns / 2 > least_ns ? excess_ns / 2 : least_ns;
}

/* The frame's own work, borne out by CPU time, makes up most of the time since its release. */
static bool is_own_work(const struct rt_lateness *late, uint64_t taken_ns)
{
    const uint64_t work_ns = saturating_sub(late->busy_ns, late->waited_ns + taken_ns);
    return work_ns >= late->start_error_ns + late->busy_ns - work_ns;
}

enum rt_cause rt_cause_of(const struct rt_lateness *late, const struct rt_evidence *change,
                          unsigned sources)
{
    const uint64_t enough_ns = significant_ns(late);
    const uint64_t taken_ns = stolen_while_running_ns(change, sources);
    if (change->faults > 0)
        return RT_CAUSE_FAULT;
    if (sources & RT_EVIDENCE_RUN_DELAY ? waited_for_core_ns(change, sources) >= enough_ns
                                        : change->switches > 0)
        return RT_CAUSE_SWITCH;
    if (late->waited_ns >= enough_ns)
        return RT_CAUSE_IO;
    if (taken_ns + timer_late_ns(change, sources) >= enough_ns)
        return RT_CAUSE_STOLEN;
    if (is_own_work(late, taken_ns))
        return RT_CAUSE_OWN;
    /* The steal counter is coarse: it is used only where CPU time does not explain the overrun. */
    if ((sources & RT_EVIDENCE_STEAL) && change->steal_ns >= enough_ns)
        return RT_CAUSE_STOLEN;
    return RT_CAUSE_UNKNOWN;
}

/* --- the sources ------------------------------------------------------------------------------ */

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    if (clock_gettime(id, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Read a small file from its beginning as a string.  False when there is nothing to read. */
static bool read_text(int fd, char *text, size_t size)
{
    const ssize_t got = fd < 0 ? -1 : pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The next number of the text; *text moves behind it. */
static uint64_t next_number(const char **text)
{
    uint64_t number = 0;
    while (**text == ' ')
        (*text)++;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        number = number * 10 + (uint64_t)(**text - '0');
    return number;
}

/* schedstat: time on the core, time waiting for it, turns. */
static bool read_run_delay(int fd, uint64_t *run_delay_ns)
{
    char text[96];
    const char *at = text;
    if (!read_text(fd, text, sizeof text))
        return false;
    (void)next_number(&at);
    *run_delay_ns = next_number(&at);
    return true;
}

/* cpuidle: microseconds in each idle state, booked when the state is left. */
static uint64_t read_idle(const struct rt_cause_finder *finder)
{
    uint64_t idle_us = 0;
    for (int i = 0; i < finder->idle_count; i++) {
        char text[32];
        const char *at = text;
        if (read_text(finder->idle_fd[i], text, sizeof text))
            idle_us += next_number(&at);
    }
    return idle_us * 1000;
}

/* /proc/stat: the fourth and the eighth number of the core's line. */
static bool read_ticks(const struct rt_cause_finder *finder, uint64_t *idle_ns, uint64_t *steal_ns)
{
    char text[STAT_TEXT_SIZE], name[24];
    snprintf(name, sizeof name, "\ncpu%d ", finder->cpu);
    if (!read_text(finder->stat_fd, text, sizeof text))
        return false;
    const char *at = strstr(text, name);
    if (at == NULL)
        return false;
    at += strlen(name);
    uint64_t column[8];
    for (int i = 0; i < 8; i++)
        column[i] = next_number(&at);
    *idle_ns = column[3] * finder->tick_ns;
    *steal_ns = column[7] * finder->tick_ns;
    return true;
}

/* All but the steal counter.  On the reference machine 0.4 us for the usage, 0.8 us for CPU time,
 * 1.1 us for the run delay, 1 us for each idle state. */
static void read_evidence(const struct rt_cause_finder *finder, struct rt_evidence *evidence)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    evidence->faults = (uint64_t)(usage.ru_minflt + usage.ru_majflt);
    evidence->switches = (uint64_t)usage.ru_nivcsw;
    evidence->run_delay_ns = 0;
    if (finder->sources & RT_EVIDENCE_RUN_DELAY)
        (void)read_run_delay(finder->schedstat_fd, &evidence->run_delay_ns);
    if (finder->sources & RT_EVIDENCE_WAKER)
        (void)read_run_delay(finder->waker_fd, &evidence->waker_delay_ns);
    evidence->idle_ns = read_idle(finder);
    if (finder->real != NULL) {
        evidence->gap_ns = finder->real->gap_ns_total;
        evidence->asked_ns = finder->real->asked_ns_total;
        evidence->slept_ns = finder->real->slept_ns_total;
    }
    evidence->waited_ns = finder->waited_ns_total;
    /* Read last and next to each other: time between them would look stolen. */
    evidence->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    evidence->wall_ns = clock_ns(CLOCK_MONOTONIC);
}

static struct rt_evidence evidence_change(const struct rt_evidence *baseline,
                                          const struct rt_evidence *after)
{
    return (struct rt_evidence){
        .wall_ns = saturating_sub(after->wall_ns, baseline->wall_ns),
        .faults = saturating_sub(after->faults, baseline->faults),
        .switches = saturating_sub(after->switches, baseline->switches),
        .cpu_ns = saturating_sub(after->cpu_ns, baseline->cpu_ns),
        .run_delay_ns = saturating_sub(after->run_delay_ns, baseline->run_delay_ns),
        .waker_delay_ns = saturating_sub(after->waker_delay_ns, baseline->waker_delay_ns),
        .idle_ns = saturating_sub(after->idle_ns, baseline->idle_ns),
        .steal_ns = saturating_sub(after->steal_ns, baseline->steal_ns),
        .gap_ns = saturating_sub(after->gap_ns, baseline->gap_ns),
        .asked_ns = saturating_sub(after->asked_ns, baseline->asked_ns),
        .slept_ns = saturating_sub(after->slept_ns, baseline->slept_ns),
        .waited_ns = saturating_sub(after->waited_ns, baseline->waited_ns),
    };
}

static void add_late_timer(struct rt_cause_finder *finder, const struct rt_evidence *change,
                           unsigned sources)
{
    const uint64_t late_ns = timer_late_ns(change, sources);
    if (late_ns >= LATE_TIMER_FLOOR_NS)
        finder->stolen_ns_total += late_ns;
}

/* Every change is seen here once, so the total neither misses nor repeats any. */
static void add_stolen(struct rt_cause_finder *finder, const struct rt_evidence *change,
                       unsigned sources)
{
    const uint64_t taken_ns = stolen_while_running_ns(change, sources);
    if (taken_ns >= STOLEN_FLOOR_NS)
        finder->stolen_ns_total += taken_ns;
    add_late_timer(finder, change, sources);
}

static void refresh_steal(struct rt_cause_finder *finder, struct rt_evidence *evidence)
{
    if (!read_ticks(finder, &finder->tick_idle_ns, &evidence->steal_ns))
        return;
    finder->steal_read_ns = evidence->wall_ns;
    finder->tick_asked_ns = evidence->asked_ns;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void open_idle(struct rt_cause_finder *finder)
{
    char path[80];
    for (int i = 0; i < RT_IDLE_STATE_MAX && finder->cpu >= 0; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/time",
                 finder->cpu, i);
        finder->idle_fd[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (finder->idle_fd[i] < 0)
            break;
        finder->idle_count = i + 1;
    }
}

/* The core of a thread that may use no other, else -1. */
static int sole_allowed_core(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) != 1)
        return -1;
    int core = 0;
    while (!CPU_ISSET((size_t)core, &cores))
        core++;
    return core;
}

/*
 * A kernel with PREEMPT_RT wakes a thread that is not a real-time one by a thread of its own, one
 * for each core: while that waits for the core, the sleeper is not runnable, and no run delay is
 * booked.  Returns its schedstat, or -1 where there is none.
 */
static int open_waker(int cpu)
{
    char name[32], path[64];
    const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    const bool ordinary = policy != SCHED_FIFO && policy != SCHED_RR && policy != SCHED_DEADLINE;
    const int core = cpu >= 0 ? cpu : sole_allowed_core();
    DIR *folder = core >= 0 && ordinary ? opendir("/proc") : NULL;
    if (folder == NULL)
        return -1;
    snprintf(name, sizeof name, "ktimers/%d\n", core);
    int found = -1;
    for (const struct dirent *entry; found < 0 && (entry = readdir(folder)) != NULL;) {
        char comm[32];
        const int pid = atoi(entry->d_name);
        snprintf(path, sizeof path, "/proc/%d/comm", pid);
        const int fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (read_text(fd, comm, sizeof comm) && strcmp(comm, name) == 0) {
            snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
            found = open(path, O_RDONLY | O_CLOEXEC);
        }
        if (fd >= 0)
            close(fd);
    }
    closedir(folder);
    return found;
}

static void find_sources(struct rt_cause_finder *finder)
{
    uint64_t value, idle;
    if (clock_ns(CLOCK_THREAD_CPUTIME_ID) > 0 && finder->real != NULL)
        finder->sources |= RT_EVIDENCE_CPU; /* of no use without the sleep times of the clock */
    if (read_run_delay(finder->schedstat_fd, &value))
        finder->sources |= RT_EVIDENCE_RUN_DELAY;
    if (read_run_delay(finder->waker_fd, &value) && finder->real != NULL)
        finder->sources |= RT_EVIDENCE_WAKER;
    if (finder->idle_count > 0 && finder->real != NULL)
        finder->sources |= RT_EVIDENCE_IDLE;
    if (finder->cpu >= 0 && read_ticks(finder, &idle, &value))
        finder->sources |= RT_EVIDENCE_STEAL;
}

/* Measure the usual cost of the readings, so that the frame never takes one without time for
 * it. */
static void measure_cost(struct rt_cause_finder *finder)
{
    finder->read_ns_cost = UINT64_MAX;
    finder->steal_ns_cost = UINT64_MAX;
    for (int i = 0; i < COST_TRIES; i++) {
        const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
        read_evidence(finder, &finder->baseline);
        const uint64_t middle_ns = clock_ns(CLOCK_MONOTONIC);
        if (finder->sources & RT_EVIDENCE_STEAL)
            refresh_steal(finder, &finder->baseline);
        const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
        if (middle_ns - begin_ns < finder->read_ns_cost)
            finder->read_ns_cost = middle_ns - begin_ns;
        if (end_ns - middle_ns < finder->steal_ns_cost)
            finder->steal_ns_cost = end_ns - middle_ns;
    }
}

void rt_cause_finder_open(struct rt_cause_finder *finder, const struct rt_clock_real *real, int cpu)
{
    *finder = (struct rt_cause_finder){.cpu = cpu, .real = real};
    finder->tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    finder->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    finder->waker_fd = open_waker(cpu);
    finder->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    open_idle(finder);
    find_sources(finder);
    measure_cost(finder);
    finder->faults_at_seal = finder->baseline.faults;
    finder->switches_at_seal = finder->baseline.switches;
}

static void close_source(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void rt_cause_finder_close(struct rt_cause_finder *finder)
{
    close_source(&finder->schedstat_fd);
    close_source(&finder->waker_fd);
    close_source(&finder->stat_fd);
    for (int i = 0; i < finder->idle_count; i++)
        close_source(&finder->idle_fd[i]);
    finder->idle_count = 0;
    finder->sources = 0;
}

/* --- every frame ------------------------------------------------------------------------------ */

/* Idle time of the core since the end of the frame before, from the tick counters: the sleep asked
 * for between their baseline and then is subtracted, and one tick, the error of two readings. */
static uint64_t idle_of_ticks(const struct rt_cause_finder *finder, uint64_t idle_before_ns,
                              uint64_t asked_before_ns)
{
    const uint64_t earlier_ns = saturating_sub(finder->baseline.asked_ns, asked_before_ns);
    return saturating_sub(finder->tick_idle_ns, idle_before_ns + earlier_ns + finder->tick_ns);
}

/* The increase of the tick counters, if their baseline is recent enough for this frame. */
static void read_tick_change(struct rt_cause_finder *finder, struct rt_evidence *after,
                             const struct rt_lateness *late, struct rt_evidence *change)
{
    const uint64_t age_ns = saturating_sub(after->wall_ns, finder->steal_read_ns);
    const uint64_t late_ns = late->start_error_ns + late->busy_ns;
    const uint64_t idle_ns = finder->tick_idle_ns, asked_ns = finder->tick_asked_ns;
    refresh_steal(finder, after);
    if (age_ns > 2 * (uint64_t)STEAL_EVERY_NS + late_ns)
        return;
    change->steal_ns = saturating_sub(after->steal_ns, finder->baseline.steal_ns);
    if (!(finder->sources & RT_EVIDENCE_IDLE))
        change->idle_ns = idle_of_ticks(finder, idle_ns, asked_ns);
}

/*
 * True when the next release passed before the reading was done.  Then the end of the reading is
 * evidence about the next frame, which will be late, and not about the one under examination.
 * Counted from the end of the frame, not from the beginning of the reading: a thread that loses
 * its core between the two loses it for the next frame as well.
 */
static bool crossed_next_release(const struct rt_lateness *late, uint64_t done_ns)
{
    const uint64_t into_ns = (late->start_error_ns + late->busy_ns) % late->period_ns;
    const uint64_t reading_ns = saturating_sub(done_ns, late->end_ns);
    return reading_ns > late->period_ns - into_ns && reading_ns > late->period_ns / 16;
}

enum rt_cause rt_cause_finder_find(struct rt_cause_finder *finder, const struct rt_lateness *late)
{
    struct rt_evidence after = finder->baseline;
    unsigned sources = finder->sources;
    read_evidence(finder, &after);
    struct rt_evidence change = evidence_change(&finder->baseline, &after);
    enum rt_cause cause = rt_cause_of(late, &change, sources);
    if (cause == RT_CAUSE_UNKNOWN && (sources & RT_EVIDENCE_STEAL)) {
        read_tick_change(finder, &after, late, &change);
        sources |= RT_EVIDENCE_IDLE;
        cause = rt_cause_of(late, &change, sources);
    }
    if (crossed_next_release(late, clock_ns(CLOCK_MONOTONIC))) {
        /* The baseline stays, so that the next frame finds its reason too; that of the ticks, which
         * were read anew, does not. */
        if (sources != finder->sources)
            add_late_timer(finder, &change, sources);
        return cause;
    }
    add_stolen(finder, &change, sources);
    finder->baseline = after;
    return cause;
}

void rt_cause_finder_refresh(struct rt_cause_finder *finder, uint64_t release_ns)
{
    const uint64_t margin_ns = saturating_sub(release_ns, clock_ns(CLOCK_MONOTONIC));
    if (margin_ns < AMPLE * finder->read_ns_cost)
        return;
    struct rt_evidence after = finder->baseline;
    read_evidence(finder, &after);
    if (after.wall_ns > release_ns)
        return; /* delayed beyond the release: the next frame must find the reason */
    const struct rt_evidence change = evidence_change(&finder->baseline, &after);
    add_stolen(finder, &change, finder->sources);
    if ((finder->sources & RT_EVIDENCE_STEAL) &&
        after.wall_ns - finder->steal_read_ns >= STEAL_EVERY_NS &&
        margin_ns >= AMPLE * (finder->read_ns_cost + finder->steal_ns_cost))
        refresh_steal(finder, &after);
    finder->baseline = after;
}

uint64_t rt_cause_finder_faults(const struct rt_cause_finder *finder)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt) - finder->faults_at_seal;
}

uint64_t rt_cause_finder_switches(const struct rt_cause_finder *finder)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nivcsw - finder->switches_at_seal;
}
