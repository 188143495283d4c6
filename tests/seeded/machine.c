/*
 * A machine with four cores of which nothing else is known: what the program asks of the kernel
 * besides threads, files and sockets.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "rt/machine/machine.h"
#include "rt/thread.h"
#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

void __wrap_rt_machine_read(struct rt_machine *machine)
{
    *machine = (struct rt_machine){.cpu_count = 4,
                                   .cpus = {0, 1, 2, 3},
                                   .cap_sys_nice = true,
                                   .cap_ipc_lock = true,
                                   .memlock_limit = UINT64_MAX,
                                   .numa_nodes = 1,
                                   .kernel = "simulated"};
}

bool __wrap_rt_lock_memory(char *reason)
{
    reason[0] = '\0';
    return true;
}

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    (void)pid, (void)size, (void)set;
    return 0;
}

pid_t __wrap_getpid(void)
{
    return 4711; /* names are made of it */
}

int __wrap_getpriority(int which, id_t who)
{
    (void)which, (void)who;
    return 0;
}

int __wrap_setpriority(int which, id_t who, int priority)
{
    (void)which, (void)who, (void)priority;
    return 0;
}

int __wrap_sigaltstack(const stack_t *stack, stack_t *before)
{
    (void)stack;
    if (before)
        *before = (stack_t){.ss_flags = SS_DISABLE};
    return 0;
}

int __wrap_getrusage(int who, struct rusage *usage)
{
    (void)who;
    memset(usage, 0, sizeof *usage);
    return 0;
}

/* What the doctor would find here says nothing about the program. */
void __wrap_provenance_collect(struct provenance *provenance, const struct run *run)
{
    (void)provenance, (void)run;
}

char *__wrap_doctor_findings_json(const struct rt_machine *machine, const struct rt_core_plan *plan,
                                  double seconds)
{
    (void)machine, (void)plan, (void)seconds;
    return NULL;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    if (strncmp(path, "/proc", 5) == 0 || strncmp(path, "/sys", 4) == 0) {
        errno = ENOENT;
        return NULL;
    }
    return __real_fopen64(path, mode);
}
