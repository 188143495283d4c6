/*
 * Seeded noise whose state is part of the run state: the same seed gives the same run, bit for bit.
 *
 * The generator is xoshiro256++ (Blackman and Vigna, ACM TOMS 47, 2021).  Normal numbers use only
 * the five IEEE operations and sqrt, all exactly rounded, and no sine or logarithm of the C
 * library: those choose their code by the processor, and a replay would then depend on the machine.
 */
#pragma once

#include <stdint.h>

/* Run state; every byte is part of the hash. */
struct io_noise {
    uint64_t s[4];
};
_Static_assert(sizeof(struct io_noise) == 4 * sizeof(uint64_t), "no pads in the run state");

/* Distinct streams for distinct (seed, stream).  Context: setup. */
void io_noise_seed(struct io_noise *noise, uint64_t seed, uint64_t stream);

/* Uniform in [0, 1), 53 bits; one draw.  Context: frame. */
double io_noise_uniform(struct io_noise *noise);

/* Two independent normal numbers of zero mean and unit variance, at most 8.6 in size; two draws.
 * Context: frame. */
void io_noise_normal_pair(struct io_noise *noise, double pair[2]);

/* The first of a pair; two draws as well.  Context: frame. */
double io_noise_normal(struct io_noise *noise);
