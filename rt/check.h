/*
 * A failed check of an internal error, as opposed to bad input or a failing machine, traps.
 * rt/panic invalidates the outputs and ends the process.  Kept in release builds.
 */
#pragma once

#define RT_CHECK(truth)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(truth), 0))                                                         \
            __builtin_trap();                                                                      \
    } while (0)
