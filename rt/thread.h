/*
 * Threads with a policy, a priority, a core and a touched stack.
 *
 * A machine may refuse any of these.  Then the thread runs all the same, and each refusal is kept
 * as a sentence that the user can act on.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct rt_thread_spec {
    const char *name;  /* at most 15 characters */
    int policy;        /* SCHED_FIFO, SCHED_RR or SCHED_OTHER */
    int priority;      /* 1..99 for FIFO and RR, else 0 */
    int cpu;           /* -1: anywhere */
    size_t stack_size; /* 0: 256 KiB */
};

enum { RT_REASON_MAX = 1024 };

struct rt_thread {
    pthread_t id;
    int tid;
    int policy; /* what it really got */
    int priority;
    int cpu;                     /* -1: not pinned */
    char refused[RT_REASON_MAX]; /* empty, or one sentence per refusal with its remedy */
};

/* Start run(self) once the thread has its policy, core and touched stack; returns when it has
 * (or has been refused).  Signals from outside (SIGINT ...) go to other threads.  0 or -errno when
 * there is no thread at all.  Context: setup. */
int rt_thread_start(struct rt_thread *thread, const struct rt_thread_spec *spec,
                    void (*run)(void *self), void *self);
/* Context: after the run. */
void rt_thread_join(struct rt_thread *thread);

/* Lock all present and future pages, keep malloc from returning memory.  Returns true when locked;
 * else reason holds one sentence with the remedy.  Context: setup. */
bool rt_lock_memory(char reason[RT_REASON_MAX]);
