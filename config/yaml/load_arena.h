/*
 * Memory of one load: handed out piece by piece, zeroed, given back all at once.
 */
#pragma once

#include <stddef.h>

struct cfg_pool {
    struct cfg_pool_block *blocks;
};

/* Zeroed, aligned for anything, never NULL: traps when the machine has no memory left, since at
 * set-up there is no plant yet to make safe.  Context: setup. */
void *cfg_pool_take(struct cfg_pool *pool, size_t size);
char *cfg_pool_copy(struct cfg_pool *pool, const char *text, size_t size); /* ends with NUL */
void cfg_pool_free(struct cfg_pool *pool);
