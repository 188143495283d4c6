#define DYN_ABA_KERNEL dyn_aba_sse2
#include "dynamics/kernel/aba_kernel.h"
