#define DYN_ABA_KERNEL dyn_aba_avx512
#include "dynamics/kernel/aba_kernel.h"
