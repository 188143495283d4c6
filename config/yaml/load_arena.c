#include "config/yaml/load_arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

enum { BLOCK_SIZE = 16384 };

struct cfg_load_arena_block {
    struct cfg_load_arena_block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char memory[];
};

static struct cfg_load_arena_block *block_new(struct cfg_load_arena *pool, size_t size)
{
    const size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    struct cfg_load_arena_block *block = calloc(1, sizeof *block + room);
    RT_CHECK(block != NULL);
    block->size = room;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

void *cfg_load_arena_take(struct cfg_load_arena *pool, size_t size)
{
    const size_t step = alignof(max_align_t);
    const size_t rounded = (size + step - 1) / step * step;
    struct cfg_load_arena_block *block = pool->blocks;
    if (block == NULL || block->size - block->used < rounded)
        block = block_new(pool, rounded);
    void *piece = block->memory + block->used;
    block->used += rounded;
    return piece;
}

char *cfg_load_arena_copy(struct cfg_load_arena *pool, const char *text, size_t size)
{
    char *copy = cfg_load_arena_take(pool, size + 1);
    memcpy(copy, text, size);
    return copy;
}

void cfg_load_arena_free(struct cfg_load_arena *pool)
{
    while (pool->blocks != NULL) {
        struct cfg_load_arena_block *block = pool->blocks;
        pool->blocks = block->next;
        free(block);
    }
}
