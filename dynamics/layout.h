/*
 * The allocator with which every x_size/x_place pair of dynamics/ shares one layout function.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dynamics/check.h"

enum { DYN_CACHE_LINE = 64 };

/* Cut size bytes at the next cache line after *at; with mem NULL only the offset advances.
 * Context: setup. */
static inline void *dyn_layout_cut(void *mem, size_t *at, size_t size)
{
    const size_t line = DYN_CACHE_LINE;
    const size_t from = (*at + line - 1) / line * line;
    DYN_CHECK((uintptr_t)mem % line == 0);
    *at = from + size;
    return mem != NULL ? (unsigned char *)mem + from : NULL;
}
