/*
 * Pseudo-random numbers, the same on every machine.
 */
#pragma once

#include <math.h>
#include <stdint.h>

/* In [-1, 1), by splitmix64.  Context: setup. */
static inline double random_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1.0;
}

/* A direction.  Context: setup. */
static inline void random_unit(uint64_t *state, double *out, int count)
{
    double square = 0.0;
    while (square < 0.01) {
        square = 0.0;
        for (int k = 0; k < count; k++) {
            out[k] = random_number(state);
            square += out[k] * out[k];
        }
    }
    for (int k = 0; k < count; k++)
        out[k] /= sqrt(square);
}
