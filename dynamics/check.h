/*
 * The check of internal errors of dynamics/, which may not use rt/check.h.
 */
#pragma once

#define DYN_CHECK(truth)                                                                           \
    do {                                                                                           \
        if (__builtin_expect(!(truth), 0))                                                         \
            __builtin_trap();                                                                      \
    } while (0)
