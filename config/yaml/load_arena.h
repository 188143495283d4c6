/*
 * Memory of one load: allocated piece by piece, zeroed, freed all at once.
 */
#pragma once

#include <stddef.h>

struct cfg_load_arena {
    struct cfg_load_arena_block *blocks;
};

/* Zeroed, aligned for anything, never NULL: it traps when the machine has no memory left, since no
 * board is connected at set-up.  Context: setup. */
void *cfg_load_arena_take(struct cfg_load_arena *pool, size_t size);
char *cfg_load_arena_copy(struct cfg_load_arena *pool, const char *text,
                          size_t size); /* ends with NUL */
void cfg_load_arena_free(struct cfg_load_arena *pool);
