/*
 * A broken promise inside the program, as opposed to bad input or bad luck, traps.
 * rt/panic turns the trap into safe outputs and an exit.  Kept in release builds.
 */
#pragma once

#define RT_CHECK(truth)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(truth), 0))                                                         \
            __builtin_trap();                                                                      \
    } while (0)
