#include "rt/panic.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rt/check.h"
#include "rt/guarded_mapping.h"

enum { SIGNAL_STACK = 64 << 10 };

static const struct {
    int number;
    const char *reason;
} fatal[] = {
    {SIGILL, "SIGILL (a check failed)"},
    {SIGTRAP, "SIGTRAP"},
    {SIGSEGV, "SIGSEGV (bad memory access or stack overflow)"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGABRT, "SIGABRT"},
};
enum { FATAL_COUNT = sizeof fatal / sizeof fatal[0] };

/* A signal handler gets no argument from us, hence the globals. */
static void (*invalidate_outputs)(void *self);
static void *invalidate_self;
static atomic_int dying; /* thread that crashed first */
static atomic_int stop_signal;

static const char *signal_text(int number)
{
    for (int i = 0; i < FATAL_COUNT; i++)
        if (fatal[i].number == number)
            return fatal[i].reason;
    return number == SIGINT   ? "second SIGINT"
           : number == SIGHUP ? "second SIGHUP"
                              : "second SIGTERM";
}

static void write_stderr(const char *text)
{
    /* A failed write to stderr cannot be reported anywhere. */
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

/* One line in pieces: snprintf is not async-signal-safe. */
static void write_reason(int number)
{
    char thread[16] = "";
    (void)prctl(PR_GET_NAME, thread);
    write_stderr("fatal: ");
    write_stderr(signal_text(number));
    write_stderr(" in thread ");
    write_stderr(thread);
    write_stderr(invalidate_outputs ? "; outputs went safe\n" : "\n");
}

static void set_action(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigfillset(&action.sa_mask);
    /* the invalidated outputs may go to a mapping that a peer has truncated */
    sigdelset(&action.sa_mask, SIGBUS);
    RT_CHECK(sigaction(number, &action, NULL) == 0);
}

/*
 * The signal is blocked while its handler runs, so the raise stays pending until the handler
 * returns, and then kills before the interrupted code runs on: exit status and core dump show the
 * crash as it was.  A fault inside invalidate_outputs() itself is blocked too; the kernel then
 * kills at once.  SIGBUS alone is not blocked (rt/guarded_mapping.h): a second one finds its own
 * thread dying, and ends it.
 */
static void on_fatal_signal(int number)
{
    const int self = gettid();
    int first = 0;
    if (atomic_compare_exchange_strong(&dying, &first, self)) {
        if (invalidate_outputs)
            invalidate_outputs(invalidate_self);
        write_reason(number);
    } else if (first != self) {
        /* Another thread is invalidating the outputs and will end the process; ending it now would
         * interrupt that. */
        for (;;)
            pause();
    }
    set_action(number, SIG_DFL, 0);
    raise(number);
}

void rt_panic_install(void (*invalidate)(void *self), void *self)
{
    static _Alignas(64) unsigned char stack[SIGNAL_STACK];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};

    invalidate_outputs = invalidate;
    invalidate_self = self;
    RT_CHECK(sigaltstack(&own, NULL) == 0);
    for (int i = 0; i < FATAL_COUNT; i++)
        if (fatal[i].number != SIGBUS)
            set_action(fatal[i].number, on_fatal_signal, SA_ONSTACK);
    rt_guarded_mapping_set_fallback(on_fatal_signal);
}

static void on_stop_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&stop_signal, &none, number))
        on_fatal_signal(number);
}

void rt_stop_on_signals(void)
{
    /* Without SA_RESTART: a main thread that sleeps or waits wakes up and reads the flag. */
    set_action(SIGINT, on_stop_signal, 0);
    set_action(SIGTERM, on_stop_signal, 0);
    set_action(SIGHUP, on_stop_signal, 0);
}

int rt_stop_signal(void)
{
    return atomic_load_explicit(&stop_signal, memory_order_relaxed);
}
