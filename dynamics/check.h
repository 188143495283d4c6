/*
 * The kernel's own bug check: dynamics/ is a leaf and borrows nothing.
 */
#pragma once

#define DYN_CHECK(truth)                                                                           \
    do {                                                                                           \
        if (__builtin_expect(!(truth), 0))                                                         \
            __builtin_trap();                                                                      \
    } while (0)
