#include "tests/seeded/seeded.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/seeded/real.h"

enum { FIBER_MAX = 32, STACK_SIZE = 2 << 20, EVENT_MAX = 4096, NAME_MAX_ = 16 };
static const uint64_t LIMIT_NS = 300 * SEEDED_S; /* no run of ours takes as long */

enum state { READY, WAITING, OVER };

struct seeded_fiber {
    ucontext_t context;
    char name[NAME_MAX_];
    enum state state;
    uint64_t wake_ns;
    const void *place;
    void *(*run)(void *);
    void *argument;
    void *stack;
    int error; /* errno, which is a thread's own */
};

struct event {
    uint64_t at_ns;
    void (*call)(void *self);
    void *self;
};

uint64_t seeded_now_ns;
int seeded_exit_code;
struct seeded_shared *seeded_shared;
struct seeded_weather seeded_weather;

static struct seeded_fiber fibers[FIBER_MAX];
static int fiber_count;
static struct seeded_fiber *running;
static ucontext_t scheduler;
static struct event events[EVENT_MAX];
static int event_count;
static uint64_t random_state;
static bool over, prints_all;

/* ---- random numbers: splitmix64 -------------------------------------------------------------- */

uint64_t seeded_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t seeded_below(uint64_t bound)
{
    return bound > 0 ? seeded_random() % bound : 0;
}

uint64_t seeded_between(uint64_t a, uint64_t b)
{
    return a + seeded_below(b - a + 1);
}

bool seeded_chance(unsigned one_in)
{
    return one_in > 0 && seeded_below(one_in) == 0;
}

bool seeded_breaks(unsigned one_in)
{
    return seeded_now_ns < seeded_weather.quiet_ns && seeded_chance(one_in);
}

/* ---- what happened --------------------------------------------------------------------------- */

static void tell(const char *text)
{
    char *line = seeded_shared->trace[seeded_shared->count++ % SEEDED_TRACE_MAX];
    snprintf(line, SEEDED_TEXT_MAX, "%12.6f ms  %-10s %s", (double)seeded_now_ns * 1e-6,
             running ? running->name : "-", text);
    for (const char *at = line; *at; at++)
        seeded_shared->digest =
            (seeded_shared->digest ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    if (prints_all)
        dprintf(SEEDED_PRINT_FD, "%s\n", line);
}

void seeded_trace(const char *format, ...)
{
    char text[SEEDED_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(text);
}

void seeded_fail(const char *format, ...)
{
    char text[sizeof seeded_shared->verdict];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(seeded_shared->verdict, text, sizeof text);
    tell(text);
    __real__exit(1);
}

void *seeded_allocate(size_t size)
{
    void *memory = __real_calloc(1, size + 1);
    if (!memory)
        seeded_fail("the simulation itself has no memory");
    return memory;
}

/* ---- fibers ---------------------------------------------------------------------------------- */

static void enter(void)
{
    struct seeded_fiber *self = running;
    (void)self->run(self->argument);
    self->state = OVER;
    if (self == &fibers[0])
        over = true;
    seeded_wake(self);
    swapcontext(&self->context, &scheduler);
}

struct seeded_fiber *seeded_spawn(void *(*run)(void *), void *argument)
{
    if (fiber_count == FIBER_MAX)
        seeded_fail("more than %d threads", FIBER_MAX);
    struct seeded_fiber *fiber = &fibers[fiber_count++];
    fiber->run = run;
    fiber->argument = argument;
    fiber->wake_ns = seeded_now_ns + seeded_below(50 * SEEDED_US);
    fiber->state = READY;
    snprintf(fiber->name, sizeof fiber->name, "thread %d", fiber_count);
    fiber->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber->stack == MAP_FAILED || getcontext(&fiber->context) != 0)
        seeded_fail("the simulation has no stack");
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&fiber->context, enter, 0);
    return fiber;
}

struct seeded_fiber *seeded_self(void)
{
    return running;
}

void seeded_name(const char *name)
{
    snprintf(running->name, sizeof running->name, "%s", name);
}

bool seeded_is(const char *name)
{
    return running && strcmp(running->name, name) == 0;
}

bool seeded_is_over(const struct seeded_fiber *fiber)
{
    return fiber->state == OVER;
}

void seeded_stack(void **stack, size_t *size)
{
    *stack = running->stack;
    *size = STACK_SIZE;
}

static void give_way(void)
{
    struct seeded_fiber *self = running;
    self->error = errno;
    swapcontext(&self->context, &scheduler);
    errno = self->error;
}

void seeded_sleep(uint64_t ns)
{
    if (!running) /* an event takes no time */
        return;
    if (ns > 100 * SEEDED_US && seeded_breaks(seeded_weather.late))
        ns += seeded_below(seeded_weather.late_ns_max);
    running->state = READY;
    running->wake_ns = seeded_now_ns + ns;
    give_way();
}

void seeded_wait(const void *place, uint64_t until_ns)
{
    if (!running)
        seeded_fail("an event of the simulation waits");
    running->state = WAITING;
    running->place = place;
    running->wake_ns = until_ns;
    give_way();
}

void seeded_wake(const void *place)
{
    for (int i = 0; i < fiber_count; i++) {
        if (fibers[i].state != WAITING || fibers[i].place != place)
            continue;
        fibers[i].state = READY;
        fibers[i].wake_ns = seeded_now_ns + seeded_below(30 * SEEDED_US);
    }
}

void seeded_point(void)
{
    if (running && seeded_chance(16))
        seeded_sleep(seeded_below(20 * SEEDED_US));
}

void seeded_end(int code)
{
    seeded_exit_code = code;
    over = true;
    give_way();
    seeded_fail("a thread went on after the end");
}

/* ---- events and the loop --------------------------------------------------------------------- */

void seeded_at(uint64_t at_ns, void (*call)(void *self), void *self)
{
    if (event_count == EVENT_MAX)
        seeded_fail("more than %d events", EVENT_MAX);
    int at = event_count++;
    for (; at > 0 && events[at - 1].at_ns <= at_ns; at--) /* the next one is the last */
        events[at] = events[at - 1];
    events[at] = (struct event){at_ns, call, self};
}

static struct seeded_fiber *next_fiber(void)
{
    struct seeded_fiber *next = NULL;
    for (int i = 0; i < fiber_count; i++) {
        struct seeded_fiber *fiber = &fibers[i];
        if (fiber->state == OVER || fiber->wake_ns == UINT64_MAX)
            continue;
        if (!next || fiber->wake_ns < next->wake_ns)
            next = fiber;
    }
    return next;
}

static void say_who_waits(void)
{
    for (int i = 0; i < fiber_count; i++) {
        if (fibers[i].state != OVER)
            seeded_trace("thread %s waits", fibers[i].name);
    }
}

static void go_to(uint64_t at_ns)
{
    if (at_ns > seeded_now_ns)
        seeded_now_ns = at_ns;
    if (seeded_now_ns > LIMIT_NS) {
        say_who_waits();
        seeded_fail("the program does not end");
    }
}

void seeded_run(void)
{
    while (!over) {
        struct seeded_fiber *fiber = next_fiber();
        const struct event *event = event_count > 0 ? &events[event_count - 1] : NULL;
        if (!fiber && !event) {
            say_who_waits();
            seeded_fail("nobody can go on: a deadlock");
        }
        if (event && (!fiber || event->at_ns <= fiber->wake_ns)) {
            const struct event now = *event;
            event_count--;
            go_to(now.at_ns);
            now.call(now.self);
            continue;
        }
        go_to(fiber->wake_ns);
        fiber->state = READY;
        running = fiber;
        swapcontext(&scheduler, &fiber->context);
        running = NULL;
        invariants_look();
    }
}

void seeded_begin(uint64_t seed, bool prints)
{
    random_state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    prints_all = prints;
    seeded_now_ns = SEEDED_S; /* 0 has a meaning of its own to some */
}
