#include "rt/guarded_mapping.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "rt/check.h"

/* A handler has no argument of ours.  An entry is filled before its memory is set, and counts only
 * while that is there. */
static struct {
    _Atomic uintptr_t mem; /* 0: free */
    _Atomic size_t size;
    atomic_bool *_Atomic gone;
} guarded[RT_GUARD_MAX];

static pthread_mutex_t setup = PTHREAD_MUTEX_INITIALIZER; /* not for the handler */
static bool installed;
static struct sigaction before;
static void (*_Atomic otherwise)(int number);

/* mmap is a bare system call, so it may be made here. */
static bool rescue(uintptr_t address)
{
    for (int i = 0; i < RT_GUARD_MAX; i++) {
        const uintptr_t mem = atomic_load(&guarded[i].mem);
        const size_t size = atomic_load(&guarded[i].size);
        if (mem == 0 || address < mem || address - mem >= size)
            continue;
        void *place = (void *)mem;
        if (mmap(place, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) != place)
            return false;
        atomic_store(atomic_load(&guarded[i].gone), true);
        return true;
    }
    return false;
}

/* Where nobody wants to know, what was there before this handler takes the fault when the access is
 * made again. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && rescue((uintptr_t)info->si_addr))
        return;
    void (*die)(int) = atomic_load(&otherwise);
    if (die)
        die(number);
    else
        (void)sigaction(number, &before, NULL);
}

/* Other faults may come to light while this one is looked at, and this one during others. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    RT_CHECK(sigaction(SIGBUS, &action, installed ? NULL : &before) == 0);
    installed = true;
}

bool rt_guard_add(void *mem, size_t size, atomic_bool *gone)
{
    bool found = false;
    atomic_store(gone, false);
    pthread_mutex_lock(&setup);
    if (!installed)
        install();
    for (int i = 0; i < RT_GUARD_MAX && !found; i++) {
        if (atomic_load(&guarded[i].mem) != 0)
            continue;
        atomic_store(&guarded[i].gone, gone);
        atomic_store(&guarded[i].size, size);
        atomic_store(&guarded[i].mem, (uintptr_t)mem);
        found = true;
    }
    pthread_mutex_unlock(&setup);
    return found;
}

void rt_guard_remove(const void *mem)
{
    pthread_mutex_lock(&setup);
    for (int i = 0; i < RT_GUARD_MAX; i++)
        if (atomic_load(&guarded[i].mem) == (uintptr_t)mem)
            atomic_store(&guarded[i].mem, 0);
    pthread_mutex_unlock(&setup);
}

void rt_guard_otherwise(void (*die)(int number))
{
    pthread_mutex_lock(&setup);
    atomic_store(&otherwise, die);
    install();
    pthread_mutex_unlock(&setup);
}
