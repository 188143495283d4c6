/*
 * 64-bit hash of memory whose size is a multiple of 8.  Rolled over the run-state block
 * after every frame, it is the proof that two runs were the same run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RT_HASH_LANES = 4 };

/* One round: xor the word in, multiply by an odd constant, fold the high half down. */
static inline uint64_t rt_hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

/* hash(seed, mem[0..size)), size a multiple of 8.  Four lanes, so that the multiplies
 * overlap; a single flipped bit changes its lane for certain.  Context: any. */
static inline uint64_t rt_hash(uint64_t seed, const void *mem, size_t size)
{
    const unsigned char *at = mem;
    uint64_t lane[RT_HASH_LANES] = {seed, seed + 1, seed + 2, seed + 3};
    for (size_t i = 0; i < size / 8; i++) {
        uint64_t word;
        memcpy(&word, at + 8 * i, sizeof word);
        lane[i % RT_HASH_LANES] = rt_hash_mix(lane[i % RT_HASH_LANES], word);
    }
    uint64_t hash = rt_hash_mix(lane[0], lane[1]);
    hash = rt_hash_mix(hash, lane[2]);
    return rt_hash_mix(hash, lane[3]);
}
