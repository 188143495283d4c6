/*
 * The instruction sets the kernel is compiled for.  A run is repeated bit for bit with the same
 * one.
 */
#pragma once

enum dyn_isa { DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512 };

/* "sse2", "avx2", "avx512".  Context: any. */
const char *dyn_isa_name(enum dyn_isa isa);

/* Whether this processor and its operating system run it.  Context: any. */
int dyn_isa_runs(enum dyn_isa isa);

/* The last of those that run.  Context: any. */
enum dyn_isa dyn_isa_best(void);
