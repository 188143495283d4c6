#define DYN_WIDE         8
#define DYN_BATCH_KERNEL dyn_batch_avx512
#include "dynamics/kernel/batch/batch_wide.h"

#include "dynamics/kernel/batch/batch_rigid.h"
