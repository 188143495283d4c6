/*
 * Runs a piece of a test in a child process, for what must end in a trap or a signal.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A build that counts which lines run loses what a child counted when it ends by _exit or by a
 * signal, unless it is written down before.
 */
#ifdef TEST_COUNTS_LINES
void __gcov_dump(void);

static inline void keep_counts(void)
{
    setenv("GCOV_ERROR_FILE", "/dev/null", 1); /* standard error is the test's */
    __gcov_dump();
}

/* With this the handler of a fatal signal ends the process. */
int raise(int number)
{
    keep_counts();
    return tgkill(getpid(), gettid(), number);
}
#else
static inline void keep_counts(void)
{
}
#endif

_Noreturn static inline void child_exit(int code)
{
    keep_counts();
    _exit(code);
}

/* The wait status of a child that ran body(self), or exited 0 after it. */
static inline int child_status(void (*body)(void *self), void *self)
{
    fflush(NULL); /* or the child might print it a second time */
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        static const int fatal[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
        setrlimit(RLIMIT_CORE, &no_core);
        for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
            signal(fatal[i],
                   SIG_DFL); /* a sanitizer's handler would turn the signal into an exit */
        body(self);
        child_exit(0);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        ;
    return status;
}

/* Does body(self) end in RT_CHECK's trap? */
static inline bool child_traps(void (*body)(void *self), void *self)
{
    const int status = child_status(body, self);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
}
