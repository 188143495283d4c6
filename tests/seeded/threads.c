/*
 * Threads, locks, sleeps and clocks of the program, which are those of the scheduler.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

static char sleepers; /* where those wait whom a signal wakes */

/* ---- threads --------------------------------------------------------------------------------- */

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    (void)attributes;
    *id = (pthread_t)seeded_spawn(run, argument);
    return 0;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
    const struct seeded_fiber *fiber = (const struct seeded_fiber *)id;
    while (!seeded_is_over(fiber))
        seeded_wait(fiber, UINT64_MAX);
    if (result)
        *result = NULL;
    return 0;
}

pthread_t __wrap_pthread_self(void)
{
    return (pthread_t)seeded_self();
}

int __wrap_pthread_setname_np(pthread_t id, const char *name)
{
    (void)id;
    seeded_name(name);
    return 0;
}

int __wrap_pthread_getattr_np(pthread_t id, pthread_attr_t *attributes)
{
    (void)id;
    return pthread_attr_init(attributes);
}

int __wrap_pthread_attr_getstack(const pthread_attr_t *attributes, void **stack, size_t *size)
{
    (void)attributes;
    seeded_stack(stack, size);
    *size = 4096; /* as much as is worth touching */
    return 0;
}

int __wrap_pthread_setschedparam(pthread_t id, int policy, const struct sched_param *param)
{
    (void)id, (void)policy, (void)param;
    return 0;
}

int __wrap_pthread_getschedparam(pthread_t id, int *policy, struct sched_param *param)
{
    (void)id;
    *policy = SCHED_OTHER;
    *param = (struct sched_param){0};
    return 0;
}

/* ---- locks: those of the C library, which one thread of the kernel takes for all fibers ------ */

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    seeded_point();
    while (pthread_mutex_trylock(mutex) == EBUSY)
        seeded_wait(mutex, UINT64_MAX);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    const int error = __real_pthread_mutex_unlock(mutex);
    seeded_wake(mutex);
    seeded_point();
    return error;
}

int __wrap_sem_wait(sem_t *semaphore)
{
    while (sem_trywait(semaphore) != 0)
        seeded_wait(semaphore, UINT64_MAX);
    return 0;
}

int __wrap_sem_post(sem_t *semaphore)
{
    const int error = __real_sem_post(semaphore);
    seeded_wake(semaphore);
    seeded_point();
    return error;
}

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * SEEDED_S + (uint64_t)time->tv_nsec;
}

static const uint64_t WALL_NS = UINT64_C(1700000000) * SEEDED_S; /* CLOCK_REALTIME at 0 */

static int wait_semaphore(sem_t *semaphore, uint64_t until_ns)
{
    while (sem_trywait(semaphore) != 0) {
        if (seeded_now_ns >= until_ns) {
            errno = ETIMEDOUT;
            return -1;
        }
        seeded_wait(semaphore, until_ns);
    }
    return 0;
}

int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    return wait_semaphore(semaphore, nanoseconds(until) - WALL_NS);
}

int __wrap_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    return wait_semaphore(semaphore, nanoseconds(until) - (clock == CLOCK_REALTIME ? WALL_NS : 0));
}

static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns)
{
    (void)__real_pthread_mutex_unlock(mutex);
    seeded_wake(mutex);
    seeded_wait(condition, until_ns);
    (void)__wrap_pthread_mutex_lock(mutex);
    return seeded_now_ns >= until_ns ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_condition(condition, mutex, UINT64_MAX);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    const uint64_t ns = nanoseconds(until); /* of either clock: the two are far apart */
    return wait_condition(condition, mutex, ns > WALL_NS ? ns - WALL_NS : ns);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    seeded_wake(condition);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    seeded_wake(condition);
    return 0;
}

/* ---- rings: no leaf calls, but what crosses between threads crosses here --------------------- */

void *__wrap_rt_ring_claim(struct rt_ring *ring)
{
    seeded_point();
    return __real_rt_ring_claim(ring);
}

void __wrap_rt_ring_push(struct rt_ring *ring)
{
    seeded_point();
    __real_rt_ring_push(ring);
    seeded_point();
}

const void *__wrap_rt_ring_front(struct rt_ring *ring)
{
    if (seeded_chance(16))
        seeded_point();
    return __real_rt_ring_front(ring);
}

void __wrap_rt_ring_pop(struct rt_ring *ring)
{
    seeded_point();
    __real_rt_ring_pop(ring);
}

/* ---- time ------------------------------------------------------------------------------------ */

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    seeded_now_ns += seeded_between(20, 60);
    if (seeded_self() && seeded_chance(64))
        seeded_sleep(seeded_below(10 * SEEDED_US));
    const uint64_t ns = clock == CLOCK_REALTIME ? seeded_now_ns + WALL_NS : seeded_now_ns;
    time->tv_sec = (time_t)(ns / SEEDED_S);
    time->tv_nsec = (long)(ns % SEEDED_S);
    return 0;
}

/* True when a signal came. */
static bool sleep_until(uint64_t until_ns)
{
    if (seeded_breaks(seeded_weather.late))
        until_ns += seeded_below(seeded_weather.late_ns_max);
    until_ns += seeded_below(60 * SEEDED_US);
    seeded_wait(&sleepers, until_ns);
    return seeded_now_ns < until_ns;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
    (void)rest;
    if (!sleep_until(seeded_now_ns + nanoseconds(time)))
        return 0;
    errno = EINTR;
    return -1;
}

int __wrap_usleep(useconds_t us)
{
    (void)sleep_until(seeded_now_ns + us * UINT64_C(1000));
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *rest)
{
    (void)rest;
    const uint64_t ns = nanoseconds(time) - (clock == CLOCK_REALTIME ? WALL_NS : 0);
    const uint64_t until_ns = flags & TIMER_ABSTIME ? ns : seeded_now_ns + nanoseconds(time);
    if (seeded_is("frame")) {
        invariants_release();
        until_ns > seeded_now_ns
            ? seeded_wait(&sleepers + 1, until_ns + seeded_below(60 * SEEDED_US))
            : seeded_point();
        workload_stall_frame();
        return 0;
    }
    return sleep_until(until_ns) ? EINTR : 0;
}

/* ---- signals and the end --------------------------------------------------------------------- */

void threads_signal(int number)
{
    seeded_trace("signal %d", number);
    raise(number);
    seeded_wake(&sleepers);
}

void __wrap__exit(int code)
{
    seeded_trace("_exit(%d)", code);
    seeded_end(code);
}
