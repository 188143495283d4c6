/*
 * When a check fails or the process gets a fatal signal, the outputs are invalidated first.
 */
#pragma once

/* Install handlers (own stack) for SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT: call
 * invalidate_outputs(self), which must be async-signal-safe, write one line to stderr, then die of
 * the signal.  A SIGBUS in guarded memory (rt/guarded_mapping.h) is not among these.  It runs
 * once, however many threads crash.  The calling thread gets a signal stack; threads of
 * rt_thread_start() have one of their own.  Context: setup. */
void rt_panic_install(void (*invalidate_outputs)(void *self), void *self);

/* SIGINT, SIGTERM and SIGHUP set a flag that the run reads, and interrupt a blocking call of the
 * thread that takes them; a second one ends the process at once, with the outputs invalidated
 * first as above.  Context: setup. */
void rt_stop_on_signals(void);
/* 0, or the signal that asked for the end.  Context: any. */
int rt_stop_signal(void);
