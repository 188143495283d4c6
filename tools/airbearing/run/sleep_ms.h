/*
 * A pause of the calling thread.
 */
#pragma once

#include <time.h>

/* Context: any thread without a deadline. */
static inline void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}
