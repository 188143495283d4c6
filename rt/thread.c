#include "rt/thread.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/machine/machine.h"

enum { STACK_DEFAULT = 256 << 10, SIGNAL_STACK = 32 << 10, NAME_SIZE = 16 };

/* On the starter's stack; the thread may touch it only until it posts ready. */
struct thread_start {
    const struct rt_thread_spec *spec;
    void (*run)(void *self);
    void *self;
    sem_t ready;

    /* results of the thread; errors are errno values, 0 for granted */
    int tid, policy, priority, cpu;
    int cpu_error, policy_error, stack_error;
};

static void add_sentence(char reason[RT_REASON_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_sentence(char reason[RT_REASON_MAX], const char *format, ...)
{
    size_t used = strlen(reason);
    if (used > 0 && used + 1 < RT_REASON_MAX)
        reason[used++] = ' ';
    va_list list;
    va_start(list, format);
    vsnprintf(reason + used, RT_REASON_MAX - used, format, list);
    va_end(list);
}

static int pin_to_core(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= CPU_SETSIZE)
        return EINVAL;
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

/*
 * Bring the whole stack, the thread's TLS included, to the thread's own node and make every page
 * present.  MADV_POPULATE_WRITE leaves the contents alone; writing below one's own stack pointer
 * does not.
 */
static int touch_stack(int cpu)
{
    pthread_attr_t attr;
    void *stack;
    size_t size;
    int error = pthread_getattr_np(pthread_self(), &attr);
    if (error != 0)
        return error;
    error = pthread_attr_getstack(&attr, &stack, &size);
    pthread_attr_destroy(&attr);
    if (error != 0)
        return error;
    rt_memory_prefer_node(stack, size, cpu);
    return madvise(stack, size, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
}

/* The core first: pages touched after it come from its node. */
static void take_properties(struct thread_start *thread_start)
{
    const struct rt_thread_spec *spec = thread_start->spec;
    const struct sched_param param = {.sched_priority = spec->priority};

    thread_start->tid = gettid();
    pthread_setname_np(pthread_self(), spec->name);
    thread_start->cpu_error = spec->cpu >= 0 ? pin_to_core(spec->cpu) : 0;
    thread_start->cpu = spec->cpu >= 0 && thread_start->cpu_error == 0 ? spec->cpu : -1;
    thread_start->stack_error = touch_stack(thread_start->cpu);
    thread_start->policy_error = pthread_setschedparam(pthread_self(), spec->policy, &param);

    struct sched_param got;
    pthread_getschedparam(pthread_self(), &thread_start->policy, &got);
    thread_start->priority = got.sched_priority;
}

/*
 * The signal stack lies in the oldest frame of the thread's own stack: touched and local with the
 * rest, and out of the way of an overflow, which happens at the other end.
 */
static void *thread_main(void *argument)
{
    struct thread_start *thread_start = argument;
    void (*const run)(void *) = thread_start->run;
    void *const self = thread_start->self;
    unsigned char signal_stack[SIGNAL_STACK];
    const stack_t own = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    stack_t before;

    RT_CHECK(sigaltstack(&own, &before) == 0);
    take_properties(thread_start);
    sem_post(&thread_start->ready);
    run(self);
    /* The sanitizers' runtime unmaps the signal stack it finds at a thread's end. */
    sigaltstack(&before, NULL);
    return NULL;
}

/* Only the signals that a thread raises itself; the others go to other threads. */
static void own_signals_only(pthread_attr_t *attr)
{
    static const int own[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&blocked, own[i]);
    pthread_attr_setsigmask_np(attr, &blocked);
}

/* The thread starts with the ordinary policy, whatever its starter has; it sets its properties
 * itself, so that each refusal is known by name and loses only that property. */
static int create_thread(pthread_t *id, struct thread_start *thread_start)
{
    pthread_attr_t attr;
    const struct sched_param ordinary = {.sched_priority = 0};
    const size_t size =
        thread_start->spec->stack_size ? thread_start->spec->stack_size : STACK_DEFAULT;
    int error = pthread_attr_init(&attr);
    if (error != 0)
        return error;
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    pthread_attr_setschedparam(&attr,
                               &ordinary); /* else the starter's, which fits no such policy */
    own_signals_only(&attr);
    error = pthread_attr_setstacksize(&attr, size + SIGNAL_STACK);
    if (error == 0)
        error = pthread_create(id, &attr, thread_main, thread_start);
    pthread_attr_destroy(&attr);
    return error;
}

static const char *policy_name(int policy)
{
    return policy == SCHED_FIFO ? "SCHED_FIFO" : policy == SCHED_RR ? "SCHED_RR" : "SCHED_OTHER";
}

static void explain_policy(const struct rt_thread_spec *spec, const struct rt_machine *machine,
                           int error, char reason[RT_REASON_MAX])
{
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_RTPRIO, &limit);
    add_sentence(reason, "%s %d was refused for thread %s:", policy_name(spec->policy),
                 spec->priority, spec->name);
    if (error == EPERM && machine->rt_group_budget_missing)
        add_sentence(reason,
                     "its cgroup has no real-time budget; write 950000 to %s/cpu.rt_runtime_us, "
                     "or start the program in the root cgroup.",
                     machine->rt_group);
    else if (error == EPERM && !machine->cap_sys_nice && limit.rlim_cur < (rlim_t)spec->priority)
        add_sentence(reason,
                     "there is no CAP_SYS_NICE and the limit on real-time priority is %lu; run as "
                     "root, or give the user `rtprio 99` in /etc/security/limits.conf.",
                     (unsigned long)limit.rlim_cur);
    else if (error == EPERM)
        add_sentence(reason, "the limits allow it but the kernel does not; a container must be "
                             "started with CAP_SYS_NICE outside a user namespace.");
    else
        add_sentence(reason, "%s.", strerror(error));
}

static void explain_cpu(const struct rt_thread_spec *spec, const struct rt_machine *machine,
                        int error, char reason[RT_REASON_MAX])
{
    add_sentence(reason, "Core %d was refused for thread %s (%s):", spec->cpu, spec->name,
                 strerror(error));
    for (int i = 0; i < machine->cpu_count; i++)
        if (machine->cpus[i] == spec->cpu) {
            add_sentence(reason, "a container's filter must allow sched_setaffinity.");
            return;
        }
    add_sentence(reason, "it is not online or not in this process's cpuset; choose another core, "
                         "or add it to the cpuset.");
}

static void explain_refusals(const struct thread_start *thread_start, char reason[RT_REASON_MAX])
{
    struct rt_machine machine;
    if (thread_start->cpu_error == 0 && thread_start->policy_error == 0 &&
        thread_start->stack_error == 0)
        return;
    rt_machine_read(&machine);
    if (thread_start->policy_error != 0)
        explain_policy(thread_start->spec, &machine, thread_start->policy_error, reason);
    if (thread_start->cpu_error != 0)
        explain_cpu(thread_start->spec, &machine, thread_start->cpu_error, reason);
    if (thread_start->stack_error != 0)
        add_sentence(reason,
                     "The stack of thread %s was not prefaulted (%s): its first use of "
                     "each page costs a fault; use Linux 5.14 or later.",
                     thread_start->spec->name, strerror(thread_start->stack_error));
}

int rt_thread_start(struct rt_thread *thread, const struct rt_thread_spec *spec,
                    void (*run)(void *self), void *self)
{
    struct thread_start thread_start = {.spec = spec, .run = run, .self = self};
    RT_CHECK(strlen(spec->name) < NAME_SIZE);
    memset(thread, 0, sizeof *thread);
    sem_init(&thread_start.ready, 0, 0);
    const int error = create_thread(&thread->id, &thread_start);
    if (error == 0) {
        while (sem_wait(&thread_start.ready) != 0)
            RT_CHECK(errno == EINTR);
        thread->tid = thread_start.tid;
        thread->policy = thread_start.policy;
        thread->priority = thread_start.priority;
        thread->cpu = thread_start.cpu;
        explain_refusals(&thread_start, thread->refused);
    }
    sem_destroy(&thread_start.ready);
    return -error;
}

void rt_thread_join(struct rt_thread *thread)
{
    RT_CHECK(pthread_join(thread->id, NULL) == 0);
}

static size_t mapped_size(void)
{
    size_t pages = SIZE_MAX / (size_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%zu", &pages) != 1)
            pages = SIZE_MAX / (size_t)sysconf(_SC_PAGESIZE);
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Under a finite limit MCL_FUTURE makes every later mapping fail that would pass it: the arena, a
 * thread's stack.  So all is locked only when at least as much again would still fit; otherwise the
 * allowance is left to the arena, which locks itself.
 */
static bool fits_memory_limit(const struct rt_machine *machine, rlim_t limit)
{
    return machine->cap_ipc_lock || limit == RLIM_INFINITY || mapped_size() <= limit / 2;
}

bool rt_lock_memory(char reason[RT_REASON_MAX])
{
    struct rt_machine machine;
    struct rlimit limit;

    reason[0] = '\0';
    /* Freed memory stays, and large blocks come from it too: no mapping comes or goes later. */
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_MMAP_MAX, 0);

    rt_machine_read(&machine);
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        limit = (struct rlimit){0, 0};
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_MEMLOCK, &limit); /* without effect where CAP_IPC_LOCK is held */

    if (fits_memory_limit(&machine, limit.rlim_cur) && mlockall(MCL_CURRENT | MCL_FUTURE) == 0)
        return true;
    if (machine.cap_ipc_lock)
        add_sentence(reason,
                     "Memory is not locked (%s): a page that was taken away costs a frame; give "
                     "the machine or its memory cgroup more memory.",
                     strerror(errno));
    else
        add_sentence(reason,
                     "Memory is not locked: the limit is %lu KiB (ulimit -l) and there is no "
                     "CAP_IPC_LOCK, so a page that was taken away costs a frame; run as root, or "
                     "give the user `memlock unlimited` in /etc/security/limits.conf.",
                     (unsigned long)(limit.rlim_cur / 1024));
    return false;
}
