#include "rt/guarded_mapping.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "rt/check.h"

/* A signal handler gets no argument from us, hence the globals.  An entry is filled before its
 * memory is set, and counts only while that is there. */
static struct {
    _Atomic uintptr_t mem; /* 0: free */
    _Atomic size_t size;
    atomic_bool *_Atomic is_lost;
} guarded[RT_GUARDED_MAPPING_MAX];

static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER; /* not for the handler */
static bool installed;
static struct sigaction previous_action;
static void (*_Atomic fallback)(int number);

/* mmap is a bare system call, so it may be made here. */
static bool replace_mapping(uintptr_t address)
{
    for (int i = 0; i < RT_GUARDED_MAPPING_MAX; i++) {
        const uintptr_t mem = atomic_load(&guarded[i].mem);
        const size_t size = atomic_load(&guarded[i].size);
        if (mem == 0 || address < mem || address - mem >= size)
            continue;
        void *place = (void *)mem;
        if (mmap(place, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) != place)
            return false;
        atomic_store(atomic_load(&guarded[i].is_lost), true);
        return true;
    }
    return false;
}

/* Without a fallback the previous handler is restored and takes the fault when the access is
 * repeated. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && replace_mapping((uintptr_t)info->si_addr))
        return;
    void (*fallback_handler)(int) = atomic_load(&fallback);
    if (fallback_handler)
        fallback_handler(number);
    else
        (void)sigaction(number, &previous_action, NULL);
}

/* SA_NODEFER: another fault may occur while this handler runs, and this one during others. */
static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    RT_CHECK(sigaction(SIGBUS, &action, installed ? NULL : &previous_action) == 0);
    installed = true;
}

bool rt_guarded_mapping_add(void *mem, size_t size, atomic_bool *is_lost)
{
    bool found = false;
    atomic_store(is_lost, false);
    pthread_mutex_lock(&entries_lock);
    if (!installed)
        install_handler();
    for (int i = 0; i < RT_GUARDED_MAPPING_MAX && !found; i++) {
        if (atomic_load(&guarded[i].mem) != 0)
            continue;
        atomic_store(&guarded[i].is_lost, is_lost);
        atomic_store(&guarded[i].size, size);
        atomic_store(&guarded[i].mem, (uintptr_t)mem);
        found = true;
    }
    pthread_mutex_unlock(&entries_lock);
    return found;
}

void rt_guarded_mapping_remove(const void *mem)
{
    pthread_mutex_lock(&entries_lock);
    for (int i = 0; i < RT_GUARDED_MAPPING_MAX; i++)
        if (atomic_load(&guarded[i].mem) == (uintptr_t)mem)
            atomic_store(&guarded[i].mem, 0);
    pthread_mutex_unlock(&entries_lock);
}

void rt_guarded_mapping_set_fallback(void (*fallback_handler)(int number))
{
    pthread_mutex_lock(&entries_lock);
    atomic_store(&fallback, fallback_handler);
    install_handler();
    pthread_mutex_unlock(&entries_lock);
}
