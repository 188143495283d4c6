/*
 * Seeded random numbers, so that every machine tries the same models and states.
 */
#pragma once

#include <math.h>
#include <stdint.h>

/* Uniform in [-1, 1), by splitmix64. */
static inline double noise(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

static inline void noise_unit(uint64_t *state, double *e, int count)
{
    double square;
    do {
        square = 0.0;
        for (int k = 0; k < count; k++) {
            e[k] = noise(state);
            square += e[k] * e[k];
        }
    } while (square < 0.01 || square > 1.0);
    for (int k = 0; k < count; k++)
        e[k] /= sqrt(square);
}
