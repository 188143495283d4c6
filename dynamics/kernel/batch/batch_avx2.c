#define DYN_WIDE         4
#define DYN_BATCH_KERNEL dyn_batch_avx2
#include "dynamics/kernel/batch/batch_wide.h"

#include "dynamics/kernel/batch/batch_rigid.h"
