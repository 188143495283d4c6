#define DYN_WIDE         2
#define DYN_BATCH_KERNEL dyn_batch_sse2
#include "dynamics/kernel/batch/batch_wide.h"

#include "dynamics/kernel/batch/batch_rigid.h"
