#include "dynamics/kernel/isa.h"

#include <cpuid.h>

/* The registers that the operating system saves at a switch: bits 1, 2 are the AVX registers, 5 to
 * 7 those of AVX-512. */
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int runs_avx2(void)
{
    unsigned a, b, c, d;
    const unsigned wanted = bit_FMA | bit_AVX | bit_OSXSAVE;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & wanted) != wanted)
        return 0;
    return (saved_registers() & 0x6u) == 0x6u && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (b & bit_AVX2) != 0;
}

static int runs_avx512(void)
{
    unsigned a, b, c, d;
    const unsigned wanted = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL;
    return runs_avx2() && (saved_registers() & 0xe6u) == 0xe6u &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wanted) == wanted;
}

const char *dyn_isa_name(enum dyn_isa isa)
{
    return isa == DYN_ISA_AVX512 ? "avx512" : isa == DYN_ISA_AVX2 ? "avx2" : "sse2";
}

int dyn_isa_runs(enum dyn_isa isa)
{
    return isa == DYN_ISA_AVX512 ? runs_avx512() : isa == DYN_ISA_AVX2 ? runs_avx2() : 1;
}

enum dyn_isa dyn_isa_best(void)
{
    return runs_avx512() ? DYN_ISA_AVX512 : runs_avx2() ? DYN_ISA_AVX2 : DYN_ISA_SSE2;
}
